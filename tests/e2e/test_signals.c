/* Signal handlers that run instrumented code, wherever they interrupt. Counts are exact, and both stacks are
 * correct. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/rounds.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_signals, .timeout = 300);

#define SIGNALS_60000 "$DWELL record -q --mode %s $PROGRAMS/signals/signals%s %s 60000"

static const char *const modes[] = { "trace", "profile", "ring=1G" };
static const char *const levels[] = { "-O0", "-O2" };

/* Frames that belong to the program only. A handler may interrupt any of them, and nothing else may be below a leaf. */
static void check_paths(const char *what)
{
    char *paths = report_paths("");
    char *copy = strdup(paths), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        const char *handler = strstr(line, "handler");
        const char *leaf = strstr(line, "/leaf/");
        cr_assert(not(leaf && (!handler || leaf > handler)), "%s: %s", what, line); /* below leaf come handlers only */
        const char *after = strstr(line, "handler/");
        cr_assert(not(after && strncmp(after, "handler/handler", 15) != 0), "%s: %s", what, line);
    }
    free(copy);
    free(paths);
}

/* The kernel may rightly count up to a fifth more: `run` is not recorded, and where entering the kernel takes long,
 * signals, new threads and their chunks take long in it. */
static bool signals_time_is_recorded(const char *info)
{
    static const char between[] = " of CPU recorded, ";
    const char *middle = strstr(info, between), *remark = middle ? strstr(info, "\nremark          process ") : NULL;
    if (middle && !remark) /* a caveat: switches of threads explain it */
        remark = strstr(info, "\ncaveat          process ");
    if (!middle)
        return true;
    double recorded, kernel;
    return remark && sscanf(remark, " %*s process %*u: %lf ms", &recorded) == 1 &&
           sscanf(middle + strlen(between), "%lf ms by the kernel's count", &kernel) == 1 && kernel > recorded &&
           kernel < recorded * 1.2;
}

/* Other work on the machine takes time in the kernel, so one of three runs must agree. */
static void check_time(const char *mode, const char *level, const char *how)
{
    for (int try = 1;; try++) {
        char *info = run_well("$DWELL info");
        const bool recorded = signals_time_is_recorded(info);
        cr_assert(recorded || try < MOST_TRIES, "%s %s: %s", how, mode, info);
        free(info);
        if (recorded)
            return;
        free(run_well(SIGNALS_60000, mode, level, how));
    }
}

static void signals_check(const char *how, bool paths)
{
    for (int i = 0; i < 6; i++) {
        const char *mode = modes[i / 2], *level = levels[i % 2];
        char *out = run_well(SIGNALS_60000, mode, level, how);
        struct report *r = report_of("");
        check_counts(out, r, 4);
        cr_assert(eq(u64, report_session(r, "lost_events"), 0));
        report_drop(r);
        free(out);
        if (!paths)
            continue;
        char *info = run_well(INFO_WITHOUT_CPU_REMARKS);
        cr_assert(has(info, " 0 frames left without one"), "%s %s: %s", how, mode, info);
        cr_assert(not(has(info, "remark")), "%s %s: %s", how, mode, info);
        free(info);
        check_paths(how);
        check_time(mode, level, how);
    }
}

Test(e2e_signals, nested_in_four_threads)
{
    signals_check("nested", true);
}

Test(e2e_signals, on_alternate_stacks)
{
    signals_check("alternate", true);
}

Test(e2e_signals, without_the_helper)
{
    char *out = run_well("DWELL_HELPER=off $DWELL record -q $PROGRAMS/signals/signals-O2 nested 20000");
    struct report *r = report_of("");
    check_counts(out, r, 4);
    report_drop(r);
    free(out);
}

static void jump_check(const char *how)
{
    for (int i = 0; i < 6; i++) {
        char *out =
            run_well("$DWELL record -q --mode %s $PROGRAMS/signals/signals%s %s", modes[i / 2], levels[i % 2], how);
        struct report *r = report_of("");
        check_counts(out, r, 5);
        report_drop(r);
        free(out);
        char *paths = report_paths("");
        cr_assert(eq(str, paths,
                     "catcher 500\ncatcher/leaf 500\ncatcher/raiser 500\ncatcher/raiser/jumper 167\n"
                     "catcher/raiser/jumper/handler_leaf 167\n"
                     "catcher/raiser/jumper/handler_leaf/handler_leaf 167\n"
                     "catcher/raiser/raiser 333\ncatcher/raiser/raiser/jumper 167\n"
                     "catcher/raiser/raiser/jumper/handler_leaf 167\n"
                     "catcher/raiser/raiser/jumper/handler_leaf/handler_leaf 167\n"
                     "catcher/raiser/raiser/raiser 166\ncatcher/raiser/raiser/raiser/jumper 166\n"
                     "catcher/raiser/raiser/raiser/jumper/handler_leaf 166\n"
                     "catcher/raiser/raiser/raiser/jumper/handler_leaf/handler_leaf 166\n"),
                  "%s %s %s", how, modes[i / 2], levels[i % 2]);
        free(paths);
    }
}

