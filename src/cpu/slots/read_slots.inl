/* read_slots.inl: reading pairs by the numbers of their slots; a part of instance.c. */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_READ_SLOTS_H
#define HD_CPU_READ_SLOTS_H

#define READ_AHEAD 16 /* slots that are on their way */

static uint64_t slots_of(const hd_view *view)
{
    return ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
}

/* Writes the i-th pair of a batch; false when its slot is vacant, or there is no such slot. */
static inline bool read_slot(const hd_view *view, const hd_batch *batch, uint64_t i, uint64_t slots)
{
    const uint64_t slot = batch->slots[i];
    hd_word word;
    if (slot >= slots) return false;
    word = ((const hd_word *)view->slots)[slot];
    if (key_is_vacant(word_key(word))) return false;
    if (batch->keys_out != NULL)
        ((hd_key *)batch->keys_out)[i] =
            key_from_lean(view, (uint32_t)(slot / HD_BUCKET / view->region_buckets),
                          key_bare(view, word_key(word)));
#if HD_VALUE_BITS != 0
    if (batch->values_out != NULL)
        ((hd_value *)batch->values_out)[i] = word_value(view, slot, word);
#endif
    return true;
}

static heddle_status at(heddle_device *device, const hd_view *view, const hd_batch *batch,
                        void *stream)
{
    const uint64_t slots = slots_of(view);
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel for num_threads(hd_cpu_team(device, batch->n)) schedule(dynamic, CHUNK)
    for (uint64_t i = 0; i < batch->n; i++) {
        const uint64_t later = i + READ_AHEAD < batch->n ? batch->slots[i + READ_AHEAD] : slots;
        if (later < slots) __builtin_prefetch((const hd_word *)v.slots + later, 0, 3);
        const bool found = read_slot(&v, batch, i, slots);
        if (batch->found != NULL) batch->found[i] = found;
    }
    return HEDDLE_OK;
}

#endif
