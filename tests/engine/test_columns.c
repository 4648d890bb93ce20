/*
 * test_columns.c: every step over columns that an engine offers, against a plain loop. Arrays are the
 * device's, as the steps want it; sizes from none to what threads and blocks share.
 */
#include <stdlib.h>
#include <string.h>

#include "support/made_groups.h"

static const uint64_t sizes[] = {1, 2, 31, 1000, 4097, 100003};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* What every test works with: the steps of a device and memory for them. */
typedef struct bench {
    heddle_device *device;
    const hd_column_ops *steps;
    hd_site on; /* with work memory for every step */
    void *blocks[16];
    uint32_t used;
} bench;

static bench bench_begin(const test_case *c, uint64_t n)
{
    bench b = {.device = c->device, .steps = c->device->engine->columns};
    b.on.device = c->device;
    check_ok(heddle_memory_allocate(c->device, b.steps->work(c->device, n), &b.on.work));
    return b;
}

static void bench_end(bench *b)
{
    check_ok(heddle_memory_free(b->device, b->on.work));
    while (b->used != 0) check_ok(heddle_memory_free(b->device, b->blocks[--b->used]));
}

/* Device memory with the given bytes, or all 0xcd. */
static void *push(bench *b, const void *bytes, uint64_t n)
{
    void *memory = NULL;
    check_ok(heddle_memory_allocate(b->device, n + 1, &memory));
    if (bytes != NULL) check_ok(heddle_memory_copy(b->device, memory, bytes, n, NULL));
    else check_ok(heddle_memory_fill(b->device, memory, 0xcd, n, NULL));
    b->blocks[b->used++] = memory;
    return memory;
}

static void *pull(bench *b, const void *memory, uint64_t n)
{
    void *host = malloc(n + 1);
    check_ok(heddle_memory_copy(b->device, host, memory, n, NULL));
    check_ok(heddle_device_synchronize(b->device, NULL));
    return host;
}

static uint64_t row_at(const void *rows, uint32_t bits, uint64_t i)
{
    return bits == 32 ? ((const uint32_t *)rows)[i] : ((const uint64_t *)rows)[i];
}

/* Numbers below `bound` in `bits` bits. */
static void *random_rows(uint64_t n, uint32_t bits, uint64_t bound, uint64_t seed)
{
    void *rows = malloc(n * 8 + 8);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = keys_below(&seed, bound);
        if (bits == 32) ((uint32_t *)rows)[i] = (uint32_t)row;
        else ((uint64_t *)rows)[i] = row;
    }
    return rows;
}

/* A permutation, so that no element is written twice. */
static void *shuffled_rows(uint64_t n, uint32_t bits, uint64_t seed)
{
    uint64_t *order = keys_allocate(n + 1);
    void *rows = malloc(n * 8 + 8);
    for (uint64_t i = 0; i < n; i++) order[i] = i;
    keys_shuffle(order, n, seed);
    for (uint64_t i = 0; i < n; i++)
        if (bits == 32) ((uint32_t *)rows)[i] = (uint32_t)order[i];
        else ((uint64_t *)rows)[i] = order[i];
    free(order);
    return rows;
}

static uint8_t *random_flags(uint64_t n, uint64_t one_in, uint64_t seed)
{
    uint8_t *flags = malloc(n + 1);
    for (uint64_t i = 0; i < n; i++)
        flags[i] = keys_below(&seed, one_in) == 0 ? (uint8_t)(1 + seed % 255) : 0;
    return flags;
}

/* ------------------------------------------------------------------------------------------ steps */

static void scan_adds_up(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++) {
        const uint64_t n = sizes[s];
        bench b = bench_begin(c, n);
        uint64_t *numbers = keys_allocate(n + 1), sum = 0;
        keys_fill(numbers, n, KEYS_RANDOM, 64, 3);
        uint64_t *memory = push(&b, numbers, (n + 1) * 8);
        check_ok(b.steps->scan(b.on, memory, n));
        uint64_t *sums = pull(&b, memory, (n + 1) * 8);
        for (uint64_t i = 0; i <= n; i++) {
            check(sums[i] == sum, "sum %llu is wrong", (unsigned long long)i);
            if (i < n) sum += numbers[i];
        }
        free(sums);
        free(numbers);
        bench_end(&b);
    }
}

