/* The views of single calls of one function: a histogram of their durations, and the slowest calls. */
#include <stdlib.h>
#include <string.h>

#include "base/duration_buckets.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/calls.h"
#include "tables/value_cells.h"
#include "tables/views.h"

const char *const call_time_names[CALL_TIMES] = {
    [CALL_ELAPSED_INCLUSIVE] = "elapsed_inclusive",
    [CALL_ELAPSED_EXCLUSIVE] = "elapsed_exclusive",
    [CALL_APPLICATION_INCLUSIVE] = "application_inclusive",
    [CALL_APPLICATION_EXCLUSIVE] = "application_exclusive",
};

/* ---- histogram ---- */

const struct column view_histogram_columns[] = {
    { "from", "FROM", CELL_TICKS, USE_ALWAYS, false },
    { "to", "TO", CELL_TICKS, USE_ALWAYS, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "calls_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "calls_cumulated_percent", "CUMUL %", CELL_PERCENT, USE_ALWAYS, false },
    { "total", "TOTAL", CELL_TICKS, USE_ALWAYS, false },
    { "total_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "bar", "", CELL_TEXT, USE_TEXT, false },
};
enum {
    HISTOGRAM_COLUMNS = sizeof view_histogram_columns / sizeof *view_histogram_columns,
    BAR = HISTOGRAM_COLUMNS - 1
};
const size_t view_histogram_column_count = HISTOGRAM_COLUMNS;

enum { BUCKETS = DURATION_BUCKETS, LONGEST_BAR = 40 };

/* Calls that take so many ticks. */
struct distribution_small {
    uint64_t calls;
    uint64_t total; /* in 1/256 ticks */
};

enum { SMALL = 1024 };

struct distribution_buckets {
    uint64_t ticks_per_second;
    enum call_time time;
    uint64_t begins[BUCKETS + 2]; /* ticks */
    uint8_t guesses[65];          /* by number of bits: the bucket of the smallest number with that many */
    uint64_t calls[BUCKETS];
    int128 total[BUCKETS]; /* in 1/256 ticks */
    struct call_spread exact;
    struct distribution_small small[SMALL]; /* by number of ticks; they are in no bucket before distribution_finish */
};

/* The first tick of a bucket. */
static uint64_t distribution_bucket_ticks(unsigned bucket, uint64_t ticks_per_second)
{
    const uint64_t ns = duration_bucket_begin(bucket);
    const uint128 about = (uint128)ns * ticks_per_second / 1000000000;
    if (about >= UINT64_MAX)
        return UINT64_MAX;
    uint64_t ticks = (uint64_t)about;
    while (ticks_to_ns(ticks, ticks_per_second) < ns) /* both loops make a step or two */
        ticks++;
    while (ticks && ticks_to_ns(ticks - 1, ticks_per_second) >= ns)
        ticks--;
    return ticks;
}

static struct distribution_buckets distribution_new_buckets(enum call_time time, uint64_t ticks_per_second)
{
    struct distribution_buckets b = { .time = time, .ticks_per_second = ticks_per_second };
    for (unsigned i = 0; i < BUCKETS; i++)
        b.begins[i] = distribution_bucket_ticks(i, ticks_per_second);
    b.begins[BUCKETS] = b.begins[BUCKETS + 1] = UINT64_MAX;
    for (unsigned bits = 1, bucket = 0; bits <= 64; bits++) {
        while (bucket + 1 < BUCKETS && b.begins[bucket + 1] <= 1ull << (bits - 1))
            bucket++;
        b.guesses[bits] = (uint8_t)bucket;
    }
    return b;
}

/* Each bucket is about twice as wide as the one before, so few begin among the numbers of so many bits. */
static unsigned distribution_bucket_of(const struct distribution_buckets *b, uint64_t ticks)
{
    unsigned bucket = b->guesses[ticks ? 64 - __builtin_clzll(ticks) : 0];
    while (bucket + 1 < BUCKETS && ticks >= b->begins[bucket + 1])
        bucket++;
    return bucket;
}

static void distribution_add(struct distribution_buckets *b, uint64_t ticks, uint64_t calls, int128 total)
{
    const unsigned bucket = distribution_bucket_of(b, ticks);
    b->calls[bucket] += calls;
    b->total[bucket] += total;
    call_spread_add_times(&b->exact, ticks, calls, total);
}

static inline void distribution_add_amount(struct distribution_buckets *b, uint64_t amount)
{
    const uint64_t ticks = call_ticks(amount);
    if (__builtin_expect(amount >= (uint64_t)(SMALL - 1) * DWELL_PROBE_FRACTION, 0)) {
        distribution_add(b, ticks, 1, (int64_t)amount);
        return;
    }
    b->small[ticks].calls++;
    b->small[ticks].total += amount;
}

static void distribution_add_call(void *context, const struct finished_call *call)
{
    struct distribution_buckets *b = context;
    distribution_add_amount(b, call->times[b->time]);
}

static void distribution_add_amounts(void *context, const struct call_amount *amounts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        distribution_add_amount(context, amounts[i].time);
}

static void distribution_finish(struct distribution_buckets *b)
{
    for (uint64_t i = 0; i < SMALL; i++)
        if (b->small[i].calls)
            distribution_add(b, i, b->small[i].calls, b->small[i].total);
    call_spread_finish(&b->exact);
}

static void distribution_merge(struct distribution_buckets *into, struct distribution_buckets *from)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        into->calls[i] += from->calls[i];
        into->total[i] += from->total[i];
    }
    call_spread_merge(&into->exact, &from->exact);
    call_spread_drop(&from->exact);
}

