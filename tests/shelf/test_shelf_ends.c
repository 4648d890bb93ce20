/*
 * test_shelf_ends.c: calls on a shelf that do not come to their end. Every allocation fails once, in turn; the
 * progress function cancels at every place where it is asked; files cannot grow beyond every size up to the
 * one that is needed. Each time the call says so, and the shelf holds what it held, in memory, in its files,
 * and without files too many.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/keys.h"
#include "support/shelf_model.h"

#define FILLED 200
#define MORE 300
#define LITTLE 5000
#define ENDS_MAX 4000

static uint64_t keys[FILLED + MORE], values[FILLED + MORE];
static void *narrow_keys, *narrow_values;
static uint8_t found[FILLED + MORE], outcomes[FILLED + MORE], bytes[(FILLED + MORE) * 64];
static uint64_t numbers[FILLED + MORE + 1];

static void fill_arrays(const shared_kind *kind)
{
    keys_fill(keys, FILLED + MORE, KEYS_EDGES, kind->key_bits, 191);
    shared_values(values, keys, FILLED + MORE, 3);
    free(narrow_keys);
    free(narrow_values);
    narrow_keys = shared_narrow(keys, FILLED + MORE, kind->key_bits);
    narrow_values = shared_narrow(values, FILLED + MORE, kind->value_bits);
}
static const void *keys_from(const shelved *s, uint64_t first)
{
    return (const char *)narrow_keys + first * s->model.options.key_bits / 8;
}
static const void *values_from(const shelved *s, uint64_t first)
{
    return narrow_values != NULL
               ? (const char *)narrow_values + first * s->model.options.value_bits / 8
               : NULL;
}

/* --------------------------------------------------------------------------------------- calls */

typedef struct ending {
    const char *name;
    heddle_status (*call)(shelved *s);
    void (*model)(shared *m); /* what a success makes of the model; NULL: nothing */
} ending;

static heddle_status call_build(shelved *s)
{
    return heddle_shelf_build(s->shelf, keys_from(s, FILLED), values_from(s, FILLED), MORE, NULL,
                              NULL);
}
static heddle_status call_insert(shelved *s)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = outcomes;
    return heddle_shelf_insert(s->shelf, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                               &options, NULL);
}
static void model_insert(shared *m)
{
    shared_model_add(m, keys + FILLED, narrow_values != NULL ? values + FILLED : NULL, MORE, 0);
}
static void model_build(shared *m)
{
    m->size = 0;
    model_insert(m);
}
static heddle_status call_erase(shelved *s)
{
    return heddle_shelf_erase(s->shelf, narrow_keys, FILLED / 2, found, NULL);
}
static void model_erase(shared *m)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < m->size; i++) {
        bool gone = false;
        for (uint64_t j = 0; j < FILLED / 2 && !gone; j++) gone = keys[j] == m->pairs[i].key;
        if (!gone) m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
}
static heddle_status call_clear(shelved *s) { return heddle_shelf_clear(s->shelf); }
static void model_clear(shared *m) { m->size = 0; }
static heddle_status call_find(shelved *s)
{
    if (s->model.options.value_bits == 0)
        return heddle_shelf_contains(s->shelf, narrow_keys, FILLED + MORE, found, NULL);
    return heddle_shelf_find(s->shelf, narrow_keys, FILLED + MORE, bytes, found, NULL);
}
static heddle_status call_retrieve(shelved *s)
{
    uint64_t count = 0;
    if (s->model.options.value_bits == 0)
        return heddle_shelf_count(s->shelf, narrow_keys, FILLED + MORE, numbers, NULL);
    return heddle_shelf_retrieve(s->shelf, narrow_keys, FILLED + MORE, numbers, bytes, FILLED,
                                 &count);
}
static heddle_status call_export(shelved *s)
{
    uint64_t count = 0;
    return heddle_shelf_export(s->shelf, bytes, NULL, FILLED, &count);
}
static heddle_status call_validate(shelved *s) { return heddle_shelf_validate(s->shelf); }

