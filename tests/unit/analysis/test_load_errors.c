/* The exact text of each error of loading. After an error, there is nothing to drop. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "analysis/live.h"
#include "base/memory.h"
#include "support/example.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_load_errors);

static const char *load_errors_save(const char *name, struct writer *w)
{
    writer_save(w, test_path(name));
    writer_free(w);
    return test_path(name);
}

static const char *load_errors_save_text(const char *name, const char *text)
{
    FILE *out = fopen(test_path(name), "w");
    fputs(text, out);
    fclose(out);
    return test_path(name);
}

/* The load must fail with that text, in which names of files are without the test's folder. */
static void load_errors_expect(const char *path, const struct analysis_options *options, const char *wanted)
{
    struct analysis analysis;
    struct error error = { NULL };
    cr_assert(not(analysis_load(&analysis, path, options, &error)));
    char *whole = need_text("%s%s%s", error.text, error.list ? "\n" : "", error.list ? error.list : "");
    const char *text = whole;
    if (error.list)
        whole[strlen(whole) - 1] = '\0'; /* the end of the last line */
    if (strncmp(text, test_folder(), strlen(test_folder())) == 0)
        text += strlen(test_folder()) + 1;
    cr_assert(eq(str, (char *)text, (char *)wanted));
    free(whole);
    error_drop(&error);
}

Test(unit_load_errors, files)
{
    const struct analysis_options whole = { 0 };
    load_errors_expect(test_path("none"), &whole, "none: No such file or directory");
    load_errors_expect(load_errors_save_text("empty", ""), &whole, "empty: the file is empty");
    load_errors_expect(load_errors_save_text("text", "some words"), &whole, "text: not a dwell session");
}

Test(unit_load_errors, call_sites)
{
    const struct analysis_options options = { .lines = LINES_NEEDED };
    load_errors_expect(load_errors_save("plain", example_small()), &options,
                       "plain: recorded without call sites; record again with --call-sites");
}

static void load_errors_expect_part(struct selection_moment from, struct selection_moment to, const char *root,
                                    const char *wanted)
{
    struct analysis_options options = { .selection = { .from = from, .to = to } };
    if (root)
        selection_add_name(&options.selection.roots, root);
    load_errors_expect(load_errors_save("part", example_session(SOURCE_PERF)), &options, wanted);
    selection_request_drop(&options.selection);
}

Test(unit_load_errors, parts)
{
    const struct selection_moment none = { 0 };
    load_errors_expect_part((struct selection_moment){ true, NULL, 2000 },
                            (struct selection_moment){ true, NULL, 1000 }, NULL, "part: --from is not before --to");
    load_errors_expect_part((struct selection_moment){ true, "nowhere", 0 }, none, NULL,
                            "part: --from: no mark 'nowhere'; dwell marks lists them");
    load_errors_expect_part(none, (struct selection_moment){ true, "77", 0 }, NULL,
                            "part: --to: no mark '77'; dwell marks lists them");
    load_errors_expect_part(none, none, "nothing",
                            "part: no function 'nothing' was recorded; dwell report -s name lists them");
    load_errors_expect_part(
        none, none, "handl(",
        "part: no function 'handl(' was recorded; did you mean 'handle'? dwell report -s name lists them");
    load_errors_expect_part(none, none, "main", "'main' names 2 functions; type one of:\n  main@shop\n  main@worker");
}

Test(unit_load_errors, names_of_threads_and_processes)
{
    struct analysis_options options = { 0 };
    selection_add_name(&options.selection.selection.threads, "pricin");
    load_errors_expect(load_errors_save("names", example_session(SOURCE_PERF)), &options,
                       "names: no thread 'pricin'; did you mean 'pricing'? dwell report --by thread lists them");
    selection_request_drop(&options.selection);
    options = (struct analysis_options){ 0 };
    selection_add_name(&options.selection.selection.processes, "4711");
    load_errors_expect(test_path("names"), &options, "names: no process '4711'; dwell report --by process lists them");
    selection_request_drop(&options.selection);
}

Test(unit_load_errors, sums_have_no_times)
{
    const struct tree_node nodes[] = { { .function = 0x401000, .calls = 1, .elapsed = 10 } };
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 11, SOURCE_PERF, "t");
    write_tree(w, 1, 1, nodes, 1);
    write_header(w, offsetof(struct dwell_file_header, mode), DWELL_MODE_PROFILE, 4);
    const struct analysis_options options = { .selection = { .from = { true, NULL, 1 } } };
    load_errors_expect(
        load_errors_save("sums", w), &options,
        "sums: recorded in mode profile, so it has sums without times and cannot be cut by --from and --to");
}

Test(unit_load_errors, a_moment)
{
    struct selection_moment moment;
    EXPECT_ERROR(selection_moment_parse("--from", "soon", &moment, &error),
                 "--from: 'soon' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded");
    EXPECT_SUCCESS(selection_moment_parse("--from", "mark:x", &moment, &error));
    cr_assert(eq(str, (char *)moment.mark, "x"));
}

Test(unit_load_errors, several)
{
    struct analysis analysis;
    char *one = strdup(load_errors_save("one", example_small())),
         *two = strdup(load_errors_save("two", example_small()));
    const char *const paths[] = { one, two, "/nowhere/three" };
    const struct analysis_options options = { .selection = { .from = { true, NULL, 1 } } };
    EXPECT_ERROR(analysis_load_several(&analysis, paths, 2, &options, &error),
                 "--from, --to, --thread, --process and --root take one session at a time");
    EXPECT_ERROR(analysis_load_several(&analysis, paths, 3, &(struct analysis_options){ 0 }, &error),
                 "/nowhere/three: No such file or directory");
    EXPECT_SUCCESS(analysis_load_several(&analysis, paths, 2, &(struct analysis_options){ 0 }, &error));
    analysis_drop(&analysis);
    free(one);
    free(two);
}

/* The analysis stays when the file breaks, and reading continues when the file is whole again. */
Test(unit_load_errors, a_session_that_is_watched)
{
    const struct analysis_options options = { .jobs = 1 };
    uint64_t left;
    EXPECT_ERROR(live_open("/nowhere/live", "live", &options, &error), "live: No such file or directory");
    struct live *live;
    EXPECT_SUCCESS(live = live_open(load_errors_save("live", example_small()), "live", &options, &error));
    EXPECT_SUCCESS(live_read(live, &left, &error));
    const uint64_t calls = live->whole.rollup->session.calls;
    cr_assert(gt(u64, calls, 0));
    FILE *out = fopen(test_path("live"), "w"); /* in place: the descriptor stays */
    fclose(out);
    EXPECT_ERROR(live_read(live, &left, &error), "live: the file is empty");
    cr_assert(eq(u64, live->whole.rollup->session.calls, calls));
    live_close(live);
}
