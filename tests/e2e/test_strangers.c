/*
 * Files of the runtime and other users: what it creates is its user's alone, it follows no link, and it joins no
 * session that somebody else owns or may write to. No reader can keep the owner from recording.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_strangers, .timeout = 300, .init = without_os_calls);

#define HAND(session, program) "DWELL_LOG=stderr DWELL_OUTPUT=" session " LD_PRELOAD=$RUNTIME " program
#define AS_STRANGER "setpriv --reuid=54321 --regid=54321 --clear-groups "

static void strangers_need_root(void)
{
    if (geteuid() != 0)
        cr_skip_test("only root may act as another user");
}

static void strangers_expect(const char *out, const char *expected)
{
    cr_assert(eq(str, (char *)out, (char *)expected));
}

/* Begins a recording by hand of a program that ends when the file `go` exists, runs `commands`, and waits for it. */
static struct ran during_recording(const char *commands)
{
    return run(
        HAND(
            "$PWD/x",
            "sh -c '$SAMPLES/fib 3 >begun; while ! test -e go; do sleep 0.02; done'") " & "
                                                                                      "while ! test -s begun; do sleep 0.02; done; { %s\n} ; s=$?; touch go; wait; exit $s",
        commands);
}

Test(e2e_strangers, files_are_their_users_alone)
{
    char *out = run_well(
        "umask 0; $DWELL record -q $SAMPLES/fib 3 >/dev/null; $DWELL record -q $SAMPLES/fib 4 >/dev/null; " HAND(
            "$PWD/hand",
            "$SAMPLES/fib 3 >/dev/null") "; mkdir logs; DWELL_PERFLOG=logs/ $PROGRAMS/perflog/perflog-c99-gcc >/dev/null; "
                                         "DWELL_PERFLOG=named $PROGRAMS/perflog/perflog-c99-gcc >/dev/null; stat -c %%a dwell.data dwell.data.old hand logs/* named");
    strangers_expect(out, "600\n600\n600\n600\n600\n");
    free(out);
    struct ran r =
        during_recording("umask 0; $DWELL control $(pgrep -P $! fib || echo $!) dump -o $PWD/copy && stat -c %a copy");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    strangers_expect(r.out, "600\n");
    ran_drop(&r);
}

#define LINK "dwell: DWELL_OUTPUT names a symbolic link, which is not followed; nothing is recorded\n"

/* A folder may be a link. A link to a finished session is renamed like a session, which stays as it is. */
Test(e2e_strangers, links_are_not_followed)
{
    struct ran r =
        run("mkdir real; ln -s real folder; " HAND("$PWD/folder/x", "$SAMPLES/fib 3 >/dev/null") " && test -s real/x");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    strangers_expect(r.err, "");
    ran_drop(&r);
    r = run("ln -s real/x link; cp real/x before; " HAND(
        "$PWD/link", "$SAMPLES/fib 3 >/dev/null") "; cmp before real/x && "
                                                  "test ! -h link && test -h link.old");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    r = run("ln -s nowhere dangling; " HAND("$PWD/dangling", "$SAMPLES/fib 3 >/dev/null") "; test ! -e nowhere");
    cr_assert(eq(int, r.status, 0));
    strangers_expect(r.err, LINK);
    ran_drop(&r);
    r = run("$DWELL record -o dangling $SAMPLES/fib 3");
    cr_assert(eq(int, r.status, 125));
    strangers_expect(r.err, "dwell: dangling: a symbolic link, which is not followed; name the file itself with -o\n");
    ran_drop(&r);
    r = during_recording("ln -s x to_x; " HAND("$PWD/to_x", "$SAMPLES/fib 3 >/dev/null") " 2>refused; cat refused");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    strangers_expect(r.out, LINK);
    ran_drop(&r);
    char *out = run_well("$DWELL report --by process --format csv x | grep -c fib");
    strangers_expect(out, "1\n");
    free(out);
}

