/* The critical path of real programs of known structure: the functions on it, their times, and its sum. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_paths, .timeout = 600);

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

/* ---- what holds however threads were scheduled ---- */

/* A line of dwell replay --format csv. A forked child has those of its own time. */
struct path_event {
    long long begin, end; /* of the call, if it has ended; else of the line */
    unsigned thread;
    char function[32]; /* cut */
    bool is_call;      /* that has ended, with all its time: it may have another line, for its start */
    bool is_act;       /* a call that lets other threads go on */
};

struct path_events {
    struct path_event list[4096];
    size_t count;
};

static bool paths_is_act(const char *function)
{
    static const char *const acts[] = { "pthread_create",
                                        "pthread_cond_signal",
                                        "pthread_mutex_unlock",
                                        "pthread_rwlock_unlock",
                                        "pthread_barrier_wait",
                                        "sem_post",
                                        "write" };
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(function, acts[i]) == 0)
            return true;
    return false;
}

static void paths_read_events(struct path_events *events)
{
    char *line,
        *text = run_well("$DWELL replay --format csv | tr -d '\\r' | awk -F, "
                         "'NR > 1 && $1 && $9 != \"began_before\" { print $1, $2 ? $2 : 0, $4, $7, $8 ? $8 : \"-\" }'");
    events->count = 0;
    for (char *rest = text; (line = strsep(&rest, "\n")) && *line;) {
        struct path_event *e = &events->list[events->count++];
        long long time, duration;
        char kind[32], function[128];
        cr_assert(eq(int, sscanf(line, "%lld %lld %u %31s %127s", &time, &duration, &e->thread, kind, function), 5),
                  "%s", line);
        cr_assert(lt(sz, events->count, sizeof events->list / sizeof *events->list));
        e->begin = strcmp(kind, "end") == 0 ? time - duration : time;
        e->end = e->begin + duration;
        snprintf(e->function, sizeof e->function, "%.31s", function);
        e->is_call = strcmp(kind, "end") == 0 || strcmp(kind, "call") == 0;
        e->is_act = paths_is_act(function);
    }
    free(text);
}

/* Times are rounded, and probes are left out of calls. */
static const long long path_rounding_ns = 1000;

static bool paths_is_in_call(const struct path_events *events, unsigned thread, const char *function, long long time)
{
    for (size_t i = 0; i < events->count; i++) {
        const struct path_event *e = &events->list[i];
        if (e->thread == thread && e->is_call && strcmp(e->function, function) == 0 &&
            e->begin <= time + path_rounding_ns && e->end >= time - path_rounding_ns)
            return true;
    }
    return false;
}

/* pthread_cond_wait releases its mutex: one that waits to lock it can go on. */
static bool paths_hands_over_a_mutex(const struct path_events *events, unsigned from, unsigned to, long long time)
{
    return paths_is_in_call(events, from, "pthread_cond_wait", time) &&
           (paths_is_in_call(events, to, "pthread_mutex_lock", time) ||
            paths_is_in_call(events, to, "pthread_cond_wait", time));
}

/* Whether the path can go from one thread to another at that time: in a call by which the first lets others go on, at
 * its end, or at the other's begin. */
static bool paths_may_change(const struct path_events *events, unsigned from, unsigned to, long long time)
{
    bool acts = false, ended = true, begins = true;
    for (size_t i = 0; i < events->count; i++) {
        const struct path_event *e = &events->list[i];
        if (e->thread == from && e->is_act && e->begin <= time + path_rounding_ns && e->end >= time - path_rounding_ns)
            acts = true;
        if (e->thread == from && e->end > time + path_rounding_ns)
            ended = false;
        if (e->thread == to && e->end < time - path_rounding_ns)
            begins = false;
    }
    return acts || ended || begins || paths_hands_over_a_mutex(events, from, to, time);
}

/* Segments follow each other without gaps, and the path changes threads only where one lets another go on. */
static void paths_check_changes(const char *what)
{
    static struct path_events events;
    paths_read_events(&events);
    char *text = run_well(
             "$DWELL critical --by segment --limit 0 --format csv | tr -d '\\r' | cut -d, -f1,3,4 | tail -n +2"),
         *line;
    unsigned before = 0;
    long long end = 0;
    for (char *rest = text; (line = strsep(&rest, "\n")) && *line;) {
        unsigned thread;
        long long from, to;
        cr_assert(eq(int, sscanf(line, "%u,%lld,%lld", &thread, &from, &to), 3), "%s", line);
        cr_assert(gt(long, to, from), "%s: %s", what, line);
        if (end) {
            cr_assert(eq(long, from, end), "%s: %s", what, line);
            cr_assert(paths_may_change(&events, before, thread, from), "%s: from %u: %s", what, before, line);
        }
        before = thread;
        end = to;
    }
    cr_assert(ne(long, end, 0), "%s", what);
    free(text);
}

