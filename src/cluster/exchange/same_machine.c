/* same_machine.c: see same_machine.h. */
#include "cluster/exchange/same_machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/tuning.h"

#define FIRST_BYTES (UINT64_C(1) << 20)
/* A memory this large is given back when a 16th of it would do. */
#define LARGE_BYTES (UINT64_C(1) << 30)
#define LARGE_SHARE 16
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_FACTOR UINT64_C(0x100000001b3)

heddle_status hd_shared_make(hd_shared *shared, const heddle_transport *transport)
{
    const size_t members = transport->members;
    memset(shared, 0, sizeof *shared);
    shared->transport = transport;
    shared->peers = (hd_shared_peer *)hd_allocate_zeroed(members, sizeof *shared->peers);
    shared->words =
        (uint64_t *)hd_allocate_zeroed(2 * HD_SHARE_WORDS * members, sizeof *shared->words);
    if (shared->peers != NULL && shared->words != NULL) return HEDDLE_OK;
    hd_shared_free(shared, false);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the processes of a machine");
}

static void close_peer(hd_shared *shared, hd_shared_peer *peer)
{
    if (peer->memory != NULL) shared->device->engine->close_shared(shared->device, peer->memory);
    peer->memory = NULL;
}

static void drop(hd_shared *shared, void **memory)
{
    if (*memory != NULL) shared->device->engine->unshare(shared->device, *memory);
    *memory = NULL;
}

void hd_shared_free(hd_shared *shared, bool lost)
{
    const heddle_transport *t = shared->transport;
    uint64_t nothing = 0;
    for (uint32_t i = 0; shared->peers != NULL && i < t->members; i++)
        close_peer(shared, &shared->peers[i]);
    if (shared->any && !lost) lost = t->reduce(t->context, &nothing, 1, 0) != 0;
    if (!shared->any || !lost) {
        drop(shared, &shared->memory);
        drop(shared, &shared->former);
    }
    free(shared->peers);
    free(shared->words);
    shared->peers = NULL;
    shared->words = NULL;
}

/* ------------------------------------------------------------------------------- who reads whose */

