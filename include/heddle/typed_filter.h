/*
 * typed_filter.h: typed calls on filters. Included by typed.h, which has the rules.
 *
 *     heddle_filter_options options = HEDDLE_FILTER_OPTIONS(uint64_t);
 *     options.capacity = n;
 *     heddle_filter_create(device, &options, &filter);
 *     heddle_filter_add_keys(filter, keys, n, NULL);
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_FILTER_H
#define HEDDLE_TYPED_FILTER_H

/*
 * Options for keys of this type; all else is as in HEDDLE_FILTER_OPTIONS_INIT. Set the capacity.
 */
#define HEDDLE_FILTER_OPTIONS(key) \
    {sizeof(heddle_filter_options), HEDDLE_KEY_BITS_((key *)0), 0, 0, 0, 0.0, 0}

#define HEDDLE_TYPED_FILTER_(filter, keys, call) \
    (heddle_filter_check_width((filter), HEDDLE_KEY_BITS_(keys)) == HEDDLE_OK \
         ? (call) \
         : HEDDLE_ERROR_INVALID)
/* As heddle_filter_add, heddle_filter_contains and heddle_filter_select. */
#define heddle_filter_add_keys(filter, keys, n, stream) \
    HEDDLE_TYPED_FILTER_(filter, keys, heddle_filter_add(filter, keys, n, stream))
#define heddle_filter_contains_keys(filter, keys, n, found, count, stream) \
    HEDDLE_TYPED_FILTER_(filter, keys, \
                         heddle_filter_contains(filter, keys, n, found, count, stream))
#define heddle_filter_select_keys(filter, keys, n, selected, rows, count, stream) \
    HEDDLE_TYPED_FILTER_(filter, keys, \
                         HEDDLE_TYPED_FILTER_(filter, selected, \
                                              heddle_filter_select(filter, keys, n, selected, \
                                                                   rows, count, stream)))

#endif
