/*
 * npy.c: headers of NumPy files: "\x93NUMPY", a version, a length, and a Python dictionary in words:
 *
 *     {'descr': '<u4', 'fortran_order': False, 'shape': (1000,), }
 *
 * Read as Python would: three items in any order, each once, words in either kind of quotes, nothing behind the brace.
 */
#include <errno.h>
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

/* ---------------------------------------------------------------------------------------- words */

/* What the dictionary says. */
typedef struct npy_words {
    char type[20];
    uint64_t count;
    bool has_type, has_order, has_shape;
} npy_words;

static const char *skip(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') at++;
    return at;
}

/* Reads a word in quotes into `word`; where it ends, NULL when there is none or it is too long. */
static const char *read_word(const char *at, char *word, size_t room)
{
    const char quote = *at;
    size_t length = 0;
    if (quote != '\'' && quote != '"') return NULL;
    for (at++; *at != quote; at++) {
        if (*at == '\0' || length + 1 >= room) return NULL;
        word[length++] = *at;
    }
    word[length] = '\0';
    return at + 1;
}

static heddle_status read_order(const char *path, const char **at)
{
    const size_t length = strncmp(*at, "True", 4) == 0 ? 4 : strncmp(*at, "False", 5) == 0 ? 5 : 0;
    if (length == 0) return refuse(path, "its fortran_order is neither True nor False");
    *at += length;
    return HEDDLE_OK;
}

static heddle_status read_shape(const char *path, const char **at, uint64_t *count)
{
    char *end;
    const char *next;
    if (**at != '(') return refuse(path, "its shape is none");
    next = skip(*at + 1);
    if (*next == ')') return refuse(path, "it has no dimension");
    if (*next < '0' || *next > '9') return refuse(path, "its shape is none");
    errno = 0;
    *count = strtoull(next, &end, 10);
    if (errno != 0) *count = UINT64_MAX; /* more than any file has */
    if (*end == 'L') end++;
    next = skip(end);
    if (*next != ',') return refuse(path, "its shape is none");
    next = skip(next + 1);
    if (*next != ')') return refuse(path, "it has more than one dimension");
    *at = next + 1;
    return HEDDLE_OK;
}

/* One `name: value`; *at moves behind it. */
static heddle_status read_item(const char *path, const char **at, npy_words *words)
{
    char name[20];
    const char *next = read_word(*at, name, sizeof name);
    bool *seen;
    if (next == NULL) return refuse(path, "its header is no dictionary");
    seen = strcmp(name, "descr") == 0           ? &words->has_type
           : strcmp(name, "fortran_order") == 0 ? &words->has_order
           : strcmp(name, "shape") == 0         ? &words->has_shape
                                                : NULL;
    next = skip(next);
    if (seen == NULL || *seen || *next != ':')
        return refuse(path, "its header says something else than type, order and shape, or one of them twice");
    *seen = true;
    *at = skip(next + 1);
    if (seen == &words->has_order) return read_order(path, at);
    if (seen == &words->has_shape) return read_shape(path, at, &words->count);
    *at = read_word(*at, words->type, sizeof words->type);
    return *at != NULL ? HEDDLE_OK : refuse(path, "it has more than a number in a row");
}

static heddle_status read_words(const char *path, const char *at, npy_words *words)
{
    at = skip(at);
    if (*at != '{') return refuse(path, "its header is no dictionary");
    for (at = skip(at + 1); *at != '}';) {
        HD_TRY(read_item(path, &at, words));
        at = skip(at);
        if (*at == ',') at = skip(at + 1);
        else if (*at != '}') return refuse(path, "its header is no dictionary");
    }
    if (*skip(at + 1) != '\0') return refuse(path, "its header goes on behind the dictionary");
    if (!words->has_type) return refuse(path, "its header does not say what the elements are");
    if (!words->has_order) return refuse(path, "its header does not say their order");
    return words->has_shape ? HEDDLE_OK
                            : refuse(path, "its header does not say how many there are");
}

static const struct {
    const char *name;
    uint32_t bits, kind;
} types[] = {
    {"<u4", 32, HEDDLE_ELEMENT_UNSIGNED}, {"<u8", 64, HEDDLE_ELEMENT_UNSIGNED},
    {"|u1", 8, HEDDLE_ELEMENT_UNSIGNED},  {"<i4", 32, HEDDLE_ELEMENT_SIGNED},
    {"<i8", 64, HEDDLE_ELEMENT_SIGNED},   {"|i1", 8, HEDDLE_ELEMENT_SIGNED},
    {"<f4", 32, HEDDLE_ELEMENT_FLOAT},    {"<f8", 64, HEDDLE_ELEMENT_FLOAT},
    {"|b1", 8, HEDDLE_ELEMENT_BOOL},
};
#define TYPES (sizeof types / sizeof types[0])

const char *hd_npy_type(uint32_t bits, uint32_t kind)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].bits == bits && types[i].kind == kind) return types[i].name;
    return NULL;
}

static heddle_status find_type(const char *path, const char *type, hd_column_shape *shape)
{
    for (size_t i = 0; i < TYPES; i++)
        if (strcmp(type, types[i].name) == 0) {
            shape->element_bits = types[i].bits;
            shape->element_kind = types[i].kind;
            return HEDDLE_OK;
        }
    return hd_fail(HEDDLE_ERROR_FORMAT,
                   "%s holds elements of type '%s'; little-endian u4, i4, f4, u8, i8, f8 (and u1, "
                   "i1, b1 for flags) can be used",
                   path, type);
}

/* ---------------------------------------------------------------------------------------- header */

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
    char text[WORDS_MAX + 1];
    npy_words words = {"", 0, false, false, false};
    uint64_t begin = 0, length = 0;
    HD_TRY(find_words(path, head, there, &begin, &length));
    memcpy(text, head + begin, length);
    text[length] = 0;
    if (memchr(text, 0, length) != NULL) return refuse(path, "its header is no dictionary");
    shape->npy = true;
    shape->offset = begin + length;
    HD_TRY(read_words(path, text, &words));
    HD_TRY(find_type(path, words.type, shape));
    shape->count = words.count;
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
    char words[HD_NPY_MADE];
    const int length = snprintf(
        words, sizeof words, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,), }",
        hd_npy_type(shape->element_bits, shape->element_kind), (unsigned long long)shape->count);
    memset(head, ' ', HD_NPY_MADE);
    memcpy(head, magic, sizeof magic);
    head[6] = 1;
    head[7] = 0;
    head[8] = HD_NPY_MADE - 10;
    head[9] = 0;
    memcpy(head + 10, words, (size_t)length);
    head[HD_NPY_MADE - 1] = '\n';
}
