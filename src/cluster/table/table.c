/* table.c: making tables of clusters, and the steps that all calls on them share. */
#include "cluster/table/table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "table/check.h"
#include "table/making.h"

/* Shares of the capacity vary by the hash, and by the size of bins. */
#define SHARE_DEVIATIONS 6
#define SHARE_MORE 0.02

/* ----------------------------------------------------------------------------------- the steps */

static void keep_seconds(heddle_cluster_table *table)
{
    const uint32_t local = table->cluster->exchange->local;
    memset(table->seconds, 0, sizeof table->seconds);
    for (uint32_t i = 0; i < local; i++)
        for (int phase = 0; phase < HEDDLE_PHASES; phase++)
            table->seconds[phase] += table->cluster->members[i].seconds[phase] / local;
}

/*
 * After a failure of all: a table that one process has to mark is marked by all of them, or they would part at the next
 * call. Members of one process share what they say of it.
 */
static heddle_status agree_on_break(heddle_cluster *cluster, heddle_status status,
                                    hd_effect *effect)
{
    hd_exchange *exchange = cluster->exchange;
    uint64_t breaks = effect->breaks;
    heddle_status agreed;
    if (exchange->members == exchange->local || status == HEDDLE_ERROR_PEER) return status;
    agreed = exchange->ops->reduce(exchange, exchange->first, HEDDLE_OK, &breaks, 1, HD_REDUCE_MAX);
    effect->breaks = breaks != 0;
    return agreed == HEDDLE_OK ? status : agreed;
}

/* What a call has done to the state of its table, when all members are done. */
static heddle_status take_effect(heddle_cluster_table *table, heddle_status status,
                                 hd_effect *effect, void *context)
{
    if (status != HEDDLE_OK) status = agree_on_break(table->cluster, status, effect);
    if (effect->after != NULL) effect->after(context, status);
    if (effect->repaired) table->broken = false;
    if (effect->breaks) {
        table->broken = true;
        strncpy(table->reason, heddle_last_error(), sizeof table->reason - 1);
    }
    return status;
}

static heddle_status refuse_broken(const heddle_cluster_table *table, const char *what,
                                   const hd_effect *effect)
{
    if (!table->broken || (effect != NULL && effect->repairs)) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_CORRUPT,
                   "%s: a call that failed has left the table half changed (%s)", what,
                   table->reason);
}

heddle_status hd_cluster_call(heddle_cluster_table *table, const char *what, hd_member_work work,
                              void *context, hd_effect *effect)
{
    heddle_cluster *cluster;
    heddle_status status;
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the table is NULL", what);
    cluster = table->cluster;
    pthread_mutex_lock(&cluster->lock);
    status = refuse_broken(table, what, effect);
    if (status == HEDDLE_OK) {
        for (uint32_t i = 0; i < cluster->exchange->local; i++)
            memset(cluster->members[i].seconds, 0, sizeof cluster->members[i].seconds);
        status = hd_crew_run(cluster->crew, work, context);
        keep_seconds(table);
        if (effect != NULL) status = take_effect(table, status, effect, context);
    }
    pthread_mutex_unlock(&cluster->lock);
    return status;
}

heddle_status hd_cluster_hold(heddle_cluster_table *table, const char *what)
{
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the table is NULL", what);
    pthread_mutex_lock(&table->cluster->lock);
    const heddle_status status = refuse_broken(table, what, NULL);
    if (status != HEDDLE_OK) hd_cluster_release(table);
    return status;
}

void hd_cluster_release(heddle_cluster_table *table)
{
    pthread_mutex_unlock(&table->cluster->lock);
}

