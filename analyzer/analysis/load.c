/* Loads a session: reads and profiles it, finds its names, and makes the summary with its remarks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/budget_reached.h"
#include "analysis/copies.h"
#include "analysis/cpu_check.h"
#include "analysis/durations_known.h"
#include "analysis/find_function.h"
#include "analysis/level_changes.h"
#include "analysis/lines.h"
#include "analysis/load_part.h"
#include "analysis/loaded_values.h"
#include "analysis/recorded_sessions.h"
#include "analysis/run_length.h"
#include "analysis/single_calls.h"
#include "analysis/thread_titles.h"
#include "base/counted_text.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/reported.h"
#include "profile/session_samples.h"
#include "profile/subtree.h"
#include "profile/tree_durations.h"
#include "trace/counted_calls.h"
#include "trace/session_import.h"

/* A thread without a source of OS events has no application time. If no thread has a source, application times are
 * unknown. If only some threads have one, their times are shown. */
static void load_judge_sources(struct summary *summary, const struct analysis *analysis)
{
    const struct session_file *file = analysis->file;
    size_t blind = 0, flags = 0, times = 0, count = 0;
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        if (analysis->selection && !index_find(analysis->profile->thread_table, t->process, t->serial)->value_plus_1)
            continue;
        count++;
        blind += t->announced && t->os_source == DWELL_OS_NONE;
        flags += t->announced && t->os_source == DWELL_OS_RSEQ;
        times += !t->announced || trace_records_switches(t);
    }
    summary->off_cpu_known = times > 0;
    if (summary->off_cpu_known && flags)
        summary_remark_doubt(summary, "no-off-cpu-times",
                             "%zu of %s had no times of OS events: their time counts as on the CPU", flags,
                             COUNTED(count, "thread"));
    summary->application_known = blind < count || count == 0;
    if (blind && summary->application_known)
        summary_remark_doubt(summary, "no-os-events", "%zu of %s had no OS events: all their time counts as flagged",
                             blind, COUNTED(count, "thread"));
}

/* A recording that was to watch system calls and could not looks like any other. */
static void load_add_fallback(struct summary *summary, const struct session_file *file)
{
    for (size_t i = 0; i < file->labels.note_count; i++)
        if (strcmp(file->labels.notes[i], DWELL_NOTE_NO_SYSCALLS) == 0) {
            summary_remark(summary, "system-calls-not-watched",
                           "system calls were not watched: application times hold some (dwell doctor)");
            return;
        }
}

void load_find_partly_timed(struct summary *summary, const struct analysis *analysis)
{
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    summary->partly_timed = 0;
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        summary->partly_timed += times_are_partial(&sums[i]);
    free(sums);
    if (summary->partly_timed)
        summary_remark(
            summary, "partly-timed",
            "%zu of these functions %s timed for a part of the run: rows marked with > have the times of the "
            "timed calls alone",
            summary->partly_timed, summary->partly_timed == 1 ? "was" : "were");
}

/* Samples divide the CPU time of a frame. The rest of its time, such as that in which it was preempted, stays with it.
 */
static void load_add_preempted(struct summary *summary, const struct analysis *analysis)
{
    const double least = 5, share = percent_of(analysis->profile->counts.preempted, summary->elapsed_inclusive);
    const bool counted = summary->counted || (summary->has_counts && selection_has_ranges(analysis->selection));
    if (counted && analysis->profile->counts.samples && summary->off_cpu_known && share >= least)
        summary_remark(summary, "preempted-with-counted",
                       "preempted for %.0f %% of the time, which timed functions have: compare CPU times", share);
}

/* Why there are no counted calls, though the session has some. Samples are at moments, and counts are not. */
static void load_add_no_counted(struct summary *summary, const struct analysis *analysis)
{
    if (!selection_has_ranges(analysis->selection))
        summary_remark(summary, "counted-outside-selection",
                       "calls that were only counted (dwell info lists them) are left out");
    else if (analysis->profile->counts.samples)
        summary_remark(summary, "counted-outside-selection",
                       "calls that were only counted are in no range of time; ~: estimated times");
    else
        summary_remark(summary, "counted-outside-selection",
                       "calls that were only counted have no times: they are in no range of time");
}

