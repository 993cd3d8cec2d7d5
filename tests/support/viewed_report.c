/* Computes rows from a page's numbers and compares them with the rows of the JSON reports. */
#include "support/viewed_report.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

__extension__ typedef unsigned __int128 uint128;

enum kind { ELAPSED, APPLICATION, BLOCKED, PREEMPTED, FAULTS, OVERHEAD, KINDS };
static const char *const kinds[KINDS] = { "elapsed", "application", "blocked", "preempted", "page_faults", "overhead" };

/* A row's numbers, in ticks. */
struct values {
    double calls, least, most;
    double inclusive[KINDS], exclusive[KINDS];
};

struct checking {
    const struct viewed *v; /* the container of the tables */
    const struct viewed *session;
    uint64_t ticks_per_second;
    bool application, off_cpu, overhead, samples;
    double session_elapsed, session_application;
};

/* ---- the page's values ---- */

static double viewed_column(const struct viewed *v, const char *table, const char *kind, const char *scope, size_t row)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", kind, scope);
    return viewed_number(v, table, name, row);
}

static struct values viewed_values_at(const struct viewed *v, const char *table, size_t row)
{
    struct values values = {
        .calls = viewed_number(v, table, "calls", row),
        .least = viewed_number(v, table, "min", row),
        .most = viewed_number(v, table, "max", row),
    };
    for (int i = 0; i < KINDS; i++) {
        values.exclusive[i] = viewed_column(v, table, kinds[i], "exclusive", row);
        values.inclusive[i] = strcmp(table, "paths") == 0 ? 0 : viewed_column(v, table, kinds[i], "inclusive", row);
    }
    return values;
}

/* Computes inclusive values as the page does: from the last row to the first. */
static struct values *viewed_paths(const struct viewed *v)
{
    const size_t rows = viewed_rows(v, "paths");
    struct values *paths = calloc(rows + 1, sizeof *paths);
    for (size_t row = rows; row-- > 0;) {
        const struct values own = viewed_values_at(v, "paths", row);
        const double parent = viewed_number(v, "paths", "parent", row);
        cr_assert(parent < (double)row);
        paths[row].calls = own.calls;
        paths[row].least = own.least;
        paths[row].most = own.most;
        for (int i = 0; i < KINDS; i++) {
            paths[row].exclusive[i] = own.exclusive[i];
            paths[row].inclusive[i] += own.exclusive[i];
            if (parent >= 0)
                paths[(size_t)parent].inclusive[i] += paths[row].inclusive[i];
        }
    }
    return paths;
}

/* ---- comparison with a row of JSON ---- */

static uint64_t viewed_in_ns(const struct checking *c, double ticks)
{
    if (c->samples)
        return (uint64_t)ticks;
    return (uint64_t)(((uint128)(uint64_t)ticks * 1000000000u + c->ticks_per_second / 2) / c->ticks_per_second);
}

/* The key of a time. For samples, keys have neither "elapsed" nor nanoseconds. */
static const char *viewed_time_key(const struct checking *c, const char *kind, const char *scope)
{
    static char key[64];
    const bool bare = c->samples && strcmp(kind, "elapsed") == 0;
    snprintf(key, sizeof key, "%s%s%s%s", bare ? "" : kind, bare || !*scope ? "" : "_", scope,
             c->samples ? "_samples" : "_ns");
    return key;
}

static void viewed_expect(struct json_object *row, const char *key, bool known, uint64_t wanted)
{
    struct json_object *value = viewed_get(row, key);
    if (!known) {
        cr_assert(value == NULL, "%s in %s", key, json_object_to_json_string(row));
        return;
    }
    cr_assert(value != NULL && json_object_get_uint64(value) == wanted, "%s: %ju in %s", key, (uintmax_t)wanted,
              json_object_to_json_string(row));
}

static void viewed_expect_percent(struct json_object *row, const char *key, bool known, double part, double whole)
{
    struct json_object *value = viewed_get(row, key);
    const double wanted = whole > 0 ? 100 * part / whole : 0;
    cr_assert(known == (value != NULL));
    if (known)
        cr_assert(fabs(json_object_get_double(value) - wanted) < 0.000051, "%s: %f in %s", key, wanted,
                  json_object_to_json_string(row));
}

static double viewed_on_cpu(const double *times)
{
    const double cpu = times[ELAPSED] - times[BLOCKED] - times[PREEMPTED];
    return cpu > 0 ? cpu : 0;
}

