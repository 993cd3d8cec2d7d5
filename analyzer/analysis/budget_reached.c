/*
 * How much of the program's time recording took, beside the budget that was asked for. Samples in probes say what these
 * took, their calls and caches included. Too few samples, as in mode profile, say nothing: then it is the time of
 * probes that was subtracted. Samples, counted calls and changes of code have costs of their own.
 */
#include "analysis/budget_reached.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/probe_share.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/text_options.h"
#include "base/units.h"
#include "profile/values.h"
#include "trace/recorded_values.h"

enum {
    ENOUGH = 100,        /* samples */
    MOST_PERCENT = 1000, /* the program's own time is too little for a larger one to be known */
};

static uint64_t budget_reached_counted(const struct profile *p)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < p->counted_count; i++)
        calls += p->counted[i].calls;
    return calls;
}

/* Nanoseconds that samples in stubs stand for: these count most calls that are not counted in place. */
static uint64_t budget_reached_in_stubs(const struct profile *p)
{
    uint64_t time = 0;
    for (size_t i = 0; i < p->node_count; i++)
        time = add_saturated(time, p->nodes[i].stub_time);
    return time;
}

/* Seconds of the program's own time: of processors, so that waits and other programs do not hide a cost. */
static double budget_reached_own(const struct summary *summary)
{
    const uint64_t own = times_value(&summary->sums, probe_share_rest(summary), INCLUSIVE);
    return (double)own / (double)summary->ticks_per_second;
}

/* Percent of the program's own time, without what is in it by other means. */
static double budget_reached_percent(const struct analysis *analysis)
{
    const struct summary *summary = &analysis->summary;
    const struct dwell_file_header *h = &analysis->file->header;
    const double own = budget_reached_own(summary), ns = 1e-9;
    if (own <= 0)
        return 0;
    const double changes = (double)analysis->file->more.change_time * ns / own * 100;
    const uint64_t all = analysis->profile->sampled_time, in_probes = analysis->profile->sampled_in_probes;
    if (summary->stack_samples < ENOUGH || in_probes == all)
        return (double)summary->overhead / (double)summary->ticks_per_second / own * 100 + changes;
    /* Samples may stand for unequal times. Those in stubs have the cost of counting, so it is not added once more. */
    const double probes = (double)in_probes / (double)(all - in_probes) * 100,
                 stubs = (double)budget_reached_in_stubs(analysis->profile) / (double)(all - in_probes) * 100;
    const double samples = (double)summary->stack_samples * h->sample_cost * ns / own * 100;
    const double counted = (double)budget_reached_counted(analysis->profile) * h->count_cost * ns / 1000 / own * 100;
    return probes + samples + (counted > stubs ? counted - stubs : 0) + changes;
}

/* Calls with recorded values. */
static uint64_t budget_reached_valued(const struct session_file *file)
{
    uint64_t calls = 0;
    if (!file->more.values)
        return 0;
    struct recorded_values values = recorded_values_list(file);
    for (size_t i = 0; i < values.function_count; i++)
        calls += values.functions[i].rows;
    recorded_values_free(&values);
    return calls;
}

/* The budget changes neither which functions have values nor what these cost: about that of one or two events. Where
 * they are not too dear, and the budget has changed nothing, there is nothing to say. */
static void budget_reached_remark(struct summary *summary, const struct analysis *analysis)
{
    static const double ns_of_values = 25;
    const uint64_t valued = budget_reached_valued(analysis->file);
    if ((double)valued * ns_of_values / 1e9 > budget_reached_own(summary) * summary->asked_percent / 100)
        summary_remark_doubt(summary, "budget-exceeded",
                             "overhead above the budget: values of %s; name rarer functions", COUNTED(valued, "call"));
    else if (summary->budget_acted)
        summary_remark_doubt(summary, "budget-exceeded", "overhead above the budget, %s",
                             budget_reached_counted(analysis->profile)
                                 ? "before it knew the functions: record --levels-from"
                                 : "as recursion is timed until its outermost call ends");
}

void budget_reached_find(struct analysis *analysis)
{
    struct summary *summary = &analysis->summary;
    const double asked = analysis->file->more.overhead / 10.0;
    summary->asked_percent = summary->reached_percent = 0;
    summary->budget_acted = analysis->file->levels.decision_count > 0;
    if (asked <= 0 || summary->raw || analysis->selection || summary->partial_paths)
        return;
    summary->asked_percent = asked;
    summary->reached_percent = budget_reached_percent(analysis);
    const bool is_short = summary->overhead < summary->ticks_per_second / 10; /* not worth a remark */
    if (summary->reached_percent > 1.5 * asked && !is_short)
        budget_reached_remark(summary, analysis);
}

char *budget_reached_text(const struct summary *summary)
{
    if (summary->asked_percent <= 0)
        return NULL;
    if (summary->reached_percent > MOST_PERCENT)
        return need_text("overhead %g %% asked, over %d %% reached", summary->asked_percent, MOST_PERCENT);
    const int digits = summary->reached_percent < 9.95;
    return need_text("overhead %g %% asked, %.*f %% reached", summary->asked_percent, digits, summary->reached_percent);
}

/* Otherwise recording consisted of probes alone. */
static bool budget_has_acted(const struct summary *summary)
{
    return summary->budget_acted && summary->asked_percent > 0;
}

/* The time of the probes in percent of the program's own; negative if it is unknown. */
static double budget_probes_percent(const struct summary *summary)
{
    const uint64_t own = times_value(&summary->sums, probe_share_rest(summary), INCLUSIVE);
    return summary->overhead_known && own ? percent_of(summary->overhead, own) : -1;
}

static char *budget_percent_text(double percent)
{
    return percent > MOST_PERCENT ? need_text("over %d %%", MOST_PERCENT)
                                  : need_text("%.*f %%", percent < 9.95, percent);
}

char *budget_added_text(const struct summary *summary)
{
    const bool asked = budget_has_acted(summary);
    const double percent = asked ? summary->reached_percent : budget_probes_percent(summary);
    const char *of = summary->off_cpu_known ? "CPU" : "elapsed";
    if (percent < 0)
        return NULL;
    char *added = budget_percent_text(percent);
    char *text =
        asked ? need_text("recording added %s to the %s time (%g %% asked)", added, of, summary->asked_percent)
              : need_text("probes added %s to the %s time, left out here%s", added, of, summary->raw ? "" : " (--raw)");
    free(added);
    return text;
}

/* "33.8 ms, 4.3 %, are left out as the probes' own". */
static char *budget_subtracted_text(const struct summary *summary)
{
    char time[TIME_TEXT], *percent = budget_percent_text(budget_probes_percent(summary));
    text_time(ticks_to_ns(summary->overhead, summary->ticks_per_second), time);
    char *text = need_text("%s, %s, are left out as the probes' own", time, percent);
    free(percent);
    return text;
}

char *budget_parts_text(const struct summary *summary)
{
    if (budget_probes_percent(summary) < 0)
        return NULL;
    char *subtracted = budget_subtracted_text(summary), *added = budget_added_text(summary);
    const bool asked = budget_has_acted(summary), sampled = asked && summary->stack_samples;
    char *samples = sampled ? need_text("; %.1f %% of the samples are in probes",
                                        percent_of(summary->samples_in_probes, summary->stack_samples))
                            : need_text("%s", "");
    char *text =
        asked ? need_text("%s: %s%s", added + strlen("recording "), subtracted, samples) : need_text("%s", subtracted);
    free(samples);
    free(added);
    free(subtracted);
    return text;
}
