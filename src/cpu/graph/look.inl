/*
 * look.inl: looking keys up in a graph. A lookup is two steps that depend on each other and both
 * miss the caches: the offsets of the key's vertex, then its edges. Three waves of keys are in flight:
 * while one is compared, the edges of the next and the offsets of the one after are on their way.
 */
#ifndef HD_SYMBOL
#error "included by graph.c alone"
#endif
#ifndef HD_CPU_GRAPH_LOOK_H
#define HD_CPU_GRAPH_LOOK_H

#define WAVE 16 /* as many as a core has lines on their way */
#define FLIGHTS 3
#if defined(HD_ONLY_SCALAR)
#define CHUNK 64 /* as ITEMS_A_THREAD in cpu/device/engine.c */
#else
#define CHUNK 4096 /* keys a thread takes at a time */
#endif
#define LINE 64
#define LINES_AHEAD 4 /* of a list; the processor sees by itself that a longer one goes on */

typedef struct question {
    hd_key mixed;
    uint32_t region, vertex;
    hd_list list;
} question;

typedef struct wave {
    question at[WAVE];
    uint32_t count;
    uint64_t first; /* index of its first key in the batch */
} wave;

typedef struct sums {
    uint64_t found, looks;
} sums;

static inline void wave_start(wave *w, const hd_graph *graph, const hd_key *keys, uint64_t first,
                              uint64_t end)
{
    const uint64_t count = first < end ? end - first : 0;
    w->first = first;
    w->count = (uint32_t)(count < WAVE ? count : WAVE);
    for (uint32_t i = 0; i < w->count; i++) {
        question *q = &w->at[i];
        q->mixed = mix_key(&graph->mix, keys[first + i]);
        q->region = graph_region(graph, q->mixed);
        q->vertex = graph_vertex(graph, q->mixed);
        const uint64_t at = (uint64_t)q->region * graph->region_row + q->vertex;
        __builtin_prefetch(graph->starts + q->region);
        __builtin_prefetch(graph->offsets + at);
        if (graph->lengths != NULL) __builtin_prefetch(graph->lengths + at);
    }
}

static inline void wave_open(wave *w, const hd_graph *graph)
{
    const char *edges = (const char *)graph->edges;
    for (uint32_t i = 0; i < w->count; i++) {
        question *q = &w->at[i];
        const hd_graph_region r = region_get(graph, q->region);
        q->list = list_in(graph, &r, q->vertex);
        const char *at = edges + q->list.begin * HD_EDGE_BYTES;
        const char *end = edges + q->list.end * HD_EDGE_BYTES;
        if (end > at + LINES_AHEAD * LINE) end = at + LINES_AHEAD * LINE;
        if (at < end) __builtin_prefetch(at);
        for (at = at - (uintptr_t)at % LINE + LINE; at < end; at += LINE) __builtin_prefetch(at);
    }
}

/* What a key's first edge has to say, if there is one. */
static inline void answer_first(const hd_graph *graph, const hd_graph_batch *batch, uint64_t i,
                                const question *q, sums *s)
{
    const uint64_t at = list_next(graph, &q->list, q->list.begin, q->mixed);
    const bool found = at < q->list.end;
    s->looks += at - q->list.begin + found;
    s->found += found;
    if (batch->found != NULL) batch->found[i] = found;
#if HD_VALUE_BITS != 0
    if (found && batch->values != NULL)
        ((hd_value *)batch->values)[i] = edge_value(graph->edges, at);
#endif
}

/* What all edges of a key have to say. */
static inline void answer_all(const hd_graph *graph, const hd_graph_batch *batch, uint64_t i,
                              const question *q, remembered *known, sums *s)
{
    const bool is_long = q->list.end - q->list.begin >= REMEMBERED_FROM * LINE / HD_EDGE_BYTES;
    const bool counts = is_long && batch->all == NULL && batch->values == NULL;
    uint64_t matches = 0;
#if HD_VALUE_BITS != 0
    hd_value *all = batch->all != NULL ? (hd_value *)batch->all + batch->places[i] : NULL;
    uint64_t first = 0;
#endif
    const bool is_known = counts && remembered_get(known, q->mixed, &matches);
    for (uint64_t at = q->list.begin; !is_known && at < q->list.end; at++) {
        if (edge_key(graph->edges, at) != q->mixed) continue;
#if HD_VALUE_BITS != 0
        if (all != NULL) all[matches] = edge_value(graph->edges, at);
        if (matches == 0) first = at;
#endif
        matches++;
    }
    if (counts && !is_known) remembered_put(known, q->mixed, matches);
    s->looks += is_known ? 0 : q->list.end - q->list.begin;
    s->found += matches != 0;
    if (batch->found != NULL) batch->found[i] = matches != 0;
    if (batch->matches != NULL) batch->matches[i] = matches;
#if HD_VALUE_BITS != 0
    if (matches != 0 && batch->values != NULL)
        ((hd_value *)batch->values)[i] = edge_value(graph->edges, first);
#endif
}

static inline void look_chunk(bool all, const hd_graph *graph, const hd_graph_batch *batch,
                              uint64_t begin, uint64_t end, remembered *known, sums *s)
{
    const hd_key *keys = (const hd_key *)batch->keys;
    wave flights[FLIGHTS];
    uint32_t turn = 0;
    wave_start(&flights[0], graph, keys, begin, end);
    wave_start(&flights[1], graph, keys, begin + WAVE, end);
    wave_open(&flights[0], graph);
    for (uint64_t first = begin; first < end; first += WAVE) {
        const uint32_t next = turn + 1 == FLIGHTS ? 0 : turn + 1;
        const uint32_t after = next + 1 == FLIGHTS ? 0 : next + 1;
        const wave *w = &flights[turn];
        wave_start(&flights[after], graph, keys, first + 2 * WAVE, end);
        wave_open(&flights[next], graph);
        for (uint32_t i = 0; i < w->count; i++) {
            if (all) answer_all(graph, batch, first + i, &w->at[i], known, s);
            else answer_first(graph, batch, first + i, &w->at[i], s);
        }
        turn = next;
    }
}

static inline uint64_t chunk_end(uint64_t first, uint64_t n)
{
    return n - first < CHUNK ? n : first + CHUNK;
}

static heddle_status look(heddle_device *device, const hd_graph *graph, const hd_graph_batch *batch,
                          void *stream)
{
    const bool all = batch->matches != NULL || batch->all != NULL;
    (void)stream;
    __atomic_fetch_add(&batch->counts->at[HD_ASKED], batch->n, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        const hd_graph g = *graph;
        const hd_graph_batch b = *batch;
        sums s = {0, 0};
        remembered known;
        known.any = false;
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < b.n; c += CHUNK) {
            if (all) look_chunk(true, &g, &b, c, chunk_end(c, b.n), &known, &s);
            else look_chunk(false, &g, &b, c, chunk_end(c, b.n), &known, &s);
        }
        __atomic_fetch_add(&b.counts->at[HD_FOUND], s.found, __ATOMIC_RELAXED);
        __atomic_fetch_add(&b.counts->at[HD_PROBES], s.looks, __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

#endif
