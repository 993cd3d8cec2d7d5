/* Compares every number of a page with the reports of the same handmade sessions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/exported.h"
#include "support/features.h"
#include "support/model.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed_report.h"

TestSuite(golden_view, .timeout = 300);

enum { TICKS_PER_SECOND = 64 };

static void save_page_session(struct writer *w, const char *name, uint64_t ticks_per_second)
{
    if (ticks_per_second)
        write_header(w, TICKS_PER_SECOND, ticks_per_second, 8);
    writer_save(w, test_path(name));
    writer_free(w);
}

Test(golden_view, values_of_the_reports)
{
    save_page_session(example_session(SOURCE_PERF), "example.dwell", 0);
    check_page("example.dwell");
    save_page_session(example_session(SOURCE_PERF), "odd.dwell",
                      2596089575); /* each value is rounded to a nanosecond */
    check_page("odd.dwell");
    save_page_session(example_session(SOURCE_RSEQ), "rseq.dwell", 0);
    check_page("rseq.dwell");
    save_page_session(example_session(SOURCE_NONE), "blind.dwell", 0);
    check_page("blind.dwell");
    save_page_session(writer_new(), "empty.dwell", 0);
    check_page("empty.dwell");
}

Test(golden_view, random_sessions)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct model *m = model_new(seed);
        save_page_session(model_write(m, (unsigned)seed * 10, 0), "random.dwell", seed * 777777777);
        model_free(m);
        check_page("random.dwell");
    }
}

Test(golden_view, parts_of_sessions)
{
    save_page_session(example_session(SOURCE_PERF), "example.dwell", 0);
    check_page("--thread pricing example.dwell");
    check_page("--process worker example.dwell");
    check_page("--from 110us --to 150us example.dwell");
}

/* Makes NAME.dwell of the report. */
static void import_report(const char *name, const char *report)
{
    char file[32];
    snprintf(file, sizeof file, "%s.csv", name);
    FILE *out = fopen(test_path(file), "w");
    cr_assert(out != NULL);
    fputs(report, out);
    fclose(out);
    free(run_well("$DWELL import vsperf %s.csv -o %s.dwell", name, name));
}

/* Reports of another profiler: numbers of samples, and functions with exact sums although their call tree is
 * estimated. */
Test(golden_view, imports)
{
    need_features("vsperf");
    static const char sampled[] = "Type,Function Name,Inclusive Samples,Exclusive Samples\n"
                                  "Root,main,14,1\nCallee,one,9,5\nCallee,two,4,4\n"
                                  "Root,one,9,5\nCaller,main,9,5\nCallee,two,4,4\n"
                                  "Root,two,8,8\nCaller,main,4,4\nCaller,one,4,4\n";
    static const char traced[] = "Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Number of Calls\n"
                                 "Root,main,100,10,1\nCallee,one,90,50,3\nCallee,two,0,0,1\n"
                                 "Root,one,90,50,3\nCaller,main,90,50,3\nCallee,two,40,40,3\n"
                                 "Root,two,40,40,4\nCaller,main,0,0,1\nCaller,one,40,40,3\n";
    import_report("sampled", sampled);
    check_page("sampled.dwell");
    struct viewed_page page = viewed_page(test_path("page.html"));
    cr_assert(json_object_get_boolean(viewed_get(viewed_session(&page, 0)->header, "samples")));
    viewed_page_drop(&page);
    import_report("traced", traced);
    check_page("traced.dwell");
}

static struct json_object *session_with_name(const struct viewed *v, const char *name)
{
    struct json_object *functions = viewed_get(v->header, "functions");
    for (size_t i = 0; i < json_object_array_length(functions); i++)
        if (strcmp(viewed_text(json_object_array_get_idx(functions, i), "name"), name) == 0)
            return json_object_array_get_idx(functions, i);
    return NULL;
}

