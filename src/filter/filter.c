/* filter.c: making, describing, merging and clearing Bloom filters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "filter/filter.h"
#include "host/public_struct.h"
#include "host/scratch.h"
#include "host/seed.h"
#include "table/check.h"

#define BITS_PER_KEY 16.0
#define BITS_PER_KEY_MOST 512.0

/* ------------------------------------------------------------------------------------- options */

heddle_status hd_filter_check_options(const heddle_filter_options *o)
{
    if (o->key_bits != 32 && o->key_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "keys have 32 or 64 bits, not %u", o->key_bits);
    if (o->hashes > HD_FILTER_HASHES_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a filter has 1 to %d hashes, not %u",
                       HD_FILTER_HASHES_MAX, o->hashes);
    if ((o->flags & ~HEDDLE_FILTER_DIRECT) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "unknown flags 0x%x", o->flags);
    if (o->capacity == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a filter cannot grow: it needs a capacity");
    if (o->bits_per_key != 0 && !(o->bits_per_key >= 1 && o->bits_per_key <= BITS_PER_KEY_MOST))
        return hd_fail(HEDDLE_ERROR_INVALID, "bits a key must lie between 1 and %g, not %g",
                       BITS_PER_KEY_MOST, o->bits_per_key);
    return HEDDLE_OK;
}

static heddle_status read_options(const heddle_filter_options *given, heddle_filter_options *o)
{
    static const heddle_filter_options defaults = HEDDLE_FILTER_OPTIONS_INIT;
    *o = defaults;
    HD_TRY(hd_read_struct(o, given, &hd_filter_options_kind));
    return hd_filter_check_options(o);
}

uint32_t hd_filter_region_bits(uint64_t blocks)
{
    uint32_t bits = 0;
    while ((blocks - 1) >> bits >= HD_FILTER_REGION_BLOCKS) bits++;
    return bits;
}

/* Sets what was left open, and finds out how many blocks that makes. */
static heddle_status complete(heddle_filter_options *o, uint64_t *blocks)
{
    double wanted;
    uint64_t unit;
    if (o->bits_per_key == 0) o->bits_per_key = BITS_PER_KEY;
    wanted = ceil((double)o->capacity * o->bits_per_key / HD_FILTER_BLOCK_BITS);
    if (wanted > (double)(HD_FILTER_BLOCKS_MAX / 2)) /* room to be rounded up */
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no filter holds %llu keys with %g bits each",
                       (unsigned long long)o->capacity, o->bits_per_key);
    *blocks = wanted < 1 ? 1 : (uint64_t)wanted;
    unit = UINT64_C(1) << hd_filter_region_bits(*blocks); /* regions are equal */
    *blocks = (*blocks + unit - 1) / unit * unit;
    if (o->hashes == 0) o->hashes = hd_filter_best_hashes(o->capacity, *blocks);
    if (o->seed == 0) o->seed = hd_seed_draw();
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------- life of a filter */

static heddle_status take_words(heddle_filter *filter)
{
    const hd_engine *engine = filter->engine;
    const uint64_t bytes = hd_filter_bytes(filter);
    HD_TRY(engine->allocate(filter->device, bytes, (void **)&filter->view.words));
    HD_TRY(engine->fill(filter->device, filter->view.words, 0, bytes, NULL));
    return engine->synchronize(filter->device, NULL);
}

heddle_status hd_filter_make(heddle_device *device, const heddle_filter_options *options,
                             uint64_t blocks, heddle_filter **filter)
{
    heddle_filter *made = (heddle_filter *)hd_allocate_zeroed(1, sizeof *made);
    heddle_status status;
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a filter");
    made->device = device;
    made->engine = device->engine;
    made->ops = device->engine->filter(options->key_bits);
    made->options = *options;
    made->slice = device->engine->slice_max;
    made->view.blocks = (uint32_t)blocks;
    made->view.region_bits = hd_filter_region_bits(blocks);
    made->view.hashes = options->hashes;
    hd_mix_init(&made->view.mix, options->seed);
    pthread_mutex_init(&made->adder, NULL);
    status = take_words(made);
    if (status == HEDDLE_OK) *filter = made;
    else heddle_filter_destroy(made);
    return status;
}

heddle_status heddle_filter_create(heddle_device *device, const heddle_filter_options *options,
                                   heddle_filter **filter)
{
    heddle_filter_options chosen;
    uint64_t blocks = 0;
    if (filter == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "heddle_filter_create needs a place for the filter");
    *filter = NULL;
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the device is NULL");
    HD_TRY(read_options(options, &chosen));
    HD_TRY(complete(&chosen, &blocks));
    return hd_filter_make(device, &chosen, blocks, filter);
}

void heddle_filter_destroy(heddle_filter *filter)
{
    if (filter == NULL) return;
    /* Freeing device memory waits for the work that uses it. */
    if (filter->view.words != NULL) filter->engine->free(filter->device, filter->view.words);
    pthread_mutex_destroy(&filter->adder);
    free(filter);
}

heddle_status heddle_filter_get_options(const heddle_filter *filter, heddle_filter_options *options)
{
    HD_TRY(hd_filter_check(filter, NULL, "get_options"));
    HD_TRY(hd_check_struct(options, &hd_filter_options_kind));
    hd_write_struct(options, &filter->options, &hd_filter_options_kind);
    return HEDDLE_OK;
}

heddle_status heddle_filter_check_width(const heddle_filter *filter, uint32_t key_bits)
{
    if (filter == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the filter is NULL");
    return hd_check_widths("filter", filter->options.key_bits, 0, key_bits, 0);
}

heddle_device *heddle_filter_device(const heddle_filter *filter)
{
    return filter != NULL ? filter->device : NULL;
}

heddle_status hd_filter_check(const heddle_filter *filter, const void *stream, const char *what)
{
    if (filter == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the filter is NULL", what);
    if (stream != NULL && filter->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the stream must be NULL on the CPU", what);
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- whole */

static heddle_status check_merge(const heddle_filter *into, const heddle_filter *from,
                                 const void *stream)
{
    HD_TRY(hd_filter_check(into, stream, "merge"));
    if (from == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "merge: the other filter is NULL");
    if (from == into) return hd_fail(HEDDLE_ERROR_INVALID, "merge: both are the same filter");
    if (from->device != into->device)
        return hd_fail(HEDDLE_ERROR_INVALID, "merge: the filters are on two devices");
    if (from->options.key_bits != into->options.key_bits)
        return hd_fail(HEDDLE_ERROR_INVALID, "merge: keys have %u and %u bits",
                       into->options.key_bits, from->options.key_bits);
    if (from->view.blocks != into->view.blocks || from->view.hashes != into->view.hashes)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "merge: the filters have %llu and %llu bits, %u and %u hashes",
                       (unsigned long long)into->view.blocks * HD_FILTER_BLOCK_BITS,
                       (unsigned long long)from->view.blocks * HD_FILTER_BLOCK_BITS,
                       into->view.hashes, from->view.hashes);
    if (from->options.seed != into->options.seed)
        return hd_fail(HEDDLE_ERROR_INVALID, "merge: the filters have different seeds");
    return HEDDLE_OK;
}

heddle_status heddle_filter_merge(heddle_filter *into, heddle_filter *from, void *stream)
{
    heddle_status status;
    HD_TRY(check_merge(into, from, stream));
    if (into->engine->host_memory) pthread_mutex_lock(&into->adder);
    status = into->ops->merge(into->device, &into->view, from->view.words, stream);
    if (into->engine->host_memory) pthread_mutex_unlock(&into->adder);
    if (status == HEDDLE_OK)
        __atomic_fetch_add(&into->added, hd_filter_added(from), __ATOMIC_RELAXED);
    return status;
}

heddle_status heddle_filter_clear(heddle_filter *filter, void *stream)
{
    HD_TRY(hd_filter_check(filter, stream, "clear"));
    HD_TRY(filter->engine->fill(filter->device, filter->view.words, 0, hd_filter_bytes(filter),
                                stream));
    __atomic_store_n(&filter->added, 0, __ATOMIC_RELAXED);
    return HEDDLE_OK;
}

static heddle_status take_census(heddle_filter *filter, hd_filter_census *census, void *stream)
{
    const hd_engine *engine = filter->engine;
    HD_SCRATCH(scratch, filter->device);
    void *words = NULL;
    HD_TRY(hd_scratch_take(&scratch, sizeof *census, &words));
    HD_TRY(engine->fill(filter->device, words, 0, sizeof *census, stream));
    HD_TRY(filter->ops->inspect(filter->device, &filter->view, (hd_filter_census *)words, stream));
    HD_TRY(engine->copy(filter->device, census, words, sizeof *census, stream));
    return engine->synchronize(filter->device, stream);
}

heddle_status heddle_filter_get_stats(heddle_filter *filter, heddle_filter_stats *stats,
                                      void *stream)
{
    hd_filter_census census;
    HD_TRY(hd_filter_check(filter, stream, "get_stats"));
    heddle_filter_stats own = HEDDLE_FILTER_STATS_INIT;
    HD_TRY(hd_check_struct(stats, &hd_filter_stats_kind));
    HD_TRY(take_census(filter, &census, stream));
    own.hashes = filter->view.hashes;
    own.bits = (uint64_t)filter->view.blocks * HD_FILTER_BLOCK_BITS;
    own.bits_set = census.set;
    own.keys_added = hd_filter_added(filter);
    own.rate_expected = hd_filter_rate(own.keys_added, filter->view.blocks, filter->view.hashes);
    own.rate_found = census.passed / (double)filter->view.blocks;
    hd_write_struct(stats, &own, &hd_filter_stats_kind);
    return HEDDLE_OK;
}

heddle_status heddle_filter_validate(heddle_filter *filter, void *stream)
{
    hd_filter_census census;
    HD_TRY(hd_filter_check(filter, stream, "validate"));
    HD_TRY(take_census(filter, &census, stream));
    if (census.broken != 0)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu blocks have bits of some hashes and not of all",
                       (unsigned long long)census.broken);
    if (census.keys > hd_filter_added(filter))
        return hd_fail(HEDDLE_ERROR_CORRUPT,
                       "the bits that are set take %llu keys at least, and %llu were added",
                       (unsigned long long)census.keys,
                       (unsigned long long)hd_filter_added(filter));
    return HEDDLE_OK;
}
