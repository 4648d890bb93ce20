/*
 * owner_steps.c: see owner_steps.h. Built once for every width of keys and every vector tile, by a generated stub
 * that defines HD_KEY_BITS, HD_TILE_* and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * A tile is worked through row by row, with the next place of every owner at hand: the rank of a row is how many
 * came before it. Where there are few owners and vectors that can be packed, all rows of a vector that one owner
 * has go at once, and whose the rows are is found out once (owner_few.inl).
 */
#include "cpu/route/owner_steps.h"

#include <string.h>

#include "model/hash.h"
#include "tile/pack.h"

/* Rows whose owners are found at once, by vectors where the machine has them. */
#define BLOCK 64

/* What is known of all answers of a call: constants, so that no row asks. */
typedef struct answer_form {
    uint32_t width; /* bytes of a value; 0: none are wanted */
    bool asks;      /* whether a row was found makes a difference */
    bool tells;     /* and is told */
} answer_form;

#if HD_CAN_PACK
#include "cpu/route/owner_few.inl"
#else
/* Vectors cannot be packed. */
static inline bool are_few(const hd_owner_scratch *d)
{
    (void)d;
    return false;
}
#define few_count(d, numbers, first, count) ((void)0)
#define few_send(d, sent, first, end, width) ((void)0)
#define few_fetch(d, a, first, end, form) ((void)0)
#endif

static inline uint64_t tile_end(const hd_owner_scratch *d, uint64_t tile)
{
    const uint64_t n = d->batch->n;
    return n - tile * HD_OWNER_TILE < HD_OWNER_TILE ? n : (tile + 1) * HD_OWNER_TILE;
}

static inline uint32_t block_length(uint64_t first, uint64_t end)
{
    return end - first < BLOCK ? (uint32_t)(end - first) : BLOCK;
}

/* The bins of the rows from `first` on. */
static inline void block_bins(const hd_owner_scratch *d, uint64_t first, uint32_t count,
                              uint32_t *bins)
{
    const hd_key *keys = (const hd_key *)d->batch->keys + first;
    const hd_mix mix = d->batch->mix;
    const uint32_t shift = HD_KEY_BITS - d->batch->bits;
    for (uint32_t i = 0; i < count; i++) bins[i] = (uint32_t)(mix_key(&mix, keys[i]) >> shift);
}

/* Who owns these bins. */
static inline void block_owners(const hd_owner_scratch *d, uint32_t count, uint32_t *bins)
{
    const uint16_t *owners = d->batch->owners;
    if (d->batch->bits <= HD_OWNER_BITS_FEW)
        for (uint32_t i = 0; i < count; i++) bins[i] = d->owners[bins[i]];
    else
        for (uint32_t i = 0; i < count; i++) bins[i] = owners[bins[i]];
}

/* --------------------------------------------------------------------------------------- count */

static void count_tile(hd_owner_scratch *d, uint64_t tile)
{
    const uint64_t end = tile_end(d, tile);
    const uint32_t members = d->batch->members;
    uint32_t rows[BLOCK] = {0};
    memset(d->counts, 0, members * sizeof *d->counts);
    for (uint64_t i = tile * HD_OWNER_TILE; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_bins(d, i, count, rows);
        if (!are_few(d) || !d->in_order) block_owners(d, count, rows);
        if (are_few(d)) few_count(d, rows, i, count);
        else
            for (uint32_t j = 0; j < count; j++) d->counts[rows[j]]++;
    }
    for (uint32_t i = 0; i < members; i++) d->places[i * d->tiles + tile] = d->counts[i];
}

/* ---------------------------------------------------------------------------------------- send */

HD_FN void send_block(hd_owner_scratch *d, const hd_owners_sent *sent, const uint32_t *owners,
                      uint64_t first, uint32_t count, uint32_t width)
{
    const hd_key *keys = (const hd_key *)d->batch->keys + first;
    const char *values = (const char *)sent->values + first * width;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t owner = owners[i];
        memcpy(d->keys[owner], &keys[i], sizeof *keys);
        d->keys[owner] += sizeof *keys;
        if (width == 0) continue;
        memcpy(d->values[owner], values + i * width, width);
        d->values[owner] += width;
    }
}

/* `width` is a constant: a copy of a value is then one move. */
HD_FN void send_rows(hd_owner_scratch *d, const hd_owners_sent *sent, uint64_t first, uint64_t end,
                     uint32_t width)
{
    uint32_t owners[BLOCK];
    if (are_few(d)) {
        few_send(d, sent, first, end, width);
        return;
    }
    for (uint64_t i = first; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_bins(d, i, count, owners);
        block_owners(d, count, owners);
        send_block(d, sent, owners, i, count, width);
    }
}

static void send_tile(hd_owner_scratch *d, const hd_owners_sent *sent, uint64_t tile)
{
    const uint64_t first = tile * HD_OWNER_TILE, end = tile_end(d, tile);
    if (sent->values == NULL) send_rows(d, sent, first, end, 0);
    else if (sent->width == 4) send_rows(d, sent, first, end, 4);
    else send_rows(d, sent, first, end, 8);
}

/* --------------------------------------------------------------------------------------- fetch */

HD_FN void fetch_block(hd_owner_scratch *d, const hd_owners_answers *a, const uint32_t *owners,
                       uint64_t first, uint32_t count, answer_form form)
{
    char *out = (char *)a->values_out;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t owner = owners[i];
        const uint64_t row = first + i;
        const uint8_t found = form.asks ? *d->found[owner]++ : 1;
        if (form.tells) a->found_out[row] = found;
        if (form.width == 0) continue;
        if (found != 0) memcpy(out + row * form.width, d->values[owner], form.width);
        d->values[owner] += form.width;
    }
}

HD_FN void fetch_rows(hd_owner_scratch *d, const hd_owners_answers *a, uint64_t first, uint64_t end,
                      answer_form form)
{
    uint32_t owners[BLOCK];
    if (are_few(d)) {
        few_fetch(d, a, first, end, form);
        return;
    }
    for (uint64_t i = first; i < end; i += BLOCK) {
        const uint32_t count = block_length(i, end);
        block_bins(d, i, count, owners);
        block_owners(d, count, owners);
        fetch_block(d, a, owners, i, count, form);
    }
}

HD_FN void fetch_width(hd_owner_scratch *d, const hd_owners_answers *a, uint64_t first,
                       uint64_t end, uint32_t width)
{
    const bool asks = a->found != NULL || a->found_of != NULL, tells = a->found_out != NULL;
    if (asks && tells) fetch_rows(d, a, first, end, (answer_form){width, true, true});
    else if (asks) fetch_rows(d, a, first, end, (answer_form){width, true, false});
    else if (tells) fetch_rows(d, a, first, end, (answer_form){width, false, true});
    else fetch_rows(d, a, first, end, (answer_form){width, false, false});
}

static void fetch_tile(hd_owner_scratch *d, const hd_owners_answers *a, uint64_t tile)
{
    const uint64_t first = tile * HD_OWNER_TILE, end = tile_end(d, tile);
    if (a->values_out == NULL) fetch_width(d, a, first, end, 0);
    else if (a->width == 4) fetch_width(d, a, first, end, 4);
    else fetch_width(d, a, first, end, 8);
}

extern const hd_owner_steps HD_SYMBOL;
const hd_owner_steps HD_SYMBOL = {count_tile, send_tile, fetch_tile};