static const ending calls[] = {
    {"build", call_build, model_build}, {"insert", call_insert, model_insert},
    {"erase", call_erase, model_erase}, {"clear", call_clear, model_clear},
    {"find", call_find, NULL},          {"retrieve", call_retrieve, NULL},
    {"export", call_export, NULL},      {"validate", call_validate, NULL},
};
#define CALLS (sizeof calls / sizeof calls[0])

/* ---------------------------------------------------------------------------------- how it ends */

static uint64_t asked,
    cancel_at; /* the progress function: how often, and when it says no; 0: never */
static uint32_t phases_cancelled;
static uint32_t cancel(void *context, uint32_t phase, uint64_t done, uint64_t total)
{
    (void)context;
    check(phase < HEDDLE_SHELF_PHASES && done <= total, "progress %llu of %llu in phase %u",
          (unsigned long long)done, (unsigned long long)total, phase);
    if (phase == HEDDLE_SHELF_COMMIT && done == 1) return 0;
    if (++asked != cancel_at) return 0;
    phases_cancelled |= 1u << phase;
    return 1;
}

static shelved filled(const shared_kind *kind, const char *device)
{
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    options.memory = LITTLE;
    options.progress = cancel;
    asked = cancel_at = 0;
    shelved s = shelved_create_with(kind, device, &options);
    shelved_insert(&s, keys, narrow_values != NULL ? values : NULL, FILLED, HEDDLE_POLICY_KEEP,
                   false);
    return s;
}

/* The shelf holds what it did, or what the call has made of it; also in the eyes of another opener. */
static void check_end(shelved *s, const ending *e, heddle_status status, bool reopens)
{
    check(status == HEDDLE_OK || strlen(heddle_last_error()) > 0, "no reason was given");
    if (status == HEDDLE_OK && e->model != NULL) e->model(&s->model);
    shelved_check(s);
    if (!reopens) return;
    shelved_reopen(s);
    shelved_check(s);
}

