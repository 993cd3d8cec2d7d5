/*
 * The time of recorded functions can be less than the kernel's: threads without probes, code outside of all functions,
 * and pauses have CPU time, too. It is never more, unless a host takes processors away from a virtual machine: that
 * time is on the CPU by the records of switches, and not by the kernel. How much a process has of it is unknown.
 *
 * Probes of functions that no recorded function calls take time outside of all functions. It is known, so it is no
 * difference.
 */
#include "analysis/cpu_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/single_calls.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/time_unit.h"
#include "base/units.h"
#include "profile/overhead.h"

#define TOO_LONG " (recorded times are too long)"

enum { LEAST_DIFFERENCE = 20000000 /* nanoseconds */, LEAST_PERCENT = 5 };

static uint64_t cpu_check_ns(const struct analysis *analysis, uint64_t ticks)
{
    return ticks_to_ns(ticks, analysis->summary.ticks_per_second);
}

static void cpu_check_begin(struct cpu_check *checks, const struct session_file *file)
{
    for (size_t i = 0; i < file->process_count; i++) {
        const struct trace_cpu *cpu = &file->processes[i].cpu;
        checks[i] = (struct cpu_check){ .known = cpu->known,
                                        .usage = less(cpu->usage, cpu->runtime),
                                        .kernel = less(cpu->clock, cpu->runtime),
                                        .runtime = smaller(cpu->runtime, cpu->clock),
                                        .stolen = file->more.stolen_time };
    }
    for (size_t i = 0; i < file->thread_count; i++) {
        const size_t process = session_file_process_index(file, file->threads[i].process);
        if (process < file->process_count && !trace_records_switches(&file->threads[i]))
            checks[process].known = false;
    }
}

static void cpu_check_add_functions(struct cpu_check *checks, const struct analysis *analysis)
{
    size_t count;
    uint32_t *list = rollup_process_list(analysis->profile, &count);
    struct times *groups = rollup_groups(analysis->rollup, BY_PROCESS);
    for (size_t i = 0; i < count; i++) {
        const size_t process = session_file_process_index(analysis->file, list[i]);
        if (process < analysis->file->process_count)
            checks[process].functions =
                cpu_check_ns(analysis, times_value(&groups[i], VALUE_CPU, INCLUSIVE) + groups[i].overhead_inclusive);
    }
    free(groups);
    free(list);
}

/* The callers' parts of the probes of outermost calls, and the runtime's recorded work between such calls. */
static void cpu_check_add_outside(struct cpu_check *checks, const struct analysis *analysis)
{
    size_t count;
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    const struct probe_cost **cost = overhead_costs_of_nodes(analysis->profile, costs, count);
    uint64_t *callees = overhead_callees(analysis->profile, analysis->lines != NULL);
    for (size_t i = 0; i < analysis->profile->thread_count; i++) {
        const struct profile_thread *t = &analysis->profile->threads[i];
        const size_t process = session_file_process_index(analysis->file, t->process);
        const uint64_t probes = cost[t->root] ? overhead_in_caller(cost[t->root], callees[t->root]) : 0;
        if (process < analysis->file->process_count)
            checks[process].outside += cpu_check_ns(analysis, probes + t->runtime);
    }
    for (size_t i = 0; i < analysis->file->process_count; i++) {
        const uint64_t outside = less(checks[i].kernel, checks[i].functions);
        checks[i].outside = smaller(checks[i].outside, outside);
        checks[i].rest = outside - checks[i].outside;
    }
    free(callees);
    free(cost);
    free(costs);
}

struct cpu_check *cpu_checks(const struct analysis *analysis)
{
    struct cpu_check *checks = need_memory(analysis->file->process_count + 1, sizeof *checks);
    cpu_check_begin(checks, analysis->file);
    cpu_check_add_functions(checks, analysis);
    cpu_check_add_outside(checks, analysis);
    return checks;
}

static uint64_t cpu_check_difference(const struct cpu_check *c)
{
    return larger(less(c->functions, c->kernel + c->stolen), less(c->kernel, c->functions + c->outside));
}

bool cpu_check_differs(const struct cpu_check *c)
{
    const uint64_t difference = cpu_check_difference(c);
    return c->known && difference > LEAST_DIFFERENCE && difference > c->kernel / 100 * LEAST_PERCENT;
}

/* Whether some of the program's time is known not to be in the session: less than the kernel's time is as it should be.
 */
static bool cpu_check_has_gaps(const struct analysis *analysis)
{
    const struct dwell_file_header *h = &analysis->file->header;
    return analysis->profile->counts.pauses || h->lost_events || h->lost_threads || h->trouble ||
           h->mode == DWELL_MODE_RING || h->first_filters;
}

/* What a thread did between its last event and a kill is unknown, and counts as on the CPU. */
static bool cpu_check_is_explained(const struct cpu_check *c, const struct trace_process *p, bool gaps)
{
    return c->functions < c->kernel ? gaps : p->end_how == DWELL_END_SIGNAL;
}

