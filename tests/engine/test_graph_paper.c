/*
 * test_graph_paper.c: the paper's two builds (papers/graph_paper.h) hold every key with its index once, in
 * the list of its vertex.
 */
#include <stdlib.h>
#include <string.h>

#include "papers/graph_paper.h"
#include "support/cases.h"
#include "support/keys.h"
#include "table/slots/geometry.h"

static void *take(uint64_t bytes)
{
    void *memory = malloc(bytes + 1);
    assert_non_null(memory);
    return memory;
}

static void check_graph(const hd_paper_graph *g, const uint32_t *keys, uint64_t n)
{
    uint8_t *seen = take(n);
    memset(seen, 0, n);
    assert_int_equal(g->offsets[0], 0);
    assert_int_equal(g->offsets[g->vertices], n);
    for (uint32_t v = 0; v < g->vertices; v++) {
        assert_true(g->offsets[v] <= g->offsets[v + 1]);
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            const hd_paper_edge edge = g->edges[i];
            check(edge.index < n && keys[edge.index] == edge.key && !seen[edge.index],
                  "edge %llu: key %#x, index %u", (unsigned long long)i, edge.key, edge.index);
            check(hd_paper_vertex(g, edge.key) == v, "key %#x in the list of %u", edge.key, v);
            seen[edge.index] = 1;
        }
    }
    free(seen);
}

static void run(uint64_t n, key_set set, uint32_t vertices, int threads, uint32_t bins)
{
    uint64_t *numbers = keys_allocate(n + 1);
    uint32_t *keys = take(n * 4);
    hd_paper_graph g;
    hd_paper_work work = {take(vertices * UINT64_C(4)), take(n * 4), take(n * 8)};
    case_note("%llu keys %s, %u vertices, %d threads, %u bins", (unsigned long long)n,
              keys_name(set), vertices, threads, bins);
    keys_fill(numbers, n, set, 32, 4);
    for (uint64_t i = 0; i < n; i++) keys[i] = (uint32_t)numbers[i];
    g.vertices = vertices;
    g.offsets = take((vertices + UINT64_C(1)) * 4);
    g.edges = take(n * 8);
    hd_mix_init(&g.mix, 99);
    hd_paper_v1(threads, keys, n, &g, &work);
    check_graph(&g, keys, n);
    memset(g.edges, 0xff, n * 8);
    hd_paper_v2(threads, keys, n, bins, &g, &work);
    check_graph(&g, keys, n);
    free(numbers);
    free(keys);
    free(work.counters);
    free(work.hashes);
    free(work.bins);
    free(g.offsets);
    free(g.edges);
    case_note("%s", "");
}

static void both_builds(void **state)
{
    static const key_set sets[] = {KEYS_RANDOM, KEYS_EDGES, KEYS_SEQUENCE, KEYS_EQUAL,
                                   KEYS_TWICE,  KEYS_ZIPF,  KEYS_ONES};
    const uint64_t large = case_size(200000);
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        run(0, sets[i], 1, 1, 4);
        run(1, sets[i], 3, 2, 1);
        run(1000, sets[i], 125, 3, 16);
        run(1000, sets[i], 4000, 2, 32768);
        run(large, sets[i], (uint32_t)large, 2, 1024);
        run(large, sets[i], 7, 4, 65536);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(both_builds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
