/* subjects.c: the commands `heddle bench map` and so on, in the order of BENCH_MAP, BENCH_SET, ... */
#include "bench/options.h"
#include "tool.h"

/* The same of all subjects that have lists. */
#define MEASURED                                                                                   \
    "Every combination of the lists is measured: one run to warm up, then --repeat runs on "       \
    "arrays in device memory, of "                                                                 \
    "which the median counts; the answers of the last run are checked, and a wrong one makes the " \
    "exit status 1."
#define ROOF                                                                                       \
    "The machine's own rate is measured in the same run, and the share of it that was reached "    \
    "stands beside it: "

#define SUBJECT(PLACE, NAME, SUMMARY)                                                              \
    .name = "bench " NAME, .summary = SUMMARY, .options = bench_option_list,                       \
    .option_count = BENCH_OPTION_COUNT, .bit = 1u << (PLACE), .run = bench_command

static const char tables_text[] = "For every combination of keys, bucket, hashes and load a fixed "
                                  "table for all keys is made. " MEASURED;

static const char tables_after[] =
    ROOF "random reads of a bucket for find, contains and miss; a partition of the pairs for "
         "build, by CUB's radix sort or "
         "on a CPU by a copy; random 64-bit compare-and-swaps for insert and erase.\n\n"
         "--sweep makes the tables of the BGHT paper: build, insert and find with hits of 100, 50 "
         "and 0 % for one thing that "
         "changes while the others stay. Elsewhere there are 2^24 keys in buckets of the size that "
         "the library chooses at "
         "load 0.8. A list that is given, such as --load 0.5,0.8 or --bucket 16, replaces the list "
         "of its sweep, and what "
         "is kept in the other sweeps. Keys that do not fit are counted in their row, which is not "
         "verified then, and do "
         "not make the exit status 1; wrong answers do.\n\n"
         "The sweep of success makes a table for 2^20 keys (--keys) and fills it in steps of 0.005 "
         "of its slots: by bisection "
         "with one seed, then step by step with all of them, giving a load up as soon as more than "
         "1 % have failed. With "
         "--load it gives the share of the seeds that succeed at each of these loads.";

static const char tables_examples[] =
    "  heddle bench map --keys 2^26 --load 0.5,0.8,0.95 --op build,find,miss\n"
    "  heddle bench set --scheme iceberg --bucket 16,32 --format csv\n"
    "  heddle bench map --sweep=load,hashes\n";

const tool_command bench_subjects[BENCH_SUBJECTS] = {
    {SUBJECT(BENCH_MAP, "map", "maps: build, insert, find, erase"), .text = tables_text,
     .after = tables_after, .examples = tables_examples},
    {SUBJECT(BENCH_SET, "set", "sets, likewise"), .text = tables_text, .after = tables_after,
     .examples = tables_examples},
    {SUBJECT(BENCH_GRAPH, "graph", "hashgraphs: builds of the papers, queries, intersections"),
     .text = "A hashgraph is a multimap from keys to row numbers. " MEASURED,
     .after = ROOF "a partition of the pairs, for probes and erasures random reads of 32 bytes.",
     .examples =
         "  heddle bench graph --keys 2^24 --copies 1,4,16 --variant regions,v1,v2 --op build\n"},
    {SUBJECT(BENCH_JOIN, "join", "joins of two columns of keys"),
     .text = "The rate counts the rows of both sides. A row 'count' creates the join, which counts "
             "its rows; a row "
             "'pairs' creates it and fetches all rows, in slices where they are more than half of "
             "the free memory "
             "holds; it is left out where they are more than 2^33. Creating and destroying "
             "count. " MEASURED,
     .after = ROOF "a partition of the rows.",
     .examples = "  heddle bench join --left 2^20 --right 2^24 --kind inner,semi --hit 50\n"},
    {SUBJECT(BENCH_GROUP, "group", "group-bys: rows brought together by key, values aggregated"),
     .text = "The rate counts rows. Creating and destroying the groups count. " MEASURED,
     .after = ROOF "a partition of the rows.",
     .examples = "  heddle bench group --keys 2^26 --groups 1000,1e6 --aggregate sum,mean\n"},
    {SUBJECT(BENCH_UNIQUE, "unique",
             "different keys, which of them each row has, and the rows of each"),
     .text = "The rate counts rows. Creating and destroying the groups count. " MEASURED,
     .after = ROOF "a partition of the rows.",
     .examples = "  heddle bench unique --order first --distribution zipf:1.2\n"},
    {SUBJECT(BENCH_FILTER, "filter", "Bloom filters: keys added and looked for, false positives"),
     .text = MEASURED
     "\n\nA row is verified when every key is found, and of as many others a share that differs "
     "from "
     "theory by no more than 3 % and what chance allows. In csv and json, rate_measured is that "
     "share, rate_expected what theory says, rate_found what the bits of the filter itself say.",
     .after = ROOF "a partition of the keys for add, else random reads of 32 bytes.",
     .examples = "  heddle bench filter --keys 2^26 --bits-per-key 8,16 --hashes 0,4\n"},
    {SUBJECT(BENCH_MULTIMAP, "multimap", "multimaps from keys to row numbers, by any scheme"),
     .text = MEASURED,
     .after = ROOF "a partition of the pairs, for probes and erasures random reads of 32 bytes.",
     .examples = "  heddle bench multimap --scheme open,hashgraph,bucket_list --copies 1,8,64\n"},
    {SUBJECT(BENCH_COUNTER, "counter", "counters: how often each key was given, by any scheme"),
     .text = "The rate counts the keys of a batch. Tables of slots have a fixed size with room for "
             "the different "
             "keys. " MEASURED,
     .after =
         ROOF "a partition of the keys for build, insert and add, in a slab hash random 64-bit "
              "compare-and-swaps; random reads of 32 bytes for find and miss.",
     .examples = "  heddle bench counter --copies 1,16 --distribution uniform,zipf:1.2\n"},
    {SUBJECT(BENCH_MIXTURES, "mixed", "slab hashes: insertions, erasures and lookups in one batch"),
     .text = MEASURED,
     .after = ROOF "random reads of 128 bytes for mixed, else random 64-bit compare-and-swaps.",
     .examples = "  heddle bench mixed --keys 2^24 --batch 2^20 --updates 40\n"},
};
