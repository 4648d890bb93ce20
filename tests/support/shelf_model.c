/* shelf_model.c: see shelf_model.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/shelf_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/files.h"
#include "support/keys.h"
#include "support/sort.h"

/* ------------------------------------------------------------------------------------- running */

static bool is_compiled(const shared_kind *kind)
{
    heddle_table_options options = shared_options(kind);
    heddle_device *device = NULL;
    heddle_table *table = NULL;
    check_ok(heddle_device_open("cpu:1", &device));
    const heddle_status status = heddle_table_create(device, &options, &table);
    heddle_table_destroy(table);
    heddle_device_close(device);
    return status == HEDDLE_OK;
}

void shelved_run(shelved_function run)
{
    const char *wanted = getenv("HEDDLE_TEST_DEVICE");
    const bool gpus =
        heddle_cuda_device_count() != 0 && (wanted == NULL || strstr(wanted, "cuda") != NULL);
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        if (!is_compiled(&shared_kinds[k])) continue;
        case_note("%s", shared_kinds[k].name);
        if (wanted == NULL || strstr(wanted, "cpu") != NULL)
            run(&shared_kinds[k], k % 2 == 0 ? "cpu:2" : "cpu:1");
        if (gpus) run(&shared_kinds[k], "cuda:0");
    }
    case_note("%s", "");
}

/* ---------------------------------------------------------------------------------------- life */

static char base[200];

static void remove_base(void) { (void)rmdir(base); }

/* In memory where that can be: a shelf waits for the disk after every file. */
static const char *base_directory(void)
{
    if (base[0] != '\0') return base;
    snprintf(base, sizeof base, "/dev/shm/heddle_shelf_XXXXXX");
    if (getenv("TMPDIR") != NULL || mkdtemp(base) == NULL)
        snprintf(base, sizeof base, "%s", files_directory());
    else atexit(remove_base);
    return base;
}

shelved shelved_create_with(const shared_kind *kind, const char *device,
                            const heddle_shelf_options *options)
{
    static uint32_t number;
    shelved s = {.options = *options};
    s.model.options = shared_options(kind);
    s.model.options.capacity = 0;
    s.options.seed = case_seed();
    snprintf(s.directory, sizeof s.directory, "%s/shelf_%u", base_directory(), number++);
    check_ok(heddle_device_open(device, &s.device));
    check_ok(heddle_shelf_create(s.device, s.directory, &s.model.options, &s.options, &s.shelf));
    s.model.pairs = malloc(sizeof *s.model.pairs);
    return s;
}

shelved shelved_create(const shared_kind *kind, const char *device, uint64_t memory)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    options.memory = memory;
    return shelved_create_with(kind, device, &options);
}

void shelved_reopen(shelved *s)
{
    heddle_shelf_close(s->shelf);
    s->shelf = NULL;
    check_ok(heddle_shelf_open(s->device, s->directory, &s->options, &s->shelf));
}

void shelved_remove(const char *directory)
{
    DIR *entries = opendir(directory);
    if (entries == NULL) return;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        (void)unlink(path);
    }
    closedir(entries);
    (void)rmdir(directory);
}

void shelved_destroy(shelved *s)
{
    heddle_shelf_close(s->shelf);
    heddle_device_close(s->device);
    free(s->model.pairs);
    s->model.pairs = NULL;
    shelved_remove(s->directory);
}

uint32_t shelved_files(const shelved *s)
{
    DIR *entries = opendir(s->directory);
    uint32_t files = 0;
    assert_non_null(entries);
    while (readdir(entries) != NULL) files++;
    closedir(entries);
    return files - 2;
}

heddle_shelf_stats shelved_stats(shelved *s)
{
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    check_ok(heddle_shelf_get_stats(s->shelf, &stats));
    return stats;
}

/* --------------------------------------------------------------------------------------- write */

/* Keys in order; where they are equal, in the order of the array. */
static shared_pair *in_order(const uint64_t *keys, uint64_t n)
{
    shared_pair *order = malloc((n + 1) * sizeof *order);
    for (uint64_t i = 0; i < n; i++) order[i] = (shared_pair){keys[i], i};
    sort_pairs(order, n);
    return order;
}

/* Of every key that was not there one is inserted, of a multimap all; the others are told apart. */
static void check_outcomes(const shared *m, const uint64_t *keys, uint64_t n,
                           const uint8_t *outcomes, const heddle_totals *totals, bool empty)
{
    const bool many = m->options.container == HEDDLE_CONTAINER_MULTIMAP;
    shared_pair *order = in_order(keys, n);
    uint64_t count[5] = {0};
    for (uint64_t i = 0; i < n; i++) {
        check(outcomes[i] >= 1 && outcomes[i] <= 3, "outcome %llu is %u", (unsigned long long)i,
              outcomes[i]);
        count[outcomes[i]]++;
    }
    assert_int_equal(count[HEDDLE_OUTCOME_INSERTED], totals->inserted);
    assert_int_equal(count[HEDDLE_OUTCOME_UPDATED], totals->updated);
    assert_int_equal(count[HEDDLE_OUTCOME_KEPT], totals->kept);
    for (uint64_t first = 0, last; first < n; first = last) {
        uint64_t inserted = 0, at;
        for (last = first; last < n && order[last].key == order[first].key; last++)
            inserted += outcomes[order[last].value] == HEDDLE_OUTCOME_INSERTED;
        const bool there = !empty && shared_model_find(m, order[first].key, &at) != 0;
        check(inserted == (many ? last - first : !there), "key %#llx: %llu inserted",
              (unsigned long long)order[first].key, (unsigned long long)inserted);
    }
    free(order);
}

