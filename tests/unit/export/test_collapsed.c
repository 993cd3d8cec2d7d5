/* The collapsed-stack format: one line for each path, with any characters in its names. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/exported.h"

TestSuite(unit_collapsed);

static void expect_collapsed(struct writer *w, enum export_time time, const char *wanted)
{
    struct analysis analysis = loaded_of(w);
    size_t length;
    char *text = exported(&analysis, "collapsed", time, &length);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
    analysis_drop(&analysis);
}

Test(unit_collapsed, each_of_the_times_can_be_exported)
{
    expect_collapsed(
        example_session(SOURCE_PERF), EXPORT_APPLICATION,
        "shop;shop;main 42000\n"
        "shop;shop;main;audit 2000\n"
        "shop;shop;main;audit;handle 1000\n"
        "shop;shop;main;audit;handle;[unknown]+0x7f0000dead00 37000\n"
        "shop;shop;main;handle 3000\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int) 6000\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int);price_of(shop::Item const&, int) 8250\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int);price_of(shop::Item const&, int);shop::round_up(double) 750\n"
        "shop;pricing;price_of(shop::Item const&, int) 60500\n"
        "shop;pricing;price_of(shop::Item const&, int);shop::round_up(double) 8250\n"
        "worker;worker;main 5000\n"
        "worker;worker;main;price_of(shop::Item const&, int) 5000\n");
    expect_collapsed(example_session(SOURCE_PERF), EXPORT_BLOCKED, "shop;shop;main;handle 18000\n");
    expect_collapsed(
        example_session(SOURCE_NONE), EXPORT_CALLS,
        "shop;shop;main 1\n"
        "shop;shop;main;audit 1\n"
        "shop;shop;main;audit;handle 1\n"
        "shop;shop;main;audit;handle;[unknown]+0x7f0000dead00 1\n"
        "shop;shop;main;handle 3\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int) 3\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int);price_of(shop::Item const&, int) 3\n"
        "shop;shop;main;handle;price_of(shop::Item const&, int);price_of(shop::Item const&, int);shop::round_up(double) 3\n"
        "shop;pricing;price_of(shop::Item const&, int) 8\n"
        "shop;pricing;price_of(shop::Item const&, int);shop::round_up(double) 8\n"
        "worker;worker;main;price_of(shop::Item const&, int) 2\n");
}

Test(unit_collapsed, names_of_all_kinds)
{
    static const char *const frames[BAD_NAMES] = {
        [BAD_QUOTES] = "operator\"\"_s<'\\'>",
        [BAD_SEMICOLON] = "a:b::c:",
        [BAD_NEWLINE] = "two\\nlines\\r\\n",
        [BAD_UNICODE] = "größe::日本<😀>",
        [BAD_BYTES] = "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd",
        [BAD_NUMBER] = "operator new_12",
        [BAD_CONTROLS] = "tab\\there\\x1b[0m\\x7f",
        [BAD_MARKUP] = "</script><b>&amp:",
    };
    struct analysis analysis = loaded_of(bad_session());
    size_t length;
    char *text = exported(&analysis, "collapsed", EXPORT_ELAPSED, &length);
    unsigned lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    cr_assert(eq(u32, lines, 1 + BAD_NAMES));
    for (int i = 0; i < BAD_NAMES; i++) {
        char *line = NULL;
        cr_assert(
            asprintf(&line, "a:b;th\\nread;main;%s %d\n", i == BAD_LONG ? bad_names[i] : frames[i], 10 * (1 + i)) > 0);
        cr_assert(strstr(text, line) != NULL, "%s not in %s", line, text);
        free(line);
    }
    free(text);
    analysis_drop(&analysis);
}

Test(unit_collapsed, a_session_without_calls_has_no_line)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    end_events(w, true);
    expect_collapsed(w, EXPORT_ELAPSED, "");
}