static void load_add_counted(struct summary *summary, const struct analysis *analysis)
{
    if (summary->counted && analysis->profile->counts.samples)
        summary_remark(summary, "counted-without-paths",
                       "calls of %s were only counted (dwell info lists them): they have no call paths, and the "
                       "times of those that were sampled are estimates",
                       COUNTED(summary->counted, "function"));
    else if (summary->counted)
        summary_remark(summary, "counted-without-times",
                       "calls of %s were only counted (dwell info lists them): they have no times and no call "
                       "paths",
                       COUNTED(summary->counted, "function"));
    else if (summary->has_counts)
        load_add_no_counted(summary, analysis);
    if (summary->counted)
        load_find_partly_timed(summary, analysis);
    load_add_preempted(summary, analysis);
}

static void load_add_limit_remarks(struct summary *summary, const struct dwell_file_header *h)
{
    char when[48] = "early";
    if (h->limit_time > h->start_ticks && h->ticks_per_second)
        snprintf(when, sizeof when, "after %.3f s",
                 (double)(h->limit_time - h->start_ticks) / (double)h->ticks_per_second);
    if (h->shared_ring && h->replaced_events)
        summary_remark(summary, "events-replaced", "%s replaced by newer ones",
                       COUNTED_WAS(h->replaced_events, "older event"));
    if (h->shared_ring && h->trouble & DWELL_TROUBLE_MAX_SIZE)
        summary_remark(summary, "max-size-no-space",
                       "threads without space in the session were not recorded (--max-size)");
    else if (h->trouble & DWELL_TROUBLE_MAX_SIZE)
        summary_remark(summary, "max-size-reached", "recording ended %s, at the session's maximum size (--max-size)",
                       when);
    if (h->trouble & DWELL_TROUBLE_KEEP_FREE)
        summary_remark(
            summary, "keep-free-reached",
            "recording ended %s: too little of the disk was free (--keep-free); make room, or choose another "
            "place with -o",
            when);
}

/* What the session had when its recording ended. */
static void load_add_damage_remarks(struct summary *summary, const struct session_file *file, uint64_t damaged_chunks)
{
    if (file->health.damaged_page)
        summary_remark(summary, "damaged-header",
                       "the file's first page is damaged: times may be wrong, parts may be missing");
    if (file->health.missing_bytes)
        summary_remark(summary, "file-cut", "the file was cut: the last %" PRIu64 " of its %s are missing",
                       file->health.missing_bytes, COUNTED(file->health.whole_size, "byte"));
    if (file->health.missing_chunks)
        summary_remark(summary, "chunks-missing", "%" PRIu64 " of %s %s missing", file->health.missing_chunks,
                       COUNTED(file->health.sealed_chunks, "chunk"),
                       counted_word(file->health.missing_chunks, "is", "are"));
    if (damaged_chunks)
        summary_remark(summary, "chunks-damaged", "%s left out, wholly or in part",
                       COUNTED_WAS(damaged_chunks, "damaged chunk"));
    if (file->health.damaged_bytes)
        summary_remark(summary, "bytes-damaged", "%s %s to no chunk and %s left out",
                       COUNTED(file->health.damaged_bytes, "byte"),
                       counted_word(file->health.damaged_bytes, "belongs", "belong"),
                       counted_word(file->health.damaged_bytes, "was", "were"));
    if (file->health.damaged_records)
        summary_remark(summary, "records-damaged", "%s of metadata or symbols %s left out",
                       COUNTED(file->health.damaged_records, "damaged record"),
                       counted_word(file->health.damaged_records, "was", "were"));
}

