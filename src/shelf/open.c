/* open.c: making, opening and closing shelves, and the steps that all calls on them share. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "shelf/shelf.h"
#include "table/slots/geometry.h"
#include "table/table.h"

#define LOCK "lock"

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

/* Bytes of a pair in a table, about, at the load that the table is made for. */
static double pair_in_table(const heddle_table_options *o, double load)
{
    const double pair = (double)(o->key_bits + o->value_bits) / 8;
    switch (o->scheme) {
    case HEDDLE_SCHEME_HASHGRAPH: return pair + 2 * (o->vertices > 0 ? o->vertices : 1);
    case HEDDLE_SCHEME_BUCKET_LIST:
        return (o->key_bits / 8.0 + 16) / (load > 0 ? load : 0.8) + 2.0 * o->value_bits / 8;
    default: return pair / (load > 0 ? load : 0.65);
    }
}

/* Scratch memory that a part takes while it is made, read, written or divided: copies of its pairs. */
static double pair_copies(const heddle_table_options *o)
{
    if (o->scheme != HEDDLE_SCHEME_HASHGRAPH) return 3;
    return o->container == HEDDLE_CONTAINER_MULTIMAP ? 3 : 6; /* these group */
}

uint64_t hd_shelf_limit(const heddle_table_options *options, double load, uint64_t memory)
{
    const double pair = (double)(options->key_bits + options->value_bits) / 8;
    /* A quarter is for tables kept between calls, a quarter for the batch, an eighth for sorting it. */
    const double peak = pair_in_table(options, load) + pair_copies(options) * pair;
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

/* Half of what is free, of the device and of the host. */
static uint64_t choose_memory(heddle_device *device)
{
    const uint64_t host = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    uint64_t memory = host;
    if (heddle_device_get_info(device, &info) == HEDDLE_OK && info.memory_free < memory)
        memory = info.memory_free;
    memory /= 2;
    return memory < HD_SHELF_MEMORY_MIN ? HD_SHELF_MEMORY_MIN : memory;
}

/* ---------------------------------------------------------------------------------------- make */

static heddle_status check_options(const heddle_shelf_options *o)
{
    if (o->flags & ~HEDDLE_SHELF_READ_ONLY)
        return hd_fail(HEDDLE_ERROR_INVALID, "shelf: there are no flags %#x", o->flags);
    if (o->memory != 0 && o->memory < HD_SHELF_MEMORY_MIN)
        return hd_fail(HEDDLE_ERROR_INVALID, "shelf: %llu bytes of memory are too few; %d will do",
                       (unsigned long long)o->memory, HD_SHELF_MEMORY_MIN);
    return HEDDLE_OK;
}

static heddle_status copy_text(const char *from, char **to)
{
    *to = (char *)hd_allocate(strlen(from) + 1);
    if (*to == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a path");
    strcpy(*to, from);
    return HEDDLE_OK;
}

static int choose_threads(heddle_device *device)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    const bool known = heddle_device_get_info(device, &info) == HEDDLE_OK;
    return known && info.kind == HEDDLE_DEVICE_CPU && info.threads != 0 ? (int)info.threads : 4;
}

/* A shelf without parts, of the options. */
static heddle_status shelf_make(heddle_device *device, const char *directory,
                                const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf *s = (heddle_shelf *)hd_allocate_zeroed(1, sizeof *s);
    if (s == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a shelf");
    *shelf = s;
    pthread_mutex_init(&s->mutex, NULL);
    s->lock = -1;
    s->device = device;
    s->read_only = (options->flags & HEDDLE_SHELF_READ_ONLY) != 0;
    s->memory = options->memory != 0 ? options->memory : choose_memory(device);
    s->threads = choose_threads(device);
    s->progress = options->progress;
    s->context = options->context;
    HD_TRY(copy_text(directory, &s->directory));
    return copy_text(options->scratch != NULL ? options->scratch : directory, &s->scratch);
}

void heddle_shelf_close(heddle_shelf *shelf)
{
    if (shelf == NULL) return;
    hd_parts_unload(shelf, &shelf->parts);
    if (shelf->lock >= 0) (void)close(shelf->lock);
    free(shelf->directory);
    free(shelf->scratch);
    pthread_mutex_destroy(&shelf->mutex);
    free(shelf);
}

/* Nobody else has the shelf open, or only to read as this one does. */
static heddle_status take_lock(heddle_shelf *shelf, bool create)
{
    char *path = NULL;
    heddle_status status = hd_path_make(shelf->directory, LOCK, &path);
    if (status != HEDDLE_OK) return status;
    shelf->lock = open(path, (create ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    if (shelf->lock < 0)
        status = hd_fail(HEDDLE_ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    else if (flock(shelf->lock, (shelf->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0)
        status = errno == EWOULDBLOCK
                     ? hd_fail(HEDDLE_ERROR_IO, "the shelf %s is open already", shelf->directory)
                     : hd_fail(HEDDLE_ERROR_IO, "cannot lock %s: %s", path, strerror(errno));
    free(path);
    return status;
}

/* Lets a table complete the options, and learns from it what parts are like. */
static heddle_status complete_options(heddle_shelf *shelf)
{
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    heddle_status status;
    if (shelf->options.flags & HEDDLE_FLAG_FIXED)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "a shelf grows; HEDDLE_FLAG_FIXED is not for it");
    status = hd_part_create(shelf, 1, &table);
    if (status == HEDDLE_OK) status = heddle_table_get_options(table, &made);
    heddle_table_destroy(table);
    if (status != HEDDLE_OK) return status;
    shelf->options.scheme = made.scheme;
    shelf->options.value_bits = made.value_bits;
    shelf->options.capacity = 0;
    shelf->limit = hd_shelf_limit(&shelf->options, made.load, shelf->memory);
    return HEDDLE_OK;
}

static heddle_status check_call(const heddle_device *device, const char *directory,
                                const heddle_shelf_options *given, heddle_shelf_options *options,
                                heddle_shelf **shelf)
{
    static const heddle_shelf_options defaults = HEDDLE_SHELF_OPTIONS_INIT;
    *options = defaults;
    if (shelf == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "shelf: there is no place for the shelf");
    *shelf = NULL;
    if (device == NULL || directory == NULL || *directory == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a shelf needs a device and a directory");
    HD_TRY(hd_read_struct(options, given, &hd_shelf_options_kind));
    return check_options(options);
}

/* One part, which is empty, and the manifest that says so. */
static heddle_status start_empty(heddle_shelf *shelf)
{
    const hd_shelf_part all = {0, 0, 0, 0, NULL, 0, false};
    bool there = false;
    HD_TRY(hd_manifest_find(shelf->directory, &there));
    if (there)
        return hd_fail(HEDDLE_ERROR_INVALID, "there is a shelf in %s already", shelf->directory);
    HD_TRY(hd_parts_append(&shelf->parts, &all));
    HD_TRY(hd_manifest_write(shelf, &shelf->parts));
    return hd_directory_sync(shelf->directory);
}

/* Makes the directory, if it is not there; its entry in the one above it lasts. */
static heddle_status make_directory(const char *directory)
{
    char *above = NULL;
    heddle_status status;
    if (mkdir(directory, 0777) != 0)
        return errno == EEXIST
                   ? HEDDLE_OK
                   : hd_fail(HEDDLE_ERROR_IO, "cannot make %s: %s", directory, strerror(errno));
    status = hd_path_make(directory, "..", &above);
    if (status == HEDDLE_OK) status = hd_directory_sync(above);
    free(above);
    return status;
}

heddle_status heddle_shelf_create(heddle_device *device, const char *directory,
                                  const heddle_table_options *table,
                                  const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf_options o;
    heddle_shelf *s = NULL;
    heddle_status status = check_call(device, directory, options, &o, shelf);
    if (status == HEDDLE_OK && (o.flags & HEDDLE_SHELF_READ_ONLY))
        status = hd_fail(HEDDLE_ERROR_INVALID, "a new shelf is not read only");
    if (status != HEDDLE_OK) return status;
    status = shelf_make(device, directory, &o, &s);
    if (status == HEDDLE_OK) status = hd_options_read(table, &s->options);
    if (status == HEDDLE_OK) status = complete_options(s);
    if (status == HEDDLE_OK) status = make_directory(directory);
    if (status == HEDDLE_OK) status = take_lock(s, true);
    if (status == HEDDLE_OK) {
        s->seed = o.seed != 0 ? o.seed : hd_seed_draw();
        if (s->seed == s->options.seed)
            s->seed = ~s->seed; /* never that of the tables: see route/spread.h */
        status = start_empty(s);
    }
    if (status == HEDDLE_OK) *shelf = s;
    else heddle_shelf_close(s);
    return status;
}

heddle_status heddle_shelf_open(heddle_device *device, const char *directory,
                                const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf_options o;
    heddle_shelf *s = NULL;
    bool there = false;
    heddle_status status = check_call(device, directory, options, &o, shelf);
    if (status == HEDDLE_OK) status = hd_manifest_find(directory, &there);
    if (status == HEDDLE_OK && !there)
        status = hd_fail(HEDDLE_ERROR_IO, "there is no shelf in %s", directory);
    if (status == HEDDLE_OK) status = shelf_make(device, directory, &o, &s);
    if (status == HEDDLE_OK) status = take_lock(s, !s->read_only);
    if (status == HEDDLE_OK) status = hd_manifest_read(s);
    if (status == HEDDLE_OK) status = complete_options(s);
    for (uint32_t i = 0; status == HEDDLE_OK && i < s->parts.count; i++)
        status = hd_part_check(s, &s->parts.at[i]);
    if (status == HEDDLE_OK && !s->read_only) hd_manifest_sweep(s);
    if (status == HEDDLE_OK) *shelf = s;
    else heddle_shelf_close(s);
    return status;
}

heddle_status heddle_shelf_get_options(heddle_shelf *shelf, heddle_table_options *options)
{
    if (shelf == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "get_options: the shelf is NULL");
    HD_TRY(hd_check_struct(options, &hd_table_options_kind));
    hd_write_struct(options, &shelf->options, &hd_table_options_kind);
    return HEDDLE_OK;
}
