/*
 * end.inl: takes back all that belongs to one table of heddle/device.cuh, so that this can be included
 * once more for another table.
 */
#ifndef HEDDLE_SCHEME
#error "included by heddle/device.cuh alone"
#endif
#include "cuda/inside/again.inl"

#ifndef HEDDLE_KEEP_NAME
#undef HEDDLE_NAME
#endif
#undef HEDDLE_SCHEME
#undef HEDDLE_KEY_BITS
#undef HEDDLE_VALUE_BITS
#undef HEDDLE_BUCKET
#undef HEDDLE_MULTIMAP
