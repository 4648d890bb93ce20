/* report.c: the rows of a benchmark as an aligned table, as CSV or as JSON. */
#include <stdio.h>
#include <time.h>

#include "bench/table/table.h"
#include "progress.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

static const char *container_name(const bench *b) { return bench_subject_name(&b->options); }

static double roof_share(const bench_row *row)
{
    return row->roof_mops > 0 ? row->mops / row->roof_mops : 0;
}

static void csv_head(const bench *b, int argc, char **argv)
{
    char date[32] = "";
    const time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    if (utc != NULL) (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc);
    (void)printf("# command: heddle bench %s", container_name(b));
    for (int i = 1; i < argc; i++) (void)printf(" %s", argv[i]);
    (void)printf("\n# date: %s\n", date);
    (void)printf("# device: %s, %u %s, %s\n", b->info.name, b->info.threads,
                 b->info.kind == HEDDLE_DEVICE_CUDA ? "SMs" : "threads", b->info.features);
    (void)printf("# copy roof: %.1f GB/s\n", b->copy_rate / 1e9);
    (void)printf("# heddle: %s\n", heddle_version_string());
    if (b->options.commit != NULL) (void)printf("# commit: %s\n", b->options.commit);
    if (b->options.subject > BENCH_SET) return; /* bench/line.c names the columns */
    (void)printf("device,container,instance,op,n,load,mops,probes,roof_mops,roof_share,"
                 "bytes_per_entry,verified,bucket,hashes,filled,failed%s\n",
                 b->options.sweeps != 0 ? ",sweep,seeds,success_share" : "");
}

static void table_head(const bench *b)
{
    const bench_options *o = &b->options;
    const bench_list *sizes = &o->axes.list[BENCH_AXIS_KEYS];
    (void)printf("heddle %s: %s on %s\n", heddle_version_string(), container_name(b),
                 b->device_name);
    (void)printf("%s, %u %s, %s, memory %.1f GiB (%.1f free), copy %.1f GB/s\n", b->info.name,
                 b->info.threads, b->info.kind == HEDDLE_DEVICE_CUDA ? "SMs" : "threads",
                 b->info.features, (double)b->info.memory_total / GIB,
                 (double)b->info.memory_free / GIB, b->copy_rate / 1e9);
    if (sizes->count == 1 && o->left == 0) (void)printf("%.0f ", sizes->at[0]);
    (void)printf("keys of %u bits, ", o->key_bits);
    if (o->value_bits != 0) (void)printf("values of %u bits, ", o->value_bits);
    (void)printf("seed %llu, median of %u runs\n", (unsigned long long)o->seed, o->repeat);
    if (o->subject > BENCH_SET)
        (void)printf(
            "roof: random reads of 32 bytes for probes and erasures, random compare-and-swaps "
            "for\n      insertions into empty slots and counters, else a partition of what is "
            "given,\n      measured in this run\n");
    else
        (void)printf(
            "roof: random reads of a bucket for lookups, a partition of the pairs for builds,\n"
            "      random compare-and-swaps for other writes, "
            "measured in this run\n");
}

static void table_columns(const bench *b)
{
    const uint32_t sweep = b->part->sweep;
    if (sweep == BENCH_SWEEP_NONE) (void)printf("\n");
    else (void)printf("\nsweep of %s\n", bench_sweep_names[sweep]);
    if (sweep == BENCH_SWEEP_SUCCESS) {
        if (b->part->axes.list[BENCH_AXIS_LOAD].count == 0)
            (void)printf("the highest load, in steps of %g, at which 99 %% of the seeds leave no "
                         "key out\n",
                         1.0 / BENCH_SUCCESS_GRID);
        (void)printf("%-19s %6s %6s %11s %6s %6s %9s\n", "instance", "bucket", "hashes", "n",
                     "load", "seeds", "success");
        return;
    }
    (void)printf("%-19s %6s %6s %-11s %11s %5s %6s %9s %7s %9s %6s %8s %s\n", "instance", "bucket",
                 "hashes", "op", "n", "load", "filled", "M/s", "probes", "roof M/s", "share",
                 "B/entry", "verified");
}

void bench_report_part(const bench *b)
{
    progress_hide();
    if (b->options.format == BENCH_TABLE) table_columns(b);
    (void)fflush(stdout);
}

void bench_report_head(const bench *b, int argc, char **argv)
{
    if (b->options.format == BENCH_CSV) csv_head(b, argc, argv);
    if (b->options.format == BENCH_TABLE) table_head(b);
    (void)fflush(stdout);
}

