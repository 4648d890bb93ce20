/*
 * test_owners.c: rows sent to the members that own their keys, and answers fetched (engine/owners.h), of every
 * engine against a plain loop: rows of a member come in their order, and an answer finds its row again.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/device/engine.h"
#include "route/spread.h"
#include "support/cases.h"
#include "support/keys.h"
#include "support/mixed.h"
#include "table/slots/geometry.h"

#define POISON 0xcd
#define GUARD 64

/* How bins get owners. */
enum { EVEN, ANY, LAST_ALONE, FIRST_ALONE, TWO_ALONE, PATTERNS };

static const uint32_t member_counts[] = {1,  2,  3,  4,  5,  7,   8,    31,
                                         32, 33, 64, 65, 72, 500, 1000, 1024};
/* Around the rows of a warp and the tiles of both engines. */
static const uint64_t sizes[] = {0,    1,    31,   33,   255,   257,  2047,
                                 2048, 2049, 4096, 4097, 12289, 70001};
#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

/*
 * Memory of the device that ends in bytes nobody may write. What is only read ends, on a host, at a page nobody may
 * read either: the vector loops run under no sanitizer.
 */
typedef struct block {
    heddle_device *device;
    uint64_t bytes;
    char *memory;
    uint8_t *host;
    char *pages; /* NULL: it is the device's memory */
    size_t mapped;
} block;

static void block_map(block *b)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    b->mapped = ((size_t)b->bytes + page - 1) / page * page + page;
    b->pages =
        (char *)mmap(NULL, b->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(b->pages, MAP_FAILED);
    assert_int_equal(mprotect(b->pages + b->mapped - page, page, PROT_NONE), 0);
    b->memory = b->pages + b->mapped - page - b->bytes;
    memcpy(b->memory, b->host, b->bytes);
}

static block block_make(heddle_device *device, const void *from, uint64_t bytes)
{
    block b = {device, bytes, NULL, malloc(bytes + GUARD), NULL, 0};
    void *memory = NULL;
    memset(b.host, POISON, bytes + GUARD);
    if (from != NULL) memcpy(b.host, from, bytes);
    if (from != NULL && device->engine->host_memory) {
        block_map(&b);
        return b;
    }
    check_ok(heddle_memory_allocate(device, bytes + GUARD, &memory));
    check_ok(heddle_memory_copy(device, memory, b.host, bytes + GUARD, NULL));
    check_ok(heddle_device_synchronize(device, NULL));
    b.memory = (char *)memory;
    return b;
}

static void block_pull(block *b)
{
    check_ok(heddle_memory_copy(b->device, b->host, b->memory, b->bytes + GUARD, NULL));
    check_ok(heddle_device_synchronize(b->device, NULL));
    for (uint64_t i = 0; i < GUARD; i++) assert_int_equal(b->host[b->bytes + i], POISON);
}

static void block_free(block *b)
{
    if (b->pages != NULL) assert_int_equal(munmap(b->pages, b->mapped), 0);
    else check_ok(heddle_memory_free(b->device, b->memory));
    free(b->host);
}

/* cmocka's own is slow for millions of numbers. */
static void check_equal(uint64_t got, uint64_t expected)
{
    if (got != expected) assert_int_equal(got, expected);
}

static uint64_t number_at(const void *from, uint64_t i, uint32_t width)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)from + i * width, width);
    return number;
}

/* A batch with what is expected of it. */
typedef struct trial {
    const test_case *c;
    const hd_owners_ops *ops;
    hd_owners batch;
    uint32_t key_width;
    uint8_t *keys; /* of the rows */
    uint64_t *starts;
    uint64_t *rows; /* that come at every place */
    block key_block, owner_block, start_block, work_block;
} trial;

