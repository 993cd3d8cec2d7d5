/*
 * Loads several sessions as one. Their processes and threads stay separate and get new serial numbers. Functions of the
 * same build become one function. Sessions have different clocks, so all values become nanoseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/lines.h"
#include "analysis/load_part.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/counted.h"

static const uint64_t ns_per_second = 1000000000;

/* The first serial numbers of a session's processes and threads among all. */
struct several_place {
    uint32_t processes, threads;
};

/* A serial number is an index in the list of all sessions. The number after a session's last one is for processes and
 * threads that its metadata does not have. */
static uint32_t several_new_process(const struct analysis *part, struct several_place place, uint32_t serial)
{
    return place.processes + (uint32_t)session_file_process_index(part->file, serial);
}

static uint32_t several_new_thread(const struct analysis *part, struct several_place place, uint32_t serial)
{
    return place.threads + (uint32_t)session_file_thread_index(part->file, serial);
}

static void several_renumber_profile(struct analysis *part, struct several_place place)
{
    struct profile *p = part->profile;
    for (size_t i = 0; i < p->thread_count; i++) {
        p->threads[i].process = several_new_process(part, place, p->threads[i].process);
        p->threads[i].thread = several_new_thread(part, place, p->threads[i].thread);
    }
    for (size_t i = 0; i < p->reported_count; i++)
        p->reported[i].process = several_new_process(part, place, p->reported[i].process);
}

/* Rounds the exclusive values of each path. All other values are sums of these, so they add up as in one session. */
static void several_scale_profile(struct profile *p, uint64_t rate)
{
    for (size_t i = 0; i < p->node_count; i++)
        amounts_scale(&p->nodes[i], rate);
    for (size_t i = 0; i < p->reported_count; i++) {
        times_scale(&p->reported[i].times, rate);
        p->reported[i].stated.columns = 0; /* they are of this session alone */
    }
    p->counts.blocked = ticks_to_ns(p->counts.blocked, rate);
    p->counts.preempted = ticks_to_ns(p->counts.preempted, rate);
    p->counts.paused = ticks_to_ns(p->counts.paused, rate);
    p->counts.outside = ticks_to_ns(p->counts.outside, rate);
}

/* Times of different clocks cannot be compared. */
static void several_drop_marks(struct profile *p)
{
    for (size_t i = 0; i < p->mark_count; i++)
        free(p->marks[i].text);
    p->mark_count = 0;
}

static void several_add_names(struct analysis *all, struct analysis *part)
{
    const size_t before = all->profile->function_count;
    const struct profile *p = part->profile;
    profile_merge(all->profile, p);
    all->names = need_more(all->names, all->profile->function_count + 1, sizeof *all->names);
    memset(all->names + before, 0, (all->profile->function_count - before) * sizeof *all->names);
    for (uint32_t i = 0; i < p->function_count; i++) {
        const uint32_t function = profile_find_same_function(all->profile, p, i);
        if (all->names[function].name)
            continue;
        all->names[function] = part->names[i];
        part->names[i] = (struct function_name){ 0 };
    }
}

/* As several_add_names, but after the profile has been merged. */
static void several_add_lines(struct analysis *all, struct analysis *part, size_t before)
{
    const struct profile *p = part->profile;
    all->lines = need_more(all->lines, all->profile->site_count + 1, sizeof *all->lines);
    memset(all->lines + before, 0, (all->profile->site_count - before) * sizeof *all->lines);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        const struct profile_module *m = &p->modules[site->module];
        const uint32_t module = profile_find_module(all->profile, m->path, m->build_id, m->build_id_length);
        struct line_name *line = &all->lines[profile_site(all->profile, module, site->offset, site->inlined)];
        if (line->source)
            continue;
        *line = part->lines[i];
        part->lines[i] = (struct line_name){ 0 };
    }
}

