/* The critical path of real programs of known structure: the functions on it, their times, and its sum. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_paths, .timeout = 300);

/* The sum of a key over the rows of that table, or over those whose `by` is `name`. */
static double paths_sum(const char *key, const char *table, const char *by, const char *name)
{
    char *text = run_well("$DWELL critical --format json");
    struct json_object *root = json_tokener_parse(text), *rows, *value, *found;
    double sum = 0;
    cr_assert(json_object_object_get_ex(root, table, &rows));
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        cr_assert(json_object_object_get_ex(row, key, &value));
        if (!name || (json_object_object_get_ex(row, by, &found) && strcmp(json_object_get_string(found), name) == 0))
            sum += (double)json_object_get_int64(value);
    }
    json_object_put(root);
    free(text);
    return sum;
}

static double paths_work_ms(const char *function)
{
    return paths_sum("work_ns", "rows", "function", function) / 1e6;
}

static double paths_length(void)
{
    char *text = run_well("$DWELL critical --format json");
    struct json_object *root = json_tokener_parse(text), *length;
    cr_assert(json_object_object_get_ex(root, "length_ns", &length));
    const double ns = (double)json_object_get_int64(length);
    json_object_put(root);
    free(text);
    return ns;
}

/* Each row is rounded to a nanosecond. */
static void paths_check_sums(void)
{
    const double length = paths_length();
    cr_assert(epsilon_eq(dbl, paths_sum("total_ns", "rows", NULL, NULL), length, 100));
    const double segments = paths_sum("to_ns", "segments", NULL, NULL) - paths_sum("from_ns", "segments", NULL, NULL);
    cr_assert(epsilon_eq(dbl, segments, length, 1000));
    cr_assert(epsilon_eq(dbl, paths_sum("on_path_ns", "threads", NULL, NULL), length, 100));
}

struct built_path {
    const char *what;
    double slow, fast, last, job; /* work on the path, in milliseconds */
};

/* The CPU times of the program's functions on the path are known. Waits for other threads are not on it. A thread may
 * begin late, or the child before the parent's work: then more of work_fast is on the path. */
static bool paths_are_as_built(const struct built_path *p)
{
    free(run_well("$DWELL record -q $PROGRAMS/paths %s", p->what));
    paths_check_sums();
    return fabs(paths_work_ms("work_slow") - p->slow) <= p->slow / 20 + 1 &&
           fabs(paths_work_ms("work_last") - p->last) <= 1 && fabs(paths_work_ms("work_on_future") - p->job) <= 6 &&
           paths_work_ms("work_fast") >= p->fast - 1 &&
           paths_sum("outside_ns", "rows", "function", "pthread_cond_wait") <= 1e6 &&
           paths_sum("outside_ns", "rows", "function", "pthread_join") <= 1e6;
}

/* Where a thread that is to run does not get a CPU for long, the path is another one. */
Test(e2e_paths, work_on_the_path)
{
    enum { TRIES = 5 };
    static const struct built_path parts[] = {
        { "pipeline", 200, 5, 2, 0 }, /* the first item, all of the slow stage, the last item */
        { "producer", 200, 5, 0, 0 }, { "convoy", 600, 5, 0, 0 }, { "barrier", 200, 0, 0, 0 },
        { "pool", 0, 0, 2, 100 },     { "rwlock", 20, 5, 0, 0 },  { "child", 20, 0, 2, 0 },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int tries = 1;
        while (!paths_are_as_built(&parts[i]) && tries < TRIES)
            tries++;
        cr_assert(lt(int, tries, TRIES), "%s", parts[i].what);
    }
}

Test(e2e_paths, path_changes_threads_in_the_order_of_the_stages)
{
    free(run_well("$DWELL record -q $PROGRAMS/paths pipeline"));
    char *out = run_well("$DWELL critical --by segment --format csv | tr -d '\\r' | cut -d, -f6 | grep work | uniq");
    cr_assert(eq(str, out, "work_fast\nwork_slow\nwork_last\n"), "%s", out);
    free(out);
}

/* The slow thread is the path. The fast one and the first one wait for it. */
Test(e2e_paths, slack)
{
    free(run_well("$DWELL record -q $PROGRAMS/paths barrier"));
    char *out =
        run_well("$DWELL critical --by thread --sort on_path --columns on_path,slack --format csv | tr -d '\\r'");
    double slack[3], on_path[3];
    cr_assert(eq(int,
                 sscanf(strchr(out, '\n'), " %lf,%lf %lf,%lf %lf,%lf", &on_path[0], &slack[0], &on_path[1], &slack[1],
                        &on_path[2], &slack[2]),
                 6),
              "%s", out);
    cr_assert(ge(dbl, on_path[0], 10 * on_path[1]), "%s", out);
    cr_assert(le(dbl, slack[0], on_path[0] / 10), "%s", out);
    cr_assert(ge(dbl, slack[1], 100e6), "%s", out);
    cr_assert(ge(dbl, slack[2], 100e6), "%s", out);
    free(out);
}

Test(e2e_paths, slowest_call)
{
    free(run_well("$DWELL record -q $PROGRAMS/paths pool"));
    char *out = run_well("$DWELL critical --call await_future --slowest --by function -n 1 --format csv | tail -n 1 | "
                         "cut -d, -f1");
    cr_assert(eq(str, out, "work_on_future\n"), "%s", out);
    free(out);
}

static double paths_member(const char *arguments, const char *key)
{
    char *text = run_well("$DWELL whatif --format json %s", arguments);
    struct json_object *root = json_tokener_parse(text), *value;
    cr_assert(json_object_object_get_ex(root, key, &value));
    const double ns = (double)json_object_get_int64(value);
    json_object_put(root);
    free(text);
    return ns;
}

/* Factor 1 gives the recorded run back. Half of the slow work is half of nearly all of the run. */
Test(e2e_paths, what_if)
{
    static const char *const parts[] = { "pipeline", "producer", "convoy", "barrier" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        free(run_well("$DWELL record -q $PROGRAMS/paths %s", parts[i]));
        const double recorded = paths_member("work_slow=1", "recorded_ns");
        cr_assert(epsilon_eq(dbl, recorded, paths_length(), 1), "%s", parts[i]);
        cr_assert(epsilon_eq(dbl, paths_member("work_slow=1", "predicted_ns"), recorded, 0.02 * recorded), "%s",
                  parts[i]);
        const double saved = recorded - paths_member("work_slow=0.5", "predicted_ns");
        const double slow = paths_sum("total_ns", "rows", "function", "work_slow");
        cr_assert(epsilon_eq(dbl, saved, slow / 2, 0.1 * slow), "%s", parts[i]);
    }
}

Test(e2e_paths, mode_profile_says_why_not)
{
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/paths rwlock"));
    struct ran r = run("$DWELL critical");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "recorded in mode profile, which keeps no order of events"), "%s", r.err);
    ran_drop(&r);
}
