/*
 * fuzz_shelf.c: the bytes are a shelf, and how it is opened; see fuzz.h.
 *
 *     way         1 byte: bit 0 read only, bit 1 little memory
 *     manifest    2 bytes length, content
 *     parts       1 byte number of the file, 2 bytes length, content; until the bytes end
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define FILES_MOST 8
#define PAIRS_MOST 4096 /* of a shelf that is looked at pair by pair */
#define KEYS 24

typedef struct piece {
    uint8_t number; /* of a part */
    uint8_t *data;
    size_t size;
} piece;

typedef struct files {
    uint8_t way;
    piece at[FILES_MOST]; /* the first is the manifest */
    uint32_t count;
} files;

static uint64_t get(const uint8_t *at, uint32_t width)
{
    uint64_t number = 0;
    memcpy(&number, at, width);
    return number;
}

/* Lengths beyond the end mean: up to there. */
static files divide(uint8_t *data, size_t size)
{
    files f;
    memset(&f, 0, sizeof f);
    if (size == 0) return f;
    f.way = *data++;
    size--;
    while (f.count < FILES_MOST) {
        const size_t head = f.count == 0 ? 2 : 3;
        piece *const p = &f.at[f.count];
        if (size < head) break;
        p->number = f.count == 0 ? 0 : *data;
        p->size = (size_t)get(data + head - 2, 2);
        p->data = data + head;
        if (p->size > size - head) p->size = size - head;
        data += head + p->size;
        size -= head + p->size;
        f.count++;
    }
    return f;
}

/* --------------------------------------------------------------------------------------- mutations */

/* The manifest says how long the files are that are there. */
static void mend_lengths(const files *f)
{
    enum { FIRST = FUZZ_MANIFEST_HEADER + 16, PART = 32, FILE_AT = 8, BYTES_AT = 24 };
    for (size_t at = FIRST; at + PART <= f->at[0].size; at += PART)
        for (uint32_t i = 1; i < f->count; i++) {
            const uint64_t bytes = f->at[i].size;
            if (get(f->at[0].data + at + FILE_AT, 8) == f->at[i].number)
                memcpy(f->at[0].data + at + BYTES_AT, &bytes, sizeof bytes);
        }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t random = seed;
    files f = divide(data, size);
    const uint64_t way = fuzz_random(&random) % 4;
    if (way == 0 || f.count == 0) {
        size = LLVMFuzzerMutate(data, size, most);
        f = divide(data, size);
    } else {
        const uint32_t which = way == 3 ? (uint32_t)fuzz_random(&random) % f.count : 0;
        piece *const p = &f.at[which];
        const size_t header = which == 0 ? FUZZ_MANIFEST_HEADER : FUZZ_TABLE_HEADER;
        if (fuzz_random(&random) % 2 == 0) fuzz_change_field(p->data, p->size, header, &random);
        else
            (void)LLVMFuzzerMutate(p->data, p->size,
                                   p->size); /* the lengths in between stay right */
    }
    if (f.count == 0 || fuzz_random(&random) % 16 == 0) return size;
    if (fuzz_random(&random) % 8 != 0) mend_lengths(&f);
    fuzz_mend_manifest(f.at[0].data, f.at[0].size);
    for (uint32_t i = 1; i < f.count; i++) fuzz_mend_table(f.at[i].data, f.at[i].size);
    return size;
}

/* ----------------------------------------------------------------------------------------- calls */

static void empty_directory(const char *path)
{
    DIR *const entries = opendir(path);
    if (entries == NULL) return;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        (void)unlinkat(dirfd(entries), entry->d_name, 0);
    (void)closedir(entries);
}

static void write_files(const files *f, const char *path)
{
    char name[64];
    (void)mkdir(path, 0777);
    empty_directory(path);
    fuzz_write(fuzz_path("shelf/lock"), (const uint8_t *)"", 0);
    for (uint32_t i = 0; i < f->count; i++) {
        if (i == 0) (void)snprintf(name, sizeof name, "shelf/manifest.heddle");
        else (void)snprintf(name, sizeof name, "shelf/part_%016x.heddle", f->at[i].number);
        fuzz_write(fuzz_path(name), f->at[i].data, f->at[i].size);
    }
}

static bool is_refusal(heddle_status status)
{
    return status == HEDDLE_ERROR_FORMAT || status == HEDDLE_ERROR_CORRUPT ||
           status == HEDDLE_ERROR_UNSUPPORTED || status == HEDDLE_ERROR_INVALID;
}