static void several_add_processes(struct session_file *all, const struct analysis *from, struct several_place place)
{
    struct session_file *part = from->file;
    for (size_t i = 0; i < part->thread_count; i++) {
        GROW(all->threads, all->thread_count, all->thread_room);
        struct trace_thread *thread = &all->threads[all->thread_count++];
        *thread = part->threads[i];
        thread->process = several_new_process(from, place, thread->process);
        thread->serial = place.threads + (uint32_t)i;
    }
    for (size_t i = 0; i < part->process_count; i++) {
        GROW(all->processes, all->process_count, all->process_room);
        all->processes[all->process_count] = part->processes[i];
        all->processes[all->process_count++].serial = place.processes + (uint32_t)i;
    }
    part->process_count = part->thread_count = 0;
}

/* Adds the remarks about losses, or all other remarks. */
static void several_add_remarks(struct summary *all, const struct summary *parts, size_t count, bool losses)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = losses ? 0 : parts[i].loss_count; j < (losses ? parts[i].loss_count : parts[i].remark_count);
             j++)
            summary_remark(all, summary_code(&parts[i], j), "%s: %s", parts[i].path, parts[i].remarks[j]);
}

void load_summarize_several(struct analysis *all, const struct summary *parts, size_t count)
{
    struct summary *summary = &all->summary;
    summary->path = all->file->path;
    summary->ticks_per_second = ns_per_second;
    summary->sums = summary->whole = all->rollup->session;
    summary->elapsed_inclusive = all->rollup->session.elapsed_inclusive;
    summary->application_inclusive = all->rollup->session.application_inclusive;
    summary->overhead = all->rollup->session.overhead_inclusive;
    summary->imported = true;
    summary->budget = true;
    summary->durations_known = true;
    for (size_t i = 0; i < count; i++) {
        summary->application_known |= parts[i].application_known;
        summary->off_cpu_known |= parts[i].off_cpu_known;
        summary->overhead_known |= parts[i].overhead_known;
        summary->imported &= parts[i].imported;
        summary->budget &= parts[i].budget;
        summary->durations_known &= parts[i].durations_known;
        summary->samples |= parts[i].samples;
        summary->stack_samples += parts[i].stack_samples;
        summary->samples_in_probes += parts[i].samples_in_probes;
        summary->os_events += parts[i].os_events;
        summary->threads += parts[i].threads;
        summary->processes += parts[i].processes;
        summary->events += parts[i].events;
        summary->lost_events += parts[i].lost_events;
        summary->has_counts |= parts[i].has_counts;
    }
    summary->counted = counted_functions(all->profile);
    several_add_remarks(summary, parts, count, true);
    summary->loss_count = summary->remark_count;
    for (size_t i = 0; i < count; i++) {
        if (summary->application_known && !parts[i].application_known)
            summary_remark(summary, "no-os-events", "%s: no thread had OS events: all their time counts as flagged",
                           parts[i].path);
        else if (summary->off_cpu_known && !parts[i].off_cpu_known)
            summary_remark(summary, "no-off-cpu-times",
                           "%s: no thread had times of OS events: their time counts as on the CPU", parts[i].path);
    }
    several_add_remarks(summary, parts, count, false);
    if (summary->counted) /* of all sessions together: timed in one of them, say, and counted in another */
        load_find_partly_timed(summary, all);
}

static void several_free_summaries(struct summary *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        summary_drop_remarks(&parts[i]);
        free(parts[i].selection);
        free((char *)parts[i].path);
    }
    free(parts);
}

/* Gives the part numbers, a unit and marks that do not depend on its session. */
static void several_bring_to_common(struct analysis *part, struct several_place place)
{
    several_renumber_profile(part, place);
    if (!part->summary.samples)
        several_scale_profile(part->profile, part->summary.ticks_per_second);
    several_drop_marks(part->profile);
}

static void several_add_session(struct analysis *all, struct analysis *part)
{
    const struct several_place place = {
        .processes = all->part_count ? all->parts[all->part_count - 1].process_end : 0,
        .threads = (uint32_t)(all->file->thread_count + all->part_count),
    };
    several_bring_to_common(part, place);
    const size_t sites = all->profile->site_count;
    several_add_names(all, part);
    if (part->lines)
        several_add_lines(all, part, sites);
    all->parts = need_more(all->parts, all->part_count + 1, sizeof *all->parts);
    all->parts[all->part_count++] = (struct analysis_part){
        .path = need_copy(part->file->path, strlen(part->file->path)),
        .process_end = place.processes + (uint32_t)part->file->process_count + 1,
    };
    several_add_processes(all->file, part, place);
}

