/* relation.c: rows of relations are brought to their members; see relation.h. */
#include "cluster/relation/relation.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/send.h"
#include "relation/relation.h"

/* ---------------------------------------------------------------------------------------- calls */

heddle_status hd_relation_run(heddle_cluster *cluster, hd_member_work work, void *context,
                              double *seconds)
{
    const uint32_t local = cluster->exchange->local;
    heddle_status status;
    pthread_mutex_lock(&cluster->lock);
    for (uint32_t i = 0; i < local; i++)
        memset(cluster->members[i].seconds, 0, sizeof cluster->members[i].seconds);
    status = hd_crew_run(cluster->crew, work, context);
    for (int phase = 0; phase < HEDDLE_PHASES && seconds != NULL; phase++) {
        seconds[phase] = 0;
        for (uint32_t i = 0; i < local; i++)
            seconds[phase] += cluster->members[i].seconds[phase] / local;
    }
    pthread_mutex_unlock(&cluster->lock);
    return status;
}

heddle_status hd_relation_run_held(heddle_cluster *cluster, hd_member_work work, void *context)
{
    HD_TRY(hd_crew_run(cluster->crew, work, context));
    for (uint32_t i = 1; i < cluster->exchange->local; i++)
        if (cluster->members[i].status != HEDDLE_OK)
            return hd_fail(cluster->members[i].status, "%s", cluster->members[i].reason);
    return HEDDLE_OK;
}

heddle_status hd_relation_run_apart(heddle_cluster *cluster, hd_member_work work, void *context)
{
    heddle_status status;
    pthread_mutex_lock(&cluster->lock);
    status = hd_relation_run_held(cluster, work, context);
    pthread_mutex_unlock(&cluster->lock);
    return status;
}

/* ------------------------------------------------------------------------------------ arguments */

static heddle_status check_columns(const hd_relation *relation)
{
    static const char *const names[2] = {"left", "right"};
    hd_key_columns sides[2];
    if (relation->row_bits != 32 && relation->row_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: row_bits must be 32 or 64, not %u",
                       relation->what, relation->row_bits);
    for (uint32_t i = 0; i < relation->sides; i++) {
        sides[i].call = relation->what;
        sides[i].side = relation->sides == 2 ? names[i] : NULL;
        sides[i].columns = relation->given[i];
        sides[i].count = relation->columns;
        sides[i].rows = relation->rows[i];
        HD_TRY(hd_key_columns_check(&sides[i]));
    }
    return relation->sides == 2 ? hd_key_columns_match(&sides[0], &sides[1]) : HEDDLE_OK;
}

void hd_relation_check(hd_relation *relation, heddle_status so_far)
{
    relation->refused = so_far != HEDDLE_OK ? so_far : check_columns(relation);
    if (relation->refused != HEDDLE_OK)
        strncpy(relation->reason, heddle_last_error(), sizeof relation->reason - 1);
}

/* -------------------------------------------------------------------------------------- greeting */

/* Of what the largest of all members counts. */
enum {
    FACT_WISHES,
    FACT_NOT_WISHES, /* the same inverted: so the smallest is known, too */
    FACT_ROUNDS,     /* of two sides */
    FACT_NULLS = FACT_ROUNDS + 2,
    FACTS = FACT_NULLS + 2 * HEDDLE_KEY_COLUMNS_MAX
};

