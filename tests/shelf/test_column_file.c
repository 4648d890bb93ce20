/* test_column_file.c: arrays in files: what can be read, what is refused and why, what is written; and tables from them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/cases.h"
#include "support/files.h"
#include "support/keys.h"

/* A NumPy file as NumPy writes it: the dictionary, spaces up to a multiple of 64, then the elements. */
static void write_npy(const char *path, unsigned version, const char *dictionary,
                      const void *content, uint64_t bytes)
{
    unsigned char head[4096];
    const size_t begin = version == 1 ? 10 : 12, length = strlen(dictionary);
    const size_t all = (begin + length + 1 + 63) / 64 * 64, words = all - begin;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY", 6);
    head[6] = (unsigned char)version;
    head[7] = 0;
    head[8] = (unsigned char)words;
    head[9] = (unsigned char)(words >> 8);
    if (version != 1) head[10] = head[11] = 0;
    memcpy(head + begin, dictionary, length);
    head[all - 1] = '\n';
    assert_int_equal(fwrite(head, 1, all, file), all);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void check_refused(const char *path, uint32_t bits, heddle_status expected,
                          const char *reason)
{
    heddle_column_file *column = NULL;
    check_status(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, bits, &column), expected);
    check(strstr(heddle_last_error(), reason) != NULL, "'%s' does not say '%s'",
          heddle_last_error(), reason);
    assert_null(column);
}

static void raw_files(void **state)
{
    char path[500];
    uint32_t numbers[1000];
    heddle_column_file *column = NULL;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) numbers[i] = i * 77;
    snprintf(path, sizeof path, "%s", files_path("keys.bin"));
    files_write(path, (const uint8_t *)numbers, sizeof numbers);
    check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 32, &column));
    assert_int_equal(heddle_column_file_count(column), 1000);
    assert_int_equal(heddle_column_file_element_bits(column), 32);
    assert_memory_equal(heddle_column_file_data(column), numbers, sizeof numbers);
    heddle_column_file_close(column);
    check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 64, &column));
    assert_int_equal(heddle_column_file_count(column), 500);
    heddle_column_file_close(column);
    files_write(path, (const uint8_t *)numbers, sizeof numbers - 2);
    check_refused(path, 32, HEDDLE_ERROR_FORMAT, "no whole number of elements");
    check_refused(path, 0, HEDDLE_ERROR_FORMAT, "does not say how many bits");
    files_write(path, (const uint8_t *)numbers, 0);
    check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 32, &column));
    assert_int_equal(heddle_column_file_count(column), 0);
    assert_null(heddle_column_file_data(column));
    check_ok(heddle_column_file_advise(column, 0, 0, HEDDLE_ADVICE_DONE));
    heddle_column_file_close(column);
}

/* A name that ends in .npy promises a header; without one the words of a text would be keys. */
static void names_without_header(void **state)
{
    static const char text[] = "a text, not numbers of any kind"; /* 32 bytes, four keys */
    static const char *const names[] = {"text.npy", ".npy"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char path[500];
        snprintf(path, sizeof path, "%s", files_path(names[i]));
        files_write(path, (const uint8_t *)text, sizeof text);
        check_refused(path, 64, HEDDLE_ERROR_FORMAT, "named as a NumPy file");
        check_refused(path, 8, HEDDLE_ERROR_FORMAT, "named as a NumPy file");
        check_refused(path, 0, HEDDLE_ERROR_FORMAT, "named as a NumPy file");
        files_write(path, (const uint8_t *)text, 0);
        check_refused(path, 64, HEDDLE_ERROR_FORMAT, "named as a NumPy file");
    }
}

