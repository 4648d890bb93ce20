/*
 * seeds.c: fuzz_seeds DIRECTORY: writes the files with which the corpora of table_file, filter_file, shelf and column_file
 * began, to folders of these names. Whole files of every kind: what fuzzers make of them is up to them.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define KEYS 12

static const char *above;
static uint64_t keys[200], values[200];

static const char *name_of(const char *folder, const char *name)
{
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", above, folder);
    (void)mkdir(path, 0777);
    (void)snprintf(path, sizeof path, "%s/%s/%s", above, folder, name);
    return path;
}

static heddle_table *make_table(uint32_t container, uint32_t scheme, uint32_t key_bits,
                                uint32_t value_bits, uint32_t flags)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    o.container = container;
    o.scheme = scheme;
    o.key_bits = key_bits;
    o.value_bits = container == HEDDLE_CONTAINER_SET ? 0 : value_bits;
    o.flags = flags;
    o.capacity = 2 * KEYS;
    o.seed = 5;
    if (heddle_table_create(fuzz_device(), &o, &table) != HEDDLE_OK) return NULL;
    fuzz_ok(heddle_table_insert(table, keys, o.value_bits != 0 ? values : NULL, KEYS, NULL, NULL,
                                NULL));
    return table;
}

static void write_tables(void)
{
    static const uint32_t widths[] = {32, 64};
    char name[64];
    for (uint32_t container = HEDDLE_CONTAINER_MAP; container <= HEDDLE_CONTAINER_COUNTER;
         container++)
        for (uint32_t scheme = HEDDLE_SCHEME_CUCKOO; scheme <= HEDDLE_SCHEME_SLAB; scheme++)
            for (uint32_t i = 0; i < 4; i++) {
                const uint32_t k = widths[i / 2], v = widths[i % 2];
                const uint32_t flags =
                    scheme != HEDDLE_SCHEME_HASHGRAPH && i == 3 ? HEDDLE_FLAG_FIXED : 0;
                heddle_table *table = make_table(container, scheme, k, v, flags);
                if (table == NULL) continue;
                (void)snprintf(name, sizeof name, "%u_%s", container, heddle_table_instance(table));
                fuzz_ok(heddle_table_save(table, name_of("table_file", name), NULL));
                heddle_table_destroy(table);
            }
}

static void write_filters(void)
{
    for (uint32_t bits = 32; bits <= 64; bits += 32) {
        heddle_filter_options o = HEDDLE_FILTER_OPTIONS_INIT;
        heddle_filter *filter = NULL;
        o.key_bits = bits;
        o.capacity = bits;
        o.seed = 9;
        fuzz_ok(heddle_filter_create(fuzz_device(), &o, &filter));
        fuzz_ok(heddle_filter_add(filter, keys, 20, NULL));
        fuzz_ok(
            heddle_filter_save(filter, name_of("filter_file", bits == 32 ? "k32" : "k64"), NULL));
        heddle_filter_destroy(filter);
    }
}

/* ----------------------------------------------------------------------------------------- shelves */

static void put_file(FILE *to, const char *path, bool numbered, unsigned number)
{
    static uint8_t content[65536];
    const size_t size = fuzz_read(path, content, sizeof content);
    if (numbered) (void)fputc((int)number, to);
    (void)fputc((int)(size & 0xff), to);
    (void)fputc((int)(size >> 8), to);
    (void)fwrite(content, 1, size, to);
}

/* As fuzz_shelf.c takes it: first the manifest, then the parts. */
static void pack(const char *name, const char *folder, int way)
{
    FILE *const to = fopen(name_of("shelf", name), "wb");
    struct dirent **entries = NULL;
    char path[1024];
    fuzz_check(to != NULL, "cannot write %s", name);
    (void)fputc(way, to);
    (void)snprintf(path, sizeof path, "%s/manifest.heddle", folder);
    put_file(to, path, false, 0);
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        unsigned number = 0;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (sscanf(entries[i]->d_name, "part_%x.heddle", &number) == 1)
            put_file(to, path, true, number);
        free(entries[i]);
    }
    free(entries);
    (void)fclose(to);
}

static void write_shelf(const char *name, uint32_t container, uint32_t scheme, uint32_t n)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_shelf_options s = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf *shelf = NULL;
    o.container = container;
    o.scheme = scheme;
    o.value_bits = container == HEDDLE_CONTAINER_SET ? 0 : 32;
    o.key_bits = container == HEDDLE_CONTAINER_SET ? 64 : 32;
    s.memory = 4096;
    s.seed = 3;
    const char *const folder = fuzz_path(name);
    fuzz_ok(heddle_shelf_create(fuzz_device(), folder, &o, &s, &shelf));
    if (n != 0)
        fuzz_ok(heddle_shelf_build(shelf, keys, o.value_bits != 0 ? values : NULL, n, NULL, NULL));
    heddle_shelf_close(shelf);
    pack(name, folder, container == HEDDLE_CONTAINER_SET ? 1 : 2);
}

/* ----------------------------------------------------------------------------------------- columns */

static void write_column(const char *name, int way, const char *end, uint32_t bits)
{
    static uint8_t content[4096] = {0, 0, 4, 1};
    heddle_column_file *column = NULL;
    const char *const path = fuzz_path(end);
    fuzz_ok(heddle_column_file_create(path, bits, 5, &column));
    heddle_column_file_close(column);
    content[0] = (uint8_t)way;
    const size_t size = fuzz_read(path, content + 4, sizeof content - 4);
    fuzz_write(name_of("column_file", name), content, size + 4);
    content[2] = 0, content[3] = 0;
    if (end[6] != 0) fuzz_write(name_of("npy", name), content + 2, size + 2);
    content[2] = 4, content[3] = 1;
}

int main(int argc, char **argv)
{
    uint64_t random = 11;
    if (argc != 2) return 2;
    above = argv[1];
    (void)mkdir(above, 0777);
    for (uint32_t i = 0; i < 200; i++) {
        keys[i] = fuzz_random(&random);
        values[i] = i;
    }
    write_tables();
    write_filters();
    write_shelf("empty", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 0);
    write_shelf("set", HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_CUCKOO, 20);
    write_shelf("map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_SLAB, 40);
    write_shelf("graph", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH, 60);
    write_shelf("lists", HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_BUCKET_LIST, 60);
    write_column("raw_8", 1, "column", 8);
    write_column("raw_64", 7, "column", 64);
    write_column("npy_8", 0, "column.npy", 8);
    write_column("npy_32", 4, "column.npy", 32);
    write_column("npy_64", 3, "column.npy", 64);
    return 0;
}
