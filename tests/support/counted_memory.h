/*
 * counted_memory.h: how much memory the program has, and had at most. A program that is linked with counted_memory.c has
 * the functions of libc under their own names: malloc and its like, and mmap of what is no file. With a sanitizer, which
 * has these names for itself, nothing is counted.
 */
#ifndef TEST_COUNTED_MEMORY_H
#define TEST_COUNTED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

bool counted_memory_works(void);
/* Bytes that the program has now; the most counts from here on. */
uint64_t counted_memory_begin(void);
/* The same without beginning anew. */
uint64_t counted_memory_now(void);
/* The most that there were since then. */
uint64_t counted_memory_most(void);

#endif
