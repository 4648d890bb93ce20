/* model.c: a chained hash table; see model.h. Links are node numbers, 0 ends a chain. */
#include "support/model.h"

#include <heddle/heddle.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    uint64_t key;
    uint64_t value;
    uint32_t next;
} node;

struct model {
    node *nodes; /* [1, used] have been handed out at least once */
    uint32_t used;
    uint32_t room;
    uint32_t spare; /* chain of erased nodes */
    uint32_t *heads;
    uint32_t chains; /* a power of two */
    uint64_t size;
};

static void *must(void *memory)
{
    if (memory == NULL) abort();
    return memory;
}

model *model_create(void)
{
    model *m = must(calloc(1, sizeof *m));
    m->room = 64;
    m->nodes = must(malloc((m->room + 1) * sizeof *m->nodes));
    m->chains = 64;
    m->heads = must(calloc(m->chains, sizeof *m->heads));
    return m;
}

void model_destroy(model *m)
{
    if (m == NULL) return;
    free(m->nodes);
    free(m->heads);
    free(m);
}

static uint32_t *chain_of(const model *m, uint64_t key)
{
    const uint64_t mixed = (key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return &m->heads[(mixed >> 32) & (m->chains - 1)];
}

/* The link that leads to `key`, or the link that ends its chain. */
static uint32_t *link_to(const model *m, uint64_t key)
{
    uint32_t *link = chain_of(m, key);
    while (*link != 0 && m->nodes[*link].key != key) link = &m->nodes[*link].next;
    return link;
}

static void double_room(model *m)
{
    uint32_t *old = m->heads;
    const uint32_t old_chains = m->chains;
    m->room *= 2;
    m->nodes = must(realloc(m->nodes, (m->room + 1) * sizeof *m->nodes));
    m->chains *= 2;
    m->heads = must(calloc(m->chains, sizeof *m->heads));
    for (uint32_t i = 0; i < old_chains; i++) {
        for (uint32_t at = old[i], next; at != 0; at = next) {
            uint32_t *head = chain_of(m, m->nodes[at].key);
            next = m->nodes[at].next;
            m->nodes[at].next = *head;
            *head = at;
        }
    }
    free(old);
}

uint64_t model_size(const model *m) { return m->size; }

bool model_find(const model *m, uint64_t key, uint64_t *value)
{
    const uint32_t at = *link_to(m, key);
    if (at == 0) return false;
    if (value != NULL) *value = m->nodes[at].value;
    return true;
}

static uint32_t new_node(model *m)
{
    if (m->spare != 0) {
        const uint32_t at = m->spare;
        m->spare = m->nodes[at].next;
        return at;
    }
    if (m->used == m->room) double_room(m);
    return ++m->used;
}

void model_set(model *m, uint64_t key, uint64_t value)
{
    uint32_t at = *link_to(m, key);
    if (at == 0) {
        at = new_node(m);
        uint32_t *head = chain_of(m, key);
        m->nodes[at].key = key;
        m->nodes[at].next = *head;
        *head = at;
        m->size++;
    }
    m->nodes[at].value = value;
}

bool model_erase(model *m, uint64_t key)
{
    uint32_t *link = link_to(m, key);
    const uint32_t at = *link;
    if (at == 0) return false;
    *link = m->nodes[at].next;
    m->nodes[at].next = m->spare;
    m->spare = at;
    m->size--;
    return true;
}

void model_clear(model *m)
{
    memset(m->heads, 0, m->chains * sizeof *m->heads);
    m->used = 0;
    m->spare = 0;
    m->size = 0;
}

void model_export(const model *m, uint64_t *keys, uint64_t *values)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->chains; i++) {
        for (uint32_t at = m->heads[i]; at != 0; at = m->nodes[at].next, count++) {
            if (keys != NULL) keys[count] = m->nodes[at].key;
            if (values != NULL) values[count] = m->nodes[at].value;
        }
    }
}

uint64_t model_combine(uint32_t policy, uint64_t there, uint64_t given, uint32_t value_bits)
{
    switch (policy) {
    case HEDDLE_POLICY_KEEP: return there;
    case HEDDLE_POLICY_REPLACE: return given;
    case HEDDLE_POLICY_ADD: return value_bits == 32 ? (uint32_t)(there + given) : there + given;
    case HEDDLE_POLICY_MIN: return there < given ? there : given;
    case HEDDLE_POLICY_MAX: return there > given ? there : given;
    default: abort();
    }
}
