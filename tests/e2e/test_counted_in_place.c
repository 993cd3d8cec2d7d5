/* record --level counted: calls that one instruction counts in place of the probe's call. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/counted.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_counted_in_place, .timeout = 300, .init = without_os_calls);

/* On a machine with instructions for the base of gs, and on one without them. */
static void counted_with_each_base(void (*check)(void))
{
    check();
    if (getenv("DWELL_FSGSBASE"))
        return;
    setenv("DWELL_FSGSBASE", "off", 1);
    check();
    unsetenv("DWELL_FSGSBASE");
}

/* The same when all of it happens while one instruction counts each call. */
static void counted_in_place(void)
{
    for (int i = 0; i < 3; i++) {
        counted_run(counted_modes[i], "64 20000 50 0 place");
        counted_run(counted_modes[i], "4 2000 50 20 place");
    }
    counted_run("trace", "400 200 1000 0 place");
}

Test(e2e_counted_in_place, threads_signals_jumps_and_forks)
{
    counted_with_each_base(counted_in_place);
}

/* Where the system does not let the base of gs change, stubs count all calls (DWELL_FSGSBASE=none). */
static bool stubs_count_all(void)
{
    const char *base = getenv("DWELL_FSGSBASE");
    return base && strcmp(base, "none") == 0;
}

static bool info_has(const char *text)
{
    char *info = run_well("$DWELL info");
    const bool found = strstr(info, text) != NULL;
    free(info);
    return found;
}

static unsigned long placed_run(const char *mode, const char *way, unsigned long *told, unsigned long *lost)
{
    char *out = run_well("$DWELL record -q --mode %s --level 'counted=hot_*' $PROGRAMS/levels/placed %s", mode, way);
    cr_assert(eq(int, sscanf(out, "calls hot_leaf %lu", told), 1), "%s", way);
    free(out);
    struct report *r = report_of("");
    const unsigned long calls = report_sum(r, "function", "hot_leaf", "calls");
    *lost = report_session(r, "lost_events");
    report_drop(r);
    return calls;
}

static void placed_check(const char *mode, const char *way)
{
    unsigned long told, lost;
    const unsigned long calls = placed_run(mode, way, &told, &lost);
    cr_assert(eq(ulong, calls, told), "%s", way);
    cr_assert(ge(ulong, told, 100000), "%s", way);
    cr_assert(eq(ulong, lost, 0), "%s", way);
}

/* A stub's first call in a process makes system calls, which this one forbids. */
static void placed_in_sandbox(const char *mode)
{
    if (!stubs_count_all()) {
        placed_check(mode, "sandboxed");
        return;
    }
    unsigned long told, lost;
    free(run_well("rm -f dwell.data*")); /* a session without calls takes no earlier one's place */
    const unsigned long calls = placed_run(mode, "sandboxed", &told, &lost);
    cr_assert(all(eq(ulong, told, 100000), eq(ulong, calls + lost, told)));
}

/* The counters lie where the base of gs can lead, wherever the program is. */
static void placed_in_each_layout(void)
{
    static const char *const layouts[] = { "gcc-pie", "gcc-no-pie", "clang-pie", "clang-no-pie" };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char *out = run_well("P=$PROGRAMS/levels/placed-%s; test ! -e $P || $DWELL record -q --mode %s --level "
                             "'counted=hot_*' $P workers",
                             layouts[i], counted_modes[i % 3]);
        if (*out) { /* there is such a compiler */
            struct report *r = report_of("");
            cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")), "%s",
                      layouts[i]);
            cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", layouts[i]);
            report_drop(r);
            cr_assert(eq(int, info_has("\nnote            calls are counted in place; "), !stubs_count_all()), "%s",
                      layouts[i]);
        }
        free(out);
    }
}

Test(e2e_counted_in_place, in_each_layout)
{
    counted_with_each_base(placed_in_each_layout);
}

static void placed_in_unusual_ways(void)
{
    static const char *const ways[] = { "child",    "daemon",   "exec",      "c11",           "handler",
                                        "vfork",    "pause",    "narrow",    "narrow_unseen", "workers",
                                        "unshared", "stayed",   "bare_fork", "timer",         "sandboxed",
                                        "masked",   "writable", "setuid",    "locked" };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i], "sandboxed") == 0)
            placed_in_sandbox(counted_modes[i % 3]);
        else
            placed_check(counted_modes[i % 3], ways[i]);
}

Test(e2e_counted_in_place, in_unusual_threads_and_processes)
{
    counted_with_each_base(placed_in_unusual_ways);
}

/* The program sets the base of gs itself. */
static void check_own_base_is_said(void)
{
    if (stubs_count_all())
        cr_assert(
            info_has("\nnote            counted calls lead to stubs, as neither instructions (FSGSBASE) nor arch_prctl "
                     "set the base of gs here\n"));
    else
        cr_assert(
            info_has("\nnote            counted calls lead to stubs, as the program uses the base of gs itself\n"));
}

/* The program finds its own base, and none before it sets one. */
static void placed_until_based(void)
{
    for (int i = 0; i < 3; i++) {
        placed_check(counted_modes[i], "based");
        check_own_base_is_said();
        placed_check(counted_modes[i], "based_bare");
    }
}

Test(e2e_counted_in_place, until_the_program_sets_the_base_of_gs)
{
    counted_with_each_base(placed_until_based);
}