/* No function has more work on the path than it had CPU time. */
static void paths_check_work(const char *what)
{
    static const char *const functions[] = { "work_slow", "work_fast", "work_last", "work_on_future" };
    struct report *r = report_of("--raw");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        cr_assert(le(dbl, paths_sum("work_ns", "rows", "function", functions[i]),
                     (double)report_sum(r, "function", functions[i], "cpu_exclusive_ns") + 1000),
                  "%s: %s", what, functions[i]);
    report_drop(r);
}

static bool paths_is_first_of_thread(const struct path_events *events, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (events->list[i].thread == events->list[at].thread)
            return false;
    return true;
}

/* The number of other threads whose events have all ended by that time. */
static size_t paths_ended_threads(const struct path_events *events, unsigned thread, long long time)
{
    size_t ended = 0;
    for (size_t i = 0; i < events->count; i++) {
        const unsigned other = events->list[i].thread;
        bool all = other != thread && paths_is_first_of_thread(events, i);
        for (size_t j = i; j < events->count && all; j++)
            all = events->list[j].thread != other || events->list[j].end <= time;
        ended += all;
    }
    return ended;
}

/* A thread or process is there for some time after its last event: pthread_join and waitpid may wait for that, too. So
 * it may be if there are more ended ones than the thread has waited for before. */
static bool paths_waits_for_ended(const struct path_events *events, const struct path_event *wait)
{
    size_t earlier = 0;
    if (strcmp(wait->function, "waitpid") != 0 && strcmp(wait->function, "pthread_join") != 0)
        return false;
    for (size_t i = 0; i < events->count; i++) {
        const struct path_event *e = &events->list[i];
        earlier += e->is_call && e->thread == wait->thread && e->end <= wait->begin &&
                   strcmp(e->function, wait->function) == 0;
    }
    return paths_ended_threads(events, wait->thread, wait->begin) > earlier;
}

/* How long the segment from `from` to `to` of a thread lies in calls of `function` that were open before it began,
 * or wait for the rest of what has ended. */
static long long paths_in_open_calls(const struct path_events *events, const char *function, unsigned thread,
                                     long long from, long long to)
{
    long long sum = 0;
    for (size_t i = 0; i < events->count; i++) {
        const struct path_event *e = &events->list[i];
        if (e->thread != thread || strcmp(e->function, function) != 0 || e->end <= from || e->begin >= to)
            continue;
        if (e->begin <= from + path_rounding_ns || paths_waits_for_ended(events, e))
            sum += (e->end < to ? e->end : to) - (e->begin > from ? e->begin : from);
    }
    return sum;
}

/* A wait for another thread is not on the path: the path goes on in that thread. Only what comes after its act is left,
 * such as the end of a thread that is slow to leave the processor. So all such time of `function` is in calls that were
 * open where a segment began. */
static void paths_check_wait(const char *what, const char *function)
{
    static struct path_events events;
    paths_read_events(&events);
    char *text = run_well(
             "$DWELL critical --by segment --limit 0 --format csv | tr -d '\\r' | cut -d, -f1,3,4 | tail -n +2"),
         *line;
    long long left = 0;
    for (char *rest = text; (line = strsep(&rest, "\n")) && *line;) {
        unsigned thread;
        long long from, to;
        cr_assert(eq(int, sscanf(line, "%u,%lld,%lld", &thread, &from, &to), 3), "%s", line);
        left += paths_in_open_calls(&events, function, thread, from, to) + path_rounding_ns;
    }
    cr_assert(le(dbl, paths_sum("outside_ns", "rows", "function", function), (double)left), "%s: %s", what, function);
    free(text);
}

/* ---- programs of known structure ---- */

struct built_path {
    const char *what;
    double slow, fast, last, job; /* work on the path, in milliseconds */
};

/* What the recording takes for CPU time, and the kernel does not: the host may have taken the processor meanwhile. */
static double paths_stolen_ms(void)
{
    char *text = run_well("$DWELL info --units us | awk '/^CPU us OF/ { rows = 1; next } !NF { rows = 0 } "
                          "rows && $4 > $2 { sum += $4 - $2 } END { print sum / 1000 }'");
    const double ms = atof(text);
    free(text);
    return ms;
}

