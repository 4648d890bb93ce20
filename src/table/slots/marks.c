/*
 * marks.c: when an insertion takes back the marks that erased keys have left. Every erased key may leave
 * the marks of the buckets that it was pushed on from. A table in which keys come and go would gather them
 * until all are cleared, and a search for an absent key would look at all buckets of its walk. So the host
 * adds up the keys that it was asked to erase, and when they come to half of the slots, the next insertion first
 * renews the marks. That reads and writes the slots once, in order, which is little beside so many erasures
 * and insertions at random places, whether the erased keys were there or not. It needs neither memory nor a
 * wait and moves no pair, so tables of fixed size, handles and views have it too.
 */
#include "table/slots/slots.h"

#define ERASED_SHARE 2 /* of the slots: one in so many */

heddle_status hd_slots_flush(heddle_table *table, void *stream)
{
    hd_slots_table *slots = hd_slots(table);
    if (slots->ops->renew_marks == NULL) return HEDDLE_OK;
    slots->erased = 0;
    return slots->ops->renew_marks(table->device, &slots->storage.view, stream);
}

heddle_status hd_marks_renew(heddle_table *table, void *stream)
{
    const bool enough = hd_slots(table)->erased >= table->options.capacity / ERASED_SHARE;
    return enough ? hd_slots_flush(table, stream) : HEDDLE_OK;
}