static void viewed_expect_pair(const struct checking *c, struct json_object *row, const struct values *v,
                               enum kind kind, bool known)
{
    viewed_expect(row, viewed_time_key(c, kinds[kind], "inclusive"), known, viewed_in_ns(c, v->inclusive[kind]));
    viewed_expect(row, viewed_time_key(c, kinds[kind], "exclusive"), known, viewed_in_ns(c, v->exclusive[kind]));
}

static void viewed_expect_times(const struct checking *c, struct json_object *row, const struct values *v)
{
    viewed_expect(row, "calls", !c->samples, (uint64_t)v->calls);
    viewed_expect_pair(c, row, v, ELAPSED, true);
    viewed_expect_pair(c, row, v, APPLICATION, c->application);
    viewed_expect_pair(c, row, v, BLOCKED, c->off_cpu);
    viewed_expect_pair(c, row, v, PREEMPTED, c->off_cpu);
    viewed_expect_pair(c, row, v, OVERHEAD, c->overhead);
    viewed_expect(row, viewed_time_key(c, "cpu", "inclusive"), c->off_cpu,
                  viewed_in_ns(c, viewed_on_cpu(v->inclusive)));
    viewed_expect(row, viewed_time_key(c, "cpu", "exclusive"), c->off_cpu,
                  viewed_in_ns(c, viewed_on_cpu(v->exclusive)));
    viewed_expect_percent(row, c->samples ? "inclusive_percent" : "elapsed_inclusive_percent", true,
                          v->inclusive[ELAPSED], c->session_elapsed);
    viewed_expect_percent(row, c->samples ? "exclusive_percent" : "elapsed_exclusive_percent", true,
                          v->exclusive[ELAPSED], c->session_elapsed);
    viewed_expect_percent(row, "application_inclusive_percent", c->application, v->inclusive[APPLICATION],
                          c->session_application);
    viewed_expect_percent(row, "application_exclusive_percent", c->application, v->exclusive[APPLICATION],
                          c->session_application);
    viewed_expect_percent(row, "waiting_percent", c->off_cpu, v->exclusive[BLOCKED], v->exclusive[ELAPSED]);
    viewed_expect(row, "page_faults", c->off_cpu, (uint64_t)v->inclusive[FAULTS]);
    viewed_expect(row, "page_faults_exclusive", c->off_cpu, (uint64_t)v->exclusive[FAULTS]);
    viewed_expect(row, viewed_time_key(c, "min", ""), v->least <= v->most, viewed_in_ns(c, v->least));
    viewed_expect(row, viewed_time_key(c, "max", ""), v->least <= v->most, viewed_in_ns(c, v->most));
}

/* ---- tables ---- */

static struct json_object *viewed_report_json(const char *command, const char *session)
{
    char *text = run_well("$DWELL %s --no-config --format json %s", command, session);
    struct json_object *root = json_tokener_parse(text);
    cr_assert(root != NULL, "%s", text);
    free(text);
    return root;
}

static struct json_object *viewed_element(const struct checking *c, const char *list, size_t index)
{
    return json_object_array_get_idx(viewed_get(c->v->header, list), index);
}

static bool viewed_same_text(struct json_object *row, const char *key, const char *text)
{
    struct json_object *value = viewed_get(row, key);
    const char *there = value ? json_object_get_string(value) : NULL;
    return there && text ? strcmp(there, text) == 0 : there == text;
}

static bool viewed_same_number(struct json_object *row, const char *key, struct json_object *object, const char *member)
{
    struct json_object *value = viewed_get(row, key);
    return (value ? json_object_get_uint64(value) : 0) == json_object_get_uint64(viewed_get(object, member));
}

static bool viewed_is_function(const struct checking *c, size_t i, struct json_object *row)
{
    struct json_object *function = viewed_element(c, "functions", i);
    struct json_object *module =
        viewed_element(c, "modules", (size_t)json_object_get_uint64(viewed_get(function, "module")));
    return viewed_same_text(row, "function", viewed_text(function, "name")) &&
           viewed_same_text(row, "module", viewed_text(module, "name")) &&
           viewed_same_text(row, "file", viewed_text(function, "file")) &&
           viewed_same_number(row, "line", function, "line");
}

