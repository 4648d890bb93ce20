/* material.h: pairs for tests of tables whose keys repeat. */
#ifndef TEST_MATERIAL_H
#define TEST_MATERIAL_H

#include <stdlib.h>

#include "support/keys.h"

typedef struct material {
    uint64_t n, *keys, *values;
} material;

/* Keys that come twice; one row of every `often` has the same key, whose list then is long. */
static inline material material_make(uint64_t n, uint32_t key_bits, uint64_t often)
{
    material x = {n, keys_allocate(n), keys_allocate(n)};
    keys_fill(x.keys, n, KEYS_TWICE, key_bits, n);
    keys_fill_values(x.values, n, 5);
    for (uint64_t i = 0; i < n; i += often) x.keys[i] = x.keys[1];
    return x;
}

static inline void material_free(material *x)
{
    free(x->keys);
    free(x->values);
}

#endif
