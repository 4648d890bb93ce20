/*
 * advise.c: `heddle advise`: which scheme, with which parameters, and why. The rules are those of
 * docs/choosing.md; they follow the papers' advice where that was confirmed by measuring.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "tool.h"

/* What was asked for. */
typedef struct question {
    const char *container;
    uint32_t key_bits, value_bits;
    uint64_t keys;   /* distinct ones */
    uint64_t memory; /* bytes the table may have; 0: no bound */
    double copies;   /* pairs of a key */
    double hit;      /* percent of lookups whose key is there; below 0: not said */
    bool is_stable, is_dynamic, is_in_kernels, is_joined, is_mixed;
} question;

typedef struct advice {
    const char *scheme;
    uint32_t bucket; /* 0: the library chooses */
    double load;     /* 0: the scheme has none */
    double bytes;    /* of the whole table */
    char why[640];
} advice;

static bool is(const question *q, const char *container)
{
    return strcmp(q->container, container) == 0;
}

static double pair_bytes(const question *q)
{
    return (double)(q->key_bits + (is(q, "set") ? 0 : q->value_bits)) / 8;
}

static void because(advice *a, const char *reason)
{
    const size_t length = strlen(a->why);
    (void)snprintf(a->why + length, sizeof a->why - length, "%s- %s", length != 0 ? "\n" : "",
                   reason);
}

/* Slots filled to a load that the memory allows. */
static int choose_load(const question *q, advice *a, double usual, double most)
{
    const double bytes = (double)q->keys * pair_bytes(q);
    a->load = usual;
    if (q->memory != 0 && bytes / usual > (double)q->memory) {
        a->load = bytes / (double)q->memory;
        because(a,
                "the load is what the memory asks for; inserting gets slower with it, looking up "
                "absent keys hardly does");
    }
    if (a->load > most)
        return tool_refuse(
            "advise: %s of pairs do not fit %s at a load of %g, the highest that %s is "
            "good for",
            tool_size_text(bytes), tool_size_text((double)q->memory), most, a->scheme);
    a->bytes = bytes / a->load;
    return TOOL_OK;
}

static int advise_slab(const question *q, advice *a)
{
    const double slab = 120 / pair_bytes(q); /* slots */
    a->scheme = "slab";
    a->load = 0.65;
    a->bytes = (double)q->keys * q->copies / (a->load * (double)(uint64_t)slab) * 128 * 1.15;
    because(a, "insertions, erasures and lookups of one batch run at the same time "
               "(heddle_table_mixed), and it grows by slabs, without moving what is there");
    if (q->memory != 0 && a->bytes > (double)q->memory)
        return tool_refuse("advise: a slab hash takes about %s, more than %s",
                           tool_size_text(a->bytes), tool_size_text((double)q->memory));
    return TOOL_OK;
}

static int advise_slots(const question *q, advice *a)
{
    if (q->is_in_kernels || q->is_stable) {
        a->scheme = "open";
        because(
            a,
            q->is_in_kernels
                ? "a kernel of your own can insert as long as the key's region has room, "
                  "since nothing has to be moved"
                : "pairs never move: their slots (heddle_table_locate) stay good until the "
                  "table grows; iceberg promises the same up to a load of 0.9, and looks at three "
                  "buckets at most");
        return choose_load(q, a, 0.8, 0.95);
    }
    a->scheme = "cuckoo";
    if (is(q, "counter"))
        because(a, "an insertion adds in place; a hashgraph would be made anew by every batch");
    because(a, "the fastest lookups of all schemes at every load, and builds by regions");
    if (q->hit >= 0 && q->hit < 50)
        because(a,
                "most lookups are misses: marks end these after one bucket, so no filter in front "
                "is needed unless the table is on another device");
    const int status = choose_load(q, a, 0.8, 0.97);
    if (a->load > 0.95) a->bucket = 1024 / (uint32_t)(pair_bytes(q) * 8) < 16 ? 16 : 32;
    return status;
}

static int advise_multimap(const question *q, advice *a)
{
    if (!q->is_dynamic || q->is_joined) {
        a->scheme = "hashgraph";
        because(a, "built in one go it is the fastest multimap and minds neither copies nor skew");
        if (q->is_joined) because(a, "two of them can be joined as they are (heddle_join_tables)");
        a->bytes = (double)q->keys * (q->copies * pair_bytes(q) + 2);
    } else if (q->copies < 8) {
        a->scheme = "open";
        because(a,
                "pairs come and go in batches, and with few copies of a key its pairs are next to "
                "each other");
        a->load = 0.8;
        a->bytes = (double)q->keys * q->copies * pair_bytes(q) / a->load;
    } else {
        a->scheme = "bucket_list";
        because(a, "pairs come in batches, and a key has so many that a list of its own is cheaper "
                   "than a slot for each");
        a->bytes = (double)q->keys * (q->copies * (double)q->value_bits / 8 * 1.5 + 28);
    }
    if (q->memory != 0 && a->bytes > (double)q->memory)
        return tool_refuse("advise: a multimap by %s takes about %s, more than %s", a->scheme,
                           tool_size_text(a->bytes), tool_size_text((double)q->memory));
    return TOOL_OK;
}

