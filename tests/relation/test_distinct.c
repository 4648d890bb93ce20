/*
 * test_distinct.c: groups of which no rows are asked for. Keys, sizes and first rows are compared with the
 * model's, by each way, in each order, whatever else is asked for; other questions are refused.
 */
#define HD_KEY_BITS 64
#define HD_VALUE_BITS 64
#define HD_BUCKET 8
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tuning.h"
#include "host/seed.h"
#include "model/hash.h"
#include "support/made_groups.h"

#define SEED 77

static const uint32_t ways[] = {HD_TUNE_DISTINCT_ANY, HD_TUNE_DISTINCT_FEW, HD_TUNE_DISTINCT_MANY};

/* The model's groups by key. */
typedef struct known_key {
    uint64_t key, group;
} known_key;

typedef struct known {
    const uint64_t *keys;
    uint64_t n;
    uint32_t bits;
    table_model table;
    grouping model;
    known_key *sorted;
} known;

static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const known_key *)a)->key, y = ((const known_key *)b)->key;
    return x < y ? -1 : x > y;
}

static known known_make(const uint64_t *keys, uint64_t n, uint32_t bits)
{
    known k = {keys, n, bits, table_of_keys(keys, n, bits), {0}, NULL};
    k.model = table_group(&k.table);
    k.sorted = malloc((k.model.groups + 1) * sizeof *k.sorted);
    for (uint64_t g = 0; g < k.model.groups; g++) {
        k.sorted[g].key = low_bits(keys[k.model.rows[k.model.begins[g]]], bits);
        k.sorted[g].group = g;
    }
    qsort(k.sorted, k.model.groups, sizeof *k.sorted, by_key);
    return k;
}

static void known_free(known *k)
{
    free(k->sorted);
    grouping_free(&k->model);
    table_free(&k->table);
}

/* The library's groups. */
typedef struct asked {
    const test_case *c;
    const known *k;
    heddle_groups_options options;
    heddle_groups *groups;
    uint64_t *of; /* the model's number of every group */
} asked;

typedef heddle_status (*question)(heddle_groups *groups, void *out, void *stream);

static heddle_status ask_keys(heddle_groups *groups, void *out, void *stream)
{
    return heddle_groups_keys(groups, 0, out, NULL, stream);
}

static heddle_status ask_sizes(heddle_groups *groups, void *out, void *stream)
{
    return heddle_groups_sizes(groups, (uint64_t *)out, stream);
}

/* The numbers that a question is answered with, one a group; NULL where it must be refused. */
static uint64_t *answers(const asked *a, question ask, uint32_t flag, uint32_t bits)
{
    const uint64_t n = a->k->model.groups;
    const bool may = a->options.flags == 0 || flag == 0 || (a->options.flags & flag) != 0;
    array out = array_poisoned(a->c, ROLE_VALUES, n * bits / 8, 0xcd);
    const heddle_status status = ask(a->groups, array_pointer(&out), NULL);
    uint64_t *numbers = NULL;
    check_status(status, may ? HEDDLE_OK : HEDDLE_ERROR_INVALID);
    array_pull(&out);
    if (may) numbers = made_numbers(&out, n, bits);
    array_free(&out);
    return numbers;
}

/* Which group is which; all keys are there, once, in the order that was asked for. */
static void check_keys(asked *a)
{
    const uint64_t n = a->k->model.groups;
    uint64_t *keys = answers(a, ask_keys, 0, a->k->bits);
    uint8_t *seen = calloc(n + 1, 1);
    a->of = malloc((n + 1) * sizeof *a->of);
    for (uint64_t g = 0; g < n; g++) {
        const known_key wanted = {keys[g], 0};
        const known_key *found = bsearch(&wanted, a->k->sorted, n, sizeof wanted, by_key);
        check(found != NULL, "key %llu is not among the rows", (unsigned long long)keys[g]);
        check(!seen[found->group], "key %llu is there twice", (unsigned long long)keys[g]);
        seen[found->group] = 1;
        a->of[g] = found->group;
        if (a->options.order == HEDDLE_GROUPS_BY_FIRST)
            check(found->group == g, "group %llu is not in order", (unsigned long long)g);
    }
    free(seen);
    free(keys);
}

