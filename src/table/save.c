/*
 * save.c: tables in files (host/file.h). A file holds pairs, not slots, so that any engine and any
 * geometry can read it: the arrays of a block are keys and values. docs/file_format.md has the
 * format.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/file.h"
#include "table/table.h"

#define BLOCK_MAX (UINT64_C(1) << 20) /* pairs in a block */

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
    double threshold;    /* 0 except in an iceberg table */
    uint64_t list_first; /* 0 except in bucket lists, like list_growth */
    double list_growth;
    uint64_t reserved[4];
    uint64_t checksum;
} file_header;
_Static_assert(sizeof(file_header) == 128, "the header's size is part of the format");

static const hd_file_format format = {{'H', 'E', 'D', 'D', 'L', 'E', 'T', 'B'},
                                      1,
                                      sizeof(file_header),
                                      offsetof(file_header, reserved),
                                      sizeof(((file_header *)0)->reserved)};

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
    const hd_file_array arrays[HD_FILE_ARRAYS] = {{(void *)(uintptr_t)keys, w->key_width},
                                                  {(void *)(uintptr_t)values, w->value_width}};
    w->written += n;
    return hd_file_write_block(w->file, n, arrays);
}

/* hd_file_work */
static heddle_status write_table(void *context, const hd_file *file)
{
    writer *w = (writer *)context;
    heddle_table *table = w->table;
    const heddle_table_options *o = &table->options;
    file_header head;
    w->file = file;
    memset(&head, 0, sizeof head);
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
    HD_TRY(hd_file_write_header(file, &format, &head));
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
    heddle_device *device;
    const heddle_table_options *options; /* the caller's; NULL: the file's */
    bool whole; /* all blocks are inserted at once, whatever the kind of table likes */
    const hd_file *file;
    file_header head;
    heddle_table *table;
} reader;

/* No room is made for more pairs than the file can hold. */
static heddle_status check_length(const reader *r)
{
    const uint64_t pair = (r->head.key_bits + (uint64_t)r->head.value_bits) / 8;
    uint64_t bytes = 0;
    HD_TRY(hd_file_length(r->file, &bytes));
    if (pair == 0 || r->head.count > bytes / pair)
        return hd_file_damaged(r->file, "it is too short for its pairs");
    return HEDDLE_OK;
}

/* The options for the new table: the file's, or the caller's where they agree with the file. */
static heddle_status load_options(const reader *r, heddle_table_options *o)
{
    const heddle_table_options *given = r->options;
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
                       r->file->path);
    }
    if (o->capacity < r->head.count) o->capacity = r->head.count;
    return HEDDLE_OK;
}

static heddle_status insert_pairs(const reader *r, const char *keys, const char *values, uint64_t n)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(heddle_table_insert(r->table, keys, hd_value_width(r->table) != 0 ? values : NULL, n,
                               NULL, &totals, NULL));
    if (totals.inserted != n) return hd_file_damaged(r->file, "it holds a key twice");
    return HEDDLE_OK;
}

/* Inserts block by block, or all blocks at once where that is what the kind of table likes. */
static heddle_status read_pairs(const reader *r)
{
    const uint64_t kw = hd_key_width(r->table), vw = hd_value_width(r->table), all = r->head.count;
    const bool whole = r->whole || r->table->kind->loads_whole;
    const uint64_t room = whole || all < BLOCK_MAX ? all : BLOCK_MAX;
    char *keys HD_FREED = (char *)hd_allocate(room * kw);
    char *values HD_FREED = (char *)hd_allocate(room * vw);
    if (keys == NULL || values == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to load a table");
    for (uint64_t done = 0, count = 0; done < all; done += count) {
        const uint64_t at = whole ? done : 0, left = all - done;
        const hd_file_array arrays[HD_FILE_ARRAYS] = {{keys + at * kw, kw}, {values + at * vw, vw}};
        HD_TRY(hd_file_read_block(r->file, left < BLOCK_MAX ? left : BLOCK_MAX, arrays, &count));
        if (!whole) HD_TRY(insert_pairs(r, keys, values, count));
    }
    HD_TRY(hd_file_read_end(r->file));
    return whole && all != 0 ? insert_pairs(r, keys, values, all) : HEDDLE_OK;
}

/*
 * A table while its pairs are read. Keys that fitted one seed may not fit another: it may grow until all are in. And its
 * lists of values take no more room than they need, whatever the file asks for.
 */
static heddle_status make_table(reader *r, heddle_table_options *o)
{
    const uint32_t fixed = o->flags & HEDDLE_FLAG_FIXED;
    o->flags &= ~HEDDLE_FLAG_FIXED;
    const heddle_status status = heddle_table_create(r->device, o, &r->table);
    if (status == HEDDLE_ERROR_INVALID && r->options == NULL)
        return hd_file_damaged(r->file, "it asks for a table that cannot be");
    HD_TRY(status);
    const uint64_t list_first = r->table->options.list_first;
    if (list_first != 0) r->table->options.list_first = 1;
    HD_TRY(read_pairs(r));
    r->table->options.list_first = list_first;
    r->table->options.flags |= fixed;
    return HEDDLE_OK;
}

/* hd_file_work: sets r->table, which is the caller's to destroy after a failure. */
static heddle_status read_table(void *context, const hd_file *file)
{
    reader *r = (reader *)context;
    heddle_table_options o;
    r->file = file;
    HD_TRY(hd_file_read_header(file, &format, &r->head));
    HD_TRY(check_length(r));
    HD_TRY(load_options(r, &o));
    return make_table(r, &o);
}

heddle_status hd_table_load(heddle_device *device, const char *path,
                            const heddle_table_options *options, bool whole, heddle_table **table)
{
    reader r;
    heddle_status status;
    if (table == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load: there is no place for the table");
    *table = NULL;
    if (device == NULL || path == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load needs a device and a path");
    memset(&r, 0, sizeof r);
    r.device = device;
    r.options = options;
    r.whole = whole;
    status = hd_file_load(path, "table", read_table, &r);
    if (status == HEDDLE_OK) *table = r.table;
    else heddle_table_destroy(r.table);
    return status;
}

heddle_status heddle_table_load(heddle_device *device, const char *path,
                                const heddle_table_options *options, heddle_table **table)
{
    return hd_table_load(device, path, options, false, table);
}
