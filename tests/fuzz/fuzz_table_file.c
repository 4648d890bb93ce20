/* fuzz_table_file.c: the bytes are the file of a table; see fuzz.h. */
#include "fuzz.h"

#define MEMORY_LEAST (UINT64_C(1) << 20)
/* Bytes of a table for each of a file: a pair in a list may be alone in a large bucket. */
#define MEMORY_SHARE 4096

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t random = seed;
    if (fuzz_random(&random) % 2 == 0) fuzz_change_field(data, size, FUZZ_TABLE_HEADER, &random);
    else size = LLVMFuzzerMutate(data, size, most);
    if (fuzz_random(&random) % 16 != 0) fuzz_mend_table(data, size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_path("table");
    heddle_table *table = NULL;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    fuzz_write(path, data, size);
    const heddle_status status = heddle_table_load(fuzz_device(), path, NULL, &table);
    if (status != HEDDLE_OK) {
        fuzz_check(table == NULL, "a file is refused and a table made");
        fuzz_refused(status, false);
        return 0;
    }
    fuzz_ok(heddle_table_get_stats(table, &stats, NULL));
    fuzz_check(stats.bytes_total <= MEMORY_LEAST + MEMORY_SHARE * size,
               "a file of %zu bytes makes a table of %llu", size,
               (unsigned long long)stats.bytes_total);
    fuzz_use_table(table);
    return 0;
}