static void fill_owners(uint16_t *owners, uint32_t bins, uint32_t members, uint32_t pattern)
{
    uint64_t state = members + pattern;
    for (uint32_t i = 0; i < bins; i++)
        owners[i] = (uint16_t)(pattern == EVEN          ? (uint64_t)i * members / bins
                               : pattern == ANY         ? keys_below(&state, members)
                               : pattern == LAST_ALONE  ? members - 1
                               : pattern == FIRST_ALONE ? 0
                               : i < bins / 2           ? members / 4
                                                        : members / 2);
}

/* Counts the rows of every owner, then puts each behind those before it. */
static void expect_places(trial *t, const uint16_t *owners)
{
    const uint64_t n = t->batch.n;
    const uint32_t members = t->batch.members, bits = t->key_width * 8;
    uint16_t *of_rows = malloc(n * sizeof *of_rows + 1);
    uint64_t *next = keys_allocate(members);
    memset(t->starts, 0, (members + 1) * sizeof *t->starts);
    for (uint64_t i = 0; i < n; i++) {
        of_rows[i] = owners[mixed(&t->batch.mix, number_at(t->keys, i, t->key_width), bits) >>
                            (bits - t->batch.bits)];
        t->starts[of_rows[i] + 1]++;
    }
    for (uint32_t i = 0; i < members; i++) {
        t->starts[i + 1] += t->starts[i];
        next[i] = t->starts[i];
    }
    for (uint64_t i = 0; i < n; i++) t->rows[next[of_rows[i]]++] = i;
    free(of_rows);
    free(next);
}

static trial trial_make(const test_case *c, uint32_t key_bits, uint32_t members, uint32_t pattern,
                        uint64_t n, key_set set)
{
    /* More than a group would have of few members, as many as it has of others. */
    const uint32_t bits = members > 4 && members <= 33 ? 12 : hd_spread_bits(members);
    uint64_t *numbers = keys_allocate(n + 1);
    uint16_t *owners = malloc(sizeof *owners << bits);
    trial t;
    memset(&t, 0, sizeof t);
    t.c = c;
    t.ops = c->device->engine->owners(key_bits);
    t.key_width = key_bits / 8;
    t.keys = malloc(n * t.key_width + 1);
    t.starts = keys_allocate(members + 1);
    t.rows = keys_allocate(n + 1);
    keys_fill(numbers, n, set, key_bits, n + members);
    for (uint64_t i = 0; i < n; i++) memcpy(t.keys + i * t.key_width, &numbers[i], t.key_width);
    free(numbers);
    fill_owners(owners, 1u << bits, members, pattern);
    hd_mix_init(&t.batch.mix, n + members);
    t.batch.bits = bits;
    t.batch.members = members;
    t.batch.n = n;
    expect_places(&t, owners);
    t.key_block = block_make(c->device, t.keys, n * t.key_width);
    t.owner_block = block_make(c->device, owners, sizeof *owners << bits);
    t.start_block = block_make(c->device, NULL, (members + 1) * sizeof(uint64_t));
    t.work_block = block_make(c->device, NULL, t.ops->work(c->device, members, n));
    t.batch.keys = t.key_block.memory;
    t.batch.owners = (const uint16_t *)t.owner_block.memory;
    t.batch.starts = (uint64_t *)t.start_block.memory;
    t.batch.work = t.work_block.memory;
    free(owners);
    return t;
}

static void trial_free(trial *t)
{
    block_pull(&t->work_block); /* its guard */
    block_free(&t->key_block);
    block_free(&t->owner_block);
    block_free(&t->start_block);
    block_free(&t->work_block);
    free(t->keys);
    free(t->starts);
    free(t->rows);
}

static void check_plan(trial *t)
{
    check_ok(t->ops->plan(t->c->device, &t->batch, NULL));
    block_pull(&t->start_block);
    assert_memory_equal(t->start_block.host, t->starts, t->start_block.bytes);
}

/*
 * Where every member has an array of its own, these lie in one block in the opposite order of the members: where each
 * begins, and where a row is that is the i-th of all. `owner` is that of the row before.
 */
