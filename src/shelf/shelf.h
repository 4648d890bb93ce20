/*
 * shelf.h: a table in a directory that may be larger than memory, and what its operations share.
 *
 * The hash of a key, under a mix of the shelf's own (route/spread.h says why it is not the tables'), has
 * HD_SHELF_BITS leading bits that name a bin. A part is a range of bins; all parts together are all of them.
 * Files never change: a changed part is a new file with a new number, and the manifest says which files count.
 *
 * An insertion or a build, in order:
 *
 *   write.c           heddle_shelf_build, heddle_shelf_insert: the steps
 *   sorting.c         the batch is sorted by places, which are ranges of bins (sorting.h)
 *     places.c        which places: rows are counted, bins taken together
 *     spill.c         the sorted arrays, in memory or in files without a name
 *   fill.c            a part is filled from places, divided where it would become too large (fill.h)
 *     sorted_pairs.c  the pairs of a part that is divided
 *     parts.c         tables of parts, and their files
 *   answers.c         outcomes and answers into the order of the batch
 *   commit.c          the new parts become those of the shelf
 *     manifest.c      the file that says which parts count
 *
 * A question (ask.h) is sorted and answered likewise, part by part:
 *
 *   ask.c             find, contains, count, erase
 *   retrieve.c        all values of every key
 *
 * And what is no batch:
 *
 *   open.c            making, opening and closing
 *   call.c            how every call begins and ends, how far it is, how much memory a part takes
 *   whole.c           size, statistics, export, visitors, clear, validation
 *   column/           arrays in files (heddle/column_file.h)
 */
#ifndef HD_SHELF_H
#define HD_SHELF_H

#include <heddle/shelf.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/engine.h"
#include "route/spread.h"

/* As many as the engines sort by (HD_PARTITION_BITS_MAX). */
#define HD_SHELF_BITS 20
#define HD_SHELF_BINS (UINT32_C(1) << HD_SHELF_BITS)
#define HD_SHELF_MEMORY_MIN 4096
#define HD_SHELF_LIMIT_MIN 16 /* pairs of a part, with however little memory */

/* Bins [first, first of the next part). */
typedef struct hd_shelf_part {
    uint32_t first;
    uint64_t file;       /* its number; 0: the part is empty and has none */
    uint64_t count;      /* pairs */
    uint64_t bytes;      /* of the file */
    heddle_table *table; /* NULL: not in memory */
    uint64_t loaded;     /* bytes of the table */
    bool kept;           /* while a call changes parts: this one stays */
} hd_shelf_part;

typedef struct hd_shelf_parts {
    hd_shelf_part *at;
    uint32_t count, room;
} hd_shelf_parts;

struct heddle_shelf {
    heddle_device *device;
    char *directory, *scratch;
    int lock; /* a file that is locked while the shelf is open */
    int64_t
        process; /* that has opened it. A child that was forked holds the same lock, which keeps neither away */
    bool read_only;
    heddle_table_options options; /* of the parts; capacity 0 */
    uint64_t seed, memory;
    uint64_t limit; /* pairs of a part, at most */
    int threads;    /* of the host, for what it does itself: as many as a CPU device has */
    heddle_progress progress;
    void *context;
    uint64_t last_file; /* number of the newest file */
    hd_shelf_parts parts;
    uint64_t loaded; /* bytes of all tables in memory */
    uint64_t bytes_read, bytes_written, bytes_spilled, divided;
    double seconds[HEDDLE_SHELF_PHASES], since;
    pthread_mutex_t mutex;
};

static inline uint32_t hd_shelf_key_width(const heddle_shelf *shelf)
{
    return shelf->options.key_bits / 8;
}
static inline uint32_t hd_shelf_value_width(const heddle_shelf *shelf)
{
    return shelf->options.value_bits / 8;
}
static inline uint32_t hd_shelf_part_end(const hd_shelf_parts *parts, uint32_t i)
{
    return i + 1 < parts->count ? parts->at[i + 1].first : HD_SHELF_BINS;
}

/* ------------------------------------------------------------------------------ call.c */

