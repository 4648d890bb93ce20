/*
 * functions_multi.inl: the functions of one multimap; see device_functions.cu, which includes it for each.
 */
#ifndef HD_EXPORT
#error "included by device_functions.cu alone"
#endif
#define HD_ONE_LANE
#define HEDDLE_KEEP_NAME
#include <heddle/device.cuh>

HD_EXPORT(HEDDLE_NAME, _insert)
(const void *view, HEDDLE_NAME::key_type key, HEDDLE_NAME::value_type value)
{
    HEDDLE_NAME::writer writer(*(const HEDDLE_NAME::table *)view);
    return writer.insert(key, value);
}

HD_EXPORT(HEDDLE_NAME, _find)
(const void *view, HEDDLE_NAME::key_type key, HEDDLE_NAME::value_type *value)
{
    return HEDDLE_NAME::find(*(const HEDDLE_NAME::table *)view, key, value);
}

HD_EXPORT_COUNT(HEDDLE_NAME, _count)(const void *view, HEDDLE_NAME::key_type key)
{
    return HEDDLE_NAME::count(*(const HEDDLE_NAME::table *)view, key);
}

HD_EXPORT_COUNT(HEDDLE_NAME, _retrieve)
(const void *view, HEDDLE_NAME::key_type key, HEDDLE_NAME::value_type *values, uint64_t capacity)
{
    return HEDDLE_NAME::retrieve(*(const HEDDLE_NAME::table *)view, key, values, capacity);
}

HD_EXPORT(HEDDLE_NAME, _erase)(const void *view, HEDDLE_NAME::key_type key)
{
    HEDDLE_NAME::writer writer(*(const HEDDLE_NAME::table *)view);
    return writer.erase(key);
}

#undef HEDDLE_KEEP_NAME
#undef HEDDLE_NAME