static bool is_wanted(void)
{
    const char *said = getenv("HEDDLE_SHARED_MEMORY");
    return !hd_tune.never_shared && (said == NULL || strcmp(said, "0") != 0);
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
    uint64_t hash = FNV_START ^ engine->kind;
    hd_read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
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
static heddle_status tell_all(hd_shared *shared, const uint64_t *words, uint32_t count)
{
    const heddle_transport *t = shared->transport;
    for (uint32_t i = 0; i < t->members; i++)
        memcpy(shared->words + (size_t)i * count, words, count * sizeof *words);
    if (t->all_to_all_words(t->context, shared->words, shared->words + (size_t)t->members * count,
                            count) == 0)
        return HEDDLE_OK;
    return lost();
}

static const uint64_t *received_from(const hd_shared *shared, uint32_t member, uint32_t count)
{
    return shared->words + ((size_t)shared->transport->members + member) * count;
}

/* Tells which memories have been opened. */
static heddle_status tell_opened(hd_shared *shared)
{
    const heddle_transport *t = shared->transport;
    uint64_t *send = shared->words, *receive = shared->words + t->members, any = 0;
    for (uint32_t i = 0; i < t->members; i++) any |= send[i] = shared->peers[i].readable;
    if (t->all_to_all_words(t->context, send, receive, 1) != 0 ||
        t->reduce(t->context, &any, 1, 1) != 0)
        return lost();
    for (uint32_t i = 0; i < t->members; i++) shared->peers[i].reads = receive[i] != 0;
    shared->any = any != 0;
    return HEDDLE_OK;
}

/* Tells which machine this is; *some: two members have said the same, and everybody sees it. */
static heddle_status tell_machine(hd_shared *shared, uint64_t machine, bool *some)
{
    const uint32_t members = shared->transport->members;
    const heddle_status status = tell_all(shared, &machine, 1);
    *some = false;
    for (uint32_t i = 0; i < members && status == HEDDLE_OK; i++) {
        shared->peers[i].machine = received_from(shared, i, 1)[0];
        for (uint32_t j = 0; j < i; j++)
            *some |= shared->peers[i].machine != 0 &&
                     shared->peers[i].machine == shared->peers[j].machine;
    }
    return status;
}

static heddle_status tell_keys(hd_shared *shared)
{
    HD_TRY(tell_all(shared, shared->key, HD_SHARE_WORDS));
    for (uint32_t i = 0; i < shared->transport->members; i++)
        memcpy(shared->peers[i].key, received_from(shared, i, HD_SHARE_WORDS), sizeof shared->key);
    return HEDDLE_OK;
}

/* What the first memory of a member begins with: others that find it there do read that memory. */
static uint64_t mark_of(uint64_t machine, uint32_t member)
{
    return (machine ^ member) * FNV_FACTOR;
}

static heddle_status copy_word(hd_shared *shared, void *to, const void *from)
{
    const hd_engine *engine = shared->device->engine;
    HD_TRY(engine->copy(shared->device, to, from, sizeof(uint64_t), NULL));
    return engine->synchronize(shared->device, NULL);
}

static heddle_status open_peer(hd_shared *shared, hd_shared_peer *peer)
{
    return shared->device->engine->open_shared(shared->device, peer->key, &peer->memory);
}

/* Whether the memory of another can be opened, and what it holds be read. */
static bool can_read(hd_shared *shared, uint32_t member)
{
    hd_shared_peer *peer = &shared->peers[member];
    uint64_t mark = 0;
    if (open_peer(shared, peer) != HEDDLE_OK) return false;
    if (copy_word(shared, &mark, peer->memory) == HEDDLE_OK &&
        mark == mark_of(peer->machine, member))
        return true;
    close_peer(shared, peer);
    return false;
}

/* A memory with its mark, if there can be one; the machine, or 0. */
static uint64_t take_part(hd_shared *shared)
{
    const uint64_t machine = name_machine(shared->device->engine);
    const uint64_t mark = mark_of(machine, shared->transport->member);
    return is_wanted() && hd_shared_room(shared, FIRST_BYTES) == HEDDLE_OK &&
                   copy_word(shared, shared->memory, &mark) == HEDDLE_OK
               ? machine
               : 0;
}

heddle_status hd_shared_learn(hd_shared *shared, heddle_device *device, bool takes_part)
{
    const uint32_t members = shared->transport->members, own = shared->transport->member;
    uint64_t machine = 0;
    heddle_status status;
    bool some;
    shared->device = device;
    if (takes_part) machine = take_part(shared);
    status = tell_machine(shared, machine, &some);
    if (status == HEDDLE_OK && some) status = tell_keys(shared);
    if (status != HEDDLE_OK || !some) return status;
    for (uint32_t i = 0; i < members; i++) {
        hd_shared_peer *peer = &shared->peers[i];
        peer->generation = peer->machine != 0; /* the first, or none */
        peer->readable =
            i != own && machine != 0 && peer->machine == machine && can_read(shared, i);
    }
    return tell_opened(shared);
}

/* -------------------------------------------------------------------------------------- memories */

/* The memory that others may have opened is kept until they have closed it (hd_shared_follow). */
heddle_status hd_shared_room(hd_shared *shared, uint64_t bytes)
{
    const hd_engine *engine = shared->device->engine;
    uint64_t key[HD_SHARE_WORDS];
    void *memory = NULL;
    heddle_status status = HEDDLE_ERROR_NO_MEMORY;
    const bool large = shared->bytes > LARGE_BYTES && shared->bytes / LARGE_SHARE > bytes;
    if (shared->memory != NULL && shared->bytes >= bytes && !large) return HEDDLE_OK;
    if (shared->memory != NULL) { /* rather once than for every slice */
        status = engine->share(shared->device, bytes + bytes / 8, &memory, key);
        if (status == HEDDLE_OK) bytes += bytes / 8;
    }
    if (status != HEDDLE_OK) status = engine->share(shared->device, bytes, &memory, key);
    if (status != HEDDLE_OK) return status;
    if (shared->former == NULL) shared->former = shared->memory;
    else drop(shared, &shared->memory); /* nobody has learnt of it */
    shared->memory = memory;
    shared->bytes = bytes;
    shared->generation++;
    memcpy(shared->key, key, sizeof key);
    return HEDDLE_OK;
}

heddle_status hd_shared_follow(hd_shared *shared, const uint64_t *generations, uint32_t step)
{
    bool changed = false;
    for (uint32_t i = 0; i < shared->transport->members; i++) {
        hd_shared_peer *peer = &shared->peers[i];
        if (generations[(size_t)i * step] == peer->generation) continue;
        peer->generation = generations[(size_t)i * step];
        close_peer(shared, peer);
        changed = true;
    }
    if (!changed) return HEDDLE_OK;
    HD_TRY(tell_keys(shared));
    drop(shared, &shared->former); /* all have closed it */
    return HEDDLE_OK;
}

heddle_status hd_shared_open(hd_shared *shared)
{
    for (uint32_t i = 0; i < shared->transport->members; i++) {
        hd_shared_peer *peer = &shared->peers[i];
        if (peer->readable && peer->memory == NULL) HD_TRY(open_peer(shared, peer));
    }
    return HEDDLE_OK;
}
