/* help.c: the manual of `heddle bench`. */
#include <stdio.h>

#include "tool.h"

static const char usage[] =
    "heddle bench map|set [options]\n"
    "heddle bench [map|set] --sweep[=LIST] [options]\n"
    "heddle bench multimap|counter|graph|join|group|unique|filter|mixed [options], see the end\n"
    "heddle bench dist [options]: members, scaling, skew and a model; 'heddle help dist'\n"
    "heddle bench shelf [options]: 'heddle help bench-shelf'\n"
    "\n"
    "For every combination of keys, bucket, hashes and load a fixed table for all keys is\n"
    "made. Every operation runs once to warm up, then --repeat times on arrays in device\n"
    "memory; the median counts, and the answers of the last run are verified. Options are\n"
    "written --x VALUE or --x=VALUE, lists with commas in between.\n"
    "\n";

static const char options[] =
    "  --device NAME      auto, cpu, cpu:THREADS, cuda, cuda:N                      [auto]\n"
    "  --scheme NAME      auto, cuckoo, open, iceberg, slab                         [auto]\n"
    "  --threshold SHARE  iceberg: of a bucket, for keys whose first it is          [0.8]\n"
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
    "  --sweep[=LIST]     several benchmarks in a row, see below\n"
    "  --seeds COUNT      of the sweep of success                                   [200]\n"
    "  --no-verify        do not check the answers\n"
    "  --format NAME      table, csv, json (one object a line)                      [table]\n"
    "  --commit TEXT      written to the head of CSV\n"
    "\n";

static const char meaning[] =
    "  build     empties the table and fills it from arrays\n"
    "  insert    one batch of all keys into the empty table, in a call that does not wait: on\n"
    "            a GPU such a call works key by key\n"
    "  append    the second half of the keys, in a call that waits, into a table of the first\n"
    "  find      all keys in another order, with their values (in a set: contains)\n"
    "  contains  the same without values\n"
    "  miss      as many keys that are not in the table\n"
    "  erase     all keys in another order\n"
    "\n"
    "Each row gives the load asked for and the share of the slots that was filled, the rate\n"
    "in million/s, the buckets probed per operation, the machine's own rate measured in the\n"
    "same run (random reads of a bucket for find, contains and miss; for build a partition\n"
    "of the pairs, by CUB's radix sort or on a CPU by a copy; random 64-bit compare-and-swaps\n"
    "for insert and erase), the share of it that the table reaches, the table's bytes per\n"
    "key, and whether every answer was verified.\n";

static const char sweep[] =
    "\n"
    "--sweep makes the tables of the BGHT paper: build, insert and find with hits of 100, 50\n"
    "and 0 % for one thing that changes while the others stay. LIST names some of these, all\n"
    "are run when it is left out:\n"
    "\n"
    "  load      0.5 to 0.99\n"
    "  bucket    all that are compiled, at loads 0.8 and 0.9\n"
    "  hashes    2, 3, 4, at loads 0.8 and 0.9\n"
    "  hit       find with 100, 75, 50, 25, 0 %, at loads 0.8 and 0.9\n"
    "  keys      2^16 to 2^24, on a GPU to 2^26, at loads 0.8 and 0.9\n"
    "  success   the highest load at which 99 % of --seeds fresh seeds [200] place every key\n"
    "            in one insertion, for all buckets and hashes\n"
    "\n"
    "Elsewhere there are 2^24 keys in buckets of the size that the library chooses at load\n"
    "0.8. A list that is given, such as --load 0.5,0.8 or --bucket 16, replaces the list of\n"
    "its sweep, and what is kept in the other sweeps. Keys that do not fit are counted in\n"
    "their row, which is not verified then, and do not make the exit status 1; wrong answers\n"
    "do.\n"
    "\n"
    "success makes a table for 2^20 keys (--keys) and fills it in steps of 0.005 of its slots:\n"
    "by bisection with one seed, then step by step with all of them, giving a load up as\n"
    "soon as more than 1 % have failed. With --load it gives the share of the seeds that\n"
    "succeed at each of these loads.\n";

/* ----------------------------------------------------------------------- graphs and relations */

