/*
 * measure.c: one operation on one table: brought into position, run once to warm up, timed
 * `repeat` times, its last result verified, and run once more to count its probes.
 */
#include <stdio.h>

#include "bench/table/table.h"
#include "progress.h"
#include "tool.h"

typedef struct operation {
    bool asks;  /* runs over b->queries in a full table */
    bool fills; /* leaves the table full; keys may fail to fit */
    bool half;  /* works on half of the keys */
    uint32_t roof;
    int (*prepare)(bench *b); /* before every run, not timed; or NULL */
    heddle_status (*call)(bench *b, heddle_totals *totals);
    int (*verify)(bench *b, bool *right);
} operation;

/* ------------------------------------------------------------------------------ the operations */

static int clear_table(bench *b)
{
    b->full = false;
    return tool_try(heddle_table_clear(b->table, NULL), "clear");
}

static heddle_insert_options with_workspace(const bench *b)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.workspace = b->workspace;
    options.workspace_bytes = b->workspace_bytes;
    return options;
}

static heddle_status call_insert(bench *b, heddle_totals *totals)
{
    const heddle_insert_options options = with_workspace(b);
    return heddle_table_insert(b->table, b->table_keys, b->table_values, b->keys.n, &options,
                               totals, NULL);
}

static heddle_status call_build(bench *b, heddle_totals *totals)
{
    const heddle_insert_options options = with_workspace(b);
    return heddle_table_build(b->table, b->table_keys, b->table_values, b->keys.n, &options, totals,
                              NULL);
}

/* `n` keys from the `first` on, with memory of the library's own. */
static heddle_status insert_part(bench *b, uint64_t first, uint64_t n, heddle_totals *totals)
{
    const char *keys = (const char *)b->table_keys + first * b->keys.key_bits / 8;
    const char *values = (const char *)b->table_values;
    if (values != NULL) values += first * b->keys.value_bits / 8;
    return heddle_table_insert(b->table, keys, values, n, NULL, totals, NULL);
}

static int fill_half(bench *b)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    const int status = clear_table(b);
    return status == TOOL_OK ? tool_try(insert_part(b, 0, b->keys.n / 2, &totals), "insert")
                             : status;
}

static heddle_status call_append(bench *b, heddle_totals *totals)
{
    heddle_totals own = HEDDLE_TOTALS_INIT;
    const uint64_t half = b->keys.n / 2;
    return insert_part(b, half, b->keys.n - half, totals != NULL ? totals : &own);
}

static heddle_status call_contains(bench *b, heddle_totals *totals)
{
    return heddle_table_contains(b->table, b->queries, b->keys.n, b->found, totals, NULL);
}

/*
 * The values are the answer of a find; those of absent keys stay as they were filled before. A set
 * has no values to find, so there a find is a contains.
 */
static heddle_status call_find(bench *b, heddle_totals *totals)
{
    if (b->answers == NULL) return call_contains(b, totals);
    return heddle_table_find(b->table, b->queries, b->keys.n, b->answers, NULL, totals, NULL);
}

static heddle_status call_erase(bench *b, heddle_totals *totals)
{
    b->full = false;
    return heddle_table_erase(b->table, b->queries, b->keys.n, b->found, totals, NULL);
}

/* Fills an emptied table with all keys, unless it is full already. */
static int fill_table(bench *b)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    if (b->full) return TOOL_OK;
    const int status = clear_table(b);
    if (status != TOOL_OK) return status;
    const heddle_status inserted = call_insert(b, &totals);
    if (inserted != HEDDLE_OK && inserted != HEDDLE_ERROR_FULL) return tool_try(inserted, "insert");
    b->full = true;
    b->unplaced = totals.failed;
    return TOOL_OK;
}

/* ------------------------------------------------------------------------------- verification */

/* Holds the answers against what they must be, and says so when some are wrong. */
static int check_answers(bench *b, bench_query query, bool none, bool values, bool *right)
{
    uint64_t wrong = 0;
    const int status = bench_data_check(b, query, none, values, &wrong);
    if (wrong != 0)
        tool_say("%s at load %g: %llu of %llu answers are wrong", b->op, b->load,
                 (unsigned long long)wrong, (unsigned long long)b->keys.n);
    *right &= status == TOOL_OK && wrong == 0;
    return status;
}

