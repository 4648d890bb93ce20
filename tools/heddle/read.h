/* read.h: numbers, words and lists as people write them. */
#ifndef BENCH_READ_H
#define BENCH_READ_H

#include <stdbool.h>
#include <stdint.h>

/* A count: 1000000, 1e6, 16M, 4Mi, 2^24. False when it is none. */
bool bench_read_count(const char *text, uint64_t *count);

/* Decimal digits alone, from `least` to `most`. */
bool bench_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number);

/* One of the numbers in the list, which ends with UINT32_MAX. */
bool bench_read_choice(const char *text, const uint32_t *choices, uint32_t *chosen);

/* The place of `text` in `words`, or `count` when it is not there. */
uint32_t bench_read_word(const char *text, const char *const *words, uint32_t count);

/* Gives the items between commas to `read_item`; false when one is bad or there is none. */
bool bench_read_list(const char *text, bool (*read_item)(void *to, const char *item), void *to);

/* A size as people say it, such as "66 MB"; in one of two buffers in turn. */
const char *tool_size_text(double bytes);

#endif
