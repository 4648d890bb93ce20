/*
 * types.c: what typed.h takes, in C and in C++: every typed call and every options macro, each in a line of its own. With
 * WRONG_KEYS and its like the arrays have types that it must not take: then none of these lines compiles (types.sh).
 */
#include <heddle/heddle.h>

#ifdef WRONG_KEYS
typedef uint16_t key;
#else
typedef uint64_t key;
#endif
#ifdef WRONG_VALUES
typedef uint8_t value;
#else
typedef float value;
#endif
#ifdef WRONG_COLUMNS
typedef void element;
#else
typedef double element;
#endif
#ifdef WRONG_WIDTHS /* these alone: a set operation has arrays of one width */
typedef int32_t other;
#else
typedef int64_t other;
#endif

extern const heddle_table_options map_options, set_options, multimap_options, counter_options;
extern const heddle_filter_options filter_options;
const heddle_table_options map_options = HEDDLE_MAP_OPTIONS(key, value);
const heddle_table_options set_options = HEDDLE_SET_OPTIONS(key);
const heddle_table_options multimap_options = HEDDLE_MULTIMAP_OPTIONS(key, value);
const heddle_table_options counter_options = HEDDLE_COUNTER_OPTIONS(key, uint32_t);
const heddle_filter_options filter_options = HEDDLE_FILTER_OPTIONS(key);

/* What comes with the keys and values; one of each is enough for a compiler. */
extern heddle_table *t;
extern heddle_cluster_table *c;
extern heddle_shelf *s;
extern heddle_filter *f;
extern heddle_device *d;
extern heddle_cluster *m;
extern heddle_join *j;
extern heddle_groups *g;
extern heddle_cluster_join *cj;
extern heddle_cluster_groups *cg;
extern const key *asked;
extern const other *others;
extern key *out;
extern value *values;
extern const element *column;
extern uint8_t *bytes;
extern uint64_t n, *numbers;

#ifdef __cplusplus
/* The widths are known without a look at the pointer: an argument is evaluated once, by the call itself. */
static_assert(HEDDLE_KEY_BITS_(asked++) % 32 == 0 && HEDDLE_VALUE_BITS_(values++) % 32 == 0, "");
#endif

uint32_t width(void);
uint32_t width(void)
{
    const heddle_column plain = HEDDLE_COLUMN_OF(column);
    const heddle_column of_array[2] = {HEDDLE_COLUMN_OF(bytes), HEDDLE_COLUMN_OF("text")};
    return plain.width + of_array[1].width;
}