static bool viewed_is_module(const struct checking *c, size_t i, struct json_object *row)
{
    struct json_object *module = viewed_element(c, "modules", i);
    return viewed_same_text(row, "module", viewed_text(module, "name")) &&
           viewed_same_text(row, "path", viewed_text(module, "path"));
}

static bool viewed_is_thread(const struct checking *c, size_t i, struct json_object *row)
{
    struct json_object *thread = viewed_element(c, "threads", i);
    struct json_object *process =
        viewed_element(c, "processes", (size_t)json_object_get_uint64(viewed_get(thread, "process")));
    return viewed_same_text(row, "thread", viewed_text(thread, "name")) &&
           viewed_same_number(row, "tid", thread, "id") &&
           viewed_same_text(row, "process", viewed_text(process, "name")) &&
           viewed_same_number(row, "pid", process, "id");
}

static bool viewed_is_process(const struct checking *c, size_t i, struct json_object *row)
{
    struct json_object *process = viewed_element(c, "processes", i);
    return viewed_same_text(row, "process", viewed_text(process, "name")) &&
           viewed_same_number(row, "pid", process, "id") && viewed_same_number(row, "parent", process, "parent") &&
           viewed_same_text(row, "arguments", viewed_text(process, "command"));
}

/* Whether the function is that of the most calls from the line, or the first one of these by name and module. */
static bool viewed_is_called_most(const struct checking *c, size_t line, struct json_object *row)
{
    const size_t functions = json_object_array_length(viewed_get(c->session->header, "functions"));
    double *calls = calloc(functions + 1, sizeof *calls);
    bool *called = calloc(functions + 1, sizeof *called);
    size_t count = 0, most = functions;
    for (size_t i = 0; i < viewed_rows(c->v, "calls"); i++) {
        const size_t function = (size_t)viewed_number(c->v, "calls", "called", i);
        if ((size_t)viewed_number(c->v, "calls", "line", i) != line)
            continue;
        cr_assert(lt(sz, function, functions));
        count += !called[function];
        called[function] = true;
        calls[function] += viewed_number(c->v, "calls", "calls", i);
    }
    for (size_t i = 0; i < functions; i++) /* in the order of their names */
        if (called[i] && (most == functions || calls[i] > calls[most]))
            most = i;
    const bool same =
        most < functions && count == json_object_get_uint64(viewed_get(row, "called_functions")) &&
        viewed_same_text(
            row, "called",
            viewed_text(json_object_array_get_idx(viewed_get(c->session->header, "functions"), most), "name"));
    free(called);
    free(calls);
    return same;
}

static bool viewed_is_line(const struct checking *c, size_t i, struct json_object *row)
{
    struct json_object *line = viewed_element(c, "lines", i);
    return viewed_same_text(row, "source", viewed_text(line, "source")) &&
           viewed_same_text(row, "function", viewed_text(line, "function")) &&
           viewed_same_text(row, "module", viewed_text(line, "module")) &&
           viewed_same_text(row, "file", viewed_text(line, "file")) && viewed_same_number(row, "line", line, "line") &&
           viewed_same_text(row, "inlined", viewed_text(line, "inlined")) && viewed_is_called_most(c, i, row);
}

/* For a part of a session, the page has empty rows of other parts; the report has none. */
static bool viewed_is_empty(const struct values *v)
{
    return v->calls == 0 && v->inclusive[ELAPSED] == 0 && v->inclusive[FAULTS] == 0 && v->least > v->most;
}

static void viewed_check_table(const struct checking *c, const char *by, const char *table,
                               bool (*is)(const struct checking *, size_t, struct json_object *), const char *session)
{
    char command[64];
    snprintf(command, sizeof command, "report --limit 0 --by %s", by);
    struct json_object *root = viewed_report_json(command, session), *rows = viewed_get(root, "rows");
    const size_t count = viewed_rows(c->v, table);
    cr_assert(eq(sz, json_object_array_length(viewed_get(c->v->header, table)), count));
    bool *found = calloc(count + 1, sizeof *found);
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        size_t at = 0;
        while (at < count &&
               (found[at] || !is(c, at, row) ||
                viewed_number(c->v, table, "calls", at) != json_object_get_double(viewed_get(row, "calls"))))
            at++;
        cr_assert(lt(sz, at, count), "%s: %s", table, json_object_to_json_string(row));
        const struct values values = viewed_values_at(c->v, table, at);
        found[at] = true;
        viewed_expect_times(c, row, &values);
    }
    for (size_t at = 0; at < count; at++) {
        const struct values values = viewed_values_at(c->v, table, at);
        cr_assert(found[at] || viewed_is_empty(&values), "%s: row %zu is in no report", table, at);
    }
    free(found);
    json_object_put(root);
}

