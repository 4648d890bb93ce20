/* watched.h: from here on every atomic step is one that another thread may come before; see orders.h. */
#ifndef HEDDLE_TEST_WATCHED_H
#define HEDDLE_TEST_WATCHED_H

#include "base/atomic.h"
#include "orders.h"

#define WATCHED_GIVES(type, call) (orders_step(), (type)orders_saw((uint64_t)(call)))
/* A step that gives nothing has been taken all the same: what comes next is another one. */
#define WATCHED(call) (orders_step(), (call), (void)orders_saw(0))

/* A macro does not expand within itself: the function is called. */
#define load_acquire_32(word) WATCHED_GIVES(uint32_t, load_acquire_32(word))
#define load_acquire_64(word) WATCHED_GIVES(uint64_t, load_acquire_64(word))
#define load_relaxed_32(word) WATCHED_GIVES(uint32_t, load_relaxed_32(word))
#define load_relaxed_64(word) WATCHED_GIVES(uint64_t, load_relaxed_64(word))
#define cas_32(word, from, to) WATCHED_GIVES(bool, cas_32(word, from, to))
#define cas_64(word, from, to) WATCHED_GIVES(bool, cas_64(word, from, to))
#define cas_before_32(word, from, to) WATCHED_GIVES(uint32_t, cas_before_32(word, from, to))
#define cas_before_64(word, from, to) WATCHED_GIVES(uint64_t, cas_before_64(word, from, to))
#define fetch_or_relaxed_32(word, with) WATCHED_GIVES(uint32_t, fetch_or_relaxed_32(word, with))
#define fetch_and_relaxed_32(word, with) WATCHED_GIVES(uint32_t, fetch_and_relaxed_32(word, with))
#define store_relaxed_32(word, to) WATCHED(store_relaxed_32(word, to))
#define store_relaxed_64(word, to) WATCHED(store_relaxed_64(word, to))
#define store_release_32(word, to) WATCHED(store_release_32(word, to))
#define store_release_64(word, to) WATCHED(store_release_64(word, to))
#define add_relaxed_32(word, by) WATCHED(add_relaxed_32(word, by))
#define add_relaxed_64(word, by) WATCHED(add_relaxed_64(word, by))
#define min_relaxed_32(word, with) WATCHED(min_relaxed_32(word, with))
#define min_relaxed_64(word, with) WATCHED(min_relaxed_64(word, with))
#define max_relaxed_32(word, with) WATCHED(max_relaxed_32(word, with))
#define max_relaxed_64(word, with) WATCHED(max_relaxed_64(word, with))

#endif
