/*
 * shelf.h: tables larger than memory. Included by heddle.h. The rules of heddle.h hold here too,
 * except for what is said below.
 *
 *     heddle_shelf *shelf;
 *     heddle_shelf_options shelf_options = HEDDLE_SHELF_OPTIONS_INIT;
 *     shelf_options.memory = UINT64_C(8) << 30;
 *     heddle_shelf_create(device, "people.shelf", &table_options, &shelf_options, &shelf);
 *     heddle_shelf_build(shelf, keys, values, n, NULL, NULL);
 *     heddle_shelf_find(shelf, queries, m, answers, found, NULL);
 *     heddle_shelf_close(shelf);
 *
 * A shelf is a table that is kept in a directory, in parts: each is the file of a table
 * (heddle_table_save) with the keys of one range of a hash, and fits the memory that the shelf is
 * allowed. A call sorts its batch by parts, in memory or, where it does not fit, in files without a
 * name; then it works on one part after the other, and brings the answers into the order of the
 * questions. Parts that have become too large are divided. When the memory of a GPU is too small,
 * the directory may be in host memory (/dev/shm).
 *
 * Every call goes through the parts that its keys belong to, so give it large batches. Between
 * calls parts stay in memory, up to a quarter of the memory that the shelf is allowed.
 *
 * Arrays.   In host memory, also those of a column (column_file.h). A call reads or writes them
 *           once or twice, from the front to the back.
 * Memory.   `memory` bounds the tables and the scratch memory of a call, of the host and of the
 *           device alike, by an estimate of what the kind of table needs. On a CPU calls take at
 *           most an eighth more, and 1 MiB that does not scale down: 6 MiB in hashgraph sets and
 *           counters and in bucket lists. It does not count the caller's arrays, nor what the
 *           operating system keeps of files; on a GPU the staging buffers of its device come on
 *           top. Pairs of one key are never divided: a multimap needs memory for all pairs of its
 *           most frequent key.
 * Disk.     A call that changes parts writes them anew beside the old ones. So the disk needs room
 *           for a second copy of the parts that change, and for the batch where it does not fit
 *           into memory.
 * Streams.  There are none: calls return when they are done.
 * Threads.  Calls on a shelf may come from any thread; they run one after the other.
 * Failure.  A call that changes the shelf does so whole or not at all: new parts count from the
 *           moment when one small file that names all of them has been replaced. Failures, full
 *           disks, cancelled calls and killed processes leave the shelf as it was; so do machines
 *           that stop, if the file system has kept what it confirmed. One failure comes after that
 *           moment: the disk could not confirm the changes. The call then returns HEDDLE_ERROR_IO
 *           with the changes made, and says so. Answers of a call that fails may be written in
 *           part.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_SHELF_H
#define HEDDLE_SHELF_H

#ifdef __cplusplus
extern "C" {
#endif

/* A table in a directory. */
typedef struct heddle_shelf heddle_shelf;

/* The phases of a call. */
#define HEDDLE_SHELF_COUNT 0   /* counting the batch by parts; in rows */
#define HEDDLE_SHELF_SORT 1    /* sorting it; in rows */
#define HEDDLE_SHELF_WORK 2    /* the parts' tables at work; in rows, or in pairs where there is no
                                  batch */
#define HEDDLE_SHELF_DELIVER 3 /* answers into the order of the questions; in rows */
#define HEDDLE_SHELF_COMMIT 4  /* before the changes begin to count (0 of 1), and after (1 of 1) */
#define HEDDLE_SHELF_PHASES 5

/*
 * A function of the caller's that learns how far a call has come. It is called from the thread of
 * the call, before every piece of work and at the end of every phase. It returns 0 to go on; with
 * another number the call ends with HEDDLE_ERROR_CANCELLED and the shelf is as it was. At 1 of 1 of
 * COMMIT nothing can be undone any more and the number is ignored. The function must not use the
 * shelf.
 */
typedef uint32_t (*heddle_progress)(void *context, uint32_t phase, uint64_t done, uint64_t total);

#define HEDDLE_SHELF_READ_ONLY 1u /* of an existing shelf: others may read it at the same time */

/* How an open shelf works. */
typedef struct heddle_shelf_options {
    uint32_t size;            /* sizeof(heddle_shelf_options) */
    uint32_t flags;           /* HEDDLE_SHELF_* */
    uint64_t memory;          /* bytes that calls keep to, at least 4096; 0 chooses half of what is
                                 free on the device and on the host, the smaller of both */
    uint64_t seed;            /* of the hash that says to which part a key belongs; 0 draws one. Not
                                 of an existing shelf, which has its own */
    const char *scratch;      /* the directory for sorting batches that do not fit into memory;
                                 NULL: the shelf's own */
    heddle_progress progress; /* NULL, or the function that learns how far calls have come */
    void *context;            /* handed to it */
} heddle_shelf_options;
#define HEDDLE_SHELF_OPTIONS_INIT {sizeof(heddle_shelf_options), 0, 0, 0, NULL, NULL, NULL}

/*
 * Makes an empty shelf in `directory`, which is made if it is not there; one that holds a shelf
 * gives HEDDLE_ERROR_INVALID. `table` are the options of the parts, as for heddle_table_create;
 * their `capacity` is not used, and HEDDLE_FLAG_FIXED is refused: a shelf grows. NULL options are
 * the defaults. The device must outlive the shelf.
 */
