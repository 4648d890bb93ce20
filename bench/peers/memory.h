// Memory of the benchmark itself and what can be learnt about everybody else's.
#pragma once

#include <cstddef>
#include <cstdint>

// An array on huge pages (as far as the kernel gives them), zeroed and touched by `threads`
// threads, so that no later timing contains a first touch. Trivial types only.
class HugePages
{
  public:
    HugePages(size_t bytes, int threads);
    ~HugePages();
    HugePages(const HugePages &) = delete;
    HugePages &operator=(const HugePages &) = delete;
    void *data() const
    {
        return start_;
    }
    size_t bytes() const
    {
        return bytes_;
    }

  private:
    void *mapping_;
    void *start_;
    size_t mapped_;
    size_t bytes_;
};

template <class T> class HugeArray
{
  public:
    HugeArray(size_t n, int threads) : pages_(n * sizeof(T), threads), n_(n)
    {
    }
    T *data() const
    {
        return static_cast<T *>(pages_.data());
    }
    size_t size() const
    {
        return n_;
    }
    size_t bytes() const
    {
        return pages_.bytes();
    }
    T &operator[](size_t i) const
    {
        return data()[i];
    }

  private:
    HugePages pages_;
    size_t n_;
};

// What the process holds now, from /proc/self/smaps_rollup and mallinfo2, in bytes.
struct MemoryUse {
    uint64_t resident; // pages in memory
    uint64_t huge;     // of these in huge pages
    uint64_t heap;     // given out by malloc
};
MemoryUse memory_use();
// Bytes the machine could still hand out without swapping.
uint64_t memory_available();

// Makes malloc keep what is freed, so that a peer whose clear() frees its arrays gets the same,
// already touched memory back when it reserves them again.
void malloc_keeps_memory();
// Gives freed memory back to the system, against the above.
void malloc_returns_memory();
// Huge pages for everybody's malloc. glibc reads its tunables before main, so a change of mind needs a
// second start: comes back in that, or when there could be none.
void start_with_huge_malloc(char **argv);
