/* fuzz_npy.c: the bytes are the beginning of a NumPy file, as the reader of its header sees it; see fuzz.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "shelf/column/column_file.h"

/* A header that is made for the same shape is read as that. */
static void make_again(const hd_column_shape *shape)
{
    unsigned char head[HD_NPY_MADE];
    hd_column_shape again;
    const uint64_t bytes = HD_NPY_MADE + shape->count * (shape->element_bits / 8);
    hd_npy_make(head, shape);
    fuzz_ok(hd_npy_read("made", head, sizeof head, bytes, &again));
    fuzz_check(again.count == shape->count && again.element_bits == shape->element_bits,
               "a header is made for another shape");
}

/* The first two bytes say how long the file is beyond what is given; the rest is what is read of it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, size};
    const uint64_t beyond = fuzz_take(&bytes, 2);
    hd_column_shape shape = {false, 0, 0, 0, 0};
    /* A block of its own, so that a byte too far is seen. */
    unsigned char *const head = (unsigned char *)fuzz_allocate(bytes.left);
    if (bytes.left != 0) memcpy(head, bytes.at, bytes.left);
    const uint64_t all = bytes.left + beyond;
    if (hd_npy_is(head, bytes.left)) {
        const heddle_status status = hd_npy_read("given", head, bytes.left, all, &shape);
        if (status == HEDDLE_OK) {
            fuzz_check(shape.npy && shape.offset + shape.count * (shape.element_bits / 8) == all,
                       "a shape is taken that does not fill its file");
            make_again(&shape);
        } else {
            fuzz_refused(status, false);
        }
    }
    free(head);
    return 0;
}
