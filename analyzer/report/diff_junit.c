/* A comparison as test results in JUnit's XML: a suite for each condition, or one for significant changes, with a case
 * for each row. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/visible.h"
#include "report/diff_formats.h"

/* Escapes what XML takes for markup. Visible text holds no character that XML forbids. */
static void junit_put(const char *text, FILE *out)
{
    char *visible = visible_text(text);
    for (const char *at = visible; *at; at++) {
        if (*at == '&')
            fputs("&amp;", out);
        else if (*at == '<')
            fputs("&lt;", out);
        else if (*at == '>')
            fputs("&gt;", out);
        else if (*at == '"')
            fputs("&quot;", out);
        else
            fputc(*at, out);
    }
    free(visible);
}

static void junit_put_attribute(const char *name, const char *value, FILE *out)
{
    fprintf(out, " %s=\"", name);
    junit_put(value, out);
    fputs("\"", out);
}

/* What a suite tests: a condition, or without one that the value has no significant increase. */
struct junit_suite {
    const struct gate *gate; /* may be NULL */
    enum diff_value value;
};

static bool junit_fails(const struct diff_output *o, const struct junit_suite *suite, const struct diff_row *row)
{
    return suite->gate ? diff_gate_fails(suite->gate, o->diff, row) : diff_has_regressed(row, suite->value);
}

static bool junit_leaves_out(const struct diff_output *o, const struct junit_suite *suite, const struct diff_row *row)
{
    return suite->gate && diff_gate_leaves_out(suite->gate, o->diff, row);
}

typedef bool junit_test(const struct diff_output *o, const struct junit_suite *suite, const struct diff_row *row);

static size_t junit_count(const struct diff_output *o, const struct junit_suite *suite, junit_test *test)
{
    size_t count = 0;
    for (size_t i = 0; i < o->diff->row_count; i++)
        count += test(o, suite, &o->diff->rows[i]);
    return count;
}

static void junit_print_name(const struct diff_output *o, const struct diff_row *row, FILE *out)
{
    if (o->diff->by == DIFF_FUNCTIONS) {
        junit_put_attribute("classname", diff_function_module(o->diff, row->key), out);
        junit_put_attribute("name", diff_function_name(o->diff, row->key), out);
        return;
    }
    char *name = diff_row_name(o->diff, row);
    junit_put_attribute("classname", o->diff->by == DIFF_MODULES ? "module" : "call path", out);
    junit_put_attribute("name", name, out);
    free(name);
}

static void junit_print_case(const struct diff_output *o, const struct junit_suite *suite, const struct diff_row *row,
                             FILE *out)
{
    const struct diff_source *source = diff_source_of(o->sources, o->diff, row);
    fputs("    <testcase", out);
    junit_print_name(o, row, out);
    if (source) {
        junit_put_attribute("file", diff_source_relative(source->file), out);
        fprintf(out, " line=\"%" PRIu32 "\"", source->line);
    }
    const bool fails = junit_fails(o, suite, row);
    if (!fails && !junit_leaves_out(o, suite, row)) {
        fputs("/>\n", out);
        return;
    }
    char *change = NULL;
    size_t length;
    FILE *text = need_stream(&change, &length);
    diff_print_change(o->diff, row, suite->value, text);
    need_stream_end(text);
    char *message = need_text("%s: %s%s%s", diff_value_name(suite->value), change, fails ? "" : ": ",
                              fails ? "" : diff_chance_text(row));
    fputs(fails ? ">\n      <failure type=\"regression\"" : ">\n      <skipped", out);
    junit_put_attribute("message", message, out);
    fputs("/>\n    </testcase>\n", out);
    free(message);
    free(change);
}

static void junit_print_suite(const struct diff_output *o, const struct junit_suite *suite, FILE *out)
{
    char *name = suite->gate ? need_text("%s", suite->gate->text)
                             : need_text("no significant increase of %s", diff_value_name(suite->value));
    fputs("  <testsuite", out);
    junit_put_attribute("name", name, out);
    const size_t skipped = junit_count(o, suite, junit_leaves_out);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\"", o->diff->row_count,
            junit_count(o, suite, junit_fails));
    if (skipped)
        fprintf(out, " skipped=\"%zu\"", skipped);
    fputs(">\n", out);
    for (size_t i = 0; i < o->diff->row_count; i++)
        junit_print_case(o, suite, &o->diff->rows[i], out);
    fputs("  </testsuite>\n", out);
    free(name);
}

void diff_print_junit(const struct diff_output *o, FILE *out)
{
    const struct junit_suite usual = { NULL, diff_judged_value(o->diff, o->options) };
    size_t tests = o->diff->row_count, failures = 0;
    if (o->gate_count)
        tests *= o->gate_count;
    else
        failures = junit_count(o, &usual, junit_fails);
    for (size_t i = 0; i < o->gate_count; i++)
        failures += junit_count(o, &(struct junit_suite){ &o->gates[i], o->gates[i].value }, junit_fails);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites name=\"dwell diff\" tests=\"%zu\" failures=\"%zu\">\n",
            tests, failures);
    if (!o->gate_count)
        junit_print_suite(o, &usual, out);
    for (size_t i = 0; i < o->gate_count; i++)
        junit_print_suite(o, &(struct junit_suite){ &o->gates[i], o->gates[i].value }, out);
    fputs("</testsuites>\n", out);
}
