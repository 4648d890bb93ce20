/*
 * manifest.c: the file of a shelf that says what it is and which files of parts count.
 *
 *   header   192 bytes, the last 8 a checksum of the rest
 *   parts    one block { number, checksum }, then 32 bytes for every part
 *
 * It is written beside the old one and renamed, after the directory's entries of the new parts are on the
 * disk. The rename is the moment from which a call's changes count.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "host/file.h"
#include "shelf/shelf.h"

#define MANIFEST "manifest.heddle"

typedef struct manifest_header {
    char magic[8];
    uint32_t version;
    uint32_t container, scheme, key_bits, value_bits, bucket, hashes, flags;
    uint64_t table_seed; /* 0: every table draws one */
    double load, vertices, threshold, list_growth;
    uint64_t list_first;
    uint64_t seed; /* of the hash that says to which part a key belongs */
    uint64_t last_file;
    uint32_t bits; /* HD_SHELF_BITS */
    uint32_t part_count;
    uint64_t reserved[9];
    uint64_t checksum;
} manifest_header;
_Static_assert(sizeof(manifest_header) == 192, "the header's size is part of the format");

static const hd_file_format format = {{'H', 'E', 'D', 'D', 'L', 'E', 'S', 'H'},
                                      1,
                                      sizeof(manifest_header),
                                      offsetof(manifest_header, reserved),
                                      sizeof(((manifest_header *)0)->reserved)};

typedef struct manifest_part {
    uint32_t first;
    uint32_t reserved;
    uint64_t file, count, bytes;
} manifest_part;
_Static_assert(sizeof(manifest_part) == 32, "a part's size is part of the format");

