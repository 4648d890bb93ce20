/* shared_model.c: see shared_model.h. */
#include "support/shared_model.h"

#include <stdlib.h>
#include <string.h>

#include "support/keys.h"
#include "support/model.h"
#include "support/sort.h"

const shared_kind shared_kinds[] = {
    {"map 32/32 cuckoo", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 32, 32},
    {"map 64/64 cuckoo", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 64, 64},
    {"map 64/32 open", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_OPEN, 64, 32},
    {"map 32/32 iceberg", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_ICEBERG, 32, 32},
    {"map 32/64 slab", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_SLAB, 32, 64},
    {"set 32 cuckoo", HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_CUCKOO, 32, 0},
    {"set 64 hashgraph", HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_HASHGRAPH, 64, 0},
    {"counter 32/32 cuckoo", HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_CUCKOO, 32, 32},
    {"counter 64/64 hashgraph", HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_HASHGRAPH, 64, 64},
    {"multimap 32/32 hashgraph", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH, 32, 32},
    {"multimap 64/64 open", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_OPEN, 64, 64},
    {"multimap 32/32 slab", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_SLAB, 32, 32},
    {"multimap 32/64 bucket list", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_BUCKET_LIST, 32, 64},
    {"multimap 64/32 hashgraph", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH, 64, 32},
};
const uint32_t shared_kind_count = sizeof shared_kinds / sizeof shared_kinds[0];

bool shared_is_compiled(const shared_kind *kind)
{
    heddle_table_options options = shared_options(kind);
    heddle_device *device = NULL;
    heddle_table *table = NULL;
    check_ok(heddle_device_open("cpu:1", &device));
    const heddle_status status = heddle_table_create(device, &options, &table);
    check(status == HEDDLE_OK || status == HEDDLE_ERROR_UNSUPPORTED, "%s", heddle_last_error());
    heddle_table_destroy(table);
    heddle_device_close(device);
    return status == HEDDLE_OK;
}

heddle_table_options shared_options(const shared_kind *kind)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.container = kind->container;
    options.scheme = kind->scheme;
    options.key_bits = kind->key_bits;
    options.value_bits = kind->value_bits;
    options.capacity = 1000;
    options.seed = case_seed();
    return options;
}

/* -------------------------------------------------------------------------------------- numbers */

void *shared_narrow(const uint64_t *numbers, uint64_t n, uint32_t bits)
{
    void *out;
    if (numbers == NULL || bits == 0) return NULL;
    out = calloc(n + 1, 8);
    for (uint64_t i = 0; i < n; i++)
        if (bits == 32) ((uint32_t *)out)[i] = (uint32_t)numbers[i];
        else ((uint64_t *)out)[i] = numbers[i];
    return out;
}

uint64_t shared_at(const void *numbers, uint64_t i, uint32_t bits)
{
    return bits == 32 ? ((const uint32_t *)numbers)[i] : ((const uint64_t *)numbers)[i];
}

static uint64_t cut(uint64_t number, uint32_t bits)
{
    return bits == 0 ? 0 : bits == 32 ? (uint32_t)number : number;
}

void shared_values(uint64_t *values, const uint64_t *keys, uint64_t n, uint64_t batch)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t state = keys[i] * 31 + batch;
        values[i] = keys_random(&state);
    }
}

/* --------------------------------------------------------------------------------------- model */

uint64_t shared_model_find(const shared *s, uint64_t key, uint64_t *first)
{
    uint64_t low = 0, high = s->size, count = 0;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (s->pairs[middle].key < key) low = middle + 1;
        else high = middle;
    }
    *first = low;
    while (low + count < s->size && s->pairs[low + count].key == key) count++;
    return count;
}

/* Keys in order; where they are equal, in the order of the array. */
static shared_pair *in_order(const uint64_t *keys, uint64_t n)
{
    shared_pair *order = malloc((n + 1) * sizeof *order);
    for (uint64_t i = 0; i < n; i++) order[i] = (shared_pair){keys[i], i};
    sort_pairs(order, n);
    return order;
}