HEDDLE_API heddle_status heddle_shelf_create(heddle_device *device, const char *directory,
                                             const heddle_table_options *table,
                                             const heddle_shelf_options *options,
                                             heddle_shelf **shelf);
/*
 * Opens a shelf that is there, on any device, and removes files that unfinished calls have left. A
 * shelf that is open already, here or in another process, gives HEDDLE_ERROR_IO, unless both only
 * read. A directory without a shelf gives HEDDLE_ERROR_IO, a damaged one HEDDLE_ERROR_FORMAT. This
 * call finds out whether the file of a part is missing or has another length; a call that needs the
 * part finds out whether the file is damaged.
 */
HEDDLE_API heddle_status heddle_shelf_open(heddle_device *device, const char *directory,
                                           const heddle_shelf_options *options,
                                           heddle_shelf **shelf);
/* Frees the memory. All changes are in the directory already. NULL is accepted. */
HEDDLE_API void heddle_shelf_close(heddle_shelf *shelf);
/* The options of the parts, with the scheme and value_bits as chosen. */
HEDDLE_API heddle_status heddle_shelf_get_options(heddle_shelf *shelf,
                                                  heddle_table_options *options);
/* As heddle_table_check_widths. heddle/typed_shelf.h asks this before every call. */
HEDDLE_API heddle_status heddle_shelf_check_widths(const heddle_shelf *shelf, uint32_t key_bits,
                                                   uint32_t value_bits);

/* As heddle_table_build and heddle_table_insert. `workspace` must be NULL. No key fails. */
HEDDLE_API heddle_status heddle_shelf_build(heddle_shelf *shelf, const void *keys,
                                            const void *values, uint64_t n,
                                            const heddle_insert_options *options,
                                            heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_insert(heddle_shelf *shelf, const void *keys,
                                             const void *values, uint64_t n,
                                             const heddle_insert_options *options,
                                             heddle_totals *totals);
/*
 * As heddle_table_find, heddle_table_contains and heddle_table_count: values of absent keys are
 * left as they are.
 */
HEDDLE_API heddle_status heddle_shelf_find(heddle_shelf *shelf, const void *keys, uint64_t n,
                                           void *values, uint8_t *found, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_contains(heddle_shelf *shelf, const void *keys, uint64_t n,
                                               uint8_t *found, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_count(heddle_shelf *shelf, const void *keys, uint64_t n,
                                            uint64_t *matches, heddle_totals *totals);
/* As heddle_table_erase. Parts of which nothing was erased are not written. */
HEDDLE_API heddle_status heddle_shelf_erase(heddle_shelf *shelf, const void *keys, uint64_t n,
                                            uint8_t *found, heddle_totals *totals);
/* As heddle_table_retrieve: counts first, then goes through the parts once more. */
HEDDLE_API heddle_status heddle_shelf_retrieve(heddle_shelf *shelf, const void *keys, uint64_t n,
                                               uint64_t *offsets, void *values, uint64_t capacity,
                                               uint64_t *count);
/*
 * As heddle_table_export and heddle_table_for_all: part by part. The visitor must not use the
 * shelf, not even to read.
 */
HEDDLE_API heddle_status heddle_shelf_export(heddle_shelf *shelf, void *keys, void *values,
                                             uint64_t capacity, uint64_t *size);
HEDDLE_API heddle_status heddle_shelf_for_all(heddle_shelf *shelf, heddle_visitor visit,
                                              void *context);
/* Removes all keys. */
HEDDLE_API heddle_status heddle_shelf_clear(heddle_shelf *shelf);
/* The keys of all parts, in a multimap the pairs. Looks at no file. */
HEDDLE_API heddle_status heddle_shelf_size(heddle_shelf *shelf, uint64_t *size);

/* What a shelf has in its directory and in memory, and what its calls have done. */
typedef struct heddle_shelf_stats {
    uint32_t size;          /* sizeof(heddle_shelf_stats), set by the caller */
    uint32_t parts;         /* ranges of the hash */
    uint32_t parts_filled;  /* parts with keys, which have a file */
    uint32_t parts_loaded;  /* parts that are in memory now */
    uint64_t keys;          /* in a multimap pairs */
    uint64_t keys_most;     /* of the fullest part */
    uint64_t keys_limit;    /* keys at which a part is divided */
    uint64_t memory;        /* bytes that calls keep to */
    uint64_t bytes_loaded;  /* of the parts in memory */
    uint64_t bytes_files;   /* of all parts */
    uint64_t bytes_read;    /* of parts, since the shelf was opened */
    uint64_t bytes_written; /* of parts, since then */
    uint64_t bytes_spilled; /* of batches that were sorted in files, since then */
    uint64_t divided;       /* parts that had become too large, since then */
    double seconds[HEDDLE_SHELF_PHASES]; /* of the last call */
} heddle_shelf_stats;
#define HEDDLE_SHELF_STATS_INIT \
    {sizeof(heddle_shelf_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0.0, 0.0, 0.0, 0.0, 0.0}}

/* Looks at no file. */
HEDDLE_API heddle_status heddle_shelf_get_stats(heddle_shelf *shelf, heddle_shelf_stats *stats);
/*
 * Loads every part, calls heddle_table_validate, and checks that it holds as many keys as it should
 * and none that belongs to another part. HEDDLE_ERROR_CORRUPT or HEDDLE_ERROR_FORMAT with the
 * reason in heddle_last_error().
 */
HEDDLE_API heddle_status heddle_shelf_validate(heddle_shelf *shelf);

#ifdef __cplusplus
}
#endif

#endif