static const char relations[] =
    "\n"
    "heddle bench multimap|counter|graph|join|group|unique\n"
    "\n"
    "Keys may repeat. Again every combination of the lists is measured: one run to warm up, then\n"
    "--repeat runs on arrays in device memory, of which the median counts; the answers of the\n"
    "last run are verified, and a wrong one makes the exit status 1. Joins and groups are created\n"
    "and destroyed within the time. --device, --repeat, --seed, --no-verify, --format, --commit\n"
    "and --key-bits are as above, and these are common too:\n"
    "\n"
    "  --keys LIST        rows                                                      [2^24]\n"
    "  --distribution LIST  uniform: every key as often as the others; zipf:S: key number k\n"
    "                     with a frequency as k^-S; equal: one key; sequence: keys 0, 1, 2, ...,\n"
    "                     each as often as the others, ascending, and asked for so  [uniform]\n"
    "  --row-bits BITS    of row numbers in join, group, unique: 32, 64             [what "
    "suffices]\n"
    "\n"
    "Rates (mops) are in million/s; roof_mops is the machine's own rate, measured in the same "
    "run:\n"
    "a partition of the pairs (by CUB's radix sort; on a CPU a copy), for probes and erasures of\n"
    "graphs random reads of 32 bytes.\n";

static const char graph[] =
    "\n"
    "heddle bench graph: a hashgraph as a multimap from keys to row numbers\n"
    "\n"
    "  --copies LIST      rows with the same key; there are keys / copies different ones [1]\n"
    "  --vertices LIST    lists for every key, 0.125 to 4                           [1]\n"
    "  --value-bits BITS  32, 64                                                    [32]\n"
    "  --op LIST          [build,find,miss,count,retrieve,query,intersect,erase,insert]\n"
    "  --variant LIST     regions: the library's own; ordered: the same with the values of a key\n"
    "                     in order; v1, v2: the builds of the HashGraph paper\n"
    "                     with 32 bits, op build alone                              [regions]\n"
    "  --bins LIST        of v2, to 65536                                           [2^14]\n"
    "  --workspace LIST   build and insert are given a workspace: these shares, 0.001 to 1, of\n"
    "                     what one pass uses; with less than 1 there are more passes, which\n"
    "                     are counted (passes)                      [memory of their own]\n"
    "\n"
    "  build     all rows into an empty graph; the rate is in pairs\n"
    "  insert    the second half of the rows into a graph of the first; in pairs\n"
    "  find      one value of every row's key, in another order; in queries, as the next ones\n"
    "  contains  the same without values\n"
    "  miss      find with as many keys that are not there\n"
    "  count     the values of every row's key; where keys are not uniform, of every key once\n"
    "  retrieve  all values of every key, which is asked for once; in pairs\n"
    "  query     a graph of all rows' keys in another order is built and intersected with the\n"
    "            graph of the rows, which is there; the pairs in common are counted; in queries\n"
    "  intersect the same, but both graphs are built; in pairs of both\n"
    "  erase     every key once; in pairs\n";

static const char multimap[] =
    "\n"
    "heddle bench multimap: a multimap from keys to row numbers, by any scheme\n"
    "\n"
    "  --scheme LIST      open, hashgraph, bucket_list, slab                        [open]\n"
    "  --copies LIST, --value-bits BITS, --vertices LIST  as with a graph\n"
    "  --bucket LIST      open: slots of a window, 8, 16; 0 lets the library choose [0]\n"
    "  --load LIST        open: filled share of the slots                           [0.8]\n"
    "  --variant LIST     regions; open: direct, a table of fixed size whose pairs are placed in\n"
    "                     the order in which they come                              [regions]\n"
    "  --op LIST          [build,insert,add,find,miss,count,retrieve,erase], contains, range\n"
    "\n"
    "  insert    all rows into the empty table; in pairs\n"
    "  add       the second half of the rows into a table of the first; in pairs\n"
    "  range     all values of as many different keys as there are rows, of which the table has\n"
    "            keys / copies; in queries\n"
    "  others    as with a graph\n";

static const char counter[] =
    "\n"
    "heddle bench counter: how often each key was given, by any scheme; in keys of the batch\n"
    "\n"
    "  --scheme LIST      cuckoo, open, iceberg, hashgraph, slab                    [cuckoo]\n"
    "  --copies LIST      of each key in a batch; there are keys / copies different ones [1]\n"
    "  --value-bits BITS  of the counts: 32, 64                                     [32]\n"
    "  --bucket LIST, --load LIST  of tables of slots, which have a fixed size with room for the\n"
    "                     different keys                                            [0, 0.8]\n"
    "  --vertices LIST    of a hashgraph                                            [1]\n"
    "  --op LIST          [build,insert,add,find,miss]\n"
    "\n"
    "  build     empties the table and counts all keys; the roof is a partition of the keys\n"
    "  insert    one batch of all keys into the empty table, in a call that waits; likewise, in a\n"
    "            slab hash random 64-bit compare-and-swaps\n"
    "  add       a second batch of as many keys into the table of the first; likewise\n"
    "  find      the counts of all keys of the second batch; the roof is random reads of 32 bytes\n"
    "  miss      the same with keys that were not counted\n";