static void write_pairs(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                        uint32_t policy, bool wants, bool builds)
{
    void *k = shared_narrow(keys, n, s->model.options.key_bits);
    void *v = shared_narrow(values, n, s->model.options.value_bits);
    uint8_t *outcomes = malloc(n + 1);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    memset(outcomes, 0xee, n + 1);
    options.policy = policy;
    options.outcomes = wants ? outcomes : NULL;
    check_ok(builds ? heddle_shelf_build(s->shelf, k, v, n, &options, &totals)
                    : heddle_shelf_insert(s->shelf, k, v, n, &options, &totals));
    assert_int_equal(totals.inserted + totals.updated + totals.kept, n);
    assert_int_equal(totals.failed, 0);
    if (wants) check_outcomes(&s->model, keys, n, outcomes, &totals, builds);
    assert_int_equal(outcomes[n], 0xee);
    if (builds) s->model.size = 0;
    shared_model_add(&s->model, keys, values, n, policy);
    free(k);
    free(v);
    free(outcomes);
}

void shelved_build(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                   bool outcomes)
{
    write_pairs(s, keys, values, n, HEDDLE_POLICY_KEEP, outcomes, true);
}

void shelved_insert(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                    uint32_t policy, bool outcomes)
{
    write_pairs(s, keys, values, n, policy, outcomes, false);
}

void shelved_erase(shelved *s, const uint64_t *keys, uint64_t n)
{
    shared *m = &s->model;
    void *k = shared_narrow(keys, n, m->options.key_bits);
    uint8_t *found = malloc(n + 1);
    shared_pair *order = in_order(keys, n);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t flags = 0, size = 0;
    memset(found, 0xee, n + 1);
    check_ok(heddle_shelf_erase(s->shelf, k, n, found, &totals));
    assert_int_equal(found[n], 0xee);
    for (uint64_t first = 0, last; first < n; first = last) {
        uint64_t at, mine = 0;
        for (last = first; last < n && order[last].key == order[first].key; last++) {
            check(found[order[last].value] <= 1, "a flag is %u", found[order[last].value]);
            mine += found[order[last].value];
        }
        check(mine == (shared_model_find(m, order[first].key, &at) != 0),
              "key %#llx: erased %llu times", (unsigned long long)order[first].key,
              (unsigned long long)mine);
        flags += mine;
    }
    assert_int_equal(totals.found, flags);
    assert_int_equal(totals.found + totals.absent, n);
    for (uint64_t i = 0, e = 0; i < m->size; i++) {
        while (e < n && order[e].key < m->pairs[i].key) e++;
        if (e == n || order[e].key != m->pairs[i].key) m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
    free(k);
    free(found);
    free(order);
}

/* ---------------------------------------------------------------------------------------- look */

static void look_flags(shelved *s, const void *k, const uint64_t *keys, uint64_t n)
{
    uint8_t *found = malloc(n + 1);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t hits = 0, at;
    memset(found, 0xee, n + 1);
    check_ok(heddle_shelf_contains(s->shelf, k, n, found, &totals));
    for (uint64_t i = 0; i < n; i++) {
        const bool there = shared_model_find(&s->model, keys[i], &at) != 0;
        check(found[i] == there, "contains: key %#llx at %llu: %u", (unsigned long long)keys[i],
              (unsigned long long)i, found[i]);
        hits += there;
    }
    assert_int_equal(found[n], 0xee);
    assert_int_equal(totals.found, hits);
    assert_int_equal(totals.absent, n - hits);
    check_ok(heddle_shelf_contains(s->shelf, k, n, NULL, &totals));
    assert_int_equal(totals.found, hits);
    free(found);
}

static void look_values(shelved *s, const void *k, const uint64_t *keys, uint64_t n,
                        bool with_found)
{
    const uint32_t bits = s->model.options.value_bits;
    const uint64_t untouched = bits == 32 ? UINT64_C(0xcdcdcdcd) : UINT64_C(0xcdcdcdcdcdcdcdcd);
    uint8_t *found = malloc(n + 1), *values = malloc((n + 1) * 8);
    memset(found, 0xee, n + 1);
    memset(values, 0xcd, (n + 1) * 8);
    check_ok(heddle_shelf_find(s->shelf, k, n, values, with_found ? found : NULL, NULL));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at;
        const uint64_t count = shared_model_find(&s->model, keys[i], &at),
                       got = shared_at(values, i, bits);
        bool fits = count == 0 && got == untouched;
        for (uint64_t j = 0; j < count; j++) fits |= s->model.pairs[at + j].value == got;
        check((!with_found || found[i] == (count != 0)) && fits,
              "find: key %#llx at %llu: %u, value %#llx", (unsigned long long)keys[i],
              (unsigned long long)i, found[i], (unsigned long long)got);
    }
    check(found[n] == 0xee && values[n * bits / 8] == 0xcd, "written past the end");
    free(found);
    free(values);
}