/* A child that cannot record loses all its calls, and the session says so. */
static void placed_without_records(void)
{
    static const char *const ways[] = { "nofile", "unseen" };
    for (int i = 0; i < 6; i++) {
        unsigned long told, lost;
        const unsigned long calls = placed_run(counted_modes[i % 3], ways[i / 3], &told, &lost);
        cr_assert(eq(ulong, calls + lost, told), "%s %s", ways[i / 3], counted_modes[i % 3]);
        cr_assert(eq(ulong, lost, 100000), "%s %s", ways[i / 3], counted_modes[i % 3]);
    }
}

Test(e2e_counted_in_place, in_a_child_that_cannot_record)
{
    counted_with_each_base(placed_without_records);
}

/* A call is counted before its function begins: the kill may come in between. */
static void placed_and_killed(void)
{
    for (int i = 0; i < 3; i++) {
        unsigned long told, lost;
        const unsigned long calls = placed_run(counted_modes[i], "killed", &told, &lost);
        cr_assert(eq(ulong, lost, 0));
        cr_assert(calls == told || calls == told + 1, "%s: %lu, not %lu", counted_modes[i], calls, told);
    }
}

Test(e2e_counted_in_place, in_a_child_that_is_killed)
{
    counted_with_each_base(placed_and_killed);
}

/* Calls may be lost, as docs/levels.md says. The program goes on as without a recording. */
static void placed_by_bare_clone(void)
{
    unsigned long told, lost;
    const unsigned long calls = placed_run("trace", "bare_clone", &told, &lost);
    cr_assert(eq(ulong, lost, 0));
    cr_assert(all(eq(ulong, told >= 200000, 1), le(ulong, calls, told), ge(ulong, calls, told / 2)));
}

Test(e2e_counted_in_place, in_a_thread_that_libc_does_not_know)
{
    counted_with_each_base(placed_by_bare_clone);
}

/* Each thread has a mapping for each page of code, and a process may have 65,530. */
static void placed_in_a_crowd(void)
{
    char *out = run_well("$DWELL record -q --level 'counted=hot_*' $PROGRAMS/levels/crowd 150 1000");
    counted_check(out, "crowd");
    free(out);
}

Test(e2e_counted_in_place, until_there_are_too_many_threads)
{
    counted_with_each_base(placed_in_a_crowd);
}

#if defined(__x86_64__)

/* By instructions that the runtime does not see: it finds them in the program's code, and counts by stubs. */
Test(e2e_counted_in_place, where_the_programs_code_sets_the_base_of_gs)
{
    static const char *const ways[] = { "instruction", "call" };
    for (int i = 0; i < 6; i++) {
        char *out = run_well("$DWELL record -q --mode %s --level 'counted=hot_*' $PROGRAMS/levels/own_base %s",
                             counted_modes[i % 3], ways[i / 3]);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")), "%s", ways[i / 3]);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
        check_own_base_is_said();
    }
}

/* arch_prctl sets the base on such a machine. */
Test(e2e_counted_in_place, without_instructions_for_the_base_of_gs)
{
    setenv("DWELL_FSGSBASE", "off", 1);
    placed_check("trace", "child");
    cr_assert(info_has("\nnote            calls are counted in place; arch_prctl sets gs, as there are no instructions "
                       "for it (FSGSBASE)\n"));
    unsetenv("DWELL_FSGSBASE");
}

/* It takes no base above the user's half, as the pages of a program that the loader has mapped itself would need. */
Test(e2e_counted_in_place, without_places_that_the_base_of_gs_can_have)
{
    setenv("DWELL_FSGSBASE", "off", 1);
    char *out =
        run_well("TEST_FSGSBASE=none $DWELL record -q --level 'counted=hot_*' $(readelf -l $PROGRAMS/levels/placed "
                 "| sed -n 's/.*interpreter: \\(.*\\)]/\\1/p') $PROGRAMS/levels/placed child");
    struct report *r = report_of("");
    cr_assert(eq(u64, report_sum(r, "function", "hot_leaf", "calls"), truth(out, "hot_leaf")));
    report_drop(r);
    free(out);
    cr_assert(info_has("mapped too high in memory for arch_prctl to set gs"));
    unsetenv("DWELL_FSGSBASE");
}

#endif

/* Where the system does not let the base of gs change, there are stubs. */
Test(e2e_counted_in_place, without_a_base_of_gs)
{
    static const char *const ways[] = { "child", "handler", "workers", "masked", "narrow", "based" };
    setenv("DWELL_FSGSBASE", "none", 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        placed_check(counted_modes[i % 3], ways[i]);
    for (int i = 0; i < 6; i++) { /* a child that makes its first call in a sandbox */
        unsigned long told, lost;
        free(run_well("rm -f dwell.data*"));
        const unsigned long calls = placed_run(counted_modes[i % 3], i < 3 ? "sandboxed" : "unseen", &told, &lost);
        cr_assert(eq(ulong, calls + lost, told), "%s, %lu lost", counted_modes[i % 3], lost);
        cr_assert(eq(ulong, told, 100000));
    }
    counted_run("trace", "64 20000 50 0 place");
    counted_run("profile", "4 2000 50 20 place");
    cr_assert(info_has("counted calls lead to "));
    cr_assert(not(info_has("calls are counted in place")));
    unsetenv("DWELL_FSGSBASE");
}
