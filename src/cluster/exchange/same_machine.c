/* same_machine.c: see same_machine.h. */
#include "cluster/exchange/same_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"

#define FIRST_BYTES (UINT64_C(1) << 20)
/* A window this large is given back when a 16th of it would do. */
#define LARGE_BYTES (UINT64_C(1) << 30)
#define LARGE_SHARE 16
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_FACTOR UINT64_C(0x100000001b3)

heddle_status hd_near_make(hd_near *near, const heddle_transport *transport)
{
    const size_t members = transport->members;
    memset(near, 0, sizeof *near);
    near->transport = transport;
    near->peers = (hd_near_peer *)hd_allocate_zeroed(members, sizeof *near->peers);
    near->words = (uint64_t *)hd_allocate_zeroed(2 * HD_SHARE_WORDS * members, sizeof *near->words);
    if (near->peers != NULL && near->words != NULL) return HEDDLE_OK;
    hd_near_free(near, false);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the processes of a machine");
}

static void close_peer(hd_near *near, hd_near_peer *peer)
{
    if (peer->window != NULL) near->device->engine->close_shared(near->device, peer->window);
    peer->window = NULL;
}

static void drop(hd_near *near, void **window)
{
    if (*window != NULL) near->device->engine->unshare(near->device, *window);
    *window = NULL;
}

void hd_near_free(hd_near *near, bool lost)
{
    const heddle_transport *t = near->transport;
    uint64_t nothing = 0;
    for (uint32_t i = 0; near->peers != NULL && i < t->members; i++)
        close_peer(near, &near->peers[i]);
    if (near->any && !lost) lost = t->reduce(t->context, &nothing, 1, 0) != 0;
    if (!near->any || !lost) {
        drop(near, &near->window);
        drop(near, &near->former);
    }
    free(near->peers);
    free(near->words);
    near->peers = NULL;
    near->words = NULL;
}

/* ------------------------------------------------------------------------------- who reads whose */

static bool is_wanted(void)
{
    const char *said = getenv("HEDDLE_NEAR");
    return !hd_tune.never_near && (said == NULL || strcmp(said, "0") != 0);
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text != 0; text++) hash = (hash ^ (uint8_t)*text) * FNV_FACTOR;
    return hash;
}

/* Not 0, and the same for members of one machine, until it is started anew, and kind of device. */
static uint64_t name_machine(const hd_engine *engine)
{
    char text[256] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    uint64_t hash = FNV_START ^ engine->kind;
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL) text[0] = 0;
        (void)fclose(file);
    }
    hash = add_text(hash, text);
    if (gethostname(text, sizeof text - 1) == 0) hash = add_text(hash, text);
    return hash | 1;
}

static heddle_status lost(void)
{
    return hd_fail(HEDDLE_ERROR_PEER,
                   "another process of the cluster is lost or did not answer in time");
}

/* The same words to all members; those of all are behind them. */
static heddle_status tell_all(hd_near *near, const uint64_t *words, uint32_t count)
{
    const heddle_transport *t = near->transport;
    for (uint32_t i = 0; i < t->members; i++)
        memcpy(near->words + (size_t)i * count, words, count * sizeof *words);
    if (t->all_to_all_words(t->context, near->words, near->words + (size_t)t->members * count,
                            count) == 0)
        return HEDDLE_OK;
    return lost();
}

static const uint64_t *told_by(const hd_near *near, uint32_t member, uint32_t count)
{
    return near->words + ((size_t)near->transport->members + member) * count;
}

/* Tells which windows have been opened. */
static heddle_status tell_opened(hd_near *near)
{
    const heddle_transport *t = near->transport;
    uint64_t *send = near->words, *receive = near->words + t->members, any = 0;
    for (uint32_t i = 0; i < t->members; i++) any |= send[i] = near->peers[i].near;
    if (t->all_to_all_words(t->context, send, receive, 1) != 0 ||
        t->reduce(t->context, &any, 1, 1) != 0)
        return lost();
    for (uint32_t i = 0; i < t->members; i++) near->peers[i].reads = receive[i] != 0;
    near->any = any != 0;
    return HEDDLE_OK;
}

/* Tells which machine this is; *some: two members have said the same, and everybody sees it. */
static heddle_status tell_machine(hd_near *near, uint64_t machine, bool *some)
{
    const uint32_t members = near->transport->members;
    const heddle_status status = tell_all(near, &machine, 1);
    *some = false;
    for (uint32_t i = 0; i < members && status == HEDDLE_OK; i++) {
        near->peers[i].machine = told_by(near, i, 1)[0];
        for (uint32_t j = 0; j < i; j++)
            *some |=
                near->peers[i].machine != 0 && near->peers[i].machine == near->peers[j].machine;
    }
    return status;
}