static void check_select(const test_case *c, const uint8_t *flags, uint64_t n, bool wanted,
                         uint32_t bits)
{
    bench b = bench_begin(c, n);
    uint8_t *memory = push(&b, flags, n);
    void *rows = push(&b, NULL, n * 8);
    uint64_t *count = push(&b, NULL, 8), at = 0;
    check_ok(b.steps->select(b.on, hd_flags_of(memory, n, wanted), rows, bits, count));
    void *got = pull(&b, rows, n * 8);
    uint64_t *found = pull(&b, count, 8);
    for (uint64_t i = 0; i < n; i++)
        if ((flags[i] != 0) == wanted)
            check(row_at(got, bits, at++) == i, "index %llu is wrong", (unsigned long long)i);
    assert_int_equal(*found, at);
    free(found);
    check_ok(heddle_memory_fill(c->device, count, 0xcd, 8, NULL));
    check_ok(b.steps->select(b.on, hd_flags_of(memory, n, wanted), NULL, bits, count));
    found = pull(&b, count, 8);
    assert_int_equal(*found, at);
    free(found);
    free(got);
    bench_end(&b);
}

static void check_rank(const test_case *c, const uint8_t *flags, uint64_t n, uint32_t bits)
{
    bench b = bench_begin(c, n);
    void *ranks = push(&b, NULL, n * 8);
    uint64_t sum = 0;
    check_ok(b.steps->rank(b.on, push(&b, flags, n), n, ranks, bits));
    void *got = pull(&b, ranks, n * 8);
    for (uint64_t i = 0; i < n; i++) {
        check(row_at(got, bits, i) == sum, "rank %llu is wrong", (unsigned long long)i);
        sum += flags[i] != 0;
    }
    free(got);
    bench_end(&b);
}

static void flags_are_selected_and_ranked(const test_case *c)
{
    static const uint64_t one_in[] = {1, 2, 50, UINT64_C(1) << 40};
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (size_t o = 0; o < 4; o++)
            for (uint32_t bits = 32; bits <= 64; bits += 32) {
                uint8_t *flags = random_flags(sizes[s], one_in[o], s + o);
                case_note("%llu flags, one in %llu, %u bits", (unsigned long long)sizes[s],
                          (unsigned long long)one_in[o], bits);
                check_select(c, flags, sizes[s], true, bits);
                check_select(c, flags, sizes[s], false, bits);
                check_rank(c, flags, sizes[s], bits);
                free(flags);
            }
}

static void check_gather(const test_case *c, uint64_t n, uint32_t width, uint32_t bits)
{
    const uint64_t elements = n / 2 + 1;
    bench b = bench_begin(c, n);
    uint64_t *column = keys_allocate(elements * 8 + 8);
    void *rows = random_rows(n, bits, elements, n);
    void *out = push(&b, NULL, n * width);
    keys_fill(column, elements * 8, KEYS_RANDOM, 64, 1);
    check_ok(b.steps->gather(b.on, hd_elements_of(push(&b, column, elements * width), width),
                             hd_at_rows(push(&b, rows, n * bits / 8), bits, n), out));
    uint8_t *got = pull(&b, out, n * width);
    for (uint64_t i = 0; i < n; i++)
        check(memcmp(got + i * width, (uint8_t *)column + row_at(rows, bits, i) * width, width) ==
                  0,
              "element %llu is wrong", (unsigned long long)i);
    free(got);
    free(rows);
    free(column);
    bench_end(&b);
}

