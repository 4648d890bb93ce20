/* sweep.c: all combinations of the lists of `heddle bench dist`, and their rows; see dist.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"

#define PAIRS_MAX (UINT64_C(1) << 32) /* of a join's one key */

typedef struct sweep {
    const dist_options *o;
    const dist_place *place;
    bool headed;           /* the head is printed, and with it a row */
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

static void print_head(sweep *s)
{
    if (s->headed) return;
    s->headed = true;
    (void)printf((s->o->format == 1) ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                                     : "%8s%8s%13s%11s%7s%11s%10s%7s%8s%10s%11s%9s%7s%10s%14s%9s\n",
                 "members", "scaling", "distribution", "duplicates", "op", "rows", "mops", "ratio",
                 "speedup", "partition", "reorganise", "exchange", "work", "imbalance",
                 "row_imbalance", "verified");
}

static void print_row(const sweep *s, const dist_case *c, const dist_row *row, uint32_t members,
                      double base)
{
    const char *text =
        (s->o->format == 1)
            ? "%u,%s,%s,%llu,%s,%llu,%.1f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%s\n"
            : "%8u%8s%13s%11llu%7s%11llu%10.1f%7.3f%8.3f%10.3f%11.3f%9.3f%7.3f%10.4f%14.4f%9s\n";
    const double *phases = row->phases, rate = (double)row->rows / row->seconds;
    char name[DIST_SKEW_NAME];
    double sum = 0;
    for (int i = 0; i < HEDDLE_PHASES; i++) sum += phases[i];
    if (sum <= 0) sum = 1;
    dist_skew_name(&c->skew, name);
    (void)printf(text, members, c->weak ? "weak" : "strong", name,
                 (unsigned long long)c->duplicates, row->op, (unsigned long long)row->rows,
                 1e-6 * rate, row->single > 0 ? row->seconds / row->single : 0.0, rate / base,
                 phases[0] / sum, phases[1] / sum, phases[2] / sum, phases[3] / sum, row->imbalance,
                 row->row_imbalance,
                 !s->o->verify   ? "no"
                 : row->verified ? "yes"
                                 : "WRONG");
}

/* Rows are shown as they come: a sweep takes a while. */
static void print_rows(sweep *s, const dist_case *c, const dist_row rows[DIST_OPS],
                       const heddle_cluster_info *info)
{
    for (int i = 0; i < DIST_OPS; i++) {
        if (!s->o->ops[i]) continue;
        if (s->base[i] == 0) s->base[i] = (double)rows[i].rows / rows[i].seconds;
        if (info->first_member != 0) continue;
        print_head(s);
        print_row(s, c, &rows[i], info->members, s->base[i]);
    }
    (void)fflush(stdout);
}

/* ------------------------------------------------------------------------------------- the walk */

static uint32_t numbers_of_members(const dist_options *o)
{
    return o->member_count != 0 ? o->member_count : 1;
}

static uint32_t count_cases(const dist_options *o)
{
    return (uint32_t)(o->strong + o->weak) * o->skew_count * o->duplicate_count *
           numbers_of_members(o);
}

/* The number of members changes fastest: rows below one another show how a build scales. */
static dist_case case_at(const dist_options *o, uint32_t i)
{
    const uint32_t lists = numbers_of_members(o);
    dist_case c;
    c.members = o->member_count != 0 ? (uint32_t)o->members[i % lists] : 0;
    i /= lists;
    c.duplicates = o->duplicates[i % o->duplicate_count];
    i /= o->duplicate_count;
    c.skew = o->skews[i % o->skew_count];
    i /= o->skew_count;
    c.weak = o->weak && (!o->strong || i == 1);
    return c;
}

/* What only shows when the number of members is known. */
static int check_rows(const dist_options *o, const dist_case *c, uint32_t members)
{
    const uint64_t rows = c->weak ? o->keys * members : o->keys;
    const double hot = (double)rows * (double)c->skew.hot / 100;
    if (rows > UINT64_C(1) << 31 && o->key_bits == 32)
        return tool_refuse("there are not so many keys of 32 bits; try --key-bits 64");
    if (o->ops[DIST_JOIN] && hot * hot > (double)PAIRS_MAX)
        return tool_refuse("a join of %.0f rows that have one key has too many pairs; try fewer "
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
    int status = check_rows(s->o, c, info.members);
    if (status == TOOL_OK) status = dist_run(s->o, c, team, rows, &s->wrong);
    if (status == TOOL_OK) print_rows(s, c, rows, &info);
    if (status == TOOL_OK && s->o->model) status = add_check(s, c, team, &rows[DIST_BUILD]);
    return status;
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

int dist_sweep(const dist_options *o, const dist_place *place)
{
    sweep s;
    int status = TOOL_OK;
    memset(&s, 0, sizeof s);
    s.o = o;
    s.place = place;
    for (uint32_t i = 0; i < count_cases(o) && status == TOOL_OK; i++) {
        const dist_case c = case_at(o, i);
        if (i % numbers_of_members(o) == 0) memset(s.base, 0, sizeof s.base);
        status = run_case(&s, &c);
    }
    if (status == TOOL_OK && o->model && s.headed) dist_check_print(o, s.checks, s.check_count);
    free(s.checks);
    return place->agree(status == TOOL_OK && s.wrong ? TOOL_FAILED : status);
}
