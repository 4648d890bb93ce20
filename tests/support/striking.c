/* striking.c: see striking.h. */
#define _POSIX_C_SOURCE 200809L
#include "support/striking.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const failing_plan nothing = FAILING_NONE;

/* Whether the sentence says what went wrong. */
static bool tells(const failing_report *r)
{
    return strstr(heddle_last_error(), strerror(r->error)) != NULL ||
           (r->error == ENOMEM && strstr(heddle_last_error(), "memory") != NULL) ||
           (r->error == EWOULDBLOCK && strstr(heddle_last_error(), "open already") != NULL);
}

strike strike_once(const failing_plan *plan, strike_call call, void *context)
{
    const uint32_t open = failing_open_files();
    strike s;
    failing_arm(plan);
    s.status = call(context);
    s.report = failing_disarm();
    const char *struck = s.report.struck != NULL ? s.report.struck : "nothing";
    const char *error = strerror(s.report.error);
    assert_int_equal(failing_open_files(), open);
    if (s.status == HEDDLE_OK) {
        check(s.report.struck == NULL || !s.report.must_be_told, "%s: %s, and nobody was told",
              struck, error);
        return s;
    }
    check(s.report.struck != NULL, "%s", heddle_last_error());
    check(s.status == HEDDLE_ERROR_IO ||
              (s.status == HEDDLE_ERROR_NO_MEMORY && s.report.error == ENOMEM),
          "%s: %s became %s: %s", struck, error, heddle_status_string(s.status),
          heddle_last_error());
    check(tells(&s.report), "%s: %s became '%s'", struck, error, heddle_last_error());
    return s;
}

#define LAST 24 /* calls, about, of a commit */

/* The call of the system that comes after this one, of `all`. */
static uint64_t next_of(uint64_t at, uint64_t all, uint64_t most)
{
    const uint64_t stride = all / most + 1;
    if (at + LAST >= all) return at + 1;
    return at + stride + LAST <= all ? at + stride : all - LAST;
}

/* How many calls of the system there are when all goes well. */
static uint64_t count_calls(strike_call call, strike_check held, void *context)
{
    const strike s = strike_once(&nothing, call, context);
    check_ok(s.status);
    held(context, &s);
    check(s.report.calls != 0 && s.report.calls < STRIKES_MAX, "%llu calls",
          (unsigned long long)s.report.calls);
    return s.report.calls;
}

uint64_t strike_everywhere(strike_call call, strike_check held, void *context, uint64_t most)
{
    const uint64_t all = count_calls(call, held, context);
    failing_plan plan = nothing;
    uint64_t strikes = 0;
    for (plan.at = 1; plan.at <= all; plan.at = next_of(plan.at, all, most)) {
        const bool one = all > most && plan.at + LAST < all;
        uint32_t errors = 1;
        for (plan.error = 0; plan.error < errors; plan.error++) {
            const strike s = strike_once(&plan, call, context);
            if (!one) errors = s.report.errors;
            held(context, &s);
            strikes += s.report.struck != NULL;
        }
    }
    return strikes;
}

void strike_gently(strike_call call, strike_check held, void *context, uint64_t stride)
{
    static const uint64_t pieces[] = {0, 1, 7, 1000};
    for (uint64_t i = 0; i < 8; i += stride) {
        failing_plan plan = nothing;
        plan.piece = pieces[i / 2];
        plan.interrupts = i % 2 == 0;
        const strike s = strike_once(&plan, call, context);
        check(s.status == HEDDLE_OK, "pieces of %llu: %s", (unsigned long long)plan.piece,
              heddle_last_error());
        held(context, &s);
    }
}

uint64_t strike_full(strike_call call, strike_check held, void *context, uint64_t steps)
{
    failing_plan plan = nothing;
    strike s = strike_once(&plan, call, context);
    const uint64_t all = s.report.written, step = all / steps + 1;
    uint64_t strikes = 0;
    held(context, &s);
    check(all != 0, "the call needs no disk");
    plan.is_full = true;
    for (plan.room = 0; plan.room < all; plan.room += step) {
        s = strike_once(&plan, call, context);
        check(s.status == HEDDLE_ERROR_IO, "%llu of %llu bytes were enough",
              (unsigned long long)plan.room, (unsigned long long)all);
        held(context, &s);
        strikes++;
    }
    plan.room = all;
    s = strike_once(&plan, call, context);
    check_ok(s.status);
    held(context, &s);
    return strikes;
}

/* True: it was killed. Otherwise *calls are those that it has made. */
static bool run_child(const failing_plan *plan, strike_call call, void *context, uint64_t *calls)
{
    int ends[2], end = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        failing_arm(plan);
        const heddle_status status = call(context);
        const uint64_t made = failing_disarm().calls;
        if (status != HEDDLE_OK) (void)fprintf(stderr, "%s\n", heddle_last_error());
        _exit(write(ends[1], &made, sizeof made) == sizeof made && status == HEDDLE_OK ? 0 : 11);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &end, 0), child);
    (void)close(ends[1]);
    const bool ended = read(ends[0], calls, sizeof *calls) == sizeof *calls;
    (void)close(ends[0]);
    if (WIFSIGNALED(end)) {
        assert_int_equal(WTERMSIG(end), SIGKILL);
        return true;
    }
    assert_true(WIFEXITED(end) && ended);
    assert_int_equal(WEXITSTATUS(end), 0);
    return false;
}

uint64_t strike_dead(strike_call call, strike_check held, void *context, uint64_t most)
{
    failing_plan plan = nothing;
    strike s = {HEDDLE_OK, {0, NULL, 0, 0, false, 0, NULL}};
    uint64_t strikes = 0, all = 0;
    assert_false(run_child(&plan, call, context, &all));
    held(context, &s);
    s.status = HEDDLE_ERROR_PEER;
    plan.kills = true;
    for (plan.at = 1; plan.at <= all; plan.at = next_of(plan.at, all, most)) {
        s.report.calls = plan.at;
        if (!run_child(&plan, call, context, &all)) break; /* it was done with fewer calls */
        held(context, &s);
        strikes++;
    }
    return strikes;
}

void strike_in_memory(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 1);
}
