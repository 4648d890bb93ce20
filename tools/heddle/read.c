/* read.c: see read.h. */
#include "read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to here a double holds every whole number. */
#define WHOLE_MAX 9007199254740992.0

/* By squaring: 1.0000001^999999999999 is refused at once, too. */
static double power(double base, unsigned long exponent)
{
    double result = 1;
    for (; exponent != 0 && result <= WHOLE_MAX; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* 1 for "", 1000 for "k", 1024 for "Ki" and so on; 0 for what is no suffix. */
static double suffix_factor(const char *suffix)
{
    static const char letters[] = "kMGT";
    if (suffix[0] == '\0') return 1;
    const char *letter = strchr(letters, suffix[0] == 'K' ? 'k' : suffix[0]);
    if (letter == NULL) return 0;
    const bool binary = suffix[1] == 'i';
    if (suffix[binary ? 2 : 1] != '\0') return 0;
    return power(binary ? 1024 : 1000, (unsigned long)(letter - letters) + 1);
}

bool bench_read_count(const char *text, uint64_t *count)
{
    char *end;
    /* strtod would take signs, blanks, words and hexadecimal too. */
    if (text[0] < '0' || text[0] > '9' || strpbrk(text, "xX") != NULL) return false;
    double number = strtod(text, &end);
    if (*end == '^') {
        const char *exponent = end + 1;
        if (number < 1 || exponent[0] < '0' || exponent[0] > '9') return false;
        number = power(number, strtoul(exponent, &end, 10));
        if (*end != '\0') return false;
    } else {
        const double factor = suffix_factor(end);
        if (factor < 1) return false;
        number *= factor;
    }
    if (!(number >= 0 && number <= WHOLE_MAX)) return false;
    *count = (uint64_t)number;
    return (double)*count == number;
}

bool bench_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 19) return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && *number >= least && *number <= most;
}

bool bench_read_choice(const char *text, const uint32_t *choices, uint32_t *chosen)
{
    uint64_t number;
    if (!bench_read_whole(text, 0, UINT32_MAX - 1, &number)) return false;
    while (*choices != UINT32_MAX && *choices != number) choices++;
    *chosen = *choices;
    return *choices == number;
}

uint32_t bench_read_word(const char *text, const char *const *words, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && strcmp(text, words[i]) != 0) i++;
    return i;
}

bool bench_read_list(const char *text, bool (*read_item)(void *to, const char *item), void *to)
{
    char item[32];
    for (;;) {
        const size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof item) return false;
        memcpy(item, text, length);
        item[length] = '\0';
        if (!read_item(to, item)) return false;
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

const char *tool_size_text(double bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    static char texts[2][32];
    static uint32_t turn;
    uint32_t unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    char *const text = texts[turn++ % 2];
    /* Three digits, as one writes them. */
    (void)snprintf(text, sizeof texts[0], "%.*f %s",
                   unit == 0 || bytes >= 99.95 ? 0
                   : bytes >= 9.995            ? 1
                                               : 2,
                   bytes, units[unit]);
    return text;
}
