/* cases.c: see cases.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char current[256]; /* the case at hand, "" between cases */
static char note[256];
static uint32_t cases_done;

static bool asked(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

bool case_quick(void) { return asked("HEDDLE_TEST_QUICK"); }
bool case_verbose(void) { return asked("HEDDLE_TEST_VERBOSE"); }

/* Large batches are there to be shared by threads: smaller ones would go to one of them. */
#define SHARED_MIN 12288

uint64_t case_size(uint64_t n)
{
    if (!case_quick() || n <= 64) return n;
    const uint64_t least = n > SHARED_MIN ? SHARED_MIN : 0;
    return (n / 8 > least ? n / 8 : least) | (n & 1);
}

bool case_spared(const test_case *c)
{
    const uint32_t key_bits = c->graph != NULL ? c->graph->key_bits : c->ops->key_bits;
    const uint32_t value_bits = c->graph != NULL ? c->graph->value_bits : c->ops->value_bits;
    if (!case_quick()) return false;
    if (strcmp(c->device_name, "cpu:1") == 0 && !asked("HEDDLE_TEST_DEVICE")) return true;
    return value_bits != 0 && value_bits != key_bits;
}

uint64_t case_seed(void)
{
    const char *text = getenv("HEDDLE_TEST_SEED");
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : 20261;
}

void case_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
}

/* cmocka leaves a failed test by longjmp; `current` is then still set and tells where it was. */
int cases_teardown(void **state)
{
    (void)state;
    if (current[0] != '\0' || note[0] != '\0')
        fprintf(stderr, "  in case: %s%s%s\n", current, note[0] != '\0' ? ": " : "", note);
    current[0] = '\0';
    note[0] = '\0';
    return 0;
}

static void run_case(case_function run, test_case *c, case_arrays arrays)
{
    static const char *const places[] = {"host arrays", "device arrays", "mixed arrays"};
    c->arrays = arrays;
    snprintf(current, sizeof current, "%s %s, %s", c->device_name,
             c->ops != NULL ? c->ops->name : c->graph->name, places[arrays]);
    if (case_verbose()) fprintf(stderr, "  %s\n", current);
    run(c);
    current[0] = '\0';
    note[0] = '\0';
    cases_done++;
}

/* How much a range prefers this instance among those of the same widths. */
static uint32_t rank_of(const hd_table_ops *ops)
{
    return ops->bucket == 16 ? 2 : ops->bucket == 8 ? 1 : 0;
}

static bool better(const hd_table_ops *one, const hd_table_ops *other, case_range range)
{
    const bool usual_one = one->key_bits == 32 && one->value_bits == 32;
    const bool usual_other = other->key_bits == 32 && other->value_bits == 32;
    if (range == RANGE_DEVICES && usual_one != usual_other) return usual_one;
    return rank_of(one) > rank_of(other);
}

/* Whether tables[at] is the one that stands for all instances like it in this range. */
static bool in_range(const hd_table_ops *const *tables, uint32_t count, uint32_t at,
                     case_range range)
{
    const char *filter = getenv("HEDDLE_TEST_INSTANCE");
    if (filter != NULL && strstr(tables[at]->name, filter) == NULL) return false;
    if (range == RANGE_INSTANCES) return true;
    for (uint32_t i = 0; i < count; i++) {
        const bool alike =
            range == RANGE_DEVICES || (tables[i]->scheme == tables[at]->scheme &&
                                       tables[i]->key_bits == tables[at]->key_bits &&
                                       tables[i]->value_bits == tables[at]->value_bits);
        const bool filtered = filter != NULL && strstr(tables[i]->name, filter) == NULL;
        if (i == at || !alike || filtered) continue;
        if (better(tables[i], tables[at], range) ||
            (!better(tables[at], tables[i], range) && i < at))
            return false;
    }
    return true;
}

