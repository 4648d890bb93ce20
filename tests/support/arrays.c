/* arrays.c: see arrays.h. */
#include "support/arrays.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define GUARD_HOST 0u
#else
#define GUARD_HOST 64u
#endif
#define GUARD_DEVICE 64u
#define GUARD_BYTE 0xa5

static uint64_t guard_of(const array *a) { return a->memory != NULL ? GUARD_DEVICE : GUARD_HOST; }

static bool lies_on_device(const test_case *c, uint32_t role)
{
    return c->arrays == ARRAYS_DEVICE || (c->arrays == ARRAYS_MIXED && role % 2 == 1);
}

static void push(array *a)
{
    if (a->memory != NULL)
        check_ok(heddle_memory_copy(a->device, a->memory, a->host, a->bytes + GUARD_DEVICE, NULL));
}

static array array_raw(const test_case *c, uint32_t role, uint64_t bytes)
{
    array a = {c->device, bytes, NULL, NULL};
    if (lies_on_device(c, role))
        check_ok(heddle_memory_allocate(c->device, bytes + GUARD_DEVICE, &a.memory));
    a.host = malloc(bytes + guard_of(&a) + (bytes + guard_of(&a) == 0));
    assert_non_null(a.host);
    memset(a.host + bytes, GUARD_BYTE, guard_of(&a));
    return a;
}

array array_poisoned(const test_case *c, uint32_t role, uint64_t bytes, uint8_t poison)
{
    array a = array_raw(c, role, bytes);
    memset(a.host, poison, bytes);
    push(&a);
    return a;
}

array array_of(const test_case *c, uint32_t role, const uint64_t *numbers, uint64_t n,
               uint32_t bits)
{
    array none = {c->device, 0, NULL, NULL};
    if (bits == 0) return none;
    array a = array_raw(c, role, n * bits / 8);
    for (uint64_t i = 0; i < n; i++) {
        if (bits == 32) ((uint32_t *)a.host)[i] = (uint32_t)numbers[i];
        else ((uint64_t *)a.host)[i] = numbers[i];
    }
    push(&a);
    return a;
}

void *array_pointer(const array *a) { return a->memory != NULL ? a->memory : a->host; }

void array_pull(array *a)
{
    if (a->host == NULL) return;
    if (a->memory != NULL)
        check_ok(heddle_memory_copy(a->device, a->host, a->memory, a->bytes + GUARD_DEVICE, NULL));
    for (uint64_t i = 0; i < guard_of(a); i++)
        check(a->host[a->bytes + i] == GUARD_BYTE,
              "byte %llu past the end of an array was overwritten", (unsigned long long)i);
}

uint64_t array_at(const array *a, uint64_t i, uint32_t bits)
{
    if (bits == 0) return 0;
    return bits == 32 ? ((const uint32_t *)a->host)[i] : ((const uint64_t *)a->host)[i];
}

void array_free(array *a)
{
    check_ok(heddle_memory_free(a->device, a->memory));
    free(a->host);
    a->memory = NULL;
    a->host = NULL;
}

uint64_t low_bits(uint64_t number, uint32_t bits)
{
    return bits == 64 ? number : number & ((UINT64_C(1) << bits) - 1);
}
