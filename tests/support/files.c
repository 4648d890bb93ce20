/* files.c: see files.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/file.h"
#include "support/cases.h"

static char directory[200];

const char *files_directory(void)
{
    const char *parent = getenv("TMPDIR");
    if (directory[0] == '\0') {
        snprintf(directory, sizeof directory, "%s/heddle_test_XXXXXX",
                 parent != NULL ? parent : "/tmp");
        assert_non_null(mkdtemp(directory));
        atexit(files_remove);
    }
    return directory;
}

const char *files_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", files_directory(), name);
    return path;
}

uint8_t *files_read(const char *path, uint64_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    uint8_t *content = malloc((size_t)size + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    *bytes = (uint64_t)size;
    return content;
}

void files_write(const char *path, const uint8_t *content, uint64_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

void files_write_forged(const char *path, uint8_t *content, uint64_t bytes, uint64_t header)
{
    const uint64_t sum = hd_file_checksum(0, content, header - sizeof sum);
    memcpy(content + header - sizeof sum, &sum, sizeof sum);
    files_write(path, content, bytes);
}

/* Calls `each` for every entry but "." and ".."; returns their number. */
static uint32_t for_entries(void (*each)(const char *path))
{
    DIR *entries = opendir(files_directory());
    uint32_t count = 0;
    if (entries == NULL) return 0;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (each != NULL) each(files_path(entry->d_name));
        count++;
    }
    closedir(entries);
    return count;
}

uint32_t files_count(void) { return for_entries(NULL); }

void files_remove_others(const char *path, bool (*is_left)(const char *behind))
{
    const char *name = strrchr(path, '/') + 1;
    const size_t length = strlen(name);
    DIR *entries = opendir(files_directory());
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        if (strncmp(entry->d_name, name, length) == 0 && is_left(entry->d_name + length))
            (void)unlink(files_path(entry->d_name));
    closedir(entries);
}

void files_copy_all(const char *from, const char *to)
{
    DIR *entries = opendir(from);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[800];
        uint64_t bytes = 0;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
        uint8_t *content = files_read(path, &bytes);
        snprintf(path, sizeof path, "%s/%s", to, entry->d_name);
        files_write(path, content, bytes);
        free(content);
    }
    closedir(entries);
}

static void remove_entry(const char *path)
{
    if (unlink(path) != 0) rmdir(path);
}

void files_remove(void)
{
    if (directory[0] == '\0') return;
    for_entries(remove_entry);
    rmdir(directory);
    directory[0] = '\0';
}
