/*
 * skew.c: `heddle skew`: how builds bear input that is not uniform. Maps of 32-bit keys and values are
 * built with the policy ADD from as many pairs each time:
 *
 *   distinct  every key once
 *   zipf      key number k with a frequency as k^-1.2
 *   equal     one key
 *   region    half of the pairs distinct, the others of a few thousand keys in one region
 *
 * Every value is 1, so the table then counts how often each key came. That is verified: the number of
 * keys, the counts of a thousand keys and of all that came often, and the table's invariants.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HD_KEY_BITS 32
#define HD_BUCKET 1
#include "engine/engine.h"
#include "model/hash.h"
#include "progress.h"
#include "table/slots/geometry.h"
#include "tool.h"

#define ZIPF_EXPONENT 1.2
#define REGION_KEYS 4096 /* distinct keys of the crowded region */
#define SKEW_LOAD 0.8
#define RUNS 5

enum { DISTINCT, ZIPF, EQUAL, REGION, KINDS };
static const char *const kind_names[KINDS] = {"distinct", "zipf", "equal", "region"};

typedef struct skew {
    heddle_device *device;
    uint64_t n;
    uint32_t *keys, *values; /* host */
    void *device_keys, *device_values, *workspace;
    uint64_t workspace_bytes;
    heddle_table *table;
    double distinct_rate;
} skew;

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The inverse of the distribution function of a continuous k^-1.2 from 1 to the largest key. */
static uint32_t zipf_key(double uniform)
{
    const double top = pow(4294967295.0, 1 - ZIPF_EXPONENT);
    return (uint32_t)pow(1 - uniform * (1 - top), 1 / (1 - ZIPF_EXPONENT));
}

static void make_keys(skew *s, int kind, uint64_t seed)
{
    hd_mix mix;
    uint64_t state = seed;
    hd_mix_init(&mix, seed);
    for (uint64_t i = 0; i < s->n; i++) {
        const uint64_t random = next_random(&state);
        s->keys[i] = (uint32_t)i * UINT32_C(0x9e3779b1) + 1;
        if (kind == ZIPF) s->keys[i] = zipf_key((double)(random >> 11) * 0x1p-53);
        if (kind == EQUAL) s->keys[i] = 42;
        if (kind == REGION && i % 2 == 0) /* the leading bits are 0 */
            s->keys[i] = unmix_key(&mix, (uint32_t)(random % REGION_KEYS));
    }
}