static void check_numbers(const asked *a)
{
    const grouping *model = &a->k->model;
    uint64_t *sizes = answers(a, ask_sizes, HEDDLE_GROUPS_SIZES, 64);
    uint64_t *firsts = answers(a, heddle_groups_first, HEDDLE_GROUPS_FIRST, a->options.row_bits);
    for (uint64_t g = 0; g < model->groups; g++) {
        const uint64_t of = a->of[g], begin = model->begins[of];
        if (sizes != NULL)
            check(sizes[g] == model->begins[of + 1] - begin, "the size of group %llu is wrong",
                  (unsigned long long)g);
        if (firsts != NULL)
            check(firsts[g] == model->rows[begin], "the first row of group %llu is wrong",
                  (unsigned long long)g);
    }
    free(sizes);
    free(firsts);
}

static void check_top(const asked *a)
{
    const grouping *model = &a->k->model;
    uint64_t numbers[3], count = 0, most = 0;
    const bool may = (a->options.flags & HEDDLE_GROUPS_SIZES) != 0 || a->options.flags == 0;
    check_status(heddle_groups_top(a->groups, 3, numbers, &count, NULL),
                 may ? HEDDLE_OK : HEDDLE_ERROR_INVALID);
    if (!may || model->groups == 0) return;
    for (uint64_t g = 0; g < model->groups; g++)
        if (model->begins[g + 1] - model->begins[g] > most)
            most = model->begins[g + 1] - model->begins[g];
    const uint64_t of = a->of[numbers[0]];
    check(model->begins[of + 1] - model->begins[of] == most, "the largest group is another");
}