/* Begins a call: refuses a NULL shelf, and with `writes` one that is only read; then takes the lock. */
heddle_status hd_shelf_enter(heddle_shelf *shelf, bool writes, const char *what);
/* Ends it: scratch memory that the device has kept is freed, the lock given back. */
heddle_status hd_shelf_leave(heddle_shelf *shelf, heddle_status status);
/* The time since the last phase ended belongs to this one; tells the caller how far it is. */
heddle_status hd_shelf_progress(heddle_shelf *shelf, uint32_t phase, uint64_t done, uint64_t total);
/* An array of the caller's that can be used: there, aligned, in host memory. */
heddle_status hd_shelf_check(heddle_shelf *shelf, const void *array, uint64_t n, uint32_t width,
                             const char *what);
/* The pairs that a part may have. */
uint64_t hd_shelf_limit(const heddle_table_options *options, double load, uint64_t memory);

/* The memory of a table with so many pairs, about: to count it through would take long. */
uint64_t hd_shelf_table_bytes(const heddle_shelf *shelf, heddle_table *table, uint64_t count);

/* -------------------------------------------------------------------------- manifest.c */

/* Writes which files count; what was there before is replaced at once or not at all. */
heddle_status hd_manifest_write(const heddle_shelf *shelf, const hd_shelf_parts *parts);
/* The first one, of a new shelf; it lasts, or there is none. */
heddle_status hd_manifest_start(const heddle_shelf *shelf);
/* Options, seed, parts and last_file. */
heddle_status hd_manifest_read(heddle_shelf *shelf);
/* Whether a directory, which need not be there, holds a shelf. */
heddle_status hd_manifest_find(const char *directory, bool *there);
/* Removes files that the parts do not name: of calls that did not end. */
void hd_manifest_sweep(const heddle_shelf *shelf);
/* Writes the directory's own entries to the disk. */
heddle_status hd_directory_sync(const char *directory);
/* directory/name, from malloc. */
heddle_status hd_path_make(const char *directory, const char *name, char **path);

/* ----------------------------------------------------------------------------- parts.c */

/* Appends to a list. */
heddle_status hd_parts_append(hd_shelf_parts *parts, const hd_shelf_part *part);
/* An empty table with room for `capacity` pairs. */
heddle_status hd_part_create(heddle_shelf *shelf, uint64_t capacity, heddle_table **table);
/* The part's table, from memory or from its file; `more` pairs are to come. It stays the part's. */
heddle_status hd_part_load(heddle_shelf *shelf, hd_shelf_part *part, uint64_t more);
/* The part is needed soon: lets the system begin to read its file. Costs nothing if it is in memory. */
void hd_part_read_ahead(const heddle_shelf *shelf, const hd_shelf_part *part);
/* The loaded table, which is the part's no more: the next call loads the file again. */
heddle_table *hd_part_take_table(heddle_shelf *shelf, hd_shelf_part *part);
/* Keeps the table in memory if there is room for it, else frees it. */
void hd_part_release(heddle_shelf *shelf, hd_shelf_part *part);
void hd_part_unload(heddle_shelf *shelf, hd_shelf_part *part);
/* Writes the table to a new file of a new part, which gets the table; frees it when that fails. */
heddle_status hd_part_save(heddle_shelf *shelf, uint32_t first, heddle_table *table,
                           hd_shelf_part *part);
/* Whether the file is there, and as long as it should be. */
heddle_status hd_part_check(const heddle_shelf *shelf, const hd_shelf_part *part);
/* Takes no memory, of which there may be none. What stays behind is removed when the shelf is opened again. */
void hd_part_remove_file(const heddle_shelf *shelf, uint64_t file);
void hd_parts_unload(heddle_shelf *shelf, hd_shelf_parts *parts);

/* ---------------------------------------------------------------------------- commit.c */

/*
 * Parts of a call that changes the shelf, in order: one that stays as it is, and a new one, which is discarded
 * when the list has no room for it. Of neighbours that are empty one is enough.
 */
heddle_status hd_parts_keep(hd_shelf_parts *made, hd_shelf_part *old);
heddle_status hd_parts_add(heddle_shelf *shelf, hd_shelf_parts *made, hd_shelf_part *part);
/* The parts of a call become those of the shelf. When it fails before that, they are discarded. */
heddle_status hd_parts_commit(heddle_shelf *shelf, hd_shelf_parts *parts);
/* The call has failed: its new files are removed. */
void hd_parts_discard(heddle_shelf *shelf, hd_shelf_parts *parts);

#endif
