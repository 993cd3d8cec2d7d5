/*
 * Says in one sentence where the time of a run went. It begins with the thread that the run's length depends on, the
 * first one of the first process: what it mostly waits for, or whether it lacks processors. Then come the functions
 * that used the CPU, of all threads.
 */
#include "report/answer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/probe_share.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/units.h"
#include "report/text_cut.h"
#include "symbols/display_name.h"
#include "symbols/short_name.h"
#include "tables/own_waits.h"

enum { MOST_FUNCTIONS = 3, NAME_ROOM = 40 };

/* What is below has no place in a sentence: percent of a thread's time, and of the time of all functions. */
static const double least_of_thread = 10, least_of_function = 5;

/* Percent of the run that a thread's recorded time has to be: shares of less would say nothing of the run. */
static const double least_of_run = 25;

/* ---- times and names ---- */

/* With three digits, unless the user chose a unit. */
static void answer_time(const struct analysis *analysis, uint64_t ticks, char text[TIME_TEXT])
{
    const uint64_t ns = ticks_to_ns(ticks, analysis->summary.ticks_per_second);
    const struct time_unit *unit = time_unit_for(ns);
    const double value = (double)ns / (double)unit->ns;
    if (text_options()->units == UNITS_FIXED)
        text_time(ns, text);
    else
        snprintf(text, TIME_TEXT, "%.*f %s",
                 value >= 99.95 || unit->ns == 1 ? 0
                 : value >= 9.995                ? 1
                                                 : 2,
                 value, unit->name);
}

/* Without return type and parameters, unless another function would have the same name then. */
static char *answer_name(const struct analysis *analysis, uint32_t function)
{
    char *shown = display_name(analysis->names[function].name), *brief = short_name_of(shown);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        const char *begin = i == function ? NULL : strstr(analysis->names[i].name, brief);
        if (!begin || strcmp(analysis->names[i].name, analysis->names[function].name) == 0)
            continue;
        char *other_shown = display_name(analysis->names[i].name), *other = short_name_of(other_shown);
        const bool is_same = strcmp(other, brief) == 0;
        free(other);
        free(other_shown);
        if (is_same) {
            free(brief);
            brief = need_copy(shown, strlen(shown));
            break;
        }
    }
    free(shown);
    const size_t room = NAME_ROOM;
    if (!text_options()->full_names)
        text_cut_names(&brief, &room, 1);
    return brief;
}

/* ---- the thread ---- */

static bool answer_is_first_of_process(const struct session_file *file, const struct trace_thread *t)
{
    const struct trace_process *p = session_file_process(file, t->process);
    return p && p->pid == t->tid;
}

/* Whether the thread comes before the other one. */
static bool answer_comes_first(const struct session_file *file, const struct trace_thread *a,
                               const struct trace_thread *b)
{
    if (a->process != b->process)
        return a->process < b->process;
    const bool one = answer_is_first_of_process(file, a), other = answer_is_first_of_process(file, b);
    return one != other ? one : a->serial < b->serial;
}

/* The number in the profile of the thread that the sentence is about, or the number of threads. */
static size_t answer_find_thread(const struct analysis *analysis)
{
    const struct profile *p = analysis->profile;
    const struct trace_thread *best = NULL;
    size_t found = p->thread_count;
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct trace_thread *t = session_file_thread(analysis->file, p->threads[i].thread);
        if (!t || (best && !answer_comes_first(analysis->file, t, best)))
            continue;
        best = t;
        found = i;
    }
    return found;
}

/* "of the main thread's time", "of the time" if there is only one, or "of worker's time". */
static char *answer_of_thread(const struct analysis *analysis, size_t thread)
{
    const struct trace_thread *t = session_file_thread(analysis->file, analysis->profile->threads[thread].thread);
    if (analysis->profile->thread_count == 1)
        return need_text("of the time");
    if (t && answer_is_first_of_process(analysis->file, t))
        return need_text("of the main thread's time");
    const char *title = t ? analysis_thread_title(analysis, t->serial) : NULL;
    return need_text("of %s's time", title ? title : t && t->name[0] ? t->name : "a thread");
}

