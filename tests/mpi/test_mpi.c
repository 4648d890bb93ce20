/*
 * test_mpi.c: tables over ranks of MPI hold what all ranks give them, and answer every rank's questions in the
 * order in which it asked. Every rank makes up the whole batch, gives its own part, and knows what all others
 * gave. Parts are of different sizes, one has none; messages go in small pieces.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"
#include "mpi/mpi_transport.h"
#include "rank_device.h"
#include "support/cluster_model.h"
#include "support/keys.h"

static int rank, ranks;

/* Where a rank's part of n begins: the first rank has nothing, the others more and more. */
static uint64_t part_begin(uint64_t n, int r)
{
    if (ranks == 1) return r == 0 ? 0 : n;
    return n * (uint64_t)(r * (r - 1) / 2) / (uint64_t)(ranks * (ranks - 1) / 2);
}

/* Pairs of all ranks, and this one's part of them as calls take it. */
typedef struct batch {
    uint64_t n, begin, own;
    uint64_t *keys, *values;
    void *narrow_keys, *narrow_values;
} batch;

static batch make_batch(const shared_kind *kind, uint64_t n, key_set set, uint64_t seed)
{
    batch b = {n,
               part_begin(n, rank),
               part_begin(n, rank + 1) - part_begin(n, rank),
               keys_allocate(n),
               keys_allocate(n),
               NULL,
               NULL};
    keys_fill(b.keys, n, set, kind->key_bits, seed);
    if (kind->container == HEDDLE_CONTAINER_MAP) shared_values(b.values, b.keys, n, seed);
    else keys_fill_values(b.values, n, seed);
    b.narrow_keys = shared_narrow(b.keys + b.begin, b.own, kind->key_bits);
    b.narrow_values = shared_narrow(b.values + b.begin, b.own, kind->value_bits);
    return b;
}

static void free_batch(batch *b)
{
    free(b->keys);
    free(b->values);
    free(b->narrow_keys);
    free(b->narrow_values);
}

static shared open_table(const shared_kind *kind, heddle_cluster *cluster, uint32_t mode)
{
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    shared s = {.calls = shared_cluster_calls,
                .cluster = cluster,
                .options = shared_options(kind),
                .processes = true};
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    check_ok(heddle_cluster_get_info(cluster, &info));
    assert_int_equal(info.members, ranks);
    assert_int_equal(info.first_member, rank);
    assert_int_equal(info.local_members, 1);
    s.members = info.members;
    spread.mode = mode;
    check_ok(heddle_cluster_table_create(cluster, &s.options, &spread, &s.table));
    s.pairs = malloc(sizeof *s.pairs);
    return s;
}

/* All pairs of all ranks are those of the model. */
static void check_table(shared *s)
{
    const uint32_t kb = s->options.key_bits, vb = s->options.value_bits;
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    uint64_t size = 0, count = 0, sum = 0;
    check_ok(heddle_cluster_table_size(s->table, &size));
    assert_int_equal(size, s->size);
    check_ok(heddle_cluster_table_validate(s->table));
    check_ok(heddle_cluster_table_get_stats(s->table, &stats));
    assert_int_equal(stats.keys, s->size);
    assert_int_equal(stats.members, ranks);
    void *k = calloc(size + 1, 8), *v = vb != 0 ? calloc(size + 1, 8) : NULL;
    check_ok(heddle_cluster_table_export(s->table, k, v, size, &count));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at, fits = 0;
        const uint64_t many = shared_model_find(s, shared_at(k, i, kb), &at);
        for (uint64_t j = 0; j < many; j++)
            fits += vb == 0 || s->pairs[at + j].value == shared_at(v, i, vb);
        check(fits != 0, "rank %d holds a pair that nobody gave", rank);
    }
    MPI_Allreduce(&count, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(sum, s->size);
    free(k);
    free(v);
}

