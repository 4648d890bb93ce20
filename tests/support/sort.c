/* sort.c: see sort.h. */
#include "support/sort.h"

#include <stdlib.h>
#include <string.h>

#include "support/cases.h"

#define FEW 64 /* up to which insertion is faster than counting digits */

/* Records of `width` numbers, of which the first counts most. */
static int compare(const uint64_t *a, const uint64_t *b, int width)
{
    for (int i = 0; i < width; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void insert_each(uint64_t *records, uint64_t n, int width)
{
    const size_t bytes = (size_t)width * sizeof *records;
    uint64_t moved[2];
    for (uint64_t i = 1; i < n; i++) {
        uint64_t at = i;
        memcpy(moved, records + i * (uint64_t)width, bytes);
        for (; at > 0 && compare(records + (at - 1) * (uint64_t)width, moved, width) > 0; at--)
            memcpy(records + at * (uint64_t)width, records + (at - 1) * (uint64_t)width, bytes);
        memcpy(records + at * (uint64_t)width, moved, bytes);
    }
}

/* One digit of number `field` from `from` to `to`; false, and nothing done, where all have the same. */
static bool sort_digit(const uint64_t *from, uint64_t *to, uint64_t n, int width, int field,
                       int digit)
{
    uint64_t starts[257] = {0};
    for (uint64_t i = 0; i < n; i++)
        starts[1 + (from[i * (uint64_t)width + (uint64_t)field] >> 8 * digit & 255)]++;
    for (int d = 1; d <= 256; d++)
        if (starts[d] == n) return false;
    for (int d = 1; d <= 256; d++) starts[d] += starts[d - 1];
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t *record = from + i * (uint64_t)width;
        uint64_t *place = to + starts[record[field] >> 8 * digit & 255]++ * (uint64_t)width;
        for (int w = 0; w < width; w++) place[w] = record[w];
    }
    return true;
}

/* By number `field`; the order of records that are equal in it stays. */
static void sort_field(uint64_t *records, uint64_t n, int width, int field)
{
    uint64_t *scratch = malloc(n * (size_t)width * sizeof *scratch), *from = records, *to = scratch;
    assert_non_null(scratch);
    for (int digit = 0; digit < 8; digit++)
        if (sort_digit(from, to, n, width, field, digit)) {
            uint64_t *const sorted = to;
            to = from;
            from = sorted;
        }
    if (from != records) memcpy(records, from, n * (size_t)width * sizeof *records);
    free(scratch);
}

void sort_numbers(uint64_t *numbers, uint64_t n)
{
    if (n <= FEW) insert_each(numbers, n, 1);
    else sort_field(numbers, n, 1, 0);
}

void sort_pairs(void *pairs, uint64_t n)
{
    uint64_t *records = pairs;
    if (n > FEW) sort_field(records, n, 2, 0);
    for (uint64_t first = 0, next; first < n; first = next) {
        next = n > FEW ? first + 1 : n;
        while (next < n && records[2 * next] == records[2 * first]) next++;
        if (next - first <= FEW) insert_each(records + 2 * first, next - first, 2);
        else sort_field(records + 2 * first, next - first, 2, 1);
    }
}