static void check_refused(const asked *a)
{
    uint64_t out[1] = {5};
    if (a->options.flags == 0 || (a->options.flags & HEDDLE_GROUPS_ROWS) != 0) return;
    check_status(heddle_groups_of_rows(a->groups, out, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_rows(a->groups, out, out, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_aggregate(a->groups, HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, NULL,
                                         NULL, out, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    assert_int_equal(out[0], 5);
}

static void check_asked(const test_case *c, heddle_device *device, const known *k,
                        heddle_groups_options options)
{
    array data = array_of(c, ROLE_KEYS, k->keys, k->n, k->bits);
    heddle_column column = HEDDLE_COLUMN(array_pointer(&data), k->bits / 8);
    asked a = {c, k, options, NULL, NULL};
    uint64_t count = 0;
    check_ok(heddle_groups_create(device, &column, 1, k->n, &options, &a.groups, NULL));
    check_ok(heddle_groups_count(a.groups, &count));
    assert_int_equal(count, k->model.groups);
    check_keys(&a);
    check_numbers(&a);
    check_top(&a);
    check_refused(&a);
    heddle_groups_destroy(a.groups);
    free(a.of);
    array_free(&data);
}

/* What a GPU would choose by itself; a table that fills up at first; tables of blocks that fill up; both, and another border
   between few keys and many. Other devices do not look at these. */
static void force(uint32_t kind)
{
    hd_tune.keys_homes = kind % 2 == 1 ? 64 : HD_TUNING_NONE;
    hd_tune.keys_near_bits = kind / 2 == 1 ? 4 : HD_TUNING_NONE;
    hd_tune.keys_few = kind == 3 ? 1000 : HD_TUNING_NONE;
}

/* Everything that can be asked for, by every way; `few` of it where cases are many. */
static void check_all(const test_case *c, heddle_device *device, const uint64_t *keys, uint64_t n,
                      uint32_t bits, bool few)
{
    static const uint32_t flags[] = {1, 3, 5, 7, 8, 0};
    known k = known_make(keys, n, bits);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
        for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++)
            for (uint32_t order = 0; order < 2; order++) {
                heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
                if ((few && (f + order + w) % 3 != 0) || (flags[f] % 8 == 0 && w != 0)) continue;
                o.order = order;
                o.flags = flags[f];
                o.row_bits = f % 2 == 0 ? 64 : 32;
                o.seed = SEED;
                hd_tune.distinct_way = ways[w];
                force((uint32_t)(w + f + order) % 4);
                check_asked(c, device, &k, o);
                force(0);
                hd_tune.distinct_way = HD_TUNE_DISTINCT_ANY;
            }
    known_free(&k);
}

/* ------------------------------------------------------------------------------------------ tests */

static void keys_of_every_kind(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 2, 255, 257, 3000};
    if (!can_group(c)) return;
    for (uint32_t set = 0; set < KEYS_SETS; set++)
        for (uint32_t bits = 32; bits <= 64; bits += 32)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                uint64_t *keys = keys_allocate(sizes[s] + 1);
                keys_fill(keys, sizes[s], (key_set)set, bits, 5);
                case_note("%s, %u bits, %llu rows", keys_name((key_set)set), bits,
                          (unsigned long long)sizes[s]);
                check_all(c, c->device, keys, sizes[s], bits, s > 3);
                free(keys);
            }
}

/* Around the number of keys from which on they are many; the key that an empty slot looks like among them. */
static void numbers_of_keys(const test_case *c)
{
    static const uint64_t distinct[] = {1, 1000, 16384 - 1, 16384, 16384 + 1, 16384 + 256, 40000};
    const uint64_t n = 50001;
    uint64_t *keys;
    hd_mix mix;
    if (!can_group(c)) return;
    keys = keys_allocate(n);
    hd_mix_init(&mix, SEED);
    for (size_t d = 0; d < sizeof distinct / sizeof distinct[0]; d++) {
        const uint32_t bits = d % 2 == 0 ? 64 : 32;
        for (uint64_t i = 0; i < n; i++) keys[i] = low_bits(i % distinct[d] * 0x9e3779b1u, bits);
        keys[n / 3] = keys[n / 2] = low_bits(mix.unmul[0], bits);
        case_note("%llu keys and one, %u bits", (unsigned long long)distinct[d], bits);
        check_all(c, c->device, keys, n, bits, true);
    }
    free(keys);
}

/* Half of the rows have one key: their region is shared by the threads. And keys that are all in one
   region, too many for threads to share. */
static void crowded_regions(const test_case *c)
{
    const uint64_t n = 420007;
    uint64_t *keys;
    hd_mix mix;
    if (!can_group(c) || !c->device->engine->host_memory) return;
    keys = keys_allocate(n);
    hd_mix_init(&mix, SEED);
    for (int threads = 1; threads <= 3; threads += 2)
        for (int kind = 0; kind < 2; kind++) {
            heddle_device *device = NULL;
            check_ok(heddle_device_open(threads == 1 ? "cpu:1" : "cpu:3", &device));
            for (uint64_t i = 0; i < n; i++)
                if (kind == 0) keys[i] = i % 2 == 0 ? 17 : i / 3 * UINT64_C(0x10001);
                else keys[i] = unmix_key(&mix, i % (n / 2) * UINT64_C(0x9e3779b97f4a7c15) >> 5);
            case_note("%d threads, %s", threads, kind == 0 ? "a hot key" : "one region");
            check_all(c, device, keys, n, 64, true);
            heddle_device_close(device);
        }
    free(keys);
}

/* More regions than one pass makes. */
static void many_regions(const test_case *c)
{
    const uint64_t n = 100003;
    uint64_t *keys;
    if (!can_group(c)) return;
    keys = keys_allocate(n);
    hd_tune.distinct_region_rows = 16;
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        uint64_t state = bits;
        for (uint64_t i = 0; i < n; i++) keys[i] = keys_below(&state, n) * 0x9e3779b1u;
        for (uint64_t i = 0; i < n; i++) keys[i] = low_bits(keys[i], bits);
        check_all(c, c->device, keys, n, bits, true);
    }
    hd_tune.distinct_region_rows = HD_TUNING_NONE;
    free(keys);
}

