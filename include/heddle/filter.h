/*
 * filter.h: Bloom filters, which answer "was this key added?" with "no" or "probably". Included by
 * heddle.h; its rules hold here too.
 *
 *     heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
 *     options.capacity = n;
 *     heddle_filter_create(device, &options, &filter);
 *     heddle_filter_add(filter, keys, n, NULL);
 *     heddle_filter_contains(filter, queries, m, found, NULL, NULL);
 *
 * A key that was added is always found. A key that was not added is found now and then: with 16
 * bits a key once in 760 times. A filter is much smaller than a table, and a look at it costs one
 * access to memory. So ask it first where most keys are absent: heddle_filter_select leaves the
 * keys that are worth a search. A filter does not grow: with more keys than its capacity it finds
 * more keys that were not added, and still all that were.
 *
 * Threads. add, contains, select and merge may run on one filter at the same time, from several
 * threads and on several streams, also with each other; adds take turns on a CPU. A call that
 * begins after the add of a key has ended surely finds the key. clear needs the filter alone. The
 * calls that read a whole filter (get_stats, validate, save) must not run while another call
 * changes the filter.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_FILTER_H
#define HEDDLE_FILTER_H

#ifdef __cplusplus
extern "C" {
#endif

/* A Bloom filter on a device. */
typedef struct heddle_filter heddle_filter;

/*
 * add never sorts keys, which would be faster for many of them. So it takes no scratch memory, and
 * with keys in device memory it is queued on the stream and returns at once, whatever their number.
 */
#define HEDDLE_FILTER_DIRECT 1u

/* Every 0 lets the library choose, except in `capacity`. */
typedef struct heddle_filter_options {
    uint32_t size;     /* sizeof(heddle_filter_options); the initialiser sets it */
    uint32_t key_bits; /* 32 or 64; 32 by default */
    uint32_t hashes;   /* bits of a key, 1 to 16; 0 chooses the number with the fewest false
                          positives */
    uint32_t flags;    /* HEDDLE_FILTER_* */
    uint64_t capacity; /* keys to make room for, at least 1 */
    double bits_per_key; /* of room for each of them, 1 to 512; 0 chooses 16 */
    uint64_t seed;       /* of the hash functions; 0 draws one. Filters that are merged share
                            theirs. */
} heddle_filter_options;
#define HEDDLE_FILTER_OPTIONS_INIT {sizeof(heddle_filter_options), 32, 0, 0, 0, 0.0, 0}

/* Makes an empty filter on `device`, which must outlive it. Allocates and synchronises. */
HEDDLE_API heddle_status heddle_filter_create(heddle_device *device,
                                              const heddle_filter_options *options,
                                              heddle_filter **filter);
/* Waits for the device and frees the filter. NULL is accepted. */
HEDDLE_API void heddle_filter_destroy(heddle_filter *filter);
/* The options with every 0 replaced by what was chosen. options->size is set by the caller. */
HEDDLE_API heddle_status heddle_filter_get_options(const heddle_filter *filter,
                                                   heddle_filter_options *options);
/*
 * HEDDLE_OK when the filter's keys have key_bits bits, else HEDDLE_ERROR_INVALID and a sentence
 * that names both widths. heddle/typed_filter.h asks this before every call.
 */
HEDDLE_API heddle_status heddle_filter_check_width(const heddle_filter *filter, uint32_t key_bits);
/* The device a filter lives on. */
HEDDLE_API heddle_device *heddle_filter_device(const heddle_filter *filter);

/*
 * Adds n keys. Keys may repeat or be there already. Many keys at once are sorted first, if the
 * device has scratch memory for them (twice the keys, 2^28 of them at a time); such a call returns
 * when it is done. See HEDDLE_FILTER_DIRECT.
 */
HEDDLE_API heddle_status heddle_filter_add(heddle_filter *filter, const void *keys, uint64_t n,
                                           void *stream);
/*
 * found[i] becomes 1 where keys[i] may have been added, 0 where it was not. *count (host memory),
 * where not NULL, becomes the number of ones, and the call waits. Either may be NULL.
 */
HEDDLE_API heddle_status heddle_filter_contains(heddle_filter *filter, const void *keys, uint64_t n,
                                                uint8_t *found, uint64_t *count, void *stream);
/*
 * Writes the keys that may have been added to `selected`, in their order, their rows, counted from
 * 0, to `rows`, and their number to *count (host memory). The arrays have room for n and may be
 * NULL. Takes scratch memory of a byte a key and waits.
 */
HEDDLE_API heddle_status heddle_filter_select(heddle_filter *filter, const void *keys, uint64_t n,
                                              void *selected, uint64_t *rows, uint64_t *count,
                                              void *stream);
/*
 * Adds all keys of `from` to `into`. Both are on one device, were made with the same options and
 * seed, and are different filters; else HEDDLE_ERROR_INVALID. Queued on the stream.
 */
HEDDLE_API heddle_status heddle_filter_merge(heddle_filter *into, heddle_filter *from,
                                             void *stream);
/* Forgets all keys. Queued on the stream. */
HEDDLE_API heddle_status heddle_filter_clear(heddle_filter *filter, void *stream);

/* What heddle_filter_get_stats finds in a filter. */
typedef struct heddle_filter_stats {
    uint32_t size;     /* sizeof(heddle_filter_stats), set by the caller */
    uint32_t hashes;   /* bits of a key */
    uint64_t bits;     /* of the filter: a little more than capacity * bits_per_key */
    uint64_t bits_set; /* bits of the filter that are 1 */
    uint64_t keys_added;  /* with every repetition, and those of merged filters */
    double rate_expected; /* of false positives, by theory, if keys_added different keys are in it
                             */
    double rate_found;    /* of false positives, as the bits that are set make it */
} heddle_filter_stats;
#define HEDDLE_FILTER_STATS_INIT {sizeof(heddle_filter_stats), 0, 0, 0, 0, 0.0, 0.0}

/* Looks at the whole filter and waits. */
HEDDLE_API heddle_status heddle_filter_get_stats(heddle_filter *filter, heddle_filter_stats *stats,
                                                 void *stream);
/*
 * Looks for bits that no key can have set: blocks in which some hashes have bits and others none,
 * or more of them than the keys added explain. HEDDLE_ERROR_CORRUPT when there are any. A bit that
 * was lost in another way is not noticed. Waits.
 */
HEDDLE_API heddle_status heddle_filter_validate(heddle_filter *filter, void *stream);

/*
 * Writes the filter to a file that any device can load. An older file stays until the new one is
 * whole.
 */
HEDDLE_API heddle_status heddle_filter_save(heddle_filter *filter, const char *path, void *stream);
/* Makes a filter from a file, with the options and the seed it was saved with. */
HEDDLE_API heddle_status heddle_filter_load(heddle_device *device, const char *path,
                                            heddle_filter **filter);

#ifdef __cplusplus
}
#endif

#endif