/* What all processes must have in common. */
static uint64_t choices_of(const hd_relation *relation)
{
    uint64_t number = relation->choices ^ relation->row_bits;
    for (uint32_t i = 0; i < relation->columns; i++)
        number = (number + relation->given[0][i].width + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 32;
}

/* All learn who has which columns, and that they want the same. */
static heddle_status compare_choices(hd_relating *r, heddle_status mine)
{
    hd_exchange *exchange = hd_exchange_of(r->member);
    const hd_relation *relation = r->relation;
    uint64_t facts[FACTS] = {0};
    if (mine == HEDDLE_OK) facts[FACT_WISHES] = choices_of(relation);
    facts[FACT_NOT_WISHES] = ~facts[FACT_WISHES];
    for (uint32_t side = 0; side < relation->sides && mine == HEDDLE_OK; side++) {
        facts[FACT_ROUNDS + side] = r->transfer[side].rounds;
        for (uint32_t i = 0; i < relation->columns; i++)
            facts[FACT_NULLS + side * HEDDLE_KEY_COLUMNS_MAX + i] =
                relation->rows[side] != 0 && relation->given[side][i].valid != NULL;
    }
    HD_TRY(exchange->ops->reduce(exchange, r->member->number, mine, facts, FACTS, HD_REDUCE_MAX));
    if (facts[FACT_WISHES] != ~facts[FACT_NOT_WISHES]) /* all see that */
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: processes want different columns or options",
                       relation->what);
    for (uint32_t side = 0; side < relation->sides; side++) {
        r->transfer[side].rounds = facts[FACT_ROUNDS + side];
        for (uint32_t i = 0; i < relation->columns; i++)
            r->nulls[side][i] = facts[FACT_NULLS + side * HEDDLE_KEY_COLUMNS_MAX + i] != 0;
    }
    return HEDDLE_OK;
}

/* All learn how many rows everybody has, and the seed. */
static heddle_status count_rows(hd_relating *r)
{
    hd_exchange *exchange = hd_exchange_of(r->member);
    hd_relation *relation = r->relation;
    const uint32_t members = exchange->members, me = r->member->number;
    const uint64_t count = 2 * (uint64_t)members + 1;
    uint64_t *rows HD_FREED = (uint64_t *)hd_allocate_zeroed(count, sizeof *rows);
    heddle_status mine = HEDDLE_OK;
    if (rows == NULL) mine = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of members");
    if (rows != NULL) {
        rows[me] = r->transfer[0].n;
        rows[members + me] = r->transfer[1].n;
        rows[2 * members] = me == 0 ? relation->seed : 0;
    }
    HD_TRY(exchange->ops->reduce(exchange, me, mine, rows, count, HD_REDUCE_SUM));
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < members; i++) {
            r->transfer[side].base += i < me ? rows[side * members + i] : 0;
            r->all_rows[side] += rows[side * members + i];
        }
    r->seed = rows[2 * members];
    for (uint32_t side = 0; side < 2; side++) /* all see that */
        if (relation->row_bits == 32 && r->all_rows[side] > UINT32_MAX)
            return hd_fail(HEDDLE_ERROR_INVALID, "%s: %llu rows cannot be numbered with 32 bits",
                           relation->what, (unsigned long long)r->all_rows[side]);
    return HEDDLE_OK;
}

