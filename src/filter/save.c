/*
 * save.c: Bloom filters in files. A file holds the filter as it is, so that it finds on any device
 * what it found before, and can be merged with filters of its seed. docs/file_format.md has the format.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "filter/filter.h"
#include "host/file.h"

#define FILE_VERSION 1
#define PIECE_MAX (UINT64_C(1) << 18) /* blocks of the filter in a block of the file: 8 MB */

static const char magic[8] = {'H', 'E', 'D', 'D', 'L', 'E', 'B', 'F'};

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

/* A piece of the filter on its way between file and device. */
typedef struct passage {
    heddle_filter *filter;
    void *stream;
    char *piece; /* host memory for PIECE_MAX blocks */
} passage;

static heddle_status passage_begin(passage *p)
{
    const uint64_t blocks = p->filter->view.blocks < PIECE_MAX ? p->filter->view.blocks : PIECE_MAX;
    p->piece = (char *)hd_allocate(blocks * HD_FILTER_BLOCK_BYTES);
    return p->piece != NULL ? HEDDLE_OK
                            : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a piece of a filter");
}

/* The number of blocks of the piece that begins at `first`. */
static uint64_t piece_blocks(const heddle_filter *filter, uint64_t first)
{
    const uint64_t left = filter->view.blocks - first;
    return left < PIECE_MAX ? left : PIECE_MAX;
}

static heddle_status move_piece(const passage *p, uint64_t first, uint64_t bytes, bool to_device)
{
    const hd_engine *engine = p->filter->engine;
    uint32_t *words = p->filter->view.words + first * HD_FILTER_BLOCK_WORDS;
    void *to = to_device ? (void *)words : (void *)p->piece;
    const void *from = to_device ? (const void *)p->piece : (const void *)words;
    HD_TRY(engine->copy(p->filter->device, to, from, bytes, p->stream));
    return engine->synchronize(p->filter->device, p->stream);
}

/* --------------------------------------------------------------------------------------- save */

static heddle_status write_header(const heddle_filter *filter, const hd_file *file)
{
    const heddle_filter_options *o = &filter->options;
    file_header head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.version = FILE_VERSION;
    head.key_bits = o->key_bits;
    head.hashes = o->hashes;
    head.flags = o->flags;
    head.capacity = o->capacity;
    head.bits_per_key = o->bits_per_key;
    head.seed = o->seed;
    head.added = hd_filter_added(filter);
    head.blocks = filter->view.blocks;
    head.checksum = hd_file_checksum(0, &head, offsetof(file_header, checksum));
    return hd_file_write(file, &head, sizeof head);
}

/* As hd_file_replace wants it. */
static heddle_status write_filter(void *context, const hd_file *file)
{
    passage *p = (passage *)context;
    heddle_status status = write_header(p->filter, file);
    for (uint64_t first = 0; first < p->filter->view.blocks && status == HEDDLE_OK;) {
        hd_file_block head = {piece_blocks(p->filter, first), 0};
        const uint64_t bytes = head.count * HD_FILTER_BLOCK_BYTES;
        status = move_piece(p, first, bytes, false);
        if (status != HEDDLE_OK) return status;
        head.checksum = hd_file_checksum(head.count, p->piece, bytes);
        status = hd_file_write(file, &head, sizeof head);
        if (status == HEDDLE_OK) status = hd_file_write(file, p->piece, bytes);
        first += head.count;
    }
    return status;
}

heddle_status heddle_filter_save(heddle_filter *filter, const char *path, void *stream)
{
    passage p = {filter, stream, NULL};
    heddle_status status = hd_filter_check(filter, stream, "save");
    if (status == HEDDLE_OK) status = passage_begin(&p);
    if (status == HEDDLE_OK) status = hd_file_replace(path, "filter", write_filter, &p);
    free(p.piece);
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
    HD_TRY(hd_file_read(file, head, sizeof *head));
    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return hd_file_damaged(file, "it does not begin like one");
    if (head->version != FILE_VERSION) return hd_file_damaged(file, "it has another version");
    if (hd_file_checksum(0, head, offsetof(file_header, checksum)) != head->checksum)
        return hd_file_damaged(file, "the checksum of its head is wrong");
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

static heddle_status read_pieces(const hd_file *file, const passage *p)
{
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0; first < p->filter->view.blocks && status == HEDDLE_OK;) {
        const uint64_t count = piece_blocks(p->filter, first);
        const uint64_t bytes = count * HD_FILTER_BLOCK_BYTES;
        hd_file_block head;
        status = hd_file_read(file, &head, sizeof head);
        if (status != HEDDLE_OK) return status;
        if (head.count != count) return hd_file_damaged(file, "a block has a wrong size");
        status = hd_file_read(file, p->piece, bytes);
        if (status != HEDDLE_OK) return status;
        if (hd_file_checksum(count, p->piece, bytes) != head.checksum)
            return hd_file_damaged(file, "the checksum of a block is wrong");
        status = move_piece(p, first, bytes, true);
        first += count;
    }
    if (status == HEDDLE_OK && fgetc(file->file) != EOF)
        status = hd_file_damaged(file, "it goes on behind its end");
    return status;
}

static heddle_status load_file(heddle_device *device, const hd_file *file, heddle_filter **filter)
{
    passage p = {NULL, NULL, NULL};
    heddle_filter_options options;
    file_header head;
    heddle_status status = read_header(file, &head, &options);
    if (status == HEDDLE_OK) status = hd_filter_make(device, &options, head.blocks, &p.filter);
    if (status == HEDDLE_OK) status = passage_begin(&p);
    if (status == HEDDLE_OK) status = read_pieces(file, &p);
    free(p.piece);
    if (status == HEDDLE_OK) {
        p.filter->added = head.added;
        *filter = p.filter;
    } else {
        heddle_filter_destroy(p.filter);
    }
    return status;
}

heddle_status heddle_filter_load(heddle_device *device, const char *path, heddle_filter **filter)
{
    hd_file file;
    heddle_status status;
    if (filter == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load: there is no place for the filter");
    *filter = NULL;
    if (device == NULL || path == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "load needs a device and a path");
    status = hd_file_open(path, "filter", &file);
    if (status != HEDDLE_OK) return status;
    status = load_file(device, &file, filter);
    fclose(file.file);
    return status;
}