void shared_model_add(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                      uint32_t policy)
{
    const uint32_t bits = s->options.value_bits;
    const bool counts = s->options.container == HEDDLE_CONTAINER_COUNTER;
    const bool many = s->options.container == HEDDLE_CONTAINER_MULTIMAP;
    shared_pair *order = in_order(keys, n), *out = malloc((s->size + n + 1) * sizeof *out);
    uint64_t size = 0, old = 0;
    for (uint64_t i = 0; i < n || old < s->size;) {
        const bool from_old = old < s->size && (i == n || s->pairs[old].key <= order[i].key);
        const shared_pair next =
            from_old ? s->pairs[old]
                     : (shared_pair){order[i].key,
                                     cut(values != NULL ? values[order[i].value] : counts, bits)};
        if (!many && size != 0 && out[size - 1].key == next.key)
            out[size - 1].value = model_combine(counts ? HEDDLE_POLICY_ADD : policy,
                                                out[size - 1].value, next.value, bits);
        else out[size++] = next;
        if (from_old) old++;
        else i++;
    }
    if (many) sort_pairs(out, size);
    free(order);
    free(s->pairs);
    s->pairs = out;
    s->size = size;
}

/* --------------------------------------------------------------------------------------- write */

static void check_outcomes(const shared *s, const uint64_t *keys, uint64_t n,
                           const uint8_t *outcomes, const heddle_totals *totals, bool empty,
                           uint32_t policy)
{
    const bool many = s->options.container == HEDDLE_CONTAINER_MULTIMAP;
    const bool updates =
        policy != HEDDLE_POLICY_KEEP || s->options.container == HEDDLE_CONTAINER_COUNTER;
    shared_pair *order = in_order(keys, n);
    uint64_t count[5] = {0};
    for (uint64_t i = 0; i < n; i++) {
        check(outcomes[i] >= 1 && outcomes[i] <= 4, "outcome %llu is %u", (unsigned long long)i,
              outcomes[i]);
        count[outcomes[i]]++;
    }
    assert_int_equal(count[HEDDLE_OUTCOME_INSERTED], totals->inserted);
    assert_int_equal(count[HEDDLE_OUTCOME_UPDATED], totals->updated);
    assert_int_equal(count[HEDDLE_OUTCOME_KEPT], totals->kept);
    assert_int_equal(count[HEDDLE_OUTCOME_FAILED], 0);
    check(many || count[updates ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED] == 0,
          "outcomes that policy %u does not know", policy);
    for (uint64_t first = 0, last; first < n; first = last) {
        uint64_t inserted = 0, at;
        for (last = first; last < n && order[last].key == order[first].key; last++)
            inserted += outcomes[order[last].value] == HEDDLE_OUTCOME_INSERTED;
        const bool there = !empty && shared_model_find(s, order[first].key, &at) != 0;
        check(inserted == (many ? last - first : !there), "key %#llx: %llu inserted",
              (unsigned long long)order[first].key, (unsigned long long)inserted);
    }
    free(order);
}

static void write_pairs(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                        uint32_t policy, bool wants, bool builds)
{
    void *k = shared_narrow(keys, n, s->options.key_bits);
    void *v = shared_narrow(values, n, s->options.value_bits);
    uint8_t *outcomes = malloc(n + 1);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    memset(outcomes, 0xee, n + 1);
    options.policy = policy;
    options.outcomes = wants ? outcomes : NULL;
    check_ok(builds ? s->calls->build(s, k, v, n, &options, &totals)
                    : s->calls->insert(s, k, v, n, &options, &totals));
    assert_int_equal(totals.inserted + totals.updated + totals.kept, n);
    assert_int_equal(totals.failed, 0);
    if (wants) check_outcomes(s, keys, n, outcomes, &totals, builds, policy);
    assert_int_equal(outcomes[n], 0xee);
    if (builds) s->size = 0;
    shared_model_add(s, keys, values, n, policy);
    free(k);
    free(v);
    free(outcomes);
}

void shared_build(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                  bool outcomes)
{
    write_pairs(s, keys, values, n, HEDDLE_POLICY_KEEP, outcomes, true);
}

void shared_insert(shared *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                   uint32_t policy, bool outcomes)
{
    write_pairs(s, keys, values, n, policy, outcomes, false);
}

