/* registry.c: see registry.h. Of the records only the addresses are known here. */
#include "engine/registry.h"

#include <stddef.h>
#include <string.h>

#define HD_TABLE(symbol, target) extern const struct hd_table_ops symbol;
#define HD_COMPILED(type, symbol, key_bits, value_bits, target) extern const struct type symbol;
#include "instances.h"

static const struct compiled {
    hd_compiled_kind kind;
    uint32_t key_bits, value_bits;
    const char *target;
    const void *record;
} compiled[] = {
#define HD_TABLE(symbol, target)
#define HD_COMPILED(type, symbol, key_bits, value_bits, target)                                    \
    {HD_KIND_##type, key_bits, value_bits, #target, &symbol},
#include "instances.h"
};

static const struct hd_table_ops *const tables[] = {
#define HD_TABLE(symbol, target) &symbol,
#define HD_COMPILED(type, symbol, key_bits, value_bits, target)
#include "instances.h"
};

static const char *const table_targets[] = {
#define HD_TABLE(symbol, target) #target,
#define HD_COMPILED(type, symbol, key_bits, value_bits, target)
#include "instances.h"
};

const void *hd_compiled_for(hd_compiled_kind kind, uint32_t key_bits, uint32_t value_bits,
                            const char *target)
{
    for (size_t i = 0; i < sizeof compiled / sizeof compiled[0]; i++) {
        const struct compiled *c = &compiled[i];
        if (c->kind == kind && c->key_bits == key_bits && c->value_bits == value_bits &&
            strcmp(c->target, target) == 0)
            return c->record;
    }
    return NULL;
}

const struct hd_table_ops *const *hd_compiled_tables(const char *target, uint32_t *count)
{
    const struct hd_table_ops *const *first = NULL;
    *count = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        if (strcmp(table_targets[i], target) != 0) continue;
        if (first == NULL) first = &tables[i];
        ++*count;
    }
    return first;
}
