/*
 * exact.c: rows brought together by key without a hash of rows (encode.h).
 *
 * Rows are numbered by the first few bytes of their keys, then by that number and the next few bytes, and
 * so on. Number and bytes share 64 bits, so nothing is lost. A column with nulls has one byte more, which
 * says whether the element is there. The words are put together on the host: this is the last resort.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/scratch.h"
#include "relation/encode/encode.h"

typedef struct refinement {
    const hd_row_source *from;
    hd_row_groups *made;
    /* Host memory. */
    uint64_t *numbers; /* of rows, by what has been looked at */
    uint64_t *words;   /* what rows are numbered by next */
    char *elements;    /* a column of both tables */
    uint8_t *valid;
} refinement;

static heddle_status refinement_begin(refinement *r)
{
    const uint64_t rows = r->from->rows;
    r->numbers = (uint64_t *)hd_allocate(rows * sizeof *r->numbers);
    r->words = (uint64_t *)hd_allocate(rows * sizeof *r->words);
    r->elements = (char *)hd_allocate(rows * HD_COLUMN_WIDTH_MAX);
    r->valid = (uint8_t *)hd_allocate(rows);
    if (r->numbers == NULL || r->words == NULL || r->elements == NULL || r->valid == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to compare %llu keys",
                       (unsigned long long)rows);
    memset(r->numbers, 0, rows * sizeof *r->numbers);
    return HEDDLE_OK;
}

static void refinement_end(refinement *r)
{
    free(r->numbers);
    free(r->words);
    free(r->elements);
    free(r->valid);
}

static heddle_status to_host(const refinement *r, void *to, const void *from, uint64_t bytes)
{
    return r->from->device->engine->copy(r->from->device, to, from, bytes, r->from->stream);
}

static heddle_status synchronize(const refinement *r)
{
    return r->from->device->engine->synchronize(r->from->device, r->from->stream);
}

/* Brings rows [first, first + n) of a column to the host. Nulls become zeros. */
static heddle_status fetch_table(refinement *r, const hd_column *column, uint64_t first, uint64_t n)
{
    const uint32_t width = column->width;
    if (n == 0) return HEDDLE_OK;
    HD_TRY(to_host(r, r->elements + first * width, column->data, n * width));
    if (column->valid == NULL) memset(r->valid + first, 1, n);
    else HD_TRY(to_host(r, r->valid + first, column->valid, n));
    HD_TRY(synchronize(r));
    for (uint64_t i = first; i < first + n; i++) {
        r->valid[i] = r->valid[i] != 0;
        if (r->valid[i] == 0) memset(r->elements + i * width, 0, width);
    }
    return HEDDLE_OK;
}

static heddle_status fetch_column(refinement *r, uint32_t c)
{
    const hd_row_keys *keys = r->from->keys;
    const uint64_t n = keys->n < r->from->rows ? keys->n : r->from->rows;
    HD_TRY(fetch_table(r, &keys->first[c], 0, n));
    return fetch_table(r, &keys->second[c], n, r->from->rows - n);
}

/* Numbers of 32 bits, one after the other, become numbers of 64: from the last on, so that none is overwritten. */
static void spread_out(uint64_t *numbers, uint64_t n)
{
    for (uint64_t i = n; i-- > 0;) {
        uint32_t number;
        memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number);
        numbers[i] = number;
    }
}

/* Numbers of the device's groups, for the next words. */
static heddle_status fetch_numbers(refinement *r)
{
    heddle_device *device = r->from->device;
    const hd_grouped grouped = hd_row_groups_view(r->made);
    const uint64_t bytes = r->from->rows * (r->from->row_bits / 8);
    HD_SCRATCH(scratch, device);
    void *numbers = NULL;
    HD_TRY(hd_scratch_take(&scratch, bytes, &numbers));
    HD_TRY(device->engine->columns->number(hd_on(device, NULL, r->from->stream), &grouped, NULL,
                                           numbers));
    HD_TRY(to_host(r, r->numbers, numbers, bytes));
    HD_TRY(synchronize(r));
    if (r->from->row_bits == 32) spread_out(r->numbers, r->from->rows);
    return HEDDLE_OK;
}

/* How many more bytes fit into 64 bits beside the numbers. */
static uint32_t bytes_beside(const refinement *r)
{
    uint32_t bits = 0;
    while (bits < 56 && r->made->groups > UINT64_C(1) << bits) bits++;
    return (64 - bits) / 8;
}

/* Groups rows by r->words. */
static heddle_status group_words(refinement *r)
{
    heddle_device *device = r->from->device;
    const uint64_t bytes = r->from->rows * sizeof *r->words;
    HD_SCRATCH(scratch, device);
    void *words = NULL;
    hd_row_groups_free(r->made);
    HD_TRY(hd_scratch_take(&scratch, bytes, &words));
    HD_TRY(device->engine->copy(device, words, r->words, bytes, r->from->stream));
    return hd_group_array(r->from, words, 64, r->made);
}

/* Groups by the numbers so far and `count` bytes from `bytes` on, of elements `stride` apart. */
static heddle_status refine(refinement *r, const void *bytes, uint32_t stride, uint32_t count)
{
    for (uint64_t i = 0; i < r->from->rows; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i * stride, count);
        r->words[i] = count == 8 ? word : r->numbers[i] << (8 * count) | word;
    }
    HD_TRY(group_words(r));
    return fetch_numbers(r);
}

static heddle_status refine_by_column(refinement *r, uint32_t c)
{
    const hd_row_keys *keys = r->from->keys;
    const uint32_t width = keys->first[c].width;
    HD_TRY(fetch_column(r, c));
    if (keys->first[c].valid != NULL || keys->second[c].valid != NULL)
        HD_TRY(refine(r, r->valid, 1, 1));
    for (uint32_t at = 0; at < width;) {
        const uint32_t beside = bytes_beside(r);
        const uint32_t count = width - at < beside ? width - at : beside;
        HD_TRY(refine(r, r->elements + at, width, count));
        at += count;
    }
    return HEDDLE_OK;
}

static heddle_status refine_all(refinement *r)
{
    HD_TRY(refinement_begin(r));
    for (uint32_t c = 0; c < r->from->keys->columns; c++) HD_TRY(refine_by_column(r, c));
    return HEDDLE_OK;
}

heddle_status hd_group_exactly(const hd_row_source *from, hd_row_groups *made)
{
    refinement r = {from, made, NULL, NULL, NULL, NULL};
    heddle_status status;
    memset(made, 0, sizeof *made);
    status = refine_all(&r);
    refinement_end(&r);
    if (status != HEDDLE_OK) hd_row_groups_free(made);
    return status;
}
