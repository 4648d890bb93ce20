/* functions.inl: the functions of one table; see device_functions.cu, which includes it for each. */
#ifndef HD_EXPORT
#error "included by device_functions.cu alone"
#endif
#define HD_ONE_LANE
#define HEDDLE_KEEP_NAME
#if HEDDLE_VALUE_BITS == 0
#define HD_IS_SET 1
#else
#define HD_IS_SET 0
#endif
#include <heddle/device.cuh>

#if HD_IS_SET
HD_EXPORT(HEDDLE_NAME, _insert)(const void *view, HEDDLE_NAME::key_type key)
{
    HEDDLE_NAME::writer writer(*(const HEDDLE_NAME::table *)view);
    return writer.insert(key, 0, HEDDLE_POLICY_KEEP);
}

HD_EXPORT(HEDDLE_NAME, _find)(const void *view, HEDDLE_NAME::key_type key)
{
    return HEDDLE_NAME::contains(*(const HEDDLE_NAME::table *)view, key);
}
#else
HD_EXPORT(HEDDLE_NAME, _insert)
(const void *view, HEDDLE_NAME::key_type key, HEDDLE_NAME::value_type value, uint32_t policy)
{
    HEDDLE_NAME::writer writer(*(const HEDDLE_NAME::table *)view);
    return writer.insert(key, value, policy);
}

HD_EXPORT(HEDDLE_NAME, _find)
(const void *view, HEDDLE_NAME::key_type key, HEDDLE_NAME::value_type *value)
{
    return HEDDLE_NAME::find(*(const HEDDLE_NAME::table *)view, key, value);
}
#endif

HD_EXPORT(HEDDLE_NAME, _erase)(const void *view, HEDDLE_NAME::key_type key)
{
    HEDDLE_NAME::writer writer(*(const HEDDLE_NAME::table *)view);
    return writer.erase(key);
}

#undef HD_IS_SET
#undef HEDDLE_KEEP_NAME
#undef HEDDLE_NAME
