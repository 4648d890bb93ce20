/*
 * join_check.c: the rows of a join held against the columns: keys of a pair are equal, and
 * every row is in as many pairs as it has matches, or in the one that says it has none.
 */
#include <stdlib.h>

#include "bench/relation/join.h"
#include "tool.h"

uint64_t bench_join_left_matches(const bench_join *j, uint64_t row)
{
    return bench_row_hits(&j->left, row) ? j->right_counts[bench_row_number(&j->left, row)] : 0;
}

uint64_t bench_join_right_matches(const bench_join *j, uint64_t row)
{
    return j->left_counts[bench_row_number(&j->right, row)];
}

bool bench_join_has_right(const bench_join *j)
{
    return j->kind != HEDDLE_JOIN_SEMI && j->kind != HEDDLE_JOIN_ANTI;
}

static bool keeps_left(const bench_join *j)
{
    return j->kind == HEDDLE_JOIN_LEFT || j->kind == HEDDLE_JOIN_FULL;
}

static bool keeps_right(const bench_join *j)
{
    return j->kind == HEDDLE_JOIN_RIGHT || j->kind == HEDDLE_JOIN_FULL;
}

uint64_t bench_join_total(const bench_join *j)
{
    const uint64_t left = j->left.keys.n, right = j->right.keys.n;
    uint64_t pairs = 0, alone = 0, right_alone = 0;
#pragma omp parallel for schedule(static) reduction(+ : pairs, alone)
    for (uint64_t i = 0; i < left; i++) {
        const uint64_t matches = bench_join_left_matches(j, i);
        pairs += matches;
        alone += matches == 0;
    }
    if (j->kind == HEDDLE_JOIN_SEMI) return left - alone;
    if (j->kind == HEDDLE_JOIN_ANTI) return alone;
    if (keeps_right(j)) {
#pragma omp parallel for schedule(static) reduction(+ : right_alone)
        for (uint64_t i = 0; i < right; i++) right_alone += bench_join_right_matches(j, i) == 0;
    }
    return pairs + (keeps_left(j) ? alone : 0) + right_alone;
}

/* --------------------------------------------------------------------------------------- slices */

int bench_join_check_begin(bench_join *j)
{
    j->wrong = 0;
    j->last = 0;
    j->left_seen = (uint32_t *)calloc(j->left.keys.n, sizeof *j->left_seen);
    j->right_seen = (uint32_t *)calloc(j->right.keys.n, sizeof *j->right_seen);
    if (j->left_seen != NULL && j->right_seen != NULL) return TOOL_OK;
    tool_say("no host memory to check the pairs");
    free(j->left_seen);
    free(j->right_seen);
    return TOOL_FAILED;
}

/* Counts the rows of a pair, and whether they belong together. */
static bool good_pair(const bench_join *j, uint64_t left, uint64_t right)
{
    const uint64_t none = j->row_bits == 64 ? HEDDLE_ROW_NONE_64 : HEDDLE_ROW_NONE_32;
    if ((left >= j->left.keys.n && left != none) || (right >= j->right.keys.n && right != none))
        return false;
    if (left != none) (void)__atomic_fetch_add(&j->left_seen[left], 1, __ATOMIC_RELAXED);
    if (right != none) (void)__atomic_fetch_add(&j->right_seen[right], 1, __ATOMIC_RELAXED);
    if (left == none)
        return keeps_right(j) && right != none && bench_join_right_matches(j, right) == 0;
    if (right == none) return keeps_left(j) && bench_join_left_matches(j, left) == 0;
    return bench_row_hits(&j->left, left) &&
           bench_row_number(&j->left, left) == bench_row_number(&j->right, right);
}

static uint64_t wrong_pairs(const bench_join *j, const void *left, const void *right, uint64_t n)
{
    uint64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < n; i++)
        wrong += !good_pair(j, bench_at(left, j->row_bits, i), bench_at(right, j->row_bits, i));
    return wrong;
}

/* Left rows alone, which ascend. */
static uint64_t wrong_rows(bench_join *j, const void *left, uint64_t n)
{
    const bool wants_matches = j->kind == HEDDLE_JOIN_SEMI;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = bench_at(left, j->row_bits, i);
        if (row >= j->left.keys.n || row < j->last) {
            wrong++;
            continue;
        }
        wrong += (bench_join_left_matches(j, row) != 0) != wants_matches;
        j->last = row + 1;
    }
    return wrong;
}

int bench_join_check_slice(bench_join *j, uint64_t count)
{
    const void *left = NULL, *right = NULL;
    int status = bench_array_view(j->b, j->row_bits, count, j->left_rows, &left);
    if (status == TOOL_OK && bench_join_has_right(j))
        status = bench_array_view(j->b, j->row_bits, count, j->right_rows, &right);
    if (status == TOOL_OK)
        j->wrong += bench_join_has_right(j) ? wrong_pairs(j, left, right, count)
                                            : wrong_rows(j, left, count);
    bench_array_leave(j->b, left);
    bench_array_leave(j->b, right);
    return status;
}

static uint64_t wrong_seen(const bench_join *j)
{
    const uint64_t left = j->left.keys.n, right = j->right.keys.n;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < left; i++) {
        const uint64_t matches = bench_join_left_matches(j, i);
        wrong += j->left_seen[i] != (matches == 0 && keeps_left(j) ? 1 : matches);
    }
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < right; i++) {
        const uint64_t matches = bench_join_right_matches(j, i);
        wrong += j->right_seen[i] != (matches == 0 && keeps_right(j) ? 1 : matches);
    }
    return wrong;
}

void bench_join_check_end(bench_join *j, bool *right)
{
    if (bench_join_has_right(j)) j->wrong += wrong_seen(j);
    if (j->wrong != 0)
        tool_say("%s: %llu of %llu rows are wrong", j->b->op, (unsigned long long)j->wrong,
                 (unsigned long long)j->total);
    *right &= j->wrong == 0;
    free(j->left_seen);
    free(j->right_seen);
}