static void write_batch(shared *s, const batch *b, bool builds, bool outcomes)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint8_t *said = calloc(b->own + 1, 1);
    uint64_t own[2] = {0}, all[2];
    options.outcomes = outcomes ? said : NULL;
    check_ok(builds ? heddle_cluster_table_build(s->table, b->narrow_keys, b->narrow_values, b->own,
                                                 &options, &totals)
                    : heddle_cluster_table_insert(s->table, b->narrow_keys, b->narrow_values,
                                                  b->own, &options, &totals));
    assert_int_equal(totals.inserted + totals.updated + totals.kept, b->n);
    for (uint64_t i = 0; i < b->own; i++) own[said[i] == HEDDLE_OUTCOME_INSERTED]++;
    MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (outcomes) assert_int_equal(all[1], totals.inserted);
    if (builds) s->size = 0;
    shared_model_add(s, b->keys, s->options.value_bits != 0 ? b->values : NULL, b->n, 0);
    free(said);
}

static void erase_keys(shared *s, const batch *b)
{
    uint8_t *found = calloc(b->own + 1, 1);
    uint64_t own = 0, all = 0, size = 0, at;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_cluster_table_erase(s->table, b->narrow_keys, b->own, found, &totals));
    for (uint64_t i = 0; i < b->own; i++) own += found[i];
    MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(all, totals.found);
    assert_int_equal(totals.found + totals.absent, b->n);
    shared gone = *s;
    gone.pairs = malloc(sizeof *gone.pairs);
    gone.size = 0;
    gone.options.container = HEDDLE_CONTAINER_SET;
    shared_model_add(&gone, b->keys, NULL, b->n, 0);
    for (uint64_t i = 0; i < s->size; i++)
        if (shared_model_find(&gone, s->pairs[i].key, &at) == 0) s->pairs[size++] = s->pairs[i];
    check(size < s->size, "nothing was erased");
    s->size = size;
    free(gone.pairs);
    free(found);
}

static void use_table(const shared_kind *kind, heddle_cluster *cluster)
{
    const uint64_t n = case_size(12000);
    shared s = open_table(kind, cluster, HEDDLE_MODE_DISTRIBUTED);
    batch first = make_batch(kind, n, KEYS_EDGES, 3), second = make_batch(kind, n, KEYS_ZIPF, 4);
    batch questions = make_batch(kind, 3 * n / 2, KEYS_EDGES, 3);
    write_batch(&s, &first, true, false);
    check_table(&s);
    shared_look(&s, questions.keys + questions.begin, questions.own);
    write_batch(&s, &second, false, true);
    check_table(&s);
    shared_look(&s, second.keys + second.begin, second.own < 700 ? second.own : 700);
    erase_keys(&s, &first);
    check_table(&s);
    shared_look(&s, first.keys + first.begin, first.own);
    write_batch(&s, &second, true, true);
    check_table(&s);
    /* A failure of one rank is a failure of all, and harms nothing. */
    void *keys = calloc(s.size + 1, 8);
    uint64_t count = 0;
    check_status(
        heddle_cluster_table_export(s.table, keys, NULL, rank == ranks - 1 ? 1 : s.size, &count),
        HEDDLE_ERROR_TOO_SMALL);
    free(keys);
    check_table(&s);
    /* Nor does an erasure that one rank cannot begin, while others have nothing to erase. */
    const uint64_t somewhere[2] = {0, 0};
    check_status(heddle_cluster_table_erase(s.table, (const char *)somewhere + 1, rank == ranks - 1,
                                            NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_table(&s);
    free_batch(&first);
    free_batch(&second);
    free_batch(&questions);
    heddle_cluster_table_destroy(s.table);
    free(s.pairs);
}

/* Every rank keeps what it is given. Keys of several ranks are for multimaps, which have all pairs in either mode. */
static void use_table_alone(const shared_kind *kind, heddle_cluster *cluster)
{
    const uint64_t n = case_size(3000);
    shared s = open_table(kind, cluster, HEDDLE_MODE_INDEPENDENT);
    batch first = make_batch(kind, n, KEYS_EDGES, 3), second = make_batch(kind, n, KEYS_ZIPF, 4);
    batch questions = make_batch(kind, 3 * n / 2, KEYS_EDGES, 3);
    uint64_t own = 0;
    write_batch(&s, &first, true, false);
    check_ok(heddle_table_size(heddle_cluster_table_part(s.table, 0), &own, NULL));
    assert_int_equal(own, first.own);
    check_table(&s);
    shared_look(&s, questions.keys + questions.begin, questions.own);
    if (kind->container == HEDDLE_CONTAINER_MULTIMAP) {
        write_batch(&s, &second, false, true);
        check_table(&s);
        shared_look(&s, second.keys + second.begin, second.own < 300 ? second.own : 300);
    }
    erase_keys(&s, &first);
    check_table(&s);
    shared_look(&s, first.keys + first.begin, first.own);
    free_batch(&first);
    free_batch(&second);
    free_batch(&questions);
    heddle_cluster_table_destroy(s.table);
    free(s.pairs);
}

/* Messages go in pieces of so many bytes. */
static void use_tables(void (*use)(const shared_kind *, heddle_cluster *), bool stages,
                       uint64_t piece)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    options.slice = 555;
    options.timeout_ms = 120000;
    hd_mpi_set_piece(piece);
    hd_tune.transport_apart = stages;
    check_ok(heddle_mpi_open(MPI_COMM_WORLD, rank_device(rank), &options, &cluster));
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        const heddle_table_options wanted = shared_options(&shared_kinds[k]);
        heddle_cluster_table *table = NULL;
        const heddle_status status = heddle_cluster_table_create(cluster, &wanted, NULL, &table);
        heddle_cluster_table_destroy(table);
        if (status == HEDDLE_ERROR_UNSUPPORTED) continue;
        case_note("%s on rank %d of %d%s", shared_kinds[k].name, rank, ranks,
                  stages ? ", staged" : "");
        use(&shared_kinds[k], cluster);
    }
    hd_tune.transport_apart = false;
    heddle_cluster_close(cluster);
}

