/*
 * relate.c: joins and group-bys over a cluster, beside the same on a single device; see dist.h. The
 * right side of a join has the keys of the left one in the opposite order, so that every row finds its key.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"

struct dist_relate {
    void *right;    /* keys */
    void *out[2];   /* rows of a join; keys and sums of a group-by */
    uint64_t room;  /* of these */
    uint64_t count; /* of the result of this process */
    heddle_relation_stats stats;
    uint64_t single_count;
};

/* The key of a right row. */
static uint64_t right_of(const dist_bench *b, uint64_t i) { return dist_key_of(b, b->all - 1 - i); }

static uint32_t row_bits(const dist_bench *b) { return b->all < UINT32_MAX ? 32 : 64; }

/* Both arrays have room for so many numbers of 64 bits. */
static heddle_status make_room(dist_bench *b, uint64_t n)
{
    struct dist_relate *r = b->relate;
    heddle_status status = HEDDLE_OK;
    if (r->room >= n) return HEDDLE_OK;
    for (int i = 0; i < 2 && status == HEDDLE_OK; i++) {
        status = heddle_memory_free(b->device, r->out[i]);
        r->out[i] = NULL;
        if (status == HEDDLE_OK) status = heddle_memory_allocate(b->device, n * 8, &r->out[i]);
    }
    r->room = status == HEDDLE_OK ? n : 0;
    return status;
}

/* ------------------------------------------------------------------------------------ operations */

static heddle_status join_single(dist_bench *b, const heddle_column *left,
                                 const heddle_column *right, const heddle_join_options *options)
{
    struct dist_relate *r = b->relate;
    heddle_join *join = NULL;
    uint64_t count = 0, got = 0, at = 0;
    const uint64_t width = options->row_bits / 8;
    heddle_status status =
        heddle_join_create(b->alone, left, right, 1, b->n, b->n, options, &join, NULL);
    if (status == HEDDLE_OK) status = heddle_join_count(join, &count, NULL);
    if (status == HEDDLE_OK) status = make_room(b, count);
    for (; status == HEDDLE_OK && at < count; at += got)
        status = heddle_join_fetch(join, (char *)r->out[0] + at * width,
                                   (char *)r->out[1] + at * width, r->room - at, &got, NULL);
    r->single_count = at;
    heddle_join_destroy(join);
    return status;
}

static heddle_status join_cluster(dist_bench *b, const heddle_column *left,
                                  const heddle_column *right, const heddle_join_options *options)
{
    struct dist_relate *r = b->relate;
    heddle_cluster_join *join = NULL;
    uint64_t got = 0;
    heddle_status status =
        heddle_cluster_join_create(b->cluster, left, right, 1, b->n, b->n, options, &join);
    if (status == HEDDLE_OK) status = heddle_cluster_join_count(join, &r->count, NULL);
    if (status == HEDDLE_OK) status = make_room(b, r->count);
    if (status == HEDDLE_OK)
        status = heddle_cluster_join_fetch(join, r->out[0], r->out[1], r->count, &got);
    if (status == HEDDLE_OK) status = heddle_cluster_join_get_stats(join, &r->stats);
    heddle_cluster_join_destroy(join);
    return status;
}

static heddle_status join(dist_bench *b, bool single)
{
    const heddle_column left = HEDDLE_COLUMN(b->keys, b->o->key_bits / 8);
    const heddle_column right = HEDDLE_COLUMN(b->relate->right, b->o->key_bits / 8);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    options.row_bits = row_bits(b);
    return single ? join_single(b, &left, &right, &options)
                  : join_cluster(b, &left, &right, &options);
}

static heddle_status group(dist_bench *b, bool single)
{
    struct dist_relate *r = b->relate;
    const heddle_column keys = HEDDLE_COLUMN(b->keys, b->o->key_bits / 8);
    const uint32_t type = b->o->value_bits == 32 ? HEDDLE_TYPE_U32 : HEDDLE_TYPE_U64;
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_groups *groups = NULL;
    heddle_cluster_groups *by = NULL;
    heddle_status status;
    options.row_bits = row_bits(b);
    if (single) {
        status = heddle_groups_create(b->alone, &keys, 1, b->n, &options, &groups, NULL);
        if (status == HEDDLE_OK) status = heddle_groups_count(groups, &r->single_count);
        if (status == HEDDLE_OK) status = make_room(b, r->single_count);
        if (status == HEDDLE_OK) status = heddle_groups_keys(groups, 0, r->out[0], NULL, NULL);
        if (status == HEDDLE_OK)
            status = heddle_groups_aggregate(groups, HEDDLE_AGGREGATE_SUM, type, b->values, NULL,
                                             r->out[1], NULL, NULL);
        heddle_groups_destroy(groups);
        return status;
    }
    status = heddle_cluster_groups_create(b->cluster, &keys, 1, b->n, &options, &by);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_count(by, &r->count, NULL);
    if (status == HEDDLE_OK) status = make_room(b, r->count);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_keys(by, 0, r->out[0], NULL);
    if (status == HEDDLE_OK)
        status = heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, type, b->values, NULL,
                                                 r->out[1], NULL);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_get_stats(by, &r->stats);
    heddle_cluster_groups_destroy(by);
    return status;
}

/* ---------------------------------------------------------------------------------------- checks */

static uint64_t number_at(const void *numbers, uint32_t bits, uint64_t i)
{
    return bits == 32 ? ((const uint32_t *)numbers)[i] : ((const uint64_t *)numbers)[i];
}

