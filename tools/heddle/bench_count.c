/* bench_count.c: counts as people write them. */
#include <stdlib.h>
#include <string.h>

#include "bench_options.h"

/* Up to here a double holds every whole number. */
#define WHOLE_MAX 9007199254740992.0

static double power(double base, unsigned long exponent)
{
    double result = 1;
    while (exponent-- > 0 && result <= WHOLE_MAX && base > 1) result *= base;
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
