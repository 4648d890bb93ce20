/*
 * save.c: tables in files. A file holds pairs, not slots, so that any engine and any geometry can
 * read it. All numbers are little-endian.
 *
 *   header   128 bytes, the last 8 a checksum of the rest
 *   blocks   { number of pairs, checksum of what follows }, keys, values; until all pairs are there
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/file.h"
#include "host/stage.h"
#include "table/table.h"

#define FILE_VERSION 1
#define BLOCK_MAX (UINT64_C(1) << 20) /* pairs in a block */

static const char magic[8] = {'H', 'E', 'D', 'D', 'L', 'E', 'T', 'B'};

typedef struct file_header {
    char magic[8];
    uint32_t version;
    uint32_t container;
    uint32_t scheme;
    uint32_t key_bits;
    uint32_t value_bits;
    uint32_t bucket;
    uint32_t hashes;
    uint32_t flags;
    uint64_t count;
    double load;
    double vertices;     /* 0 in a table of slots, and in files of older libraries */
    double threshold;    /* 0 but in an iceberg table */
    uint64_t list_first; /* 0 but in bucket lists, like list_growth */
    double list_growth;
    uint64_t reserved[4];
    uint64_t checksum;
} file_header;
_Static_assert(sizeof(file_header) == 128, "the header's size is part of the format");

/* --------------------------------------------------------------------------------------- save */

typedef struct writer {
    heddle_table *table;
    const hd_file *file;
    uint64_t key_width, value_width;
    uint64_t written;
    void *stream;
} writer;

/* hd_pairs_take: writes one block. */
static heddle_status write_block(void *context, const void *keys, const void *values, uint64_t n)
{
    writer *w = (writer *)context;
    hd_file_block head;
    head.count = n;
    head.checksum =
        hd_file_checksum(hd_file_checksum(n, keys, n * w->key_width), values, n * w->value_width);
    w->written += n;
    HD_TRY(hd_file_write(w->file, &head, sizeof head));
    HD_TRY(hd_file_write(w->file, keys, n * w->key_width));
    return hd_file_write(w->file, values, n * w->value_width);
}

/* As hd_file_replace wants it. */
static heddle_status write_table(void *context, const hd_file *file)
{
    writer *w = (writer *)context;
    heddle_table *table = w->table;
    const heddle_table_options *o = &table->options;
    file_header head;
    w->file = file;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.version = FILE_VERSION;
    head.container = o->container;
    head.scheme = o->scheme;
    head.key_bits = o->key_bits;
    head.value_bits = o->value_bits;
    head.bucket = o->bucket;
    head.hashes = o->hashes;
    head.flags = o->flags;
    head.load = o->load;
    head.vertices = o->vertices;
    head.list_first = o->list_first;
    head.list_growth = o->list_growth;
    head.threshold = o->threshold;
    HD_TRY(hd_table_count(table, &head.count, w->stream));
    head.checksum = hd_file_checksum(0, &head, offsetof(file_header, checksum));
    HD_TRY(hd_file_write(w->file, &head, sizeof head));
    HD_TRY(table->kind->for_pairs(table, write_block, w, w->stream));
    if (w->written != head.count)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "the table counts %llu keys, but %llu stand in it",
                       (unsigned long long)head.count, (unsigned long long)w->written);
    return HEDDLE_OK;
}

heddle_status heddle_table_save(heddle_table *table, const char *path, void *stream)
{
    HD_TRY(hd_check_table(table, stream, "save"));
    writer w = {table, NULL, hd_key_width(table), hd_value_width(table), 0, stream};
    return hd_file_replace(path, "table", write_table, &w);
}

/* --------------------------------------------------------------------------------------- load */

typedef struct reader {
    hd_file file;
    bool whole; /* all blocks are inserted at once, whatever the kind of table likes */
    file_header head;
} reader;

static heddle_status damaged(const reader *r, const char *how)
{
    return hd_file_damaged(&r->file, how);
}

static heddle_status read_bytes(const reader *r, void *data, uint64_t bytes)
{
    return hd_file_read(&r->file, data, bytes);
}

/* No room is made for more pairs than the file can hold. */
static heddle_status check_length(const reader *r)
{
    const uint64_t pair = (r->head.key_bits + (uint64_t)r->head.value_bits) / 8;
    uint64_t bytes = 0;
    HD_TRY(hd_file_length(&r->file, &bytes));
    if (pair == 0 || r->head.count > bytes / pair)
        return damaged(r, "it is too short for its pairs");
    return HEDDLE_OK;
}

static heddle_status read_header(reader *r)
{
    HD_TRY(read_bytes(r, &r->head, sizeof r->head));
    if (memcmp(r->head.magic, magic, sizeof magic) != 0)
        return damaged(r, "it does not begin like one");
    if (r->head.version != FILE_VERSION) return damaged(r, "it has another version");
    if (hd_file_checksum(0, &r->head, offsetof(file_header, checksum)) != r->head.checksum)
        return damaged(r, "the checksum of its head is wrong");
    return check_length(r);
}

