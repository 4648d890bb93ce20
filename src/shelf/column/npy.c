/*
 * npy.c: headers of NumPy files: "\x93NUMPY", a version, a length, and a Python dictionary in words:
 *
 *     {'descr': '<u4', 'fortran_order': False, 'shape': (1000,), }
 *
 * Read by looking for the three names; NumPy writes them so, and nothing else in them can be one of the names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "shelf/column/column_file.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
#define WORDS_MAX 4096 /* of a header with one dimension; NumPy's own have some 118 */

bool hd_npy_is(const unsigned char *head, uint64_t there)
{
    return there >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

static heddle_status refuse(const char *path, const char *why)
{
    return hd_fail(HEDDLE_ERROR_FORMAT, "%s is no NumPy file of one column: %s", path, why);
}

/* What follows a name of the dictionary and its colon; NULL: there is no such name. */
static const char *value_of(const char *words, const char *name)
{
    const char *at = strstr(words, name);
    if (at == NULL) return NULL;
    at += strlen(name);
    while (*at == ' ') at++;
    if (*at != ':') return NULL;
    for (at++; *at == ' ';) at++;
    return at;
}

static heddle_status read_type(const char *path, const char *words, uint32_t *bits)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } types[] = {{"'<u4'", 32}, {"'<i4'", 32}, {"'<u8'", 64}, {"'<i8'", 64},
                 {"'|u1'", 8},  {"'|i1'", 8},  {"'|b1'", 8}};
    const char *at = value_of(words, "'descr'"), *end;
    if (at == NULL) return refuse(path, "its header does not say what the elements are");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strncmp(at, types[i].name, strlen(types[i].name)) == 0) {
            *bits = types[i].bits;
            return HEDDLE_OK;
        }
    end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
    if (end == NULL || end - at > 16) return refuse(path, "it has more than a number in a row");
    return hd_fail(HEDDLE_ERROR_FORMAT,
                   "%s holds elements of type %.*s; little-endian u4, i4, u8, i8 (and u1, i1, b1 "
                   "for flags) can be used",
                   path, (int)(end + 1 - at), at);
}

static heddle_status read_shape(const char *path, const char *words, uint64_t *count)
{
    const char *at = value_of(words, "'shape'");
    char *end;
    if (at == NULL || *at != '(') return refuse(path, "its header does not say how many there are");
    if (at[1] < '0' || at[1] > '9') return refuse(path, "it has no dimension");
    *count = strtoull(at + 1, &end, 10);
    if (*end == 'L') end++;
    if (*end != ',') return refuse(path, "its header does not say how many there are");
    for (end++; *end == ' ';) end++;
    return *end == ')' ? HEDDLE_OK : refuse(path, "it has more than one dimension");
}

/* Where the words of the header begin and how many bytes they are. */
static heddle_status find_words(const char *path, const unsigned char *head, uint64_t there,
                                uint64_t *begin, uint64_t *length)
{
    const unsigned version = there > 6 ? head[6] : 0;
    *begin = version == 1 ? 10 : 12;
    if (there < *begin) return refuse(path, "it ends in its header");
    if (version < 1 || version > 3) return refuse(path, "its version is not known");
    *length = head[8] | (uint64_t)head[9] << 8;
    if (version > 1) *length |= (uint64_t)head[10] << 16 | (uint64_t)head[11] << 24;
    if (*length > WORDS_MAX) return refuse(path, "its header is too long for one column");
    return there < *begin + *length ? refuse(path, "it ends in its header") : HEDDLE_OK;
}

heddle_status hd_npy_read(const char *path, const unsigned char *head, uint64_t there,
                          uint64_t bytes, hd_column_shape *shape)
{
    char words[WORDS_MAX + 1];
    uint64_t begin = 0, length = 0;
    HD_TRY(find_words(path, head, there, &begin, &length));
    memcpy(words, head + begin, length);
    words[length] = 0;
    shape->npy = true;
    shape->offset = begin + length;
    HD_TRY(read_type(path, words, &shape->element_bits));
    HD_TRY(read_shape(path, words, &shape->count));
    if (shape->offset * 8 % shape->element_bits != 0)
        return refuse(path, "its elements are not aligned");
    const uint64_t there_are = (bytes - shape->offset) / (shape->element_bits / 8);
    if (there_are < shape->count)
        return hd_fail(HEDDLE_ERROR_FORMAT,
                       "%s is cut off: it says that it has %llu elements, but %llu are there", path,
                       (unsigned long long)shape->count, (unsigned long long)there_are);
    if (bytes - shape->offset != shape->count * (shape->element_bits / 8))
        return refuse(path, "it goes on behind its end");
    return HEDDLE_OK;
}

void hd_npy_make(unsigned char head[HD_NPY_MADE], const hd_column_shape *shape)
{
    const char *type = shape->element_bits == 8 ? "|u1" : shape->element_bits == 32 ? "<u4" : "<u8";
    char words[HD_NPY_MADE];
    const int length =
        snprintf(words, sizeof words, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }",
                 type, (unsigned long long)shape->count);
    memset(head, ' ', HD_NPY_MADE);
    memcpy(head, magic, sizeof magic);
    head[6] = 1;
    head[7] = 0;
    head[8] = HD_NPY_MADE - 10;
    head[9] = 0;
    memcpy(head + 10, words, (size_t)length);
    head[HD_NPY_MADE - 1] = '\n';
}
