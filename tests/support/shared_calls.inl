/*
 * shared_calls.inl: `calls`, the shared_calls of what the includer names: CALL(build) is the function, CALLED the member
 * of a `shared` that it takes first.
 */
#ifndef CALL
#error "included by cluster_model.c and shelf_model.c"
#endif

static heddle_status call_build(const shared *s, const void *keys, const void *values, uint64_t n,
                                const heddle_insert_options *options, heddle_totals *totals)
{
    return CALL(build)(s->CALLED, keys, values, n, options, totals);
}
static heddle_status call_insert(const shared *s, const void *keys, const void *values, uint64_t n,
                                 const heddle_insert_options *options, heddle_totals *totals)
{
    return CALL(insert)(s->CALLED, keys, values, n, options, totals);
}
static heddle_status call_erase(const shared *s, const void *keys, uint64_t n, uint8_t *found,
                                heddle_totals *totals)
{
    return CALL(erase)(s->CALLED, keys, n, found, totals);
}
static heddle_status call_contains(const shared *s, const void *keys, uint64_t n, uint8_t *found,
                                   heddle_totals *totals)
{
    return CALL(contains)(s->CALLED, keys, n, found, totals);
}
static heddle_status call_find(const shared *s, const void *keys, uint64_t n, void *values,
                               uint8_t *found, heddle_totals *totals)
{
    return CALL(find)(s->CALLED, keys, n, values, found, totals);
}
static heddle_status call_count(const shared *s, const void *keys, uint64_t n, uint64_t *matches,
                                heddle_totals *totals)
{
    return CALL(count)(s->CALLED, keys, n, matches, totals);
}
static heddle_status call_retrieve(const shared *s, const void *keys, uint64_t n, uint64_t *offsets,
                                   void *values, uint64_t capacity, uint64_t *count)
{
    return CALL(retrieve)(s->CALLED, keys, n, offsets, values, capacity, count);
}
static heddle_status call_export(const shared *s, void *keys, void *values, uint64_t capacity,
                                 uint64_t *size)
{
    return CALL(export)(s->CALLED, keys, values, capacity, size);
}
static heddle_status call_for_all(const shared *s, heddle_visitor visit, void *context)
{
    return CALL(for_all)(s->CALLED, visit, context);
}
static heddle_status call_size(const shared *s, uint64_t *size)
{
    return CALL(size)(s->CALLED, size);
}
static const shared_calls calls = {call_build,   call_insert, call_erase,    call_contains,
                                   call_find,    call_count,  call_retrieve, call_export,
                                   call_for_all, call_size};
