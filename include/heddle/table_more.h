/*
 * table_more.h: what tables do besides the calls that everybody needs: mixed batches, all values of
 * all keys, handles of pairs, and visitors. Included by heddle.h; its rules hold here too.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TABLE_MORE_H
#define HEDDLE_TABLE_MORE_H

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------- mixed batches */

/*
 * A batch of n operations of any mixture, all at once: operations[i] is the HEDDLE_OPERATION_* for
 * keys[i]. values[i] is what an insertion inserts; `values` is NULL where it is in
 * heddle_table_insert. values_out[i] receives what a lookup finds and is left as it is otherwise;
 * `values_out` may be NULL. The options' outcomes say what became of each: INSERTED, UPDATED, KEPT
 * or FAILED for an insertion, FOUND or ABSENT for the others. Growth, waiting, totals, the policy
 * and `failed` are as in heddle_table_insert.
 *
 * Every operation takes effect at one moment between the beginning and the end of the call, in any
 * order. So a key that is there before, and that no operation of the batch erases, is found. A map,
 * set or counter never holds a key twice. A value that is found was the value of the key at one
 * moment. In a multimap an insertion adds a pair, an erasure takes one, and a lookup finds one.
 *
 * An unknown operation counts as a lookup. For HEDDLE_SCHEME_SLAB; others give
 * HEDDLE_ERROR_UNSUPPORTED.
 */
HEDDLE_API heddle_status heddle_table_mixed(heddle_table *table, const uint8_t *operations,
                                            const void *keys, const void *values, uint64_t n,
                                            void *values_out, const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
/*
 * Removes the traces that erased keys have left, as far as that can be done in place. Insertions do
 * the same by themselves when many keys were erased. They do not count erasures by your own kernels
 * and by replays of a CUDA graph: call heddle_table_flush after many of those. Allocates nothing
 * and does not wait.
 */
HEDDLE_API heddle_status heddle_table_flush(heddle_table *table, void *stream);

/* ------------------------------------------------------------------------------ all values */

/*
 * All values of all keys, key by key: the values of keys[i] are values[offsets[i]] to
 * values[offsets[i + 1] - 1]. Every key occurs once. Neither keys nor the values of a key are in a
 * particular order. *key_count and *value_count (host memory) become the number of different keys
 * and of values. The arrays have room for `key_capacity` keys and one offset more, and for
 * `value_capacity` values. Call with `keys` NULL to learn how much room is needed: only the numbers
 * are set then. `offsets` and `values` may be NULL in any call. When the arrays are too small
 * nothing is written and the call returns HEDDLE_ERROR_TOO_SMALL with the numbers set. Not for
 * sets. Allocates scratch memory, three to five times that of the pairs, and synchronises.
 */
HEDDLE_API heddle_status heddle_table_retrieve_all(heddle_table *table, void *keys,
                                                   uint64_t *offsets, void *values,
                                                   uint64_t key_capacity, uint64_t value_capacity,
                                                   uint64_t *key_count, uint64_t *value_count,
                                                   void *stream);

/* ------------------------------------------------------------------------- handles of pairs */

/* What heddle_table_locate gives for a key that is absent. */
#define HEDDLE_NO_SLOT UINT64_MAX

/*
 * Handles of pairs, in iceberg tables and in open tables that are no multimap; all other tables
 * give HEDDLE_ERROR_UNSUPPORTED. slots[i] becomes the number of the slot that holds keys[i], less
 * than the table's `capacity` in heddle_table_get_options, or HEDDLE_NO_SLOT. A handle stays good
 * until its key is erased or the table grows (not with HEDDLE_FLAG_FIXED), is reserved, rehashed,
 * built anew or cleared; after that the slot may hold nothing or another key. Inserting and erasing
 * other keys does not move a pair. `totals` may be NULL.
 */
HEDDLE_API heddle_status heddle_table_locate(heddle_table *table, const void *keys, uint64_t n,
                                             uint64_t *slots, heddle_totals *totals, void *stream);
/*
 * Reads n pairs by their handles, without a search. found[i] becomes 1, and keys[i] and values[i]
 * become those of the pair. When the slot is vacant or does not exist (HEDDLE_NO_SLOT), found[i]
 * becomes 0, and keys[i] and values[i] are left as they are. Each of the three may be NULL;
 * `values` is NULL for a set. Reads only.
 */
HEDDLE_API heddle_status heddle_table_at(heddle_table *table, const uint64_t *slots, uint64_t n,
                                         void *keys, void *values, uint8_t *found, void *stream);

/*
 * A function of the caller's that is given pairs, some thousand at a time, in host memory: n keys
 * and, except in a set, their values, in the table's widths. rows[i] says which key
 * of the batch pair i belongs to; `rows` is NULL in heddle_table_for_all. The function returns 0 to
 * go on and another number to end the call.
 */
typedef uint32_t (*heddle_visitor)(void *context, const void *keys, const void *values,
                                   const uint64_t *rows, uint64_t n);
/*
 * heddle_table_for_all calls `visit` with all pairs, in no particular order. heddle_table_for_each
 * calls it with the pairs of every key of a batch, in the order of the batch. Both call from the
 * calling thread, allocate and synchronise. The visitor must not change the table. A call that the
 * visitor ended early returns HEDDLE_OK. Your own kernels visit the pairs of a GPU table without
 * leaving the device: heddle/device.cuh.
 */
HEDDLE_API heddle_status heddle_table_for_all(heddle_table *table, heddle_visitor visit,
                                              void *context, void *stream);
HEDDLE_API heddle_status heddle_table_for_each(heddle_table *table, const void *keys, uint64_t n,
                                               heddle_visitor visit, void *context, void *stream);

#ifdef __cplusplus
}
#endif

#endif
