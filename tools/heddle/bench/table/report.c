/* report.c: the head of a benchmark, and the rows of maps and sets. */
#include <stdio.h>
#include <string.h>

#include "bench/head.h"
#include "bench/line.h"
#include "bench/table/table.h"
#include "progress.h"

static const char *container_name(const bench *b) { return bench_subject_name(&b->options); }

static double roof_share(const bench_row *row)
{
    return row->roof_mops > 0 ? row->mops / row->roof_mops : 0;
}

/* ----------------------------------------------------------------------------------------- head */

static const char roof_of_tables[] =
    "machine's rate, measured in this run: random reads of a bucket for lookups, a partition of\n"
    "the pairs for builds, random compare-and-swaps for other writes";
static const char roof_of_others[] =
    "machine's rate, measured in this run: random reads for probes and erasures, random\n"
    "compare-and-swaps for insertions into empty slots, else a partition of what is given";

void bench_report_head(bench *b, int argc, char **argv)
{
    const bench_options *o = &b->options;
    char about[400], measured[BENCH_MEASURED_MAX];
    const bench_head head = {container_name(b), b->device_name, &b->info, b->copy_rate,
                             o->commit,         about,          argc,     argv};
    bench_head_measured(measured, o->key_bits, o->value_bits, o->seed, o->repeat);
    (void)snprintf(about, sizeof about, "%s\n%s", measured,
                   o->subject <= BENCH_SET ? roof_of_tables : roof_of_others);
    bench_head_print(o->format, &head);
}

/* Fields that belong to an axis with several items. */
static void find_varying(bench *b, const bench_axes *axes)
{
    static const char *const names[BENCH_AXES] = {
        "n",       "scheme",  "bucket",   "hashes",    "load",         "bits_per_key",
        "batch",   "updates", "copies",   "groups",    "distribution", "hit",
        "variant", "bins",    "vertices", "workspace", "kind",         "order",
        "op",      "op"};
    uint32_t count = 0;
    if (axes->list[BENCH_AXIS_KEYS].count > 1) {
        b->output.varying[count++] = "left";
        b->output.varying[count++] = "right";
    }
    for (uint32_t i = 0; i < BENCH_AXES; i++)
        if (axes->list[i].count > 1) b->output.varying[count++] = names[i];
    b->output.varying[count] = NULL;
}

void bench_report_axes(bench *b, const bench_axes *axes)
{
    const uint32_t subject = b->options.subject;
    const bool keys = subject <= BENCH_SET || subject == BENCH_FILTER || subject == BENCH_MIXTURES;
    b->output.format = b->options.format;
    b->output.things = keys ? "keys" : "rows";
    b->output.head[0] = '\0';
    find_varying(b, axes);
}

void bench_report_part(bench *b)
{
    const uint32_t sweep = b->part->sweep;
    bench_report_axes(b, &b->part->axes);
    if (sweep == BENCH_SWEEP_SUCCESS) { /* what is found */
        uint32_t count = 0;
        while (b->output.varying[count] != NULL) count++;
        b->output.varying[count] = "n";
        b->output.varying[count + 1] = "load";
        b->output.varying[count + 2] = NULL;
    }
    progress_hide();
    if (b->options.format != BENCH_TABLE) return;
    if (sweep != BENCH_SWEEP_NONE) (void)printf("\nsweep of %s\n", bench_sweep_names[sweep]);
    if (sweep == BENCH_SWEEP_SUCCESS && b->part->axes.list[BENCH_AXIS_LOAD].count == 0)
        (void)printf("the highest load, in steps of %g, at which 99 %% of the seeds leave no key "
                     "out\n",
                     1.0 / BENCH_SUCCESS_GRID);
    (void)fflush(stdout);
}

/* ----------------------------------------------------------------------------------------- rows */

/* The fields of a row are those of a sweep's other rows, too: empty where they have no meaning. */
static void begin_row(const bench *b, bench_line *line, const char *op, uint64_t n)
{
    line->count = 0;
    line->note[0] = '\0';
    bench_line_word(line, "device", b->device_name);
    bench_line_word(line, "container", container_name(b));
    bench_line_word(line, "instance", heddle_table_instance(b->table));
    bench_line_word(line, "op", op);
    bench_line_number(line, "n", "%.0f", (double)n);
}

static void note_verified(bench_line *line, const bench_row *row)
{
    bench_line_verified(line, row->verified, !row->wrong);
    if (row->wrong || row->failed == 0) return;
    (void)snprintf(line->note, sizeof line->note, "no: %llu left out",
                   (unsigned long long)row->failed);
}

void bench_report_row(bench *b, const bench_row *row)
{
    bench_line line;
    begin_row(b, &line, b->op, b->keys.n);
    bench_line_number(&line, "load", "%g", b->load);
    bench_line_number(&line, "mops", "%.3f", row->mops);
    bench_line_number(&line, "probes", "%.4f", row->probes);
    bench_line_number(&line, "roof_mops", "%.3f", row->roof_mops);
    bench_line_number(&line, "roof_share", "%.4f", roof_share(row));
    bench_line_number(&line, "bytes_per_entry", "%.4f", row->bytes_per_entry);
    note_verified(&line, row);
    bench_line_number(&line, "bucket", "%.0f", b->bucket);
    bench_line_number(&line, "hashes", "%.0f", b->hashes);
    bench_line_number(&line, "filled", "%.4f", row->filled);
    bench_line_number(&line, "failed", "%.0f", (double)row->failed);
    if (b->options.sweeps != 0) {
        bench_line_word(&line, "sweep", bench_sweep_names[b->part->sweep]);
        bench_line_empty(&line, "seeds");
        bench_line_empty(&line, "success_share");
    }
    bench_line_print(&b->output, &line);
}

void bench_report_success(bench *b, const bench_success *success)
{
    static const char *const timed[] = {"mops",       "probes",          "roof_mops",
                                        "roof_share", "bytes_per_entry", "verified"};
    bench_line line;
    begin_row(b, &line, "success", success->keys);
    bench_line_number(&line, "load", "%.4f", success->load);
    for (int i = 0; i < 6; i++) bench_line_empty(&line, timed[i]);
    bench_line_number(&line, "bucket", "%.0f", b->bucket);
    bench_line_number(&line, "hashes", "%.0f", b->hashes);
    bench_line_empty(&line, "filled");
    bench_line_empty(&line, "failed");
    bench_line_word(&line, "sweep", "success");
    bench_line_number(&line, "seeds", "%.0f", success->seeds);
    bench_line_number(&line, "success_share", "%.4f",
                      (double)success->successes / (double)success->seeds);
    bench_line_print(&b->output, &line);
}

/* -------------------------------------------------------------------- rows of the other subjects */

void bench_line_begin(const bench *b, bench_line *line)
{
    line->count = 0;
    bench_line_word(line, "device", b->device_name);
    bench_line_word(line, "bench", container_name(b));
}

void bench_line_end(bench *b, bench_line *line, const bench_result *result)
{
    const double rate = result->seconds > 0 ? result->amount / result->seconds : 0;
    bench_line_number(line, "mops", "%.3f", rate / 1e6);
    bench_line_number(line, "ms", "%.3f", result->seconds * 1e3);
    bench_line_number(line, "roof_mops", "%.3f", result->roof / 1e6);
    bench_line_number(line, "roof_share", "%.4f", result->roof > 0 ? rate / result->roof : 0);
    bench_line_verified(line, b->options.verify, result->right);
    bench_line_print(&b->output, line);
    b->bad_rows += !result->right;
}
