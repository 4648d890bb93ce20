/*
 * plain_main.c: the fuzzers without libFuzzer; see fuzz.h.
 *
 *   fuzz_NAME_plain [-runs=N] [-seed=N] [-max_len=N] [CORPUS | FILE ...]
 *
 * Runs every file of the folders given, then N changes of them (0 unless told). The same arguments make the same inputs.
 * It cannot see what an input reaches: a change is kept for further changes now and then, whatever it did.
 * HEDDLE_FUZZ_KEEP=FILE: every input is written there before it is run, so that one that ends the program is known.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fuzz.h"

#define INPUTS_MOST 4096
#define MEMORY_MOST (UINT64_C(2) << 30) /* address space of the process; sanitizers need more */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY 0
#elif defined(__has_feature)
#define LIMITS_MEMORY (!__has_feature(address_sanitizer))
#else
#define LIMITS_MEMORY 1
#endif

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input inputs[INPUTS_MOST];
static uint32_t input_count;
static uint64_t state = 1, runs_done;
static size_t longest = 4096;

/* -------------------------------------------------------------------------------------- mutations */

static size_t insert_bytes(uint8_t *data, size_t size, size_t most)
{
    const size_t n = 1 + fuzz_random(&state) % 8, at = fuzz_random(&state) % (size + 1);
    if (size + n > most) return size;
    memmove(data + at + n, data + at, size - at);
    for (size_t i = 0; i < n; i++) data[at + i] = (uint8_t)(fuzz_random(&state) >> 8);
    return size + n;
}

static size_t erase_bytes(uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const size_t at = fuzz_random(&state) % size, n = 1 + fuzz_random(&state) % (size - at);
    memmove(data + at, data + at + n, size - at - n);
    return size - n;
}

/* Bytes of one place, or of another input, to another place. */
static size_t copy_bytes(uint8_t *data, size_t size)
{
    const input *from = &inputs[fuzz_random(&state) % input_count];
    if (size == 0 || from->size == 0) return size;
    const size_t at = fuzz_random(&state) % size, there = fuzz_random(&state) % from->size;
    size_t n = 1 + fuzz_random(&state) % 32;
    if (n > size - at) n = size - at;
    if (n > from->size - there) n = from->size - there;
    memcpy(data + at, from->data + there, n);
    return size;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static const uint8_t limits[] = {0, 1, 0x7f, 0x80, 0xff, ' ', ',', '-'};
    const uint64_t way = fuzz_random(&state) % 8;
    if (way == 0) return insert_bytes(data, size, most);
    if (way == 1) return erase_bytes(data, size);
    if (way == 2) return copy_bytes(data, size);
    if (size == 0) return insert_bytes(data, size, most);
    uint8_t *const at = data + fuzz_random(&state) % size;
    const uint64_t number = fuzz_random(&state);
    if (way == 3) *at = limits[number % sizeof limits];
    else if (way == 4) *at = (uint8_t)(*at + number % 32 - 16);
    else if (way < 7) *at ^= (uint8_t)(1 << number % 8);
    else *at = (uint8_t)(number >> 8);
    return size;
}

/* ----------------------------------------------------------------------------------------- inputs */

static void keep(const uint8_t *data, size_t size)
{
    const uint32_t at =
        input_count < INPUTS_MOST ? input_count++ : (uint32_t)(fuzz_random(&state) % INPUTS_MOST);
    free(inputs[at].data);
    inputs[at].data = (uint8_t *)fuzz_allocate(size);
    if (size != 0) memcpy(inputs[at].data, data, size);
    inputs[at].size = size;
}

static void run_one(const uint8_t *data, size_t size)
{
    const char *kept = getenv("HEDDLE_FUZZ_KEEP");
    if (kept != NULL) fuzz_write(kept, data, size);
    (void)LLVMFuzzerTestOneInput(data, size);
    runs_done++;
}

static void take_file(const char *path, size_t size)
{
    uint8_t *const data = (uint8_t *)fuzz_allocate(size);
    keep(data, fuzz_read(path, data, size));
    free(data);
}

static void take_path(const char *path)
{
    struct stat info;
    fuzz_check(stat(path, &info) == 0, "there is no %s", path);
    if (S_ISREG(info.st_mode)) {
        take_file(path, (size_t)info.st_size);
        return;
    }
    struct dirent **entries = NULL;
    const int count =
        scandir(path, &entries, NULL, alphasort); /* in this order, so that runs are alike */
    fuzz_check(count >= 0, "cannot read %s", path);
    for (int i = 0; i < count; i++) {
        char name[4096];
        (void)snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(name, &info) == 0 && S_ISREG(info.st_mode))
            take_file(name, (size_t)info.st_size);
        free(entries[i]);
    }
    free(entries);
}

static void run_changes(uint64_t runs)
{
    uint8_t *const data = (uint8_t *)fuzz_allocate(longest);
    for (uint64_t i = 0; i < runs; i++) {
        const input *from = &inputs[fuzz_random(&state) % input_count];
        size_t size = from->size < longest ? from->size : longest;
        if (size != 0) memcpy(data, from->data, size);
        const uint64_t changes = 1 + fuzz_random(&state) % 4;
        for (uint64_t k = 0; k < changes; k++)
            size = LLVMFuzzerCustomMutator != NULL
                       ? LLVMFuzzerCustomMutator(data, size, longest, (unsigned)fuzz_random(&state))
                       : LLVMFuzzerMutate(data, size, longest);
        uint8_t *const exact =
            (uint8_t *)malloc(size != 0 ? size : 1); /* so that a byte too far is seen */
        fuzz_check(exact != NULL, "no memory");
        if (size != 0) memcpy(exact, data, size);
        run_one(exact, size);
        free(exact);
        if (fuzz_random(&state) % 64 == 0) keep(data, size);
    }
    free(data);
}

static bool number_of(const char *argument, const char *name, uint64_t *number)
{
    const size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0) return false;
    *number = strtoull(argument + length, NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t runs = 0, most = longest;
    const struct rlimit limit = {MEMORY_MOST, MEMORY_MOST};
    if (LIMITS_MEMORY) fuzz_check(setrlimit(RLIMIT_AS, &limit) == 0, "memory cannot be limited");
    for (int i = 1; i < argc; i++)
        if (!number_of(argv[i], "-runs=", &runs) && !number_of(argv[i], "-seed=", &state) &&
            !number_of(argv[i], "-max_len=", &most))
            take_path(argv[i]);
    longest = most;
    for (uint32_t i = 0; i < input_count; i++) run_one(inputs[i].data, inputs[i].size);
    const unsigned long long files = runs_done;
    if (input_count == 0) keep((const uint8_t *)"", 0);
    run_changes(runs);
    for (uint32_t i = 0; i < input_count; i++) free(inputs[i].data);
    (void)printf("%llu inputs: %llu files and %llu changes of them\n",
                 (unsigned long long)runs_done, files, (unsigned long long)runs_done - files);
    return 0;
}
