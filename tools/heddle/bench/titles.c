/*
 * titles.c: lines as rows of a table. A field has a title of two lines, the second often a unit. Results are columns;
 * what was asked for is one where it changes from row to row, and stands above the rows otherwise. Where the columns
 * would be too wide together, what was asked for and changes slowest stands above the rows, too.
 */
#include <stdio.h>
#include <string.h>

#include "bench/line.h"

typedef struct title {
    const char *name;
    const char *first,
        *second;        /* "million" over "a second"; first is NULL where CSV alone has it */
    int width;          /* negative: words, on the left */
    const char *format; /* NULL: as in CSV */
    double scale;
    bool is_asked; /* what was asked for; else a result */
} title;

static const title titles[] = {
    {"instance", "table", "", -19, NULL, 0, true},
    {"scheme", "scheme", "", -11, NULL, 0, true},
    {"kind", "kind", "", -6, NULL, 0, true},
    {"variant", "variant", "", -8, NULL, 0, true},
    {"order", "order", "", -9, NULL, 0, true},
    {"ask", "asked", "for", -5, NULL, 0, true},
    {"type", "type", "", -4, NULL, 0, true},
    {"with_keys", "with", "keys", -4, NULL, 0, true},
    {"at_once", "at", "once", -4, NULL, 0, true},
    {"op", "operation", "", -11, NULL, 0, false},
    {"members", "members", "", 7, NULL, 0, false},
    {"scaling", "scaling", "", -7, NULL, 0, true},
    {"n", "", "", 11, NULL, 0, true}, /* named by bench_output.things */
    {"left", "left", "rows", 11, NULL, 0, true},
    {"right", "right", "rows", 11, NULL, 0, true},
    {"load", "load", "", 5, "%.2f", 1, true},
    {"bucket", "slots", "a bucket", 8, NULL, 0, true},
    {"hashes", "hashes", "", 6, NULL, 0, true},
    {"bits_per_key", "bits", "a key", 5, NULL, 0, true},
    {"batch", "batch", "", 9, NULL, 0, true},
    {"updates", "updates", "%", 7, NULL, 0, true},
    {"copies", "rows", "a key", 7, NULL, 0, true},
    {"groups", "groups", "", 9, NULL, 0, true},
    {"distribution", "distribution", "", -12, NULL, 0, true},
    {"hit", "present", "%", 7, NULL, 0, true},
    {"vertices", "lists", "a key", 5, NULL, 0, true},
    {"bins", "bins", "", 6, NULL, 0, true},
    {"workspace", "memory", "given", 6, NULL, 0, true},
    {"row_bits", "bits", "a row number", 12, NULL, 0, true},
    {"share", "part of", "a table", 7, "1/%.0f", 1, true},
    {"budget", "memory", "MB", 8, "%.1f", 1, true},
    {"mops", "million", "a second", 8, "%.1f", 1, false},
    {"ms", "time", "ms", 9, "%.2f", 1, false},
    {"ratio", "time vs", "1 table", 7, "%.2f", 1, false},
    {"speedup", "speedup", "", 7, "%.2f", 1, false},
    {"roof_mops", "machine's", "million/s", 9, "%.1f", 1, false},
    {"roof_share", "share", "of it %", 7, "%.0f", 100, false},
    {"probes", "buckets", "read", 7, "%.3f", 1, false},
    {"filled", "filled", "%", 6, "%.1f", 100, false},
    {"passes", "passes", "", 6, NULL, 0, false},
    {"bytes_per_entry", "bytes", "an entry", 8, "%.2f", 1, false},
    {"bytes_per_key", "bytes", "a key", 6, "%.2f", 1, false},
    {"keys", "different", "keys", 11, NULL, 0, false},
    {"rows", "result", "rows", 11, NULL, 0, false},
    {"memory_use", "filled", "%", 6, "%.1f", 100, false},
    {"looks", "slabs", "read", 6, "%.3f", 1, false},
    {"megabytes", "size", "MB", 8, "%.1f", 1, false},
    {"rate_expected", "false %", "expected", 8, "%.4f", 100, false},
    {"rate_measured", "false %", "measured", 8, "%.4f", 100, false},
    {"partition", "partition", "%", 9, "%.1f", 100, false},
    {"reorganise", "reorder", "%", 7, "%.1f", 100, false},
    {"exchange", "exchange", "%", 8, "%.1f", 100, false},
    {"work", "work", "%", 5, "%.1f", 100, false},
    {"imbalance", "uneven", "keys %", 6, "%.1f", 100, false},
    {"row_imbalance", "uneven", "rows %", 6, "%.1f", 100, false},
    {"parts", "parts", "", 6, NULL, 0, false},
    {"peak", "peak", "MB", 7, "%.1f", 1, false},
    {"read", "read", "MB", 7, "%.1f", 1, false},
    {"written", "written", "MB", 7, "%.1f", 1, false},
    {"spilled", "spilled", "MB", 7, "%.1f", 1, false},
    {"sort_ms", "sort", "ms", 7, "%.1f", 1, false},
    {"work_ms", "work", "ms", 7, "%.1f", 1, false},
    {"deliver_ms", "deliver", "ms", 7, "%.1f", 1, false},
    {"seeds", "seeds", "", 7, NULL, 0, false},
    {"success_share", "all keys", "fit in %", 8, "%.1f", 100, false},
};