Test(e2e_strangers, dumps_follow_no_link)
{
    struct ran r = during_recording(
        "$DWELL record -q -o old $SAMPLES/fib 3 >/dev/null; cp old before; ln -s old link; ln -s nowhere dangling; "
        "! $DWELL control $! dump -o $PWD/link && ! $DWELL control $! dump -o $PWD/dangling && cmp old before && "
        "! test -e nowhere && $DWELL control $! dump -o $PWD/old && ! cmp -s old before");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

/* An older session of this user is replaced; one that others may write to, or that is being written, is not. */
Test(e2e_strangers, dumps_replace_only_ones_own_old_sessions)
{
    struct ran r = during_recording(
        "for f in own shared public; do $DWELL record -q -o $f $SAMPLES/fib 3 >/dev/null; cp $f $f.before; done; "
        "chmod 620 shared; chmod 602 public; ! $DWELL control $! dump -o $PWD/shared && ! $DWELL control $! dump -o $PWD/public && "
        "cmp shared shared.before && cmp public public.before && $DWELL control $! dump -o $PWD/own && ! cmp -s own own.before && "
        "! $DWELL control $! dump -o $PWD/x");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    r = run(
        "rm -f go begun; $DWELL record -q -o other sh -c '$SAMPLES/fib 3 >begun; while ! test -e go; do sleep 0.02; done' & "
        "while ! test -s begun; do sleep 0.02; done; rm begun; " HAND(
            "$PWD/y",
            "sh -c '$SAMPLES/fib 3 >begun; while ! test -e go; do sleep 0.02; done'") " & pid=$!; "
                                                                                      "while ! test -s begun; do sleep 0.02; done; ! $DWELL control $pid dump -o $PWD/other; s=$?; touch go; wait; "
                                                                                      "$DWELL report other >/dev/null || s=9; exit $s");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

#define PUBLIC "dwell: DWELL_OUTPUT names a session that another user owns or may write to; nothing is recorded\n"

/* Each program joins if it may. The number of processes shows which did. */
Test(e2e_strangers, sessions_that_others_may_write_to_are_not_joined)
{
    struct ran r = during_recording("for m in 620 602 666; do chmod $m x; " HAND(
        "$PWD/x", "$SAMPLES/fib 3 >/dev/null") " 2>>refused; done; "
                                               "chmod 644 x; " HAND("$PWD/x", "$SAMPLES/fib 3 >/dev/null"));
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    char *refused = run_well("cat refused");
    strangers_expect(refused, PUBLIC PUBLIC PUBLIC);
    free(refused);
    char *out = run_well("$DWELL report --by process --format csv x | grep -c fib");
    strangers_expect(out, "2\n");
    free(out);
}

Test(e2e_strangers, sessions_of_others_are_not_joined)
{
    strangers_need_root();
    struct ran r =
        during_recording("chown 54321 x; " HAND("$PWD/x", "$SAMPLES/fib 3 >/dev/null") " 2>refused; cat refused");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    strangers_expect(r.out, PUBLIC);
    ran_drop(&r);
    char *out = run_well("$DWELL report --by process --format csv x | grep -c fib");
    strangers_expect(out, "1\n");
    free(out);
}

#define LOG_IN(folder) "DWELL_PERFLOG=" folder "/ $PROGRAMS/perflog/perflog-c99-gcc >/dev/null"

/* A log whose name the library chooses follows no link, and is no file of another user. A file that the user names may
 * be a link. */
Test(e2e_strangers, logs_in_a_folder)
{
    free(run_well("mkdir logs; " LOG_IN(
        "logs") "; name=$(ls logs); test -n \"$name\"; mv logs/$name kept; cp kept before; "
                "ln -s $PWD/kept logs/$name; { " LOG_IN(
                    "logs") "; cmp kept before; } || exit 1; ln -s logs linked; "
                            "rm logs/$name; " LOG_IN(
                                "linked") "; test -s logs/$name || exit 2; "
                                          "DWELL_PERFLOG=logs/../kept $PROGRAMS/perflog/perflog-c99-gcc >/dev/null; ! cmp -s kept before"));
}

Test(e2e_strangers, logs_of_other_users)
{
    if (geteuid() != 0)
        cr_skip_test("only root may give a file to another user");
    free(run_well("mkdir logs; " LOG_IN("logs") "; cp logs/* before"));
    free(run_well(
        "name=$(ls logs); cp before logs/$name; chown 54321 logs/$name; " LOG_IN("logs") "; "
                                                                                         "cmp before logs/$name"));
}

/* Holds a lock of each kind on a readable session, as another user and as its owner. */
Test(e2e_strangers, locks_of_readers)
{
    static const char *const locks[] = { "flock-shared", "flock-exclusive", "posix", "ofd" };
    for (int owner = geteuid() != 0; owner < 2; owner++)
        for (int i = 0; i < 4; i++)
            free(run_well("rm -f held; chmod 755 .; cp $PROGRAMS/scarcity/holder .; chmod 755 holder; "
                          "$DWELL record -q $SAMPLES/fib 3 >/dev/null; chmod 644 dwell.data; "
                          "%s ./holder %s dwell.data >held & while ! test -s held; do sleep 0.01; done; "
                          "$DWELL record -q $SAMPLES/fib 4 >/dev/null; s=$?; kill $!; exit $s",
                          owner ? "" : AS_STRANGER, locks[i]));
}

/* A stranger has put links where an output goes, in a folder for everybody. Without them, links are followed. */
Test(e2e_strangers, outputs_follow_no_link_of_others)
{
    need_features("perflog");
    strangers_need_root();
    free(
        run_well("$DWELL record -q $SAMPLES/fib 5 >/dev/null; mkdir -m 1777 open; echo mine >mine; cp mine same; chmod "
                 "711 .; for i in link other; do ln -s $PWD/mine open/$i; chown -h 54321 open/$i; done; "
                 "ln -s link open/to-link; mkfifo -m 666 open/pipe; chown 54321 open/pipe"));
    static const char *const commands[] = {
        "view --no-open --force", "export callgrind", "export chrome",    "export pprof",   "export speedscope",
        "export firefox",         "export perfetto",  "export collapsed", "export perflog", "events"
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s -o open/link dwell.data", commands[i]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i]);
        cr_assert(has(r.err, "dwell: open/link: a symbolic link of another user, in a folder that everybody may write "
                             "to; choose another name\n"),
                  "%s: %s", commands[i], r.err);
        ran_drop(&r);
        free(run_well("cmp mine same"));
    }
    static const char *const others[] = { "to-link", "pipe" };
    for (size_t i = 0; i < 2; i++) {
        struct ran r = run("timeout 60 $DWELL export callgrind -o open/%s dwell.data", others[i]);
        cr_assert(eq(int, r.status, 2), "%s", others[i]);
        ran_drop(&r);
        free(run_well("cmp mine same"));
    }
    free(run_well("ln -s $PWD/mine open/own; $DWELL export callgrind -o open/own dwell.data; head -1 mine | grep -q "
                  "callgrind; test -L open/own"));
    free(run_well("cp same mine; rm open/link; mkdir closed; ln -s $PWD/mine closed/link; chown -h 54321 closed/link; "
                  "$DWELL export callgrind -o closed/link dwell.data; ! cmp -s mine same"));
}

/* An older file gives its permissions only if it is this user's own. */
Test(e2e_strangers, outputs_are_not_as_open_as_files_of_others)
{
    strangers_need_root();
    char *out =
        run_well("umask 022; $DWELL record -q $SAMPLES/fib 5 >/dev/null; : >theirs; chown 54321 theirs; : >own; "
                 "chmod 666 theirs own; for i in theirs own; do $DWELL export callgrind -o $i; done; stat -c %%a "
                 "theirs own");
    strangers_expect(out, "644\n666\n");
    free(out);
}