#define GRAPH HEDDLE_SCHEME_HASHGRAPH
#define CUCKOO HEDDLE_SCHEME_CUCKOO
#define OPEN HEDDLE_SCHEME_OPEN
#define LISTS HEDDLE_SCHEME_BUCKET_LIST
#define ICEBERG HEDDLE_SCHEME_ICEBERG
#define SLAB HEDDLE_SCHEME_SLAB
static const graph_kind graph_kinds[] = {
    {"hashgraph set k32", GRAPH, HEDDLE_CONTAINER_SET, 32, 0},
    {"hashgraph multimap k32_v32", GRAPH, HEDDLE_CONTAINER_MULTIMAP, 32, 32},
    {"hashgraph counter k32_v32", GRAPH, HEDDLE_CONTAINER_COUNTER, 32, 32},
    {"hashgraph set k64", GRAPH, HEDDLE_CONTAINER_SET, 64, 0},
    {"hashgraph multimap k32_v64", GRAPH, HEDDLE_CONTAINER_MULTIMAP, 32, 64},
    {"hashgraph multimap k64_v32", GRAPH, HEDDLE_CONTAINER_MULTIMAP, 64, 32},
    {"hashgraph multimap k64_v64", GRAPH, HEDDLE_CONTAINER_MULTIMAP, 64, 64},
    {"hashgraph counter k32_v64", GRAPH, HEDDLE_CONTAINER_COUNTER, 32, 64},
    {"hashgraph counter k64_v32", GRAPH, HEDDLE_CONTAINER_COUNTER, 64, 32},
    {"hashgraph counter k64_v64", GRAPH, HEDDLE_CONTAINER_COUNTER, 64, 64},
    {"open counter k32_v32", OPEN, HEDDLE_CONTAINER_COUNTER, 32, 32},
    {"open counter k32_v64", OPEN, HEDDLE_CONTAINER_COUNTER, 32, 64},
    {"open counter k64_v32", OPEN, HEDDLE_CONTAINER_COUNTER, 64, 32},
    {"open counter k64_v64", OPEN, HEDDLE_CONTAINER_COUNTER, 64, 64},
    {"open multimap k32_v32", OPEN, HEDDLE_CONTAINER_MULTIMAP, 32, 32},
    {"open multimap k32_v64", OPEN, HEDDLE_CONTAINER_MULTIMAP, 32, 64},
    {"open multimap k64_v32", OPEN, HEDDLE_CONTAINER_MULTIMAP, 64, 32},
    {"open multimap k64_v64", OPEN, HEDDLE_CONTAINER_MULTIMAP, 64, 64},
    {"cuckoo counter k32_v32", CUCKOO, HEDDLE_CONTAINER_COUNTER, 32, 32},
    {"cuckoo counter k64_v64", CUCKOO, HEDDLE_CONTAINER_COUNTER, 64, 64},
    {"iceberg counter k32_v32", ICEBERG, HEDDLE_CONTAINER_COUNTER, 32, 32},
    {"iceberg counter k32_v64", ICEBERG, HEDDLE_CONTAINER_COUNTER, 32, 64},
    {"iceberg counter k64_v32", ICEBERG, HEDDLE_CONTAINER_COUNTER, 64, 32},
    {"iceberg counter k64_v64", ICEBERG, HEDDLE_CONTAINER_COUNTER, 64, 64},
    {"bucket_list multimap k32_v32", LISTS, HEDDLE_CONTAINER_MULTIMAP, 32, 32},
    {"bucket_list multimap k32_v64", LISTS, HEDDLE_CONTAINER_MULTIMAP, 32, 64},
    {"bucket_list multimap k64_v32", LISTS, HEDDLE_CONTAINER_MULTIMAP, 64, 32},
    {"bucket_list multimap k64_v64", LISTS, HEDDLE_CONTAINER_MULTIMAP, 64, 64},
    {"slab multimap k32_v32", SLAB, HEDDLE_CONTAINER_MULTIMAP, 32, 32},
    {"slab multimap k32_v64", SLAB, HEDDLE_CONTAINER_MULTIMAP, 32, 64},
    {"slab multimap k64_v32", SLAB, HEDDLE_CONTAINER_MULTIMAP, 64, 32},
    {"slab multimap k64_v64", SLAB, HEDDLE_CONTAINER_MULTIMAP, 64, 64},
    {"slab counter k32_v32", SLAB, HEDDLE_CONTAINER_COUNTER, 32, 32},
    {"slab counter k64_v64", SLAB, HEDDLE_CONTAINER_COUNTER, 64, 64},
};
#define FEW_GRAPHS 3 /* the first ones have every container */

static bool kind_is_there(const test_case *c, const graph_kind *kind, case_range range)
{
    const char *filter = getenv("HEDDLE_TEST_INSTANCE");
    const hd_engine *engine = c->device->engine;
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    if (range != RANGE_MULTIS && kind->scheme != GRAPH) return false;
    if (filter != NULL && strstr(kind->name, filter) == NULL) return false;
    if (kind->scheme == GRAPH)
        return engine->graph != NULL && engine->graph(kind->key_bits, kind->value_bits) != NULL;
    const heddle_status status = heddle_table_create(c->device, &options, &table);
    heddle_table_destroy(table);
    return status != HEDDLE_ERROR_UNSUPPORTED; /* in a build of few instances some are missing */
}

static void run_graphs(test_case *c, case_function run, case_range range)
{
    const size_t all = sizeof graph_kinds / sizeof graph_kinds[0];
    for (size_t i = 0; i < (range == RANGE_FEW_GRAPHS ? FEW_GRAPHS : all); i++) {
        c->graph = &graph_kinds[i];
        if (!kind_is_there(c, c->graph, range)) continue;
        run_case(run, c, ARRAYS_HOST);
        if (!c->device->engine->host_memory) {
            run_case(run, c, ARRAYS_DEVICE);
            run_case(run, c, ARRAYS_MIXED);
        }
    }
}