static int compare_keys(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Holds the table against the keys, which it sorts. */
static int verify(skew *s, uint64_t inserted, bool *right)
{
    uint64_t distinct = 0, size = 0, checked = 0;
    qsort(s->keys, s->n, sizeof *s->keys, compare_keys);
    *right = true;
    for (uint64_t i = 0, j; i < s->n; i = j) {
        uint32_t count = 0;
        for (j = i; j < s->n && s->keys[j] == s->keys[i]; j++) {
        }
        distinct++;
        if (j - i < 1000 && checked >= 1000) continue; /* the first ones, and all that came often */
        checked++;
        const int status =
            tool_try(heddle_table_find(s->table, &s->keys[i], 1, &count, NULL, NULL, NULL), "find");
        if (status != TOOL_OK) return status;
        *right = *right && count == (uint32_t)(j - i);
    }
    const int status = tool_try(heddle_table_size(s->table, &size, NULL), "size");
    *right = *right && size == distinct && inserted == distinct &&
             heddle_table_validate(s->table, NULL) == HEDDLE_OK;
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of RUNS builds after one to warm up. */
static int time_builds(skew *s, double *seconds, uint64_t *inserted)
{
    const hd_engine *engine = s->device->engine;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    double times[RUNS + 1];
    void *begin = NULL, *end = NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status = engine->event_create(s->device, &begin);
    if (status == HEDDLE_OK) status = engine->event_create(s->device, &end);
    options.policy = HEDDLE_POLICY_ADD;
    options.workspace = s->workspace;
    options.workspace_bytes = s->workspace_bytes;
    for (int i = 0; i <= RUNS && status == HEDDLE_OK; i++) {
        status = engine->event_record(s->device, begin, NULL);
        if (status == HEDDLE_OK)
            status = heddle_table_build(s->table, s->device_keys, s->device_values, s->n, &options,
                                        &totals, NULL);
        if (status == HEDDLE_OK) status = engine->event_record(s->device, end, NULL);
        if (status == HEDDLE_OK) status = engine->event_wait(s->device, end);
        if (status == HEDDLE_OK) status = engine->event_seconds(s->device, begin, end, &times[i]);
    }
    if (begin != NULL) engine->event_destroy(s->device, begin);
    if (end != NULL) engine->event_destroy(s->device, end);
    if (status != HEDDLE_OK) return tool_try(status, "build");
    qsort(times + 1, RUNS, sizeof *times, compare_doubles);
    *seconds = times[1 + RUNS / 2];
    *inserted = totals.inserted;
    return TOOL_OK;
}

static int run_kind(skew *s, int kind, bool *all_right)
{
    double seconds = 1;
    uint64_t inserted = 0;
    bool right = false;
    progress_step("%s", kind_names[kind]);
    make_keys(s, kind, 1);
    int status = tool_try(
        heddle_memory_copy(s->device, s->device_keys, s->keys, s->n * sizeof *s->keys, NULL),
        "copying keys");
    if (status == TOOL_OK) status = time_builds(s, &seconds, &inserted);
    if (status == TOOL_OK) status = verify(s, inserted, &right);
    if (status != TOOL_OK) return status;
    const double rate = (double)s->n / seconds / 1e6;
    if (kind == DISTINCT) s->distinct_rate = rate;
    progress_hide();
    (void)printf("%-9s %12llu %12llu %10.1f %8.2f %s\n", kind_names[kind], (unsigned long long)s->n,
                 (unsigned long long)inserted, rate, s->distinct_rate / rate,
                 right ? "yes" : "NO: wrong");
    (void)fflush(stdout);
    *all_right = *all_right && right;
    return TOOL_OK;
}

static int prepare(skew *s)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    const uint64_t bytes = s->n * sizeof(uint32_t);
    options.container = HEDDLE_CONTAINER_MAP;
    options.key_bits = options.value_bits = 32;
    options.capacity = s->n;
    options.load = SKEW_LOAD;
    options.seed = 1;
    s->keys = (uint32_t *)malloc(bytes);
    s->values = (uint32_t *)malloc(bytes);
    if (s->keys == NULL || s->values == NULL) {
        tool_say("no host memory for %llu pairs", (unsigned long long)s->n);
        return TOOL_FAILED;
    }
    for (uint64_t i = 0; i < s->n; i++) s->values[i] = 1;
    int status = tool_try(heddle_table_create(s->device, &options, &s->table), "making the table");
    if (status == TOOL_OK)
        status = tool_try(heddle_memory_allocate(s->device, bytes, &s->device_keys), "allocating");
    if (status == TOOL_OK)
        status =
            tool_try(heddle_memory_allocate(s->device, bytes, &s->device_values), "allocating");
    if (status == TOOL_OK)
        status = tool_try(heddle_memory_copy(s->device, s->device_values, s->values, bytes, NULL),
                          "copying values");
    if (status == TOOL_OK)
        status = tool_try(heddle_table_build_workspace(s->table, s->n, &s->workspace_bytes),
                          "asking for the workspace");
    if (status == TOOL_OK && s->workspace_bytes != 0)
        status = tool_try(heddle_memory_allocate(s->device, s->workspace_bytes, &s->workspace),
                          "allocating");
    return status;
}

typedef struct skew_options {
    const char *device;
    uint64_t bits;
} skew_options;

static bool read_bits(void *to, const tool_option *option, const char *text)
{
    return option_number(to, option, text) && ((skew_options *)to)->bits <= 31;
}

static const tool_option skew_options_known[] = {
    {"DEVICE", .words = "auto cpu cpu:THREADS cuda cuda:N", .usual = "auto",
     .text = "where it runs", .read = option_text, .at = offsetof(skew_options, device)},
    {"LOG2", .wants = "a number from 10 to 31", .usual = "24",
     .text = "the binary logarithm of the number of pairs", .read = read_bits,
     .at = offsetof(skew_options, bits), .first = 10},
};

static int skew_command(const tool_command *command, int argc, char **argv)
{
    skew_options o = {"auto", 24};
    skew s;
    bool right = true;
    int status = command_read(command, argc, argv, &o);
    if (status != TOOL_OK) return status;
    memset(&s, 0, sizeof s);
    s.n = UINT64_C(1) << o.bits;
    if (heddle_device_open(o.device, &s.device) != HEDDLE_OK)
        return tool_refuse("skew: %s", heddle_last_error());
    progress_start(KINDS);
    status = prepare(&s);
    if (status == TOOL_OK)
        (void)printf("%-9s %12s %12s %10s %8s %s\n%-9s %12s %12s %10s %8s\n", "keys", "pairs",
                     "different", "million", "times", "verified", "", "", "keys", "a second",
                     "as long");
    for (int kind = 0; kind < KINDS && status == TOOL_OK; kind++)
        status = run_kind(&s, kind, &right);
    heddle_table_destroy(s.table);
    (void)heddle_memory_free(s.device, s.workspace);
    (void)heddle_memory_free(s.device, s.device_keys);
    (void)heddle_memory_free(s.device, s.device_values);
    heddle_device_close(s.device);
    free(s.keys);
    free(s.values);
    return status == TOOL_OK && !right ? TOOL_FAILED : status;
}

const tool_command skew_page = {
    .name = "skew",
    .summary = "builds from keys that repeat, beside keys that do not",
    .text = "Maps of 32-bit pairs are built from as many pairs each time, whose keys are distinct; "
            "follow Zipf's law "
            "(exponent 1.2); are all equal; or lie half in one region of the table. A row says how "
            "much longer a "
            "build takes than one of distinct keys.",
    .options = skew_options_known,
    .option_count = 2,
    .run = skew_command,
    .examples = "  heddle skew cuda:0 26\n",
};