static int check_size(bench *b, uint64_t expected, bool *right)
{
    uint64_t size = 0;
    const int status = tool_try(heddle_table_size(b->table, &size, NULL), "size");
    if (status == TOOL_OK && size != expected) {
        tool_say("%s at load %g: the table then holds %llu keys, not %llu", b->op, b->load,
                 (unsigned long long)size, (unsigned long long)expected);
        *right = false;
    }
    return status;
}

/* The values of the find before, and the flags that a contains gives for the same keys. */
static int verify_found(bench *b, bool *right)
{
    const int status = tool_try(call_contains(b, NULL), "contains");
    if (status != TOOL_OK) return status;
    return check_answers(b, b->query, false, b->answers != NULL, right);
}

static int verify_contained(bench *b, bool *right)
{
    return check_answers(b, b->query, false, false, right);
}

static int verify_erased(bench *b, bool *right)
{
    int status = check_answers(b, b->query, false, false, right); /* each was there and is erased */
    if (status == TOOL_OK) status = check_size(b, 0, right);
    if (status == TOOL_OK) status = bench_data_poison(b);
    if (status == TOOL_OK) status = tool_try(call_contains(b, NULL), "contains");
    if (status == TOOL_OK) status = check_answers(b, b->query, true, false, right);
    return status;
}

static int verify_filled(bench *b, bool *right)
{
    const bench_query every_key = {true, 100};
    int status = check_size(b, b->keys.n, right);
    if (status != TOOL_OK) return status;
    const heddle_status valid = heddle_table_validate(b->table, NULL);
    if (valid != HEDDLE_OK) {
        *right = false;
        status = tool_try(valid, "validate");
        if (valid != HEDDLE_ERROR_CORRUPT) return status;
    }
    status = bench_data_queries(b, every_key);
    if (status == TOOL_OK) status = bench_data_poison(b);
    if (status == TOOL_OK) status = tool_try(call_find(b, NULL), "find");
    if (status == TOOL_OK) status = verify_found(b, right);
    return status;
}

static const operation operations[BENCH_TABLE_OPS] = {
    [BENCH_BUILD] = {false, true, false, HD_ROOF_PARTITION, NULL, call_build, verify_filled},
    [BENCH_INSERT] = {false, true, false, HD_ROOF_CAS, clear_table, call_insert, verify_filled},
    [BENCH_FIND] = {true, false, false, HD_ROOF_GATHER, NULL, call_find, verify_found},
    [BENCH_CONTAINS] = {true, false, false, HD_ROOF_GATHER, NULL, call_contains, verify_contained},
    [BENCH_MISS] = {true, false, false, HD_ROOF_GATHER, NULL, call_find, verify_found},
    [BENCH_ERASE] = {true, false, false, HD_ROOF_CAS, fill_table, call_erase, verify_erased},
    [BENCH_APPEND] = {false, true, true, HD_ROOF_PARTITION, fill_half, call_append, verify_filled},
};

/* The keys that a run works on. */
static double keys_of(const bench *b, const operation *op)
{
    return (double)(op->half ? b->keys.n - b->keys.n / 2 : b->keys.n);
}

bool bench_op_takes_hits(uint32_t op) { return op == BENCH_FIND || op == BENCH_CONTAINS; }

/* -------------------------------------------------------------------------------- measurement */

/* Keys that do not fit are a result, to be reported with the row, and no failure of the call. */
static heddle_status call_once(bench *b, const operation *op, heddle_totals *totals)
{
    const heddle_status status = op->call(b, totals);
    if (op->fills) b->full = status == HEDDLE_OK || status == HEDDLE_ERROR_FULL;
    return op->fills && status == HEDDLE_ERROR_FULL ? HEDDLE_OK : status;
}

/* What is timed. */
typedef struct timing {
    bench *b;
    const operation *op;
} timing;

