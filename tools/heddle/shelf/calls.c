/* calls.c: the calls of `heddle shelf`; see calls.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "read.h"
#include "shelf/calls.h"

#define GIVE_UP_ROWS (UINT64_C(1) << 20)

/* A call at work. */
typedef struct shelf_work {
    const shelf_options *o;
    heddle_device *device;
    heddle_shelf *shelf;
    bool was_there; /* before the call */
    heddle_table_options options;
    heddle_column_file *keys, *values, *found, *matches;
    /* how far it is */
    uint32_t phase;
    uint64_t passed; /* rows of the columns whose pages have been given up */
} shelf_work;

/* ------------------------------------------------------------------------------------- progress */

/*
 * Rows that were read by this phase, or written, are not needed again soon. From the front each time: the system
 * brings pages back that lie beside one that is used.
 */
static void give_up(shelf_work *w, uint32_t phase, uint64_t done)
{
    heddle_column_file *const columns[] = {w->keys, w->values, w->found, w->matches};
    const bool moves =
        phase == HEDDLE_SHELF_COUNT || phase == HEDDLE_SHELF_SORT || phase == HEDDLE_SHELF_DELIVER;
    if (!moves || done < w->passed + GIVE_UP_ROWS) return;
    for (int i = 0; i < 4; i++) {
        const uint64_t count = heddle_column_file_count(columns[i]);
        if (columns[i] != NULL && done <= count)
            (void)heddle_column_file_advise(columns[i], 0, done, HEDDLE_ADVICE_DONE);
    }
    w->passed = done;
}

/* heddle_progress. */
static uint32_t tell(void *context, uint32_t phase, uint64_t done, uint64_t total)
{
    static const char *const names[HEDDLE_SHELF_PHASES] = {
        "counting rows", "sorting rows", "working on parts", "delivering answers", "committing"};
    shelf_work *w = (shelf_work *)context;
    if (phase != w->phase || done < w->passed) w->passed = 0;
    if (phase != w->phase) progress_go(phase, names[phase]);
    w->phase = phase;
    give_up(w, phase, done);
    progress_part(total != 0 ? (double)done / (double)total : 1);
    return 0;
}

/* A call that has worked is done, whatever phases it did not need. */
static void end_progress(int status)
{
    if (status == TOOL_OK) progress_done();
    progress_hide();
}

/* ---------------------------------------------------------------------------------------- files */

static int open_column(const char *path, uint32_t bits, heddle_column_file **column)
{
    if (path == NULL) return TOOL_OK;
    return tool_try(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, bits, column), path);
}

/* Keys are compared by their bits, and the bits of equal floats may differ: 0.0 and -0.0. */
static int open_keys(shelf_work *w, uint32_t bits)
{
    const int status = open_column(w->o->keys, bits, &w->keys);
    if (status != TOOL_OK || heddle_column_file_element_kind(w->keys) != HEDDLE_ELEMENT_FLOAT)
        return status;
    return tool_refuse("%s holds floats: keys are integers", w->o->keys);
}

static int make_column(const char *path, uint32_t bits, uint64_t count, heddle_column_file **column)
{
    if (path == NULL) return TOOL_OK;
    return tool_try(heddle_column_file_create(path, bits, count, column), path);
}

static void close_columns(shelf_work *w)
{
    heddle_column_file_close(w->keys);
    heddle_column_file_close(w->values);
    heddle_column_file_close(w->found);
    heddle_column_file_close(w->matches);
}

/* Answers that are not whole are no answers. Files that were not made by this call stay. */
static void remove_answers(const shelf_work *w)
{
    const shelf_options *o = w->o;
    if (o->command == SHELF_EXPORT && w->keys != NULL) (void)unlink(o->keys);
    if (w->values != NULL) (void)unlink(o->values); /* which only find and export have made */
    if (w->found != NULL) (void)unlink(o->found);
    if (w->matches != NULL) (void)unlink(o->matches);
}

/* ---------------------------------------------------------------------------------------- open */

static heddle_shelf_options options_of(shelf_work *w)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    const uint32_t command = w->o->command;
    options.memory = w->o->memory;
    options.seed = w->o->seed;
    options.scratch = w->o->scratch;
    options.progress = tell;
    options.context = w;
    if (command != SHELF_BUILD && command != SHELF_INSERT && command != SHELF_ERASE)
        options.flags = HEDDLE_SHELF_READ_ONLY;
    return options;
}

/* The bits of a file that says so; 64 of one that does not. */
static uint32_t bits_of(const char *path, uint32_t given)
{
    heddle_column_file *column = NULL;
    uint32_t bits = given;
    if (bits == 0 &&
        heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 0, &column) == HEDDLE_OK)
        bits = heddle_column_file_element_bits(column);
    heddle_column_file_close(column);
    return bits == 32 || bits == 64 ? bits : 64;
}

