/* apart.c: see apart.h. */
#include "support/apart.h"

#include <stdlib.h>

#include "base/error.h"
#include "engine/blocks.h"
#include "host/stage.h"

/* What was allocated and not freed yet. */
typedef struct piece {
    char *memory;
    uint64_t bytes;
    struct piece *next;
} piece;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static piece *pieces;
static uint64_t used, most;
static const hd_engine *whole; /* the device's own engine */
static hd_engine apart;

/* Takes so much of what may be allocated, if there is as much. */
static bool book(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    const bool fits = bytes <= most && used <= most - bytes;
    if (fits) used += bytes;
    pthread_mutex_unlock(&lock);
    return fits;
}

static void book_back(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    used -= bytes;
    pthread_mutex_unlock(&lock);
}

static heddle_status allocate(heddle_device *device, uint64_t bytes, void **memory)
{
    heddle_status status = HEDDLE_OK;
    *memory = NULL;
    /* As a GPU does it: what lies idle goes before there is said to be no memory. */
    if (!book(bytes) && !(hd_blocks_drop(device) && book(bytes)))
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "beyond the test's limit");
    status = whole->allocate(device, bytes, memory);
    if (status != HEDDLE_OK) {
        book_back(bytes);
        return status;
    }
    piece *made = malloc(sizeof *made);
    assert_non_null(made);
    made->memory = *memory;
    made->bytes = bytes;
    pthread_mutex_lock(&lock);
    made->next = pieces;
    pieces = made;
    pthread_mutex_unlock(&lock);
    return HEDDLE_OK;
}

static void release(heddle_device *device, void *memory)
{
    pthread_mutex_lock(&lock);
    for (piece **at = &pieces; *at != NULL; at = &(*at)->next)
        if ((*at)->memory == memory) {
            piece *gone = *at;
            *at = gone->next;
            used -= gone->bytes;
            free(gone);
            break;
        }
    pthread_mutex_unlock(&lock);
    whole->free(device, memory);
}

static bool is_ours(heddle_device *device, const void *memory)
{
    const uintptr_t at = (uintptr_t)memory;
    bool ours = false;
    if (!whole->host_memory) return whole->is_device_memory(device, memory);
    pthread_mutex_lock(&lock);
    for (const piece *p = pieces; p != NULL && !ours; p = p->next)
        ours = at >= (uintptr_t)p->memory && at - (uintptr_t)p->memory < p->bytes;
    pthread_mutex_unlock(&lock);
    return ours;
}

void apart_begin(heddle_device *device)
{
    check_ok(heddle_device_trim(device));
    hd_stages_free(device);
    most = UINT64_MAX;
    whole = device->engine;
    apart = *whole;
    apart.host_memory = false;
    apart.allocate = allocate;
    apart.free = release;
    apart.is_device_memory = is_ours;
    device->engine = &apart;
}

void apart_end(heddle_device *device)
{
    most = UINT64_MAX;
    assert_int_equal(apart_used(device), 0);
    device->engine = whole;
}

void apart_limit(uint64_t bytes) { most = bytes; }

uint64_t apart_used(heddle_device *device)
{
    check_ok(heddle_device_trim(device));
    hd_stages_free(device);
    return used;
}