/* The most harmful ones first: events that are missing here and there, then why, and then what else is missing. */
static void load_add_loss_remarks(struct summary *summary, const struct session_file *file, const struct profile *p)
{
    const struct dwell_file_header *h = &file->header;
    if (h->lost_events)
        summary_remark(summary, "events-lost", "%s lost", COUNTED_WAS(h->lost_events, "event"));
    load_add_damage_remarks(summary, file, p->counts.damaged_chunks + file->health.damaged_chunks);
    if (h->trouble & DWELL_TROUBLE_TRUNCATED)
        summary_remark(summary, "file-truncated",
                       "the file was truncated or overwritten, or its device failed: parts are missing");
    if (h->trouble & DWELL_TROUBLE_DAMAGED)
        summary_remark(summary, "merged-damaged",
                       "parts of the sessions that it was merged from were damaged or missing");
    if (h->trouble & DWELL_TROUBLE_NO_SPACE && !(h->trouble & DWELL_TROUBLE_TRUNCATED)) /* a store fails in both */
        summary_remark(summary, "disk-full",
                       "the disk was full: recording stopped early; make room, or choose another place with -o");
    if (h->trouble & DWELL_TROUBLE_NO_MEMORY)
        summary_remark(summary, "memory-refused", "the system refused memory: recording stopped early");
    if (h->trouble & DWELL_TROUBLE_NO_FILE)
        summary_remark(summary, "process-not-recorded",
                       "a process could not open the session file: it was not recorded");
    if (h->trouble & DWELL_TROUBLE_REFUSED)
        summary_remark(summary, "call-refused",
                       "the system refused a call of the recording (a sandbox?): parts are missing");
    load_add_limit_remarks(summary, h);
    if (h->lost_trace_events)
        summary_remark(summary, "trace-events-lost", "%s lost", COUNTED_WAS(h->lost_trace_events, "trace event"));
    if (h->lost_threads)
        summary_remark(summary, "threads-lost", "%s could not be recorded", COUNTED(h->lost_threads, "thread"));
    const uint64_t not_kept = file->more.unkept_calls + file->more.limited_calls + file->more.dropped_calls;
    if (not_kept)
        summary_remark(summary, "slow-calls-not-kept", "%s not kept (dwell info says why)",
                       COUNTED_WAS(not_kept, "slow call"));
    if (file->more.forgotten)
        summary_remark(summary, "activities-not-watched", "%s not watched to %s end (dwell info says why)",
                       COUNTED_WAS(file->more.forgotten, "activity"),
                       counted_word(file->more.forgotten, "its", "their"));
    if (file->more.keep)
        summary_remark(
            summary, "windows-only", "times and calls are those around %" PRIu64 " slow%s, not of the whole run",
            file->more.kept_calls,
            file->more.usual_calls ? " and some usual calls" : counted_word(file->more.kept_calls, " call", " calls"));
    if (p->counts.stray_exits)
        summary_remark(summary, "stray-exits", "%s had no enter before %s", COUNTED(p->counts.stray_exits, "exit"),
                       counted_word(p->counts.stray_exits, "it", "them"));
}

/*
 * The time that is 100 % in an imported report, from its function with the largest percentage. Percentages have two
 * decimals, so the sum of all threads' roots is used where it fits them. A part of a report does not fit: its roots are
 * not the whole run.
 */
static uint64_t load_whole_of(const struct profile *p, unsigned column, enum value_id value, uint64_t sum)
{
    const double rounded = 0.0051;
    double largest = 0;
    uint64_t of_largest = 0;
    for (size_t i = 0; i < p->reported_count; i++) {
        const struct profile_reported *r = &p->reported[i];
        double percent;
        if (r->kind != DWELL_REPORTED_FUNCTION || !stated_value(&r->stated, column, &percent) || percent <= largest)
            continue;
        largest = percent;
        of_largest = times_value(&r->times, value, INCLUSIVE);
    }
    const double least = (double)of_largest * 100 / (largest + rounded);
    if (largest <= rounded || !of_largest ||
        ((double)sum >= least && (double)sum <= (double)of_largest * 100 / (largest - rounded)))
        return sum;
    return (uint64_t)((double)of_largest * 100 / largest + 0.5);
}

