/*
 * save.c: Bloom filters in files (host/file.h). A file holds the filter as it is, so that it finds on any
 * device what it found before, and can be merged with filters of its seed. docs/file_format.md has the
 * format.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "filter/filter.h"
#include "host/file.h"

#define PIECE_MAX (UINT64_C(1) << 18) /* blocks of the filter in a block of the file: 8 MB */

typedef struct file_header {
    char magic[8];
    uint32_t version;
    uint32_t key_bits;
    uint32_t hashes;
    uint32_t flags;
    uint64_t capacity;
    double bits_per_key;
    uint64_t seed;
    uint64_t added;
    uint64_t blocks;
    uint64_t reserved[7];
    uint64_t checksum;
} file_header;
_Static_assert(sizeof(file_header) == 128, "the header's size is part of the format");

static const hd_file_format format = {{'H', 'E', 'D', 'D', 'L', 'E', 'B', 'F'},
                                      1,
                                      sizeof(file_header),
                                      offsetof(file_header, reserved),
                                      sizeof(((file_header *)0)->reserved)};

/* A filter on its way between file and device, piece by piece. */
typedef struct transfer {
    heddle_device *device;
    heddle_filter *filter;
    void *stream;
    uint64_t done;          /* blocks */
    hd_file_array piece[2]; /* host memory for PIECE_MAX blocks; the second is none */
} transfer;

static heddle_status transfer_begin(transfer *t)
{
    const uint64_t blocks = t->filter->view.blocks < PIECE_MAX ? t->filter->view.blocks : PIECE_MAX;
    t->piece[0].width = HD_FILTER_BLOCK_BYTES;
    t->piece[0].data = hd_allocate(blocks * HD_FILTER_BLOCK_BYTES);
    return t->piece[0].data != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a piece of a filter");
}

/* The number of blocks of the next piece; 0: all is done. */
static uint64_t piece_blocks(const transfer *t)
{
    const uint64_t left = t->filter->view.blocks - t->done;
    return left < PIECE_MAX ? left : PIECE_MAX;
}

static heddle_status move_piece(const transfer *t, uint64_t blocks, bool to_device)
{
    const hd_engine *engine = t->filter->engine;
    void *words = t->filter->view.words + t->done * HD_FILTER_BLOCK_WORDS;
    void *to = to_device ? words : t->piece[0].data;
    const void *from = to_device ? t->piece[0].data : words;
    HD_TRY(engine->copy(t->filter->device, to, from, blocks * HD_FILTER_BLOCK_BYTES, t->stream));
    return engine->synchronize(t->filter->device, t->stream);
}

/* --------------------------------------------------------------------------------------- save */

static heddle_status write_header(const heddle_filter *filter, const hd_file *file)
{
    const heddle_filter_options *o = &filter->options;
    file_header head;
    memset(&head, 0, sizeof head);
    head.key_bits = o->key_bits;
    head.hashes = o->hashes;
    head.flags = o->flags;
    head.capacity = o->capacity;
    head.bits_per_key = o->bits_per_key;
    head.seed = o->seed;
    head.added = hd_filter_added(filter);
    head.blocks = filter->view.blocks;
    return hd_file_write_header(file, &format, &head);
}

/* hd_file_work */
static heddle_status write_filter(void *context, const hd_file *file)
{
    transfer *t = (transfer *)context;
    HD_TRY(write_header(t->filter, file));
    for (uint64_t blocks; (blocks = piece_blocks(t)) != 0; t->done += blocks) {
        HD_TRY(move_piece(t, blocks, false));
        HD_TRY(hd_file_write_block(file, blocks, t->piece));
    }
    return HEDDLE_OK;
}

heddle_status heddle_filter_save(heddle_filter *filter, const char *path, void *stream)
{
    transfer t = {NULL, filter, stream, 0, {{NULL, 0}, {NULL, 0}}};
    heddle_status status;
    HD_TRY(hd_filter_check(filter, stream, "save"));
    status = transfer_begin(&t);
    if (status == HEDDLE_OK) status = hd_file_replace(path, "filter", write_filter, &t);
    free(t.piece[0].data);
    return status;
}

/* --------------------------------------------------------------------------------------- load */

/* No memory is taken for more blocks than the file can hold. */
static heddle_status check_blocks(const hd_file *file, const file_header *head)
{
    uint64_t bytes = 0;
    HD_TRY(hd_file_length(file, &bytes));
    if (head->blocks == 0 || head->blocks > HD_FILTER_BLOCKS_MAX ||
        head->blocks % (UINT64_C(1) << hd_filter_region_bits(head->blocks)) != 0)
        return hd_file_damaged(file, "no filter has so many blocks");
    if (head->blocks > bytes / HD_FILTER_BLOCK_BYTES)
        return hd_file_damaged(file, "it is too short for its blocks");
    return HEDDLE_OK;
}

static heddle_status read_header(const hd_file *file, file_header *head, heddle_filter_options *o)
{
    static const heddle_filter_options defaults = HEDDLE_FILTER_OPTIONS_INIT;
    HD_TRY(hd_file_read_header(file, &format, head));
    *o = defaults;
    o->key_bits = head->key_bits;
    o->hashes = head->hashes;
    o->flags = head->flags;
    o->capacity = head->capacity;
    o->bits_per_key = head->bits_per_key;
    o->seed = head->seed;
    if (o->hashes == 0 || o->seed == 0 || hd_filter_check_options(o) != HEDDLE_OK)
        return hd_file_damaged(file, "its options are none");
    return check_blocks(file, head);
}

static heddle_status read_pieces(const hd_file *file, transfer *t)
{
    for (uint64_t blocks; (blocks = piece_blocks(t)) != 0; t->done += blocks) {
        uint64_t count = 0;
        HD_TRY(hd_file_read_block(file, blocks, t->piece, &count));
        if (count != blocks) return hd_file_damaged(file, "a block has a wrong size");
        HD_TRY(move_piece(t, blocks, true));
    }
    return hd_file_read_end(file);
}

/* hd_file_work: sets t->filter. */
static heddle_status read_filter(void *context, const hd_file *file)
{
    transfer *t = (transfer *)context;
    heddle_filter_options options;
    file_header head;
    HD_TRY(read_header(file, &head, &options));
    HD_TRY(hd_filter_make(t->device, &options, head.blocks, &t->filter));
    t->filter->added = head.added;
    HD_TRY(transfer_begin(t));
    return read_pieces(file, t);
}

heddle_status heddle_filter_load(heddle_device *device, const char *path, heddle_filter **filter)
{
    transfer t = {device, NULL, NULL, 0, {{NULL, 0}, {NULL, 0}}};
    heddle_status status;
    if (filter == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load: there is no place for the filter");
    *filter = NULL;
    if (device == NULL || path == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load needs a device and a path");
    status = hd_file_load(path, "filter", read_filter, &t);
    free(t.piece[0].data);
    if (status == HEDDLE_OK) *filter = t.filter;
    else heddle_filter_destroy(t.filter);
    return status;
}