/* With any names, the page's own text is only the template and base64. */
Test(golden_view, names_of_all_kinds)
{
    save_page_session(bad_session(), "bad.dwell", 0);
    check_page("bad.dwell");
    struct viewed_page page = viewed_page(test_path("page.html"));
    for (int i = 0; i < BAD_NAMES; i++) {
        const char *name = i == BAD_BYTES ? "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd" : bad_names[i];
        struct json_object *function = session_with_name(viewed_session(&page, 0), name);
        cr_assert(function != NULL, "%s", name);
        cr_assert(eq(str, (char *)viewed_text(function, "file"), "/src/a \"b\".c"));
        cr_assert(eq(u64, json_object_get_uint64(viewed_get(function, "line")), 10 + (uint64_t)i));
    }
    struct json_object *thread = json_object_array_get_idx(viewed_get(viewed_session(&page, 0)->header, "threads"), 0);
    cr_assert(eq(str, (char *)viewed_text(thread, "name"), "th\nread"));
    viewed_page_drop(&page);
    /* apart from the base64, the page is the same for every session */
    save_page_session(example_session(SOURCE_PERF), "example.dwell", 0);
    free(run_well(
        "$DWELL view --no-open -o good.html example.dwell\n"
        "rest() { sed '/^<script type=\"application.x-dwell\" [-a-z0-9 =\"]*>[A-Za-z0-9+/=]*<.script>$/d' $1; }\n"
        "rest page.html >bad.rest; rest good.html >good.rest; test -s good.rest && cmp bad.rest good.rest"));
}

/* The base session comes first. */
Test(golden_view, two_sessions)
{
    save_page_session(example_session(SOURCE_PERF), "one.dwell", 0);
    save_page_session(example_session(SOURCE_NONE), "two.dwell", 0);
    free(run_well("$DWELL view --no-open -o page.html one.dwell two.dwell"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    check_viewed(viewed_session(&page, 0), "one.dwell");
    check_viewed(viewed_session(&page, 1), "two.dwell");
    for (size_t i = 0; i < page.count; i++) /* each session's blocks follow it */
        cr_assert(i == 0 || page.parts[i].session > page.parts[i - 1].session ||
                  (page.parts[i].session == page.parts[i - 1].session && strcmp(page.parts[i].kind, "block") == 0));
    viewed_page_drop(&page);
}

/* The same marks and events as `dwell marks` and `dwell events` print. */
Test(golden_view, marks_and_events)
{
    save_page_session(example_session(SOURCE_PERF), "example.dwell", 0);
    check_page("example.dwell");
    struct viewed_page page = viewed_page(test_path("page.html"));
    const struct viewed *v = viewed_session(&page, 0);
    char *text = run_well("$DWELL marks --format json example.dwell");
    struct json_object *root = json_tokener_parse(text), *rows = viewed_get(root, "rows");
    struct json_object *names = viewed_get(v->header, "mark_names"), *threads = viewed_get(v->header, "threads");
    cr_assert(eq(sz, viewed_rows(v, "marks"), json_object_array_length(rows)));
    for (size_t i = 0; i < viewed_rows(v, "marks"); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        struct json_object *name = json_object_array_get_idx(names, (size_t)viewed_number(v, "marks", "name", i));
        struct json_object *thread = json_object_array_get_idx(threads, (size_t)viewed_number(v, "marks", "thread", i));
        cr_assert(eq(dbl, viewed_number(v, "marks", "time", i), json_object_get_double(viewed_get(row, "time_ns"))));
        cr_assert(eq(dbl, viewed_number(v, "marks", "number", i), json_object_get_double(viewed_get(row, "number"))));
        cr_assert(eq(str, (char *)json_object_get_string(name), (char *)viewed_text(row, "text")));
        cr_assert(
            eq(u64, json_object_get_uint64(viewed_get(thread, "id")), json_object_get_uint64(viewed_get(row, "tid"))));
    }
    json_object_put(root);
    free(text);
    viewed_page_drop(&page);
}