const char *cpu_check_word(const struct analysis *analysis, const struct cpu_check *checks, size_t process)
{
    const struct cpu_check *c = &checks[process];
    if (!cpu_check_differs(c))
        return "";
    return cpu_check_is_explained(c, &analysis->file->processes[process], cpu_check_has_gaps(analysis))
               ? "not all recorded"
               : "differs";
}

/* By the kernel's count, of the threads of a process. */
static uint64_t cpu_check_switches(const struct session_file *file, uint32_t process)
{
    uint64_t count = 0;
    for (size_t i = 0; i < file->thread_count; i++)
        if (file->threads[i].process == process)
            count = add_saturated(
                count, add_saturated(file->threads[i].switches.waits, file->threads[i].switches.preemptions));
    return count;
}

/* Entering the kernel for a switch and leaving it takes 5 to 20 us in most cases. Servers that wait have many switches,
 * so time that these explain is no sign of a fault. */
static bool cpu_check_is_of_switches(const struct analysis *analysis, const struct cpu_check *checks, size_t process)
{
    static const uint64_t most_ns = 20000;
    const uint64_t switches = cpu_check_switches(analysis->file, analysis->file->processes[process].serial);
    return checks[process].functions < checks[process].kernel &&
           cpu_check_difference(&checks[process]) / most_ns < switches;
}

/* Where the time is that only the kernel's count has. The caller frees it. */
static char *cpu_check_reason(const struct analysis *analysis, size_t process)
{
    const uint64_t switches = cpu_check_switches(analysis->file, analysis->file->processes[process].serial);
    return need_text(": the rest (REST in dwell info) is code outside of recorded functions, and the kernel's work for "
                     "%s of threads, mostly 5 to 20 us each",
                     COUNTED(switches, "switch"));
}

/* A remark about the process that differs most, of those whose time switches explain, or of the others. */
static void cpu_check_remark_on(struct analysis *analysis, const struct cpu_check *checks, bool of_switches)
{
    const bool gaps = cpu_check_has_gaps(analysis);
    size_t count = 0, most = 0;
    for (size_t i = 0; i < analysis->file->process_count; i++) {
        if (!cpu_check_differs(&checks[i]) || cpu_check_is_explained(&checks[i], &analysis->file->processes[i], gaps) ||
            cpu_check_is_of_switches(analysis, checks, i) != of_switches)
            continue;
        if (count++ == 0 || cpu_check_difference(&checks[i]) > cpu_check_difference(&checks[most]))
            most = i;
    }
    if (!count)
        return;
    char kernel[TIME_TEXT], recorded[TIME_TEXT], others[96] = "";
    time_text_with_unit(checks[most].kernel, kernel);
    time_text_with_unit(checks[most].functions, recorded);
    if (count > 1)
        snprintf(others, sizeof others, "; %s too", COUNTED(count - 1, "other process"));
    char *reason = of_switches ? cpu_check_reason(analysis, most)
                               : need_text(checks[most].functions < checks[most].kernel ? "" : TOO_LONG);
    char *text = need_text("process %" PRIu32 ": %s of CPU recorded, %s by the kernel's count%s%s",
                           analysis->file->processes[most].pid, recorded, kernel, others, reason);
    if (of_switches)
        summary_remark(&analysis->summary, "cpu-time-of-switches", "%s", text);
    else
        summary_remark_doubt(&analysis->summary, "cpu-time-differs", "%s", text);
    free(text);
    free(reason);
}

/* Threads that were killed may have waited since their last events: that part of their time is more than the kernel
 * counted. Samples would have told. */
static void cpu_check_remark_killed(struct analysis *analysis, const struct cpu_check *checks)
{
    uint64_t sum = 0;
    char time[TIME_TEXT];
    for (size_t i = 0; i < analysis->file->process_count; i++)
        if (cpu_check_differs(&checks[i]) && checks[i].functions > checks[i].kernel &&
            analysis->file->processes[i].end_how == DWELL_END_SIGNAL)
            sum = add_saturated(sum, cpu_check_difference(&checks[i]));
    if (!sum)
        return;
    time_text_with_unit(sum, time);
    summary_remark_doubt(&analysis->summary, "killed-time-unknown",
                         "killed: %s of the CPU time were waits, perhaps, after the threads' last events", time);
}

void cpu_check_remark(struct analysis *analysis)
{
    if (analysis->selection || analysis->summary.imported || analysis->summary.samples ||
        !analysis->file->process_count)
        return;
    struct cpu_check *checks = cpu_checks(analysis);
    cpu_check_remark_on(analysis, checks, false);
    cpu_check_remark_on(analysis, checks, true);
    cpu_check_remark_killed(analysis, checks);
    free(checks);
}
