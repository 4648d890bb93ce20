/*
 * groups.h: group-by. The groups of a relation are made once (encode/encode.h) and then asked, as often as
 * anybody likes. The files:
 *
 *     groups.c         arguments, creation and end
 *     order.c          a second numbering of the groups, by their first rows
 *     query.c          keys, sizes, rows, the largest groups: one or two column steps each
 *     aggregate.c      sums and the like of a column, by group
 *     retrieve_all.c   all pairs of a table, key by key
 *
 * Rows stay in the order in which the engine grouped them. Groups in order of their first rows are a
 * second numbering of the same groups: `names` and `order` translate. heddle_groups_create calls
 * hd_group_rows, which calls the engine's `few` or `group`, and hd_groups_order.
 */
#ifndef HD_GROUPS_H
#define HD_GROUPS_H

#include "base/error.h"
#include "host/lent.h"
#include "relation/encode/encode.h"

struct heddle_groups {
    heddle_device *device;
    const hd_engine *engine;
    uint32_t columns;
    heddle_column keys[HEDDLE_KEY_COLUMNS_MAX]; /* the caller's */
    uint32_t asked; /* HEDDLE_GROUPS_* that may be asked for; 0: anything */
    uint64_t rows;
    hd_reduce values[HEDDLE_AGGREGATES_MAX]; /* the caller's columns; outs are not used */
    uint32_t value_count;
    hd_row_groups made;
    /* Both NULL where the engine's order is kept; else row_bits a group, device memory. */
    void *names; /* the caller's number of the engine's group */
    void *order; /* the engine's number of the caller's group */
};

/* Reads the aggregates of the options. */
heddle_status hd_groups_read_values(heddle_groups *groups, const heddle_groups_options *options);

/* Makes names and order. */
heddle_status hd_groups_order(heddle_groups *groups, void *stream);

/* The groups exist and the stream may be used; `what` names the call. */
heddle_status hd_check_groups(const heddle_groups *groups, const void *stream, const char *what);
/* And this HEDDLE_GROUPS_* may be asked for. */
heddle_status hd_check_asked(const heddle_groups *groups, uint32_t asked, const void *stream,
                             const char *what);
/* Of the groups only the keys are known, and what was asked for (encode.h). */
static inline bool hd_groups_distinct(const heddle_groups *groups)
{
    return groups->made.distinct.kept != NULL;
}

static inline uint32_t hd_type_width(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 4 : 8; }

static inline uint32_t hd_row_width(const heddle_groups *groups)
{
    return groups->made.row_bits / 8;
}

/*
 * Elements of `width` bytes, one a group, that a step writes in the engine's order to `memory`:
 * hd_arrange_end brings them to `out`, device memory, in the caller's order.
 */
typedef struct hd_arrange {
    void *out, *memory;
    uint32_t width;
} hd_arrange;
/* `out` may be NULL: then so is `memory`. */
heddle_status hd_arrange_begin(const heddle_groups *groups, hd_scratch *scratch, void *out,
                               uint32_t width, hd_arrange *arrange);
heddle_status hd_arrange_end(const heddle_groups *groups, const hd_arrange *arrange, void *stream);

#endif