/* A shelf with a damaged part, or without numbers for new ones: calls say so, or have nothing to do with the part. */
static void use_damaged(heddle_shelf *shelf)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    uint64_t keys[KEYS], random = 3;
    uint8_t found[KEYS];
    fuzz_ok(heddle_shelf_get_options(shelf, &o));
    for (int i = 0; i < KEYS; i++) keys[i] = fuzz_random(&random);
    const uint64_t *const values = o.value_bits != 0 ? keys : NULL;
    const heddle_status status = heddle_shelf_contains(shelf, keys, KEYS, found, NULL);
    fuzz_check(status == HEDDLE_OK || is_refusal(status), "contains gave \"%s\"",
               heddle_status_string(status));
    const heddle_status erased = heddle_shelf_erase(shelf, keys, KEYS, found, NULL);
    fuzz_check(erased == HEDDLE_OK || is_refusal(erased), "erase gave \"%s\"",
               heddle_status_string(erased));
    for (int i = 0; i < 4 && o.list_first <= 1024; i++) {
        const heddle_status inserted = heddle_shelf_insert(shelf, keys, values, KEYS, NULL, NULL);
        fuzz_check(inserted == HEDDLE_OK || is_refusal(inserted), "insert gave \"%s\"",
                   heddle_status_string(inserted));
    }
}

static void use_whole(heddle_shelf *shelf, uint64_t size, bool writes)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t exported = 0, after = 0;
    fuzz_ok(heddle_shelf_get_options(shelf, &o));
    char *const keys = (char *)fuzz_allocate(size * 8 + KEYS * 8);
    char *const values = (char *)fuzz_allocate(size * 8 + KEYS * 8);
    fuzz_ok(heddle_shelf_export(shelf, keys, o.value_bits != 0 ? values : NULL, size, &exported));
    fuzz_check(exported == size, "%llu pairs are exported of %llu", (unsigned long long)exported,
               (unsigned long long)size);
    fuzz_ok(heddle_shelf_contains(shelf, keys, size, NULL, &totals));
    fuzz_check(totals.found == size, "a key of the shelf is absent");
    if (writes && o.list_first <= 1024) {
        fuzz_ok(heddle_shelf_erase(shelf, keys, size / 2, NULL, &totals));
        fuzz_ok(heddle_shelf_insert(shelf, keys, o.value_bits != 0 ? values : NULL, size, NULL,
                                    &totals));
        fuzz_ok(heddle_shelf_validate(shelf));
        fuzz_ok(heddle_shelf_size(shelf, &after));
        fuzz_check(o.container == HEDDLE_CONTAINER_MULTIMAP || after == size,
                   "a shelf of %llu keys has %llu", (unsigned long long)size,
                   (unsigned long long)after);
    }
    free(keys);
    free(values);
}

/* The numbers of files are nearly used up: calls that write end with a refusal some time. */
static bool is_at_its_end(const files *f)
{
    enum { LAST_FILE_AT = 96 };
    return f->count != 0 && f->at[0].size >= FUZZ_MANIFEST_HEADER &&
           get(f->at[0].data + LAST_FILE_AT, 8) > UINT64_MAX - 1000;
}

static void use(heddle_shelf *shelf, const files *f, bool writes)
{
    uint64_t size = 0;
    const heddle_status status = heddle_shelf_validate(shelf);
    fuzz_check(status == HEDDLE_OK || is_refusal(status), "validate gave \"%s\"",
               heddle_status_string(status));
    fuzz_ok(heddle_shelf_size(shelf, &size));
    if ((status != HEDDLE_OK || is_at_its_end(f)) && writes) use_damaged(shelf);
    else if (status == HEDDLE_OK && size <= PAIRS_MOST) use_whole(shelf, size, writes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *const copy = (uint8_t *)fuzz_allocate(size);
    if (size != 0) memcpy(copy, data, size);
    const files f = divide(copy, size);
    const char *const path = fuzz_path("shelf");
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf *shelf = NULL;
    options.flags = f.way & 1 ? HEDDLE_SHELF_READ_ONLY : 0;
    options.memory = f.way & 2 ? 4096 : 1 << 20;
    write_files(&f, path);
    const heddle_status status = heddle_shelf_open(fuzz_device(), path, &options, &shelf);
    if (status == HEDDLE_OK) {
        use(shelf, &f, options.flags == 0);
        heddle_shelf_close(shelf);
        /* What a call has left is a shelf again. */
        fuzz_ok(heddle_shelf_open(fuzz_device(), path, &options, &shelf));
        heddle_shelf_close(shelf);
    } else {
        fuzz_check(shelf == NULL, "a shelf is refused and made");
        fuzz_refused(status, true);
    }
    free(copy);
    return 0;
}
