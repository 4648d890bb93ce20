/*
 * keys_answers.inl: what the table of all keys is made into, when every block has brought its keys: numbers for keys and
 * rows, or distinct keys in order with what is known of each. Included by keys_kernels.h.
 */
#ifndef HD_KEYS_KERNELS_H
#error "included by keys_kernels.h alone"
#endif
#ifndef HD_KEYS_ANSWERS_H
#define HD_KEYS_ANSWERS_H

/* ---------------------------------------------------------------------------------------- in order */

static __global__ void __launch_bounds__(KEYS_BLOCK) keys_mark(keys_table table)
{
    const uint64_t slots = keys_slots(table.control);
    const uint64_t stride = (uint64_t)gridDim.x * KEYS_BLOCK;
    if (table.control->full != 0) return;
    for (uint64_t first = (uint64_t)blockIdx.x * KEYS_BLOCK; first < slots; first += stride) {
        const uint64_t slot = first + threadIdx.x;
        const bool used = slot < slots && keys_used(table, slot);
        if (table.ordered) {
            if (!used) continue;
            const uint64_t row = table.firsts[slot];
            atomicOr(&table.bits[row / 64], 1ull << row % 64);
        } else {
            const uint32_t lanes = __ballot_sync(KEYS_LANES, used);
            if (threadIdx.x % 32 == 0 && slot < slots) ((uint32_t *)table.bits)[slot / 32] = lanes;
        }
    }
}

/* How many bits of the map are set before one. */
HD_FN uint64_t keys_rank(const keys_table &table, uint64_t bit)
{
    const unsigned long long below = table.bits[bit / 64] & ((1ull << bit % 64) - 1);
    return table.before[bit / 64] + hd_popcount32((uint32_t)below) +
           hd_popcount32((uint32_t)(below >> 32));
}

/* The number of the key in a used slot. */
HD_FN uint64_t keys_number_of(const keys_table &table, uint64_t slot)
{
    if (table.ordered) return keys_rank(table, table.firsts[slot]);
    if (slot == 0) return 0;
    const hd_key key = table.keys[slot];
    uint64_t begin = slot, less = 0;
    for (; begin > 1 && table.keys[begin - 1] != HD_KEY_EMPTY; begin--)
        less += table.keys[begin - 1] < key;
    for (uint64_t end = slot + 1;
         end < keys_slots(table.control) && table.keys[end] != HD_KEY_EMPTY; end++)
        less += table.keys[end] < key;
    return keys_rank(table, begin) + less;
}

/* One thread. */
static __global__ void keys_end(keys_table table)
{
    table.control->groups = table.control->full != 0 ? 0 : table.before[table.words - 1];
}

static __global__ void __launch_bounds__(KEYS_BLOCK) keys_place(keys_job job)
{
    const keys_table &table = job.table;
    const uint64_t slots = keys_slots(table.control);
    const uint64_t stride = (uint64_t)gridDim.x * KEYS_BLOCK;
    if (table.control->full != 0) return;
    for (uint64_t i = (uint64_t)blockIdx.x * KEYS_BLOCK + threadIdx.x; i < slots; i += stride) {
        keys_entry entry;
        entry.key = table.keys[i];
        entry.number = UINT32_MAX;
        if (keys_used(table, i)) {
            const uint64_t number = keys_number_of(table, i);
            entry.number = (uint32_t)number;
            if (number < job.room) job.firsts[number] = table.firsts[i];
        }
        job.entries[i] = entry;
    }
}

HD_FN uint32_t keys_look_up(const keys_entry *entries, uint64_t homes, hd_key key, hd_key mixed)
{
    const keys_entry *at = entries + keys_home(mixed, homes);
    keys_entry entry = *(key != HD_KEY_EMPTY ? at : entries);
    for (uint32_t probe = 0; probe < KEYS_TAIL && entry.key != key; probe++) entry = *++at;
    return entry.number;
}

HD_FN void keys_number_tiles(const keys_job &job, const keys_entry *entries, uint64_t homes)
{
    const uint64_t tiles = (job.n + KEYS_TILE - 1) / KEYS_TILE;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t begin = tile * KEYS_TILE + threadIdx.x;
        hd_key keys[KEYS_ITEMS];
#pragma unroll
        for (int i = 0; i < KEYS_ITEMS; i++) {
            const uint64_t row = begin + (uint64_t)i * KEYS_BLOCK;
            keys[i] = row < job.n ? __ldcs(job.keys + row) : HD_KEY_EMPTY;
        }
#pragma unroll
        for (int i = 0; i < KEYS_ITEMS; i++) {
            const uint64_t row = begin + (uint64_t)i * KEYS_BLOCK;
            const uint32_t number =
                keys_look_up(entries, homes, keys[i], mix_key(&job.mix, keys[i]));
            if (row < job.n) job.numbers[row] = number;
        }
    }
}

/* The number of every row. A small table comes to shared memory first. */
static __global__ void __launch_bounds__(KEYS_BLOCK, 3) keys_number_rows(keys_job job)
{
    const keys_control *control = job.table.control;
    const uint64_t homes = control->homes;
    if (control->full != 0) return;
    if (homes > job.near_homes) {
        keys_number_tiles(job, job.entries, homes);
        return;
    }
    keys_entry *near = (keys_entry *)block_memory();
    const uint32_t slots = (uint32_t)keys_slots(control);
    for (uint32_t i = threadIdx.x; i < slots; i += KEYS_BLOCK) near[i] = job.entries[i];
    __syncthreads();
    keys_number_tiles(job, near, homes);
}

/* ----------------------------------------------------------------------------------------- answers */

/* What HD_DISTINCT_* names, to `out`; rows have so many bits there. */
static __global__ void __launch_bounds__(KEYS_BLOCK)
    keys_write(keys_table table, uint32_t what, void *out, uint32_t row_bits)
{
    const uint64_t slots = keys_slots(table.control);
    const uint64_t stride = (uint64_t)gridDim.x * KEYS_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * KEYS_BLOCK + threadIdx.x; i < slots; i += stride) {
        if (!keys_used(table, i)) continue;
        const uint64_t number = keys_number_of(table, i);
        if (what == HD_DISTINCT_KEYS) ((hd_key *)out)[number] = table.keys[i];
        else if (what == HD_DISTINCT_SIZES) ((uint64_t *)out)[number] = table.sizes[i];
        else if (row_bits == 32) ((uint32_t *)out)[number] = (uint32_t)table.firsts[i];
        else ((uint64_t *)out)[number] = table.firsts[i];
    }
}

/* An aggregate, and which groups have a value; NULL: nobody asks. */
static __global__ void __launch_bounds__(KEYS_BLOCK)
    keys_write_value(keys_table table, keys_value v, uint32_t aggregate, void *out, uint8_t *any)
{
    const uint64_t slots = keys_slots(table.control);
    const uint64_t stride = (uint64_t)gridDim.x * KEYS_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * KEYS_BLOCK + threadIdx.x; i < slots; i += stride) {
        if (!keys_used(table, i)) continue;
        const uint64_t number = keys_number_of(table, i);
        uint64_t count = 1; /* no group is empty */
        if (v.counts != NULL) count = v.counts[i];
        else if (table.sizes != NULL) count = table.sizes[i];
        if (any != NULL) any[number] = count != 0;
        keys_put_result(v, aggregate, i, count, out, number);
    }
}

#endif
