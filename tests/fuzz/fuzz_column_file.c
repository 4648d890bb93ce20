/* fuzz_column_file.c: the bytes are a file of numbers, raw or NumPy's, and how it is opened; see fuzz.h. */
#include <string.h>

#include "fuzz.h"

static uint64_t sum_of(const heddle_column_file *column)
{
    const uint32_t width = heddle_column_file_element_bits(column) / 8;
    const char *const data = (const char *)heddle_column_file_data(column);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < heddle_column_file_count(column); i++) {
        uint64_t number = 0;
        memcpy(&number, data + i * width, width);
        sum += number;
    }
    return sum;
}

/* A file that is created with the same numbers gives them back. */
static void copy(const heddle_column_file *from, const char *name)
{
    const uint32_t bits = heddle_column_file_element_bits(from);
    const uint32_t said = heddle_column_file_element_kind(from);
    const uint32_t kind = said == HEDDLE_ELEMENT_UNKNOWN ? HEDDLE_ELEMENT_UNSIGNED : said;
    const uint64_t count = heddle_column_file_count(from);
    heddle_column_file *to = NULL;
    fuzz_ok(heddle_column_file_create_as(fuzz_path(name), bits, kind, count, &to));
    if (count != 0)
        memcpy(heddle_column_file_data(to), heddle_column_file_data(from), count * (bits / 8));
    fuzz_ok(heddle_column_file_flush(to));
    heddle_column_file_close(to);
    fuzz_ok(heddle_column_file_open(fuzz_path(name), HEDDLE_COLUMN_FILE_READ, bits, &to));
    /* Raw numbers may look like a NumPy file themselves; those of an accepted one begin behind its header. */
    fuzz_check(heddle_column_file_count(to) == count && sum_of(to) == sum_of(from) &&
                   heddle_column_file_element_kind(to) == kind,
               "a column comes back as another one");
    heddle_column_file_close(to);
}

static void use(heddle_column_file *column, uint32_t mode, fuzz_bytes *how)
{
    const uint64_t count = heddle_column_file_count(column);
    const uint64_t first = fuzz_take(how, 1), some = fuzz_take(how, 1);
    const heddle_status advised =
        heddle_column_file_advise(column, first, some, (uint32_t)(first ^ some) % 5);
    fuzz_check(advised == HEDDLE_OK || advised == HEDDLE_ERROR_INVALID, "advice gave \"%s\"",
               heddle_status_string(advised));
    fuzz_check((count == 0) == (heddle_column_file_data(column) == NULL), "data without a count");
    if (mode == HEDDLE_COLUMN_FILE_WRITE && count != 0)
        memset(heddle_column_file_data(column), 7, heddle_column_file_element_bits(column) / 8);
    fuzz_ok(heddle_column_file_flush(column));
    copy(column, "copy.npy");
}

/* The first four bytes say how it is opened and used. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t widths[] = {0, 8, 32, 64};
    fuzz_bytes bytes = {data, size};
    const uint64_t way = fuzz_take(&bytes, 1);
    uint8_t usage[3] = {0, 0, 0};
    fuzz_bytes how = {usage, sizeof usage};
    for (int i = 0; i < 3; i++) usage[i] = (uint8_t)fuzz_take(&bytes, 1);
    const uint32_t mode = way & 4 ? HEDDLE_COLUMN_FILE_WRITE : HEDDLE_COLUMN_FILE_READ;
    heddle_column_file *column = NULL;
    const char *const path = fuzz_path("column");
    fuzz_write(path, bytes.at, bytes.left);
    const heddle_status status = heddle_column_file_open(path, mode, widths[way & 3], &column);
    if (status == HEDDLE_OK) use(column, mode, &how);
    else fuzz_refused(status, false);
    fuzz_check(status == HEDDLE_OK || column == NULL, "a file is refused and a column made");
    heddle_column_file_close(column);
    return 0;
}