static void distribution_fill_bar(struct cell *cell, uint64_t calls, uint64_t most, bool wide)
{
    char bar[LONGEST_BAR * 3 + 1] = "";
    const unsigned length = (unsigned)((calls * LONGEST_BAR + most - 1) / most);
    for (unsigned i = 0; i < length; i++)
        strcat(bar, wide ? "\u2588" : "#");
    cell_text(cell, bar);
}

/* In nanoseconds. Calls that are shorter than their probes should have been can make a bucket's sum negative. Such a
 * sum is shown as zero and subtracted from the next bucket, so that the totals add up. */
static uint64_t distribution_total(const struct distribution_buckets *b, unsigned bucket, int128 *missing)
{
    const int128 sum = b->total[bucket] + *missing;
    *missing = sum < 0 ? sum : 0;
    const uint64_t ticks = sum < 0 ? 0 : (uint64_t)((sum + DWELL_PROBE_FRACTION / 2) / DWELL_PROBE_FRACTION);
    return ticks_to_ns(ticks, b->ticks_per_second);
}

static void distribution_fill_buckets(struct table *t, const struct distribution_buckets *b, bool wide)
{
    unsigned first = BUCKETS, last = 0;
    uint64_t most = 1, cumulated = 0;
    int128 missing = 0;
    const uint64_t all =
        b->exact.sum > 0 ? ticks_to_ns((uint64_t)(b->exact.sum / DWELL_PROBE_FRACTION), b->ticks_per_second) : 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        if (!b->calls[i])
            continue;
        first = i < first ? i : first;
        last = i;
        most = b->calls[i] > most ? b->calls[i] : most;
    }
    for (unsigned i = first; i <= last && first < BUCKETS; i++) {
        struct cell *cells = table_row(t);
        cumulated += b->calls[i];
        cell_number(&cells[0], duration_bucket_begin(i));
        cell_number(&cells[1], i + 1 < BUCKETS ? duration_bucket_begin(i + 1) : UINT64_MAX);
        cell_number(&cells[2], b->calls[i]);
        cell_percent(&cells[3], percent_of(b->calls[i], b->exact.count));
        cell_percent(&cells[4], percent_of(cumulated, b->exact.count));
        const uint64_t total = distribution_total(b, i, &missing);
        cell_number(&cells[5], total);
        cell_percent(&cells[6], percent_of(total, all));
        distribution_fill_bar(&cells[BAR], b->calls[i], most, wide);
    }
}