static void load_find_whole(struct analysis *analysis)
{
    struct summary *summary = &analysis->summary;
    summary->whole.elapsed_inclusive =
        load_whole_of(analysis->profile, DWELL_STATED_PERCENT, VALUE_ELAPSED, summary->sums.elapsed_inclusive);
    summary->whole.application_inclusive = load_whole_of(analysis->profile, DWELL_STATED_PERCENT + 2, VALUE_APPLICATION,
                                                         summary->sums.application_inclusive);
    const double share = percent_of(summary->sums.elapsed_inclusive, summary->whole.elapsed_inclusive);
    if (summary->whole.elapsed_inclusive != summary->sums.elapsed_inclusive)
        summary_remark(summary, "percentages-of-report",
                       "percentages are those of the report: its functions have %d.%02d %% of the run", (int)share,
                       (int)((share - (int)share) * 100));
}

void analysis_summarize(struct analysis *analysis)
{
    struct summary *summary = &analysis->summary;
    size_t processes;
    summary_drop_remarks(summary);
    free(rollup_process_list(analysis->profile, &processes));
    summary->path = analysis->file->path;
    summary->ticks_per_second = analysis->file->header.ticks_per_second;
    summary->sums = summary->whole = analysis->rollup->session;
    summary->run = summary->partial_paths ? 0 : run_length(analysis->file, analysis->selection);
    summary->elapsed_inclusive = analysis->rollup->session.elapsed_inclusive;
    summary->application_inclusive = analysis->rollup->session.application_inclusive;
    summary->os_events = analysis->profile->counts.os_events;
    summary->stack_samples = analysis->profile->counts.samples;
    summary->samples_in_probes = analysis->profile->counts.samples_in_probes;
    summary->threads = analysis->profile->thread_count;
    summary->processes = processes;
    summary->events = analysis->profile->counts.enters + analysis->profile->counts.exits;
    summary->lost_events = analysis->file->header.lost_events;
    summary->counted = counted_functions(analysis->profile);
    summary->has_counts = counts_any(analysis->file);
    load_add_loss_remarks(summary, analysis->file, analysis->profile);
    recorded_sessions_remark(summary, analysis->file);
    summary->missing_count = summary->remark_count;
    level_changes_remark(summary, analysis->file, summary->counted > 0 || !summary->has_counts);
    summary->loss_count = summary->remark_count;
    summary->imported = analysis->file->header.origin & DWELL_ORIGIN_IMPORTED;
    summary->samples = analysis->file->header.origin & DWELL_ORIGIN_SAMPLES;
    load_judge_sources(summary, analysis);
    load_add_fallback(summary, analysis->file);
    load_add_counted(summary, analysis);
    summary->overhead = analysis->rollup->session.overhead_inclusive;
    summary->overhead_known = analysis->overhead.paths > 0;
    summary->resolution = summary->overhead_known ? single_calls_resolution(analysis->file) : 0;
    summary->budget = analysis->file->header.also & DWELL_ALSO_BUDGET || analysis->file->levels.decision_count;
    budget_reached_find(analysis);
    if (summary->imported && !analysis->selection)
        load_find_whole(analysis);
    if (analysis->limits && summary->overhead_known && (analysis->lines || session_file_has_trees(analysis->file)))
        summary_remark(summary, "limits-need-raw",
                       "min and max are known only with the time of the probes in them (--raw)");
    if (analysis->durations)
        durations_remark(summary, analysis);
    if (analysis->file->header.origin & DWELL_ORIGIN_SCALED)
        summary_remark(summary, "paths-scaled", "call paths are approximate (scaled)");
    if (!analysis->profile->function_count && !analysis->selection && !summary->imported && !summary->lost_events)
        summary_remark(summary, "no-calls", "no calls were recorded; a program has probes if dwell cc compiles it");
}

