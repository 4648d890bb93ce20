/*
 * cases.h: runs a test over every engine present and every table compiled for it.
 *
 * A case is one device, one compiled instance and, on a device with memory of its own, where the
 * arrays of calls lie: on the device for every instance, and in host memory for one instance of
 * each width (staging knows widths, not instances). When a test fails, its teardown prints the case
 * at hand and the last note (which key set, which size).
 *
 *   HEDDLE_TEST_DEVICE=cpu:2,cuda:0   these devices instead of all
 *   HEDDLE_TEST_INSTANCE=k64_v32      only instances whose name holds this
 *   HEDDLE_TEST_QUICK=1               small sizes, for sanitizers
 *   HEDDLE_TEST_VERBOSE=1             print each case as it starts
 */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four headers above before it */
#include <cmocka.h>
#include <heddle/heddle.h>

#include "engine/engine.h"

typedef enum case_arrays {
    ARRAYS_HOST,
    ARRAYS_DEVICE,
    ARRAYS_MIXED, /* within one call, some here and some there */
} case_arrays;

/* A container that the scheme hashgraph makes, or another one that multi.h has a model for. */
typedef struct graph_kind {
    const char *name;
    uint32_t scheme;
    uint32_t container;
    uint32_t key_bits;
    uint32_t value_bits;
} graph_kind;

typedef struct test_case {
    const char *device_name;
    heddle_device *device;
    const hd_table_ops *ops; /* name, widths and bucket of the instance; NULL in a case of graphs */
    case_arrays arrays;
    const graph_kind *graph; /* NULL in a case of slots */
} test_case;

typedef void (*case_function)(const test_case *c);

typedef enum case_range {
    RANGE_INSTANCES, /* every instance of every device */
    RANGE_TABLES,    /* these and every slab hash */
    RANGE_WIDTHS, /* one instance of every scheme, container and width, and every slab hash, of every device */
    RANGE_SLOT_WIDTHS, /* these without slab hashes */
    RANGE_SLABS,       /* every slab hash of every device */
    RANGE_DEVICES,     /* one instance of every device */
    RANGE_GRAPHS,      /* every container and width of graphs, of every device that has them */
    RANGE_MULTIS,      /* all these and other containers that multi.h is the model of */
    RANGE_FEW_GRAPHS,  /* every container of graphs in one width, of every device that has them */
} case_range;

/* Calls `run` for the cases of a range; skips the test when there are none. */
void cases_run(case_function run, case_range range);

/* Lines of a test list: OVER_INSTANCES(f) runs f over the cases, ONCE(f) is a plain cmocka test. */
typedef struct case_test {
    case_function run;
    case_range range;
} case_test;
#define OVER_RANGE(f, range)                                                                       \
    {                                                                                              \
#f, cases_test, NULL, cases_teardown, &(case_test) { f, range }                            \
    }
#define OVER_INSTANCES(f) OVER_RANGE(f, RANGE_INSTANCES)
#define OVER_TABLES(f) OVER_RANGE(f, RANGE_TABLES)
#define OVER_WIDTHS(f) OVER_RANGE(f, RANGE_WIDTHS)
#define OVER_SLOT_WIDTHS(f) OVER_RANGE(f, RANGE_SLOT_WIDTHS)
#define OVER_SLABS(f) OVER_RANGE(f, RANGE_SLABS)
#define OVER_DEVICES(f) OVER_RANGE(f, RANGE_DEVICES)
#define OVER_GRAPHS(f) OVER_RANGE(f, RANGE_GRAPHS)
#define OVER_MULTIS(f) OVER_RANGE(f, RANGE_MULTIS)
#define OVER_FEW_GRAPHS(f) OVER_RANGE(f, RANGE_FEW_GRAPHS)
#define ONCE(f)                                                                                    \
    {                                                                                              \
#f, f, NULL, cases_teardown, NULL                                                          \
    }

void cases_test(void **state);
int cases_teardown(void **state);

/* Remembers what the case is doing, for the message of a failure. */
void case_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The usual size n, or about an eighth of it in quick mode; odd sizes stay odd, and a size that
 * keeps several threads busy still does. */
uint64_t case_size(uint64_t n);
/* Whether HEDDLE_TEST_QUICK asks for small sizes. */
bool case_quick(void);
/* Whether HEDDLE_TEST_VERBOSE asks to see more. */
bool case_verbose(void);
/* Whether another case stands for this one where a test takes long and sizes are small: it has one thread, or
 * keys and values of different widths. */
bool case_spared(const test_case *c);
/* HEDDLE_TEST_SEED, of tables and of random operations; 0 draws anew. Always the same unless told, so that
 * a run that failed can be repeated. */
uint64_t case_seed(void);

/* Options that choose this instance or graph, everything else left to the library. */
heddle_table_options case_options(const test_case *c);
/* Whether the case is a slab hash: `ops` then has name, scheme, widths and the slots of a slab, and no functions. */
bool case_is_slab(const test_case *c);
/* Whether the case is a map. */
bool case_is_map(const test_case *c);
/* Whether options can be met by a compiled table of this device. */
bool case_compiled(const test_case *c, uint32_t scheme, uint32_t key_bits, uint32_t value_bits,
                   uint32_t bucket);

/* Fails the test with a message unless `condition` holds; cheap enough for long loops. */
#define check(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) fail_msg(__VA_ARGS__);                                                   \
    } while (0)

/* Fails the test unless `call` gives `expected`; says which call and why. */
#define check_status(call, expected)                                                               \
    case_check_status((call), (expected), #call, __FILE__, __LINE__)
#define check_ok(call) check_status(call, HEDDLE_OK)
void case_check_status(heddle_status got, heddle_status expected, const char *call,
                       const char *file, int line);

#endif
