/* Control callbacks: a provider learns that a session enables or disables it, at which level (dwell/event.h). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_event_control, .timeout = 300);

static char *control_serve(const char *options, const char *script)
{
    return run_well("mkfifo in out; $DWELL record -q %s $PROGRAMS/events/events-callback served < in > out & "
                    "recorder=$!\nexec 3> in 4< out; line() { read answer <&4; echo \"$answer\"; }; line; line; "
                    "read pid <&4; control() { $DWELL control $pid \"$@\" > remarks 2>&1; line; }\n"
                    "%s\necho end >&3; exec 3>&-; wait $recorder; rm in out",
                    options, script);
}

/* The controller specifies the level, and the provider retrieves it in its implementation of ControlCallback. */
Test(e2e_event_control, the_provider_retrieves_the_level_in_its_control_callback)
{
    char *out = control_serve("", "control event shop:2; control event '*:5'; control event shop:off; "
                                  "control event shop:0; control stop");
    cr_assert(eq(str, out,
                 "register 0\nadd 0\nenable shop 2 1 2\nenable shop 5 1 5\ndisable shop 0 0 -1\nenable shop 0 1 0\n"
                 "disable shop 0 0 0\n"),
              "%s", out);
    free(out);
}

/* Events are recorded during a pause, so the class stays enabled. Only the flag changes. */
Test(e2e_event_control, a_pause_changes_the_flags)
{
    char *out = control_serve("--event shop:4 --paused", "line; control resume; control pause; control resume");
    cr_assert(
        eq(str, out, "register 0\nadd 0\nenable shop 4 0 4\nenable shop 4 1 4\nenable shop 4 0 4\nenable shop 4 1 4\n"),
        "%s", out);
    free(out);
    char *rows = run_well("$DWELL events --format csv | tr -d '\\r' | grep -c 'dwell-control.*in callback'");
    cr_assert(eq(str, rows, "4\n"), "%s", rows);
    free(rows);
    rows = run_well("$DWELL report --by function --format csv | grep -c on_control");
    cr_assert(eq(str, rows, "1\n"), "%s", rows);
    free(rows);
}

Test(e2e_event_control, the_programs_own_switches_and_removing)
{
    static const char *const modes[] = { "trace", "ring=1G", "profile" };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char *out =
            run_well("$DWELL record -q --mode %s --event shop:3 $PROGRAMS/events/events-callback own", modes[i]);
        cr_assert(eq(str, out,
                     "register 0\nadd 0\nenable shop 3 1 3\nenable shop 3 0 3\nenable shop 3 1 3\nagain 0\nremove 0\n"
                     "remove 21\nadd 0\nenable shop 3 1 3\nunregister 0\nadd 21\n"),
                  "%s: %s", modes[i], out);
        free(out);
    }
}

Test(e2e_event_control, without_the_helper)
{
    free(run_well("DWELL_HELPER=off $DWELL record -q --event shop:3 $PROGRAMS/events/events-callback own > out && "
                  "test $(grep -c enable out) = 4"));
}

Test(e2e_event_control, forked_children_have_callbacks_after_they_register)
{
    char *out = run_well("$DWELL record -q --event shop:3 $PROGRAMS/events/events-callback family");
    cr_assert(eq(str, out, "register 0\nadd 0\nenable shop 3 1 3\nchild 1\nenable shop 3 0 3\nchild's end\n"), "%s",
              out);
    free(out);
}

Test(e2e_event_control, the_thread_of_callbacks_ends_with_them)
{
    char *out = run_well("timeout 300 $DWELL record -q --event shop:3 $PROGRAMS/events/events-callback last");
    cr_assert(eq(str, out, "register 0\nadd 0\nenable shop 3 1 3\nremove 0\n"), "%s", out);
    free(out);
}

Test(e2e_event_control, a_callback_removes_itself)
{
    char *out = run_well("$DWELL record -q --event shop:3 $PROGRAMS/events/events-callback self");
    cr_assert(eq(str, out, "register 0\nadd 0\nremove 0\nenable shop 3 1 3\n"), "%s", out);
    free(out);
}