/* Opens the columns to write, if they are not yet. */
static int open_pairs(shelf_work *w, uint32_t key_bits, uint32_t value_bits)
{
    int status = w->keys != NULL ? TOOL_OK : open_keys(w, key_bits);
    if (status == TOOL_OK && value_bits == 0 && w->o->values != NULL)
        return tool_refuse("the shelf is a set, which takes no --values");
    if (status == TOOL_OK && w->values == NULL)
        status = open_column(w->o->values, value_bits, &w->values);
    if (status != TOOL_OK) return status;
    const uint64_t n = heddle_column_file_count(w->keys);
    if (w->values != NULL && heddle_column_file_count(w->values) != n)
        return tool_refuse("%s has %llu keys, %s has %llu values", w->o->keys,
                           (unsigned long long)n, w->o->values,
                           (unsigned long long)heddle_column_file_count(w->values));
    return TOOL_OK;
}

/* Once it is known that there are columns for it. */
static int make_shelf(shelf_work *w, const heddle_shelf_options *options)
{
    const shelf_options *o = w->o;
    heddle_table_options table = HEDDLE_TABLE_OPTIONS_INIT;
    table.container = o->container != 0   ? o->container
                      : o->values != NULL ? HEDDLE_CONTAINER_MAP
                                          : HEDDLE_CONTAINER_SET;
    table.scheme = o->scheme;
    table.key_bits = bits_of(o->keys, o->key_bits);
    if (table.container != HEDDLE_CONTAINER_SET)
        table.value_bits = o->values != NULL ? bits_of(o->values, o->value_bits) : o->value_bits;
    const int status = open_pairs(w, table.key_bits, table.value_bits);
    if (status != TOOL_OK) return status;
    return tool_try(heddle_shelf_create(w->device, o->directory, &table, options, &w->shelf),
                    "making the shelf");
}

static bool is_there(const char *directory)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/manifest.heddle", directory);
    return access(path, F_OK) == 0;
}

static const char *const containers[] = {"", "map", "set", "multimap", "counter"};
static const char *const schemes[] = {"auto",    "cuckoo",      "hashgraph", "open",
                                      "iceberg", "bucket_list", "slab"};

static int refuse_other(const shelf_work *w, const char *option)
{
    char values[32] = "";
    if (w->options.value_bits != 0)
        (void)snprintf(values, sizeof values, ", values of %u", w->options.value_bits);
    return tool_refuse(
        "the shelf %s is there already: a %s by %s, keys of %u bits%s; leave out %s, or remove the "
        "directory to make another",
        w->o->directory, containers[w->options.container], schemes[w->options.scheme],
        w->options.key_bits, values, option);
}

/* What `build` was told of a shelf that it would make, and that is there already. */
static int check_same(const shelf_work *w)
{
    const shelf_options *o = w->o;
    if (o->command != SHELF_BUILD || !w->was_there) return TOOL_OK;
    if (o->container != 0 && o->container != w->options.container)
        return refuse_other(w, "--container");
    if (o->scheme != HEDDLE_SCHEME_AUTO && o->scheme != w->options.scheme)
        return refuse_other(w, "--scheme");
    if (o->key_bits != 0 && o->key_bits != w->options.key_bits)
        return refuse_other(w, "--key-bits");
    if (o->value_bits != 0 && o->value_bits != w->options.value_bits)
        return refuse_other(w, "--value-bits");
    return o->seed == 0 ? TOOL_OK : refuse_other(w, "--seed");
}

static int open_shelf(shelf_work *w)
{
    const heddle_shelf_options options = options_of(w);
    int status;
    if (heddle_device_open(w->o->device, &w->device) != HEDDLE_OK)
        return tool_refuse("%s", heddle_last_error());
    w->was_there = is_there(w->o->directory);
    if (w->o->command == SHELF_BUILD && !w->was_there) status = make_shelf(w, &options);
    else
        status = tool_try(heddle_shelf_open(w->device, w->o->directory, &options, &w->shelf),
                          "opening the shelf");
    w->options.size = sizeof w->options;
    if (status == TOOL_OK)
        status = tool_try(heddle_shelf_get_options(w->shelf, &w->options), "shelf");
    return status == TOOL_OK ? check_same(w) : status;
}

/* --------------------------------------------------------------------------------------- calls */

static void print_totals(const heddle_totals *t, bool writes)
{
    if (writes)
        (void)printf("inserted %llu\nupdated  %llu\nkept     %llu\n",
                     (unsigned long long)t->inserted, (unsigned long long)t->updated,
                     (unsigned long long)t->kept);
    else
        (void)printf("found    %llu\nabsent   %llu\n", (unsigned long long)t->found,
                     (unsigned long long)t->absent);
}