void analysis_subtract_overhead(struct analysis *analysis)
{
    size_t count;
    struct probe_cost *costs = single_calls_list_costs(analysis->file, &count);
    analysis->overhead = overhead_subtract(analysis->profile, costs, count, analysis->lines != NULL);
    free(costs);
    single_calls_forget_limits(analysis);
}

const char *analysis_thread_title(const struct analysis *analysis, uint32_t thread)
{
    const size_t at = analysis->thread_titles ? session_file_thread_index(analysis->file, thread) : 0;
    return analysis->thread_titles && at < analysis->file->thread_count ? analysis->thread_titles[at] : NULL;
}

const char *analysis_thread_name(const struct analysis *analysis, uint32_t thread)
{
    const char *title = analysis_thread_title(analysis, thread);
    const struct trace_thread *t = session_file_thread(analysis->file, thread);
    return title ? title : t && t->name[0] ? t->name : "[unknown]";
}

bool function_has_address(const struct analysis *analysis, uint32_t function)
{
    return !analysis->summary.imported || analysis->profile->functions[function].offset < IMPORT_NO_ADDRESS;
}

static bool load_open(struct analysis *analysis, const char *path, bool late, struct error *error)
{
    const char *wrong;
    analysis->file = late ? session_file_open_late(path, &wrong) : session_file_open(path, &wrong);
    return analysis->file ? true : error_set(error, "%s: %s", path, wrong);
}

static bool load_select(struct analysis *analysis, struct error *error)
{
    if (!selection_is_requested(&analysis->request)) {
        analysis->summary.selection = selection_describe(&analysis->request);
        return true;
    }
    if (!selection_find(&analysis->request, analysis->file, error))
        return false;
    analysis->selection = &analysis->request.selection;
    analysis->summary.selection = selection_describe(&analysis->request);
    return true;
}

static bool load_check_lines(const struct analysis *analysis, enum lines lines, struct error *error)
{
    if (lines != LINES_NEEDED || analysis->file->header.also & DWELL_ALSO_CALL_SITES)
        return true;
    if (analysis->file->sums.summed_count)
        return error_set(error, "%s: holds sums, which have no call sites; read the recorded session",
                         analysis->file->path);
    if (analysis->file->header.origin & DWELL_ORIGIN_IMPORTED)
        return error_set(error, "%s: imported from a report, which does not say from which lines calls were made",
                         analysis->file->path);
    return error_set(error, "%s: recorded without call sites; record again with --call-sites", analysis->file->path);
}

/* Whether calls with different values are to be on different paths. */
static bool load_is_by_values(const struct analysis *analysis, const struct analysis_options *options)
{
    return options->by_values && session_file_can_have_valued_sums(analysis->file);
}

static void load_collect(struct analysis *analysis, const struct analysis_options *options)
{
    const unsigned jobs = options->jobs ? options->jobs : collect_default_jobs();
    analysis->samples = options->unsampled ? NULL : session_samples_read(analysis->file, true);
    if (options->lines != LINES_NONE && analysis->file->header.also & DWELL_ALSO_CALL_SITES) {
        analysis->profile = collect_sites(analysis->file, analysis->samples, jobs, analysis->selection);
        analysis->lines = lines_find(analysis->file, analysis->profile);
    } else if (load_is_by_values(analysis, options)) {
        analysis->profile = collect_tree_durations(analysis->file, analysis->samples, jobs, analysis->selection,
                                                   durations_wanted(analysis), loaded_values(analysis));
    } else if (options->durations) {
        single_calls_collect(analysis, jobs);
    } else {
        analysis->profile = collect_selection(analysis->file, analysis->samples, jobs, analysis->selection);
    }
}

/* Samples and counting take a part of single calls. So these are read after that, once for all that is wanted of them.
 * Sums have their limits and durations. `limits`: without probes. */
static void load_divide(struct analysis *analysis, bool limits)
{
    const bool sums = analysis->file->sums.summed_count,
               durations = analysis->durations && !analysis->lines && !session_file_has_trees(analysis->file);
    if (sums && limits)
        single_calls_take_limits(analysis);
    if (analysis->durations && !analysis->raw)
        tree_durations_subtract_probes(analysis->profile, analysis->file);
    recorded_sessions_divide(analysis);
    if (!sums)
        single_calls_find(analysis, limits, durations && !single_calls_keep(analysis));
}