heddle_status hd_path_make(const char *directory, const char *name, char **path)
{
    *path = (char *)hd_allocate(strlen(directory) + strlen(name) + 2);
    if (*path == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a path");
    strcpy(*path, directory);
    strcat(*path, "/");
    strcat(*path, name);
    return HEDDLE_OK;
}

heddle_status hd_directory_sync(const char *directory)
{
    const int file = hd_open(directory, O_RDONLY | O_DIRECTORY);
    /* Some file systems cannot do this (EINVAL) and need not. */
    const bool good = file >= 0 && (hd_sync(file) == 0 || errno == EINVAL || errno == EROFS);
    const int error = errno;
    if (file >= 0) (void)hd_close(file);
    return good ? HEDDLE_OK
                : hd_fail(HEDDLE_ERROR_IO, "cannot write the directory %s: %s", directory,
                          strerror(error));
}

heddle_status hd_manifest_find(const char *directory, bool *there)
{
    char *path HD_FREED = NULL;
    struct stat info;
    HD_TRY(hd_path_make(directory, MANIFEST, &path));
    *there = stat(path, &info) == 0;
    /* Not to know is not the same as that there is none: a new shelf would replace it. */
    if (!*there && errno != ENOENT && errno != ENOTDIR)
        return hd_fail(HEDDLE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- write */

typedef struct writing {
    const heddle_shelf *shelf;
    const hd_shelf_parts *parts;
    manifest_part *list;
} writing;

static void make_header(const writing *w, manifest_header *head)
{
    const heddle_table_options *o = &w->shelf->options;
    memset(head, 0, sizeof *head);
    head->container = o->container;
    head->scheme = o->scheme;
    head->key_bits = o->key_bits;
    head->value_bits = o->value_bits;
    head->bucket = o->bucket;
    head->hashes = o->hashes;
    head->flags = o->flags;
    head->table_seed = o->seed;
    head->load = o->load;
    head->vertices = o->vertices;
    head->threshold = o->threshold;
    head->list_first = o->list_first;
    head->list_growth = o->list_growth;
    head->seed = w->shelf->seed;
    head->last_file = w->shelf->last_file;
    head->bits = HD_SHELF_BITS;
    head->part_count = w->parts->count;
}

/* As hd_file_replace wants it. */
static heddle_status write_manifest(void *context, const hd_file *file)
{
    writing *w = (writing *)context;
    const uint64_t bytes = w->parts->count * sizeof *w->list;
    manifest_header head;
    hd_file_block block;
    for (uint32_t i = 0; i < w->parts->count; i++) {
        const hd_shelf_part *part = &w->parts->at[i];
        w->list[i].first = part->first;
        w->list[i].file = part->file;
        w->list[i].count = part->count;
        w->list[i].bytes = part->bytes;
    }
    make_header(w, &head);
    block.count = w->parts->count;
    block.checksum = hd_file_checksum(block.count, w->list, bytes);
    HD_TRY(hd_file_write_header(file, &format, &head));
    HD_TRY(hd_file_write(file, &block, sizeof block));
    return hd_file_write(file, w->list, bytes);
}

heddle_status hd_manifest_write(const heddle_shelf *shelf, const hd_shelf_parts *parts)
{
    manifest_part *list HD_FREED =
        (manifest_part *)hd_allocate_zeroed((size_t)parts->count + 1, sizeof *list);
    char *path HD_FREED = NULL;
    writing w = {shelf, parts, list};
    if (list == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the list of parts");
    HD_TRY(hd_path_make(shelf->directory, MANIFEST, &path));
    HD_TRY(hd_directory_sync(shelf->directory));
    return hd_file_replace(path, "shelf", write_manifest, &w);
}

heddle_status hd_manifest_start(const heddle_shelf *shelf)
{
    char *path HD_FREED = NULL;
    heddle_status status;
    HD_TRY(hd_path_make(shelf->directory, MANIFEST, &path));
    HD_TRY(hd_manifest_write(shelf, &shelf->parts));
    status = hd_directory_sync(shelf->directory);
    if (status != HEDDLE_OK) (void)unlink(path);
    return status;
}

/* ---------------------------------------------------------------------------------------- read */

static heddle_status read_header(heddle_shelf *shelf, const hd_file *file, manifest_header *head)
{
    heddle_table_options *o = &shelf->options;
    const heddle_table_options defaults = HEDDLE_TABLE_OPTIONS_INIT;
    HD_TRY(hd_file_read_header(file, &format, head));
    if (head->bits != HD_SHELF_BITS || head->part_count == 0 || head->part_count > HD_SHELF_BINS)
        return hd_file_damaged(file, "its number of parts is impossible");
    *o = defaults;
    o->container = head->container;
    o->scheme = head->scheme;
    o->key_bits = head->key_bits;
    o->value_bits = head->value_bits;
    o->bucket = head->bucket;
    o->hashes = head->hashes;
    o->flags = head->flags;
    o->seed = head->table_seed;
    o->load = head->load;
    o->vertices = head->vertices;
    o->threshold = head->threshold;
    o->list_first = head->list_first;
    o->list_growth = head->list_growth;
    shelf->seed = head->seed;
    shelf->last_file = head->last_file;
    return HEDDLE_OK;
}

/* No memory is taken for more parts than the file can hold. */
static heddle_status check_length(const hd_file *file, uint64_t count)
{
    uint64_t bytes = 0;
    HD_TRY(hd_file_length(file, &bytes));
    if (bytes < sizeof(manifest_header) + sizeof(hd_file_block) + count * sizeof(manifest_part))
        return hd_file_damaged(file, "it is too short for its parts");
    return HEDDLE_OK;
}

static heddle_status read_parts(heddle_shelf *shelf, const hd_file *file, uint32_t count)
{
    const uint64_t pair = (shelf->options.key_bits + (uint64_t)shelf->options.value_bits) / 8;
    manifest_part *list HD_FREED = (manifest_part *)hd_allocate(count * sizeof *list);
    hd_file_block block;
    if (list == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the list of parts");
    HD_TRY(hd_file_read(file, &block, sizeof block));
    HD_TRY(hd_file_read(file, list, count * sizeof *list));
    if (block.count != count ||
        block.checksum != hd_file_checksum(count, list, count * sizeof *list))
        return hd_file_damaged(file, "the checksum of its parts is wrong");
    HD_TRY(hd_file_read_end(file));
    for (uint32_t i = 0; i < count; i++) {
        const hd_shelf_part part = {
            list[i].first, list[i].file, list[i].count, list[i].bytes, NULL, 0, false};
        if (list[i].reserved != 0)
            return hd_file_damaged(file, "a part of it asks for what this library does not know");
        if (i == 0 ? part.first != 0 : part.first <= list[i - 1].first)
            return hd_file_damaged(file, "its parts are in no order");
        if (part.first >= HD_SHELF_BINS || (part.file == 0) != (part.count == 0) ||
            part.file > shelf->last_file || pair == 0 || part.count > part.bytes / pair)
            return hd_file_damaged(file, "a part of it is impossible");
        HD_TRY(hd_parts_append(&shelf->parts, &part));
    }
    return HEDDLE_OK;
}

/* As hd_file_load wants it. */
static heddle_status read_manifest(void *context, const hd_file *file)
{
    heddle_shelf *shelf = (heddle_shelf *)context;
    manifest_header head;
    HD_TRY(read_header(shelf, file, &head));
    HD_TRY(check_length(file, head.part_count));
    return read_parts(shelf, file, head.part_count);
}

heddle_status hd_manifest_read(heddle_shelf *shelf)
{
    char *path HD_FREED = NULL;
    HD_TRY(hd_path_make(shelf->directory, MANIFEST, &path));
    return hd_file_load(path, "shelf", read_manifest, shelf);
}

/* --------------------------------------------------------------------------------------- sweep */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Whether a file belongs to a shelf and is not one of the n that count, whose numbers ascend. */
static bool is_left_over(const char *name, const uint64_t *numbers, uint32_t n)
{
    unsigned long long number = 0;
    uint64_t wanted;
    char exact[48];
    int end = 0;
    if (strncmp(name, HD_NAMELESS, strlen(HD_NAMELESS)) == 0)
        return strlen(name) == strlen(HD_NAMELESS) + 6;
    if (strncmp(name, MANIFEST, strlen(MANIFEST)) == 0)
        return hd_file_is_leftover(name + strlen(MANIFEST));
    if (sscanf(name, "part_%16llx.heddle%n", &number, &end) != 1 || end == 0) return false;
    (void)snprintf(exact, sizeof exact, "part_%016llx.heddle", number);
    if ((size_t)end != strlen(exact) || memcmp(name, exact, (size_t)end) != 0) return false;
    if (name[end] != 0) return hd_file_is_leftover(name + end);
    wanted = number;
    return bsearch(&wanted, numbers, n, sizeof *numbers, compare_numbers) == NULL;
}

static void sweep(const heddle_shelf *shelf, DIR *entries, const uint64_t *numbers)
{
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        if (is_left_over(entry->d_name, numbers, shelf->parts.count))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
}

void hd_manifest_sweep(const heddle_shelf *shelf)
{
    const uint32_t n = shelf->parts.count;
    DIR *entries = opendir(shelf->directory);
    uint64_t *numbers = (uint64_t *)hd_allocate(n * sizeof *numbers);
    /* Without memory the files stay until the next time. */
    if (entries != NULL && numbers != NULL) {
        for (uint32_t i = 0; i < n; i++) numbers[i] = shelf->parts.at[i].file;
        qsort(numbers, n, sizeof *numbers, compare_numbers);
        sweep(shelf, entries, numbers);
    }
    if (entries != NULL) (void)closedir(entries);
    free(numbers);
}
