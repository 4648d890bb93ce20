/*
 * fuzz.h: programs that are given bytes nobody has thought of.
 *
 * Each fuzz_NAME.c decides by bytes what it does, and calls abort() when the library does what it must not. There is one
 * function in it that is given the bytes, LLVMFuzzerTestOneInput; what changes the bytes is one of two mains:
 *
 *   libFuzzer       clang's, which looks for bytes that reach new code: `make fuzz` (scripts/fuzz.sh), build-fuzz/
 *   plain_main.c    any compiler's: runs the files of corpus/NAME and changes of them; the tests fuzz_NAME
 *
 * The fuzzers:
 *
 *   fuzz_table_file    heddle_table_load; what it takes must be a table in every call, and be saved and loaded again
 *   fuzz_filter_file   heddle_filter_load likewise
 *   fuzz_shelf         heddle_shelf_open on a manifest and files of parts, and calls on what it takes
 *   fuzz_column_file   heddle_column_file_open on raw and NumPy files
 *   fuzz_npy           the reader of NumPy's headers alone, in memory, which is 20 times as fast
 *   fuzz_operations    calls on tables of every container, scheme and width, held against the models of tests/support
 *   fuzz_tiles         one bucket, or one slab, of any bytes: every tile of the CPU's says what the scalar one says
 *   fuzz_command_line  what the tool reads from its arguments; nothing of what a command does is done
 *
 * What they share is below. seeds.c writes the first files of the corpora. The files of Heddle's end in checksums, which
 * no change of bytes gets right by chance: mend.c makes them anew after most changes, so that what is behind them is
 * reached. A file of a corpus that is named after what it found stays there for good.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <heddle/heddle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Of those fuzzers that have one: changes `size` bytes, with room for `most`, and returns how many they are then. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                                                     unsigned seed);
/* libFuzzer's, or that of plain_main.c: changes the bytes somehow. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* ------------------------------------------------------------------------------------------ checks */

/* Ends the program with a message unless the condition holds. */
#define fuzz_check(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                              \
    } while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define fuzz_ok(call) fuzz_status((call), HEDDLE_OK, #call, __FILE__, __LINE__)
void fuzz_status(heddle_status got, heddle_status expected, const char *call, const char *file,
                 int line);
/* A file was refused: by one of the statuses that say so, and with a sentence. Want of memory is none: no file of a few
   kilobytes may ask for much. */
void fuzz_refused(heddle_status status, bool missing);

/* ------------------------------------------------------------------------------------- what is used */

/* The CPU with one thread. */
heddle_device *fuzz_device(void);
/* The path of NAME in a directory of this process, in memory where there is such a file system. Four buffers in turn. */
const char *fuzz_path(const char *name);
void fuzz_write(const char *path, const uint8_t *data, size_t size);
/* Up to `room` bytes of a file; how many there are. */
size_t fuzz_read(const char *path, uint8_t *data, size_t room);
/* malloc that ends the program when there is no memory. */
void *fuzz_allocate(uint64_t bytes);

/* Bytes that are taken one after the other; zeros when they are used up. */
typedef struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
} fuzz_bytes;
uint64_t fuzz_take(fuzz_bytes *bytes, uint32_t width);
/* A number below `bound`, of a byte where that is enough. */
uint32_t fuzz_below(fuzz_bytes *bytes, uint32_t bound);

/* A small random generator: each call moves *state on. */
uint64_t fuzz_random(uint64_t *state);

/* Calls of all kinds on a table that came from a file, which is then destroyed. */
void fuzz_use_table(heddle_table *table);

/* ------------------------------------------------------------------------------------------ mend.c */

#define FUZZ_TABLE_HEADER 128
#define FUZZ_MANIFEST_HEADER 192

/* Makes the checksums of a file of Heddle's right, as far as there are bytes for them. */
void fuzz_mend_table(uint8_t *data, size_t size);
void fuzz_mend_filter(uint8_t *data, size_t size);
void fuzz_mend_manifest(uint8_t *data, size_t size);
/* Puts a number that is often at a limit into one of the fields of a header of so many bytes. */
void fuzz_change_field(uint8_t *data, size_t size, size_t header, uint64_t *random);

#endif