/* So many rows that a GPU looks at some of them before all others: its guess may be right, or much too low. */
static void keys_to_be_guessed(const test_case *c)
{
    static const char *const names[] = {"ten",    "thousands", "all distinct",
                                        "sorted", "hot",       "runs"};
    const uint64_t n = case_size(300007);
    uint64_t *keys;
    if (!can_group(c)) return;
    keys = keys_allocate(n);
    for (uint32_t kind = 0; kind < sizeof names / sizeof names[0]; kind++) {
        const uint32_t bits = kind % 2 == 0 ? 64 : 32;
        uint64_t state = kind + 1;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t any = keys_below(&state, UINT64_C(1) << 40);
            keys[i] = kind == 0   ? any % 10
                      : kind == 1 ? any % 7000
                      : kind == 2 ? i
                      : kind == 3 ? i / 3
                      : kind == 4 ? (i < n / 20 * 19 ? 5 : i) /* those drawn hardly tell */
                                  : i / 977;
            keys[i] = low_bits(keys[i] * 0x9e3779b1u, bits);
        }
        case_note("%s, %u bits", names[kind], bits);
        check_all(c, c->device, keys, n, bits, true);
    }
    free(keys);
}

/* Keys of several columns, and with nulls, are grouped with their rows; the questions are the same. */
static void columns_of_every_shape(const test_case *c)
{
    if (!can_group(c)) return;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++) {
        table_model t = table_make(shape, 2000, 300, shape);
        const grouping model = table_group(&t);
        made_groups m = made_columns(c, &t);
        heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
        uint64_t numbers[2000], sizes[2000];
        o.flags = HEDDLE_GROUPS_SIZES | HEDDLE_GROUPS_FIRST;
        o.order = shape % 2;
        check_ok(
            heddle_groups_create(c->device, m.columns, t.columns, t.rows, &o, &m.groups, NULL));
        check_ok(heddle_groups_first(m.groups, numbers, NULL));
        check_ok(heddle_groups_sizes(m.groups, sizes, NULL));
        for (uint64_t g = 0; g < model.groups; g++) {
            const uint64_t of = model.of_row[numbers[g]];
            assert_int_equal(sizes[g], model.begins[of + 1] - model.begins[of]);
        }
        check_status(heddle_groups_of_rows(m.groups, numbers, NULL), HEDDLE_ERROR_INVALID);
        made_destroy(&m);
        grouping_free(&model);
        table_free(&t);
    }
}

/* ----------------------------------------------------------------------------------------- faults */

static void memory_may_run_out(const test_case *c)
{
    uint64_t keys[3000], out[3000];
    if (!can_group(c)) return;
    for (uint64_t i = 0; i < 3000; i++) keys[i] = i * i % 1009;
    for (uint32_t i = 0; i < 4; i++) {
        heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
        heddle_column column = HEDDLE_COLUMN(keys, 8);
        bool struck = true;
        o.flags = HEDDLE_GROUPS_SIZES;
        o.order = i % 2;
        hd_tune.distinct_way = i < 2 ? HD_TUNE_DISTINCT_FEW : HD_TUNE_DISTINCT_MANY;
        for (uint64_t at = 1; struck; at++) {
            heddle_groups *g = NULL;
            heddle_device_trim(c->device);
            hd_fault_arm(at);
            heddle_status status = heddle_groups_create(c->device, &column, 1, 3000, &o, &g, NULL);
            if (status == HEDDLE_OK) status = heddle_groups_sizes(g, out, NULL);
            struck = hd_fault_struck();
            hd_fault_arm(0);
            check_status(status, struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK);
            heddle_groups_destroy(g);
        }
    }
    hd_tune.distinct_way = HD_TUNE_DISTINCT_ANY;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(keys_of_every_kind), OVER_DEVICES(numbers_of_keys),
        OVER_DEVICES(crowded_regions),    OVER_DEVICES(many_regions),
        OVER_DEVICES(keys_to_be_guessed), OVER_DEVICES(columns_of_every_shape),
        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