/* Only the calls on the handlers' stack are recorded. */
static void jump_check_handlers_only(const char *how, const char *options)
{
    for (int i = 0; i < 6; i++) {
        run_well("$DWELL record -q --sample 0 --mode %s %s $PROGRAMS/signals/signals%s %s", modes[i / 2], options,
                 levels[i % 2], how);
        char *paths = report_paths("");
        cr_assert(eq(str, paths, "jumper 500\njumper/handler_leaf 500\njumper/handler_leaf/handler_leaf 500\n"),
                  "%s %s %s %s", how, modes[i / 2], levels[i % 2], options);
        free(paths);
    }
}

Test(e2e_signals, a_handler_left_by_siglongjmp)
{
    static const char *const stacks[] = { "jump", "above" };
    for (int i = 0; i < 2; i++) {
        jump_check(stacks[i]);
        jump_check_handlers_only(stacks[i], "--level out=catcher --level out=raiser --level out=leaf");
        jump_check_handlers_only(stacks[i], "--only jumper --only handler_leaf");
    }
}

/* ---- handlers that leave by siglongjmp, wherever they interrupt ---- */

static uint64_t leaving_body(const char *out, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "%s ", name);
    const char *at = strstr(out, key);
    cr_assert(ne(ptr, (void *)at, NULL), "%s", out);
    return strtoull(at + strlen(key), NULL, 10);
}

/* A call that a handler interrupted before its body counts, too. There is one at most for each jump. */
static void leaving_check_counts(const char *what, const char *out, bool filtered)
{
    struct report *r = report_of("");
    const uint64_t jumps = leaving_body(out, "jumps");
    static const char *const names[] = { "work", "leaf", "leaver", "handler_leaf", "hidden" };
    uint64_t more = 0;
    cr_assert(eq(u64, report_sum(r, "function", "loop", "calls"), 2), "%s", what);
    for (int i = 0; i < 5 - filtered; i++) {
        const uint64_t bodies = leaving_body(out, names[i]), calls = report_sum(r, "function", names[i], "calls");
        cr_assert(ge(u64, calls, bodies), "%s: %s in %s", what, names[i], out);
        more += calls - bodies;
    }
    cr_assert(le(u64, more, jumps), "%s: %s", what, out);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0), "%s", what);
    if (filtered)
        cr_assert(eq(u64, report_sum(r, "function", "hidden", "calls"), 0), "%s", what);
    report_drop(r);
}

/* Each path is one of the program, with handlers' frames above any of them. */
static void leaving_check_paths(const char *what, bool nested)
{
    char *paths = report_paths(""), *rest = paths;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char *path = strndup(line, strcspn(line, " ")), *handler = strstr(path, "/leaver");
        static const char *const own[] = { "loop", "loop/work", "loop/work/leaf", "loop/work/hidden" };
        static const char *const handlers[] = { "/leaver", "/leaver/handler_leaf" };
        bool known = false, known_handler = !handler;
        while (handler) {
            char *next = strstr(handler + 1, "/leaver");
            const size_t length = next ? (size_t)(next - handler) : strlen(handler);
            for (int i = 0; i < 2; i++)
                known_handler |= strlen(handlers[i]) == length && strncmp(handlers[i], handler, length) == 0;
            cr_assert(known_handler && (!next || nested), "%s: %s", what, line);
            *handler = '\0';
            handler = next;
        }
        for (int i = 0; i < 4; i++)
            known |= strcmp(own[i], path) == 0;
        cr_assert(known, "%s: %s", what, line);
        free(path);
    }
    free(paths);
}

static void leaving_check(const char *how, const char *options)
{
    static const char *const all_modes[] = { "trace", "ring=1G", "profile" };
    for (int i = 0; i < 6; i++) {
        const char *mode = all_modes[i / 2], *level = levels[i % 2];
        char *what = NULL;
        cr_assert(gt(int, asprintf(&what, "%s --mode %s %s %s", how, mode, options, level), 0));
        char *out = run_well("$DWELL record -q --mode %s %s $PROGRAMS/signals/leaving%s %s %d", mode, options, level,
                             how, test_rounds(1500));
        leaving_check_counts(what, out, *options == '-' && strstr(options, "suppress"));
        leaving_check_paths(what, strcmp(how, "nested") == 0);
        free(out);
        free(what);
    }
}

Test(e2e_signals, handlers_that_leave)
{
    leaving_check("loud", "");
}

Test(e2e_signals, handlers_that_leave_without_a_frame)
{
    leaving_check("silent", "");
}

Test(e2e_signals, handlers_that_leave_each_other)
{
    leaving_check("nested", "");
}

Test(e2e_signals, handlers_that_leave_with_call_sites)
{
    leaving_check("loud", "--call-sites");
    leaving_check("silent", "--call-sites");
}

Test(e2e_signals, handlers_that_leave_with_filters)
{
    leaving_check("loud", "--suppress hidden");
    leaving_check("nested", "--suppress hidden --call-sites");
}

Test(e2e_signals, a_handler_that_never_returns)
{
    signals_check("never", false);
    char *paths = report_paths("");
    cr_assert(eq(
        str, paths,
        "raiser 1\nraiser/finisher 1\nraiser/finisher/fflush 1\nraiser/finisher/work 1000\nraiser/finisher/work/leaf 1000\n"
        "raiser/finisher/work/work 1000\nraiser/finisher/work/work/leaf 1000\n"));
    free(paths);
}
