/* sweep.c: all combinations of the lists of `heddle bench dist`, and their rows; see dist.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"

#define PAIRS_MAX (UINT64_C(1) << 32) /* of a join's one key */

typedef struct sweep {
    const dist_options *o;
    const dist_place *place;
    int argc; /* of the command */
    char **argv;
    bench_output output;
    bool headed;           /* the head is printed */
    bool wrong;            /* an answer of this process was */
    double base[DIST_OPS]; /* rates of the first number of members */
    dist_check *checks;
    uint32_t check_count;
} sweep;

void dist_skew_name(const dist_skew *skew, char name[DIST_SKEW_NAME])
{
    if (skew->zipf > 0) (void)snprintf(name, DIST_SKEW_NAME, "zipf:%g", skew->zipf);
    else if (skew->hot > 0)
        (void)snprintf(name, DIST_SKEW_NAME, "hot:%llu", (unsigned long long)skew->hot);
    else (void)snprintf(name, DIST_SKEW_NAME, "uniform");
}

/* --------------------------------------------------------------------------------------- report */

static const char about_columns[] =
    "time vs 1 table: divided by that of a single table on the same hardware, measured in turn\n"
    "speedup: the rate divided by that of the first number of members\n"
    "partition, reorder, exchange, work: shares of the time\n"
    "uneven: what the fullest member holds, and was sent, beyond the mean";

/* What stands above all rows: once the first cluster is open. */
static void print_head(sweep *s, heddle_cluster *cluster)
{
    const dist_options *o = s->o;
    heddle_device_info device = HEDDLE_DEVICE_INFO_INIT;
    char about[512], measured[BENCH_MEASURED_MAX];
    const bench_head head = {"dist", o->cluster, &device, 0, o->commit, about, s->argc, s->argv};
    if (s->headed) return;
    s->headed = true;
    bench_head_measured(measured, o->key_bits,
                        o->container == HEDDLE_CONTAINER_SET ? 0 : o->value_bits, o->seed,
                        o->repeat);
    (void)snprintf(about, sizeof about, "%s\n%s", measured, about_columns);
    (void)heddle_device_get_info(heddle_cluster_device(cluster, 0), &device);
    bench_head_print(o->format, &head);
}

static void add_phases(bench_line *line, const double phases[HEDDLE_PHASES])
{
    static const char *const names[HEDDLE_PHASES] = {"partition", "reorganise", "exchange", "work"};
    double sum = 0;
    for (int i = 0; i < HEDDLE_PHASES; i++) sum += phases[i];
    for (int i = 0; i < HEDDLE_PHASES; i++)
        bench_line_number(line, names[i], "%.4f", sum > 0 ? phases[i] / sum : 0);
}

static void print_row(sweep *s, const dist_case *c, const dist_row *row, uint32_t members,
                      double base)
{
    const double rate = (double)row->rows / row->seconds;
    char name[DIST_SKEW_NAME], devices[40];
    bench_line line;
    dist_skew_name(&c->skew, name);
    line.count = 0;
    (void)snprintf(devices, sizeof devices, "%s", s->o->cluster);
    for (char *comma = devices; (comma = strchr(comma, ',')) != NULL;) *comma = '+';
    bench_line_word(&line, "device", devices);
    bench_line_word(&line, "bench", "dist");
    bench_line_number(&line, "members", "%.0f", members);
    bench_line_word(&line, "scaling", c->weak ? "weak" : "strong");
    bench_line_word(&line, "distribution", name);
    bench_line_number(&line, "copies", "%.0f", (double)c->copies);
    bench_line_word(&line, "op", row->op);
    bench_line_number(&line, "n", "%.0f", (double)row->rows);
    bench_line_number(&line, "ratio", "%.4f", row->single > 0 ? row->seconds / row->single : 0);
    bench_line_number(&line, "speedup", "%.4f", rate / base);
    add_phases(&line, row->phases);
    bench_line_number(&line, "imbalance", "%.4f", row->imbalance);
    bench_line_number(&line, "row_imbalance", "%.4f", row->row_imbalance);
    bench_line_number(&line, "mops", "%.3f", 1e-6 * rate);
    if (s->o->format != BENCH_TABLE) bench_line_number(&line, "ms", "%.3f", 1e3 * row->seconds);
    bench_line_verified(&line, s->o->verify, !s->o->verify || row->verified);
    bench_line_print(&s->output, &line);
}

/* Rows are shown as they come: a sweep takes a while. */
static void print_rows(sweep *s, const dist_case *c, const dist_row rows[DIST_OPS],
                       const heddle_cluster_info *info)
{
    for (int i = 0; i < DIST_OPS; i++) {
        if (!s->o->ops[i]) continue;
        if (s->base[i] == 0) s->base[i] = (double)rows[i].rows / rows[i].seconds;
        if (info->first_member != 0) continue;
        print_row(s, c, &rows[i], info->members, s->base[i]);
    }
}

/* ------------------------------------------------------------------------------------- the walk */

static uint32_t numbers_of_members(const dist_options *o)
{
    return o->member_count != 0 ? o->member_count : 1;
}

static uint32_t count_cases(const dist_options *o)
{
    return (uint32_t)(o->strong + o->weak) * o->key_count * o->skew_count * o->copies_count *
           numbers_of_members(o);
}

