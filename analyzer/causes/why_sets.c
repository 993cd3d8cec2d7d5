/* Chooses the slow and the usual calls of a function by how long they took. */
#include <math.h>
#include <stdlib.h>

#include "base/counted_text.h"
#include "base/histogram.h"
#include "base/memory.h"
#include "causes/why.h"
#include "causes/why_durations.h"
#include "profile/durations.h"

static const uint64_t ns_per_second = 1000000000;

/* So many calls of each set are enough to test what is chance. */
enum { MOST_SLOW_SAMPLES = 1000, MOST_USUAL_SAMPLES = 4000 };

/* What a worker finds out about the calls. */
struct why_list {
    struct why_durations durations;
    bool wants_values;                 /* arguments can be factors */
    bool wants_moment, wants_duration; /* `call` becomes the longest one that was open at `wanted`; or the first one */
    uint64_t wanted;                   /* that took so long */
    struct why_call call;
    bool found;
};

/* How the sessions are read, one after the other. */
struct why_plans {
    struct why_plan *list;
    size_t count;
    uint64_t rate; /* ticks per second of durations of calls */
};

/* The limits of the sets. */
struct why_limits {
    uint64_t slow_from; /* ticks */
    uint64_t usual_from, usual_to;
    bool single; /* `call` is the only slow one */
    struct why_call call;
    struct why_set sets[WHY_SETS];
    struct why_duration *durations;
    size_t duration_count, duration_room;
};

static bool why_is_earlier(const struct why_call *a, const struct why_call *b)
{
    if (a->session != b->session)
        return a->session < b->session;
    return a->begin != b->begin ? a->begin < b->begin : a->thread < b->thread;
}

static bool why_is_better(const struct why_list *list, const struct why_call *a, const struct why_call *b)
{
    if (list->wants_moment && a->duration != b->duration)
        return a->duration > b->duration;
    return why_is_earlier(a, b);
}

static unsigned why_list_call(void *context, const struct why_call *call)
{
    struct why_list *list = context;
    const bool wanted = list->wants_moment     ? call->begin <= list->wanted && list->wanted < call->end
                        : list->wants_duration ? call->duration == list->wanted
                                               : false;
    if (wanted && (!list->found || why_is_better(list, call, &list->call))) {
        list->call = *call;
        list->found = true;
    }
    if (!list->wants_duration)
        why_durations_add(&list->durations, call->duration, 1);
    return WHY_NEITHER;
}

/* A fault takes a microsecond or two, and up to 20 with the work on a page that is large or was elsewhere. On a machine
 * that is busy, or that has to get its own memory from a host, it takes longer. The cheapest tenth of the intervals
 * with many faults shows that. If even these take longer than 50 us a fault, they are no measure: they compute. */
static uint64_t why_fault_ticks(const struct durations *faults, const struct analysis *analysis)
{
    enum { FEW = 20, TIMES = 8 };
    static const double usual_ns = 20000, most_ns = 50000, cheapest = 10;
    const double ticks_per_ns = (double)analysis->summary.ticks_per_second / 1e9;
    const uint64_t usual = (uint64_t)(usual_ns * ticks_per_ns), most = (uint64_t)(most_ns * ticks_per_ns);
    uint64_t cheap;
    durations_percentiles(faults, &cheapest, &cheap, 1);
    return durations_calls(faults) < FEW || cheap > most ? usual : larger(usual, TIMES * cheap);
}

/* Adds the calls of a session, which all workers list. The first time, it finds what a page fault takes there. */
static void why_list_session(struct why_list *all, struct why_plan *plan)
{
    const unsigned jobs = analysis_jobs(plan->loaded);
    struct why_list *lists = need_memory(jobs, sizeof *lists);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        lists[i] = (struct why_list){ .wants_moment = all->wants_moment,
                                      .wants_duration = all->wants_duration,
                                      .wanted = all->wanted };
        contexts[i] = &lists[i];
    }
    plan->choose = why_list_call;
    plan->contexts = contexts;
    struct why_found found = why_scan(plan);
    plan->fault_ticks = why_fault_ticks(found.faults, plan->loaded);
    why_found_drop(&found);
    for (unsigned i = 0; i < jobs; i++) {
        for (size_t j = 0; j < lists[i].durations.count; j++)
            why_durations_add(&all->durations, lists[i].durations.list[j].ticks, lists[i].durations.list[j].calls);
        if (lists[i].found && (!all->found || why_is_better(all, &lists[i].call, &all->call))) {
            all->call = lists[i].call;
            all->found = true;
        }
        why_durations_drop(&lists[i].durations);
    }
    free(contexts);
    free(lists);
}

/* Lists the calls of all sessions. The durations are sorted. */
static void why_list_calls(struct why_list *all, const struct why_plans *plans)
{
    for (size_t i = 0; i < plans->count; i++)
        why_list_session(all, &plans->list[i]);
    why_durations_sort(&all->durations);
}