static heddle_status tell_keys(hd_near *near)
{
    HD_TRY(tell_all(near, near->key, HD_SHARE_WORDS));
    for (uint32_t i = 0; i < near->transport->members; i++)
        memcpy(near->peers[i].key, told_by(near, i, HD_SHARE_WORDS), sizeof near->key);
    return HEDDLE_OK;
}

/* What the first window of a member begins with: others that find it there do read that window. */
static uint64_t mark_of(uint64_t machine, uint32_t member)
{
    return (machine ^ member) * FNV_FACTOR;
}

static heddle_status copy_word(hd_near *near, void *to, const void *from)
{
    const hd_engine *engine = near->device->engine;
    HD_TRY(engine->copy(near->device, to, from, sizeof(uint64_t), NULL));
    return engine->synchronize(near->device, NULL);
}

static heddle_status open_peer(hd_near *near, hd_near_peer *peer)
{
    return near->device->engine->open_shared(near->device, peer->key, &peer->window);
}

/* Whether the window of another can be opened, and what it holds be read. */
static bool can_read(hd_near *near, uint32_t member)
{
    hd_near_peer *peer = &near->peers[member];
    uint64_t mark = 0;
    if (open_peer(near, peer) != HEDDLE_OK) return false;
    if (copy_word(near, &mark, peer->window) == HEDDLE_OK && mark == mark_of(peer->machine, member))
        return true;
    close_peer(near, peer);
    return false;
}

/* A window with its mark, if there can be one; the machine, or 0. */
static uint64_t take_part(hd_near *near)
{
    const uint64_t machine = name_machine(near->device->engine);
    const uint64_t mark = mark_of(machine, near->transport->member);
    return is_wanted() && hd_near_room(near, FIRST_BYTES) == HEDDLE_OK &&
                   copy_word(near, near->window, &mark) == HEDDLE_OK
               ? machine
               : 0;
}

heddle_status hd_near_learn(hd_near *near, heddle_device *device, bool takes_part)
{
    const uint32_t members = near->transport->members, own = near->transport->member;
    uint64_t machine = 0;
    heddle_status status;
    bool some;
    near->device = device;
    if (takes_part) machine = take_part(near);
    status = tell_machine(near, machine, &some);
    if (status == HEDDLE_OK && some) status = tell_keys(near);
    if (status != HEDDLE_OK || !some) return status;
    for (uint32_t i = 0; i < members; i++) {
        hd_near_peer *peer = &near->peers[i];
        peer->generation = peer->machine != 0; /* the first, or none */
        peer->near = i != own && machine != 0 && peer->machine == machine && can_read(near, i);
    }
    return tell_opened(near);
}

/* -------------------------------------------------------------------------------------- windows */

/* The window that others may have opened is kept until they have closed it (hd_near_follow). */
heddle_status hd_near_room(hd_near *near, uint64_t bytes)
{
    const hd_engine *engine = near->device->engine;
    uint64_t key[HD_SHARE_WORDS];
    void *window = NULL;
    heddle_status status = HEDDLE_ERROR_NO_MEMORY;
    const bool large = near->bytes > LARGE_BYTES && near->bytes / LARGE_SHARE > bytes;
    if (near->window != NULL && near->bytes >= bytes && !large) return HEDDLE_OK;
    if (near->window != NULL) { /* rather once than for every slice */
        status = engine->share(near->device, bytes + bytes / 8, &window, key);
        if (status == HEDDLE_OK) bytes += bytes / 8;
    }
    if (status != HEDDLE_OK) status = engine->share(near->device, bytes, &window, key);
    if (status != HEDDLE_OK) return status;
    if (near->former == NULL) near->former = near->window;
    else drop(near, &near->window); /* nobody has learnt of it */
    near->window = window;
    near->bytes = bytes;
    near->generation++;
    memcpy(near->key, key, sizeof key);
    return HEDDLE_OK;
}

heddle_status hd_near_follow(hd_near *near, const uint64_t *generations, uint32_t step)
{
    bool news = false;
    for (uint32_t i = 0; i < near->transport->members; i++) {
        hd_near_peer *peer = &near->peers[i];
        if (generations[(size_t)i * step] == peer->generation) continue;
        peer->generation = generations[(size_t)i * step];
        close_peer(near, peer);
        news = true;
    }
    if (!news) return HEDDLE_OK;
    HD_TRY(tell_keys(near));
    drop(near, &near->former); /* all have closed it */
    return HEDDLE_OK;
}

heddle_status hd_near_open(hd_near *near)
{
    for (uint32_t i = 0; i < near->transport->members; i++) {
        hd_near_peer *peer = &near->peers[i];
        if (peer->near && peer->window == NULL) HD_TRY(open_peer(near, peer));
    }
    return HEDDLE_OK;
}