/* The options for the new table: the file's, or the caller's where they agree with the file. */
static heddle_status load_options(const reader *r, const heddle_table_options *given,
                                  heddle_table_options *o, uint32_t *fixed)
{
    HD_TRY(hd_options_read(given, o));
    if (given == NULL) {
        o->container = r->head.container;
        o->scheme = r->head.scheme;
        o->key_bits = r->head.key_bits;
        o->value_bits = r->head.value_bits;
        o->bucket = r->head.bucket;
        o->hashes = r->head.hashes;
        o->flags = r->head.flags;
        o->load = r->head.load;
        o->vertices = r->head.vertices;
        o->list_first = r->head.list_first;
        o->list_growth = r->head.list_growth;
        o->threshold = r->head.threshold;
    } else if (o->container != r->head.container || o->key_bits != r->head.key_bits ||
               (o->value_bits != r->head.value_bits &&
                (o->value_bits != 0 || r->head.value_bits != 32))) {
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "%s holds another container or other widths than the options say",
                       r->file.path);
    }
    if (o->capacity < r->head.count) o->capacity = r->head.count;
    /* Keys that fitted one seed may not fit another: the table may grow until all are in. */
    *fixed = o->flags & HEDDLE_FLAG_FIXED;
    o->flags &= ~HEDDLE_FLAG_FIXED;
    return HEDDLE_OK;
}

/* Reads one block to `keys` and `values`, which have room for min(left, BLOCK_MAX) pairs. */
static heddle_status read_block(const reader *r, char *keys, char *values, uint64_t left,
                                uint64_t *count)
{
    const uint64_t kw = r->head.key_bits / 8, vw = r->head.value_bits / 8;
    hd_file_block head;
    HD_TRY(read_bytes(r, &head, sizeof head));
    if (head.count == 0 || head.count > BLOCK_MAX || head.count > left)
        return damaged(r, "a block has a wrong size");
    HD_TRY(read_bytes(r, keys, head.count * kw));
    HD_TRY(read_bytes(r, values, head.count * vw));
    if (hd_file_checksum(hd_file_checksum(head.count, keys, head.count * kw), values,
                         head.count * vw) != head.checksum)
        return damaged(r, "the checksum of a block is wrong");
    *count = head.count;
    return HEDDLE_OK;
}

static heddle_status insert_pairs(const reader *r, heddle_table *table, const char *keys,
                                  const char *values, uint64_t n)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(heddle_table_insert(table, keys, hd_value_width(table) != 0 ? values : NULL, n, NULL,
                               &totals, NULL));
    if (totals.inserted != n) return damaged(r, "it holds a key twice");
    return HEDDLE_OK;
}

/* Inserts block by block, or all blocks at once where that is what the kind of table likes. */
static heddle_status read_pairs(const reader *r, heddle_table *table)
{
    const uint64_t kw = hd_key_width(table), vw = hd_value_width(table);
    const bool whole = r->whole || table->kind->loads_whole;
    const uint64_t block = r->head.count < BLOCK_MAX ? r->head.count : BLOCK_MAX;
    const uint64_t room = whole ? r->head.count : block;
    char *keys = (char *)hd_allocate(room * kw + 1);
    char *values = (char *)hd_allocate(room * vw + 1);
    uint64_t done = 0;
    heddle_status status = HEDDLE_OK;
    if (keys == NULL || values == NULL)
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to load a table");
    while (done < r->head.count && status == HEDDLE_OK) {
        const uint64_t at = whole ? done : 0;
        uint64_t count = 0;
        status = read_block(r, keys + at * kw, values + at * vw, r->head.count - done, &count);
        if (status == HEDDLE_OK && !whole) status = insert_pairs(r, table, keys, values, count);
        done += count;
    }
    if (status == HEDDLE_OK && fgetc(r->file.file) != EOF)
        status = damaged(r, "it goes on behind its end");
    if (status == HEDDLE_OK && whole && done != 0)
        status = insert_pairs(r, table, keys, values, done);
    free(keys);
    free(values);
    return status;
}

static heddle_status load_file(heddle_device *device, reader *r,
                               const heddle_table_options *options, heddle_table **table)
{
    heddle_table_options o;
    uint32_t fixed = 0;
    heddle_status status = read_header(r);
    if (status == HEDDLE_OK) status = load_options(r, options, &o, &fixed);
    if (status == HEDDLE_OK) status = heddle_table_create(device, &o, table);
    if (status == HEDDLE_OK) status = read_pairs(r, *table);
    if (status == HEDDLE_OK) {
        (*table)->options.flags |= fixed;
    } else {
        heddle_table_destroy(*table);
        *table = NULL;
    }
    return status;
}

heddle_status hd_table_load(heddle_device *device, const char *path,
                            const heddle_table_options *options, bool whole, heddle_table **table)
{
    reader r;
    heddle_status status;
    r.whole = whole;
    if (table == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load: there is no place for the table");
    *table = NULL;
    if (device == NULL || path == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load needs a device and a path");
    status = hd_file_open(path, "table", &r.file);
    if (status != HEDDLE_OK) return status;
    status = load_file(device, &r, options, table);
    fclose(r.file.file);
    return status;
}

heddle_status heddle_table_load(heddle_device *device, const char *path,
                                const heddle_table_options *options, heddle_table **table)
{
    return hd_table_load(device, path, options, false, table);
}
