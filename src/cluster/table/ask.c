/*
 * ask.c: questions to a table of a cluster: find, contains, count, and erase, which answers too. Slice
 * by slice, keys go to their owners, are looked up there, and the answers come back the way they came.
 * What came from a member goes back to it in the same order; which question each answers, the asking
 * member computes from its keys again (model/owners.h). Where members reach each other's memory, keys are written
 * to their owners and answers read there, and nothing is moved besides.
 */
#include <string.h>

#include "base/error.h"
#include "cluster/table/answers_of_all.h"
#include "cluster/table/ask.h"
#include "host/public_struct.h"
#include "table/check.h"

/* The arrays of a delivery that are answers, where keys go direct: they are announced and not sent. */
enum { FOUND = 1, VALUES = 2 };

/* A member's part of it. */
typedef struct asking {
    hd_question *q;
    hd_member *member;
    hd_router router;
    uint64_t first, n, slice; /* of the keys of the batch */
    hd_buffer keys;           /* that others ask this member */
    hd_buffer found, values;  /* the answers to them; values or matches */
    hd_buffer back_found, back_values;
    hd_buffer staged[3];
    hd_merge merge; /* independent mode */
    heddle_totals totals;
} asking;

/* hd_delivery.room: for the keys that come, and for the answers to them. */
static heddle_status room_for_keys(hd_delivery *d, void *context)
{
    asking *a = (asking *)context;
    heddle_device *device = a->member->device;
    heddle_status status =
        hd_buffer_ample(&a->keys, device, d->total * hd_cluster_key_width(a->q->table));
    if (status == HEDDLE_OK) status = hd_buffer_ample(&a->found, device, d->total);
    if (status == HEDDLE_OK) status = hd_buffer_ample(&a->values, device, d->total * a->q->width);
    d->to[0] = a->keys.memory;
    d->to[FOUND] = a->found.memory;
    d->to[VALUES] = a->values.memory;
    return status;
}

/* Looks up what has come. */
static heddle_status look_up(asking *a, uint64_t n)
{
    heddle_table *part = hd_part_of(a->q->table, a->member);
    uint8_t *found = (uint8_t *)a->found.memory;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    if (a->q->kind == HD_ASK_COUNT)
        status = heddle_table_count(part, a->keys.memory, n, (uint64_t *)a->values.memory, &totals,
                                    NULL);
    else if (a->q->kind == HD_ASK_ERASE)
        status = heddle_table_erase(part, a->keys.memory, n, found, &totals, NULL);
    else if (a->q->width != 0)
        status = heddle_table_find(part, a->keys.memory, n, a->values.memory, found, &totals, NULL);
    else status = heddle_table_contains(part, a->keys.memory, n, found, &totals, NULL);
    if (a->q->table->independent) totals.found = totals.absent = 0; /* counted when merged */
    hd_totals_sum(&a->totals, &totals);
    if (a->q->kind == HD_ASK_ERASE && (totals.found != 0 || a->q->table->independent))
        __atomic_store_n(&a->q->erased, true, __ATOMIC_RELAXED);
    hd_phase(a->member, HEDDLE_PHASE_WORK);
    return status;
}

/* Sends the answers home. */
static heddle_status send_back(asking *a, heddle_status mine)
{
    hd_delivery d;
    memset(&d, 0, sizeof d);
    if (a->q->kind != HD_ASK_COUNT) {
        d.from[0] = a->found.memory;
        d.to[0] = a->back_found.memory;
        d.width[d.arrays++] = 1;
    }
    if (a->q->width != 0) {
        d.from[d.arrays] = a->values.memory;
        d.to[d.arrays] = a->back_values.memory;
        d.width[d.arrays++] = a->q->width;
    }
    return hd_send_back(a->member, mine, &a->router, &d);
}

/* Into the order of the questions. */
static heddle_status deliver(asking *a, const hd_lent *values, const hd_lent *found)
{
    const uint64_t members = hd_exchange_of(a->member)->members;
    const bool counts = a->q->kind == HD_ASK_COUNT;
    hd_owners_answers answers;
    if (values->memory == NULL && found->memory == NULL) return HEDDLE_OK;
    memset(&answers, 0, sizeof answers);
    if (a->router.rows.direct) {
        answers.found_of = counts ? NULL : a->router.places + FOUND * members;
        answers.values_of = a->router.places + VALUES * members;
    } else {
        answers.found = counts ? NULL : (const uint8_t *)a->back_found.memory;
        answers.values = a->back_values.memory;
    }
    answers.width = a->q->width;
    answers.found_out = (uint8_t *)found->memory;
    answers.values_out = values->memory;
    return hd_fetch(a->member, &a->router, &answers);
}

