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
    heddle_device *device;
    const hd_row_keys *keys;
    uint64_t rows, seed;
    uint32_t row_bits;
    void *stream;
    hd_row_groups *made;
    /* Host memory. */
    uint64_t *numbers; /* of rows, by what has been looked at */
    uint64_t *words;   /* what rows are numbered by next */
    char *elements;    /* a column of both tables */
    uint8_t *valid;
} refinement;

static void *take_host(uint64_t bytes) { return hd_allocate(bytes); }

static heddle_status refinement_begin(refinement *r)
{
    r->numbers = (uint64_t *)take_host(r->rows * sizeof *r->numbers);
    r->words = (uint64_t *)take_host(r->rows * sizeof *r->words);
    r->elements = (char *)take_host(r->rows * HD_COLUMN_WIDTH_MAX);
    r->valid = (uint8_t *)take_host(r->rows);
    if (r->numbers == NULL || r->words == NULL || r->elements == NULL || r->valid == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to compare %llu keys",
                       (unsigned long long)r->rows);
    memset(r->numbers, 0, r->rows * sizeof *r->numbers);
    return HEDDLE_OK;
}

static void refinement_end(refinement *r)
{
    free(r->numbers);
    free(r->words);
    free(r->elements);
    free(r->valid);
}

/* Brings rows [first, first + n) of a column to the host. Nulls become zeros. */
static heddle_status fetch_table(refinement *r, const hd_column *column, uint64_t first, uint64_t n)
{
    const hd_engine *engine = r->device->engine;
    const uint32_t width = column->width;
    heddle_status status;
    if (n == 0) return HEDDLE_OK;
    status =
        engine->copy(r->device, r->elements + first * width, column->data, n * width, r->stream);
    if (column->valid == NULL) memset(r->valid + first, 1, n);
    else if (status == HEDDLE_OK)
        status = engine->copy(r->device, r->valid + first, column->valid, n, r->stream);
    if (status == HEDDLE_OK) status = engine->synchronize(r->device, r->stream);
    for (uint64_t i = first; i < first + n && status == HEDDLE_OK; i++) {
        r->valid[i] = r->valid[i] != 0;
        if (r->valid[i] == 0) memset(r->elements + i * width, 0, width);
    }
    return status;
}

static heddle_status fetch_column(refinement *r, uint32_t c)
{
    const uint64_t n = r->keys->n < r->rows ? r->keys->n : r->rows;
    HD_TRY(fetch_table(r, &r->keys->first[c], 0, n));
    return fetch_table(r, &r->keys->second[c], n, r->rows - n);
}

/* Numbers of the device's groups, for the next words. */
static heddle_status fetch_numbers(refinement *r)
{
    const hd_engine *engine = r->device->engine;
    const hd_grouped grouped = hd_row_groups_view(r->made);
    hd_scratch scratch = {r->device, 0, {NULL}};
    void *numbers = NULL;
    const uint64_t bytes = r->rows * (r->row_bits / 8);
    heddle_status status = hd_scratch_take(&scratch, bytes, &numbers);
    if (status == HEDDLE_OK)
        status = engine->columns->number(r->device, &grouped, NULL, numbers, r->stream);
    if (status == HEDDLE_OK)
        status = engine->copy(r->device, r->numbers, numbers, bytes, r->stream);
    if (status == HEDDLE_OK) status = engine->synchronize(r->device, r->stream);
    if (r->row_bits == 32) /* spread out, from the last on so that none is overwritten */
        for (uint64_t i = r->rows; i-- > 0 && status == HEDDLE_OK;) {
            uint32_t number;
            memcpy(&number, (const char *)r->numbers + i * sizeof number, sizeof number);
            r->numbers[i] = number;
        }
    hd_scratch_free(&scratch);
    return status;
}

/* How many more bytes fit into 64 bits beside the numbers. */
static uint32_t bytes_beside(const refinement *r)
{
    uint32_t bits = 0;
    while (bits < 56 && r->made->groups > UINT64_C(1) << bits) bits++;
    return (64 - bits) / 8;
}

/* Groups by the numbers so far and `count` bytes from `bytes` on, of elements `stride` apart. */
static heddle_status refine(refinement *r, const void *bytes, uint32_t stride, uint32_t count)
{
    const hd_engine *engine = r->device->engine;
    hd_scratch scratch = {r->device, 0, {NULL}};
    void *words = NULL;
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < r->rows; i++) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i * stride, count);
        r->words[i] = count == 8 ? word : r->numbers[i] << (8 * count) | word;
    }
    hd_row_groups_free(r->device, r->made);
    status = hd_scratch_take(&scratch, r->rows * sizeof(uint64_t), &words);
    if (status == HEDDLE_OK)
        status = engine->copy(r->device, words, r->words, r->rows * sizeof(uint64_t), r->stream);
    if (status == HEDDLE_OK)
        status =
            hd_group_array(r->device, words, 64, r->rows, r->row_bits, r->seed, r->made, r->stream);
    hd_scratch_free(&scratch);
    if (status == HEDDLE_OK) status = fetch_numbers(r);
    return status;
}

static heddle_status refine_by_column(refinement *r, uint32_t c)
{
    const uint32_t width = r->keys->first[c].width;
    const bool nulls = r->keys->first[c].valid != NULL || r->keys->second[c].valid != NULL;
    heddle_status status = fetch_column(r, c);
    if (status == HEDDLE_OK && nulls) status = refine(r, r->valid, 1, 1);
    for (uint32_t at = 0; at < width && status == HEDDLE_OK;) {
        const uint32_t beside = bytes_beside(r);
        const uint32_t count = width - at < beside ? width - at : beside;
        status = refine(r, r->elements + at, width, count);
        at += count;
    }
    return status;
}

heddle_status hd_group_exactly(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                               uint32_t row_bits, uint64_t seed, hd_row_groups *made, void *stream)
{
    refinement r = {device, keys, rows, seed, row_bits, stream, made, NULL, NULL, NULL, NULL};
    heddle_status status;
    memset(made, 0, sizeof *made);
    status = refinement_begin(&r);
    for (uint32_t c = 0; c < keys->columns && status == HEDDLE_OK; c++)
        status = refine_by_column(&r, c);
    refinement_end(&r);
    if (status != HEDDLE_OK) hd_row_groups_free(device, made);
    return status;
}
