/* open.c: making, opening and closing shelves. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "host/host.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "shelf/shelf.h"
#include "table/check.h"
#include "table/making.h"

#define LOCK "lock"

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

/* A shelf without parts, of the options. */
static heddle_status shelf_make(heddle_device *device, const char *directory,
                                const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf *s = (heddle_shelf *)hd_allocate_zeroed(1, sizeof *s);
    if (s == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a shelf");
    *shelf = s;
    pthread_mutex_init(&s->mutex, NULL);
    s->lock = -1;
    s->process = getpid();
    s->device = device;
    s->read_only = (options->flags & HEDDLE_SHELF_READ_ONLY) != 0;
    s->memory = options->memory != 0 ? options->memory : choose_memory(device);
    s->threads = hd_host_threads(device);
    s->progress = options->progress;
    s->context = options->context;
    HD_TRY(copy_text(directory, &s->directory));
    return copy_text(options->scratch != NULL ? options->scratch : directory, &s->scratch);
}

void heddle_shelf_close(heddle_shelf *shelf)
{
    if (shelf == NULL) return;
    hd_parts_unload(shelf, &shelf->parts);
    if (shelf->lock >= 0) (void)hd_close(shelf->lock);
    free(shelf->directory);
    free(shelf->scratch);
    pthread_mutex_destroy(&shelf->mutex);
    free(shelf);
}

/* Nobody else has the shelf open, or only to read as this one does. */
static heddle_status take_lock(heddle_shelf *shelf, bool create)
{
    char *path HD_FREED = NULL;
    HD_TRY(hd_path_make(shelf->directory, LOCK, &path));
    shelf->lock = hd_open(path, (create ? O_RDWR | O_CREAT : O_RDONLY) | O_NONBLOCK);
    if (shelf->lock < 0)
        return hd_fail(HEDDLE_ERROR_IO, "cannot open %s: %s", path, strerror(errno));
    if (hd_lock(shelf->lock, (shelf->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
        return HEDDLE_OK;
    return errno == EWOULDBLOCK
               ? hd_fail(HEDDLE_ERROR_IO, "the shelf %s is open already", shelf->directory)
               : hd_fail(HEDDLE_ERROR_IO, "cannot lock %s: %s", path, strerror(errno));
}

/* Learns what parts are like. */
static heddle_status complete_options(heddle_shelf *shelf)
{
    heddle_table_options made = shelf->options;
    if (shelf->options.flags & HEDDLE_FLAG_FIXED)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "a shelf grows; HEDDLE_FLAG_FIXED is not for it");
    HD_TRY(hd_options_complete(shelf->device, &made));
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
    return hd_manifest_start(shelf);
}

/* Makes the directory, if it is not there; its entry in the one above it lasts. */
static heddle_status make_directory(const char *directory)
{
    char *above HD_FREED = NULL;
    if (mkdir(directory, 0777) != 0)
        return errno == EEXIST
                   ? HEDDLE_OK
                   : hd_fail(HEDDLE_ERROR_IO, "cannot make %s: %s", directory, strerror(errno));
    HD_TRY(hd_path_make(directory, "..", &above));
    return hd_directory_sync(above);
}

/* A new shelf of these options of tables, in its directory. */
static heddle_status start(heddle_shelf *s, const heddle_table_options *table, uint64_t seed)
{
    HD_TRY(hd_options_read(table, &s->options));
    HD_TRY(complete_options(s));
    HD_TRY(make_directory(s->directory));
    HD_TRY(take_lock(s, true));
    s->seed = seed != 0 ? seed : hd_seed_draw();
    if (s->seed == s->options.seed) s->seed = ~s->seed; /* see route/spread.h */
    return start_empty(s);
}

heddle_status heddle_shelf_create(heddle_device *device, const char *directory,
                                  const heddle_table_options *table,
                                  const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf_options o;
    heddle_shelf *s = NULL;
    heddle_status status;
    HD_TRY(check_call(device, directory, options, &o, shelf));
    if (o.flags & HEDDLE_SHELF_READ_ONLY)
        return hd_fail(HEDDLE_ERROR_INVALID, "a new shelf is not read only");
    status = shelf_make(device, directory, &o, &s);
    if (status == HEDDLE_OK) status = start(s, table, o.seed);
    if (status == HEDDLE_OK) *shelf = s;
    else heddle_shelf_close(s);
    return status;
}

/* The options of the manifest: what no table takes is the file's fault, not the caller's. */
static heddle_status complete_read(heddle_shelf *s)
{
    const heddle_status status = complete_options(s);
    if (status != HEDDLE_ERROR_INVALID) return status;
    return hd_fail(HEDDLE_ERROR_FORMAT, "the manifest in %s asks for tables that cannot be",
                   s->directory);
}

/* What is in the directory. */
static heddle_status read_shelf(heddle_shelf *s)
{
    HD_TRY(take_lock(s, !s->read_only));
    HD_TRY(hd_manifest_read(s));
    HD_TRY(complete_read(s));
    for (uint32_t i = 0; i < s->parts.count; i++) HD_TRY(hd_part_check(s, &s->parts.at[i]));
    if (!s->read_only) hd_manifest_sweep(s);
    return HEDDLE_OK;
}

heddle_status heddle_shelf_open(heddle_device *device, const char *directory,
                                const heddle_shelf_options *options, heddle_shelf **shelf)
{
    heddle_shelf_options o;
    heddle_shelf *s = NULL;
    bool there = false;
    heddle_status status;
    HD_TRY(check_call(device, directory, options, &o, shelf));
    HD_TRY(hd_manifest_find(directory, &there));
    if (!there) return hd_fail(HEDDLE_ERROR_IO, "there is no shelf in %s", directory);
    status = shelf_make(device, directory, &o, &s);
    if (status == HEDDLE_OK) status = read_shelf(s);
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

heddle_status heddle_shelf_check_widths(const heddle_shelf *shelf, uint32_t key_bits,
                                        uint32_t value_bits)
{
    if (shelf == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the shelf is NULL");
    return hd_check_widths("shelf", shelf->options.key_bits, shelf->options.value_bits, key_bits,
                           value_bits);
}