static void check_scatter(const test_case *c, uint64_t n, uint32_t width, uint32_t bits, bool marks)
{
    const uint64_t written = n / 2 + 1;
    bench b = bench_begin(c, n);
    uint64_t *from = keys_allocate(n * 8 + 8);
    void *rows = shuffled_rows(n, bits, n);
    uint8_t *expected = malloc(n * width + 1);
    void *out = push(&b, NULL, n * width);
    keys_fill(from, n * 8, KEYS_RANDOM, 64, 1);
    memset(expected, 0xcd, n * width);
    for (uint64_t i = 0; i < written; i++) {
        uint8_t *element = expected + row_at(rows, bits, i) * width;
        if (!marks) memcpy(element, (uint8_t *)from + i * width, width);
        else memset(element, 0, width), *element = 1;
    }
    check_ok(b.steps->scatter(b.on, hd_elements_of(marks ? NULL : push(&b, from, n * width), width),
                              hd_at_rows(push(&b, rows, n * bits / 8), bits, written), out));
    uint8_t *got = pull(&b, out, n * width);
    check(memcmp(got, expected, n * width) == 0, "an element is wrong");
    free(got);
    free(expected);
    free(rows);
    free(from);
    bench_end(&b);
}

static void elements_are_moved(const test_case *c)
{
    static const uint32_t widths[] = {1, 2, 3, 4, 8, 12, 16, 33, 64};
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (uint32_t bits = 32; bits <= 64; bits += 32) {
                case_note("%llu elements of %u bytes, %u bits", (unsigned long long)sizes[s],
                          widths[w], bits);
                check_gather(c, sizes[s], widths[w], bits);
                check_scatter(c, sizes[s], widths[w], bits, false);
                check_scatter(c, sizes[s], widths[w], bits, true);
            }
}

static void largest_come_first(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (uint64_t k = 1; k <= sizes[s];
             k = k < sizes[s] && k * 40 > sizes[s] ? sizes[s] : k * 40) {
            const uint64_t n = sizes[s];
            bench b = bench_begin(c, n);
            uint64_t *numbers = keys_allocate(n + 1), state = k;
            uint64_t *indices = push(&b, NULL, k * 8);
            for (uint64_t i = 0; i < n; i++) numbers[i] = keys_below(&state, n / 4 + 2); /* ties */
            case_note("%llu of %llu", (unsigned long long)k, (unsigned long long)n);
            check_ok(b.steps->top(b.on, push(&b, numbers, n * 8), n, k, indices));
            uint64_t *got = pull(&b, indices, k * 8), at_least = 0;
            for (uint64_t i = 0; i < k; i++) {
                check(got[i] < n, "there is no such index");
                if (i == 0) continue;
                const uint64_t x = numbers[got[i - 1]], y = numbers[got[i]];
                check(x > y || (x == y && got[i - 1] < got[i]), "place %llu is out of order",
                      (unsigned long long)i);
            }
            /* Nothing that comes before the last is missing. */
            const uint64_t last = got[k - 1];
            for (uint64_t i = 0; i < n; i++)
                at_least +=
                    numbers[i] > numbers[last] || (numbers[i] == numbers[last] && i <= last);
            assert_int_equal(at_least, k);
            free(got);
            free(numbers);
            bench_end(&b);
        }
}

/* --------------------------------------------------------------------------------- rows in groups */

/* A model's groups as the steps take them. */
static hd_grouped push_groups(bench *b, const grouping *g, uint64_t n, uint32_t bits)
{
    void *rows = malloc(n * 8 + 8);
    for (uint64_t i = 0; i < n; i++)
        if (bits == 32) ((uint32_t *)rows)[i] = (uint32_t)g->rows[i];
        else ((uint64_t *)rows)[i] = g->rows[i];
    const hd_grouped grouped = {push(b, rows, n * bits / 8),
                                bits,
                                n,
                                push(b, g->begins, (g->groups + 1) * 8),
                                g->groups,
                                NULL,
                                NULL};
    free(rows);
    return grouped;
}