/* The function in which the thread was blocked longest, and for how long. PROFILE_NONE if in none; function_count if
 * recording kept the thread longer. Parents come before their children. */
static uint32_t answer_find_wait(const struct analysis *analysis, size_t thread, uint64_t *blocked)
{
    const struct profile *p = analysis->profile;
    bool *within = need_memory(p->node_count + 1, sizeof *within);
    uint64_t *sums = need_memory(p->function_count + 1, sizeof *sums);
    uint32_t longest = PROFILE_NONE;
    const struct recording_waits of_recording = recording_waits_find(analysis);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *node = &p->nodes[i];
        within[i] = node->parent == PROFILE_NONE ? i == p->threads[thread].root : within[node->parent];
        const uint64_t own = of_recording.blocked ? of_recording.blocked[i] : 0;
        if (within[i] && node->parent != PROFILE_NONE && node->function < p->function_count) {
            sums[node->function] += node->blocked - own;
            sums[p->function_count] += own;
        }
    }
    for (uint32_t i = 0; i <= p->function_count; i++)
        if (sums[i] && (longest == PROFILE_NONE || sums[i] > sums[longest]))
            longest = i;
    *blocked = longest == PROFILE_NONE ? 0 : sums[longest];
    free(within);
    free(sums);
    return longest;
}

/* Writes what keeps the thread from running, with a comma behind it. */
static void answer_put_thread(const struct analysis *analysis, FILE *out)
{
    const size_t thread = answer_find_thread(analysis);
    if (!analysis->summary.off_cpu_known || analysis->part_count > 1 || thread == analysis->profile->thread_count)
        return;
    const struct times *t = &analysis->rollup->nodes[analysis->profile->threads[thread].root];
    if (analysis->summary.run && percent_of(t->elapsed_inclusive, analysis->summary.run) < least_of_run)
        return;
    const double blocked = percent_of(t->blocked_inclusive, t->elapsed_inclusive);
    const double preempted = percent_of(t->preempted_inclusive, t->elapsed_inclusive);
    char *of = answer_of_thread(analysis, thread);
    if (blocked >= least_of_thread) {
        uint64_t longest;
        const uint32_t function = answer_find_wait(analysis, thread, &longest);
        const double share = percent_of(longest, t->elapsed_inclusive);
        const bool is_named = share >= least_of_thread / 2,
                   by_recording = function == analysis->profile->function_count;
        char *name = !is_named      ? NULL
                     : by_recording ? need_text("%s", own_wait_texts[OWN_RECORDING])
                                    : answer_name(analysis, function);
        fprintf(out, "%.0f %% %s blocked%s%s, ", name ? share : blocked, of,
                !name          ? ""
                : by_recording ? " as "
                               : " in ",
                name ? name : "");
        free(name);
    }
    if (preempted >= least_of_thread)
        fprintf(out, "%.0f %% %s%spreempted, ", preempted, blocked >= least_of_thread ? "" : of,
                blocked >= least_of_thread ? "" : " ");
    free(of);
}

/* ---- the functions ---- */

struct answer_function {
    uint32_t function;
    uint64_t time;
    bool estimated;
};

/* Names decide between equal times, as numbers of functions depend on how the work was split. */
static bool answer_is_more(const struct analysis *analysis, const struct answer_function *a,
                           const struct answer_function *b)
{
    if (a->time != b->time)
        return a->time > b->time;
    return strcmp(analysis->names[a->function].name, analysis->names[b->function].name) < 0;
}

/* The functions with the most time, the first one first. Returns their number. */
static size_t answer_find_functions(const struct analysis *analysis, enum value_id value,
                                    struct answer_function found[MOST_FUNCTIONS])
{
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    size_t count = 0;
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        const struct answer_function f = { i, times_value(&sums[i], value, EXCLUSIVE),
                                           times_error(&sums[i], value, EXCLUSIVE) > 0 };
        size_t at = count;
        while (at && answer_is_more(analysis, &f, &found[at - 1]))
            at--;
        if (!f.time || at == MOST_FUNCTIONS)
            continue;
        count += count < MOST_FUNCTIONS;
        memmove(&found[at + 1], &found[at], (count - at - 1) * sizeof *found);
        found[at] = f;
    }
    free(sums);
    return count;
}

