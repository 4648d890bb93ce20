/* options.c: the options of `heddle bench shelf`; see shelf.h. */
#include <string.h>

#include "bench/shelf/shelf.h"
#include "read.h"
#include "tool.h"

/* bench_read_list. */
static bool read_share(void *to, const char *item)
{
    shelf_bench *b = (shelf_bench *)to;
    return b->share_count < LIST_MAX &&
           bench_read_whole(item, 1, UINT32_MAX, &b->shares[b->share_count++]);
}

static bool append(uint64_t *list, uint32_t *count, const char *item)
{
    uint64_t *last = &list[*count];
    return (*count)++ < LIST_MAX && bench_read_count(item, last) && *last != 0;
}

static bool read_key(void *to, const char *item)
{
    shelf_bench *b = (shelf_bench *)to;
    return append(b->key_list, &b->key_count, item);
}

static bool read_copy(void *to, const char *item)
{
    shelf_bench *b = (shelf_bench *)to;
    return append(b->copy_list, &b->copy_count, item);
}

static bool read_op(void *to, const char *item)
{
    static const char *const names[] = {"build", "find"};
    const uint32_t op = bench_read_word(item, names, 2);
    if (op == 1) ((shelf_bench *)to)->finds = true;
    return op < 2;
}

static bool read_keys(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((shelf_bench *)to)->key_count = 0;
    return bench_read_list(text, read_key, to);
}

static bool read_copies(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((shelf_bench *)to)->copy_count = 0;
    return bench_read_list(text, read_copy, to);
}

static bool read_ops(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((shelf_bench *)to)->finds = false;
    return bench_read_list(text, read_op, to);
}

static bool read_shares(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((shelf_bench *)to)->share_count = 0;
    return bench_read_list(text, read_share, to);
}

static bool read_repeat(void *to, const tool_option *option, const char *text)
{
    return option_number(to, option, text) && ((shelf_bench *)to)->repeat <= REPEAT_MAX;
}

#define COUNTS "counts like 2^24, 16M or 1e6"
#define AT(FIELD) .at = offsetof(shelf_bench, FIELD)

static const tool_word op_words[] = {
    {"build", "all rows into a shelf"},
    {"find", "all keys, with their values; it builds, too"},
    {NULL, NULL},
};

static const tool_option options_known[] = {
    {"--device", .value = "NAME", .words = "auto cpu cpu:THREADS cuda cuda:N", .usual = "auto",
     .text = "where it runs", .read = option_text, AT(device_name)},
    {"--keys", .value = "LIST", .wants = COUNTS, .usual = "2^24", .text = "rows",
     .read = read_keys},
    {"--op", .value = "LIST", .explained = op_words, .usual = "build,find", .text = "operations",
     .read = read_ops},
    {"--container", .value = "NAME", .words = "map set multimap counter", .usual = "map",
     .text = "what is built", .read = option_word, AT(container), .first = HEDDLE_CONTAINER_MAP},
    {"--scheme", .value = "NAME", .words = "auto cuckoo hashgraph open iceberg bucket_list slab",
     .usual = "auto", .text = "by which scheme", .read = option_word, AT(scheme)},
    {"--shares", .value = "LIST", .wants = "numbers from 1 on", .usual = "1,4,16",
     .text = "budgets: the table's bytes divided by these", .read = read_shares},
    {"--copies", .value = "LIST", .wants = "counts from 1 on", .usual = "1",
     .text = "rows of every key", .read = read_copies},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of keys",
     .read = option_bits, AT(key_bits)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of values",
     .read = option_bits, AT(value_bits)},
    {"--directory", .value = "DIR", .wants = "a directory", .usual = ".",
     .text = "where the shelf is made, and removed again", .read = option_text, AT(directory)},
    {"--seed", .value = "NUMBER", .wants = "a number below 10^19", .usual = "1",
     .text = "of the keys", .read = option_number, AT(seed)},
    {"--repeat", .value = "COUNT", .wants = "a number from 1 to 1000", .usual = "1",
     .text = "timed runs, of which the median counts", .read = read_repeat, AT(repeat), .first = 1},
    {"--no-verify", .text = "do not check the answers", .read = option_false, AT(verify)},
    {"--format", .value = "NAME", .words = "table csv json", .usual = "table",
     .text = "how rows are printed (json: an object a line)", .read = option_word, AT(format)},
    {"--commit", .value = "TEXT", .wants = "one line of text", .text = "written to the head of csv",
     .read = option_text, AT(commit)},
};

static int check_keys(const shelf_bench *b, uint64_t keys)
{
    if (keys > UINT64_C(1) << 31 && b->key_bits == 32)
        return tool_refuse(
            "bench: there are 2^31 different keys of 32 bits, not %llu; use --key-bits 64",
            (unsigned long long)keys);
    for (uint32_t i = 0; i < b->copy_count; i++)
        if (b->copy_list[i] > keys)
            return tool_refuse("bench: --copies %llu is more than all %llu rows",
                               (unsigned long long)b->copy_list[i], (unsigned long long)keys);
    return TOOL_OK;
}

int shelf_bench_read(const tool_command *command, int argc, char **argv, shelf_bench *b)
{
    memset(b, 0, sizeof *b);
    b->device_name = "auto";
    b->directory = ".";
    b->container = HEDDLE_CONTAINER_MAP;
    b->key_bits = b->value_bits = 32;
    b->key_list[0] = UINT64_C(1) << 24;
    b->copy_list[0] = b->key_count = b->copy_count = 1;
    b->seed = b->repeat = 1;
    b->verify = b->finds = true;
    (void)bench_read_list("1,4,16", read_share, b);
    const int status = command_read(command, argc, argv, b);
    if (status != TOOL_OK) return status;
    if (b->container == HEDDLE_CONTAINER_SET) b->value_bits = 0;
    for (uint32_t i = 0; i < b->key_count; i++)
        if (check_keys(b, b->key_list[i]) != TOOL_OK) return TOOL_REFUSED;
    return TOOL_OK;
}

const tool_command shelf_bench_page = {
    .name = "bench shelf",
    .summary = "tables larger than the memory they are allowed",
    .text = "Builds a shelf from arrays in memory, and finds all keys, with budgets that are "
            "shares of what a plain table "
            "takes. A row gives the rate, the time divided by that of the plain table (which stays "
            "in memory), the parts, "
            "the peak of the process's memory beyond the arrays and the bytes that were read from "
            "parts, written to "
            "them, and spilled for sorting.",
    .options = options_known,
    .option_count = sizeof options_known / sizeof options_known[0],
    .run = shelf_bench_command,
    .examples = "  heddle bench shelf --keys 2^26 --directory /dev/shm --shares 1,4,16\n",
};