void shared_erase(shared *s, const uint64_t *keys, uint64_t n)
{
    void *k = shared_narrow(keys, n, s->options.key_bits);
    uint8_t *found = malloc(n + 1);
    shared_pair *order = in_order(keys, n);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t flags = 0, size = 0;
    memset(found, 0xee, n + 1);
    check_ok(s->calls->erase(s, k, n, found, &totals));
    assert_int_equal(found[n], 0xee);
    for (uint64_t first = 0, last; first < n; first = last) {
        uint64_t at, mine = 0;
        for (last = first; last < n && order[last].key == order[first].key; last++) {
            check(found[order[last].value] <= 1, "a flag is %u", found[order[last].value]);
            mine += found[order[last].value];
        }
        check(mine == (shared_model_find(s, order[first].key, &at) != 0),
              "key %#llx: erased %llu times", (unsigned long long)order[first].key,
              (unsigned long long)mine);
        flags += mine;
    }
    assert_int_equal(totals.found, flags);
    assert_int_equal(totals.found + totals.absent, n);
    for (uint64_t i = 0, e = 0; i < s->size; i++) {
        while (e < n && order[e].key < s->pairs[i].key) e++;
        if (e == n || order[e].key != s->pairs[i].key) s->pairs[size++] = s->pairs[i];
    }
    s->size = size;
    free(k);
    free(found);
    free(order);
}

/* ---------------------------------------------------------------------------------------- look */

static void look_flags(const shared *s, const void *k, const uint64_t *keys, uint64_t n)
{
    uint8_t *found = malloc(n + 1);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t hits = 0, at;
    memset(found, 0xee, n + 1);
    check_ok(s->calls->contains(s, k, n, found, &totals));
    for (uint64_t i = 0; i < n; i++) {
        const bool there = shared_model_find(s, keys[i], &at) != 0;
        check(found[i] == there, "contains: key %#llx at %llu: %u", (unsigned long long)keys[i],
              (unsigned long long)i, found[i]);
        hits += there;
    }
    assert_int_equal(found[n], 0xee);
    check(s->processes || (totals.found == hits && totals.absent == n - hits),
          "contains: %llu found, not %llu", (unsigned long long)totals.found,
          (unsigned long long)hits);
    check_ok(s->calls->contains(s, k, n, NULL, &totals));
    check(s->processes || totals.found == hits, "contains without flags");
    free(found);
}

static void look_values(const shared *s, const void *k, const uint64_t *keys, uint64_t n,
                        bool with_found)
{
    const uint32_t bits = s->options.value_bits;
    uint8_t *found = malloc(n + 1), *values = malloc((n + 1) * 8);
    memset(found, 0xee, n + 1);
    memset(values, 0xcd, (n + 1) * 8);
    check_ok(s->calls->find(s, k, n, values, with_found ? found : NULL, NULL));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at;
        const uint64_t count = shared_model_find(s, keys[i], &at), got = shared_at(values, i, bits);
        bool fits = count == 0 && got == cut(UINT64_C(0xcdcdcdcdcdcdcdcd), bits);
        for (uint64_t j = 0; j < count; j++) fits |= s->pairs[at + j].value == got;
        check((!with_found || found[i] == (count != 0)) && fits,
              "find: key %#llx at %llu: %u, value %#llx", (unsigned long long)keys[i],
              (unsigned long long)i, found[i], (unsigned long long)got);
    }
    check(found[n] == 0xee && values[n * bits / 8] == 0xcd, "written past the end");
    free(found);
    free(values);
}

static void look_counts(const shared *s, const void *k, const uint64_t *keys, uint64_t n)
{
    uint64_t *matches = malloc((n + 1) * sizeof *matches), at;
    matches[n] = 77;
    check_ok(s->calls->count(s, k, n, matches, NULL));
    for (uint64_t i = 0; i < n; i++)
        check(matches[i] == shared_model_find(s, keys[i], &at), "count: key %#llx has %llu",
              (unsigned long long)keys[i], (unsigned long long)matches[i]);
    assert_int_equal(matches[n], 77);
    free(matches);
}