static void npy_files(void **state)
{
    static const struct {
        const char *type;
        uint32_t bits, kind;
    } types[] = {
        {"<u4", 32, HEDDLE_ELEMENT_UNSIGNED}, {"<i4", 32, HEDDLE_ELEMENT_SIGNED},
        {"<u8", 64, HEDDLE_ELEMENT_UNSIGNED}, {"<i8", 64, HEDDLE_ELEMENT_SIGNED},
        {"|u1", 8, HEDDLE_ELEMENT_UNSIGNED},  {"|i1", 8, HEDDLE_ELEMENT_SIGNED},
        {"<f4", 32, HEDDLE_ELEMENT_FLOAT},    {"<f8", 64, HEDDLE_ELEMENT_FLOAT},
        {"|b1", 8, HEDDLE_ELEMENT_BOOL},
    };
    char path[500], words[200];
    uint64_t numbers[100];
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("keys.npy"));
    keys_fill(numbers, 100, KEYS_RANDOM, 64, 5);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (unsigned version = 1; version <= 3; version++) {
            heddle_column_file *column = NULL;
            snprintf(words, sizeof words,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (100,), }", types[t].type);
            write_npy(path, version, words, numbers, 100 * types[t].bits / 8);
            check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ,
                                             t % 2 ? 0 : types[t].bits, &column));
            assert_int_equal(heddle_column_file_count(column), 100);
            assert_int_equal(heddle_column_file_element_bits(column), types[t].bits);
            assert_int_equal(heddle_column_file_element_kind(column), types[t].kind);
            assert_memory_equal(heddle_column_file_data(column), numbers, 100 * types[t].bits / 8);
            heddle_column_file_close(column);
        }
    heddle_column_file *other = NULL; /* as other programs may write it */
    write_npy(path, 1, "{ \"shape\":( 100 ,),\"fortran_order\" : True, 'descr':\"<u4\"}  ", numbers,
              400);
    check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 0, &other));
    assert_int_equal(heddle_column_file_count(other), 100);
    assert_memory_equal(heddle_column_file_data(other), numbers, 400);
    heddle_column_file_close(other);
    write_npy(path, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (100,), }", numbers, 400);
    check_refused(path, 64, HEDDLE_ERROR_FORMAT, "elements of 32 bits, not of 64");
}

static void damaged_npy_files(void **state)
{
    static const struct {
        unsigned version;
        const char *words, *reason;
        uint64_t bytes;
    } bad[] = {
        {1, "{'descr': '>u4', 'fortran_order': False, 'shape': (10,), }", "type '>u4';", 40},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (10,), }", "type '<f2';", 20},
        {1, "{'descr': '<u2', 'fortran_order': False, 'shape': (10,), }", "'<u2'", 20},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (5, 2), }", "more than one", 40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (), }", "no dimension", 4},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", "cut off", 36},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", "behind its end", 44},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "cut off", 40},
        {1, "{'descr': '<u4', 'shape': (10,), }", "their order", 40},
        {1, "{'descr': '<u4', 'fortran_order': Perhaps, 'shape': (10,), }", "neither", 40},
        {1, "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", "twice",
         40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), 'more': 1}", "else", 40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), ", "no dictionary", 40},
        {1, "'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", "no dictionary", 40},
        {1, "{'descr': '<u4', 'fortran_order': False 'shape': (10,), }", "no dictionary", 40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), } x", "behind", 40},
        {1, "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (10,), }",
         "more than a number", 40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': 10, }", "its shape", 40},
        {1, "{'descr': '<u4', 'fortran_order': False, 'shape': (-1,), }", "its shape", 40},
        {1, "{'descr': '<u4', 'fortran_order': False}", "how many there are", 40},
        {1, "{'fortran_order': False, 'shape': (10,), }", "what the elements are", 40},
        {7, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", "version", 40},
    };
    char path[500];
    uint8_t content[64] = {0}, *whole;
    uint64_t bytes = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("bad.npy"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        case_note("file %zu", i);
        write_npy(path, bad[i].version, bad[i].words, content, bad[i].bytes);
        check_refused(path, 32, HEDDLE_ERROR_FORMAT, bad[i].reason);
    }
    write_npy(path, 1, "{'descr': '<u4', 'fortran_order': False, 'shape': (10,), }", content, 40);
    whole = files_read(path, &bytes);
    for (uint64_t cut = 6; cut < bytes;
         cut++) { /* cut off anywhere: said, and nothing is read beyond */
        heddle_column_file *column = NULL;
        files_write(path, whole, cut);
        check_status(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 32, &column),
                     HEDDLE_ERROR_FORMAT);
        assert_null(column);
    }
    free(whole);
}

