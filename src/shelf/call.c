/* call.c: the steps that all calls on a shelf share, and how much memory parts take. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/blocks.h"
#include "shelf/shelf.h"
#include "table/check.h"

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* ----------------------------------------------------------------------------------- the steps */

heddle_status hd_shelf_enter(heddle_shelf *shelf, bool writes, const char *what)
{
    if (shelf == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the shelf is NULL", what);
    if (writes && shelf->read_only)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the shelf was opened to be read only", what);
    if (!shelf->read_only && shelf->process != getpid())
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "%s: the shelf was opened before a fork, in another process; open it in this one",
            what);
    pthread_mutex_lock(&shelf->mutex);
    memset(shelf->seconds, 0, sizeof shelf->seconds);
    shelf->since = now();
    return HEDDLE_OK;
}

heddle_status hd_shelf_leave(heddle_shelf *shelf, heddle_status status)
{
    (void)hd_blocks_drop(shelf->device);
    pthread_mutex_unlock(&shelf->mutex);
    return status;
}

heddle_status hd_shelf_progress(heddle_shelf *shelf, uint32_t phase, uint64_t done, uint64_t total)
{
    static const char *const names[HEDDLE_SHELF_PHASES] = {"counted", "sorted", "worked on",
                                                           "answered", "committed"};
    const double at = now();
    shelf->seconds[phase] += at - shelf->since;
    shelf->since = at;
    if (shelf->progress == NULL || shelf->progress(shelf->context, phase, done, total) == 0)
        return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_CANCELLED, "the call was cancelled, %llu of %llu %s",
                   (unsigned long long)done, (unsigned long long)total, names[phase]);
}

heddle_status hd_shelf_check(heddle_shelf *shelf, const void *array, uint64_t n, uint32_t width,
                             const char *what)
{
    const hd_engine *engine = shelf->device->engine;
    HD_TRY(hd_check_array(array, n, width, what));
    if (array != NULL && !engine->host_memory && engine->is_device_memory(shelf->device, array))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the array of %s is device memory; shelves take host memory", what);
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- budget */

/*
 * Bytes of a pair in a table, about, at the load that the table is made for. These numbers and those of pair_at_work were
 * measured; test_shelf_memory.c holds them against what calls take.
 */
static double pair_in_table(const heddle_table_options *o, double load)
{
    const double pair = (double)(o->key_bits + o->value_bits) / 8;
    switch (o->scheme) {
    case HEDDLE_SCHEME_HASHGRAPH: return pair + 2 * (o->vertices > 0 ? o->vertices : 1);
    case HEDDLE_SCHEME_SLAB:
        return 8 + 2.5 * pair; /* slabs that are not full, and a pool ahead of need */
    case HEDDLE_SCHEME_BUCKET_LIST:
        return (o->key_bits / 8.0 + 16) / (load > 0 ? load : 0.8) + 2.0 * o->value_bits / 8;
    default: return pair / (load > 0 ? load : 0.65);
    }
}

/*
 * Scratch memory for a pair of a part that is loaded, filled, written or divided: copies of the pairs, and where equal keys
 * are brought together, in sets and counters of graphs and in bucket lists, what sorting them takes.
 */
static double pair_at_work(const heddle_table_options *o)
{
    const double pair = (double)(o->key_bits + o->value_bits) / 8;
    switch (o->scheme) {
    case HEDDLE_SCHEME_HASHGRAPH:
        return o->container == HEDDLE_CONTAINER_MULTIMAP ? 4 * pair : 150 + 3 * pair;
    case HEDDLE_SCHEME_BUCKET_LIST: return 260 + 3 * pair;
    case HEDDLE_SCHEME_OPEN: return 5 * pair;
    default: return 3 * pair;
    }
}

uint64_t hd_shelf_limit(const heddle_table_options *options, double load, uint64_t memory)
{
    /* A quarter is for tables kept between calls, a quarter for the batch, an eighth for sorting it. */
    const double peak = pair_in_table(options, load) + pair_at_work(options);
    const double limit = (double)memory * 3 / 8 / peak;
    return limit < HD_SHELF_LIMIT_MIN ? HD_SHELF_LIMIT_MIN : (uint64_t)limit;
}

uint64_t hd_shelf_table_bytes(const heddle_shelf *shelf, heddle_table *table, uint64_t count)
{
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    double bytes = 1;
    if (heddle_table_get_options(table, &made) != HEDDLE_OK) return UINT64_MAX / 2;
    bytes += pair_in_table(&shelf->options, made.load) * (double)count;
    if (made.scheme == HEDDLE_SCHEME_CUCKOO || made.scheme == HEDDLE_SCHEME_OPEN ||
        made.scheme == HEDDLE_SCHEME_ICEBERG) {
        const double slots = (double)made.capacity * (made.key_bits + made.value_bits) / 8;
        if (slots > bytes) bytes = slots;
    }
    return (uint64_t)bytes;
}
