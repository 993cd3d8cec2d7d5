/* Compares the calls that workers find with those found in the order of time. */
#include "support/scanned.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

struct scanned_calls {
    struct finished_call list[MAX_SCANNED];
    size_t count;
};

static bool scanned_keep(void *context, const struct finished_call *call)
{
    struct scanned_calls *calls = context;
    if (!call->completed)
        return true;
    cr_assert(lt(sz, calls->count, MAX_SCANNED));
    calls->list[calls->count++] = *call;
    return true;
}

static struct scanned_calls scanned_follow(const struct analysis *analysis)
{
    struct scanned_calls calls = { .count = 0 };
    analysis_follow_calls(analysis, true, scanned_keep, &calls);
    return calls;
}

static void scanned_keep_some(void *context, const struct finished_call *call)
{
    scanned_keep(context, call);
}

static int scanned_compare(const void *a, const void *b)
{
    const struct finished_call *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return memcmp(x->times, y->times, sizeof x->times);
}

struct kept_amounts {
    struct call_amount list[MAX_SCANNED];
    size_t count;
};

static void scanned_keep_amounts(void *context, const struct call_amount *amounts, size_t count)
{
    struct kept_amounts *kept = context;
    for (size_t i = 0; i < count; i++) {
        cr_assert(lt(sz, kept->count, MAX_SCANNED));
        kept->list[kept->count++] = amounts[i];
    }
}

static int scanned_compare_amounts(const void *a, const void *b)
{
    const struct call_amount *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->time == y->time ? 0 : x->time < y->time ? -1 : 1;
}

/* The elapsed inclusive times that workers find are those of the calls found in the order of time. */
static void scanned_check_elapsed(const struct analysis *analysis, const struct scanned_calls *calls)
{
    struct kept_amounts *lists = calloc(MAX_SCAN_JOBS, sizeof *lists), wanted = { .count = 0 };
    void *contexts[MAX_SCAN_JOBS];
    for (unsigned i = 0; i < MAX_SCAN_JOBS; i++)
        contexts[i] = &lists[i];
    for (size_t i = 0; i < calls->count; i++)
        scanned_keep_amounts(&wanted,
                             &(struct call_amount){ calls->list[i].times[CALL_ELAPSED_INCLUSIVE], calls->list[i].end,
                                                    calls->list[i].path, calls->list[i].function },
                             1);
    analysis_scan_elapsed(analysis, PROFILE_NONE, scanned_keep_amounts, contexts);
    for (unsigned i = 1; i < analysis->jobs; i++)
        scanned_keep_amounts(&lists[0], lists[i].list, lists[i].count);
    cr_assert(eq(sz, lists[0].count, wanted.count));
    qsort(lists[0].list, lists[0].count, sizeof *lists[0].list, scanned_compare_amounts);
    qsort(wanted.list, wanted.count, sizeof *wanted.list, scanned_compare_amounts);
    for (size_t i = 0; i < wanted.count; i++) {
        cr_assert(eq(u32, lists[0].list[i].path, wanted.list[i].path));
        cr_assert(eq(u32, lists[0].list[i].function, wanted.list[i].function));
        cr_assert(eq(u64, lists[0].list[i].end, wanted.list[i].end));
        cr_assert(eq(u64, lists[0].list[i].time, wanted.list[i].time));
    }
    free(lists);
}

void expect_scan(struct analysis *analysis, unsigned jobs)
{
    struct scanned_calls *lists = calloc(MAX_SCAN_JOBS, sizeof *lists), wanted = scanned_follow(analysis);
    void *contexts[MAX_SCAN_JOBS];
    for (unsigned i = 0; i < MAX_SCAN_JOBS; i++)
        contexts[i] = &lists[i];
    analysis->jobs = jobs;
    analysis_scan_calls(analysis, PROFILE_NONE, scanned_keep_some, contexts);
    for (unsigned i = 1; i < jobs; i++)
        for (size_t j = 0; j < lists[i].count; j++)
            scanned_keep(&lists[0], &lists[i].list[j]);
    cr_assert(eq(sz, lists[0].count, wanted.count));
    qsort(lists[0].list, lists[0].count, sizeof *lists[0].list, scanned_compare);
    qsort(wanted.list, wanted.count, sizeof *wanted.list, scanned_compare);
    for (size_t i = 0; i < wanted.count; i++) {
        const struct finished_call *x = &wanted.list[i], *y = &lists[0].list[i];
        cr_assert(eq(u64, y->begin, x->begin));
        cr_assert(eq(u64, y->end, x->end));
        cr_assert(eq(u32, y->function, x->function));
        cr_assert(eq(u32, y->caller, x->caller));
        cr_assert(eq(u32, y->path, x->path));
        cr_assert(eq(u64, y->blocked, x->blocked));
        cr_assert(eq(u64, y->off_cpu, x->off_cpu));
        for (int time = 0; time < CALL_TIMES; time++)
            cr_assert(eq(u64, y->times[time], x->times[time]));
    }
    free(lists);
    scanned_check_elapsed(analysis, &wanted);
}