static int write_pairs(shelf_work *w)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    int status = open_pairs(w, w->options.key_bits, w->options.value_bits);
    if (status != TOOL_OK) return status;
    const uint64_t n = heddle_column_file_count(w->keys);
    options.policy = w->o->policy;
    progress_start(HEDDLE_SHELF_PHASES);
    status = tool_try((w->o->command == SHELF_BUILD ? heddle_shelf_build : heddle_shelf_insert)(
                          w->shelf, heddle_column_file_data(w->keys),
                          heddle_column_file_data(w->values), n, &options, &totals),
                      "shelf");
    end_progress(status);
    if (status == TOOL_OK) print_totals(&totals, true);
    return status;
}

static heddle_status ask(shelf_work *w, uint64_t n, heddle_totals *totals)
{
    const void *keys = heddle_column_file_data(w->keys);
    uint8_t *found = (uint8_t *)heddle_column_file_data(w->found);
    void *values = heddle_column_file_data(w->values);
    if (w->o->command == SHELF_ERASE) return heddle_shelf_erase(w->shelf, keys, n, found, totals);
    if (w->o->command == SHELF_COUNT)
        return heddle_shelf_count(w->shelf, keys, n,
                                  (uint64_t *)heddle_column_file_data(w->matches), totals);
    return values != NULL ? heddle_shelf_find(w->shelf, keys, n, values, found, totals)
                          : heddle_shelf_contains(w->shelf, keys, n, found, totals);
}

static int ask_keys(shelf_work *w)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    int status = open_keys(w, w->options.key_bits);
    if (status != TOOL_OK) return status;
    if (w->o->values != NULL && w->options.value_bits == 0)
        return tool_refuse("the shelf is a set, which has no values");
    const uint64_t n = heddle_column_file_count(w->keys);
    status = make_column(w->o->values, w->options.value_bits, n, &w->values);
    if (status == TOOL_OK) status = make_column(w->o->found, 8, n, &w->found);
    if (status == TOOL_OK) status = make_column(w->o->matches, 64, n, &w->matches);
    progress_start(w->o->command == SHELF_ERASE ? HEDDLE_SHELF_PHASES : HEDDLE_SHELF_COMMIT);
    if (status == TOOL_OK) status = tool_try(ask(w, n, &totals), "shelf");
    end_progress(status);
    if (status == TOOL_OK) print_totals(&totals, false);
    else remove_answers(w);
    return status;
}

static int export_pairs(shelf_work *w)
{
    uint64_t n = 0;
    int status = tool_try(heddle_shelf_size(w->shelf, &n), "size");
    if (status == TOOL_OK && w->o->values != NULL && w->options.value_bits == 0)
        return tool_refuse("the shelf is a set, which has no values");
    if (status == TOOL_OK) status = make_column(w->o->keys, w->options.key_bits, n, &w->keys);
    if (status == TOOL_OK) status = make_column(w->o->values, w->options.value_bits, n, &w->values);
    progress_start(HEDDLE_SHELF_WORK + 1);
    if (status == TOOL_OK)
        status = tool_try(heddle_shelf_export(w->shelf, heddle_column_file_data(w->keys),
                                              heddle_column_file_data(w->values), n, &n),
                          "export");
    end_progress(status);
    if (status == TOOL_OK) (void)printf("pairs    %llu\n", (unsigned long long)n);
    else remove_answers(w);
    return status;
}

static int print_stats(shelf_work *w)
{
    heddle_shelf_stats s = HEDDLE_SHELF_STATS_INIT;
    const int status = tool_try(heddle_shelf_get_stats(w->shelf, &s), "stats");
    if (status != TOOL_OK) return status;
    (void)printf("container    %s\nscheme       %s\nkey bits     %u\nvalue bits   %u\n",
                 containers[w->options.container], schemes[w->options.scheme], w->options.key_bits,
                 w->options.value_bits);
    (void)printf("keys         %llu\nparts        %u\nfilled       %u\nfullest      %llu keys\n"
                 "files        %s\n",
                 (unsigned long long)s.keys, s.parts, s.parts_filled,
                 (unsigned long long)s.keys_most, tool_size_text((double)s.bytes_files));
    (void)printf("memory       %s\npart limit   %llu keys\n", tool_size_text((double)s.memory),
                 (unsigned long long)s.keys_limit);
    return TOOL_OK;
}

static int validate(shelf_work *w)
{
    progress_start(HEDDLE_SHELF_WORK + 1);
    const int status = tool_try(heddle_shelf_validate(w->shelf), "validate");
    end_progress(status);
    if (status == TOOL_OK) (void)printf("the shelf is valid\n");
    return status;
}

int shelf_run(const shelf_options *o)
{
    static int (*const calls[SHELF_COMMANDS])(shelf_work * w) = {
        write_pairs, write_pairs,  ask_keys,    ask_keys,
        ask_keys,    export_pairs, print_stats, validate};
    shelf_work w;
    memset(&w, 0, sizeof w);
    w.o = o;
    w.phase = HEDDLE_SHELF_PHASES;
    int status = open_shelf(&w);
    if (status == TOOL_OK) status = calls[o->command](&w);
    close_columns(&w);
    heddle_shelf_close(w.shelf);
    heddle_device_close(w.device);
    return status;
}
