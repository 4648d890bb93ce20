/*
 * test_graph_validate.c: heddle_table_validate on hashgraphs. A healthy one passes; one that is damaged on
 * purpose, through the library's internals, is reported, and passes again once it is mended. And the
 * same pairs and seed give the same bytes, however many threads there are.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"
#include "table/graph/graph.h"

#define PAIRS UINT64_C(100000)

static uint64_t *keys, *values;

/* Distinct keys, and one that is there so often that its region has a wide row. */
static multi create_filled(const test_case *c, bool wide)
{
    heddle_table_options options = case_options(c);
    options.seed = 12345;
    multi m = multi_create(c, &options);
    keys = keys_allocate(PAIRS);
    values = keys_allocate(PAIRS);
    keys_fill(keys, PAIRS, KEYS_RANDOM, options.key_bits, 3);
    keys_fill_values(values, PAIRS, 3);
    for (uint64_t i = 0; wide && i < 70000; i++) keys[i] = keys[0];
    multi_build(&m, keys, options.value_bits != 0 ? values : NULL, PAIRS);
    free(keys);
    free(values);
    return m;
}

/* Flips a bit in device memory, asks, and flips it back. */
static void flip(const multi *m, void *memory, uint64_t byte, uint8_t bit, const char *what)
{
    uint8_t *at = (uint8_t *)memory + byte, content;
    case_note("%s, byte %llu, bit %#x", what, (unsigned long long)byte, bit);
    check_ok(heddle_memory_copy(m->c->device, &content, at, 1, NULL));
    check_ok(heddle_device_synchronize(m->c->device, NULL));
    content ^= bit;
    check_ok(heddle_memory_copy(m->c->device, at, &content, 1, NULL));
    check_status(heddle_table_validate(m->table, NULL), HEDDLE_ERROR_CORRUPT);
    assert_true(strlen(heddle_last_error()) > 10);
    content ^= bit;
    check_ok(heddle_memory_copy(m->c->device, at, &content, 1, NULL));
    check_ok(heddle_table_validate(m->table, NULL));
}

/* The topmost bits of a mixed key name its region: any other is wrong. */
static void flip_edges(const multi *m)
{
    const hd_graph_storage *s = &hd_graph_of(m->table)->storage;
    const uint64_t key = m->options.key_bits / 8, pair = key + m->options.value_bits / 8;
    for (uint64_t i = 0; i < s->edges; i += s->edges / 7) {
        flip(m, s->graph.edges, i * pair + key - 1, 0x80, "edges");
        flip(m, s->graph.edges, i * pair + key - 1, 0x08, "edges");
    }
}

static void flip_offsets(const multi *m)
{
    const hd_graph *g = &hd_graph_of(m->table)->storage.graph;
    const uint64_t regions = hd_graph_regions(g);
    for (uint64_t r = 0; r < regions; r++) {
        const uint64_t row = r * g->region_row * sizeof(uint16_t);
        flip(m, g->offsets, row + 1, 0x80, "offsets");
        if (g->wide_rows != 0) continue; /* the rest of a wide region's row is not used */
        flip(m, g->offsets, row + g->region_vertices, 0x80, "offsets");
        flip(m, g->offsets, row + 2 * g->region_vertices, 1, "offsets");
    }
    for (uint64_t r = 1; r <= regions; r++) flip(m, g->starts, r * 8, 1, "starts");
    flip(m, g->starts, regions * 8 + 5, 1, "starts");
    for (uint64_t v = 0; g->wide_rows != 0 && v <= g->region_vertices;
         v += g->region_vertices / 5) {
        flip(m, g->wide, v * 8, 1, "wide rows");
        flip(m, g->wide, v * 8 + 7, 0x80, "wide rows");
    }
}

static void flip_lengths(multi *m)
{
    const hd_graph *g = &hd_graph_of(m->table)->storage.graph;
    uint64_t *all, count = 0;
    all = multi_keys(m, &count);
    multi_erase(m, all, count / 2);
    multi_check(m);
    free(all);
    for (uint64_t v = 0; v < g->region_vertices; v += g->region_vertices / 5 + 1) {
        if (g->wide_rows == 0) flip(m, g->lengths, v * 2, 1, "lengths");
        else flip(m, g->wide_lengths, v * 8 + 6, 1, "wide lengths");
    }
}

static void damage_is_found(const test_case *c)
{
    for (int wide = 0; wide < 2; wide++) {
        multi m = create_filled(c, wide != 0);
        check_ok(heddle_table_validate(m.table, NULL));
        flip_edges(&m);
        flip_offsets(&m);
        flip_lengths(&m);
        multi_destroy(&m);
    }
}

/* A set or counter with a key twice is broken, a multimap is not. */
static void twice_is_found(const test_case *c)
{
    uint64_t two[2] = {77, 77};
    multi m = multi_create(c, NULL);
    hd_graph_feed feed;
    memset(&feed, 0, sizeof feed);
    array k = array_of(c, ROLE_VALUES, two, 2, m.options.key_bits);
    array v = array_of(c, ROLE_VALUES, two, 2, m.options.value_bits);
    feed.keys = array_pointer(&k);
    feed.values = array_pointer(&v);
    feed.n = 2;
    feed.seed = 1;
    if (c->arrays != ARRAYS_HOST || c->device->engine->host_memory) {
        check_ok(hd_graph_renew(m.table, &feed, NULL));
        check_status(heddle_table_validate(m.table, NULL),
                     m.options.container == HEDDLE_CONTAINER_MULTIMAP ? HEDDLE_OK
                                                                      : HEDDLE_ERROR_CORRUPT);
    }
    array_free(&k);
    array_free(&v);
    multi_destroy(&m);
}

/* The CPU's partition and placement keep the order of the batch. */
/* What is behind a row's last number, or behind the number of a wide row, means nothing. */
static void same_row(const hd_graph *a, const hd_graph *b, uint64_t region)
{
    const uint64_t row = region * a->region_row, numbers = a->region_vertices + 1;
    assert_int_equal(a->starts[region], b->starts[region]);
    if (a->starts[region + 1] - a->starts[region] <= HD_NARROW_MAX) {
        assert_memory_equal(a->offsets + row, b->offsets + row, numbers * sizeof(uint16_t));
    } else {
        const uint32_t *x = (const uint32_t *)(void *)(a->offsets + row);
        const uint32_t *y = (const uint32_t *)(void *)(b->offsets + row);
        assert_memory_equal(a->wide + *x * numbers, b->wide + *y * numbers,
                            numbers * sizeof(uint64_t));
    }
}

static void same_bytes(const test_case *c)
{
    test_case alone = *c;
    if (!c->device->engine->host_memory) return;
    check_ok(heddle_device_open("cpu:1", &alone.device));
    multi m = create_filled(c, true), n = create_filled(&alone, true);
    const hd_graph_storage *a = &hd_graph_of(m.table)->storage, *b = &hd_graph_of(n.table)->storage;
    const uint64_t pair = (m.options.key_bits + m.options.value_bits) / 8;
    assert_int_equal(a->edges, b->edges);
    assert_memory_equal(a->graph.edges, b->graph.edges, a->edges * pair);
    assert_int_equal(a->graph.region_row, b->graph.region_row);
    for (uint64_t r = 0; r < hd_graph_regions(&a->graph); r++) same_row(&a->graph, &b->graph, r);
    multi_destroy(&m);
    multi_destroy(&n);
    heddle_device_close(alone.device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_GRAPHS(damage_is_found), OVER_GRAPHS(twice_is_found),
                                       OVER_GRAPHS(same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
