/*
 * insert.c: build and insert of slab hashes. There are two ways: by regions, into a table that has never held anything
 * (insert_large.c), and slice by slice, as a mixture that has insertions alone (mixed.c).
 */
#include "base/error.h"
#include "table/slabs/slabs.h"

heddle_status hd_slabs_insert(heddle_table *table, hd_request *r)
{
    bool done = false;
    HD_TRY(hd_slabs_insert_large(table, r, &done));
    return done ? HEDDLE_OK : hd_slabs_mixed(table, r);
}

/* An empty table that may grow is made large enough first. */
heddle_status hd_slabs_build(heddle_table *table, hd_request *r)
{
    r->waits = true;
    if (!hd_slabs_fixed(table) && r->n > hd_slabs(table)->storage.capacity) {
        hd_slabs_storage fresh;
        HD_TRY(hd_slabs_start(table, &fresh, r->n, table->options.seed, r->stream));
        hd_slabs_adopt(table, &fresh, table->options.seed);
        HD_TRY(hd_table_set_count(table, 0, r->stream));
    } else {
        HD_TRY(hd_slabs_clear(table, r->stream));
    }
    return hd_slabs_insert(table, r);
}
