/* files.h: a directory of the test's own, and small files in it. */
#ifndef TEST_FILES_H
#define TEST_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* The directory; made on the first call, removed with what files_path named when the test ends. */
const char *files_directory(void);
/* directory/name, in a static buffer that the next call overwrites. */
const char *files_path(const char *name);
/* The whole file; caller frees. Fails the test when it cannot be read. */
uint8_t *files_read(const char *path, uint64_t *bytes);
void files_write(const char *path, const uint8_t *content, uint64_t bytes);
/* The same for a file of Heddle's whose header has been changed: its last 8 bytes, a checksum, are made anew. */
void files_write_forged(const char *path, uint8_t *content, uint64_t bytes, uint64_t header);
/* How many entries the directory has. */
uint32_t files_count(void);
/* Removes those that are called as `path`, with more behind it that `is_left` says yes to. */
void files_remove_others(const char *path, bool (*is_left)(const char *behind));
/* The files of one directory into another. */
void files_copy_all(const char *from, const char *to);
/* Empties the directory and removes it. */
void files_remove(void);

#endif
