/* data.c: the arrays of a benchmark in device memory, made and checked in chunks. */
#include <stdlib.h>

#include "bench/table/table.h"
#include "progress.h"
#include "tool.h"

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static int allocate(bench *b, uint64_t element_bytes, void **memory)
{
    if (element_bytes == 0) return TOOL_OK;
    return tool_try(heddle_memory_allocate(b->device, b->keys.n * element_bytes, memory),
                    "allocating the arrays");
}

/* Writes a whole array of queries, or of their values, to device memory; `shown` as a step's part.
 */
static int make_array(bench *b, bench_query query, bool values, bool shown, void *to)
{
    const uint64_t bytes = (values ? b->keys.value_bits : b->keys.key_bits) / 8;
    for (uint64_t first = 0; first < b->keys.n; first += BENCH_CHUNK) {
        const uint64_t count = smaller(BENCH_CHUNK, b->keys.n - first);
        bench_make(&b->keys, &query, values, first, count, b->staging);
        const heddle_status status = heddle_memory_copy(b->device, (uint8_t *)to + first * bytes,
                                                        b->staging, count * bytes, NULL);
        if (status != HEDDLE_OK) return tool_try(status, "copying keys to the device");
        if (shown) progress_part((double)(first + count) / (double)b->keys.n);
    }
    return TOOL_OK;
}

static int make_arrays(bench *b)
{
    const bench_query in_order = {false, 100};
    const uint64_t key_bytes = b->keys.key_bits / 8, value_bytes = b->keys.value_bits / 8;
    const uint64_t chunk = smaller(BENCH_CHUNK, b->keys.n);
    b->staging = malloc(chunk * sizeof(uint64_t));
    b->staging_found = (uint8_t *)malloc(chunk);
    if (b->staging == NULL || b->staging_found == NULL) {
        tool_say("no host memory for a chunk of %llu elements", (unsigned long long)chunk);
        return TOOL_FAILED;
    }
    void *found = NULL;
    int status = allocate(b, key_bytes, &b->table_keys);
    if (status == TOOL_OK) status = allocate(b, value_bytes, &b->table_values);
    if (status == TOOL_OK) status = allocate(b, key_bytes, &b->queries);
    if (status == TOOL_OK) status = allocate(b, value_bytes, &b->answers);
    if (status == TOOL_OK) status = allocate(b, 1, &found);
    b->found = (uint8_t *)found;
    progress_step("making %llu keys", (unsigned long long)b->keys.n);
    if (status == TOOL_OK) status = make_array(b, in_order, false, true, b->table_keys);
    progress_step("making %llu values", (unsigned long long)b->keys.n);
    if (status == TOOL_OK && value_bytes != 0)
        status = make_array(b, in_order, true, true, b->table_values);
    return status;
}

int bench_data_make(bench *b, uint64_t n)
{
    const bench_options *o = &b->options;
    if (b->found != NULL && b->keys.n == n) return TOOL_OK;
    bench_data_free(b);
    b->keys = bench_keys_of(n, o->seed, o->key_bits, o->value_bits);
    return make_arrays(b);
}

void bench_data_free(bench *b)
{
    (void)heddle_memory_free(b->device, b->table_keys);
    (void)heddle_memory_free(b->device, b->table_values);
    (void)heddle_memory_free(b->device, b->queries);
    (void)heddle_memory_free(b->device, b->answers);
    (void)heddle_memory_free(b->device, b->found);
    free(b->staging);
    free(b->staging_found);
    b->table_keys = b->table_values = b->queries = b->answers = b->staging = NULL;
    b->found = b->staging_found = NULL;
    b->query_made = false;
}

int bench_data_queries(bench *b, bench_query query)
{
    if (b->query_made && b->query.shuffled == query.shuffled && b->query.hit == query.hit)
        return TOOL_OK;
    b->query = query;
    const int status = make_array(b, query, false, false, b->queries);
    b->query_made = status == TOOL_OK;
    return status;
}

int bench_data_poison(bench *b)
{
    const uint64_t value_bytes = b->keys.value_bits / 8;
    heddle_status status = heddle_memory_fill(b->device, b->found, BENCH_POISON, b->keys.n, NULL);
    if (status == HEDDLE_OK && value_bytes != 0)
        status =
            heddle_memory_fill(b->device, b->answers, BENCH_POISON, b->keys.n * value_bytes, NULL);
    return tool_try(status, "filling the answers");
}

int bench_data_check(bench *b, bench_query query, bool none, bool values, uint64_t *wrong)
{
    const uint64_t value_bytes = b->keys.value_bits / 8;
    const bench_expected expected = {query, none, values ? b->staging : NULL, b->staging_found,
                                     UINT64_C(0x0101010101010101) * BENCH_POISON};
    *wrong = 0;
    for (uint64_t first = 0; first < b->keys.n; first += BENCH_CHUNK) {
        const uint64_t count = smaller(BENCH_CHUNK, b->keys.n - first);
        heddle_status status =
            heddle_memory_copy(b->device, b->staging_found, b->found + first, count, NULL);
        if (status == HEDDLE_OK && values)
            status = heddle_memory_copy(b->device, b->staging,
                                        (uint8_t *)b->answers + first * value_bytes,
                                        count * value_bytes, NULL);
        if (status == HEDDLE_OK) status = heddle_device_synchronize(b->device, NULL);
        if (status != HEDDLE_OK) return tool_try(status, "copying answers from the device");
        *wrong += bench_count_wrong(&b->keys, &expected, first, count);
    }
    return TOOL_OK;
}