static heddle_status greet(hd_relating *r, heddle_status mine)
{
    HD_TRY(compare_choices(r, mine));
    HD_TRY(count_rows(r));
    hd_phase(r->member, HEDDLE_PHASE_EXCHANGE);
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------------- keys */

/* What rows are sent by: the caller's keys, or hashes of them. */
typedef struct row_numbers {
    uint32_t bits;
    const void *keys[2];
    hd_buffer hashes[2];
} row_numbers;

/* One column of 4 or 8 bytes without nulls on either side. */
static bool is_plain(const hd_relating *r)
{
    const uint32_t width = r->relation->given[0][0].width;
    return r->relation->columns == 1 && (width == 4 || width == 8) && !r->nulls[0][0] &&
           !r->nulls[1][0];
}

/* The columns of a slice, where the member can use them. */
static heddle_status open_columns(hd_relating *r, uint32_t side, uint64_t row, uint64_t n,
                                  hd_row_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    keys->columns = r->relation->columns;
    keys->n = n;
    for (uint32_t i = 0; i < keys->columns; i++) {
        const heddle_column *column = &r->relation->given[side][i];
        hd_lent data, valid;
        HD_TRY(hd_member_lend(r->member, (const char *)column->data + row * column->width,
                              n * column->width, true, &r->moved[side][2 * i].staged, &data));
        HD_TRY(hd_member_lend(r->member, column->valid != NULL ? column->valid + row : NULL, n,
                              true, &r->moved[side][2 * i + 1].staged, &valid));
        keys->first[i].data = data.memory;
        keys->first[i].width = column->width;
        keys->first[i].valid = (const uint8_t *)valid.memory;
    }
    return HEDDLE_OK;
}

static heddle_status hash_rows(hd_relating *r, uint32_t side, hd_buffer *hashes)
{
    heddle_device *device = r->member->device;
    const hd_transfer *p = &r->transfer[side];
    HD_TRY(hd_buffer_room(hashes, device, p->n * sizeof(uint64_t)));
    for (uint64_t at = 0; at < p->n; at += p->slice) {
        const uint64_t n = p->n - at < p->slice ? p->n - at : p->slice;
        hd_row_keys keys;
        HD_TRY(open_columns(r, side, p->first + at, n, &keys));
        HD_TRY(device->engine->columns->hash(hd_on(device, NULL, NULL), &keys, n, r->seed,
                                             (uint64_t *)hashes->memory + at));
        HD_TRY(device->engine->synchronize(device, NULL));
    }
    return HEDDLE_OK;
}

static heddle_status number_rows(hd_relating *r, row_numbers *numbers)
{
    const hd_relation *relation = r->relation;
    const uint32_t width = relation->given[0][0].width;
    numbers->bits = is_plain(r) ? width * 8 : 64;
    for (uint32_t side = 0; side < relation->sides; side++) {
        const hd_transfer *p = &r->transfer[side];
        if (p->n == 0) continue;
        if (is_plain(r)) {
            numbers->keys[side] = (const char *)relation->given[side][0].data + p->first * width;
        } else {
            HD_TRY(hash_rows(r, side, &numbers->hashes[side]));
            numbers->keys[side] = numbers->hashes[side].memory;
        }
    }
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- the ways */

static heddle_status count_bins(hd_relating *r, const row_numbers *numbers,
                                const hd_relation_bins *bins)
{
    for (uint32_t side = 0; side < r->relation->sides; side++)
        if (r->transfer[side].n != 0)
            HD_TRY(hd_member_count(r->member, &bins->spread, numbers->bits, numbers->keys[side],
                                   r->transfer[side].n,
                                   bins->own + side * hd_spread_bins(&bins->spread)));
    return HEDDLE_OK;
}

/* How many rows come, and how many everybody works on. */
static void look_ahead(hd_relating *r, const hd_relation_bins *bins)
{
    heddle_relation_stats *stats = &r->relation->stats;
    const uint32_t members = hd_exchange_of(r->member)->members;
    for (uint32_t side = 0; side < r->relation->sides; side++)
        r->transfer[side].arrived = hd_relation_bins_arrive(bins, r, side);
    if (r->member->local != 0) return;
    stats->members = members;
    stats->rows = r->all_rows[0] + r->all_rows[1];
    stats->first_row[0] = r->transfer[0].base;
    stats->first_row[1] = r->transfer[1].base;
    hd_relation_bins_work(bins, r);
    for (uint32_t i = 0; i < members; i++) {
        stats->rows_worked += bins->worked[i];
        if (bins->worked[i] > stats->rows_most) stats->rows_most = bins->worked[i];
    }
    stats->rows_stayed = bins->stayed;
    if (stats->rows_worked != 0)
        stats->imbalance = (double)stats->rows_most * members / (double)stats->rows_worked - 1;
}

/* The numbers of this member's rows, and how many there are of every bin. */
static heddle_status count_own(hd_relating *r, row_numbers *numbers, hd_relation_bins *bins)
{
    HD_TRY(hd_relation_bins_begin(bins, r));
    HD_TRY(number_rows(r, numbers));
    hd_phase(r->member, HEDDLE_PHASE_PARTITION);
    return count_bins(r, numbers, bins);
}

/* Divides the bins; the status is agreed upon. */
static heddle_status find_owners(hd_relating *r, row_numbers *numbers, hd_relation_bins *bins)
{
    HD_TRY(hd_relation_bins_divide(bins, r, count_own(r, numbers, bins)));
    look_ahead(r, bins);
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- columns */

static hd_moved *add_moved(hd_relating *r, uint32_t side, uint32_t kind, const void *user,
                           uint32_t width)
{
    hd_moved *moved = &r->moved[side][r->moved_count[side]++];
    moved->kind = kind;
    moved->user = (const char *)user;
    moved->width = width;
    return moved;
}

/* Moves the columns of a side; the status is agreed upon. */
static heddle_status move_side(hd_relating *r, uint32_t side, const row_numbers *numbers,
                               const hd_relation_bins *bins)
{
    const hd_relation *relation = r->relation;
    const hd_way way = {&bins->sides[side], numbers->bits, numbers->keys[side],
                        hd_relation_bins_sent(bins, r, side)};
    const hd_moved *data[HEDDLE_KEY_COLUMNS_MAX], *valid[HEDDLE_KEY_COLUMNS_MAX] = {NULL};
    heddle_status status;
    for (uint32_t i = 0; i < relation->columns; i++) {
        const heddle_column *column = &relation->given[side][i];
        data[i] = add_moved(r, side, is_plain(r) ? HD_MOVED_KEYS : HD_MOVED_COLUMN, column->data,
                            column->width);
        if (r->nulls[side][i])
            valid[i] = add_moved(r, side, column->valid != NULL ? HD_MOVED_COLUMN : HD_MOVED_ONES,
                                 column->valid, 1);
    }
    if (relation->numbered[side])
        r->names[side] = add_moved(r, side, HD_MOVED_NUMBERS, NULL, relation->row_bits / 8);
    r->transfer[side].kept = relation->keeps_ways;
    status =
        hd_transfer_send(&r->transfer[side], HEDDLE_OK, &way, r->moved[side], r->moved_count[side]);
    for (uint32_t i = 0; i < relation->columns; i++) {
        heddle_column *column = &r->columns[side][i];
        column->data = data[i]->to.memory;
        column->width = data[i]->width;
        column->valid = valid[i] != NULL ? (const uint8_t *)valid[i]->to.memory : NULL;
    }
    return status;
}

heddle_status hd_relate(hd_relating *r, hd_relation *relation, hd_member *member)
{
    row_numbers numbers;
    hd_relation_bins bins;
    heddle_status status;
    memset(r, 0, sizeof *r);
    memset(&numbers, 0, sizeof numbers);
    memset(&bins, 0, sizeof bins);
    r->relation = relation;
    r->member = member;
    for (uint32_t side = 0; side < 2; side++)
        hd_transfer_begin(&r->transfer[side], member, relation->rows[side]);
    status = relation->refused;
    if (status != HEDDLE_OK) hd_fail(status, "%s", relation->reason);
    status = greet(r, status);
    if (status == HEDDLE_OK) status = find_owners(r, &numbers, &bins);
    for (uint32_t side = 0; side < relation->sides && status == HEDDLE_OK; side++) {
        status = move_side(r, side, &numbers, &bins);
        hd_buffer_free(&numbers.hashes[side]);
    }
    hd_relation_bins_end(&bins);
    hd_buffer_free(&numbers.hashes[0]);
    hd_buffer_free(&numbers.hashes[1]);
    return status;
}

void hd_relating_end(hd_relating *r)
{
    for (uint32_t side = 0; side < 2; side++) {
        hd_transfer_end(&r->transfer[side]);
        for (uint32_t i = 0; i < HD_MOVED_MAX; i++) hd_moved_free(&r->moved[side][i]);
    }
}

uint32_t hd_relating_row_bits(const hd_relating *r)
{
    const uint64_t left = r->transfer[0].arrived, right = r->transfer[1].arrived;
    return (left > right ? left : right) < UINT32_MAX ? 32 : 64;
}

heddle_status hd_relate_results(const hd_relating *r, heddle_status mine, uint64_t results)
{
    hd_exchange *exchange = hd_exchange_of(r->member);
    heddle_relation_stats *stats = &r->relation->stats;
    uint64_t sum = results, most = results;
    HD_TRY(exchange->ops->reduce(exchange, r->member->number, mine, &sum, 1, HD_REDUCE_SUM));
    HD_TRY(exchange->ops->reduce(exchange, r->member->number, HEDDLE_OK, &most, 1, HD_REDUCE_MAX));
    hd_phase(r->member, HEDDLE_PHASE_EXCHANGE);
    if (r->member->local != 0) return HEDDLE_OK;
    stats->results = sum;
    stats->results_most = most;
    return HEDDLE_OK;
}