/* By nearest rank. */
static uint64_t why_percentile(const struct why_list *list, double percent)
{
    const uint64_t calls = list->durations.calls;
    const double rank = ceil((double)calls * percent / 100 - 1e-9);
    const uint64_t at = rank < 1 ? 0 : (uint64_t)rank - 1;
    return why_durations_at(&list->durations, at < calls ? at : calls - 1);
}

static uint64_t why_ticks(uint64_t rate, uint64_t ns)
{
    return (uint64_t)((uint128)ns * rate / ns_per_second);
}

/* If half of the calls took as long as the slowest share, only those that took longer are slow. */
static uint64_t why_share_limit(const struct why_list *list, double percent)
{
    const uint64_t calls = list->durations.calls;
    const double wanted = ceil((double)calls * percent / 100 - 1e-9);
    const uint64_t count = wanted < 1 ? 1 : (uint64_t)wanted;
    const uint64_t limit = why_durations_at(&list->durations, calls - (count < calls ? count : calls));
    const bool is_median = limit == why_durations_at(&list->durations, calls / 2);
    return is_median && calls > 1 && percent < 50 ? limit + 1 : limit;
}

/* The wanted call is one of its rank, or one that was open at the moment. */
static bool why_find_call(struct why_limits *limits, const struct why_plans *plans, const struct why_list *list,
                          const struct why_choice *choice, struct error *error)
{
    limits->single = true;
    limits->call = list->call;
    if (choice->slow == WHY_MOMENT && !list->found)
        return error_set(error, "no call of the function that was recorded as a whole was open at that time");
    if (choice->slow == WHY_MOMENT)
        return true;
    const uint64_t calls = list->durations.calls;
    if (choice->number > calls)
        return error_set(error, "there %s only %s of the function that %s recorded as a whole",
                         counted_word(calls, "is", "are"), COUNTED(calls, "call"), counted_word(calls, "was", "were"));
    struct why_list again = { .wants_duration = true,
                              .wanted = why_durations_at(&list->durations, calls - choice->number) };
    why_list_calls(&again, plans);
    limits->call = again.call;
    return true;
}

static bool why_find_limits(struct why_limits *limits, const struct why_plans *plans, const struct why_list *list,
                            const struct why_choice *choice, struct error *error)
{
    *limits = (struct why_limits){ .slow_from = UINT64_MAX, .usual_to = UINT64_MAX };
    switch (choice->slow) {
    case WHY_SHARE:
        limits->slow_from = why_share_limit(list, choice->percent);
        break;
    case WHY_ABOVE:
        limits->slow_from = why_ticks(plans->rate, choice->number) + 1;
        break;
    case WHY_PERCENTILE:
        limits->slow_from = why_percentile(list, choice->percent) + 1;
        break;
    case WHY_RANK:
    case WHY_MOMENT:
        if (!why_find_call(limits, plans, list, choice, error))
            return false;
        break;
    }
    if (choice->between) {
        limits->usual_from = why_percentile(list, choice->from);
        limits->usual_to = why_percentile(list, choice->to);
    }
    return true;
}

static unsigned why_set_of(const struct why_limits *limits, const struct why_call *call)
{
    const bool slow = limits->single ? call->session == limits->call.session && call->thread == limits->call.thread &&
                                           call->begin == limits->call.begin
                                     : call->duration >= limits->slow_from;
    if (slow)
        return WHY_SLOW;
    return call->duration >= limits->usual_from && call->duration <= limits->usual_to ? WHY_USUAL : WHY_NEITHER;
}

static unsigned why_choose_set(void *context, const struct why_call *call)
{
    return why_set_of(context, call);
}

/* Calls come in the order of their durations. */
static void why_add_duration(struct why_limits *limits, uint64_t ticks, unsigned set, uint64_t calls)
{
    const uint64_t rounded = histogram_round(ticks);
    if (!limits->duration_count || limits->durations[limits->duration_count - 1].ticks != rounded) {
        GROW(limits->durations, limits->duration_count, limits->duration_room);
        limits->durations[limits->duration_count++] = (struct why_duration){ .ticks = rounded };
    }
    limits->durations[limits->duration_count - 1].calls[set] += calls;
}

/* Adds calls of one duration to their set. */
static void why_count_calls(struct why_limits *limits, const struct why_call *call, uint64_t calls)
{
    const unsigned set = why_set_of(limits, call);
    if (set >= WHY_SETS || !calls)
        return;
    struct why_set *s = &limits->sets[set];
    s->least = s->calls ? s->least : call->duration;
    s->calls += calls;
    s->ticks += calls * call->duration;
    why_add_duration(limits, call->duration, set, calls);
}

