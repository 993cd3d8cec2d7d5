/* Files that cannot be read: every command prints one clear error line and nothing else. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/run.h"
#include "support/scenario.h"

static void errors_save_session(void)
{
    struct writer *w = example_small();
    writer_save(w, test_path("small.dwell"));
    writer_free(w);
}

TestSuite(golden_errors, .init = errors_save_session, .timeout = 300);

static void errors_expect_line(const char *command, const char *file, const char *wrong)
{
    char wanted[512], wanted_json[512] = "";
    snprintf(wanted, sizeof wanted, "dwell: %s: %s\n", file, wrong);
    struct ran r = run("$DWELL %s", command);
    cr_assert(eq(int, r.status, 2), "dwell %s", command);
    if (strstr(command, "--format json"))
        snprintf(wanted_json, sizeof wanted_json,
                 "{\"schema\": \"dwell-error-1\",\n \"error\": {\"code\": \"%s\", \"message\": \"%s: %s\"}}\n",
                 strcmp(wrong, "No such file or directory") == 0 ? "no-session" : "failed", file, wrong);
    cr_assert(eq(str, r.out, wanted_json));
    cr_assert(eq(str, r.err, wanted));
    ran_drop(&r);
}

/* Nothing else is on standard output, however the options are written. */
Test(golden_errors, of_the_command_line_as_json)
{
    static const char wanted[] = "{\"schema\": \"dwell-error-1\",\n \"error\": {\"code\": \"usage\", \"message\": "
                                 "\"--limit: 'x' is not a number\"}}\n";
    static const char *const commands[] = { "report -n x --format json", "tree --no-pager --format=json -n x",
                                            "marks --format json --limit=x", "waits --fo json -n x" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s small.dwell", commands[i]);
        const bool has_option = i != 1; /* tree has no --limit */
        cr_assert(eq(int, r.status, 2));
        if (has_option)
            cr_assert(eq(str, r.out, (char *)wanted), "%s", commands[i]);
        else
            cr_assert(has(r.out, "\"code\": \"usage\""), "%s", r.out);
        ran_drop(&r);
    }
    struct ran r = run("$DWELL record nothing-here --format json");
    cr_assert(eq(int, r.status, 127));
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

/* Also what only a command can know, or the session, and an unknown command. */
Test(golden_errors, of_the_command_line_after_its_options_as_json)
{
    static const char *const commands[] = {
        "callers --format json",
        "callers --format json small.dwell",
        "histogram --format json",
        "whatif --format json",
        "diff small.dwell --format json",
        "diff a.data b.data c.data --format json",
        "report small.dwell --format json --columns nosuch",
        "report small.dwell --format json --filter 'nosuch>1'",
        "callers small.dwell x.so+0x1000 --format json --columns nosuch",
        "tree --columns nosuch --format=json small.dwell",
        "diff small.dwell small.dwell --format json --columns nosuch",
        "replay small.dwell --format json --last 1 -n 1",
        "nosuch --format json",
        "flamegraph small.dwell --format=json",
        "-n --format json",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s", commands[i]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i]);
        cr_assert(has(r.out, "{\"schema\": \"dwell-error-1\",\n \"error\": {\"code\": \"usage\", "), "%s: %s",
                  commands[i], r.out);
        ran_drop(&r);
    }
}

/* Other views take a function there. */
Test(golden_errors, a_function_where_tree_takes_sessions)
{
    static const char *const commands[] = { "tree main small.dwell", "tree small.dwell main", "tree main" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("$DWELL %s", commands[i]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i]);
        cr_assert(eq(str, r.err,
                     "dwell: tree: takes sessions, and 'main' is no file. For a function: dwell callers main, "
                     "or dwell tree --root main\n"));
        ran_drop(&r);
    }
}

/* What the session lacks is no error of the command line. */
Test(golden_errors, of_the_session_as_json)
{
    static const char *const commands[][2] = {
        { "callers nosuch small.dwell --format json", "failed" },
        { "diff small.dwell missing.dwell --format json", "no-session" },
        { "callers main missing.dwell --format json", "no-session" },
        { "replay missing.dwell --format json", "no-session" },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char code[64];
        struct ran r = run("$DWELL %s", commands[i][0]);
        snprintf(code, sizeof code, "{\"code\": \"%s\", ", commands[i][1]);
        cr_assert(eq(int, r.status, 2), "%s", commands[i][0]);
        cr_assert(has(r.out, code), "%s: %s", commands[i][0], r.out);
        ran_drop(&r);
    }
}

