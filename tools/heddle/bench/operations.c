/* operations.c: the operations of each subject of `heddle bench`, as its help explains them. */
#include "bench/options.h"

const tool_word bench_words_of_table[] = {
    {"build", "empties the table and fills it from arrays"},
    {"insert", "one batch of all keys into the empty table, in a call that does not wait"},
    {"append", "the second half of the keys, in a call that waits, into a table of the first half"},
    {"find", "all keys in another order, with their values (in a set: contains)"},
    {"contains", "the same without values"},
    {"miss", "as many keys that are not in the table"},
    {"erase", "all keys in another order"},
    {NULL, NULL},
};
const tool_word bench_words_of_graph[] = {
    {"build", "all rows into an empty graph; the rate is in pairs"},
    {"insert", "the second half of the rows into a graph of the first; in pairs"},
    {"find", "one value of every row's key, in another order; in queries, as the next ones"},
    {"contains", "the same without values"},
    {"miss", "find with as many keys that are not there"},
    {"count", "the values of every row's key; where keys are not uniform, of every key once"},
    {"retrieve", "all values of every key, which is asked for once; in pairs"},
    {"query", "a graph of all rows' keys in another order is built and intersected with the graph "
              "of the rows, "
              "which is there; the pairs in common are counted; in queries"},
    {"intersect", "the same, except that both graphs are built; in pairs of both"},
    {"erase", "every key once; in pairs"},
    {NULL, NULL},
};
const tool_word bench_words_of_multimap[] = {
    {"build", "empties the table and fills it with all rows; the rate is in pairs"},
    {"insert", "all rows into the empty table; in pairs"},
    {"add", "the second half of the rows into a table of the first; in pairs"},
    {"find", "one value of every row's key, in another order; in queries, as the next ones"},
    {"contains", "the same without values"},
    {"miss", "find with as many keys that are not there"},
    {"count", "the values of every row's key; where keys are not uniform, of every key once"},
    {"retrieve", "all values of every key, which is asked for once; in pairs"},
    {"range", "all values of as many different keys as there are rows, of which the table has keys "
              "/ copies; in "
              "queries"},
    {"erase", "every key once; in pairs"},
    {NULL, NULL},
};
const tool_word bench_words_of_counter[] = {
    {"build", "empties the table and counts all keys"},
    {"insert", "one batch of all keys into the empty table, in a call that waits"},
    {"add", "a second batch of as many keys into the table of the first"},
    {"find", "the counts of all keys of the second batch"},
    {"miss", "the same with keys that were not counted"},
    {NULL, NULL},
};
const tool_word bench_words_of_filter[] = {
    {"add", "all keys into the empty filter"},
    {"contains", "all keys in another order"},
    {"miss", "as many keys that were not added"},
    {NULL, NULL},
};
const tool_word bench_words_of_mixed[] = {
    {"mixed", "four such batches in a row, compaction of lists included; in operations. A table of "
              "which a batch "
              "replaces more than an eighth may grow; others are fixed"},
    {"grow", "all keys into the empty table, a batch at a time"},
    {"take", "as many slabs as a batch has operations from a pool of twice as many, in one go"},
    {NULL, NULL},
};
const tool_word bench_words_of_sweeps[] = {
    {"load", "0.5 to 0.99"},
    {"bucket", "all that are compiled, at loads 0.8 and 0.9"},
    {"hashes", "2, 3, 4, at loads 0.8 and 0.9"},
    {"hit", "find with 100, 75, 50, 25, 0 %, at loads 0.8 and 0.9"},
    {"keys", "2^16 to 2^24, on a GPU to 2^26, at loads 0.8 and 0.9"},
    {"success", "the highest load at which 99 % of --seeds fresh seeds place every key in one "
                "insertion, for all "
                "buckets and hashes"},
    {NULL, NULL},
};
const tool_word bench_words_of_graph_variants[] = {
    {"regions", "the library's own"},
    {"ordered", "the same with the values of a key in order"},
    {"v1", "the first build of the HashGraph paper: 32 bits, operation build alone"},
    {"v2", "the second one, likewise, with --bins"},
    {NULL, NULL},
};
const tool_word bench_words_of_multimap_variants[] = {
    {"regions", "the library's own"},
    {"direct",
     "scheme open: a table of fixed size, whose pairs are placed in the order in which they come"},
    {NULL, NULL},
};
const tool_word bench_words_of_distributions[] = {
    {"uniform", "every key as often as the others"},
    {"zipf:S", "key number k with a frequency as k^-S, S from 0.01 to 10"},
    {"equal", "one key"},
    {"sequence", "keys 0, 1, 2, ..., each as often as the others, ascending, and asked for so"},
    {NULL, NULL},
};
const tool_word bench_words_of_orders[] = {
    {"unordered", "as it comes"},
    {"first", "in order of first appearance"},
    {NULL, NULL},
};