/* The same rows in the same order. */
static void viewed_check_tree(const struct checking *c, const char *session)
{
    struct json_object *root = viewed_report_json("tree --min 0 --depth 1000000", session),
                       *rows = viewed_get(root, "rows");
    const size_t count = viewed_rows(c->v, "paths");
    struct values *paths = viewed_paths(c->v);
    unsigned *depths = calloc(count + 1, sizeof *depths);
    cr_assert(eq(sz, json_object_array_length(rows), count));
    for (size_t i = 0; i < count; i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        struct json_object *function =
            viewed_element(c, "functions", (size_t)viewed_number(c->v, "paths", "function", i));
        const double parent = viewed_number(c->v, "paths", "parent", i);
        depths[i] = parent < 0 ? 1 : depths[(size_t)parent] + 1;
        viewed_expect(row, "depth", true, depths[i]);
        cr_assert(viewed_same_text(row, "function", viewed_text(function, "name")));
        viewed_expect_times(c, row, &paths[i]);
    }
    free(depths);
    free(paths);
    json_object_put(root);
}

static void viewed_check_session(const struct checking *c, const char *session)
{
    struct json_object *root = viewed_report_json("report", session), *facts = viewed_get(root, "session");
    struct json_object *page = viewed_get(c->v->header, "session");
    viewed_expect(facts, viewed_time_key(c, "elapsed", "inclusive"), true, viewed_in_ns(c, c->session_elapsed));
    if (c->samples) { /* samples have no other values */
        json_object_put(root);
        return;
    }
    viewed_expect(facts, "application_inclusive_ns", c->application, viewed_in_ns(c, c->session_application));
    viewed_expect(facts, "threads", true, json_object_array_length(viewed_get(c->v->header, "threads")));
    viewed_expect(facts, "processes", true, json_object_array_length(viewed_get(c->v->header, "processes")));
    viewed_expect(facts, "events", true, json_object_get_uint64(viewed_get(page, "events")));
    viewed_expect(facts, "lost_events", true, json_object_get_uint64(viewed_get(page, "lost_events")));
    json_object_put(root);
}

/* `v` holds the tables and the sums; it is the session or one of its blocks. */
static struct checking viewed_checking(const struct viewed *session, const struct viewed *v)
{
    struct json_object *totals = viewed_get(v->header, "session");
    return (struct checking){
        .v = v,
        .session = session,
        .ticks_per_second = json_object_get_uint64(viewed_get(session->header, "ticks_per_second")),
        .application = json_object_get_boolean(viewed_get(session->header, "application")),
        .off_cpu = json_object_get_boolean(viewed_get(session->header, "off_cpu")),
        .overhead = json_object_get_boolean(viewed_get(session->header, "overhead")),
        .samples = json_object_get_boolean(viewed_get(session->header, "samples")),
        .session_elapsed = json_object_get_double(viewed_get(totals, "elapsed_inclusive")),
        .session_application = json_object_get_double(viewed_get(totals, "application_inclusive")),
    };
}

void check_viewed(const struct viewed *v, const char *session)
{
    const struct checking c = viewed_checking(v, v);
    viewed_check_session(&c, session);
    viewed_check_table(&c, "function", "functions", viewed_is_function, session);
    viewed_check_table(&c, "module", "modules", viewed_is_module, session);
    viewed_check_table(&c, "thread", "threads", viewed_is_thread, session);
    viewed_check_table(&c, "process", "processes", viewed_is_process, session);
    viewed_check_tree(&c, session);
}

void check_viewed_lines(const struct viewed_page *page, const char *session)
{
    const struct viewed *v = viewed_session(page, 0);
    const unsigned block = (unsigned)json_object_get_uint64(viewed_get(viewed_get(v->header, "lines"), "block"));
    const struct checking c = viewed_checking(v, viewed_block(page, 0, block));
    viewed_check_table(&c, "line", "lines", viewed_is_line, session);
}

void check_page(const char *session)
{
    free(run_well("$DWELL view --no-config --no-open -o page.html %s", session));
    struct viewed_page page = viewed_page(test_path("page.html"));
    check_viewed(viewed_session(&page, 0), session);
    viewed_page_drop(&page);
}