static int advise_filter(const question *q, advice *a)
{
    char assumed[160];
    const double bits = q->memory != 0 ? (double)q->memory * 8 / (double)q->keys : 16;
    a->scheme = "blocked Bloom filter";
    a->bytes = (double)q->keys * bits / 8;
    if (bits < 1) return tool_refuse("advise: less than a bit a key is no filter");
    (void)snprintf(assumed, sizeof assumed, "heddle_filter_create with bits_per_key = %.3g%s", bits,
                   q->memory != 0 ? ", which is what the memory allows" : "");
    because(a, assumed);
    because(a, "16 bits a key let 1.3 in 1000 absent keys pass, fewer bits more of them");
    return TOOL_OK;
}

static void print(const question *q, const advice *a)
{
    (void)printf("%s of %llu keys: %s", q->container, (unsigned long long)q->keys, a->scheme);
    if (a->load != 0) (void)printf(", load %.2g", a->load);
    if (a->bucket != 0) (void)printf(", buckets of %u", a->bucket);
    (void)printf(", about %s\n%s\n", tool_size_text(a->bytes), a->why);
}

/* ----------------------------------------------------------------------------------- arguments */

static bool read_number(const char *text, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= 0 && *number <= most;
}

static bool read_copies(void *to, const tool_option *option, const char *text)
{
    (void)option;
    return read_number(text, 1e12, &((question *)to)->copies) && ((question *)to)->copies > 0;
}

static bool read_hit(void *to, const tool_option *option, const char *text)
{
    (void)option;
    return read_number(text, 100, &((question *)to)->hit);
}

#define AT(FIELD) .at = offsetof(question, FIELD)

static const tool_option options[] = {
    {"CONTAINER", .words = "map set multimap counter filter", .text = "what holds the keys",
     .read = option_text, AT(container)},
    {"--keys", .value = "COUNT", .wants = "a count like 2^26 or 100M",
     .text = "distinct keys; it is needed", .read = option_count, AT(keys), .first = 1},
    {"--copies", .value = "NUMBER", .wants = "a number", .usual = "1",
     .text = "pairs of a key, on average", .read = read_copies, AT(copies)},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of keys",
     .read = option_bits, AT(key_bits)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of values",
     .read = option_bits, AT(value_bits)},
    {"--hit", .value = "PERCENT", .wants = "0 to 100",
     .text = "of the lookups ask for keys that are there", .read = read_hit, AT(hit)},
    {"--memory", .value = "BYTES", .wants = "a count like 900M or 2Gi",
     .text = "what the table may have", .read = option_count, AT(memory)},
    {"--stable", .text = "pairs have to stay where they are", .read = option_true, AT(is_stable)},
    {"--dynamic", .text = "batches come and go; else the table is built in one go",
     .read = option_true, AT(is_dynamic)},
    {"--in-kernels", .text = "kernels of your own insert", .read = option_true, AT(is_in_kernels)},
    {"--joined", .text = "multimaps are joined with each other", .read = option_true,
     AT(is_joined)},
    {"--mixed", .text = "insertions, erasures and lookups come at the same time",
     .read = option_true, AT(is_mixed)},
};

static int advise_command(const tool_command *command, int argc, char **argv)
{
    question q = {NULL, 32, 32, 0, 0, 1, -1, false, false, false, false, false};
    advice a = {NULL, 0, 0, 0, ""};
    int status = command_read(command, argc, argv, &q);
    if (status != TOOL_OK) return status;
    if (q.keys == 0) return tool_refuse("advise: --keys says how many keys there will be");
    if (is(&q, "filter")) status = advise_filter(&q, &a);
    else if (q.is_mixed) status = advise_slab(&q, &a);
    else if (is(&q, "multimap")) status = advise_multimap(&q, &a);
    else status = advise_slots(&q, &a);
    if (status == TOOL_OK) print(&q, &a);
    return status;
}

const tool_command advise_page = {
    .name = "advise",
    .summary = "which scheme, with which parameters, and why",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = advise_command,
    .examples = "  heddle advise map --keys 100M --memory 900M\n"
                "  heddle advise multimap --keys 1M --copies 100 --dynamic\n",
};
