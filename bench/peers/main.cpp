// heddle-peers: Heddle and other hash tables on the same keys in one run. See README.md.
#include "report.h"

#include <cmath>
#include <cstdlib>
#include <getopt.h>
#include <sched.h>

static const char usage[] = "usage: heddle-peers [options]\n"
                            "  --n N            keys, as 33554432 or 2^25 (the default)\n"
                            "  --threads T      threads; default: all this process may use\n"
                            "  --key-bits B     32 or 64, of keys and values alike; default 32\n"
                            "  --load L         Heddle's load; default 0.8\n"
                            "  --repeat R       rounds, the median counts; default 5\n"
                            "  --only LIST      only contestants with a text of LIST in their "
                            "name, e.g. heddle,boost,plain\n"
                            "  --fresh          one table at a time, made anew in every round "
                            "(chosen alone when memory is short)\n"
                            "  --thp, --no-thp  huge pages for the peers' malloc; default: with\n"
                            "  --csv FILE       write the results as CSV, too\n";

[[noreturn]] static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "heddle-peers: %s %s (--help lists the options)\n", what, value);
    exit(2);
}

static uint64_t count(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    if (*end == '^')
        number = std::pow(number, strtod(end + 1, &end));
    if (end == text || *end || !(number >= 1) || number > 1e12)
        refuse("not a count:", text);
    return uint64_t(number);
}

static int small_count(const char *text)
{
    uint64_t number = count(text);
    if (number > 4096)
        refuse("too many:", text);
    return int(number);
}

static Settings parse(int argc, char **argv)
{
    static const option options[] = {
        {"n", 1, nullptr, 'n'},     {"threads", 1, nullptr, 't'}, {"key-bits", 1, nullptr, 'k'},
        {"load", 1, nullptr, 'l'},  {"repeat", 1, nullptr, 'r'},  {"only", 1, nullptr, 'o'},
        {"fresh", 0, nullptr, 'f'}, {"thp", 0, nullptr, 'H'},     {"no-thp", 0, nullptr, 'N'},
        {"csv", 1, nullptr, 'c'},   {"help", 0, nullptr, 'h'},    {nullptr, 0, nullptr, 0},
    };
    Settings settings;
    for (int i = 0; i < argc; i++)
        settings.command += (i ? " " : "") + std::string(argv[i]);
    for (int o; (o = getopt_long_only(argc, argv, "", options, nullptr)) != -1;)
        switch (o) {
        case 'n':
            settings.n = count(optarg);
            break;
        case 't':
            settings.threads = small_count(optarg);
            break;
        case 'k':
            settings.key_bits = small_count(optarg);
            break;
        case 'l':
            settings.load = atof(optarg);
            break;
        case 'r':
            settings.repeat = small_count(optarg);
            break;
        case 'o':
            settings.only = optarg;
            break;
        case 'f':
            settings.fresh = true;
            break;
        case 'H':
            settings.huge = true;
            break;
        case 'N':
            settings.huge = false;
            break;
        case 'c':
            settings.csv = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            exit(2); // getopt has said why
        }
    if (optind < argc)
        refuse("not an option:", argv[optind]);
    if (settings.key_bits != 32 && settings.key_bits != 64)
        refuse("--key-bits is 32 or 64, not", std::to_string(settings.key_bits).c_str());
    if (!(settings.load >= 0.1 && settings.load <= 0.99))
        refuse("--load is between 0.1 and 0.99, not", std::to_string(settings.load).c_str());
    // Distinct absent keys and a reserved one have to exist besides the n.
    if (settings.n > (settings.key_bits == 32 ? uint64_t(1) << 30 : uint64_t(1) << 36))
        refuse("too many keys:", std::to_string(settings.n).c_str());
    cpu_set_t cpus;
    if (!settings.threads)
        settings.threads = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return settings;
}

int main(int argc, char **argv)
{
    Settings settings = parse(argc, argv);
    if (settings.huge)
        start_with_huge_malloc(argv);
    malloc_keeps_memory();

    Results results =
        settings.key_bits == 32 ? measure<uint32_t>(settings) : measure<uint64_t>(settings);
    print_table(stdout, settings, results);
    if (!settings.csv.empty()) {
        FILE *file = fopen(settings.csv.c_str(), "w");
        if (!file)
            refuse("cannot write", settings.csv.c_str());
        print_csv(file, settings, results);
        fclose(file);
    }
    for (const Row &row : results.rows)
        if (!row.verified)
            return 1;
    return 0;
}