void load_begin_several(struct analysis *analysis, const char *name)
{
    *analysis = (struct analysis){ .file = need_memory(1, sizeof *analysis->file), .profile = profile_new() };
    analysis->file->fd = -1;
    analysis->file->header.ticks_per_second = ns_per_second;
    analysis->file->path = need_copy(name, strlen(name));
}

static void several_begin(struct analysis *analysis, size_t count)
{
    char *name = need_text("%s", COUNTED(count, "session"));
    load_begin_several(analysis, name);
    free(name);
}

/* Times and samples cannot be added up. */
static bool several_check_unit(const struct analysis *part, const struct summary *first, struct error *error)
{
    if (part->summary.samples == first->samples)
        return true;
    return error_set(error, "%s: its values are %s, those of %s are not; sessions of both kinds cannot be added up",
                     part->file->path, part->summary.samples ? "samples" : "times", first->path);
}

/* Loads a session, adds it to all, and keeps its summary. */
static bool several_load_session(struct analysis *all, const char *path, const struct analysis_options *options,
                                 struct summary *summaries, struct error *error)
{
    struct analysis part;
    const size_t number = all->part_count;
    if (!load_session(&part, path, options, error))
        return false;
    if (number > 0 && !several_check_unit(&part, &summaries[0], error)) {
        analysis_drop(&part);
        return false;
    }
    several_add_session(all, &part);
    summaries[number] = part.summary;
    summaries[number].path = need_copy(path, strlen(path));
    part.summary = (struct summary){ 0 };
    analysis_drop(&part);
    return true;
}

bool analysis_load_several(struct analysis *analysis, const char *const *paths, size_t count,
                           const struct analysis_options *options, struct error *error)
{
    if (count == 1)
        return analysis_load(analysis, paths[0], options, error);
    if (selection_is_requested(&options->selection))
        return error_set(error, "--from, --to, --thread, --process and --root take one session at a time");
    struct summary *summaries = need_memory(count, sizeof *summaries);
    several_begin(analysis, count);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = several_load_session(analysis, paths[i], options, summaries, error);
    const struct call_filters *filters = &options->selection.filters;
    good = good && (filters->several || call_filters_check(filters, analysis->file->path, error));
    if (!good) {
        several_free_summaries(summaries, analysis->part_count);
        analysis_drop(analysis);
        return false;
    }
    load_join(analysis, options);
    analysis->durations = options->durations;
    analysis->limits = options->limits;
    analysis->summary.selection = selection_describe(&options->selection);
    load_summarize_several(analysis, summaries, count);
    several_free_summaries(summaries, count);
    return true;
}

/* Leaves the part as it is. */
static void several_add_sums(struct analysis *all, const struct analysis *part, struct several_place *place)
{
    struct analysis copy = *part;
    copy.profile = profile_new();
    profile_merge(copy.profile, part->profile);
    several_bring_to_common(&copy, *place);
    profile_merge(all->profile, copy.profile);
    profile_free(copy.profile);
    place->processes += (uint32_t)part->file->process_count + 1;
    place->threads += (uint32_t)part->file->thread_count + 1;
}

void analysis_sum_several(struct analysis *analysis, const struct analysis *parts, size_t count)
{
    struct several_place place = { 0, 0 };
    struct summary *summaries = need_memory(count, sizeof *summaries);
    several_begin(analysis, count);
    for (size_t i = 0; i < count; i++) {
        several_add_sums(analysis, &parts[i], &place);
        summaries[i] = parts[i].summary;
    }
    analysis->rollup = rollup_new(analysis->profile);
    load_summarize_several(analysis, summaries, count);
    const char *part = parts[0].summary.selection;
    analysis->summary.selection = part ? need_copy(part, strlen(part)) : NULL;
    free(summaries);
}

const char *analysis_session_of(const struct analysis *analysis, uint32_t process)
{
    for (size_t i = 0; i < analysis->part_count; i++)
        if (process < analysis->parts[i].process_end)
            return analysis->parts[i].path;
    return analysis->file->path;
}
