/* arrays.h: memory of the device that is emulated, and how a test says what is wrong. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "shim.h"

#define CHECK(truth, ...)                                                                          \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #truth);                            \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
typedef unsigned long long ull;

#define ARRAY_GUARD 64
#define ARRAY_BYTE 0xee

/*
 * 256-byte aligned as on a device, and filled with what nobody may rely on. Writes beyond its end are
 * found when it goes; the address sanitizer finds all accesses at once, for which the end is the
 * memory's.
 */
template <class T> struct device_array {
    std::unique_ptr<T, void (*)(void *)> memory;
    size_t n;
    explicit device_array(size_t count, int byte = ARRAY_BYTE) : memory(NULL, free), n(count)
    {
        void *at = NULL;
        CHECK(posix_memalign(&at, 256, count * sizeof(T) + guard()) == 0, "no memory");
        memory.reset((T *)at);
        memset(at, byte, count * sizeof(T));
        memset((char *)at + count * sizeof(T), ARRAY_BYTE, guard());
    }
    device_array(device_array &&) = default;
    device_array &operator=(device_array &&) = default;
    ~device_array()
    {
        const unsigned char *end = (const unsigned char *)memory.get() + n * sizeof(T);
        for (size_t i = 0; memory != NULL && i < guard(); i++)
            CHECK(end[i] == ARRAY_BYTE, "byte %zu behind the end was written", i);
    }
    T *get() const { return memory.get(); }
    T &operator[](size_t i) const { return memory.get()[i]; }

  private:
    static size_t guard()
    {
#ifdef __SANITIZE_ADDRESS__
        return 0;
#else
        return ARRAY_GUARD;
#endif
    }
};

/* A copy of a list where kernels may read it. */
template <class T> static device_array<T> upload(const std::vector<T> &from)
{
    device_array<T> to(from.size());
    if (!from.empty()) memcpy((void *)to.get(), from.data(), from.size() * sizeof(T));
    return to;
}

#endif