/* The results of this process, two arrays of numbers of these widths, in host memory; the caller frees them. */
static heddle_status pull(dist_bench *b, uint32_t one_bits, uint32_t other_bits, uint64_t *host[2])
{
    const uint32_t bits[2] = {one_bits, other_bits};
    struct dist_relate *r = b->relate;
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < 2 && status == HEDDLE_OK; i++) {
        host[i] = malloc(r->count * 8 + 8);
        if (host[i] == NULL) return HEDDLE_ERROR_NO_MEMORY;
        status = heddle_memory_copy(b->device, host[i], r->out[i], r->count * bits[i] / 8, NULL);
    }
    return status == HEDDLE_OK ? heddle_device_synchronize(b->device, NULL) : status;
}

/* Different keys, where that is known. */
static uint64_t distinct(const dist_bench *b)
{
    const dist_case *c = b->c;
    const bool even = c->skew.hot == 0 && c->skew.zipf == 0 && b->all % c->copies == 0;
    return even ? b->all / c->copies : 0;
}

/* A single table that has the rows of all processes has as many results. */
static bool agrees_with_single(const dist_bench *b)
{
    return b->alone == NULL || b->n != b->all ||
           b->relate->single_count == b->relate->stats.results;
}

/* Every pair has one key, and there are as many as there must be. */
static heddle_status verify_join(dist_bench *b, bool *good)
{
    const struct dist_relate *r = b->relate;
    uint64_t *host[2] = {NULL, NULL};
    const heddle_status status = pull(b, row_bits(b), row_bits(b), host);
    const uint64_t rows = distinct(b) * b->c->copies * b->c->copies;
    *good = (rows == 0 || r->stats.results == rows) && agrees_with_single(b);
    for (uint64_t i = 0; i < r->count && status == HEDDLE_OK && *good; i++)
        *good = dist_key_of(b, number_at(host[0], row_bits(b), i)) ==
                right_of(b, number_at(host[1], row_bits(b), i));
    free(host[0]);
    free(host[1]);
    return status;
}

/*
 * The values of a key are its complement, so their sum is as many times that as the key has rows. Where keys have
 * different numbers of rows these are added to *rows, UINT64_MAX when the sum does not tell.
 */
static bool is_sum(const dist_bench *b, uint64_t key, uint64_t sum, uint64_t *rows)
{
    const uint64_t value = ~key & (b->o->value_bits == 32 ? UINT32_MAX : UINT64_MAX);
    if (distinct(b) != 0) return sum == value * b->c->copies;
    if (b->o->value_bits == 64 || value == 0) *rows = UINT64_MAX; /* it may have overflowed */
    else if (*rows != UINT64_MAX) *rows += sum / value;
    return b->o->value_bits == 64 || value == 0 || (sum != 0 && sum % value == 0);
}

/* All sums are right, and the groups have all rows. */
static heddle_status verify_group(dist_bench *b, bool *good)
{
    const struct dist_relate *r = b->relate;
    uint64_t *host[2] = {NULL, NULL}, rows = 0;
    const heddle_status status = pull(b, b->o->key_bits, 64, host);
    *good = (distinct(b) == 0 || r->stats.results == distinct(b)) && agrees_with_single(b);
    for (uint64_t i = 0; i < r->count && status == HEDDLE_OK && *good; i++)
        *good = is_sum(b, number_at(host[0], b->o->key_bits, i), host[1][i], &rows);
    if (distinct(b) == 0 && b->n == b->all && rows != UINT64_MAX) *good &= rows == b->all;
    free(host[0]);
    free(host[1]);
    return status;
}

/* ------------------------------------------------------------------------------------------- run */

static void note(const dist_bench *b, dist_row *row, uint64_t rows)
{
    const heddle_relation_stats *stats = &b->relate->stats;
    const double mean = (double)stats->results / stats->members;
    memcpy(row->phases, stats->seconds, sizeof row->phases);
    row->imbalance = mean > 0 ? (double)stats->results_most / mean - 1 : 0;
    row->row_imbalance = stats->imbalance;
    row->rows = rows;
}

static heddle_status note_join(dist_bench *b, dist_row *row)
{
    note(b, row, 2 * b->all); /* of both sides */
    return HEDDLE_OK;
}

static heddle_status note_group(dist_bench *b, dist_row *row)
{
    note(b, row, b->all);
    return HEDDLE_OK;
}

heddle_status dist_relate_run(dist_bench *b, dist_row rows[DIST_OPS])
{
    struct dist_relate r;
    heddle_status status = HEDDLE_OK;
    if (!b->o->ops[DIST_JOIN] && !b->o->ops[DIST_GROUP]) return HEDDLE_OK;
    memset(&r, 0, sizeof r);
    r.stats.size = sizeof r.stats;
    b->relate = &r;
    status = heddle_memory_allocate(b->device, b->n * b->o->key_bits / 8 + 8, &r.right);
    if (status == HEDDLE_OK) status = dist_fill(b, r.right, b->o->key_bits, right_of);
    if (status == HEDDLE_OK && b->o->ops[DIST_JOIN]) {
        status = dist_measure(b, join, note_join, &rows[DIST_JOIN]);
        if (status == HEDDLE_OK && b->o->verify) status = verify_join(b, &rows[DIST_JOIN].verified);
    }
    if (status == HEDDLE_OK && b->o->ops[DIST_GROUP]) {
        status = dist_measure(b, group, note_group, &rows[DIST_GROUP]);
        if (status == HEDDLE_OK && b->o->verify)
            status = verify_group(b, &rows[DIST_GROUP].verified);
    }
    (void)heddle_memory_free(b->device, r.right);
    (void)heddle_memory_free(b->device, r.out[0]);
    (void)heddle_memory_free(b->device, r.out[1]);
    b->relate = NULL;
    return status;
}