static void **own_arrays(const trial *t, bool own, char *memory, uint32_t width)
{
    void **arrays = own ? malloc(t->batch.members * sizeof *arrays) : NULL;
    for (uint32_t m = 0; own && m < t->batch.members; m++)
        arrays[m] = memory + (t->batch.n - t->starts[m + 1]) * width;
    return arrays;
}

static uint64_t own_place(const trial *t, bool own, uint64_t i, uint64_t *owner)
{
    if (!own) return i;
    while (t->starts[*owner + 1] <= i) ++*owner;
    return t->batch.n - t->starts[*owner + 1] + i - t->starts[*owner];
}

/* Sends values of `width` bytes, or keys alone. */
static void check_send(const trial *t, uint32_t width, bool own)
{
    const uint64_t n = t->batch.n;
    uint8_t *values = malloc(n * width + 1);
    uint64_t state = n + width;
    for (uint64_t i = 0; i < n * width; i++) values[i] = (uint8_t)keys_random(&state);
    block keys_out = block_make(t->c->device, NULL, n * t->key_width);
    block from = block_make(t->c->device, values, n * width);
    block out = block_make(t->c->device, NULL, n * width);
    void **keys_to = own_arrays(t, own, keys_out.memory, t->key_width);
    void **values_to = own_arrays(t, own, out.memory, width);
    const hd_owners_sent sent = {own ? NULL : keys_out.memory,
                                 width != 0 ? from.memory : NULL,
                                 own ? NULL : out.memory,
                                 width,
                                 keys_to,
                                 values_to};
    check_ok(t->ops->send(t->c->device, &t->batch, &sent, NULL));
    block_pull(&keys_out);
    block_pull(&out);
    for (uint64_t i = 0, owner = 0; i < n; i++) {
        const uint64_t at = own_place(t, own, i, &owner);
        check_equal(number_at(keys_out.host, at, t->key_width),
                    number_at(t->keys, t->rows[i], t->key_width));
        check_equal(number_at(out.host, at, width), number_at(values, t->rows[i], width));
    }
    free(keys_to);
    free(values_to);
    block_free(&keys_out);
    block_free(&from);
    block_free(&out);
    free(values);
}

/* Answers of `width` bytes, or flags alone; the flags are wanted or only heeded, or all were found. */
static void check_fetch(const trial *t, uint32_t width, bool asks, bool tells, bool own)
{
    const uint64_t n = t->batch.n;
    uint8_t *answers = malloc(n * width + 1), *found = malloc(n + 1);
    uint64_t state = n + width;
    for (uint64_t i = 0; i < n * width; i++) answers[i] = (uint8_t)keys_random(&state);
    for (uint64_t i = 0; i < n; i++) /* outcomes are more than flags */
        found[i] = (uint8_t)keys_below(&state, 4);
    block found_in = block_make(t->c->device, found, n);
    block from = block_make(t->c->device, answers, n * width);
    block found_out = block_make(t->c->device, NULL, n);
    block out = block_make(t->c->device, NULL, n * width);
    void **found_of = own_arrays(t, own && asks, found_in.memory, 1);
    void **values_of = own_arrays(t, own, from.memory, width);
    const hd_owners_answers all = {asks && !own ? (const uint8_t *)found_in.memory : NULL,
                                   own ? NULL : from.memory,
                                   width,
                                   tells ? (uint8_t *)found_out.memory : NULL,
                                   width != 0 ? out.memory : NULL,
                                   found_of,
                                   values_of};
    check_ok(t->ops->fetch(t->c->device, &t->batch, &all, NULL));
    block_pull(&found_out);
    block_pull(&out);
    for (uint64_t i = 0, owner = 0; i < n; i++) {
        const uint64_t row = t->rows[i], at = own_place(t, own, i, &owner);
        const uint8_t flag = asks ? found[at] : 1;
        uint64_t poison = 0;
        memset(&poison, POISON, width);
        check_equal(found_out.host[row], tells ? flag : POISON);
        check_equal(number_at(out.host, row, width),
                    flag != 0 ? number_at(answers, at, width) : poison);
    }
    block_free(&found_in);
    block_free(&from);
    block_free(&found_out);
    block_free(&out);
    free(answers);
    free(found);
    free(found_of);
    free(values_of);
}

