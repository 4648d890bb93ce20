/*
 * bare_table.h: a table in plain memory with a model beside it. Every call runs one kernel of
 * src/cuda/slots/kernels.h by warps.h and compares all it did with the model.
 *
 * What the model takes from the kernels are the outcomes of insertions, since which of two equal keys
 * comes first is open; that they are consistent with each other and with the totals is checked.
 */
#ifndef BARE_TABLE_H
#define BARE_TABLE_H

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arrays.h"

#ifndef HD_SCHEME_HEADER
#define HD_SCHEME_HEADER "scheme/cuckoo.h"
#endif
#define HD_SYMBOL emulated
#define FILL_BLOCK 128 /* a fiber a thread: fewer of them */
#include "cuda/slots/kernels.h"

extern "C" {
#include "table/slots/geometry.h"
}

typedef std::vector<hd_key> key_list;
typedef std::vector<hd_value> value_list;

struct bare_table {
    hd_view view;
    uint64_t slots;
    device_array<hd_word> words;
    device_array<hd_value> apart;
    device_array<uint32_t> heads;
    device_array<uint32_t> locks; /* iceberg */
    std::unordered_map<hd_key, hd_value> model;

    bare_table(uint64_t capacity, double load, uint32_t hashes, uint64_t seed);

    /* Inserts; with `retry` only what failed before. Returns the number of keys that failed. */
    uint64_t insert(const key_list &keys, const value_list &values, uint32_t policy,
                    std::vector<uint8_t> *outcomes, bool retry);
    void find(const key_list &keys);
    void contains(const key_list &keys);
    /* Handles of keys, and reading by them, also by numbers that are no handles. */
    void locate(const key_list &keys);
    void erase(const key_list &keys);
    void inspect();
    void renew_marks();
    void collect();
    /*
     * Fills the table by regions, anew with `fresh`. With `folds` the pairs of each region are first
     * folded in parts. Returns the number of keys that failed; the table is of no use then. Without `fresh` nothing
     * is lost: what failed is inserted key by key, and the number is that of keys that failed even so. Equal keys
     * have equal values where the policy takes one of them.
     */
    uint64_t fill(const key_list &keys, const value_list &values, uint32_t policy, bool fresh,
                  bool folds);
    /*
     * The same as a call that does not wait goes: regions have room for some of the pairs, and what is beyond that or
     * finds no place is listed, placed and settled. Returns the number of pairs that failed; the model is of no
     * use then.
     */
    uint64_t queue(const key_list &keys, const value_list &values, uint32_t policy, bool fresh);
    /* Moves all pairs of another table into this empty one. */
    void rehome(const bare_table &from);

  private:
    uint64_t insert_listed(const device_array<uint32_t> &failed, uint64_t count, uint32_t policy);
    void is_settled();
    void merge(hd_key key, hd_value put, uint32_t policy);
    void apply(const key_list &keys, const value_list &values, uint32_t policy,
               const std::vector<uint8_t> &outcomes, const std::vector<bool> &worked);
};

#endif
