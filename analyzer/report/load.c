#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/table.h"
#include "profile/collect.h"
#include "profile/subtree.h"
#include "report/lines.h"
#include "report/load_part.h"
#include "report/slices.h"
#include "report/views.h"

void remark(struct session_summary *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    GROW(s->remarks, s->remark_count, s->remark_room);
    s->remarks[s->remark_count++] = need_vtext(format, arguments);
    va_end(arguments);
}

/* Application times of a thread without a source are not invented: where no thread has one they are
 * unknown, where some have none, the others' are shown. */
static void load_judge_sources(struct session_summary *s, const struct loaded *l)
{
    const struct session_file *file = l->file;
    size_t blind = 0, flags = 0, times = 0, count = 0;
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        if (l->slice && !table_find(l->profile->thread_table, t->process, t->serial)->value_plus_1)
            continue;
        count++;
        blind += t->announced && t->os_source == DWELL_OS_NONE;
        flags += t->announced && t->os_source == DWELL_OS_RSEQ;
        times += !t->announced || trace_tells_of_switches(t);
    }
    s->away_known = times > 0;
    if (s->away_known && flags)
        remark(s, "%zu of %zu threads had no source of times of OS events: their time counts as on the CPU", flags,
               count);
    s->application_known = blind < count || count == 0;
    if (blind && s->application_known)
        remark(s, "%zu of %zu threads had no source of OS events: all their time counts as flagged", blind, count);
}

static void load_add_loss_remarks(struct session_summary *s, const struct session_file *file, const struct profile *p)
{
    const struct dwell_file_header *h = &file->header;
    if (h->lost_events)
        remark(s, "%" PRIu64 " events were lost", h->lost_events);
    if (h->lost_trace_events)
        remark(s, "%" PRIu64 " trace events were lost", h->lost_trace_events);
    if (h->lost_threads)
        remark(s, "%" PRIu64 " threads could not be recorded", h->lost_threads);
    if (h->trouble & DWELL_TROUBLE_NO_SPACE)
        remark(s, "the disk was full: recording stopped early");
    if (h->trouble & DWELL_TROUBLE_NO_MEMORY)
        remark(s, "the system refused memory: recording stopped early");
    if (h->trouble & DWELL_TROUBLE_NO_FILE)
        remark(s, "a process could not open the session file: it was not recorded");
    if (h->trouble & DWELL_TROUBLE_REFUSED)
        remark(s, "the system refused a call that recording needs (a sandbox?): some of it is missing");
    uint64_t damaged = p->counts.damaged_chunks + file->damaged_chunks;
    if (damaged)
        remark(s, "%" PRIu64 " damaged chunks were left out, wholly or in part", damaged);
    if (file->damaged_bytes)
        remark(s, "%" PRIu64 " bytes belong to no chunk and were left out", file->damaged_bytes);
    if (file->damaged_records)
        remark(s, "%" PRIu64 " damaged records of metadata or symbols were left out", file->damaged_records);
    if (p->counts.stray_exits)
        remark(s, "%" PRIu64 " exits had no enter before them", p->counts.stray_exits);
}

static void load_free_remarks(struct session_summary *s)
{
    for (size_t i = 0; i < s->remark_count; i++)
        free(s->remarks[i]);
    s->remark_count = 0;
}

void loaded_summarize(struct loaded *l)
{
    struct session_summary *s = &l->summary;
    size_t processes;
    load_free_remarks(s);
    free(rollup_process_list(l->profile, &processes));
    s->path = l->file->path;
    s->ticks_per_second = l->file->header.ticks_per_second;
    s->elapsed_inclusive = l->rollup->session.elapsed_inclusive;
    s->application_inclusive = l->rollup->session.application_inclusive;
    s->os_events = l->profile->counts.os_events;
    s->threads = l->profile->thread_count;
    s->processes = processes;
    s->events = l->profile->counts.enters + l->profile->counts.exits;
    s->lost_events = l->file->header.lost_events;
    load_add_loss_remarks(s, l->file, l->profile);
    s->loss_count = s->remark_count;
    s->imported = l->file->header.origin & DWELL_ORIGIN_IMPORTED;
    s->samples = l->file->header.origin & DWELL_ORIGIN_SAMPLES;
    load_judge_sources(s, l);
    s->overhead = l->rollup->session.overhead_inclusive;
    s->overhead_known = l->overhead.paths > 0;
    if (l->file->header.origin & DWELL_ORIGIN_SCALED)
        remark(s, "call paths are approximate (scaled)");
}

static bool as_measured;

void load_as_measured(void)
{
    as_measured = true;
}

void loaded_subtract_overhead(struct loaded *l)
{
    if (as_measured)
        return;
    const struct session_file *f = l->file;
    struct probe_cost *costs = need_memory(f->process_count, sizeof *costs);
    size_t count = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        const struct dwell_rec_probes *probes = &f->processes[i].probes;
        if (probes->rounds)
            costs[count++] = (struct probe_cost){ f->processes[i].serial, probes->in_callee, probes->in_caller,
                                                  probes->first_callee };
    }
    l->overhead = overhead_subtract(l->profile, costs, count, l->lines != NULL);
    free(costs);
}

/* Whether call sites are wanted, and there. */
static bool load_wants_lines(const struct loaded *l, enum lines lines)
{
    const bool there = l->file->header.also & DWELL_ALSO_CALL_SITES;
    if (lines == LINES_NEEDED && !there)
        die(STATUS_ERROR, "%s: recorded without call sites; record again with --call-sites", l->file->path);
    return lines != LINES_NONE && there;
}

