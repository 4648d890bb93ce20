/* shelf_model.c: see shelf_model.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/shelf_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/files.h"

/* ------------------------------------------------------------------------------------- running */

void shelved_run(shelved_function run)
{
    const char *wanted = getenv("HEDDLE_TEST_DEVICE");
    const bool gpus =
        heddle_cuda_device_count() != 0 && (wanted == NULL || strstr(wanted, "cuda") != NULL);
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        if (!shared_is_compiled(&shared_kinds[k])) continue;
        case_note("%s", shared_kinds[k].name);
        if (wanted == NULL || strstr(wanted, "cpu") != NULL)
            run(&shared_kinds[k], k % 2 == 0 ? "cpu:2" : "cpu:1");
        if (gpus) run(&shared_kinds[k], "cuda:0");
    }
    case_note("%s", "");
}

/* ---------------------------------------------------------------------------------------- life */

static char base[200];

static void remove_base(void) { (void)rmdir(base); }

/* In memory where that can be: a shelf waits for the disk after every file. */
static const char *base_directory(void)
{
    if (base[0] != '\0') return base;
    snprintf(base, sizeof base, "/dev/shm/heddle_shelf_XXXXXX");
    if (getenv("TMPDIR") != NULL || mkdtemp(base) == NULL)
        snprintf(base, sizeof base, "%s", files_directory());
    else atexit(remove_base);
    return base;
}

shelved shelved_create_with(const shared_kind *kind, const char *device,
                            const heddle_shelf_options *options)
{
    static uint32_t number;
    shelved s = {.options = *options};
    s.model.options = shared_options(kind);
    s.model.options.capacity = 0;
    s.options.seed = case_seed();
    snprintf(s.directory, sizeof s.directory, "%s/shelf_%u", base_directory(), number++);
    check_ok(heddle_device_open(device, &s.device));
    check_ok(heddle_shelf_create(s.device, s.directory, &s.model.options, &s.options, &s.shelf));
    s.model.pairs = malloc(sizeof *s.model.pairs);
    return s;
}

shelved shelved_create(const shared_kind *kind, const char *device, uint64_t memory)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    options.memory = memory;
    return shelved_create_with(kind, device, &options);
}

void shelved_reopen(shelved *s)
{
    heddle_shelf_close(s->shelf);
    s->shelf = NULL;
    check_ok(heddle_shelf_open(s->device, s->directory, &s->options, &s->shelf));
}

void shelved_remove(const char *directory)
{
    DIR *entries = opendir(directory);
    if (entries == NULL) return;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        (void)unlink(path);
    }
    closedir(entries);
    (void)rmdir(directory);
}

void shelved_destroy(shelved *s)
{
    heddle_shelf_close(s->shelf);
    heddle_device_close(s->device);
    free(s->model.pairs);
    s->model.pairs = NULL;
    shelved_remove(s->directory);
}

uint32_t shelved_files(const shelved *s)
{
    DIR *entries = opendir(s->directory);
    uint32_t files = 0;
    assert_non_null(entries);
    while (readdir(entries) != NULL) files++;
    closedir(entries);
    return files - 2;
}

void shelved_a_part(const shelved *s, char *path, size_t room)
{
    DIR *entries = opendir(s->directory);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        if (strncmp(entry->d_name, "part_", 5) == 0)
            snprintf(path, room, "%s/%s", s->directory, entry->d_name);
    closedir(entries);
}

heddle_shelf_stats shelved_stats(shelved *s)
{
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    check_ok(heddle_shelf_get_stats(s->shelf, &stats));
    return stats;
}

/* --------------------------------------------------------------------------------------- calls */

#define CALL(name) heddle_shelf_##name
#define CALLED shelf
#include "support/shared_calls.inl"

/* The model, of the shelf as it is now: tests close it and open it again. */
static shared *model_of(shelved *s)
{
    s->model.calls = &calls;
    s->model.shelf = s->shelf;
    return &s->model;
}

void shelved_build(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                   bool outcomes)
{
    shared_build(model_of(s), keys, values, n, outcomes);
}

void shelved_insert(shelved *s, const uint64_t *keys, const uint64_t *values, uint64_t n,
                    uint32_t policy, bool outcomes)
{
    shared_insert(model_of(s), keys, values, n, policy, outcomes);
}

void shelved_erase(shelved *s, const uint64_t *keys, uint64_t n)
{
    shared_erase(model_of(s), keys, n);
}

void shelved_look(shelved *s, const uint64_t *keys, uint64_t n)
{
    shared_look(model_of(s), keys, n);
}

bool shelved_holds(shelved *s, const shared_pair *pairs, uint64_t size)
{
    return shared_holds(model_of(s), pairs, size);
}

void shelved_check_pairs(shelved *s) { shared_check_pairs(model_of(s)); }

void shelved_check(shelved *s)
{
    const heddle_shelf_stats stats = shelved_stats(s);
    shared_check_pairs(model_of(s));
    check_ok(heddle_shelf_validate(s->shelf));
    assert_int_equal(stats.keys, s->model.size);
    check(stats.parts_filled <= stats.parts && stats.keys_most <= s->model.size,
          "statistics are wrong");
    assert_int_equal(shelved_files(s), stats.parts_filled + 2);
}