static void table_row(const bench *b, const bench_row *row)
{
    char verified[64] = "yes";
    if (row->wrong) (void)snprintf(verified, sizeof verified, "NO: wrong");
    else if (row->failed != 0)
        (void)snprintf(verified, sizeof verified, "no: %llu keys did not fit",
                       (unsigned long long)row->failed);
    else if (!row->verified) (void)snprintf(verified, sizeof verified, "no");
    (void)printf("%-19s %6u %6u %-11s %11llu %5.2f %6.3f %9.1f %7.3f %9.1f %4.0f %% %8.2f %s\n",
                 heddle_table_instance(b->table), b->bucket, b->hashes, b->op,
                 (unsigned long long)b->keys.n, b->load, row->filled, row->mops, row->probes,
                 row->roof_mops, roof_share(row) * 100, row->bytes_per_entry, verified);
}

static void csv_row(const bench *b, const bench_row *row)
{
    (void)printf("%s,%s,%s,%s,%llu,%g,%.3f,%.4f,%.3f,%.4f,%.4f,%s,%u,%u,%.4f,%llu", b->device_name,
                 container_name(b), heddle_table_instance(b->table), b->op,
                 (unsigned long long)b->keys.n, b->load, row->mops, row->probes, row->roof_mops,
                 roof_share(row), row->bytes_per_entry, row->verified ? "true" : "false", b->bucket,
                 b->hashes, row->filled, (unsigned long long)row->failed);
    if (b->part->sweep != BENCH_SWEEP_NONE)
        (void)printf(",%s,,", bench_sweep_names[b->part->sweep]);
    (void)printf("\n");
}

static void json_row(const bench *b, const bench_row *row)
{
    (void)printf(
        "{\"device\": \"%s\", \"container\": \"%s\", \"instance\": \"%s\", \"op\": \"%s\", "
        "\"n\": %llu, \"load\": %g, \"mops\": %.3f, \"probes\": %.4f, \"roof_mops\": %.3f, "
        "\"roof_share\": %.4f, \"bytes_per_entry\": %.4f, \"verified\": %s, \"bucket\": %u, "
        "\"hashes\": %u, \"filled\": %.4f, \"failed\": %llu",
        b->device_name, container_name(b), heddle_table_instance(b->table), b->op,
        (unsigned long long)b->keys.n, b->load, row->mops, row->probes, row->roof_mops,
        roof_share(row), row->bytes_per_entry, row->verified ? "true" : "false", b->bucket,
        b->hashes, row->filled, (unsigned long long)row->failed);
    if (b->part->sweep != BENCH_SWEEP_NONE)
        (void)printf(", \"sweep\": \"%s\"", bench_sweep_names[b->part->sweep]);
    (void)printf("}\n");
}

void bench_report_row(const bench *b, const bench_row *row)
{
    if (b->options.format == BENCH_CSV) csv_row(b, row);
    else if (b->options.format == BENCH_JSON) json_row(b, row);
    else table_row(b, row);
    (void)fflush(stdout);
}

/* In CSV the columns of all rows, empty where they belong to a timed operation. */
void bench_report_success(const bench *b, const bench_success *success)
{
    const char *instance = heddle_table_instance(b->table);
    const unsigned long long keys = success->keys;
    const double share = (double)success->successes / (double)success->seeds;
    if (b->options.format == BENCH_CSV)
        (void)printf("%s,%s,%s,success,%llu,%.4f,,,,,,,%u,%u,,,success,%u,%.4f\n", b->device_name,
                     container_name(b), instance, keys, success->load, b->bucket, b->hashes,
                     success->seeds, share);
    else if (b->options.format == BENCH_JSON)
        (void)printf("{\"device\": \"%s\", \"container\": \"%s\", \"instance\": \"%s\", "
                     "\"op\": \"success\", \"n\": %llu, \"load\": %.4f, \"bucket\": %u, "
                     "\"hashes\": %u, \"sweep\": \"success\", \"seeds\": %u, "
                     "\"success_share\": %.4f}\n",
                     b->device_name, container_name(b), instance, keys, success->load, b->bucket,
                     b->hashes, success->seeds, share);
    else
        (void)printf("%-19s %6u %6u %11llu %6.3f %6u %7.1f %%\n", instance, b->bucket, b->hashes,
                     keys, success->load, success->seeds, share * 100);
    (void)fflush(stdout);
}