static void expect_errors(const char *file, const char *wrong)
{
    static const char *const commands[][2] = {
        { "report", "" }, { "report --format json", "" }, { "tree", "" }, { "info", "" }, { "callers", "main" },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[256];
        snprintf(command, sizeof command, "%s %s %s", commands[i][0], file, commands[i][1]);
        errors_expect_line(command, file, wrong);
    }
}

Test(golden_errors, no_such_file)
{
    expect_errors("missing.dwell", "No such file or directory");
}

Test(golden_errors, an_empty_file)
{
    free(run_well(": >empty"));
    expect_errors("empty", "the file is empty");
}

Test(golden_errors, a_directory)
{
    free(run_well("mkdir -p folder"));
    expect_errors("folder", "is a directory");
}

Test(golden_errors, a_file_that_is_not_a_session)
{
    expect_errors("/bin/sh", "not a dwell session");
    expect_errors("/dev/null", "not a regular file");
    expect_errors("/dev/zero", "not a regular file");
}

Test(golden_errors, a_truncated_file)
{
    free(run_well("head -c 143 small.dwell >cut"));
    expect_errors("cut", "truncated within its header");
}

Test(golden_errors, a_session_of_a_newer_version)
{
    free(run_well("cp small.dwell future; printf '\\002' | dd of=future bs=1 seek=8 conv=notrunc"));
    expect_errors("future", "written by a newer version of dwell");
}

Test(golden_errors, no_permission)
{
    /* Root may read everything, so the test uses another user, who may read the folder of the configuration. */
    struct ran r = run("chmod 755 .; cp small.dwell closed; chmod 0 closed; if [ $(id -u) = 0 ]; then "
                       "XDG_CONFIG_HOME=$PWD setpriv --reuid 65534 --regid 65534 --clear-groups $DWELL report closed; "
                       "else $DWELL report closed; fi");
    cr_assert(eq(int, r.status, 2), "%s", r.err);
    cr_assert(eq(str, r.err, "dwell: closed: Permission denied\n"));
    ran_drop(&r);
}

/* A session may name any file as a module. The search for its symbols must not wait for a writer of a pipe. */
Test(golden_errors, a_module_that_is_a_pipe)
{
    struct writer *w = writer_new();
    write_process(w, 1, 1, "/bin/prog");
    write_thread(w, 1, 1, 1, SOURCE_PERF, "main");
    write_module(w, 1, 1, 0, 0, 0x10000, 0, test_path("pipe"));
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_exit(w, 20);
    writer_save(w, test_path("pipe.dwell"));
    writer_free(w);
    struct ran r = run("mkfifo pipe; timeout 300 $DWELL report pipe.dwell");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.out, "pipe+0x1000"));
    ran_drop(&r);
}

/* The program is not started then. A session in which all functions were timed is only remarked upon. */
Test(golden_errors, levels_from)
{
    static const char *const wrong[][2] = { { "missing.dwell", "No such file or directory" },
                                            { "/bin/sh", "not a dwell session" },
                                            { "cut", "truncated within its header" } };
    free(run_well("head -c 143 small.dwell >cut"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char wanted[256];
        struct ran r = run("$DWELL record --levels-from %s echo started", wrong[i][0]);
        snprintf(wanted, sizeof wanted, "dwell: --levels-from: %s: %s\n", wrong[i][0], wrong[i][1]);
        cr_assert(eq(int, r.status, 125));
        cr_assert(eq(str, r.out, ""));
        cr_assert(eq(str, r.err, wanted));
        ran_drop(&r);
    }
    struct ran r = run("$DWELL record -q --levels-from small.dwell echo started");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.out, "started\n"));
    cr_assert(has(r.err, "dwell: --levels-from: small.dwell: all functions were timed at its end\n"), "%s", r.err);
    ran_drop(&r);
}
