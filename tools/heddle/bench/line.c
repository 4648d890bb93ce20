/* line.c: see line.h. */
#include "bench/line.h"

#include <stdio.h>
#include <string.h>

#include "progress.h"

#define NUMBER_WIDTH 9

static bench_field *add_field(bench_line *line, const char *name, int width)
{
    bench_field *field = &line->fields[line->count];
    const int least = (int)strlen(name);
    if (line->count < BENCH_FIELDS_MAX - 1) line->count++;
    field->name = name;
    field->width = width < 0 ? (-width < least ? -least : width) : width < least ? least : width;
    return field;
}

void bench_line_word(bench_line *line, const char *name, int width, const char *word)
{
    bench_field *field = add_field(line, name, -width);
    (void)snprintf(field->text, sizeof field->text, "%s", word);
}

void bench_line_number(bench_line *line, const char *name, const char *format, double number)
{
    bench_field *field = add_field(line, name, NUMBER_WIDTH);
    (void)snprintf(field->text, sizeof field->text, format, number);
}

void bench_line_begin(const bench *b, bench_line *line)
{
    line->count = 0;
    if (b->options.format == BENCH_TABLE) return;
    bench_line_word(line, "device", 8, b->device_name);
    bench_line_word(line, "bench", 8, bench_subject_name(&b->options));
}

static void add_verified(const bench *b, bench_line *line, bool right)
{
    const bool verified = b->options.verify && right;
    if (b->options.format == BENCH_TABLE)
        bench_line_word(line, "verified", 8, !right ? "NO: wrong" : verified ? "yes" : "no");
    else {
        bench_field *field = add_field(line, "verified", NUMBER_WIDTH); /* no quotes in JSON */
        (void)snprintf(field->text, sizeof field->text, "%s", verified ? "true" : "false");
    }
}

static void print_names(const bench *b, const bench_line *line)
{
    if (b->options.format == BENCH_TABLE) (void)printf("\n");
    for (uint32_t i = 0; i < line->count; i++)
        if (b->options.format == BENCH_TABLE)
            (void)printf("%s%*s", i != 0 ? " " : "", line->fields[i].width, line->fields[i].name);
        else (void)printf("%s%s", i != 0 ? "," : "", line->fields[i].name);
    (void)printf("\n");
}

static void print_values(const bench *b, const bench_line *line)
{
    const uint32_t format = b->options.format;
    for (uint32_t i = 0; i < line->count; i++) {
        const bench_field *field = &line->fields[i];
        const char *quote = field->width < 0 ? "\"" : "";
        if (format == BENCH_TABLE)
            (void)printf("%s%*s", i != 0 ? " " : "", i + 1 < line->count ? field->width : 0,
                         field->text);
        else if (format == BENCH_CSV) (void)printf("%s%s", i != 0 ? "," : "", field->text);
        else
            (void)printf("%s\"%s\": %s%s%s", i != 0 ? ", " : "{", field->name, quote, field->text,
                         quote);
    }
    (void)printf("%s\n", format == BENCH_JSON ? "}" : "");
}

void bench_line_end(bench *b, bench_line *line, const bench_result *result)
{
    const double rate = result->seconds > 0 ? result->amount / result->seconds : 0;
    bench_line_number(line, "mops", "%.3f", rate / 1e6);
    bench_line_number(line, "ms", "%.3f", result->seconds * 1e3);
    bench_line_number(line, "roof_mops", "%.3f", result->roof / 1e6);
    bench_line_number(line, "roof_share", "%.4f", result->roof > 0 ? rate / result->roof : 0);
    add_verified(b, line, result->right);
    progress_hide();
    if (!b->columns_named && b->options.format != BENCH_JSON) print_names(b, line);
    b->columns_named = true;
    print_values(b, line);
    (void)fflush(stdout);
    b->bad_rows += !result->right;
}