/* Whether another one has the name, in another module, as `main` of two programs. */
static bool answer_needs_module(const struct analysis *analysis, const struct answer_function *found, size_t count,
                                size_t at)
{
    const struct function_name *name = &analysis->names[found[at].function];
    bool needs = false;
    for (size_t i = 0; i < count; i++) {
        const struct function_name *other = &analysis->names[found[i].function];
        needs |= i != at && strcmp(other->name, name->name) == 0 && strcmp(other->module, name->module) != 0;
    }
    return needs;
}

static void answer_put_functions(const struct analysis *analysis, size_t most, FILE *out)
{
    const struct summary *summary = &analysis->summary;
    const enum value_id value = probe_share_rest(summary);
    const uint64_t all = times_value(&summary->sums, value, INCLUSIVE);
    struct answer_function found[MOST_FUNCTIONS];
    const size_t count = answer_find_functions(analysis, value, found);
    char time[TIME_TEXT];
    answer_time(analysis, all, time);
    fprintf(out, "%s %s", value == VALUE_CPU ? "CPU" : "elapsed", time);
    for (size_t i = 0; i < count && i < most; i++) {
        const double share = percent_of(found[i].time, all);
        if (i && share < least_of_function)
            break;
        char *name = answer_name(analysis, found[i].function);
        const char *module =
            answer_needs_module(analysis, found, count, i) ? analysis->names[found[i].function].module : NULL;
        fprintf(out, "%s%s%s%s%s %s%.0f %%", i ? ", " : ": ", name, module ? " (" : "", module ? module : "",
                module ? ")" : "", found[i].estimated ? "~" : "", share);
        free(name);
    }
}

/* ---- the sentence ---- */

/* That of the whole session: a part of it has ended otherwise. */
static void answer_put_end(const struct analysis *analysis, FILE *out)
{
    const struct session_file *file = analysis->file;
    uint32_t first = 0;
    size_t killed = 0;
    bool all_known = true;
    for (size_t i = 0; i < file->process_count && !analysis->summary.selection; i++) {
        all_known &= file->processes[i].end_time != 0;
        if (file->processes[i].end_how != DWELL_END_SIGNAL)
            continue;
        first = killed++ ? first : file->processes[i].end_value;
    }
    if (file->header.state != DWELL_COMPLETE && !all_known && !analysis->parts)
        fputs(session_file_is_written(file) ? ", still recording" : ", the end was not recorded", out);
    const char *name = first < NSIG ? sigabbrev_np((int)first) : NULL;
    if (killed > 1)
        fprintf(out, ", %zu of them ended by signals", killed);
    else if (killed)
        fprintf(out, ", %sended by signal %" PRIu32 "%s%s%s", analysis->summary.processes > 1 ? "one of them " : "",
                first, name ? " (" : "", name ? name : "", name ? ")" : "");
}

static void answer_put_run(const struct analysis *analysis, FILE *out)
{
    const struct summary *summary = &analysis->summary;
    char time[TIME_TEXT];
    if (!summary->run && !summary->threads)
        return;
    answer_time(analysis, summary->run, time);
    if (summary->run)
        fprintf(out, "ran %s%s", time, summary->threads ? " in " : "");
    if (summary->threads)
        fprintf(out, "%s", COUNTED(summary->threads, "thread"));
    if (summary->processes > 1)
        fprintf(out, " of %s", COUNTED(summary->processes, "process"));
    answer_put_end(analysis, out);
    fputs(": ", out);
}

char *answer_sentence_with(const struct analysis *analysis, size_t functions)
{
    char *text;
    size_t length;
    if (analysis->summary.imported || analysis->summary.samples)
        return NULL;
    FILE *out = need_stream(&text, &length);
    answer_put_run(analysis, out);
    if (analysis->profile->function_count) {
        answer_put_thread(analysis, out);
        answer_put_functions(analysis, functions, out);
    } else {
        fputs("no calls were recorded", out);
    }
    need_stream_end(out);
    return text;
}

char *answer_sentence(const struct analysis *analysis)
{
    return answer_sentence_with(analysis, MOST_FUNCTIONS);
}
