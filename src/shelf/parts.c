/*
 * parts.c: the parts of a shelf: their tables, in memory and in files.
 *
 * A table that a call has changed is no longer that of its file. So a call that changes a part takes its
 * table away first; when the call fails, the next one loads the file again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "engine/blocks.h"
#include "shelf/shelf.h"
#include "table/making.h"

#define LOADED_SHARE 4 /* this share of the memory may be that of tables between calls */

heddle_status hd_parts_append(hd_shelf_parts *parts, const hd_shelf_part *part)
{
    if (parts->count == parts->room) {
        const uint32_t room = parts->room != 0 ? parts->room * 2 : 16;
        hd_shelf_part *at = (hd_shelf_part *)hd_reallocate(parts->at, room * sizeof *at);
        if (at == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the list of parts");
        parts->at = at;
        parts->room = room;
    }
    parts->at[parts->count++] = *part;
    return HEDDLE_OK;
}

#define NAME_BYTES 48

static const char *part_name(uint64_t file, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "part_%016llx.heddle", (unsigned long long)file);
    return name;
}

static heddle_status part_path(const heddle_shelf *shelf, uint64_t file, char **path)
{
    char name[NAME_BYTES];
    return hd_path_make(shelf->directory, part_name(file, name), path);
}

void hd_part_remove_file(const heddle_shelf *shelf, uint64_t file)
{
    char name[NAME_BYTES];
    int directory;
    if (file == 0) return;
    directory = hd_open(shelf->directory, O_RDONLY | O_DIRECTORY);
    if (directory < 0) return;
    (void)unlinkat(directory, part_name(file, name), 0);
    (void)hd_close(directory);
}

/* -------------------------------------------------------------------------------------- tables */

heddle_status hd_part_create(heddle_shelf *shelf, uint64_t capacity, heddle_table **table)
{
    heddle_table_options options = shelf->options;
    options.capacity = capacity;
    return heddle_table_create(shelf->device, &options, table);
}

void hd_part_unload(heddle_shelf *shelf, hd_shelf_part *part)
{
    heddle_table_destroy(part->table);
    part->table = NULL;
    shelf->loaded -= part->loaded;
    part->loaded = 0;
}

void hd_part_release(heddle_shelf *shelf, hd_shelf_part *part)
{
    if (part->table == NULL || part->loaded != 0) return; /* or it was there before */
    const uint64_t bytes = hd_shelf_table_bytes(shelf, part->table, part->count);
    if (shelf->loaded > shelf->memory / LOADED_SHARE ||
        bytes > shelf->memory / LOADED_SHARE - shelf->loaded) {
        hd_part_unload(shelf, part);
    } else {
        part->loaded = bytes;
        shelf->loaded += bytes;
    }
}

heddle_table *hd_part_take_table(heddle_shelf *shelf, hd_shelf_part *part)
{
    heddle_table *table = part->table;
    shelf->loaded -= part->loaded;
    part->table = NULL;
    part->loaded = 0;
    return table;
}

/* What was loaded is what the shelf has. */
static heddle_status check_loaded(const hd_shelf_part *part, const char *path)
{
    uint64_t count = 0;
    HD_TRY(heddle_table_size(part->table, &count, NULL));
    if (count == part->count) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_FORMAT, "%s holds %llu pairs, where the shelf has %llu", path,
                   (unsigned long long)count, (unsigned long long)part->count);
}

heddle_status hd_part_load(heddle_shelf *shelf, hd_shelf_part *part, uint64_t more)
{
    heddle_table_options options = shelf->options;
    char *path HD_FREED = NULL;
    heddle_status status;
    if (part->table != NULL) return HEDDLE_OK;
    /* Blocks that the last part has left are of other sizes: they would lie beside those of this one. */
    (void)hd_blocks_drop(shelf->device);
    options.capacity = part->count + more;
    HD_TRY(part_path(shelf, part->file, &path));
    HD_TRY(hd_table_load(shelf->device, path, &options, shelf->device->engine->host_memory,
                         &part->table));
    (void)hd_blocks_drop(shelf->device);
    shelf->bytes_read += part->bytes;
    status = check_loaded(part, path);
    if (status != HEDDLE_OK) hd_part_unload(shelf, part);
    return status;
}

void hd_part_read_ahead(const heddle_shelf *shelf, const hd_shelf_part *part)
{
    char name[NAME_BYTES];
    int directory, file = -1;
    if (part->file == 0 || part->table != NULL) return;
    directory = hd_open(shelf->directory, O_RDONLY | O_DIRECTORY);
    if (directory >= 0)
        file = hd_open_at(directory, part_name(part->file, name), O_RDONLY | O_NONBLOCK);
    if (file >= 0) {
        (void)posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED);
        (void)hd_close(file);
    }
    if (directory >= 0) (void)hd_close(directory);
}

void hd_parts_unload(heddle_shelf *shelf, hd_shelf_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) hd_part_unload(shelf, &parts->at[i]);
    free(parts->at);
    memset(parts, 0, sizeof *parts);
}

/* --------------------------------------------------------------------------------------- files */

static heddle_status file_bytes(const char *path, uint64_t *bytes)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return hd_fail(HEDDLE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
    *bytes = (uint64_t)info.st_size;
    return HEDDLE_OK;
}

heddle_status hd_part_check(const heddle_shelf *shelf, const hd_shelf_part *part)
{
    char *path HD_FREED = NULL;
    uint64_t bytes = 0;
    if (part->file == 0) return HEDDLE_OK;
    HD_TRY(part_path(shelf, part->file, &path));
    HD_TRY(file_bytes(path, &bytes));
    if (bytes == part->bytes) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_FORMAT, "%s has %llu bytes; it was written with %llu", path,
                   (unsigned long long)bytes, (unsigned long long)part->bytes);
}

/* The table of a part that has its first bin alone, to a new file; an empty one has none. */
static heddle_status write_file(heddle_shelf *shelf, hd_shelf_part *part)
{
    char *path HD_FREED = NULL;
    HD_TRY(heddle_table_size(part->table, &part->count, NULL));
    if (part->count == 0) return HEDDLE_OK;
    /* No shelf has written so many: the manifest was made by somebody else. */
    if (shelf->last_file == UINT64_MAX)
        return hd_fail(HEDDLE_ERROR_FORMAT, "the shelf %s has no number left for a new part",
                       shelf->directory);
    part->file = ++shelf->last_file;
    HD_TRY(part_path(shelf, part->file, &path));
    (void)hd_blocks_drop(shelf->device);
    HD_TRY(heddle_table_save(part->table, path, NULL));
    HD_TRY(file_bytes(path, &part->bytes));
    shelf->bytes_written += part->bytes;
    return HEDDLE_OK;
}

heddle_status hd_part_save(heddle_shelf *shelf, uint32_t first, heddle_table *table,
                           hd_shelf_part *part)
{
    heddle_status status;
    memset(part, 0, sizeof *part);
    part->first = first;
    part->table = table;
    status = write_file(shelf, part);
    if (status != HEDDLE_OK) hd_part_remove_file(shelf, part->file);
    if (status != HEDDLE_OK || part->count == 0) hd_part_unload(shelf, part);
    else hd_part_release(shelf, part);
    return status;
}
