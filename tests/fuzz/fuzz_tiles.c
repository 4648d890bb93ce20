/*
 * fuzz_tiles.c: the bytes are a bucket, its values and a slab, and what is asked of them. Every tile that was compiled and
 * that this machine runs gives the answers of the scalar tile, and leaves the same bytes behind. See fuzz.h.
 */
#include <stdlib.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "fuzz.h"
#include "tile_queries.h"

enum { SLOTS_BYTES = 16 * TILE_SLOTS_MOST, VALUES_BYTES = 8 * TILE_SLOTS_MOST, SLAB_BYTES = 128 };

/* All the memory that a question is about; a tile works on a copy of its own. */
typedef struct memory {
    uint8_t slots[SLOTS_BYTES], values[VALUES_BYTES], slab[SLAB_BYTES];
    uint32_t lock;
} memory;

static bool runs_here(const char *tile)
{
    static int avx2 = -1, avx512 = -1;
    uint32_t count = 0;
    if (avx2 < 0) {
        avx2 = hd_cpu_tables("avx2", &count) != NULL;
        avx512 = hd_cpu_tables("avx512", &count) != NULL;
    }
    return strcmp(tile, "avx2") == 0 ? avx2 : strcmp(tile, "avx512") == 0 ? avx512 : true;
}

/* A block that ends where the memory that a tile may read ends. */
static void *block(const uint8_t *from, size_t bytes, size_t alignment)
{
    void *const to = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    fuzz_check(to != NULL, "no memory");
    memcpy(to, from, bytes);
    return to;
}

/* Asks on a copy of the memory, which then holds what the tile has left. */
static void ask(const tile_kind *kind, const tile_question *given, memory *m, tile_answers *a)
{
    const size_t slots = (size_t)kind->bucket * kind->slot_bytes;
    const size_t values = (size_t)kind->bucket * 8;
    tile_question q = *given;
    q.slots = block(m->slots, slots, 16);
    q.values = block(m->values, values, 16);
    q.slab = block(m->slab, SLAB_BYTES, 128);
    q.lock = &m->lock;
    memset(a, 0, sizeof *a);
    kind->ask(&q, a);
    memcpy(m->slots, q.slots, slots);
    memcpy(m->values, q.values, values);
    memcpy(m->slab, q.slab, SLAB_BYTES);
    free(q.slots);
    free(q.values);
    free(q.slab);
}

static tile_question read_question(fuzz_bytes *bytes)
{
    tile_question q;
    memset(&q, 0, sizeof q);
    q.mark_bits = 1u << fuzz_below(bytes, 4);
    q.policy = fuzz_below(bytes, HEDDLE_POLICY_MAX + 1);
    q.number = (uint32_t)fuzz_take(bytes, 1);
    q.like_slot = (int32_t)fuzz_take(bytes, 1) - 64;
    q.change = (uint32_t)fuzz_take(bytes, 1) % (TILE_CHANGES + 1);
    q.key = fuzz_take(bytes, 8);
    q.value = fuzz_take(bytes, 8);
    return q;
}

/* Bytes that are used up are those from the beginning again, so that keys repeat. */
static void read_memory(fuzz_bytes bytes, memory *m)
{
    memset(m, 0, sizeof *m);
    uint8_t *const all = (uint8_t *)m;
    for (size_t at = 0; bytes.left != 0 && at < sizeof *m; at += bytes.left)
        memcpy(all + at, bytes.at, bytes.left < sizeof *m - at ? bytes.left : sizeof *m - at);
}

static uint32_t kinds_of_bucket(uint32_t first)
{
    const tile_kind *one = tile_kinds[first];
    uint32_t last = first + 1;
    while (last < tile_kind_count && tile_kinds[last]->key_bits == one->key_bits &&
           tile_kinds[last]->value_bits == one->value_bits &&
           tile_kinds[last]->bucket == one->bucket)
        last++;
    return last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, size};
    uint32_t first = (uint32_t)fuzz_take(&bytes, 1) % tile_kind_count;
    while (strcmp(tile_kinds[first]->tile, "scalar") != 0) first--;
    const tile_question q = read_question(&bytes);
    memory given, left;
    tile_answers right;
    read_memory(bytes, &given);
    left = given;
    ask(tile_kinds[first], &q, &left, &right);
    for (uint32_t i = first + 1; i < kinds_of_bucket(first); i++) {
        const tile_kind *kind = tile_kinds[i];
        memory also = given;
        tile_answers answers;
        if (!runs_here(kind->tile)) continue;
        ask(kind, &q, &also, &answers);
        fuzz_check(memcmp(&answers, &right, sizeof right) == 0,
                   "%s answers otherwise than scalar: keys of %u, values of %u, buckets of %u",
                   kind->tile, kind->key_bits, kind->value_bits, kind->bucket);
        fuzz_check(memcmp(&also, &left, sizeof left) == 0,
                   "%s leaves another bucket than scalar: keys of %u, values of %u, buckets of %u",
                   kind->tile, kind->key_bits, kind->value_bits, kind->bucket);
    }
    return 0;
}