static bool is_varying(const bench_output *output, const char *name)
{
    for (uint32_t i = 0; output->varying[i] != NULL; i++)
        if (strcmp(output->varying[i], name) == 0) return true;
    return false;
}

static const char *first_line(const bench_output *output, const title *t)
{
    return strcmp(t->name, "n") == 0 ? output->things : t->first;
}

static int width_of(const title *t) { return t->width < 0 ? -t->width : t->width; }

/* --------------------------------------------------------------------------------------- layout */

enum { ABOVE, COLUMN };

static const bench_field *named(const bench_line *line, const char *name)
{
    for (uint32_t i = 0; i < line->count; i++)
        if (strcmp(line->fields[i].name, name) == 0) return &line->fields[i];
    return NULL;
}

/* Without a meaning here: bins of another build, passes of a build that was given no memory, no single table. */
static bool is_idle(const bench_line *line, const bench_field *field)
{
    static const char *const idle[] = {"bins", "workspace", "bucket", "load", "vertices", "ratio"};
    const bench_field *scheme = named(line, "scheme"), *workspace = named(line, "workspace");
    if (strcmp(field->name, "passes") == 0) return workspace != NULL && workspace->number == 0;
    if (strcmp(field->name, "vertices") == 0 && scheme != NULL)
        return strcmp(scheme->text, "hashgraph") != 0;
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        if (strcmp(field->name, idle[i]) == 0) return field->number == 0;
    return false;
}

/* A field of a line with its title, and where it stands. Cells are in the order of the titles. */
typedef struct cell {
    const title *title;
    const bench_field *field;
    uint32_t place; /* ABOVE or COLUMN */
} cell;

typedef struct row {
    cell cells[BENCH_FIELDS_MAX];
    uint32_t count;
} row;

/* Takes what was asked for out of the columns; how much narrower they are. */
static int move_above(row *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++) {
        cell *c = &r->cells[i];
        if (c->place != COLUMN || !c->title->is_asked || strcmp(c->field->name, name) != 0)
            continue;
        c->place = ABOVE;
        return width_of(c->title) + 1;
    }
    return 0;
}

static void lay_out(const bench_output *output, const bench_line *line, row *r)
{
    int width = named(line, "failed") != NULL ? 20 : 9; /* of what was verified */
    r->count = 0;
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        const bench_field *field = named(line, titles[i].name);
        if (field == NULL || field->text[0] == '\0') continue;
        const bool varies = is_varying(output, field->name);
        if (is_idle(line, field) && !varies) continue;
        cell *c = &r->cells[r->count++];
        c->title = &titles[i];
        c->field = field;
        c->place = !titles[i].is_asked || varies ? COLUMN : ABOVE;
        if (c->place == COLUMN) width += width_of(c->title) + 1;
    }
    for (uint32_t i = 0; output->varying[i] != NULL && width > BENCH_TABLE_WIDTH; i++)
        width -= move_above(r, output->varying[i]);
}

static void cell_text(const cell *c, char text[48])
{
    const title *t = c->title;
    if (t->format == NULL || c->field->is_word) (void)snprintf(text, 48, "%s", c->field->text);
    else (void)snprintf(text, 48, t->format, c->field->number * t->scale);
}

/* ------------------------------------------------------------------------------------- printing */

static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s", more);
}

/* "rows: 16777216, distribution: uniform", in lines no wider than a table. */
static void write_head(const bench_output *output, const row *r, char head[BENCH_HEAD_MAX])
{
    size_t start = 0; /* of the last line */
    head[0] = '\0';
    for (uint32_t i = 0; i < r->count; i++) {
        const cell *c = &r->cells[i];
        char item[160], text[48];
        if (c->place != ABOVE) continue;
        cell_text(c, text);
        (void)snprintf(item, sizeof item, "%s%s%s: %s", first_line(output, c->title),
                       c->title->second[0] != '\0' ? " " : "", c->title->second, text);
        const bool full = strlen(head) - start + strlen(item) + 2 > BENCH_TABLE_WIDTH;
        if (head[0] != '\0') append(head, BENCH_HEAD_MAX, full ? ",\n" : ", ");
        if (full) start = strlen(head);
        append(head, BENCH_HEAD_MAX, item);
    }
    append(head, BENCH_HEAD_MAX, "\n");
}

static void print_titles(const bench_output *output, const row *r)
{
    for (int second = 0; second < 2; second++) {
        for (uint32_t i = 0; i < r->count; i++) {
            const title *t = r->cells[i].title;
            if (r->cells[i].place != COLUMN) continue;
            (void)printf("%*s ", t->width, second != 0 ? t->second : first_line(output, t));
        }
        (void)printf("%s\n", second != 0 ? "" : "verified");
    }
}

void bench_titles_print(bench_output *output, const bench_line *line)
{
    char head[BENCH_HEAD_MAX], text[48];
    row r;
    lay_out(output, line, &r);
    write_head(output, &r, head);
    if (strcmp(head, output->head) != 0) {
        (void)printf("%s%s", head[0] != '\n' ? "\n" : "", head);
        print_titles(output, &r);
        (void)snprintf(output->head, sizeof output->head, "%s", head);
    }
    for (uint32_t i = 0; i < r.count; i++) {
        if (r.cells[i].place != COLUMN) continue;
        cell_text(&r.cells[i], text);
        (void)printf("%*s ", r.cells[i].title->width, text);
    }
    (void)printf("%s\n", line->note);
}