/* Counts the calls of both sets. */
static void why_count_sets(struct why_limits *limits, const struct why_durations *durations)
{
    for (size_t i = 0; i < durations->count; i++) {
        const struct why_calls_of *of = &durations->list[i];
        const bool has_single = limits->single && of->ticks == limits->call.duration;
        if (has_single)
            why_count_calls(limits, &limits->call, 1);
        const struct why_call others = { .duration = of->ticks, .thread = UINT32_MAX };
        why_count_calls(limits, &others, of->calls - has_single);
    }
}

/* Reads a session once more, for what its calls did. */
static void why_compare_session(struct why *why, const struct why_session *session, struct why_plan *plan,
                                struct why_limits *limits)
{
    const unsigned jobs = analysis_jobs(plan->loaded);
    const struct why_waits waits = session->waits ? *session->waits : why_waits_find(plan->loaded);
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++)
        contexts[i] = limits;
    plan->contexts = contexts;
    plan->choose = why_choose_set;
    plan->waits = &waits;
    plan->sampled[WHY_SLOW] = MOST_SLOW_SAMPLES / (double)why->sets[WHY_SLOW].calls;
    plan->sampled[WHY_USUAL] = MOST_USUAL_SAMPLES / (double)why->sets[WHY_USUAL].calls;
    struct why_found found = why_scan(plan);
    why_join(why, session, plan, &found, &waits);
    free(contexts);
}

/* Of several sessions, a set takes what the rows do: these were rounded by session. */
static void why_add_up_sets(struct why *why)
{
    for (int set = 0; set < WHY_SETS; set++) {
        why->sets[set].ticks = 0;
        for (size_t i = 0; i < why->scan.row_count; i++)
            why->sets[set].ticks += why->scan.rows[i].sets[set].ticks;
    }
}

static void why_compare(struct why *why, const struct why_session *sessions, const struct why_plans *plans,
                        struct why_limits *limits, const struct why_list *list)
{
    why_count_sets(limits, &list->durations);
    *why = (struct why){ .calls = list->durations.calls,
                         .call = limits->call,
                         .rate = plans->rate,
                         .durations = limits->durations,
                         .duration_count = limits->duration_count };
    for (int set = 0; set < WHY_SETS; set++)
        why->sets[set] = limits->sets[set];
    if (!why_has_sets(why))
        return;
    why->parts = need_memory(plans->count, sizeof *why->parts);
    for (size_t i = 0; i < plans->count; i++)
        why_compare_session(why, &sessions[i], &plans->list[i], limits);
    if (plans->count > 1)
        why_add_up_sets(why);
    why_join_waits(why);
    why_make_lines(why);
    why_find_meanwhile(why);
    why->factors = why_factors_find(why->parts, why->part_count, &why->scan, list->wants_values);
}

static struct why_plans why_make_plans(const struct why_session *sessions, size_t count)
{
    struct why_plans plans = { need_memory(count, sizeof *plans.list), count, ns_per_second };
    for (size_t i = 0; i < count; i++)
        plans.list[i] = (struct why_plan){ .loaded = sessions[i].analysis,
                                           .function = sessions[i].function,
                                           .session = (unsigned)i,
                                           .rate = sessions[i].analysis->summary.ticks_per_second };
    if (count > 1)
        return plans;
    plans.rate = plans.list[0].rate;
    plans.list[0].rate = 0;
    return plans;
}

bool why_find_several(struct why *why, const struct why_session *sessions, size_t count,
                      const struct why_choice *choice, struct error *error)
{
    struct why_plans plans = why_make_plans(sessions, count);
    struct why_limits limits = { .slow_from = 0 };
    struct why_list list = { .wants_moment = choice->slow == WHY_MOMENT, .wants_values = choice->values };
    list.wanted = sessions[0].analysis->file->header.start_ticks + why_ticks(plans.rate, choice->number);
    why_list_calls(&list, &plans);
    const bool known = list.durations.calls ? why_find_limits(&limits, &plans, &list, choice, error)
                                            : error_set(error, "no call of the function was recorded as a whole");
    if (known)
        why_compare(why, sessions, &plans, &limits, &list);
    why_durations_drop(&list.durations);
    free(plans.list);
    return known;
}

bool why_find(struct why *why, const struct analysis *analysis, uint32_t function, const struct why_choice *choice,
              struct error *error)
{
    return why_find_several(why, &(struct why_session){ .analysis = analysis, .function = function }, 1, choice, error);
}

void why_drop(struct why *why)
{
    for (size_t i = 0; i < why->line_count; i++) {
        free(why->lines[i].path);
        free(why->lines[i].meanwhile);
    }
    free(why->lines);
    for (size_t i = 0; i < why->part_count; i++) {
        profile_free(why->parts[i].paths);
        if (!why->parts[i].session.waits)
            why_waits_drop(&why->parts[i].waits);
    }
    free(why->parts);
    free(why->durations);
    why_found_drop(&why->scan);
    why_factors_drop(&why->factors);
}
