#include "report.h"

#include <algorithm>
#include <cstring>
#include <ctime>

static std::string cpu_model()
{
    std::string model = "unknown";
    if (FILE *file = fopen("/proc/cpuinfo", "r")) {
        char line[256];
        while (fgets(line, sizeof line, file))
            if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
                model = strchr(line, ':') + 2;
                model.erase(model.find_last_not_of(" \n") + 1);
                break;
            }
        fclose(file);
    }
    return model;
}

// The facts of the run, each line behind `mark`.
static void print_head(FILE *out, const char *mark, const Settings &settings,
                       const Results &results)
{
    time_t now = time(nullptr);
    char date[32];
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    fprintf(out, "%scommand: %s\n%sdate: %s\n%scpu: %s, %d threads\n", mark,
            settings.command.c_str(), mark, date, mark, cpu_model().c_str(), settings.threads);
    fprintf(out, "%sn: %llu distinct random keys, u%d/u%d, median of %d interleaved rounds, %s\n",
            mark, (unsigned long long)settings.n, settings.key_bits, settings.key_bits,
            settings.repeat, results.fresh ? "one table at a time" : "all tables kept");
    fprintf(out, "%smemory: touched before timing; huge pages for malloc %s\n", mark,
            settings.huge ? "on (glibc.malloc.hugetlb=1)"
                          : "off; Heddle and the tables written here ask for them");
    if (results.roofs.empty())
        return;
    fprintf(out,
            "%sroof: %.1f M/s (%.1f to %.1f), random 64-byte reads of %.0f MB in huge pages, "
            "32 prefetches a thread\n",
            mark, results.roof(), *std::min_element(results.roofs.begin(), results.roofs.end()),
            *std::max_element(results.roofs.begin(), results.roofs.end()),
            results.roof_bytes / 1e6);
}

static int build_threads(const Row &row, const Settings &settings)
{
    return row.kind == Kind::single_writer ? 1 : settings.threads;
}

// The fastest of the rows of the given kinds in `op`; NULL without any.
static const Row *best(const Results &results, Op op, std::initializer_list<Kind> kinds)
{
    const Row *found = nullptr;
    for (const Row &row : results.rows)
        if (std::count(kinds.begin(), kinds.end(), row.kind) && row.verified &&
            (!found || row.rate(op) > found->rate(op)))
            found = &row;
    return found;
}

static void print_ratio(FILE *out, const char *label, double rate, Op op, const Row *rival)
{
    if (rival && rival->rate(op) > 0)
        fprintf(out, "  %-7s %5.2f x %-26s", label, rate / rival->rate(op), rival->name.c_str());
}

static void print_ratios(FILE *out, const Results &results)
{
    const Row *heddle = best(results, op_find, {Kind::heddle});
    if (!heddle || results.rows.size() < 2)
        return;
    fprintf(out, "\nHeddle against the best concurrent peer, the best plain table, the best table "
                 "with one writer:\n");
    for (int i = 0; i < op_count; i++) {
        Op op = Op(i), rival = op == op_insert ? op_build : op; // both fill an empty table
        print_ratio(out, op_names[op], heddle->rate(op), rival,
                    best(results, rival, {Kind::concurrent_peer}));
        print_ratio(out, "", heddle->rate(op), rival, best(results, rival, {Kind::plain}));
        print_ratio(out, "", heddle->rate(op), rival, best(results, rival, {Kind::single_writer}));
        fprintf(out, "\n");
    }
}

void print_table(FILE *out, const Settings &settings, const Results &results)
{
    print_head(out, "", settings, results);
    fprintf(out, "\n%-27s %7s %6s %5s %7s %5s %7s %5s %7s %5s %7s %5s %s\n",
            "million keys a second", "threads", "build", "roof", "insert", "roof", "find", "roof",
            "miss", "roof", "B/key", "huge", "verified");
    for (const Row &row : results.rows) {
        fprintf(out, "%-27s %7d", row.name.c_str(), build_threads(row, settings));
        for (int op = 0; op < op_count; op++) {
            double rate = row.rate(Op(op));
            int width = op == op_build ? 6 : 7;
            if (rate > 0)
                fprintf(out, " %*.1f %4.0f%%", width, rate, 100 * rate / results.roof());
            else
                fprintf(out, " %*s %5s", width, "-", "");
        }
        fprintf(out, " %7.2f %4.0f%% %s\n", row.bytes, 100 * row.huge,
                !row.error.empty() ? row.error.c_str()
                : row.verified     ? "yes"
                                   : "NO: wrong answers");
    }
    fprintf(out,
            "\nthreads: those that build; all %d find. huge: share of the table's memory found in "
            "huge pages.\n",
            settings.threads);
    for (const Row &row : results.rows)
        if (!row.note.empty())
            fprintf(out, "%s: %s\n", row.name.c_str(), row.note.c_str());
    print_ratios(out, results);
}

void print_csv(FILE *out, const Settings &settings, const Results &results)
{
    print_head(out, "# ", settings, results);
    for (const Row &row : results.rows)
        if (!row.note.empty() || !row.error.empty())
            fprintf(out, "# %s: %s%s\n", row.name.c_str(), row.note.c_str(), row.error.c_str());
    fprintf(
        out,
        "contestant,concurrent,op,threads,n,key_bits,mops,mops_min,mops_max,roof_mops,roof_share,"
        "bytes_per_entry,resident_per_entry,huge_share,verified\n");
    for (const Row &row : results.rows)
        for (int op = 0; op < op_count; op++) {
            const std::vector<double> &rates = row.rates[op];
            if (rates.empty())
                continue;
            bool fills = op == op_build || op == op_insert;
            fprintf(out, "\"%s\",%s,%s,%d,%llu,%d,%.2f,%.2f,%.2f,%.2f,%.3f,%.3f,%.3f,%.2f,%s\n",
                    row.name.c_str(), row.kind == Kind::single_writer ? "no" : "yes", op_names[op],
                    fills ? build_threads(row, settings) : settings.threads,
                    (unsigned long long)settings.n, settings.key_bits, median(rates),
                    *std::min_element(rates.begin(), rates.end()),
                    *std::max_element(rates.begin(), rates.end()), results.roof(),
                    median(rates) / results.roof(), row.bytes, row.resident, row.huge,
                    row.verified ? "yes" : "no");
        }
}