static void look_counts(shelved *s, const void *k, const uint64_t *keys, uint64_t n)
{
    uint64_t *matches = malloc((n + 1) * sizeof *matches), at;
    matches[n] = 77;
    check_ok(heddle_shelf_count(s->shelf, k, n, matches, NULL));
    for (uint64_t i = 0; i < n; i++)
        check(matches[i] == shared_model_find(&s->model, keys[i], &at), "count: key %#llx has %llu",
              (unsigned long long)keys[i], (unsigned long long)matches[i]);
    assert_int_equal(matches[n], 77);
    free(matches);
}

static void check_list(const shelved *s, uint64_t key, const void *values, uint64_t first,
                       uint64_t end)
{
    uint64_t at;
    const uint64_t count = shared_model_find(&s->model, key, &at);
    check(end - first == count, "retrieve: key %#llx has %llu values", (unsigned long long)key,
          (unsigned long long)(end - first));
    uint64_t *list = malloc((count + 1) * sizeof *list);
    for (uint64_t j = 0; j < count; j++)
        list[j] = shared_at(values, first + j, s->model.options.value_bits);
    sort_numbers(list, count);
    for (uint64_t j = 0; j < count; j++)
        check(list[j] == s->model.pairs[at + j].value, "retrieve: key %#llx has value %#llx",
              (unsigned long long)key, (unsigned long long)list[j]);
    free(list);
}

static void look_lists(shelved *s, const void *k, const uint64_t *keys, uint64_t n)
{
    uint64_t *offsets = malloc((n + 1) * sizeof *offsets), total = 0, at, expected = 0;
    for (uint64_t i = 0; i < n; i++) expected += shared_model_find(&s->model, keys[i], &at);
    check_ok(heddle_shelf_retrieve(s->shelf, k, n, offsets, NULL, 0, &total));
    assert_int_equal(total, expected);
    uint8_t *values = malloc((total + 1) * 8);
    memset(values, 0xcd, (total + 1) * 8);
    if (total != 0) {
        check_status(heddle_shelf_retrieve(s->shelf, k, n, offsets, values, expected - 1, &total),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(total, expected);
        assert_int_equal(offsets[n], expected);
    }
    check_ok(heddle_shelf_retrieve(s->shelf, k, n, offsets, values, total, &total));
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[n], expected);
    for (uint64_t i = 0; i < n; i++) check_list(s, keys[i], values, offsets[i], offsets[i + 1]);
    check(values[total * s->model.options.value_bits / 8] == 0xcd, "written past the end");
    free(offsets);
    free(values);
}

void shelved_look(shelved *s, const uint64_t *keys, uint64_t n)
{
    void *k = shared_narrow(keys, n, s->model.options.key_bits);
    look_flags(s, k, keys, n);
    look_counts(s, k, keys, n);
    if (s->model.options.value_bits != 0) {
        look_values(s, k, keys, n, true);
        look_values(s, k, keys, n, false);
        look_lists(s, k, keys, n);
    }
    free(k);
}

/* --------------------------------------------------------------------------------------- whole */

bool shelved_holds(shelved *s, const shared_pair *pairs, uint64_t size)
{
    const uint32_t kb = s->model.options.key_bits, vb = s->model.options.value_bits;
    void *k = malloc(size * 8 + 8), *v = vb != 0 ? malloc(size * 8 + 8) : NULL;
    shared_pair *got = malloc((size + 1) * sizeof *got);
    uint64_t count = 0;
    const heddle_status status = heddle_shelf_export(s->shelf, k, v, size, &count);
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

/* heddle_visitor: counts. */
static uint32_t count_pairs(void *context, const void *keys, const void *values,
                            const uint64_t *rows, uint64_t n)
{
    (void)keys, (void)values, (void)rows;
    *(uint64_t *)context += n;
    return 0;
}

void shelved_check(shelved *s)
{
    const heddle_shelf_stats stats = shelved_stats(s);
    uint64_t size = 0, visited = 0;
    check_ok(heddle_shelf_size(s->shelf, &size));
    assert_int_equal(size, s->model.size);
    check(shelved_holds(s, s->model.pairs, s->model.size),
          "the shelf does not hold what it should");
    check_ok(heddle_shelf_validate(s->shelf));
    check_ok(heddle_shelf_for_all(s->shelf, count_pairs, &visited));
    assert_int_equal(visited, size);
    assert_int_equal(stats.keys, size);
    check(stats.parts_filled <= stats.parts && stats.keys_most <= size, "statistics are wrong");
    assert_int_equal(shelved_files(s), stats.parts_filled + 2);
}