static void load_profile(struct analysis *analysis, const struct analysis_options *options)
{
    if (!options->timed_only)
        counted_collect(analysis->profile, analysis->file, analysis->selection);
    analysis->summary.raw = options->raw;
    analysis->jobs = options->jobs;
    analysis->limits = options->limits;
    analysis->durations = options->durations || load_is_by_values(analysis, options);
    analysis->summary.partial_paths = analysis->file->sums.summed_count && analysis->selection;
    if (!options->raw)
        analysis_subtract_overhead(analysis);
    analysis->lacks_limits = options->limits_later && single_calls_can_wait(analysis);
    load_divide(analysis, options->limits && !options->raw && !analysis->lines && !analysis->lacks_limits);
    analysis->rollup = rollup_new(analysis->profile);
    analysis->names = names_find(analysis->file, analysis->profile);
    analysis_summarize(analysis);
}

/* Keeps the first profile: single calls are on its paths. */
static void load_replace_profile(struct analysis *analysis, struct profile *p)
{
    if (analysis->measured || analysis->lines)
        profile_free(analysis->profile);
    else
        analysis->measured = analysis->profile;
    analysis->profile = p;
}

/* Replaces the profile by one of a part of its call paths. */
static void load_take_paths(struct analysis *analysis, struct profile *part)
{
    rollup_free(analysis->rollup);
    load_replace_profile(analysis, part);
    analysis->rollup = rollup_new(part);
    analysis->summary.partial_paths = true;
    analysis_summarize(analysis);
}

/* The functions whose calls were all left out are unknown from now on, as in a session with events. */
static void load_filter_trees(struct analysis *analysis, const struct call_filters *filters)
{
    struct profile *shown = call_filters_apply_tree(filters, analysis->profile, analysis->names, NULL),
                   *used = subtree_used(shown);
    profile_free(shown);
    names_free(analysis->names, analysis->profile->function_count);
    lines_free(analysis->lines, analysis->profile->site_count);
    analysis->lines = analysis->lines ? lines_find(analysis->file, used) : NULL;
    analysis->names = names_find(analysis->file, used);
    load_take_paths(analysis, used);
}

/* Opens the session and adds up what is wanted. `late`: checksums are compared meanwhile. If one is wrong, sets
 * *damaged and returns false. */
static bool load_collected(struct analysis *analysis, const char *path, const struct analysis_options *options,
                           bool late, bool *damaged, struct error *error)
{
    *analysis = (struct analysis){ .request = options->selection, .raw = options->raw };
    analysis->recording_waits = need_memory(1, sizeof *analysis->recording_waits);
    loaded_values_begin(analysis);
    if (!load_open(analysis, path, late, error) ||
        !call_filters_apply(&options->selection.filters, analysis->file, options->jobs, error) ||
        !load_select(analysis, error) || !load_check_lines(analysis, options->lines, error)) {
        analysis_drop(analysis);
        return false;
    }
    load_collect(analysis, options);
    *damaged = !session_file_end_late_checks(analysis->file);
    if (!*damaged)
        return true;
    session_file_take_error(analysis->file); /* it is read again */
    analysis_drop(analysis);
    return false;
}

/* A damaged session is read twice. For a selection, events have been read before they are collected. */
bool load_session(struct analysis *analysis, const char *path, const struct analysis_options *options,
                  struct error *error)
{
    const bool whole = !selection_is_requested(&options->selection) && !call_filters_any(&options->selection.filters);
    bool damaged = false;
    if (!load_collected(analysis, path, options, whole, &damaged, error) &&
        !(damaged && load_collected(analysis, path, options, false, &damaged, error)))
        return false;
    load_profile(analysis, options);
    if (call_filters_any(&options->selection.filters) && analysis->file->header.mode == DWELL_MODE_PROFILE)
        load_filter_trees(analysis, &options->selection.filters);
    if (!options->strict || !analysis->summary.missing_count)
        return true;
    error_set(error, "%s: %s", path, analysis->summary.remarks[0]);
    analysis_drop(analysis);
    return false;
}

