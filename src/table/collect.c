/* collect.c: see collect.h. */
#include "table/collect.h"

#include "base/error.h"
#include "host/lent.h"

#define PIECE_PAIRS (UINT64_C(1) << 20)

/* Buffers for a piece, in the table's device memory and on the host; where that is the same, they are one. */
typedef struct pair_buffers {
    heddle_table *table;
    hd_pairs_room room;
    void *host_keys, *host_values; /* pinned */
    uint64_t *count;               /* pinned */
} pair_buffers;

static void pair_buffers_free(pair_buffers *b)
{
    const hd_engine *engine = b->table->engine;
    void *const device[] = {b->room.keys, b->room.values, b->room.cursor};
    void *const pinned[] = {b->host_keys, b->host_values, b->count};
    for (int i = 0; i < 3; i++) {
        if (pinned[i] != NULL && pinned[i] != device[i])
            engine->free_pinned(b->table->device, pinned[i]);
        if (device[i] != NULL) engine->free(b->table->device, device[i]);
    }
}

static heddle_status pair_buffers_make(pair_buffers *b, uint64_t pairs)
{
    const hd_engine *engine = b->table->engine;
    heddle_device *device = b->table->device;
    const uint64_t key_bytes = (pairs + 1) * hd_key_width(b->table);
    const uint64_t value_bytes = (pairs + 1) * hd_value_width(b->table);
    HD_TRY(engine->allocate(device, key_bytes, &b->room.keys));
    if (value_bytes != 0) HD_TRY(engine->allocate(device, value_bytes, &b->room.values));
    HD_TRY(engine->allocate(device, sizeof(uint64_t), (void **)&b->room.cursor));
    if (engine->host_memory) {
        b->host_keys = b->room.keys;
        b->host_values = b->room.values;
    } else {
        HD_TRY(engine->allocate_pinned(device, key_bytes, &b->host_keys));
        if (value_bytes != 0) HD_TRY(engine->allocate_pinned(device, value_bytes, &b->host_values));
    }
    return engine->allocate_pinned(device, sizeof(uint64_t), (void **)&b->count);
}

/* Brings some pairs into the host buffers. */
static heddle_status fetch_pairs(const pair_buffers *b, const hd_pieces *pieces, uint64_t first,
                                 uint64_t n)
{
    heddle_table *table = pieces->table;
    const hd_engine *engine = table->engine;
    heddle_device *device = table->device;
    const uint32_t kw = hd_key_width(table), vw = hd_value_width(table);
    void *stream = pieces->stream;
    HD_TRY(engine->fill(device, b->room.cursor, 0, sizeof(uint64_t), stream));
    HD_TRY(pieces->fetch(pieces, first, n, &b->room));
    HD_TRY(engine->copy(device, b->count, b->room.cursor, sizeof(uint64_t), stream));
    HD_TRY(engine->synchronize(device, stream));
    if (engine->host_memory) return HEDDLE_OK;
    HD_TRY(engine->copy(device, b->host_keys, b->room.keys, *b->count * kw, stream));
    if (vw != 0)
        HD_TRY(engine->copy(device, b->host_values, b->room.values, *b->count * vw, stream));
    return engine->synchronize(device, stream);
}

heddle_status hd_for_pieces(const hd_pieces *pieces, hd_pairs_take take, void *context)
{
    const uint64_t items = pieces->items, most = PIECE_PAIRS / pieces->each;
    const uint64_t piece = items < most ? items : most;
    const bool has_values = hd_value_width(pieces->table) != 0;
    pair_buffers b __attribute__((cleanup(pair_buffers_free))) = {.table = pieces->table};
    HD_TRY(pair_buffers_make(&b, piece * pieces->each));
    for (uint64_t first = 0; first < items; first += piece) {
        HD_TRY(fetch_pairs(&b, pieces, first, items - first < piece ? items - first : piece));
        if (*b.count != 0)
            HD_TRY(take(context, b.host_keys, has_values ? b.host_values : NULL, *b.count));
    }
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------- collect */

/* Arrays that pieces are appended to. */
typedef struct collection {
    heddle_table *table;
    char *keys, *values;
    uint64_t written;
    void *stream;
} collection;

/* hd_pairs_take: appends pairs that lie in host memory. */
static heddle_status append(void *context, const void *keys, const void *values, uint64_t n)
{
    collection *to = (collection *)context;
    const hd_engine *engine = to->table->engine;
    heddle_device *device = to->table->device;
    const uint32_t kw = hd_key_width(to->table), vw = hd_value_width(to->table);
    HD_TRY(engine->copy(device, to->keys + to->written * kw, keys, n * kw, to->stream));
    if (to->values != NULL)
        HD_TRY(engine->copy(device, to->values + to->written * vw, values, n * vw, to->stream));
    to->written += n;
    return engine->synchronize(device, to->stream);
}

heddle_status hd_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    collection to = {table, (char *)keys, (char *)values, 0, stream};
    if (hd_is_direct(table->device, keys) && hd_is_direct(table->device, values))
        return table->kind->collect(table, keys, values, stream);
    return table->kind->for_pairs(table, append, &to, stream);
}
