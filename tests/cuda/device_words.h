/* device_words.h: numbers that kernels of a test count in, and how a test checks a call. */
#ifndef DEVICE_WORDS_H
#define DEVICE_WORDS_H

#include <cuda_runtime.h>

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* needs those above */
}

#include <heddle/heddle.h>

#define check_ok(call) assert_int_equal((call), HEDDLE_OK)
#define check_cuda(call) assert_int_equal((call), cudaSuccess)

typedef unsigned long long device_word;

/* Some words of device memory, 0 at first. */
static device_word *words_make(uint32_t n)
{
    device_word *words = NULL;
    check_cuda(cudaMalloc(&words, n * sizeof *words));
    check_cuda(cudaMemset(words, 0, n * sizeof *words));
    return words;
}

/* Waits for the device. */
static device_word word_read(const device_word *word)
{
    device_word value = 0;
    check_cuda(cudaDeviceSynchronize());
    check_cuda(cudaMemcpy(&value, word, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* The bytes of a view where functions that are linked expect them. */
template <class TABLE> static void *view_upload(const TABLE &table)
{
    void *view = NULL;
    check_cuda(cudaMalloc(&view, sizeof table));
    check_cuda(cudaMemcpy(view, &table, sizeof table, cudaMemcpyHostToDevice));
    return view;
}

static heddle_table *table_of(heddle_device *device, uint32_t container, uint32_t scheme,
                              uint32_t key_bits, uint32_t value_bits, uint32_t bucket,
                              uint64_t capacity, uint32_t flags)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    options.container = container;
    options.scheme = scheme;
    options.key_bits = key_bits;
    options.value_bits = value_bits;
    options.bucket = bucket;
    options.capacity = capacity;
    options.flags = flags;
    check_ok(heddle_table_create(device, &options, &table));
    return table;
}

static void size_is(heddle_table *table, uint64_t expected)
{
    uint64_t size = 0;
    check_ok(heddle_table_size(table, &size, NULL));
    assert_int_equal(size, expected);
    check_ok(heddle_table_validate(table, NULL));
}

#endif
