/* bench_help.c: the manual of `heddle bench`. */
#include <stdio.h>

#include "tool.h"

static const char usage[] =
    "heddle bench map|set [options]\n"
    "\n"
    "For every combination of keys, bucket, hashes and load a fixed table for all keys is\n"
    "made. Every operation runs once to warm up, then --repeat times on arrays in device\n"
    "memory; the median counts, and the answers of the last run are verified. Options are\n"
    "written --x VALUE or --x=VALUE, lists with commas in between.\n"
    "\n";

static const char options[] =
    "  --device NAME      auto, cpu, cpu:THREADS, cuda, cuda:N                      [auto]\n"
    "  --scheme NAME      auto, cuckoo                                              [auto]\n"
    "  --bucket LIST      slots: 1, 4, 8, 16, 32; 0 lets the library choose         [0]\n"
    "  --hashes LIST      2, 3, 4; 0 lets the library choose                        [0]\n"
    "  --keys LIST        counts, written 1000000, 1e6, 16M, 16Mi or 2^24           [2^24]\n"
    "  --key-bits BITS    32, 64                                                    [32]\n"
    "  --value-bits BITS  32, 64; none in a set                                     [32]\n"
    "  --load LIST        filled shares of the slots, 0.1 to 0.99                   [0.8]\n"
    "  --op LIST          the operations below       [build,insert,find,miss,erase; in a\n"
    "                     set contains instead of find]\n"
    "  --hit LIST         percent of the queries of find and contains that are present;\n"
    "                     one row for each                                          [100]\n"
    "  --repeat COUNT     timed runs                                                [5]\n"
    "  --seed NUMBER      of the keys and the table; with 0 the table draws its own [1]\n"
    "  --no-verify        do not check the answers\n"
    "  --format NAME      table, csv, json (one object a line)                      [table]\n"
    "  --commit TEXT      written to the head of CSV\n"
    "\n";

static const char meaning[] =
    "  build     empties the table and fills it from arrays\n"
    "  insert    one batch of all keys into the empty table\n"
    "  find      all keys in another order, with their values (in a set: contains)\n"
    "  contains  the same without values\n"
    "  miss      as many keys that are not in the table\n"
    "  erase     all keys in another order\n"
    "\n"
    "Each row gives the load asked for and the share of the slots that was filled, the rate\n"
    "in million/s, the buckets probed per operation, the machine's own rate measured in the\n"
    "same run (random reads of a bucket for find, contains and miss; random 64-bit\n"
    "compare-and-swaps for the others), the share of it that the table reaches, the table's\n"
    "bytes per key, and whether every answer was verified.\n";

void bench_help(void)
{
    (void)fputs(usage, stdout);
    (void)fputs(options, stdout);
    (void)fputs(meaning, stdout);
}