static void created_files(void **state)
{
    static const char *const names[] = {"made.bin", "made.npy"};
    static const uint32_t widths[] = {8, 32, 64};
    char path[500];
    (void)state;
    for (int f = 0; f < 2; f++)
        for (int w = 0; w < 3; w++)
            for (uint64_t n = 0; n <= 100000; n = n * 10 + 1) {
                heddle_column_file *column = NULL;
                uint64_t bytes = 0;
                snprintf(path, sizeof path, "%s", files_path(names[f]));
                check_ok(heddle_column_file_create(path, widths[w], n, &column));
                uint8_t *data = heddle_column_file_data(column);
                for (uint64_t i = 0; i < n * widths[w] / 8; i++) {
                    check(data[i] == 0, "not empty");
                    data[i] = (uint8_t)(i * 31);
                }
                check((uintptr_t)data % 64 == 0, "not aligned");
                /* What is done with is still there. */
                check_ok(heddle_column_file_advise(column, 0, n, HEDDLE_ADVICE_DONE));
                check_ok(heddle_column_file_advise(column, n / 2, n - n / 2, HEDDLE_ADVICE_SOON));
                check_ok(heddle_column_file_advise(column, 0, n, HEDDLE_ADVICE_RANDOM));
                for (uint64_t i = 0; i < n * widths[w] / 8; i++)
                    check(data[i] == (uint8_t)(i * 31), "element %llu is gone",
                          (unsigned long long)i);
                check_ok(heddle_column_file_flush(column));
                heddle_column_file_close(column);
                check_ok(heddle_column_file_open(path, HEDDLE_COLUMN_FILE_WRITE,
                                                 f == 1 ? 0 : widths[w], &column));
                assert_int_equal(heddle_column_file_count(column), n);
                if (n != 0) ((uint8_t *)heddle_column_file_data(column))[0] = 99;
                heddle_column_file_close(column);
                uint8_t *content = files_read(path, &bytes);
                check(n == 0 || content[bytes - n * widths[w] / 8] == 99, "not written");
                free(content);
            }
}

/* A created file says what its elements are, as NumPy says it; a raw file cannot. */
static void created_kinds(void **state)
{
    static const struct {
        const char *words;
        uint32_t bits, kind;
    } kinds[] = {
        {"'descr': '|u1',", 8, HEDDLE_ELEMENT_UNSIGNED},
        {"'descr': '|i1',", 8, HEDDLE_ELEMENT_SIGNED},
        {"'descr': '|b1',", 8, HEDDLE_ELEMENT_BOOL},
        {"'descr': '<u4',", 32, HEDDLE_ELEMENT_UNSIGNED},
        {"'descr': '<i4',", 32, HEDDLE_ELEMENT_SIGNED},
        {"'descr': '<f4',", 32, HEDDLE_ELEMENT_FLOAT},
        {"'descr': '<u8',", 64, HEDDLE_ELEMENT_UNSIGNED},
        {"'descr': '<i8',", 64, HEDDLE_ELEMENT_SIGNED},
        {"'descr': '<f8',", 64, HEDDLE_ELEMENT_FLOAT},
    };
    char npy[500], raw[500];
    heddle_column_file *column = NULL;
    uint64_t bytes;
    (void)state;
    snprintf(npy, sizeof npy, "%s", files_path("kind.npy"));
    snprintf(raw, sizeof raw, "%s", files_path("kind.bin"));
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const uint32_t bits = kinds[k].bits, kind = kinds[k].kind;
        check_ok(heddle_column_file_create_as(npy, bits, kind, 3, &column));
        assert_int_equal(heddle_column_file_element_kind(column), kind);
        heddle_column_file_close(column);
        check_ok(heddle_column_file_open(npy, HEDDLE_COLUMN_FILE_READ, 0, &column));
        assert_int_equal(heddle_column_file_element_bits(column), bits);
        assert_int_equal(heddle_column_file_element_kind(column), kind);
        heddle_column_file_close(column);
        char *content = (char *)files_read(npy, &bytes);
        content[127] = 0;
        check(strstr(content + 10, kinds[k].words) != NULL, "the header says %s", content + 10);
        free(content);
        check_ok(heddle_column_file_create_as(raw, bits, kind, 3, &column));
        heddle_column_file_close(column);
        check_ok(heddle_column_file_open(raw, HEDDLE_COLUMN_FILE_READ, bits, &column));
        assert_int_equal(heddle_column_file_element_kind(column), HEDDLE_ELEMENT_UNKNOWN);
        heddle_column_file_close(column);
    }
    check_status(heddle_column_file_create_as(npy, 8, HEDDLE_ELEMENT_FLOAT, 3, &column),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_create_as(npy, 32, HEDDLE_ELEMENT_BOOL, 3, &column),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_create_as(npy, 64, 5, 3, &column), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_create_as(npy, 64, HEDDLE_ELEMENT_UNKNOWN, 3, &column),
                 HEDDLE_ERROR_INVALID);
    assert_null(column);
    assert_int_equal(heddle_column_file_element_kind(NULL), HEDDLE_ELEMENT_UNKNOWN);
}