/* Brings the answers of a slice to the caller's arrays, in the order of its keys. */
static heddle_status give_answers(asking *a, uint64_t first, uint64_t n)
{
    const hd_question *q = a->q;
    hd_lent lent_values, lent_found;
    char *values = q->width != 0 ? q->values + (a->first + first) * q->width : NULL;
    uint8_t *found = q->found != NULL ? q->found + a->first + first : NULL;
    HD_TRY(hd_member_lend(a->member, values, n * q->width, q->kind == HD_ASK_FIND, &a->staged[1],
                          &lent_values));
    HD_TRY(hd_member_lend(a->member, found, n, false, &a->staged[2], &lent_found));
    HD_TRY(deliver(a, &lent_values, &lent_found));
    HD_TRY(hd_member_take_back(a->member, &lent_values));
    HD_TRY(hd_member_take_back(a->member, &lent_found));
    hd_phase(a->member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

/* The same in independent mode. */
static heddle_status merge_answers(asking *a, uint64_t first, uint64_t n)
{
    const hd_question *q = a->q;
    const hd_merge_job job = {n,
                              q->kind == HD_ASK_COUNT ? NULL : a->back_found.memory,
                              q->width != 0 ? a->back_values.memory : NULL,
                              q->width,
                              q->kind == HD_ASK_COUNT ||
                                  q->table->options.container == HEDDLE_CONTAINER_COUNTER,
                              q->found != NULL ? q->found + a->first + first : NULL,
                              q->width != 0 ? q->values + (a->first + first) * q->width : NULL};
    const heddle_status status = hd_merge_answers(&a->merge, &job, &a->totals);
    hd_phase(a->member, HEDDLE_PHASE_REORGANISE);
    return status;
}

/* The keys of a slice go to their owners. What it returns is agreed upon. */
static heddle_status send_keys(asking *a, heddle_status mine, const hd_slice *slice,
                               uint64_t *asked)
{
    hd_delivery d = hd_delivery_of(&a->router);
    if (a->router.rows.direct) d.arrays = HD_ROUTE_ARRAYS;
    d.width[FOUND] = 1;
    d.width[VALUES] = a->q->width;
    d.room = room_for_keys;
    d.context = a;
    const heddle_status status = a->q->table->independent
                                     ? hd_send_to_all(a->member, mine, &a->router, slice, &d)
                                     : hd_send(a->member, mine, &a->router, slice, &d);
    *asked = d.total;
    return status;
}

/* The answers are where the one who asked finds them. Agreed upon. */
static heddle_status offer_answers(asking *a, heddle_status mine)
{
    const heddle_status status =
        a->router.rows.direct ? hd_member_agree(a->member, mine) : send_back(a, mine);
    hd_phase(a->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* One slice, there and back. What it returns is agreed upon. */
static heddle_status ask_slice(asking *a, heddle_status mine, uint64_t first, uint64_t n,
                               heddle_status *after)
{
    const uint32_t width = hd_cluster_key_width(a->q->table);
    hd_lent lent = {NULL, NULL, 0};
    uint64_t asked = 0;
    heddle_status status = mine;
    if (status == HEDDLE_OK && n != 0)
        status = hd_member_lend(a->member, a->q->keys + (a->first + first) * width, n * width, true,
                                &a->staged[0], &lent);
    const hd_slice slice = {lent.memory, NULL, n};
    status = send_keys(a, status, &slice, &asked);
    if (status != HEDDLE_OK) return status;
    *after = look_up(a, asked);
    status = offer_answers(a, *after);
    if (status == HEDDLE_OK && n != 0)
        *after = a->q->table->independent ? merge_answers(a, first, n) : give_answers(a, first, n);
    return status;
}

/* An erasure from a hashgraph does something for all that the graph holds. */
static uint64_t slice_of(const asking *a)
{
    const heddle_cluster_table *table = a->q->table;
    const uint32_t row_bytes = 2 * (hd_cluster_key_width(table) + 1 + a->q->width); /* out and in */
    if (a->q->kind == HD_ASK_ERASE && table->options.scheme == HEDDLE_SCHEME_HASHGRAPH)
        return hd_member_slice(a->member, true);
    return table->independent ? hd_member_slice(a->member, false)
                              : hd_member_long_slice(a->member, a->n, row_bytes);
}

static heddle_status asking_begin(asking *a, hd_question *q, hd_member *member)
{
    heddle_device *device = member->device;
    const heddle_cluster_table *table = q->table;
    const uint64_t copies = table->independent ? table->spread.members : 1;
    const bool direct = hd_exchange_of(member)->direct && !table->independent;
    memset(a, 0, sizeof *a);
    a->q = q;
    a->member = member;
    hd_member_part(member, q->n, &a->first, &a->n);
    a->slice = slice_of(a);
    if (table->independent) a->slice = (a->slice + copies - 1) / copies;
    if (a->n < a->slice) a->slice = a->n != 0 ? a->n : 1;
    const hd_rows rows = {table->options.key_bits, 0, a->slice * copies, false, true, direct};
    HD_TRY(hd_check_array(q->keys, q->n, hd_cluster_key_width(table), "keys"));
    HD_TRY(hd_check_totals(q->place));
    if (q->width != 0)
        HD_TRY(hd_check_array(q->values, q->n, q->width,
                              q->kind == HD_ASK_COUNT ? "matches" : "values"));
    if (table->independent) HD_TRY(hd_merge_begin(&a->merge, member, a->slice, q->width));
    HD_TRY(hd_router_begin(&a->router, device, &table->spread, &rows));
    if (direct) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(&a->back_found, device, a->slice * copies));
    return hd_buffer_room(&a->back_values, device, a->slice * copies * q->width);
}

static void asking_end(asking *a)
{
    hd_buffer *const all[] = {&a->keys,        &a->found,     &a->values,    &a->back_found,
                              &a->back_values, &a->staged[0], &a->staged[1], &a->staged[2]};
    hd_router_end(&a->router);
    hd_merge_end(&a->merge);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
}

/* An erasure that failed is harmless while nobody has erased anything; of other processes that is not known. */
static void note_half_erased(hd_question *q, const hd_member *member, uint64_t rounds)
{
    const hd_exchange *exchange = hd_exchange_of(member);
    const bool unknown = exchange->members > exchange->local && rounds != 0;
    if (q->kind != HD_ASK_ERASE) return;
    if (unknown || __atomic_load_n(&q->erased, __ATOMIC_RELAXED)) hd_effect_breaks(&q->effect);
}

heddle_status hd_ask(hd_member *member, hd_question *q)
{
    asking a;
    uint64_t rounds = 0;
    heddle_status mine = asking_begin(&a, q, member);
    heddle_status status = hd_cluster_rounds(member, mine, a.n, a.slice, &rounds);
    if (status != HEDDLE_OK && status != HEDDLE_ERROR_PEER)
        rounds = 0; /* they agreed to begin none */
    for (uint64_t i = 0; i < rounds && status == HEDDLE_OK; i++)
        status =
            ask_slice(&a, mine, i * a.slice, hd_slice_length(a.n, i * a.slice, a.slice), &mine);
    if (status == HEDDLE_OK) status = hd_cluster_totals(member, mine, &a.totals);
    if (member->local == 0) q->totals = a.totals;
    if (status != HEDDLE_OK) note_half_erased(q, member, rounds);
    asking_end(&a);
    return status;
}

/* ------------------------------------------------------------------------------------ the calls */

/* hd_member_work. */
static heddle_status ask(hd_member *member, void *context)
{
    return hd_ask(member, (hd_question *)context);
}

static heddle_status answer(hd_question *q, const char *what, heddle_totals *totals)
{
    q->place = totals;
    HD_TRY(hd_cluster_call(q->table, what, ask, q, &q->effect));
    if (totals != NULL) hd_write_totals(totals, &q->totals);
    return HEDDLE_OK;
}

hd_question hd_question_make(heddle_cluster_table *table, uint32_t kind, const void *keys,
                             uint64_t n, uint8_t *found)
{
    hd_question q;
    memset(&q, 0, sizeof q);
    q.table = table;
    q.kind = kind;
    q.keys = (const char *)keys;
    q.n = n;
    q.found = found;
    return q;
}

heddle_status heddle_cluster_table_find(heddle_cluster_table *table, const void *keys, uint64_t n,
                                        void *values, uint8_t *found, heddle_totals *totals)
{
    hd_question q = hd_question_make(table, HD_ASK_FIND, keys, n, found);
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "find: the table is NULL");
    if (table->options.value_bits == 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "find: a set has no values to find; use heddle_cluster_table_contains");
    q.values = (char *)values;
    q.width = hd_cluster_value_width(table);
    return answer(&q, "find", totals);
}

heddle_status heddle_cluster_table_contains(heddle_cluster_table *table, const void *keys,
                                            uint64_t n, uint8_t *found, heddle_totals *totals)
{
    hd_question q = hd_question_make(table, HD_ASK_FIND, keys, n, found);
    return answer(&q, "contains", totals);
}

heddle_status heddle_cluster_table_count(heddle_cluster_table *table, const void *keys, uint64_t n,
                                         uint64_t *matches, heddle_totals *totals)
{
    hd_question q = hd_question_make(table, HD_ASK_COUNT, keys, n, NULL);
    q.values = (char *)matches;
    q.width = sizeof *matches;
    return answer(&q, "count", totals);
}

heddle_status heddle_cluster_table_erase(heddle_cluster_table *table, const void *keys, uint64_t n,
                                         uint8_t *found, heddle_totals *totals)
{
    hd_question q = hd_question_make(table, HD_ASK_ERASE, keys, n, found);
    return answer(&q, "erase", totals);
}