/* Calls with `arm` set to 1, 2, ... until a call is not ended by it any more. */
static void end_everywhere(const shared_kind *kind, const char *device, const ending *e,
                           void (*arm)(uint64_t k), bool (*struck)(void), heddle_status expected)
{
    bool more = true;
    uint64_t failures = 0;
    shelved s = filled(kind, device);
    for (uint64_t k = 1; more; k++) {
        check(k < ENDS_MAX, "there is no end");
        check_ok(heddle_device_trim(s.device));
        shelved_reopen(&s); /* nothing in memory */
        case_note("%s of %s, end %llu", e->name, kind->name, (unsigned long long)k);
        arm(k);
        const heddle_status status = e->call(&s);
        more = struck();
        arm(0);
        check(status == HEDDLE_OK || (more && status == expected), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        failures += status != HEDDLE_OK;
        if (status != HEDDLE_OK || !more) check_end(&s, e, status, k % 8 == 0);
        else if (e->model != NULL) { /* it did without: begin anew */
            check_end(&s, e, status, false);
            shelved_destroy(&s);
            s = filled(kind, device);
        }
    }
    check(failures > 0, "%s met no failure", e->name);
    shelved_destroy(&s);
}

/* ------------------------------------------------------------------------------------- memory */

static void arm_fault(uint64_t k) { hd_fault_arm(k); }
static bool fault_struck(void) { return hd_fault_struck() != 0; }

/* One kind of every sort is enough where each takes long. */
static bool is_tested(const shared_kind *kind)
{
    if (case_quick())
        return kind->key_bits == 32 && kind->value_bits == 32 &&
               (kind->container == HEDDLE_CONTAINER_MAP ? kind->scheme == HEDDLE_SCHEME_CUCKOO
                                                        : kind->scheme == HEDDLE_SCHEME_HASHGRAPH);
    return kind->key_bits == 32 || kind->scheme == HEDDLE_SCHEME_HASHGRAPH;
}

static void without_memory(const shared_kind *kind, const char *device)
{
    if (!is_tested(kind)) return;
    fill_arrays(kind);
    for (size_t i = 0; i < CALLS; i++)
        end_everywhere(kind, device, &calls[i], arm_fault, fault_struck, HEDDLE_ERROR_NO_MEMORY);
}
static void memory_runs_out(void **state)
{
    (void)state;
    shelved_run(without_memory);
}

/* ----------------------------------------------------------------------------------- cancelled */

static void arm_cancel(uint64_t k)
{
    asked = 0;
    cancel_at = k;
}
static bool cancel_struck(void) { return asked >= cancel_at; }

static void cancelled(const shared_kind *kind, const char *device)
{
    if (case_quick() && !is_tested(kind)) return;
    fill_arrays(kind);
    for (size_t i = 0; i < CALLS; i++)
        end_everywhere(kind, device, &calls[i], arm_cancel, cancel_struck, HEDDLE_ERROR_CANCELLED);
}
static void calls_are_cancelled(void **state)
{
    (void)state;
    shelved_run(cancelled);
    assert_int_equal(phases_cancelled, (1u << HEDDLE_SHELF_PHASES) - 1);
}

/* --------------------------------------------------------------------------------------- disk */

/* Files may have 40 k bytes; 0: any number. What cannot be written then is an error, not a signal. */
static void arm_limit(uint64_t k)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = k != 0 ? k * 40 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void without_disk(const shared_kind *kind, const char *device)
{
    if (!is_tested(kind)) return;
    fill_arrays(kind);
    for (size_t i = 0; i < 6; i++) { /* those that write parts, the manifest or a batch */
        shelved s = filled(kind, device);
        uint64_t failures = 0;
        for (uint64_t k = 1; k * 40 < 9000; k += 1 + k / 4) {
            case_note("%s of %s, %llu bytes", calls[i].name, kind->name,
                      (unsigned long long)k * 40);
            shelved_reopen(&s);
            arm_limit(k);
            const heddle_status status = calls[i].call(&s);
            arm_limit(0);
            check(status == HEDDLE_OK || status == HEDDLE_ERROR_IO, "%s: %s",
                  heddle_status_string(status), heddle_last_error());
            failures += status != HEDDLE_OK;
            check_end(&s, &calls[i], status, true);
            if (status == HEDDLE_OK && calls[i].model != NULL) break;
        }
        check(failures > 0, "%s needs no disk", calls[i].name);
        shelved_destroy(&s);
    }
}
static void disks_are_full(void **state)
{
    (void)state;
    (void)signal(SIGXFSZ, SIG_IGN);
    shelved_run(without_disk);
}

/* --------------------------------------------------------------------------- making and opening */

static void making_and_opening_survive(void **state)
{
    const shared_kind *kind = &shared_kinds[0];
    bool more = true;
    (void)state;
    fill_arrays(kind);
    shelved s = filled(kind, "cpu:1");
    char other[500];
    snprintf(other, sizeof other, "%s_other", s.directory);
    for (uint64_t k = 1; more; k++) {
        heddle_shelf *shelf = NULL;
        heddle_shelf_close(s.shelf);
        s.shelf = NULL;
        hd_fault_arm(k);
        heddle_status status = heddle_shelf_create(s.device, other, NULL, &s.options, &shelf);
        if (status == HEDDLE_OK)
            status = heddle_shelf_open(s.device, s.directory, &s.options, &s.shelf);
        more = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (more && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        check((status == HEDDLE_OK) == (s.shelf != NULL), "a shelf of a failed call");
        heddle_shelf_close(shelf);
        shelved_remove(other);
        /* Where there is a shelf, none is made, whatever fails. */
        if (s.shelf != NULL) heddle_shelf_close(s.shelf);
        s.shelf = shelf = NULL;
        hd_fault_arm(k);
        status = heddle_shelf_create(s.device, s.directory, NULL, &s.options, &shelf);
        hd_fault_arm(0);
        check(shelf == NULL && (status == HEDDLE_ERROR_INVALID || status == HEDDLE_ERROR_NO_MEMORY),
              "%s: %s", heddle_status_string(status), heddle_last_error());
        shelved_reopen(&s);
        shelved_check(&s);
    }
    shelved_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(memory_runs_out), ONCE(calls_are_cancelled),
                                       ONCE(disks_are_full), ONCE(making_and_opening_survive)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(narrow_keys);
    free(narrow_values);
    return failed;
}
