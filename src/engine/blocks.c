/* blocks.c: see engine/blocks.h. */
#include "engine/blocks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"

/* A block may be larger than what is asked for by this share. */
#define LARGER_SHARE 4
/* Small ones are all alike. */
#define BLOCK_MIN (UINT64_C(1) << 16)
/* Sizes are multiples of a step that is at most this share of them: calls that differ a little share blocks. */
#define STEP_SHARE 32
#define SPARE_MUCH (UINT64_C(1) << 22)
/* The share of the device's memory that may lie idle. */
#define IDLE_SHARE 4

struct hd_block {
    void *memory;
    uint64_t bytes;
    bool lent;
    hd_block *next;
};

static uint64_t round_up(uint64_t bytes)
{
    uint64_t step = BLOCK_MIN;
    if (bytes >= UINT64_MAX / 2) return bytes; /* nobody has so much */
    while (step < bytes / STEP_SHARE / 2) step *= 2;
    return (bytes + step - 1) / step * step;
}

/* The smallest idle block that is large enough and not much too large. */
static hd_block *find_idle(heddle_device *device, uint64_t bytes)
{
    /* What is asked for is made larger first: a block that was made for as much must be found again. */
    const uint64_t rounded = round_up(bytes), most = rounded + rounded / LARGER_SHARE;
    hd_block *best = NULL;
    for (hd_block *b = device->blocks; b != NULL; b = b->next)
        if (!b->lent && b->bytes >= bytes && b->bytes <= most &&
            (best == NULL || b->bytes < best->bytes))
            best = b;
    return best;
}

static heddle_status make_block(heddle_device *device, uint64_t bytes, void **memory)
{
    hd_block *made = (hd_block *)hd_allocate(sizeof *made);
    heddle_status status;
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for scratch");
    status = device->engine->allocate(device, bytes, &made->memory);
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->bytes = bytes;
    made->lent = true;
    *memory = made->memory;
    pthread_mutex_lock(&device->lock);
    made->next = device->blocks;
    device->blocks = made;
    pthread_mutex_unlock(&device->lock);
    return HEDDLE_OK;
}

/* A new block, a little larger than asked for. Where that little is much, it must not be why there is none. */
static heddle_status make_rounded(heddle_device *device, uint64_t bytes, void **memory)
{
    const uint64_t rounded = round_up(bytes);
    const heddle_status status = make_block(device, rounded, memory);
    return status == HEDDLE_ERROR_NO_MEMORY && rounded - bytes >= SPARE_MUCH
               ? make_block(device, bytes, memory)
               : status;
}

heddle_status hd_block_take(heddle_device *device, uint64_t bytes, void **memory)
{
    hd_block *found;
    *memory = NULL;
    if (bytes < BLOCK_MIN) bytes = BLOCK_MIN;
    pthread_mutex_lock(&device->lock);
    found = find_idle(device, bytes);
    if (found != NULL) found->lent = true;
    pthread_mutex_unlock(&device->lock);
    if (found == NULL) return make_rounded(device, bytes, memory);
    if (hd_fault_due()) { /* an allocation like any other, for tests of what happens without memory */
        hd_block_give(device, found->memory);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for scratch");
    }
    *memory = found->memory;
    return HEDDLE_OK;
}

/* Takes idle blocks off the list, the latest last, until no more than `most` bytes lie idle. */
static hd_block *unlink_idle(heddle_device *device, uint64_t most)
{
    hd_block *gone = NULL;
    uint64_t idle = 0;
    for (hd_block **at = &device->blocks; *at != NULL;) {
        hd_block *b = *at;
        if (!b->lent && (idle += b->bytes) > most) {
            idle -= b->bytes;
            *at = b->next;
            b->next = gone;
            gone = b;
        } else {
            at = &b->next;
        }
    }
    return gone;
}

static bool free_blocks(heddle_device *device, hd_block *gone)
{
    const bool any = gone != NULL;
    while (gone != NULL) {
        hd_block *next = gone->next;
        device->engine->free(device, gone->memory);
        free(gone);
        gone = next;
    }
    return any;
}

/* How much may lie idle, asked for once. With the device's lock held: threads may give their first blocks together. */
static uint64_t idle_most(heddle_device *device)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    if (device->idle_max == 0 && device->engine->get_info(device, &info) == HEDDLE_OK)
        device->idle_max = info.memory_total / IDLE_SHARE;
    return device->idle_max;
}

void hd_block_give(heddle_device *device, void *memory)
{
    hd_block *gone = NULL;
    if (memory == NULL) return;
    device->engine->drain(device); /* work on another stream may get the block next */
    pthread_mutex_lock(&device->lock);
    for (hd_block *b = device->blocks; b != NULL; b = b->next)
        if (b->memory == memory) b->lent = false;
    gone = unlink_idle(device, idle_most(device));
    pthread_mutex_unlock(&device->lock);
    free_blocks(device, gone);
}

bool hd_blocks_drop(heddle_device *device)
{
    hd_block *gone;
    pthread_mutex_lock(&device->lock);
    gone = unlink_idle(device, 0);
    pthread_mutex_unlock(&device->lock);
    const bool any = device->engine->drop_in_order != NULL && device->engine->drop_in_order(device);
    return free_blocks(device, gone) || any;
}

/* ---------------------------------------------------------------------------------- devices alike */

/* All devices that are open. */
typedef struct noted {
    heddle_device *device;
    struct noted *next;
} noted;

static noted *all_open;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

heddle_status hd_blocks_note(heddle_device *device)
{
    noted *made = (noted *)hd_allocate(sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a device");
    made->device = device;
    pthread_mutex_lock(&all_lock);
    made->next = all_open;
    all_open = made;
    pthread_mutex_unlock(&all_lock);
    return HEDDLE_OK;
}

void hd_blocks_forget(heddle_device *device)
{
    noted *gone = NULL;
    pthread_mutex_lock(&all_lock);
    for (noted **at = &all_open; *at != NULL && gone == NULL; at = &(*at)->next)
        if ((*at)->device == device) {
            gone = *at;
            *at = gone->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
    free(gone);
}

bool hd_blocks_drop_shared(heddle_device *device)
{
    bool any = false;
    pthread_mutex_lock(&all_lock);
    for (const noted *n = all_open; n != NULL; n = n->next)
        if (n->device->engine == device->engine && device->engine->shares_memory(device, n->device))
            any |= hd_blocks_drop(n->device);
    pthread_mutex_unlock(&all_lock);
    return any;
}

heddle_status heddle_device_trim(heddle_device *device)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "device_trim: the device is NULL");
    hd_blocks_drop(device);
    return HEDDLE_OK;
}
