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
#include "support/shelf_endings.h"

#define ENDS_MAX 4000

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
    options.progress = cancel;
    asked = cancel_at = 0;
    return endings_filled(kind, device, &options);
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

static void without_memory(const shared_kind *kind, const char *device)
{
    if (!endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS; i++)
        end_everywhere(kind, device, &endings[i], arm_fault, fault_struck, HEDDLE_ERROR_NO_MEMORY);
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
    if (case_quick() && !endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS; i++)
        end_everywhere(kind, device, &endings[i], arm_cancel, cancel_struck,
                       HEDDLE_ERROR_CANCELLED);
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
    if (!endings_has(kind)) return;
    endings_prepare(kind);
    for (size_t i = 0; i < ENDINGS_SPILL;
         i++) { /* those that write parts, the manifest or a batch */
        shelved s = filled(kind, device);
        uint64_t failures = 0;
        for (uint64_t k = 1; k * 40 < 9000; k += 1 + k / 4) {
            case_note("%s of %s, %llu bytes", endings[i].name, kind->name,
                      (unsigned long long)k * 40);
            shelved_reopen(&s);
            arm_limit(k);
            const heddle_status status = endings[i].call(&s);
            arm_limit(0);
            check(status == HEDDLE_OK || status == HEDDLE_ERROR_IO, "%s: %s",
                  heddle_status_string(status), heddle_last_error());
            failures += status != HEDDLE_OK;
            check_end(&s, &endings[i], status, true);
            if (status == HEDDLE_OK && endings[i].model != NULL) break;
        }
        check(failures > 0, "%s needs no disk", endings[i].name);
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
    endings_prepare(kind);
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
    endings_free();
    return failed;
}