static void look_lists(const shared *s, const void *k, const uint64_t *keys, uint64_t n)
{
    const uint32_t bits = s->options.value_bits;
    uint64_t *offsets = malloc((n + 1) * sizeof *offsets), total = 0, at, expected = 0;
    for (uint64_t i = 0; i < n; i++) expected += shared_model_find(s, keys[i], &at);
    check_ok(s->calls->retrieve(s, k, n, offsets, NULL, 0, &total));
    assert_int_equal(total, expected);
    uint8_t *values = malloc((total + 1) * 8);
    memset(values, 0xcd, (total + 1) * 8);
    if (total != 0 && !s->processes) {
        total = 0;
        check_status(s->calls->retrieve(s, k, n, offsets, values, expected - 1, &total),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(total, expected);
        assert_int_equal(offsets[n], expected);
    }
    check_ok(s->calls->retrieve(s, k, n, offsets, values, total, &total));
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[n], expected);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t count = shared_model_find(s, keys[i], &at);
        check(offsets[i + 1] - offsets[i] == count, "retrieve: question %llu has %llu values",
              (unsigned long long)i, (unsigned long long)(offsets[i + 1] - offsets[i]));
        uint64_t *list = malloc((count + 1) * sizeof *list);
        for (uint64_t j = 0; j < count; j++) list[j] = shared_at(values, offsets[i] + j, bits);
        sort_numbers(list, count);
        for (uint64_t j = 0; j < count; j++)
            check(list[j] == s->pairs[at + j].value, "retrieve: key %#llx has value %#llx",
                  (unsigned long long)keys[i], (unsigned long long)list[j]);
        free(list);
    }
    check(values[total * bits / 8] == 0xcd, "written past the end");
    free(offsets);
    free(values);
}

void shared_look(shared *s, const uint64_t *keys, uint64_t n)
{
    void *k = shared_narrow(keys, n, s->options.key_bits);
    look_flags(s, k, keys, n);
    look_counts(s, k, keys, n);
    if (s->options.value_bits != 0) {
        look_values(s, k, keys, n, true);
        look_values(s, k, keys, n, false);
        look_lists(s, k, keys, n);
    }
    free(k);
}

/* --------------------------------------------------------------------------------------- whole */

bool shared_holds(const shared *s, const shared_pair *pairs, uint64_t size)
{
    const uint32_t kb = s->options.key_bits, vb = s->options.value_bits;
    void *k = malloc(size * 8 + 8), *v = vb != 0 ? malloc(size * 8 + 8) : NULL;
    shared_pair *got = malloc((size + 1) * sizeof *got);
    uint64_t count = 0;
    const heddle_status status = s->calls->export(s, k, v, size, &count);
    bool same = status == HEDDLE_OK && count == size;
    check(status == HEDDLE_OK || count > size, "%s", heddle_last_error());
    for (uint64_t i = 0; i < count && same; i++)
        got[i] = (shared_pair){shared_at(k, i, kb), vb != 0 ? shared_at(v, i, vb) : 0};
    if (same) sort_pairs(got, count);
    same = same && memcmp(got, pairs, size * sizeof *got) == 0;
    free(k);
    free(v);
    free(got);
    return same;
}

typedef struct visited {
    const shared *s;
    shared_pair *pairs;
    uint64_t count, calls;
} visited;

/* heddle_visitor: keeps what it is given. */
static uint32_t keep_pairs(void *context, const void *keys, const void *values,
                           const uint64_t *rows, uint64_t n)
{
    visited *v = context;
    const uint32_t kb = v->s->options.key_bits, vb = v->s->options.value_bits;
    check(rows == NULL && (values != NULL) == (vb != 0), "for_all: rows, or values of a set");
    check(n <= v->s->size - v->count, "for_all: more pairs than there are");
    for (uint64_t i = 0; i < n; i++)
        v->pairs[v->count++] =
            (shared_pair){shared_at(keys, i, kb), vb != 0 ? shared_at(values, i, vb) : 0};
    return 0;
}

/* heddle_visitor: has enough after one call. */
static uint32_t end_at_once(void *context, const void *keys, const void *values,
                            const uint64_t *rows, uint64_t n)
{
    (void)keys, (void)values, (void)rows, (void)n;
    return (uint32_t)++((visited *)context)->calls;
}

static void check_visits(const shared *s)
{
    visited v = {s, malloc((s->size + 1) * sizeof *v.pairs), 0, 0};
    check_ok(s->calls->for_all(s, keep_pairs, &v));
    assert_int_equal(v.count, s->size);
    sort_pairs(v.pairs, v.count);
    check(memcmp(v.pairs, s->pairs, v.count * sizeof *v.pairs) == 0, "for_all: other pairs");
    check_ok(s->calls->for_all(s, end_at_once, &v));
    assert_int_equal(v.calls, s->size != 0);
    free(v.pairs);
}

void shared_check_pairs(const shared *s)
{
    uint64_t size = 0;
    check_ok(s->calls->size(s, &size));
    assert_int_equal(size, s->size);
    check(shared_holds(s, s->pairs, s->size), "the table does not hold what it should");
    check_visits(s);
}