static int prepare_run(void *context, bool last)
{
    const timing *t = (const timing *)context;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    int status = t->op->prepare != NULL ? t->op->prepare(t->b) : TOOL_OK;
    if (status == TOOL_OK && last && t->op->asks) status = bench_data_poison(t->b);
    /* What is taken here is thrown away: only the last run's failures are those of the table. */
    if (status == TOOL_OK && last)
        status = tool_try(heddle_table_take_totals(t->b->table, &totals, NULL), "totals");
    return status;
}

static heddle_status call_run(void *context)
{
    const timing *t = (const timing *)context;
    return call_once(t->b, t->op, NULL);
}

static int time_runs(bench *b, const operation *op, bench_row *row)
{
    timing t = {b, op};
    const bench_timed timed = {prepare_run, call_run, &t};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    double median = 0;
    int status = bench_time(b, &timed, &median);
    row->mops = median > 0 ? keys_of(b, op) / median / 1e6 : 0;
    if (status != TOOL_OK || !op->fills) return status;
    status = tool_try(heddle_table_take_totals(b->table, &totals, NULL), "totals");
    b->unplaced = totals.failed;
    return status;
}

static int count_probes(bench *b, const operation *op, bench_row *row)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    int status = op->prepare != NULL ? op->prepare(b) : TOOL_OK;
    if (status == TOOL_OK) status = tool_try(call_once(b, op, &totals), b->op);
    if (status != TOOL_OK) return status;
    row->probes = (double)totals.probes / keys_of(b, op);
    if (op->fills) b->unplaced = totals.failed;
    return TOOL_OK;
}

static int rate_row(bench *b, const operation *op, bench_row *row)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    double roof = 0;
    int status = tool_try(heddle_table_get_stats(b->table, &stats, NULL), "statistics");
    if (status != TOOL_OK) return status;
    const uint32_t width = op->roof == HD_ROOF_CAS ? 8
                           : op->roof == HD_ROOF_PARTITION
                               ? (b->keys.key_bits + b->keys.value_bits) / 8
                               : b->bucket_bytes;
    status = bench_roof_measure(b, op->roof, width, stats.bytes_slots, b->keys.n, &roof);
    row->roof_mops = roof / 1e6;
    row->bytes_per_entry = (double)stats.bytes_total / (double)b->keys.n;
    row->filled = (double)(b->keys.n - row->failed) / (double)stats.slots;
    return status;
}

/* "find" where all queries are present, else "find:50". */
static void name_row(bench *b, uint32_t op, uint32_t hit)
{
    if (hit == 100) (void)snprintf(b->op, sizeof b->op, "%s", bench_op_names[op]);
    else (void)snprintf(b->op, sizeof b->op, "%s:%u", bench_op_names[op], hit);
}

int bench_measure(bench *b, uint32_t op_number, uint32_t hit, bench_row *row)
{
    const operation *op = &operations[op_number];
    const bench_query query = {true, op_number == BENCH_MISS ? 0 : hit};
    bool right = true;
    name_row(b, op_number, hit);
    progress_step("%s at load %g", b->op, b->load);
    int status = op->asks ? fill_table(b) : TOOL_OK;
    if (status == TOOL_OK && op->asks) status = bench_data_queries(b, query);
    if (status == TOOL_OK) status = time_runs(b, op, row);
    row->failed = b->unplaced;
    /* With keys left out there is nothing right to hold the answers against. */
    if (status == TOOL_OK && b->options.verify && row->failed == 0) {
        progress_label("verifying %s at load %g", b->op, b->load);
        status = op->verify(b, &right);
    }
    progress_label("counting the probes of %s at load %g", b->op, b->load);
    if (status == TOOL_OK) status = count_probes(b, op, row);
    if (b->unplaced > row->failed) row->failed = b->unplaced;
    row->wrong = !right;
    row->verified = b->options.verify && right && row->failed == 0;
    if (status == TOOL_OK) status = rate_row(b, op, row);
    if (row->failed != 0 && b->part->sweep == BENCH_SWEEP_NONE) /* a sweep goes that far */
        tool_say("%s at load %g: %llu of %llu keys did not fit", b->op, b->load,
                 (unsigned long long)row->failed, (unsigned long long)b->keys.n);
    return status;
}