/* More than the disk has free is refused before anything is taken: the limit of files would be met first. */
static void larger_than_the_disk(void **state)
{
    struct statvfs disk;
    struct rlimit before, limit = {1 << 20, RLIM_INFINITY};
    heddle_column_file *column = NULL;
    char path[500];
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("large.bin"));
    assert_int_equal(statvfs(files_directory(), &disk), 0);
    if (disk.f_blocks == 0) return;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const uint64_t count =
        (disk.f_bfree + (disk.f_blocks - disk.f_bfree) / 2 + 1) * disk.f_frsize / 8;
    const heddle_status status = heddle_column_file_create(path, 64, count, &column);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    check_status(status, HEDDLE_ERROR_IO);
    check(strstr(heddle_last_error(), strerror(ENOSPC)) != NULL, "%s", heddle_last_error());
    assert_int_equal(access(path, F_OK), -1);
}

static void wrong_calls(void **state)
{
    char path[500];
    heddle_column_file *column = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("wrong.bin"));
    check_status(heddle_column_file_open(NULL, 0, 32, &column), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_open(path, 0, 32, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_open(path, 2, 32, &column), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_open(path, 0, 16, &column), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_create(path, 0, 5, &column), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_create(path, 64, UINT64_MAX / 2, &column),
                 HEDDLE_ERROR_INVALID);
    check_refused(path, 32, HEDDLE_ERROR_IO, "No such file");
    check_status(heddle_column_file_create("/nowhere/at/all.bin", 32, 5, &column), HEDDLE_ERROR_IO);
    check_status(heddle_column_file_open(files_directory(), 0, 32, &column), HEDDLE_ERROR_IO);
    assert_null(column);
    check_ok(heddle_column_file_create(path, 32, 5, &column));
    check_status(heddle_column_file_advise(column, 5, 1, 0), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_advise(column, 0, 5, 9), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_advise(NULL, 0, 0, 0), HEDDLE_ERROR_INVALID);
    check_status(heddle_column_file_flush(NULL), HEDDLE_ERROR_INVALID);
    heddle_column_file_close(column);
    heddle_column_file_close(NULL);
    assert_null(heddle_column_file_data(NULL));
    assert_int_equal(heddle_column_file_count(NULL), 0);
    if (geteuid() != 0) { /* who may read everything is refused nothing */
        assert_int_equal(chmod(path, 0), 0);
        check_refused(path, 32, HEDDLE_ERROR_IO, "ermission");
    }
}

static void check_not_created(const char *path)
{
    heddle_column_file *column = NULL;
    check_status(heddle_column_file_create(path, 32, 5, &column), HEDDLE_ERROR_IO);
    check(strstr(heddle_last_error(), "no regular file") != NULL, "%s", heddle_last_error());
    assert_null(column);
}

