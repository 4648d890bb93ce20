/* fuzz_filter_file.c: the bytes are the file of a filter; see fuzz.h. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define KEYS 32

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t random = seed;
    if (fuzz_random(&random) % 2 == 0) fuzz_change_field(data, size, FUZZ_TABLE_HEADER, &random);
    else size = LLVMFuzzerMutate(data, size, most);
    if (fuzz_random(&random) % 16 != 0) fuzz_mend_filter(data, size);
    return size;
}

/* Saved it is the same file, except for what is reserved and what the checksums make of that. */
static void save(heddle_filter *filter, const uint8_t *data, size_t size)
{
    enum { RESERVED = 64, BLOCKS = 128 };
    uint8_t *const again = (uint8_t *)fuzz_allocate(size + 1);
    fuzz_ok(heddle_filter_save(filter, fuzz_path("again"), NULL));
    const size_t there = fuzz_read(fuzz_path("again"), again, size + 1);
    fuzz_check(there == size && memcmp(again, data, RESERVED) == 0 &&
                   memcmp(again + BLOCKS, data + BLOCKS, size - BLOCKS) == 0,
               "a filter is saved as another file");
    free(again);
}

static void use(heddle_filter *filter)
{
    uint64_t keys[KEYS], selected[KEYS], rows[KEYS], count = 0, again = 0, random = 1;
    uint8_t found[KEYS];
    heddle_filter *other = NULL;
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    for (int i = 0; i < KEYS; i++) keys[i] = fuzz_random(&random);
    fuzz_ok(heddle_filter_get_stats(filter, &stats, NULL));
    fuzz_check(stats.bits_set <= stats.bits, "more bits are set than there are");
    /* Any bits may stand in a file whose checksum is right. */
    const heddle_status whole = heddle_filter_validate(filter, NULL);
    fuzz_check(whole == HEDDLE_OK || whole == HEDDLE_ERROR_CORRUPT, "validate gave \"%s\"",
               heddle_status_string(whole));
    fuzz_ok(heddle_filter_contains(filter, keys, KEYS, found, &count, NULL));
    fuzz_ok(heddle_filter_select(filter, keys, KEYS, selected, rows, &again, NULL));
    fuzz_check(again == count, "%llu keys are selected of %llu", (unsigned long long)again,
               (unsigned long long)count);
    fuzz_ok(heddle_filter_load(fuzz_device(), fuzz_path("filter"), &other));
    fuzz_ok(heddle_filter_add(other, keys, KEYS, NULL));
    fuzz_ok(heddle_filter_merge(filter, other, NULL));
    fuzz_ok(heddle_filter_contains(filter, keys, KEYS, found, &count, NULL));
    fuzz_check(count == KEYS, "a key that was added is absent");
    fuzz_ok(heddle_filter_clear(other, NULL));
    fuzz_ok(heddle_filter_validate(other, NULL));
    heddle_filter_destroy(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const path = fuzz_path("filter");
    heddle_filter *filter = NULL;
    fuzz_write(path, data, size);
    const heddle_status status = heddle_filter_load(fuzz_device(), path, &filter);
    if (status != HEDDLE_OK) {
        fuzz_check(filter == NULL, "a file is refused and a filter made");
        fuzz_refused(status, false);
        return 0;
    }
    save(filter, data, size);
    use(filter);
    heddle_filter_destroy(filter);
    return 0;
}