/* How long the threads on the path waited for a CPU, or for something else than another thread. The time before the
 * first event has no threads. */
static double paths_disturbance_ms(void)
{
    return (paths_sum("runnable_ns", "rows", NULL, NULL) + paths_sum("outside_ns", "rows", NULL, NULL) -
            paths_sum("outside_ns", "rows", "function", "(not recorded)")) /
               1e6 +
           paths_stolen_ms();
}

/* A path is as the program was built if that is less than 5 ms in all: each other path is 15 ms shorter. */
static bool paths_were_undisturbed(void)
{
    return paths_disturbance_ms() <= 5;
}

static void paths_record(const char *what)
{
    free(run_well("$DWELL record -q $PROGRAMS/paths %s", what));
    paths_check_sums();
    paths_check_changes(what);
    paths_check_work(what);
    paths_check_wait(what, "pthread_cond_wait");
    paths_check_wait(what, "pthread_join");
}

/* Returns whether a run was undisturbed. On a busy machine, none may be. */
static bool paths_record_undisturbed(const char *what)
{
    for (int try = 0; try < 3; try++) {
        paths_record(what);
        if (paths_were_undisturbed())
            return true;
    }
    return false;
}

static void __attribute__((noreturn)) paths_skip(const char *disturbed)
{
    cr_skip_test("threads waited for a CPU in all runs of%s", disturbed);
    abort();
}

/* The CPU times of the program's functions are known, and no schedule makes the run shorter. Where no thread waited for
 * a CPU for long, the path is known as well. A thread may begin late, or the child before the parent's work: then more
 * of work_fast is on the path. */
static void paths_check_built(const struct built_path *p, bool undisturbed)
{
    const double slow = paths_work_ms("work_slow"), fast = paths_work_ms("work_fast");
    const double last = paths_work_ms("work_last"), job = paths_work_ms("work_on_future");
    cr_assert(ge(dbl, paths_length() / 1e6, p->slow + p->fast + p->last + p->job - 1), "%s", p->what);
    if (!undisturbed)
        return;
    cr_assert(epsilon_eq(dbl, slow, p->slow, p->slow / 20 + 1), "%s", p->what);
    cr_assert(epsilon_eq(dbl, last, p->last, 1), "%s", p->what);
    cr_assert(epsilon_eq(dbl, job, p->job, 6), "%s", p->what);
    cr_assert(ge(dbl, fast, p->fast - 1), "%s", p->what);
}

Test(e2e_paths, work_on_the_path)
{
    static const struct built_path parts[] = {
        { "pipeline", 200, 5, 2, 0 }, /* the first item, all of the slow stage, the last item */
        { "producer", 200, 5, 0, 0 }, { "convoy", 600, 5, 0, 0 }, { "barrier", 200, 0, 0, 0 },
        { "pool", 0, 0, 2, 100 },     { "rwlock", 20, 5, 0, 0 },  { "child", 20, 0, 2, 0 },
        { "pipes", 200, 50, 2, 0 },   { "forker", 20, 5, 2, 0 },
    };
    char disturbed[256] = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const bool undisturbed = paths_record_undisturbed(parts[i].what);
        paths_check_built(&parts[i], undisturbed);
        if (!undisturbed)
            strcat(strcat(disturbed, " "), parts[i].what);
    }
    if (*disturbed)
        paths_skip(disturbed);
}

Test(e2e_paths, path_changes_threads_in_the_order_of_the_stages)
{
    if (!paths_record_undisturbed("pipeline"))
        paths_skip(" pipeline");
    char *out =
        run_well("$DWELL critical --by segment --limit 0 --format csv | tr -d '\\r' | cut -d, -f6 | grep work | uniq");
    cr_assert(eq(str, out, "work_fast\nwork_slow\nwork_last\n"), "%s", out);
    free(out);
}

/* The path goes through the write that ended each read. A process that waits for a CPU before its read, while the other
 * one works for 5 ms or more, finds the byte there. It has not waited for the other one, and the path leaves that one's
 * turn out. */
Test(e2e_paths, parent_and_child_take_turns)
{
    paths_record("pipes");
    char *out =
        run_well("$DWELL critical --by segment --limit 0 --columns tid --format csv | tail -n +2 | uniq | wc -l");
    const int missed = (int)(paths_disturbance_ms() / 5);
    cr_assert(ge(int, atoi(out) + 2 * missed, 20), "%d missed: %s", missed, out);
    free(out);
    paths_check_wait("pipes", "read");
    paths_check_wait("pipes", "waitpid");
}