struct table view_histogram(const struct analysis *analysis, uint32_t function, enum call_time time, bool wide,
                            struct call_spread *exact)
{
    const unsigned jobs = analysis_jobs(analysis);
    struct distribution_buckets *buckets = need_memory(jobs, sizeof *buckets);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        buckets[i] = distribution_new_buckets(time, analysis->summary.ticks_per_second);
        contexts[i] = &buckets[i];
    }
    if (time == CALL_ELAPSED_INCLUSIVE)
        analysis_scan_elapsed(analysis, function, distribution_add_amounts, contexts);
    else
        analysis_scan_calls(analysis, function, distribution_add_call, contexts);
    for (unsigned i = 0; i < jobs; i++)
        distribution_finish(&buckets[i]);
    for (unsigned i = 1; i < jobs; i++)
        distribution_merge(&buckets[0], &buckets[i]);
    static const size_t groups[HISTOGRAM_COLUMNS] = { [0] = OWN_UNITS, [1] = OWN_UNITS };
    struct table t = table_make(view_histogram_columns, HISTOGRAM_COLUMNS, NULL);
    t.unit_groups = groups;
    t.about = &analysis->summary;
    distribution_fill_buckets(&t, &buckets[0], wide);
    *exact = buckets[0].exact;
    free(contexts);
    free(buckets);
    return t;
}

/* ---- the slowest calls ---- */

const struct column view_slowest_columns[] = {
    { "time", "TIME", CELL_MOMENT, USE_ALWAYS, false },
    { "elapsed_inclusive", "EL.INCL", CELL_TICKS, USE_ALWAYS, false },
    { "elapsed_exclusive", "EL.EXCL", CELL_TICKS, USE_ALWAYS, false },
    { "application_inclusive", "APP.INCL", CELL_TICKS, USE_ALWAYS, false },
    { "application_exclusive", "APP.EXCL", CELL_TICKS, USE_ALWAYS, false },
    { "blocked_inclusive", "BL.INCL", CELL_TICKS, USE_ALWAYS, false },
    { "preempted_inclusive", "PRE.INCL", CELL_TICKS, USE_ALWAYS, false },
    { "tid", "TID", CELL_COUNT, USE_ALWAYS, false },
    { "pid", "PROCESS", CELL_COUNT, USE_ALWAYS, false },
    { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false },
    { "caller", "CALLER", CELL_NAME, USE_ALWAYS, false },
    { "thread_title", "TITLE", CELL_TEXT, USE_DATA, false },
};
enum { SLOWEST_COLUMNS = sizeof view_slowest_columns / sizeof *view_slowest_columns };
const size_t view_slowest_column_count = SLOWEST_COLUMNS;

/* The slowest calls so far: a heap whose first call is the fastest of them. */
struct slowest_calls {
    enum call_time time;
    struct finished_call *calls;
    size_t count, room, limit;
};

/* If two calls took equally long, the earlier one counts as the slower. So the result does not depend on the order in
 * which they are added. */
static bool slowest_is_slower(const struct slowest_calls *s, const struct finished_call *a,
                              const struct finished_call *b)
{
    if (a->times[s->time] != b->times[s->time])
        return (int64_t)a->times[s->time] > (int64_t)b->times[s->time];
    if (a->begin != b->begin)
        return a->begin < b->begin;
    if (a->thread != b->thread)
        return a->thread < b->thread;
    return a->end != b->end ? a->end > b->end : a->path < b->path;
}

static void slowest_sift_down(struct slowest_calls *s, size_t at)
{
    const struct finished_call call = s->calls[at];
    for (size_t child; (child = 2 * at + 1) < s->count; at = child) {
        if (child + 1 < s->count && slowest_is_slower(s, &s->calls[child], &s->calls[child + 1]))
            child++;
        if (!slowest_is_slower(s, &call, &s->calls[child]))
            break;
        s->calls[at] = s->calls[child];
    }
    s->calls[at] = call;
}