/* A pipe, a device or a directory is neither written to nor removed, and opening one waits for nobody. */
static void other_than_files(void **state)
{
    char pipe[500], link[500];
    struct stat info;
    (void)state;
    snprintf(pipe, sizeof pipe, "%s", files_path("a_pipe"));
    snprintf(link, sizeof link, "%s", files_path("to_a_pipe"));
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_int_equal(symlink(pipe, link), 0);
    check_not_created(pipe);
    check_not_created(link);
    check_not_created(files_directory());
    check_refused(pipe, 32, HEDDLE_ERROR_IO, "no regular file");
    check_refused("/dev/null", 32, HEDDLE_ERROR_IO, "no regular file");
    check_refused("/proc/self/status", 8, HEDDLE_ERROR_IO, "cannot be mapped");
    assert_int_equal(stat(pipe, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(lstat(link, &info), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(pipe), 0);
}

/* Somebody who may write to the directory can have planted a link to a file that he may not write to. */
static void links_are_not_followed(void **state)
{
    static const uint8_t text[] = "the victim";
    uint8_t left[sizeof text] = {0};
    char victim[500], link[500];
    struct stat info;
    (void)state;
    snprintf(victim, sizeof victim, "%s", files_path("victim"));
    snprintf(link, sizeof link, "%s", files_path("to_the_victim"));
    files_write(victim, text, sizeof text);
    assert_int_equal(symlink(victim, link), 0);
    check_not_created(link);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    FILE *file = fopen(victim, "rb");
    assert_non_null(file);
    assert_int_equal(fread(left, 1, sizeof left, file), sizeof text);
    assert_int_equal(fclose(file), 0);
    assert_memory_equal(left, text, sizeof text);
    assert_int_equal(unlink(victim), 0);
    check_not_created(link); /* nor is a file made where it leads to */
    assert_int_not_equal(access(victim, F_OK), 0);
    assert_int_equal(unlink(link), 0);
}

/* A file that was there before a call that fails is emptied and stays; more than any disk has is not tried. */
static void files_that_were_there(void **state)
{
    static const uint8_t text[] = "before";
    heddle_column_file *column = NULL;
    char path[500];
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("before.bin"));
    files_write(path, text, sizeof text);
    check_status(heddle_column_file_create(path, 64, UINT64_C(1) << 56, &column), HEDDLE_ERROR_IO);
    assert_null(column);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    check_status(heddle_column_file_create(path, 64, UINT64_C(1) << 56, &column), HEDDLE_ERROR_IO);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A disk that is full and memory that runs out leave no file and no column. */
static void failures(void **state)
{
    struct rlimit limit, small;
    char path[500];
    heddle_column_file *column = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("full.bin"));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 5000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    check_status(heddle_column_file_create(path, 64, 1000, &column), HEDDLE_ERROR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_null(column);
    assert_int_not_equal(access(path, F_OK), 0);
    for (uint64_t k = 1;; k++) {
        hd_fault_arm(k);
        heddle_status status = heddle_column_file_create(path, 64, 1000, &column);
        const bool struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s",
              heddle_last_error());
        check((status == HEDDLE_OK) == (column != NULL), "a column of a failed call");
        if (!struck) break;
        assert_int_not_equal(access(path, F_OK), 0);
    }
    heddle_column_file_close(column);
    for (uint64_t k = 1;; k++) {
        hd_fault_arm(k);
        const heddle_status status =
            heddle_column_file_open(path, HEDDLE_COLUMN_FILE_READ, 64, &column);
        const bool struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s",
              heddle_last_error());
        if (!struck) break;
        assert_null(column);
    }
    heddle_column_file_close(column);
}