heddle_status hd_cluster_rounds(hd_member *member, heddle_status mine, uint64_t n, uint64_t slice,
                                uint64_t *rounds)
{
    hd_exchange *exchange = hd_exchange_of(member);
    heddle_status status;
    *rounds = (n + slice - 1) / slice;
    status = exchange->ops->reduce(exchange, member->number, mine, rounds, 1, HD_REDUCE_MAX);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

heddle_status hd_cluster_totals(hd_member *member, heddle_status mine, heddle_totals *totals)
{
    hd_exchange *exchange = hd_exchange_of(member);
    uint64_t *numbers = &totals->inserted; /* nothing but 64-bit numbers */
    const heddle_status status = exchange->ops->reduce(
        exchange, member->number, mine, numbers,
        (sizeof *totals - offsetof(heddle_totals, inserted)) / sizeof *numbers, HD_REDUCE_SUM);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* ------------------------------------------------------------------------------------ creation */

typedef struct creation {
    heddle_cluster_table *table;
    const heddle_table_options *options;
    uint64_t drawn;        /* a seed for the spread; the first member's counts */
    heddle_status refused; /* what this process cannot begin with; table may be NULL then */
    char reason[256];
} creation;

/* What a member should have room for. */
static uint64_t share_of(uint64_t capacity, uint32_t members)
{
    const double mean = (double)capacity / members;
    if (members == 1) return capacity;
    return (uint64_t)(mean + SHARE_MORE * mean + SHARE_DEVIATIONS * sqrt(mean)) + 1;
}

/* All members have the seed of the first one. */
static heddle_status share_seed(hd_member *member, heddle_status mine, uint64_t *seed)
{
    hd_exchange *exchange = hd_exchange_of(member);
    if (member->number != 0) *seed = 0;
    return exchange->ops->reduce(exchange, member->number, mine, seed, 1, HD_REDUCE_SUM);
}

static heddle_status create_part(hd_member *member, void *context)
{
    creation *c = (creation *)context;
    heddle_cluster_table *table = c->table;
    heddle_table_options options;
    uint64_t seed = c->drawn;
    heddle_status status = c->refused;
    if (status != HEDDLE_OK) hd_fail(status, "%s", c->reason);
    else status = hd_options_read(c->options, &options);
    if (status == HEDDLE_OK) {
        options.capacity = share_of(options.capacity, hd_exchange_of(member)->members);
        status = heddle_table_create(member->device, &options, &table->parts[member->local]);
    }
    status = share_seed(member, status, &seed);
    if (status == HEDDLE_OK && member->local == 0) {
        table->spread_seed = seed;
        status = hd_spread_init(&table->spread, hd_exchange_of(member)->members, seed);
    }
    return hd_member_agree(member, status);
}

static void table_free(heddle_cluster_table *table)
{
    for (uint32_t i = 0; table->parts != NULL && i < table->cluster->exchange->local; i++)
        heddle_table_destroy(table->parts[i]);
    hd_spread_free(&table->spread);
    free(table->parts);
    free(table->rows);
    free(table);
}

static heddle_cluster_table *table_allocate(heddle_cluster *cluster)
{
    heddle_cluster_table *table = (heddle_cluster_table *)hd_allocate_zeroed(1, sizeof *table);
    if (table == NULL) return NULL;
    table->cluster = cluster;
    table->parts =
        (heddle_table **)hd_allocate_zeroed(cluster->exchange->local, sizeof *table->parts);
    table->rows = (uint64_t *)hd_allocate_zeroed(cluster->exchange->members, sizeof *table->rows);
    if (table->parts != NULL && table->rows != NULL) return table;
    table_free(table);
    return NULL;
}

static heddle_status read_spread_options(const heddle_spread_options *given,
                                         heddle_spread_options *options)
{
    static const heddle_spread_options defaults = HEDDLE_SPREAD_OPTIONS_INIT;
    *options = defaults;
    HD_TRY(hd_read_struct(options, given, &hd_spread_options_kind));
    if (options->reserved != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "the reserved field of the spread options is not 0");
    if (options->balance > HEDDLE_BALANCE_ROWS)
        return hd_fail(HEDDLE_ERROR_INVALID, "there is no balance %u", options->balance);
    if (options->mode > HEDDLE_MODE_INDEPENDENT)
        return hd_fail(HEDDLE_ERROR_INVALID, "there is no mode %u", options->mode);
    return HEDDLE_OK;
}

/* Makes the parts. Where this process cannot even begin, the others learn it there. */
static heddle_status create_parts(heddle_cluster *cluster, creation *c)
{
    heddle_status status;
    if (c->refused != HEDDLE_OK) strncpy(c->reason, heddle_last_error(), sizeof c->reason - 1);
    pthread_mutex_lock(&cluster->lock);
    status = hd_crew_run(cluster->crew, create_part, c);
    pthread_mutex_unlock(&cluster->lock);
    return status;
}

/* What the table is to do, as chosen. */
static void settle_options(heddle_cluster_table *table, const heddle_spread_options *chosen)
{
    table->options.size = sizeof table->options;
    heddle_table_get_options(table->parts[0], &table->options);
    table->balance = chosen->balance;
    table->independent = chosen->mode == HEDDLE_MODE_INDEPENDENT;
    if (table->independent) table->balance = HEDDLE_BALANCE_KEYS; /* nothing is counted */
    else if (chosen->balance == HEDDLE_BALANCE_AUTO)
        table->balance = table->options.container == HEDDLE_CONTAINER_MULTIMAP
                             ? HEDDLE_BALANCE_ROWS
                             : HEDDLE_BALANCE_KEYS;
}

heddle_status heddle_cluster_table_create(heddle_cluster *cluster,
                                          const heddle_table_options *options,
                                          const heddle_spread_options *spread,
                                          heddle_cluster_table **table)
{
    heddle_spread_options chosen;
    creation c;
    heddle_status status;
    if (cluster == NULL || table == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_cluster_table_create needs a cluster and a place for the table");
    *table = NULL;
    memset(&c, 0, sizeof c);
    c.options = options;
    c.refused = read_spread_options(spread, &chosen);
    c.drawn = chosen.seed != 0 ? chosen.seed : hd_seed_draw();
    if (options != NULL && c.drawn == options->seed)
        c.drawn = ~c.drawn; /* never that of the parts */
    if (c.refused == HEDDLE_OK) {
        c.table = table_allocate(cluster);
        if (c.table == NULL) c.refused = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a table");
    }
    status = create_parts(cluster, &c);
    if (status == HEDDLE_OK) {
        settle_options(c.table, &chosen);
        *table = c.table;
    } else if (c.table != NULL) {
        table_free(c.table);
    }
    return status;
}

static heddle_status sum_options(const heddle_cluster_table *table, heddle_table_options *sum)
{
    HD_TRY(heddle_table_get_options(table->parts[0], sum));
    for (uint32_t i = 1; i < table->cluster->exchange->local; i++) {
        heddle_table_options part = HEDDLE_TABLE_OPTIONS_INIT;
        HD_TRY(heddle_table_get_options(table->parts[i], &part));
        sum->capacity += part.capacity;
    }
    return HEDDLE_OK;
}

heddle_status heddle_cluster_table_get_options(heddle_cluster_table *table,
                                               heddle_table_options *options,
                                               heddle_spread_options *spread)
{
    heddle_table_options sum = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_status status;
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "get_options: the table is NULL");
    const heddle_spread_options used = {
        sizeof used, table->balance, table->spread_seed,
        table->independent ? HEDDLE_MODE_INDEPENDENT : HEDDLE_MODE_DISTRIBUTED, 0};
    if (options != NULL) HD_TRY(hd_check_struct(options, &hd_table_options_kind));
    if (spread != NULL) HD_TRY(hd_check_struct(spread, &hd_spread_options_kind));
    pthread_mutex_lock(&table->cluster->lock);
    status = sum_options(table, &sum);
    pthread_mutex_unlock(&table->cluster->lock);
    if (status != HEDDLE_OK) return status;
    if (options != NULL) hd_write_struct(options, &sum, &hd_table_options_kind);
    if (spread != NULL) hd_write_struct(spread, &used, &hd_spread_options_kind);
    return HEDDLE_OK;
}

heddle_status heddle_cluster_table_check_widths(const heddle_cluster_table *table,
                                                uint32_t key_bits, uint32_t value_bits)
{
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "the table is NULL");
    return hd_check_widths("table", table->options.key_bits, table->options.value_bits, key_bits,
                           value_bits);
}

void heddle_cluster_table_destroy(heddle_cluster_table *table)
{
    if (table != NULL) table_free(table);
}

heddle_table *heddle_cluster_table_part(heddle_cluster_table *table, uint32_t local_member)
{
    return table != NULL && local_member < table->cluster->exchange->local
               ? table->parts[local_member]
               : NULL;
}