static void slowest_add_call(void *context, const struct finished_call *call)
{
    struct slowest_calls *s = context;
    if (s->count < s->limit) {
        GROW(s->calls, s->count, s->room);
        s->calls[s->count++] = *call;
        for (size_t i = s->count / 2; s->count == s->limit && i-- > 0;)
            slowest_sift_down(s, i);
    } else if (slowest_is_slower(s, call, &s->calls[0])) {
        s->calls[0] = *call;
        slowest_sift_down(s, 0);
    }
}

static int slowest_compare_calls(const void *a, const void *b, void *context)
{
    return slowest_is_slower(context, a, b) ? -1 : 1;
}

static void slowest_fill_call(struct cell *cells, const struct analysis *analysis, const struct finished_call *call)
{
    const struct trace_thread *t = session_file_thread(analysis->file, call->thread);
    const struct trace_process *p = session_file_process(analysis->file, call->process);
    const uint64_t start = analysis->file->header.start_ticks;
    cell_number(&cells[0], call->begin > start ? call->begin - start : 0);
    for (int i = 0; i < CALL_TIMES; i++)
        if (i < CALL_APPLICATION_INCLUSIVE || analysis->summary.application_known)
            cell_call_time(&cells[1 + i], call_ticks(call->times[i]), &analysis->summary);
    if (analysis->summary.off_cpu_known) {
        cell_number(&cells[5], call_ticks(call->blocked));
        cell_number(&cells[6], call_ticks(call->off_cpu - call->blocked));
    }
    if (t && t->tid)
        cell_number(&cells[7], t->tid);
    if (p && p->pid)
        cell_number(&cells[8], p->pid);
    cell_thread(&cells[9], analysis, call->thread, t && t->name[0] ? t->name : "[unknown]");
    cell_thread_title(&cells[11], &cells[9]);
    cell_text(&cells[10], call->caller == PROFILE_NONE ? "(start of thread)" : analysis->names[call->caller].name);
}

/* In the order in which columns leave a narrow terminal: the time by which the calls are chosen stays. */
static const char *const slowest_optional[CALL_TIMES][6] = {
    [CALL_ELAPSED_INCLUSIVE] = { "preempted_inclusive", "application_exclusive", "pid", "elapsed_exclusive",
                                 "application_inclusive", NULL },
    [CALL_ELAPSED_EXCLUSIVE] = { "preempted_inclusive", "application_inclusive", "pid", "blocked_inclusive",
                                 "application_exclusive", NULL },
    [CALL_APPLICATION_INCLUSIVE] = { "preempted_inclusive", "application_exclusive", "pid", "elapsed_exclusive",
                                     "blocked_inclusive", NULL },
    [CALL_APPLICATION_EXCLUSIVE] = { "preempted_inclusive", "application_inclusive", "pid", "blocked_inclusive",
                                     "elapsed_inclusive", NULL },
};

struct table view_slowest(const struct analysis *analysis, uint32_t function, enum call_time time, size_t limit)
{
    const unsigned jobs = analysis_jobs(analysis);
    struct slowest_calls *lists = need_memory(jobs, sizeof *lists), *all = &lists[0];
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        lists[i] = (struct slowest_calls){ .time = time, .limit = limit };
        contexts[i] = &lists[i];
    }
    analysis_scan_calls(analysis, function, slowest_add_call, contexts);
    for (unsigned i = 1; i < jobs; i++) {
        for (size_t j = 0; j < lists[i].count; j++)
            slowest_add_call(all, &lists[i].calls[j]);
        free(lists[i].calls);
    }
    if (all->count)
        qsort_r(all->calls, all->count, sizeof *all->calls, slowest_compare_calls, all);
    struct value_cells values = value_cells_begin(analysis, function);
    struct table t = value_cells_table(&values, view_slowest_columns, SLOWEST_COLUMNS, &analysis->summary);
    t.optional = slowest_optional[time];
    for (size_t i = 0; i < all->count; i++) {
        struct cell *row = table_row(&t);
        slowest_fill_call(row, analysis, &all->calls[i]);
        value_cells_fill(&values, row, all->calls[i].thread, all->calls[i].begin);
    }
    free(all->calls);
    free(contexts);
    free(lists);
    return t;
}