static void check_grouped(const test_case *c, const table_model *t, const grouping *g,
                          uint32_t bits)
{
    const uint64_t n = t->rows, width = bits / 8;
    bench b = bench_begin(c, n);
    const hd_grouped grouped = push_groups(&b, g, n, bits);
    void *names = shuffled_rows(g->groups, bits, 5);
    void *numbers = push(&b, NULL, n * width), *named = push(&b, NULL, n * width);
    void *firsts = push(&b, NULL, g->groups * width), *lasts = push(&b, NULL, g->groups * width);
    uint64_t *counts = push(&b, NULL, g->groups * 8);
    check_ok(b.steps->number(b.on, &grouped, NULL, numbers));
    check_ok(b.steps->number(b.on, &grouped, push(&b, names, g->groups * width), named));
    check_ok(b.steps->describe(b.on, &grouped, firsts, NULL, counts));
    check_ok(b.steps->describe(b.on, &grouped, NULL, lasts, NULL));
    void *got[5] = {pull(&b, numbers, n * width), pull(&b, named, n * width),
                    pull(&b, firsts, g->groups * width), pull(&b, lasts, g->groups * width),
                    pull(&b, counts, g->groups * 8)};
    for (uint64_t i = 0; i < n; i++) {
        check(row_at(got[0], bits, i) == g->of_row[i], "a number is wrong");
        check(row_at(got[1], bits, i) == row_at(names, bits, g->of_row[i]), "a name is wrong");
    }
    for (uint64_t i = 0; i < g->groups; i++) {
        check(row_at(got[2], bits, i) == g->rows[g->begins[i]], "a first row is wrong");
        check(row_at(got[3], bits, i) == g->rows[g->begins[i + 1] - 1], "a last row is wrong");
        check(row_at(got[4], 64, i) == g->begins[i + 1] - g->begins[i], "a count is wrong");
    }
    for (int i = 0; i < 5; i++) free(got[i]);
    free(names);
    bench_end(&b);
}

static void groups_are_described(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (uint64_t distinct = 1; distinct < 30 * sizes[s]; distinct *= 25) {
            table_model t = table_make(0, sizes[s], distinct, s + distinct);
            const grouping g = table_group(&t);
            case_note("%llu rows, %llu groups", (unsigned long long)sizes[s],
                      (unsigned long long)g.groups);
            check_grouped(c, &t, &g, 32);
            check_grouped(c, &t, &g, 64);
            grouping_free(&g);
            table_free(&t);
        }
}

/* ------------------------------------------------------------------------------------------- keys */

static void push_keys(bench *b, const table_model *t, uint64_t border, hd_row_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    keys->columns = t->columns;
    keys->n = border;
    for (uint32_t c = 0; c < t->columns; c++) {
        const column_model *from = &t->column[c];
        const uint32_t width = from->width;
        uint8_t *data = push(b, from->data, t->rows * width);
        uint8_t *valid = from->valid != NULL ? push(b, from->valid, t->rows) : NULL;
        keys->first[c].data = data;
        keys->second[c].data = data + border * width;
        keys->first[c].width = keys->second[c].width = width;
        keys->first[c].valid = valid;
        keys->second[c].valid = valid != NULL ? valid + border : NULL;
    }
}

static uint64_t stir(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of a row as all engines have it. */
static uint64_t hash_of(const table_model *t, uint64_t row, uint64_t seed)
{
    uint64_t hash = seed;
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *column = &t->column[i];
        const uint64_t salt = (seed + i) * UINT64_C(0xd6e8feb86659fd93);
        const bool there = column->valid == NULL || column->valid[row] != 0;
        if (!there) hash = stir(stir(hash, salt), ~salt);
        for (uint32_t at = 0; there && at < column->width; at += 8) {
            uint64_t word = 0;
            for (uint32_t k = at; k < column->width && k < at + 8; k++)
                word |= (uint64_t)column->data[row * column->width + k] << 8 * (k - at);
            hash = stir(hash, word);
        }
    }
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 32;
}

/* Equal keys have equal hashes, wherever they are; most others have not. Another seed, other hashes. All engines
   have the same. */