static void check_trial(const test_case *c, uint32_t key_bits, uint32_t members, uint32_t pattern,
                        uint64_t n, key_set set)
{
    trial t = trial_make(c, key_bits, members, pattern, n, set);
    case_note("%llu keys of %u bits, %s, %u members, pattern %u", (unsigned long long)n, key_bits,
              keys_name(set), members, pattern);
    check_plan(&t);
    for (int own = 0; own <= c->device->engine->host_memory; own++) {
        for (uint32_t width = 0; width <= 8; width += 4) {
            check_send(&t, width, own);
            check_fetch(&t, width, true, true, own);
        }
        check_fetch(&t, 4, true, false, own);
        check_fetch(&t, 8, false, false, own);
        check_fetch(&t, 4, false, true, own);
    }
    trial_free(&t);
}

static void rows_go_and_answers_come(const test_case *c)
{
    const bool quick = getenv("HEDDLE_TEST_QUICK") != NULL;
    for (size_t m = 0; m < COUNT_OF(member_counts); m++)
        for (size_t s = 0; s + quick < COUNT_OF(sizes); s++) {
            const uint32_t pattern = (uint32_t)(m + s) % PATTERNS;
            const uint32_t key_bits = (m + s) % 2 == 0 ? 32 : 64;
            check_trial(c, key_bits, member_counts[m], pattern, sizes[s], KEYS_RANDOM);
            if (s % 3 == 0)
                check_trial(c, 96 - key_bits, member_counts[m], EVEN, sizes[s],
                            s % 2 == 0 ? KEYS_EQUAL : KEYS_ZIPF);
        }
}

/* The loops compiled for every vector tile that this machine runs. */
static void every_vector_tile(const test_case *c)
{
    static const char *const tiles[] = {"scalar", "avx2", "avx512", "neon"};
    hd_device_cpu *device = (hd_device_cpu *)c->device;
    uint32_t count;
    if (!c->device->engine->host_memory) return;
    const char *own = device->tile;
    for (size_t i = 0; i < COUNT_OF(tiles); i++) {
        if (hd_cpu_tables(tiles[i], &count) == NULL) continue;
        device->tile = tiles[i];
        for (size_t m = 0; m < COUNT_OF(member_counts); m++) {
            check_trial(c, 32, member_counts[m], ANY, 5003, KEYS_RANDOM);
            check_trial(c, 64, member_counts[m], EVEN, 4999, KEYS_ZIPF);
            check_trial(c, 32, member_counts[m], FIRST_ALONE, 77, KEYS_RANDOM);
            check_trial(c, 64, member_counts[m], TWO_ALONE, 1001, KEYS_RANDOM);
        }
    }
    device->tile = own;
}

/* Several batches with the same memory: nothing is left over from the one before. */
static void memory_is_used_again(const test_case *c)
{
    trial large = trial_make(c, 32, 7, EVEN, 9000, KEYS_RANDOM);
    const uint64_t all = large.batch.n;
    check_plan(&large);
    check_send(&large, 4, false);
    for (uint64_t n = all; n > 1; n /= 3) {
        trial small = trial_make(c, 32, 7, EVEN, n, KEYS_SEQUENCE);
        small.batch.work = large.batch.work;
        check_plan(&small);
        check_send(&small, 4, false);
        check_fetch(&small, 4, true, true, false);
        trial_free(&small);
    }
    trial_free(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(rows_go_and_answers_come),
        OVER_DEVICES(every_vector_tile),
        OVER_DEVICES(memory_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
