/* mend.c: checksums of files made anew, and fields of their headers changed; see fuzz.h and docs/file_format.md. */
#include <string.h>

#include "fuzz.h"
#include "host/file.h"

static uint64_t get(const uint8_t *at, uint32_t width)
{
    uint64_t number = 0;
    memcpy(&number, at, width);
    return number;
}

static void put(uint8_t *at, uint64_t number) { memcpy(at, &number, sizeof number); }

static void mend_header(uint8_t *data, size_t header)
{
    put(data + header - 8, hd_file_checksum(0, data, header - 8));
}

/* One block of `first` and `second` bytes an element; what follows it. Bytes that are missing are left to be missed. */
static size_t mend_block(uint8_t *data, size_t size, size_t at, uint64_t first, uint64_t second)
{
    const uint64_t n = get(data + at, 8), pair = first + second;
    if (pair == 0 || n > (size - at - 16) / pair) return size;
    uint64_t sum = hd_file_checksum(n, data + at + 16, n * first);
    sum = hd_file_checksum(sum, data + at + 16 + n * first, n * second);
    put(data + at + 8, sum);
    return at + 16 + n * pair;
}

void fuzz_mend_table(uint8_t *data, size_t size)
{
    if (size < FUZZ_TABLE_HEADER) return;
    mend_header(data, FUZZ_TABLE_HEADER);
    const uint64_t key_bits = get(data + 20, 4), value_bits = get(data + 24, 4);
    for (size_t at = FUZZ_TABLE_HEADER; size - at >= 16;)
        at = mend_block(data, size, at, key_bits / 8, value_bits / 8);
}

void fuzz_mend_filter(uint8_t *data, size_t size)
{
    if (size < FUZZ_TABLE_HEADER) return;
    mend_header(data, FUZZ_TABLE_HEADER);
    for (size_t at = FUZZ_TABLE_HEADER; size - at >= 16;) at = mend_block(data, size, at, 32, 0);
}

void fuzz_mend_manifest(uint8_t *data, size_t size)
{
    if (size < FUZZ_MANIFEST_HEADER) return;
    mend_header(data, FUZZ_MANIFEST_HEADER);
    if (size - FUZZ_MANIFEST_HEADER < 16) return;
    uint8_t *const block = data + FUZZ_MANIFEST_HEADER;
    const uint64_t n = get(block, 8);
    if (n <= (size - FUZZ_MANIFEST_HEADER - 16) / 32)
        put(block + 8, hd_file_checksum(n, block + 16, n * 32));
}

void fuzz_change_field(uint8_t *data, size_t size, size_t header, uint64_t *random)
{
    static const uint64_t limits[] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      6,
                                      7,
                                      8,
                                      16,
                                      20,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      65,
                                      96,
                                      128,
                                      255,
                                      256,
                                      1 << 20,
                                      (1 << 20) + 1,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_C(1) << 44,
                                      INT64_MAX,
                                      UINT64_MAX};
    static const double shares[] = {0, -0.0, 0.1, 0.5,    0.8,   0.99, 1,   2,
                                    4, 16,   17,  1e-300, 1e300, -1,   512, 513};
    const uint64_t what = fuzz_random(random);
    const size_t width = what & 1 ? 4 : 8;
    if (size < header || header < width) return;
    const size_t at = (what >> 8) % (header / width) * width;
    const uint64_t which = what >> 40;
    uint64_t number = get(data + at, (uint32_t)width);
    if ((what >> 1 & 7) == 0) number += which % 16 - 8;
    else if ((what >> 1 & 7) == 1) number ^= UINT64_C(1) << which % 64;
    else if ((what >> 1 & 7) < 4) memcpy(&number, &shares[which % (sizeof shares / 8)], 8);
    else number = limits[which % (sizeof limits / 8)];
    memcpy(data + at, &number, width);
}
