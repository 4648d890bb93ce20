/*
 * row_keys.c: keys of several columns on the CPU: hashing them, and telling whether two are equal.
 *
 * A block of rows is hashed column by column, so that the loop over a column knows its width. Each
 * column's element is taken in words of up to eight bytes, each word multiplied into the hash; a null is a
 * word that only its column knows. The hash need not be perfect: what it brings together is compared.
 */
#include <string.h>

#include "cpu/columns/columns.h"

#define BLOCK 1024 /* rows whose hashes stay in the first-level cache */

/* Both halves of the product, so that what a difference becomes depends on the hash before it. */
HD_FN uint64_t stir(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t finish(uint64_t hash)
{
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    hash *= UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 32;
}

/* The hash goes on with one element; `width` is a constant where columns are narrow. */
HD_FN uint64_t stir_element(uint64_t hash, const char *element, uint32_t width)
{
    uint64_t word;
    for (; width >= 8; width -= 8, element += 8) {
        memcpy(&word, element, 8);
        hash = stir(hash, word);
    }
    if (width == 0) return hash;
    word = 0;
    memcpy(&word, element, width);
    return stir(hash, word);
}

HD_FN void stir_column(const hd_column *column, uint32_t width, uint64_t first, uint64_t n,
                       uint64_t salt, uint64_t *hashes)
{
    const char *element = (const char *)column->data + first * width;
    for (uint64_t i = 0; i < n; i++, element += width) {
        const bool there = column->valid == NULL || column->valid[first + i] != 0;
        hashes[i] =
            there ? stir_element(hashes[i], element, width) : stir(stir(hashes[i], salt), ~salt);
    }
}

static void stir_column_any(const hd_column *column, uint64_t first, uint64_t n, uint64_t salt,
                            uint64_t *hashes)
{
    switch (column->width) {
    case 1: stir_column(column, 1, first, n, salt, hashes); break;
    case 2: stir_column(column, 2, first, n, salt, hashes); break;
    case 4: stir_column(column, 4, first, n, salt, hashes); break;
    case 8: stir_column(column, 8, first, n, salt, hashes); break;
    case 16: stir_column(column, 16, first, n, salt, hashes); break;
    default: stir_column(column, column->width, first, n, salt, hashes); break;
    }
}

/* Rows of one table. */
static void hash_block(const hd_column *columns, uint32_t count, uint64_t first, uint64_t n,
                       uint64_t seed, uint64_t *out)
{
    for (uint64_t i = 0; i < n; i++) out[i] = seed;
    for (uint32_t c = 0; c < count; c++) {
        const uint64_t salt = (seed + c) * UINT64_C(0xd6e8feb86659fd93);
        stir_column_any(&columns[c], first, n, salt, out);
    }
    for (uint64_t i = 0; i < n; i++) out[i] = finish(out[i]);
}

heddle_status hd_hash_cpu(hd_site on, const hd_row_keys *keys, uint64_t n, uint64_t seed,
                          uint64_t *out)
{
    const uint64_t blocks = (n + BLOCK - 1) / BLOCK;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t begin = b * BLOCK;
        const uint64_t end = n - b * BLOCK < BLOCK ? n : (b + 1) * BLOCK;
        const uint64_t border = keys->n < begin ? begin : keys->n > end ? end : keys->n;
        if (begin < border)
            hash_block(keys->first, keys->columns, begin, border - begin, seed, out + begin);
        if (border < end)
            hash_block(keys->second, keys->columns, border - keys->n, end - border, seed,
                       out + border);
    }
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- differ */

/* One element of a row: NULL where it is null. */
static const char *element_of(const hd_row_keys *keys, uint32_t c, uint64_t row)
{
    const bool in_first = row < keys->n;
    const hd_column *column = in_first ? &keys->first[c] : &keys->second[c];
    const uint64_t i = in_first ? row : row - keys->n;
    if (column->valid != NULL && column->valid[i] == 0) return NULL;
    return (const char *)column->data + i * column->width;
}

HD_FN bool same_bytes(const char *a, const char *b, uint32_t width)
{
    if (width == 8) {
        uint64_t x, y;
        memcpy(&x, a, 8), memcpy(&y, b, 8);
        return x == y;
    }
    if (width == 4) {
        uint32_t x, y;
        memcpy(&x, a, 4), memcpy(&y, b, 4);
        return x == y;
    }
    return memcmp(a, b, width) == 0;
}

static bool same_key(const hd_row_keys *keys, uint64_t a, uint64_t b)
{
    for (uint32_t c = 0; c < keys->columns; c++) {
        const char *x = element_of(keys, c, a), *y = element_of(keys, c, b);
        if (x == NULL || y == NULL) {
            if (x != y) return false;
        } else if (!same_bytes(x, y, keys->first[c].width)) {
            return false;
        }
    }
    return true;
}

static void fetch_row(const hd_row_keys *keys, uint64_t row)
{
    for (uint32_t c = 0; c < keys->columns; c++) {
        const bool in_first = row < keys->n;
        const hd_column *column = in_first ? &keys->first[c] : &keys->second[c];
        const uint64_t i = in_first ? row : row - keys->n;
        __builtin_prefetch((const char *)column->data + i * column->width);
        if (column->valid != NULL) __builtin_prefetch(column->valid + i);
    }
}

static uint64_t differ_share(const hd_row_keys *keys, const hd_grouped *grouped, hd_share share)
{
    const uint32_t bits = grouped->row_bits;
    uint64_t g = hd_group_at(grouped, share.begin), i = share.begin, different = 0;
    for (; i < share.end; g++) {
        const uint64_t end = grouped->starts[g + 1];
        const uint64_t stop = end < share.end ? end : share.end;
        const uint64_t head = hd_row_at(grouped->rows, bits, grouped->starts[g]);
        for (; i < stop; i++) {
            const uint64_t row = hd_row_at(grouped->rows, bits, i);
            if (i + HD_ROWS_AHEAD < share.end)
                fetch_row(keys, hd_row_at(grouped->rows, bits, i + HD_ROWS_AHEAD));
            different += row != head && !same_key(keys, head, row);
        }
    }
    return different;
}

/* Groups known by number: rows as they come, so only first rows are far apart, and they are few. */
static uint64_t differ_numbered(const hd_row_keys *keys, const hd_grouped *grouped, hd_share share)
{
    uint64_t different = 0;
    for (uint64_t row = share.begin; row < share.end; row++) {
        const uint64_t head = hd_row_at(grouped->firsts, grouped->row_bits, grouped->numbers[row]);
        different += row != head && !same_key(keys, head, row);
    }
    return different;
}

heddle_status hd_differ_cpu(hd_site on, const hd_row_keys *keys, const hd_grouped *grouped,
                            uint64_t *count)
{
    uint64_t different = 0;
#pragma omp parallel num_threads(hd_cpu_team(on.device, grouped->n)) reduction(+ : different)
    {
        const hd_share share = hd_share_of(grouped->n);
        if (share.begin == share.end) different = 0;
        else if (grouped->numbers != NULL) different = differ_numbered(keys, grouped, share);
        else different = differ_share(keys, grouped, share);
    }
    *count += different;
    return HEDDLE_OK;
}