static void tables_over_ranks(void **state)
{
    (void)state;
    use_tables(use_table, false, 100);
}

/*
 * Every other rank is as one whose device has memory of its own, which the transport does not reach: it lays out slices
 * while others are on their way, and the other ranks do not.
 */
static void tables_over_ranks_of_two_kinds(void **state)
{
    (void)state;
    use_tables(use_table, rank % 2 == 1, UINT64_C(1) << 30);
}

/* All are such ranks, and messages have one piece or several. */
static void tables_over_ranks_that_overlap(void **state)
{
    (void)state;
    hd_tune.never_shared = true;
    use_tables(use_table, true, 900);
    hd_tune.never_shared = false;
}

/* All are such ranks, and read each other's memory. */
static void tables_over_ranks_that_are_near(void **state)
{
    (void)state;
    use_tables(use_table, true, 900);
}

/* MPI is given memory that stands for that of devices; not where a rank has a GPU, of whose memory it may know nothing. */
static void tables_over_ranks_whose_memory_is_taken(void **state)
{
    (void)state;
    if (strncmp(rank_device(rank), "cpu", 3) == 0)
        check(setenv("HEDDLE_MPI_CUDA", "1", 1) == 0, "setenv");
    use_tables(use_table, true, 900);
    check(unsetenv("HEDDLE_MPI_CUDA") == 0, "unsetenv");
}

static void independent_tables_over_ranks(void **state)
{
    (void)state;
    use_tables(use_table_alone, false, UINT64_C(1) << 30);
    use_tables(use_table_alone, rank % 2 == 0, 100);
}

/* A rank without its device. */
static void all_ranks_know_why(void **state)
{
    heddle_cluster *cluster = NULL;
    (void)state;
    check_status(
        heddle_mpi_open(MPI_COMM_WORLD, rank == ranks - 1 ? "cuda:999" : "cpu:1", NULL, &cluster),
        HEDDLE_ERROR_NO_DEVICE);
    assert_null(cluster);
}

/* Ranks of different devices, one of them by its place on the machine; where there is no GPU all know it. */
static void devices_may_differ(void **state)
{
    heddle_cluster *cluster = NULL;
    (void)state;
    const heddle_status status =
        heddle_mpi_open(MPI_COMM_WORLD, rank == ranks - 1 ? "cuda:" : "cpu:1", NULL, &cluster);
    assert_int_equal(status, heddle_cuda_device_count() != 0 ? HEDDLE_OK : HEDDLE_ERROR_NO_DEVICE);
    heddle_cluster_close(cluster);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(tables_over_ranks),
                                       ONCE(tables_over_ranks_of_two_kinds),
                                       ONCE(tables_over_ranks_that_overlap),
                                       ONCE(tables_over_ranks_that_are_near),
                                       ONCE(tables_over_ranks_whose_memory_is_taken),
                                       ONCE(independent_tables_over_ranks),
                                       ONCE(all_ranks_know_why),
                                       ONCE(devices_may_differ)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