heddle_status use(heddle_visitor visit);
heddle_status use(heddle_visitor visit)
{
    const heddle_status statuses[] = {
        heddle_map_insert(t, asked, values, n, NULL, NULL, NULL),
        heddle_map_build(t, asked, values, n, NULL, NULL, NULL),
        heddle_map_find(t, asked, n, values, bytes, NULL, NULL),
        heddle_map_retrieve(t, asked, n, numbers, values, n, &n, NULL),
        heddle_map_retrieve_all(t, out, numbers, values, n, n, &n, &n, NULL),
        heddle_map_export(t, out, values, n, &n, NULL),
        heddle_map_mixed(t, bytes, asked, values, n, (float *)NULL, NULL, NULL, NULL),
        heddle_map_mixed(t, bytes, asked, (const int32_t *)NULL, n, values, NULL, NULL, NULL),
        heddle_map_at(t, numbers, n, out, values, bytes, NULL),
        heddle_set_insert(t, asked, n, NULL, NULL, NULL),
        heddle_set_build(t, asked, n, NULL, NULL, NULL),
        heddle_set_contains(t, asked, n, bytes, NULL, NULL),
        heddle_set_erase(t, asked, n, bytes, NULL, NULL),
        heddle_set_count(t, asked, n, numbers, NULL, NULL),
        heddle_set_export(t, out, n, &n, NULL),
        heddle_set_mixed(t, bytes, asked, n, NULL, NULL, NULL),
        heddle_map_contains(t, asked, n, bytes, NULL, NULL),
        heddle_map_erase(t, asked, n, bytes, NULL, NULL),
        heddle_map_count(t, asked, n, numbers, NULL, NULL),
        heddle_set_locate(t, asked, n, numbers, NULL, NULL),
        heddle_set_at(t, numbers, n, out, bytes, NULL),
        heddle_set_for_each(t, asked, n, visit, NULL, NULL),

        heddle_cluster_map_insert(c, asked, values, n, NULL, NULL),
        heddle_cluster_map_build(c, asked, values, n, NULL, NULL),
        heddle_cluster_map_find(c, asked, n, values, bytes, NULL),
        heddle_cluster_map_retrieve(c, asked, n, numbers, values, n, &n),
        heddle_cluster_map_export(c, out, values, n, &n),
        heddle_cluster_set_insert(c, asked, n, NULL, NULL),
        heddle_cluster_set_build(c, asked, n, NULL, NULL),
        heddle_cluster_set_contains(c, asked, n, bytes, NULL),
        heddle_cluster_set_erase(c, asked, n, bytes, NULL),
        heddle_cluster_set_count(c, asked, n, numbers, NULL),
        heddle_cluster_set_export(c, out, n, &n),
        heddle_cluster_map_contains(c, asked, n, bytes, NULL),
        heddle_cluster_map_erase(c, asked, n, bytes, NULL),
        heddle_cluster_map_count(c, asked, n, numbers, NULL),

        heddle_shelf_map_insert(s, asked, values, n, NULL, NULL),
        heddle_shelf_map_build(s, asked, values, n, NULL, NULL),
        heddle_shelf_map_find(s, asked, n, values, bytes, NULL),
        heddle_shelf_map_retrieve(s, asked, n, numbers, values, n, &n),
        heddle_shelf_map_export(s, out, values, n, &n),
        heddle_shelf_set_insert(s, asked, n, NULL, NULL),
        heddle_shelf_set_build(s, asked, n, NULL, NULL),
        heddle_shelf_set_contains(s, asked, n, bytes, NULL),
        heddle_shelf_set_erase(s, asked, n, bytes, NULL),
        heddle_shelf_set_count(s, asked, n, numbers, NULL),
        heddle_shelf_set_export(s, out, n, &n),
        heddle_shelf_map_contains(s, asked, n, bytes, NULL),
        heddle_shelf_map_erase(s, asked, n, bytes, NULL),
        heddle_shelf_map_count(s, asked, n, numbers, NULL),

        heddle_filter_add_keys(f, asked, n, NULL),
        heddle_filter_contains_keys(f, asked, n, bytes, &n, NULL),
        heddle_filter_select_keys(f, asked, n, (int64_t *)NULL, numbers, &n, NULL),
        heddle_filter_select_keys(f, (const int64_t *)NULL, n, out, numbers, &n, NULL),

        heddle_join_fetch_rows(j, out, (uint64_t *)NULL, n, &n, NULL),
        heddle_join_fetch_rows(j, (int32_t *)NULL, out, n, &n, NULL),
        heddle_groups_first_rows(g, out, NULL),
        heddle_groups_numbers_of_rows(g, out, NULL),
        heddle_groups_all_rows(g, numbers, out, NULL),
        heddle_cluster_join_fetch_rows(cj, out, (uint64_t *)NULL, n, &n),
        heddle_cluster_join_fetch_rows(cj, (uint64_t *)NULL, out, n, &n),
        heddle_cluster_groups_first_rows(cg, out),
        heddle_cluster_groups_numbers_of_rows(cg, out),
        heddle_set_operation_keys(d, 1, asked, n, asked, n, out, n, &n, NULL),
        heddle_cluster_set_operation_keys(m, 1, asked, n, asked, n, out, n, &n),
        heddle_set_operation_keys(d, 1, others, n, asked, n, out, n, &n, NULL),
        heddle_set_operation_keys(d, 1, asked, n, others, n, out, n, &n, NULL),
        heddle_cluster_set_operation_keys(m, 1, others, n, asked, n, out, n, &n),
    };
    return statuses[0];
}
