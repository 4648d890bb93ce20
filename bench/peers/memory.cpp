#include "memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

static constexpr size_t HUGE = size_t(2) << 20;

HugePages::HugePages(size_t bytes, int threads) : bytes_((bytes + HUGE - 1) / HUGE * HUGE)
{
    mapped_ = bytes_ + HUGE;
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED)
        throw std::bad_alloc();
    uintptr_t aligned = (reinterpret_cast<uintptr_t>(mapping_) + HUGE - 1) / HUGE * HUGE;
    start_ = reinterpret_cast<void *>(aligned);
    madvise(start_, bytes_, MADV_HUGEPAGE); // a refusal shows in the huge column
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t offset = 0; offset < bytes_; offset += HUGE)
        memset(static_cast<char *>(start_) + offset, 0, HUGE);
}

HugePages::~HugePages()
{
    munmap(mapping_, mapped_);
}

static uint64_t field_in_kib(const char *path, const char *field)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    char line[256];
    unsigned long long kib = 0;
    size_t length = strlen(field);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, field, length) && sscanf(line + length, "%llu", &kib) == 1)
            break;
    fclose(file);
    return kib * 1024;
}

MemoryUse memory_use()
{
    const char *path = "/proc/self/smaps_rollup";
    struct mallinfo2 heap = mallinfo2();
    return {field_in_kib(path, "Rss:"), field_in_kib(path, "AnonHugePages:"),
            heap.uordblks + heap.hblkhd};
}

uint64_t memory_available()
{
    return field_in_kib("/proc/meminfo", "MemAvailable:");
}

void malloc_keeps_memory()
{
    mallopt(M_MMAP_MAX, 0);        // large blocks from the heap, too: mmap never keeps
    mallopt(M_TRIM_THRESHOLD, -1); // as unsigned: never
    mallopt(M_TOP_PAD, 64 << 20);  // fewer, larger steps, so that huge pages fit
}

void malloc_returns_memory()
{
    malloc_trim(0);
}

void start_with_huge_malloc(char **argv)
{
    const char *name = "GLIBC_TUNABLES", *wanted = "glibc.malloc.hugetlb=1";
    const char *old = getenv(name);
    if (old && strstr(old, "glibc.malloc.hugetlb="))
        return;
    std::string tunables = old && *old ? std::string(old) + ":" + wanted : wanted;
    setenv(name, tunables.c_str(), 1);
    execv("/proc/self/exe", argv);
    fprintf(stderr, "%s: no second start; the peers run without huge pages\n", argv[0]);
}