void load_part(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request, enum lines lines)
{
    memset(l, 0, sizeof *l);
    const char *error;
    l->file = session_file_open(path, &error);
    if (!l->file)
        die(STATUS_ERROR, "%s: %s", path, error);
    if (slice_is_asked_for(request)) {
        slice_find(request, l->file);
        l->slice = &request->slice;
        l->summary.slice = slice_describe(request);
    }
    if (load_wants_lines(l, lines)) {
        l->profile = collect_sites(l->file, jobs, l->slice);
        l->lines = lines_find(l->file, l->profile);
    } else {
        l->profile = collect_slice(l->file, jobs, l->slice);
    }
    loaded_subtract_overhead(l);
    l->rollup = rollup_new(l->profile);
    l->names = names_find(l->file, l->profile);
    loaded_summarize(l);
}

static void load_join_lines(struct loaded *l)
{
    if (!l->lines)
        return;
    rollup_free(l->rollup);
    lines_join(l);
    l->rollup = rollup_new(l->profile);
}

void load_slice(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request)
{
    load_part(l, path, jobs, request, request && request->by_line ? LINES_NEEDED : LINES_NONE);
    load_join_lines(l);
}

void load_lines(struct loaded *l, const char *path, unsigned jobs, enum lines lines)
{
    load_part(l, path, jobs, NULL, lines);
    load_join_lines(l);
}

void narrow_to_root(struct loaded *l, uint32_t function, struct slice_request *request)
{
    struct profile *below = subtree_below(l->profile, function);
    request->slice.below = true;
    request->slice.root = function;
    request->root = l->names[function].name; /* whole */
    free(l->summary.slice);
    l->summary.slice = slice_describe(request);
    rollup_free(l->rollup);
    profile_free(l->profile);
    l->profile = below;
    l->rollup = rollup_new(below);
    l->summary.partial_paths = true;
    loaded_summarize(l);
}

void load_session(struct loaded *l, const char *path, unsigned jobs)
{
    load_slice(l, path, jobs, NULL);
}

void unload_session(struct loaded *l)
{
    free(l->summary.slice);
    load_free_remarks(&l->summary);
    free(l->summary.remarks);
    for (size_t i = 0; i < l->part_count; i++)
        free(l->parts[i].path);
    free(l->parts);
    names_free(l->names, l->profile->function_count);
    lines_free(l->lines, l->profile->site_count);
    rollup_free(l->rollup);
    profile_free(l->profile);
    session_file_close(l->file);
}

static void load_fill_time_cells(struct cell *cells, uint64_t ticks, uint64_t whole)
{
    cell_number(&cells[0], ticks);
    cell_percent(&cells[1], percent_of(ticks, whole));
}

static void load_fill_waiting_cells(struct cell *cells, const struct times *t)
{
    cell_percent(&cells[TIME_WAITING], percent_of(t->blocked_exclusive, t->elapsed_exclusive));
    cell_number(&cells[TIME_BLOCKED_INCLUSIVE], t->blocked_inclusive);
    cell_number(&cells[TIME_BLOCKED_EXCLUSIVE], t->blocked_exclusive);
    cell_number(&cells[TIME_PREEMPTED_INCLUSIVE], t->preempted_inclusive);
    cell_number(&cells[TIME_PREEMPTED_EXCLUSIVE], t->preempted_exclusive);
    cell_number(&cells[TIME_CPU_INCLUSIVE], times_cpu_inclusive(t));
    cell_number(&cells[TIME_CPU_EXCLUSIVE], times_cpu_exclusive(t));
    cell_number(&cells[TIME_PAGE_FAULTS], t->page_faults_inclusive);
    cell_number(&cells[TIME_PAGE_FAULTS_EXCLUSIVE], t->page_faults_exclusive);
}

void fill_times(struct table *table, const struct times *t)
{
    const struct session_summary *s = table->session;
    struct cell *cells = &table->cells[(table->row_count - 1) * table->column_count + table->first_value];
    table->dim_column = table->first_value + TIME_WAITING;
    if (s->overhead_known) {
        cell_number(&cells[TIME_OVERHEAD_INCLUSIVE], t->overhead_inclusive);
        cell_number(&cells[TIME_OVERHEAD_EXCLUSIVE], t->overhead_exclusive);
    }
    if (!s->samples)
        cell_number(&cells[TIME_CALLS], t->calls);
    load_fill_time_cells(&cells[TIME_ELAPSED_INCLUSIVE], t->elapsed_inclusive, s->elapsed_inclusive);
    load_fill_time_cells(&cells[TIME_ELAPSED_EXCLUSIVE], t->elapsed_exclusive, s->elapsed_inclusive);
    if (s->application_known) {
        load_fill_time_cells(&cells[TIME_APPLICATION_INCLUSIVE], t->application_inclusive, s->application_inclusive);
        load_fill_time_cells(&cells[TIME_APPLICATION_EXCLUSIVE], t->application_exclusive, s->application_inclusive);
    }
    if (t->shortest <= t->longest) {
        cell_number(&cells[TIME_MIN], t->shortest);
        cell_number(&cells[TIME_MAX], t->longest);
    }
    if (s->away_known)
        load_fill_waiting_cells(cells, t);
}
