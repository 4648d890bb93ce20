/* line.c: fields, CSV and JSON; see line.h. */
#include "bench/line.h"

#include <stdio.h>
#include <string.h>

#include "progress.h"

static bench_field *add_field(bench_line *line, const char *name)
{
    bench_field *field = &line->fields[line->count];
    if (line->count < BENCH_FIELDS_MAX - 1) line->count++;
    memset(field, 0, sizeof *field);
    field->name = name;
    return field;
}

void bench_line_word(bench_line *line, const char *name, const char *word)
{
    bench_field *field = add_field(line, name);
    field->is_word = true;
    (void)snprintf(field->text, sizeof field->text, "%s", word);
}

void bench_line_number(bench_line *line, const char *name, const char *format, double number)
{
    bench_field *field = add_field(line, name);
    field->number = number;
    (void)snprintf(field->text, sizeof field->text, format, number);
}

void bench_line_truth(bench_line *line, const char *name, bool truth)
{
    bench_field *field = add_field(line, name);
    field->number = truth;
    (void)snprintf(field->text, sizeof field->text, "%s", truth ? "true" : "false");
}

void bench_line_empty(bench_line *line, const char *name) { (void)add_field(line, name); }

void bench_line_verified(bench_line *line, bool verified, bool right)
{
    bench_line_truth(line, "verified", verified && right);
    (void)snprintf(line->note, sizeof line->note, "%s",
                   !right     ? "NO: wrong"
                   : verified ? "yes"
                              : "no");
}

static void print_csv(bench_output *output, const bench_line *line)
{
    for (uint32_t i = 0; i < line->count && !output->named; i++)
        (void)printf("%s%s%s", i != 0 ? "," : "", line->fields[i].name,
                     i + 1 == line->count ? "\n" : "");
    for (uint32_t i = 0; i < line->count; i++)
        (void)printf("%s%s", i != 0 ? "," : "", line->fields[i].text);
    (void)printf("\n");
    output->named = true;
}

static void print_json(const bench_line *line)
{
    const char *before = "{";
    for (uint32_t i = 0; i < line->count; i++) {
        const bench_field *field = &line->fields[i];
        const char *quote = field->is_word ? "\"" : "";
        if (field->text[0] == '\0') continue;
        (void)printf("%s\"%s\": %s%s%s", before, field->name, quote, field->text, quote);
        before = ", ";
    }
    (void)printf("}\n");
}

void bench_line_print(bench_output *output, const bench_line *line)
{
    progress_hide();
    if (output->format == BENCH_CSV) print_csv(output, line);
    else if (output->format == BENCH_JSON) print_json(line);
    else bench_titles_print(output, line);
    (void)fflush(stdout);
}