/* A table is built from files and answers into files, on every device. */
static void tables_from_files(const test_case *c)
{
    const uint64_t n = case_size(100000);
    const uint32_t kb = c->ops->key_bits, vb = c->ops->value_bits;
    heddle_table_options options = case_options(c);
    heddle_column_file *keys = NULL, *values = NULL, *found = NULL, *answers = NULL;
    uint64_t *numbers = keys_allocate(n);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_table *table = NULL;
    if (vb == 0) {
        free(numbers);
        return;
    }
    keys_fill(numbers, n, KEYS_EDGES, kb, 8);
    check_ok(heddle_column_file_create(files_path("k.npy"), kb, n, &keys));
    check_ok(heddle_column_file_create(files_path("v.bin"), vb, n, &values));
    check_ok(heddle_column_file_create(files_path("f.npy"), 8, n, &found));
    check_ok(heddle_column_file_create(files_path("a.npy"), vb, n, &answers));
    for (uint64_t i = 0; i < n; i++) {
        if (kb == 32) ((uint32_t *)heddle_column_file_data(keys))[i] = (uint32_t)numbers[i];
        else ((uint64_t *)heddle_column_file_data(keys))[i] = numbers[i];
        if (vb == 32) ((uint32_t *)heddle_column_file_data(values))[i] = (uint32_t)i * 3;
        else ((uint64_t *)heddle_column_file_data(values))[i] = i * 3;
    }
    check_ok(heddle_table_create(c->device, &options, &table));
    check_ok(heddle_table_build(table, heddle_column_file_data(keys),
                                heddle_column_file_data(values), n, NULL, &totals, NULL));
    assert_int_equal(totals.inserted, n);
    check_ok(heddle_table_find(table, heddle_column_file_data(keys), n,
                               heddle_column_file_data(answers), heddle_column_file_data(found),
                               &totals, NULL));
    assert_int_equal(totals.found, n);
    assert_memory_equal(heddle_column_file_data(answers), heddle_column_file_data(values),
                        n * vb / 8);
    for (uint64_t i = 0; i < n; i++)
        check(((uint8_t *)heddle_column_file_data(found))[i] == 1, "key %llu is not found",
              (unsigned long long)i);
    heddle_table_destroy(table);
    heddle_column_file_close(keys);
    heddle_column_file_close(values);
    heddle_column_file_close(found);
    heddle_column_file_close(answers);
    free(numbers);
}

/* The same with a table of a cluster. */
static void groups_from_files(void **state)
{
    const uint64_t n = 50000;
    heddle_column_file *keys = NULL, *found = NULL;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    (void)state;
    options.container = HEDDLE_CONTAINER_SET;
    check_ok(heddle_cluster_open("cpu:1,cpu:1", NULL, &cluster));
    if (heddle_cluster_table_create(cluster, &options, NULL, &table) == HEDDLE_ERROR_UNSUPPORTED) {
        heddle_cluster_close(cluster);
        skip();
    }
    check_ok(heddle_column_file_create(files_path("gk.npy"), 32, n, &keys));
    check_ok(heddle_column_file_create(files_path("gf.npy"), 8, n, &found));
    for (uint64_t i = 0; i < n; i++)
        ((uint32_t *)heddle_column_file_data(keys))[i] = (uint32_t)i * 7919;
    check_ok(
        heddle_cluster_table_build(table, heddle_column_file_data(keys), NULL, n, NULL, &totals));
    assert_int_equal(totals.inserted, n);
    check_ok(heddle_cluster_table_contains(table, heddle_column_file_data(keys), n,
                                           heddle_column_file_data(found), &totals));
    assert_int_equal(totals.found, n);
    for (uint64_t i = 0; i < n; i++)
        check(((uint8_t *)heddle_column_file_data(found))[i] == 1, "a key is not found");
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
    heddle_column_file_close(keys);
    heddle_column_file_close(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(raw_files),
                                       ONCE(names_without_header),
                                       ONCE(npy_files),
                                       ONCE(damaged_npy_files),
                                       ONCE(larger_than_the_disk),
                                       ONCE(created_files),
                                       ONCE(created_kinds),
                                       ONCE(wrong_calls),
                                       ONCE(other_than_files),
                                       ONCE(links_are_not_followed),
                                       ONCE(files_that_were_there),
                                       ONCE(failures),
                                       OVER_SLOT_WIDTHS(tables_from_files),
                                       ONCE(groups_from_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