static void check_hash(const test_case *c, const table_model *t, const grouping *g, uint64_t border)
{
    const uint64_t n = t->rows;
    bench b = bench_begin(c, n);
    hd_row_keys keys;
    uint64_t *memory[2], *hashes[2], different = 0;
    push_keys(&b, t, border, &keys);
    for (int i = 0; i < 2; i++) memory[i] = push(&b, NULL, n * 8);
    check_ok(b.steps->hash(b.on, &keys, n, 5, memory[0]));
    check_ok(b.steps->hash(b.on, &keys, n, 6, memory[1]));
    for (int i = 0; i < 2; i++) hashes[i] = pull(&b, memory[i], n * 8);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t first = g->rows[g->begins[g->of_row[i]]];
        check(hashes[0][i] == hashes[0][first], "equal keys have different hashes");
        check(hashes[0][i] == hash_of(t, i, 5), "another engine has another hash");
        different += hashes[0][i] != hashes[1][i];
    }
    for (uint64_t i = 1; i < g->groups; i++)
        check(hashes[0][g->rows[g->begins[i]]] != hashes[0][g->rows[g->begins[i - 1]]],
              "different keys have equal hashes");
    check(different + n / 100 + 1 >= n, "the seed changes nothing");
    for (int i = 0; i < 2; i++) free(hashes[i]);
    bench_end(&b);
}

static uint64_t count_different(bench *b, const hd_row_keys *keys, const hd_grouped *grouped)
{
    const uint64_t before = 5;
    uint64_t *count = push(b, &before, 8);
    check_ok(b->steps->differ(b->on, keys, grouped, count));
    uint64_t *got = pull(b, count, 8);
    const uint64_t different = *got - before;
    free(got);
    return different;
}

static void check_differ(const test_case *c, const table_model *t, const grouping *g,
                         uint64_t border)
{
    const uint64_t n = t->rows;
    bench b = bench_begin(c, n);
    hd_row_keys keys;
    grouping one = {1, NULL, keys_allocate(n + 1), keys_allocate(2)};
    uint64_t expected = 0;
    push_keys(&b, t, border, &keys);
    const hd_grouped right = push_groups(&b, g, n, 32);
    assert_int_equal(count_different(&b, &keys, &right), 0);
    /* All rows as one group: those that are not like row 0 differ. */
    for (uint64_t i = 0; i < n; i++) {
        one.rows[i] = i;
        expected += table_compare(t, 0, i) != 0;
    }
    one.begins[0] = 0;
    one.begins[1] = n;
    bench other = bench_begin(c, n);
    const hd_grouped wrong = push_groups(&other, &one, n, 64);
    assert_int_equal(count_different(&other, &keys, &wrong), expected);
    bench_end(&other);
    grouping_free(&one);
    bench_end(&b);
}

static void keys_are_hashed_and_compared(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (size_t s = 0; s + 1 < SIZES; s++) {
            table_model t = table_make(shape, sizes[s], sizes[s] / 4 + 1, s);
            const grouping g = table_group(&t);
            case_note("shape %u, %llu rows", shape, (unsigned long long)sizes[s]);
            check_hash(c, &t, &g, sizes[s]);
            check_hash(c, &t, &g, sizes[s] / 3);
            check_differ(c, &t, &g, sizes[s]);
            check_differ(c, &t, &g, sizes[s] / 3);
            grouping_free(&g);
            table_free(&t);
        }
}

/* --------------------------------------------------------------------------------------- answers */