static void run_slots(test_case *c, case_function run, case_range range)
{
    const hd_engine *engine = c->device->engine;
    uint32_t count = 0;
    const hd_table_ops *const *tables = engine->tables(c->device, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!in_range(tables, count, i, range)) continue;
        c->ops = tables[i];
        const bool own_memory = !engine->host_memory;
        const bool stands_for_width = in_range(tables, count, i, RANGE_WIDTHS);
        if (!own_memory || stands_for_width) run_case(run, c, ARRAYS_HOST);
        if (own_memory) run_case(run, c, ARRAYS_DEVICE);
        if (own_memory && stands_for_width) run_case(run, c, ARRAYS_MIXED);
    }
}

/* Slab hashes are no compiled instances of slots, but they are maps and sets like these. */
#define SLABS(text, keys, values, slots)                                                           \
    {                                                                                              \
        .name = text, .scheme = HEDDLE_SCHEME_SLAB, .key_bits = keys, .value_bits = values,        \
        .bucket = slots                                                                            \
    }
static const hd_table_ops slab_kinds[] = {
    SLABS("slab_k32", 32, 0, 30),      SLABS("slab_k32_v32", 32, 32, 15),
    SLABS("slab_k64", 64, 0, 15),      SLABS("slab_k32_v64", 32, 64, 10),
    SLABS("slab_k64_v32", 64, 32, 10), SLABS("slab_k64_v64", 64, 64, 7),
};

static void run_slabs(test_case *c, case_function run)
{
    const char *filter = getenv("HEDDLE_TEST_INSTANCE");
    for (size_t i = 0; i < sizeof slab_kinds / sizeof slab_kinds[0]; i++) {
        c->ops = &slab_kinds[i];
        if (filter != NULL && strstr(c->ops->name, filter) == NULL) continue;
        run_case(run, c, ARRAYS_HOST);
        if (!c->device->engine->host_memory) {
            run_case(run, c, ARRAYS_DEVICE);
            run_case(run, c, ARRAYS_MIXED);
        }
    }
}

static void run_device(const char *name, case_function run, case_range range)
{
    test_case c = {name, NULL, NULL, ARRAYS_HOST, NULL};
    snprintf(current, sizeof current, "opening %s", name);
    check_ok(heddle_device_open(name, &c.device));
    if (range == RANGE_GRAPHS || range == RANGE_FEW_GRAPHS || range == RANGE_MULTIS)
        run_graphs(&c, run, range);
    else if (range != RANGE_SLABS)
        run_slots(&c, run,
                  range == RANGE_TABLES        ? RANGE_INSTANCES
                  : range == RANGE_SLOT_WIDTHS ? RANGE_WIDTHS
                                               : range);
    if (range == RANGE_TABLES || range == RANGE_WIDTHS || range == RANGE_SLABS) run_slabs(&c, run);
    heddle_device_close(c.device);
    current[0] = '\0';
}

void cases_run(case_function run, case_range range)
{
    char devices[256];
    const char *only = getenv("HEDDLE_TEST_DEVICE");
    if (only == NULL || *only == '\0')
        only = heddle_cuda_device_count() > 0 ? "cpu,cpu:1,cuda:0" : "cpu,cpu:1";
    snprintf(devices, sizeof devices, "%s", only);
    cases_done = 0;
    char *rest = NULL;
    for (char *name = strtok_r(devices, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest))
        run_device(name, run, range);
    if (cases_done == 0) skip();
}

void cases_test(void **state)
{
    const case_test *test = *state;
    cases_run(test->run, test->range);
}

bool case_is_slab(const test_case *c)
{
    return c->ops != NULL && c->ops->scheme == HEDDLE_SCHEME_SLAB;
}

bool case_is_map(const test_case *c) { return c->ops->value_bits != 0; }

heddle_table_options case_options(const test_case *c)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.seed = case_seed();
    if (c->graph != NULL) {
        options.container = c->graph->container;
        options.scheme = c->graph->scheme;
        options.key_bits = c->graph->key_bits;
        options.value_bits = c->graph->value_bits;
        return options;
    }
    options.container = case_is_map(c) ? HEDDLE_CONTAINER_MAP : HEDDLE_CONTAINER_SET;
    options.scheme = c->ops->scheme;
    options.key_bits = c->ops->key_bits;
    options.value_bits = c->ops->value_bits;
    options.bucket = c->ops->bucket;
    return options;
}

bool case_compiled(const test_case *c, uint32_t scheme, uint32_t key_bits, uint32_t value_bits,
                   uint32_t bucket)
{
    uint32_t count = 0;
    const hd_table_ops *const *tables = c->device->engine->tables(c->device, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (tables[i]->scheme == scheme && tables[i]->key_bits == key_bits &&
            tables[i]->value_bits == value_bits && tables[i]->bucket == bucket)
            return true;
    }
    return false;
}

void case_check_status(heddle_status got, heddle_status expected, const char *call,
                       const char *file, int line)
{
    if (got == expected) return;
    print_error("%s:%d: %s gave \"%s\", not \"%s\"; last error: %s\n", file, line, call,
                heddle_status_string(got), heddle_status_string(expected), heddle_last_error());
    _fail(file, line);
}
