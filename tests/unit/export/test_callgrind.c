/* The callgrind format: own costs and calls. Their sums are the report's, with any recursion. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/exported.h"
#include "support/model.h"

TestSuite(unit_callgrind);

struct costs {
    uint64_t own, called, calls; /* elapsed: the function's own, and that of all its calls */
};

/* Costs by name. This reader knows only the format's description. */
struct table_of_costs {
    char *names[64];
    struct costs costs[64];
    struct costs whole; /* what `totals` says, as `own` */
};

static unsigned costs_number(struct table_of_costs *t, const char *text)
{
    unsigned number;
    int length = 0;
    cr_assert(sscanf(text, "(%u)%n", &number, &length) == 1 && number < 64, "%s", text);
    if (text[length] == ' ') {
        cr_assert(t->names[number] == NULL, "%s is named twice", text);
        t->names[number] = strdup(text + length + 1);
    }
    cr_assert(t->names[number] != NULL, "%s has no name yet", text);
    return number;
}

static struct table_of_costs read_costs(char *text)
{
    struct table_of_costs t = { 0 };
    unsigned function = 0, callee = 0, line_number;
    uint64_t cost, calls = 0;
    bool body = false;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "fn=", 3) == 0) {
            function = costs_number(&t, line + 3);
            body = true;
        } else if (strncmp(line, "cfn=", 4) == 0) {
            callee = costs_number(&t, line + 4);
        } else if (strncmp(line, "calls=", 6) == 0) {
            calls = strtoull(line + 6, NULL, 10);
            cr_assert(calls > 0);
        } else if (body && sscanf(line, "%u %" SCNu64, &line_number, &cost) == 2) {
            if (calls) {
                t.costs[callee].called += cost;
                t.costs[callee].calls += calls;
            } else {
                t.costs[function].own += cost;
            }
            calls = 0;
        } else {
            sscanf(line, "totals: %" SCNu64, &t.whole.own);
        }
    }
    return t;
}

static const struct costs *costs_of(const struct table_of_costs *t, const char *name)
{
    for (int i = 0; i < 64; i++)
        if (t->names[i] && strcmp(t->names[i], name) == 0)
            return &t->costs[i];
    cr_fatal("%s is not there", name);
}

static void costs_drop(struct table_of_costs *t)
{
    for (int i = 0; i < 64; i++)
        free(t->names[i]);
}

static struct table_of_costs exported_costs(const struct analysis *analysis)
{
    size_t length;
    char *text = exported(analysis, "callgrind", EXPORT_ELAPSED, &length);
    struct table_of_costs t = read_costs(text);
    free(text);
    return t;
}

Test(unit_callgrind, sums_are_the_reports_with_any_recursion)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct model *m = model_new(seed);
        struct analysis analysis = loaded_of(model_write(m, 9, 0));
        struct table_of_costs t = exported_costs(&analysis);
        struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION);
        char **names = export_unique_names(&analysis);
        for (size_t i = 0; i < analysis.profile->function_count; i++) {
            const struct costs *c = costs_of(&t, names[i]);
            cr_assert(eq(u64, c->own, functions[i].elapsed_exclusive));
            cr_assert(eq(u64, c->called, functions[i].elapsed_inclusive));
            cr_assert(eq(u64, c->calls, functions[i].calls));
            free(names[i]);
        }
        cr_assert(eq(u64, t.whole.own, m->session.elapsed_inclusive));
        free(names);
        free(functions);
        costs_drop(&t);
        analysis_drop(&analysis);
        model_free(m);
    }
}

Test(unit_callgrind, names_of_all_kinds)
{
    static const char *const names[BAD_NAMES] = {
        [BAD_QUOTES] = "operator\"\"_s<'\\'>",
        [BAD_SEMICOLON] = "a;b::c;",
        [BAD_NEWLINE] = "two\\nlines\\r\\n",
        [BAD_UNICODE] = "größe::日本<😀>",
        [BAD_BYTES] = "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd",
        [BAD_NUMBER] = "operator new 12",
        [BAD_CONTROLS] = "tab\\there\\x1b[0m\\x7f",
        [BAD_MARKUP] = "</script><b>&amp;",
    };
    struct analysis analysis = loaded_of(bad_session());
    struct table_of_costs t = exported_costs(&analysis);
    for (unsigned i = 0; i < BAD_NAMES; i++) {
        const struct costs *c = costs_of(&t, i == BAD_LONG ? bad_names[i] : names[i]);
        cr_assert(eq(u64, c->own, 10 * (1 + i)));
        cr_assert(eq(u64, c->calls, 1 + i));
    }
    costs_drop(&t);
    analysis_drop(&analysis);
}

static void expect_events(uint32_t source, const char *line)
{
    struct analysis analysis = loaded_of(example_session(source));
    size_t length;
    char *text = exported(&analysis, "callgrind", EXPORT_ELAPSED, &length);
    cr_assert(strstr(text, line) != NULL, "%s", text);
    free(text);
    analysis_drop(&analysis);
}

Test(unit_callgrind, unknown_times_are_left_out)
{
    expect_events(SOURCE_PERF, "\nevents: Elapsed Application Blocked CPU\nsummary: 294000 178750 18000 267000\n");
    expect_events(SOURCE_RSEQ, "\nevents: Elapsed Application\nsummary: 294000 178750\n");
    expect_events(SOURCE_NONE, "\nevents: Elapsed\nsummary: 294000\n");
}