/* The number of members changes fastest: rows below one another show how a build scales. */
static dist_case case_at(const dist_options *o, uint32_t i)
{
    const uint32_t lists = numbers_of_members(o);
    dist_case c;
    c.members = o->member_count != 0 ? (uint32_t)o->members[i % lists] : 0;
    i /= lists;
    c.copies = o->copies[i % o->copies_count];
    i /= o->copies_count;
    c.skew = o->skews[i % o->skew_count];
    i /= o->skew_count;
    c.keys = o->keys[i % o->key_count];
    i /= o->key_count;
    c.weak = o->weak && (!o->strong || i == 1);
    return c;
}

/* What only shows when the number of members is known. */
static int check_rows(const dist_options *o, const dist_case *c, uint32_t members)
{
    const uint64_t rows = c->weak ? c->keys * members : c->keys;
    const double hot = (double)rows * (double)c->skew.hot / 100;
    if (rows > UINT64_C(1) << 31 && o->key_bits == 32)
        return tool_refuse(
            "bench: there are 2^31 different keys of 32 bits, not %llu; use --key-bits 64",
            (unsigned long long)rows);
    if (o->ops[DIST_JOIN] && hot * hot > (double)PAIRS_MAX)
        return tool_refuse(
            "bench: a join of %.0f rows that have one key has too many pairs; try fewer "
            "--keys, or leave join out of --op",
            hot);
    return TOOL_OK;
}

static int add_check(sweep *s, const dist_case *c, const dist_team *team, const dist_row *build)
{
    dist_check *more = (dist_check *)realloc(s->checks, (s->check_count + 1) * sizeof *s->checks);
    if (more == NULL) return tool_try(HEDDLE_ERROR_NO_MEMORY, "keeping the model");
    s->checks = more;
    s->checks[s->check_count].c = *c;
    return dist_check_make(s->o, s->place, team, build, &s->checks[s->check_count++]);
}

static int run_cluster(sweep *s, const dist_case *c, const dist_team *team)
{
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    dist_row rows[DIST_OPS];
    (void)heddle_cluster_get_info(team->cluster, &info); /* of a cluster that is open */
    if (info.first_member == 0) print_head(s, team->cluster);
    int status = dist_run(s->o, c, team, rows, &s->wrong);
    if (status == TOOL_OK) print_rows(s, c, rows, &info);
    if (status == TOOL_OK && s->o->model) status = add_check(s, c, team, &rows[DIST_BUILD]);
    return status;
}

/* All that may be refused is, before anything is printed: the clusters, their tables, and the rows of every case. */
static int check_members(sweep *s, uint32_t members)
{
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    dist_team team;
    memset(&team, 0, sizeof team);
    int status = s->place->agree(s->place->open(s->o, members, &team));
    if (status == TOOL_OK && team.cluster != NULL) {
        (void)heddle_cluster_get_info(team.cluster, &info); /* of a cluster that is open */
        for (uint32_t i = 0; i < count_cases(s->o) && status == TOOL_OK; i++) {
            const dist_case c = case_at(s->o, i);
            if (c.members == members) status = check_rows(s->o, &c, info.members);
        }
        if (status == TOOL_OK) status = dist_run_check(s->o, &team);
    }
    heddle_cluster_close(team.cluster);
    return s->place->agree(status);
}

static int run_case(sweep *s, const dist_case *c)
{
    dist_team team;
    memset(&team, 0, sizeof team);
    int status = s->place->agree(s->place->open(s->o, c->members, &team));
    if (status == TOOL_OK && team.cluster != NULL) status = run_cluster(s, c, &team);
    heddle_cluster_close(team.cluster);
    return s->place->agree(status);
}

static void begin(sweep *s, const dist_options *o, const dist_place *place)
{
    uint32_t count = 0;
    memset(s, 0, sizeof *s);
    s->o = o;
    s->place = place;
    s->output.format = o->format;
    s->output.things = "rows";
    if (o->strong && o->weak) s->output.varying[count++] = "scaling";
    if (o->weak || o->key_count > 1 || o->ops[DIST_JOIN]) s->output.varying[count++] = "n";
    if (o->copies_count > 1) s->output.varying[count++] = "copies";
    if (o->skew_count > 1) s->output.varying[count++] = "distribution";
}

int dist_sweep(const dist_options *o, const dist_place *place, int argc, char **argv)
{
    sweep s;
    int status = TOOL_OK;
    begin(&s, o, place);
    s.argc = argc;
    s.argv = argv;
    for (uint32_t i = 0; i < numbers_of_members(o) && status == TOOL_OK; i++)
        status = check_members(&s, case_at(o, i).members);
    for (uint32_t i = 0; i < count_cases(o) && status == TOOL_OK; i++) {
        const dist_case c = case_at(o, i);
        if (i % numbers_of_members(o) == 0) memset(s.base, 0, sizeof s.base);
        status = run_case(&s, &c);
    }
    if (status == TOOL_OK && o->model && s.headed && o->format != BENCH_JSON)
        dist_check_print(o, s.checks, s.check_count);
    free(s.checks);
    return place->agree(status == TOOL_OK && s.wrong ? TOOL_FAILED : status);
}