/* Lists of 0 to `most` elements, in another order, behind `base` elements that are not at hand. */
static void check_lists(const test_case *c, uint64_t n, uint32_t width, uint64_t most)
{
    const uint64_t base = 1000;
    bench b = bench_begin(c, n);
    uint64_t state = n + most, sum = 0;
    uint32_t *rows = shuffled_rows(n, 32, n);
    uint64_t *lengths = keys_allocate(n), *places = keys_allocate(n + 1),
             *starts = keys_allocate(n + 1), *to_places = keys_allocate(n);
    for (uint64_t i = 0; i < n; i++)
        lengths[i] = keys_below(&state, 3) == 0 ? 0 : keys_below(&state, most + 1);
    places[0] = base;
    for (uint64_t i = 0; i < n; i++) places[i + 1] = places[i] + lengths[i];
    for (uint64_t i = 0; i < n; i++) {
        starts[i] = sum;
        sum += lengths[rows[i]];
        to_places[i] = places[rows[i]];
    }
    starts[n] = sum;
    uint8_t *from = malloc(sum * width + 1), *out = malloc(sum * width + 1);
    for (uint64_t i = 0; i < sum * width; i++) from[i] = (uint8_t)keys_random(&state);
    for (uint64_t i = 0; i < n; i++)
        memcpy(out + (places[rows[i]] - base) * width, from + starts[i] * width,
               lengths[rows[i]] * width);
    void *to = push(&b, NULL, sum * width);
    const hd_answer_lists lists = {n,
                                   sum,
                                   push(&b, starts, (n + 1) * 8),
                                   push(&b, from, sum * width),
                                   width,
                                   push(&b, to_places, n * 8),
                                   base,
                                   to};
    check_ok(b.steps->deliver_lists(b.on, &lists));
    uint8_t *got = pull(&b, to, sum * width);
    assert_memory_equal(got, out, sum * width);
    void *const all[] = {rows, lengths, places, to_places, starts, from, out, got};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    bench_end(&b);
}

static void lists_are_delivered(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (uint32_t width = 4; width <= 8; width += 4) {
            case_note("%llu lists of %u bytes", (unsigned long long)sizes[s], width);
            check_lists(c, sizes[s], width, 1);
            check_lists(c, sizes[s], width, 9);
            if (sizes[s] < 5000) check_lists(c, sizes[s], width, 3000);
        }
}

/* ---------------------------------------------------------------------------------- other numbers */

static void check_renumber(const test_case *c, uint64_t n, uint32_t row_bits, uint32_t out_bits,
                           bool named)
{
    const uint64_t base = 17, none = row_bits == 32 ? UINT32_MAX : UINT64_MAX;
    bench b = bench_begin(c, n);
    void *rows = random_rows(n, row_bits, n, 3), *names = random_rows(n, out_bits, 1000000, 4);
    for (uint64_t i = 0; i < n; i += 5)
        if (row_bits == 32) ((uint32_t *)rows)[i] = UINT32_MAX;
        else ((uint64_t *)rows)[i] = UINT64_MAX;
    void *out = push(&b, NULL, n * 8);
    check_ok(b.steps->renumber(b.on, hd_at_rows(push(&b, rows, n * 8), row_bits, n),
                               hd_names_of(named ? push(&b, names, n * 8) : NULL, base, out_bits),
                               out));
    void *got = pull(&b, out, n * 8);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = row_at(rows, row_bits, i);
        const uint64_t expected = row == none ? (out_bits == 32 ? UINT32_MAX : UINT64_MAX)
                                  : named     ? base + row_at(names, out_bits, row)
                                              : base + row;
        check(row_at(got, out_bits, i) == expected, "number %llu is wrong", (unsigned long long)i);
    }
    free(rows);
    free(names);
    free(got);
    bench_end(&b);
}

static void rows_are_renumbered(const test_case *c)
{
    if (c->device->engine->columns == NULL) return;
    for (size_t s = 0; s < SIZES; s++)
        for (uint32_t kind = 0; kind < 8; kind++)
            check_renumber(c, sizes[s], kind & 1 ? 32 : 64, kind & 2 ? 32 : 64, (kind & 4) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(scan_adds_up),         OVER_DEVICES(flags_are_selected_and_ranked),
        OVER_DEVICES(elements_are_moved),   OVER_DEVICES(largest_come_first),
        OVER_DEVICES(groups_are_described), OVER_DEVICES(keys_are_hashed_and_compared),
        OVER_DEVICES(lists_are_delivered),  OVER_DEVICES(rows_are_renumbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