/* The child gets a processor late. The parent has waited for it since the fork, where the path leaves the parent. */
Test(e2e_paths, a_child_begins_with_its_fork)
{
    paths_record("late");
    paths_check_wait("late", "waitpid");
    cr_assert(ge(dbl, paths_sum("runnable_ns", "rows", "function", "(start of thread)"), 30e6));
    cr_assert(ge(dbl, paths_work_ms("work_slow"), 18));
}

/* Two threads live when one of them forks. The child's begin is its fork, and the wait for the child ends by its exit.
 */
Test(e2e_paths, a_fork_by_one_of_several_threads)
{
    paths_record("forker");
    char *out = run_well("$DWELL critical");
    cr_assert(not(has(out, "it is unknown which thread")), "%s", out);
    free(out);
    const double slow = paths_work_ms("work_slow"); /* paths_check_work has its upper bound, with stolen time */
    cr_assert(ge(dbl, slow, 18));
    cr_assert(le(dbl, slow, 22 + paths_stolen_ms()));
    cr_assert(ge(dbl, paths_work_ms("work_fast"), 4.5)); /* before the fork, without the probes' time */
    free(run_well("$DWELL record -q -o other.data $PROGRAMS/causes mutex && "
                  "$DWELL merge -o merged.data other.data dwell.data"));
    out = run_well("$DWELL critical --process paths merged.data");
    cr_assert(not(has(out, "it is unknown which thread")), "%s", out);
    free(out);
}

/* The slow thread is the path. The fast one and the first one wait for it. */
Test(e2e_paths, slack)
{
    if (!paths_record_undisturbed("barrier"))
        paths_skip(" barrier");
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
    if (!paths_record_undisturbed("pool"))
        paths_skip(" pool");
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

/* Factor 1 gives the recorded run back. Half of the slow work is half of nearly all of the run. A wait for a CPU does
 * not become shorter with it. */
Test(e2e_paths, what_if)
{
    static const char *const parts[] = { "pipeline", "producer", "convoy", "barrier" };
    char disturbed[256] = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const bool undisturbed = paths_record_undisturbed(parts[i]);
        const double recorded = paths_member("work_slow=1", "recorded_ns");
        cr_assert(epsilon_eq(dbl, recorded, paths_length(), 1), "%s", parts[i]);
        cr_assert(epsilon_eq(dbl, paths_member("work_slow=1", "predicted_ns"), recorded, 0.02 * recorded), "%s",
                  parts[i]);
        const double saved = recorded - paths_member("work_slow=0.5", "predicted_ns");
        const double slow = paths_sum("total_ns", "rows", "function", "work_slow");
        cr_assert(ge(dbl, saved, -0.02 * recorded), "%s", parts[i]);
        cr_assert(le(dbl, saved, slow + 0.02 * recorded), "%s", parts[i]);
        if (undisturbed)
            cr_assert(epsilon_eq(dbl, saved, slow / 2, 0.1 * slow), "%s", parts[i]);
        else
            strcat(strcat(disturbed, " "), parts[i]);
    }
    if (*disturbed)
        paths_skip(disturbed);
}

/* Three threads work in turns under one lock: more processors bring nothing to that work. One processor has to do all
 * work one after the other. */
Test(e2e_paths, what_if_with_processors)
{
    paths_record("convoy");
    const double slow = paths_work_ms("work_slow"), one = paths_member("--cpus 1", "predicted_ns") / 1e6,
                 two = paths_member("--cpus 2", "predicted_ns") / 1e6,
                 many = paths_member("--cpus 64", "predicted_ns") / 1e6;
    cr_assert(ge(dbl, many, 0.98 * slow));
    cr_assert(ge(dbl, two, 0.98 * many));
    cr_assert(ge(dbl, one, 0.98 * two));
    char *out = run_well("$DWELL whatif --cpus 2 | grep -c 'as recorded, on [0-9]* processor'");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}

Test(e2e_paths, mode_profile_says_why_not)
{
    free(run_well("$DWELL record -q --mode profile $PROGRAMS/paths rwlock"));
    struct ran r = run("$DWELL critical");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "recorded in mode profile, which keeps no order of events"), "%s", r.err);
    ran_drop(&r);
}