static const char joins[] =
    "\n"
    "heddle bench join: two columns of keys; the rate counts the rows of both\n"
    "\n"
    "  --left COUNT --right COUNT   rows of either side, instead of --keys for both\n"
    "  --copies LIST      rows of the right side with the same key; the left side has rows of\n"
    "                     the same keys                                             [1]\n"
    "  --kind LIST        inner, left, right, full, semi, anti                      [inner]\n"
    "  --hit LIST         percent of the left rows whose keys the right side may have [100]\n"
    "  --count-only       the row count alone, without the pairs\n"
    "\n"
    "  count     creates the join, which counts its rows\n"
    "  pairs     creates it and fetches all rows, in slices where they are more than half of\n"
    "            the free memory holds (capacity); left out where they are more than 2^33\n";

static const char groups[] =
    "\n"
    "heddle bench group: rows brought together by key, and values aggregated; in rows\n"
    "heddle bench unique: the different keys, which of them each row has, and the rows of each\n"
    "\n"
    "  --groups LIST      different keys; what is more than the rows is left out\n"
    "                     [100,127,128,129,1000,1e4,1e5,1e6,50e6]\n"
    "  --aggregate LIST   group: count, sum, min, max, mean                         [sum]\n"
    "  --type NAME        group: u32, i32, f32, u64, i64, f64                       [u64]\n"
    "  --with-keys        group: the keys of the groups are asked for too\n"
    "  --order LIST       unique: unordered, first (in order of first appearance)   [unordered]\n";

static const char filters[] =
    "\n"
    "heddle bench filter: a Bloom filter of --keys distinct keys; in keys\n"
    "\n"
    "  --bits-per-key LIST  1 to 512                                                [16]\n"
    "  --hashes LIST      1 to 16; 0: the number with the fewest false positives    [0]\n"
    "  --op LIST          [add,contains,miss]\n"
    "\n"
    "  add       all keys into the empty filter; the roof is a partition of the keys\n"
    "  contains  all keys in another order; the roof is random reads of 32 bytes\n"
    "  miss      as many keys that were not added\n"
    "\n"
    "A row is verified when every key is found, and of as many others a share (rate_measured) "
    "that\n"
    "differs from theory (rate_expected) by no more than 3 % and what chance allows. rate_found "
    "is\n"
    "what the bits of the filter itself say.\n";

static const char mixed[] =
    "\n"
    "heddle bench mixed: a slab hash of --keys keys under batches of everything at once\n"
    "\n"
    "  --keys LIST        in the table                                              [2^22]\n"
    "  --batch LIST       operations of a batch, at most as many as keys            [2^20]\n"
    "  --updates LIST     percent of them that insert new keys, or erase the oldest, half and\n"
    "                     half; of the others half find their key, half do not      [100,40,20]\n"
    "  --load LIST        of the slots of slabs in use                              [0.65]\n"
    "  --op LIST          [mixed,grow,take]\n"
    "\n"
    "  mixed     four such batches in a row, compaction of lists included; in operations; the\n"
    "            roof is random reads of 128 bytes. A table of which a batch replaces more than "
    "an\n"
    "            eighth may grow; others are fixed\n"
    "  grow      all keys into the empty table, a batch at a time; the roof is random 64-bit\n"
    "            compare-and-swaps\n"
    "  take      as many slabs as a batch has operations from a pool of twice as many, in one\n"
    "            go; likewise\n";

void bench_help(void)
{
    (void)fputs(usage, stdout);
    (void)fputs(options, stdout);
    (void)fputs(meaning, stdout);
    (void)fputs(sweep, stdout);
    (void)fputs(relations, stdout);
    (void)fputs(graph, stdout);
    (void)fputs(multimap, stdout);
    (void)fputs(counter, stdout);
    (void)fputs(joins, stdout);
    (void)fputs(groups, stdout);
    (void)fputs(filters, stdout);
    (void)fputs(mixed, stdout);
}