static void load_join_copies(struct analysis *analysis, const uint32_t *representatives)
{
    struct profile *p = analysis->profile, *joined = copies_join(p, representatives);
    struct function_name *names = copies_names(joined, p, analysis->names, representatives);
    for (uint32_t i = 0; i < p->function_count; i++)
        if (representatives[i] != i)
            names_drop(&analysis->names[i]);
    free(analysis->names);
    load_replace_profile(analysis, joined);
    analysis->names = names;
}

void load_join(struct analysis *analysis, const struct analysis_options *options)
{
    const bool keep_apart =
        options->no_merge || analysis->profile->reported_count; /* rows of a report are as it has them */
    uint32_t *copies = keep_apart ? NULL : copies_find(analysis->profile, analysis->names);
    if (!copies && !analysis->lines && analysis->rollup)
        return;
    if (analysis->lines && !options->sites_apart)
        lines_join(analysis);
    if (copies)
        load_join_copies(analysis, copies);
    free(copies);
    if (analysis->rollup)
        rollup_free(analysis->rollup);
    analysis->rollup = rollup_new(analysis->profile);
}

static void load_narrow_to(struct analysis *analysis, bool *roots)
{
    struct selection_request *request = &analysis->request;
    struct profile *below = subtree_below(analysis->profile, roots);
    free((bool *)request->selection.roots);
    request->selection.roots = roots;
    request->selection.root_count = analysis->profile->function_count;
    free(analysis->summary.selection);
    analysis->summary.selection = selection_describe(request);
    load_take_paths(analysis, below);
}

/* The whole name if there is one function and the text has no place, or the text as typed. */
static const char *load_root_name(const struct analysis *analysis, const bool *found, const char *text)
{
    size_t count = 0;
    const char *name = text;
    for (size_t i = 0; i < analysis->profile->function_count; i++) {
        count += found[i];
        name = found[i] ? analysis->names[i].name : name;
    }
    return count == 1 && !typed_place_of(text) ? name : text;
}

bool analysis_narrow(struct analysis *analysis, const struct selection_names *texts, struct error *error)
{
    const size_t count = analysis->profile->function_count;
    bool *roots = need_memory(count, sizeof *roots), *found = need_memory(count, sizeof *found), good = true;
    char *names = need_copy("", 0);
    for (size_t i = 0; i < texts->count && good; i++) {
        memset(found, 0, count * sizeof *found);
        good = function_find_each(analysis, texts->list[i], found, error);
        char *more = need_text("%s%s%s", names, i ? " or " : "", load_root_name(analysis, found, texts->list[i]));
        free(names);
        names = more;
        for (size_t j = 0; j < count; j++)
            roots[j] |= found[j];
    }
    free(found);
    free(analysis->request.root_text);
    analysis->request.root_text = names;
    if (good)
        load_narrow_to(analysis, roots);
    else
        free(roots);
    return good;
}

bool analysis_load(struct analysis *analysis, const char *path, const struct analysis_options *options,
                   struct error *error)
{
    if (!load_session(analysis, path, options, error))
        return false;
    load_join(analysis, options);
    analysis->thread_titles = thread_titles_find(analysis->file, analysis->profile, analysis->names);
    const int unread = session_file_take_error(analysis->file);
    if (unread)
        error_set(error, "%s: %s", path, strerror(unread));
    const struct call_filters *filters = &options->selection.filters;
    if (!call_filters_any(filters) && !analysis->request.roots.count)
        cpu_check_remark(analysis);
    if (!unread && (filters->several || call_filters_check(filters, path, error)) &&
        (!analysis->request.roots.count || analysis_narrow(analysis, &analysis->request.roots, error)))
        return true;
    analysis_drop(analysis);
    return false;
}
