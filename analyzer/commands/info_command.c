/* dwell info: prints a session's time, clock, mode, losses, processes and threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analysis/bounds.h"
#include "analysis/budget_reached.h"
#include "analysis/names.h"
#include "analysis/probe_share.h"
#include "base/counted_text.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/text_options.h"
#include "base/units.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "report/info_json.h"
#include "report/info_lines.h"
#include "symbols/display_name.h"
#include "tables/views.h"
#include "trace/event_cost.h"
#include "trace/recorded_names.h"
#include "trace/samples.h"
#include "trace/session_seal.h"
#include "trace/trace_event_list.h"

static const struct shared_use shared[] = { { SHARED_LIMIT,
                                              "(default: 20); a row is a function whose level the budget has chosen" },
                                            { SHARED_FORMAT, "(csv: the facts about the session, without the tables)" },
                                            { SHARED_CSV_SAFE, NULL },
                                            { SHARED_UNITS, NULL },
                                            { SHARED_NO_PAGER, NULL },
                                            { SHARED_JOBS, NULL },
                                            { SHARED_STRICT, NULL },
                                            { SHARED_END, NULL } };

enum { MAX_LEVELS = 20 }; /* functions whose level has changed */

struct info_settings {
    struct shared_options shared;
    const char *file;
};

static const struct option_row options[] = { { TAKE_SESSION(struct info_settings, file) }, { 0 } };

/* The run's own length, and the sums over its threads that reports are about. */
static void info_print_lengths(const struct analysis *analysis)
{
    const struct summary *summary = &analysis->summary;
    char run[TIME_TEXT], elapsed[TIME_TEXT], cpu[TIME_TEXT];
    if (summary->run)
        info_print_line("run", "%s, from the first process' start to the last one's end",
                        info_time(analysis->file, summary->run, run));
    if (summary->imported || summary->samples)
        return;
    info_time(analysis->file, summary->elapsed_inclusive, elapsed);
    info_time(analysis->file, times_value(&summary->sums, VALUE_CPU, INCLUSIVE), cpu);
    info_print_line("elapsed", "%s %s%s%s", elapsed, summary->threads == 1 ? "in 1 thread" : "summed over all threads",
                    summary->off_cpu_known ? "; CPU time " : "", summary->off_cpu_known ? cpu : "");
}

static void info_print_time(const struct session_file *f)
{
    time_t start = (time_t)(f->header.start_realtime / 1000000000u);
    char text[64];
    struct tm tm;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", localtime_r(&start, &tm));
    info_print_line(f->header.origin & DWELL_ORIGIN_IMPORTED ? "imported" : "recorded", "%s", text);
    if (f->header.end_ticks)
        info_print_line("duration", "%s, of the recording",
                        info_time(f, f->header.end_ticks - f->header.start_ticks, text));
    info_print_line("state", "%s",
                    session_file_is_written(f)          ? "not finished: still recording"
                    : f->header.state != DWELL_COMPLETE ? "not finished: there is no recorder, or it was killed"
                    : f->health.lacks_parts             ? "damaged: parts of it are missing, see the remarks"
                                                        : "complete");
}

static void info_print_clock(const struct session_file *f)
{
    const char *machine = recorded_machine_name(f->header.machine);
    if (f->header.origin & DWELL_ORIGIN_SAMPLES)
        info_print_line("values", "samples");
    if (f->header.origin & DWELL_ORIGIN_IMPORTED) {
        if (!(f->header.origin & DWELL_ORIGIN_SAMPLES))
            info_print_line("resolution", "%" PRIu64 " ticks per second", f->header.ticks_per_second);
        return;
    }
    info_print_line("clock", "%s, %.3f MHz", recorded_clock_name(f->header.clock),
                    (double)f->header.ticks_per_second / 1e6);
    info_print_line("machine", "%s", machine ? machine : "unknown");
    if (f->host.node)
        info_print_line("host", "%s, %s %s", f->host.node, f->host.system, f->host.release);
}

/* Per call, in the first process that has it. */
static void info_print_probes(const struct analysis *analysis)
{
    const struct session_file *f = analysis->file;
    const struct overhead *o = &analysis->overhead;
    const struct dwell_rec_probes *probes = NULL;
    for (size_t i = 0; i < f->process_count && !probes; i++)
        if (f->processes[i].probes.rounds)
            probes = &f->processes[i].probes;
    if (!probes)
        return;
    const double ns = 1e9 / (double)f->header.ticks_per_second / DWELL_PROBE_FRACTION;
    info_print_line("order", "%s",
                    probes->ordered ? "the clock is read when all before it is done"
                                    : "the clock may be read before earlier loads are done (--clock=ordered: never)");
    info_print_line("probes", "%.1f ns a call in the called function, %.1f ns in its caller", probes->in_callee * ns,
                    probes->in_caller * ns);
    char subtracted[TIME_TEXT], missing[TIME_TEXT];
    info_print_line("left out", "%s of CPU time, as the probes' own; %zu of %s %s held at zero, which are %s short",
                    info_time(f, analysis->summary.overhead, subtracted), o->held, COUNTED(o->paths, "call path"),
                    counted_word(o->held, "is", "are"), info_time(f, o->missing, missing));
}

static void info_print_mode(const struct session_file *f)
{
    if (f->sums.summed_count)
        info_print_line("mode", "%s of %s",
                        f->sums.summed_count == 1 && !f->sums.summed[0].record.shards ? "deltas of the sums" : "sums",
                        COUNTED(f->sums.summed_count, "recorded session"));
    else if (f->header.shared_ring)
        info_print_line("mode", "ring, of %" PRIu64 " bytes for all threads", f->header.max_size);
    else if (f->header.mode == DWELL_MODE_RING)
        info_print_line("mode", "ring, of %" PRIu32 " bytes for each thread", f->header.ring_size);
    else
        info_print_line("mode", "%s", f->header.mode == DWELL_MODE_PROFILE ? "profile" : "trace");
    if (f->header.also & DWELL_ALSO_CALL_SITES)
        info_print_line("call sites", "recorded; see dwell report --by line");
}

/* In flagged intervals, and in all. */
static void info_print_switches(const struct session_file *f)
{
    uint64_t recorded = 0, waits = 0, preemptions = 0;
    size_t threads = 0;
    for (size_t i = 0; i < f->thread_count; i++) {
        const struct dwell_rec_thread_switches *s = &f->threads[i].switches;
        threads += s->record.type != 0;
        recorded += s->recorded;
        waits += s->waits;
        preemptions += s->preemptions;
    }
    if (threads)
        info_print_line("switches", "%" PRIu64 " recorded; by the kernel's own count %" PRIu64 " (%s, %s) in %s",
                        recorded, waits + preemptions, COUNTED(waits, "wait"), COUNTED(preemptions, "preemption"),
                        COUNTED(threads, "thread"));
}

static void info_print_samples(const struct session_file *f)
{
    const struct dwell_file_header *h = &f->header;
    uint32_t shortest, longest;
    char first[40] = "", windows[80] = "";
    const bool known = samples_periods(f, &shortest, &longest);
    if (known && shortest < h->sample_period)
        snprintf(first, sizeof first, "%.5g, then ", 1e9 / shortest);
    if (known && longest > h->sample_period)
        snprintf(windows, sizeof windows, "; down to %.3g where threads switched often", 1e9 / longest);
    if (h->sample_error)
        info_print_line("samples", "none: the system refused them (%s); see dwell doctor", strerror(h->sample_error));
    else if (h->sample_period && samples_are_spare(f))
        info_print_line("samples", "none kept, as all calls were timed; taken %.5g a second of CPU time",
                        1e9 / h->sample_period);
    else if (h->sample_period)
        info_print_line("samples", "%" PRIu64 " of recorded threads, %s%.5g a second of CPU time%s, lost %" PRIu32,
                        samples_count(f), first, 1e9 / h->sample_period, windows, h->lost_samples);
    if (h->sample_period && h->sample_cost)
        info_print_line("a sample", "stops its thread for %.1f us; %s", h->sample_cost / 1e3,
                        h->also & DWELL_ALSO_KERNEL_SAMPLES ? "also in the kernel" : "in user mode only");
}

static void info_print_trace_events(const struct session_file *f)
{
    struct trace_events events = trace_events_read(f);
    if (events.count || events.class_count)
        info_print_line("trace events", "%zu, %s registered", events.count, COUNTED(events.registered, "class"));
    if (events.count)
        info_print_line("CPU time unit", "timer resolution %d x 100 ns, of KernelTime and UserTime of trace events",
                        EVENT_RESOLUTION_USUAL);
    trace_events_free(&events);
}

static void info_print_events(const struct analysis *analysis, const struct profile_counts *c)
{
    char blocked[TIME_TEXT], preempted[TIME_TEXT], paused[TIME_TEXT];
    info_print_line("events", "%" PRIu64 " (%s, %s, %s left without one)", c->enters + c->exits,
                    COUNTED(c->enters, "enter"), COUNTED(c->exits, "exit"), COUNTED(c->unwound, "frame"));
    info_print_line("intervals", "%" PRIu64 ", of them flagged %" PRIu64 " (%.3f %%)", c->intervals,
                    c->flagged_intervals,
                    c->intervals ? 100.0 * (double)c->flagged_intervals / (double)c->intervals : 0);
    if (analysis->summary.application_known)
        info_print_line("OS events", "%" PRIu64 ", page faults %" PRIu64 ", blocked %s, preempted %s", c->os_events,
                        c->page_faults, info_time(analysis->file, c->blocked, blocked),
                        info_time(analysis->file, c->preempted, preempted));
    info_print_switches(analysis->file);
    info_print_samples(analysis->file);
    info_print_trace_events(analysis->file);
    if (c->pauses)
        info_print_line("pauses", "%" PRIu64 ", together %s of threads' time", c->pauses,
                        info_time(analysis->file, c->paused, paused));
}

/* Of one instruction, which the processor executes beside others: less than the recorder can measure. */
static void info_print_count_cost(uint16_t picoseconds)
{
    enum { MEASURABLE = 100 };
    char cost[32];
    snprintf(cost, sizeof cost, "%.1f ns", picoseconds / 1e3);
    if (picoseconds)
        info_print_line("a counted call",
                        "adds %s to a short function, as measured before the run; reports leave that out",
                        picoseconds < MEASURABLE ? "less than 0.1 ns" : cost);
}

/* The functions whose calls were only counted, those with the most calls first. */
static void info_print_counted(const struct analysis *analysis)
{
    enum { MOST = 10 };
    if (!analysis->summary.counted)
        return;
    struct times *sums = rollup_groups(analysis->rollup, BY_FUNCTION);
    char *names = need_copy("", 0);
    uint64_t calls = 0;
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        calls += sums[i].counted;
    for (size_t shown = 0; shown < analysis->summary.counted && shown < MOST; shown++) {
        size_t most = 0;
        for (size_t i = 1; i < analysis->profile->function_count; i++)
            most = sums[i].counted > sums[most].counted ? i : most;
        char *name = display_name(analysis->names[most].name);
        char *more = need_text("%s%s%s", names, shown ? ", " : "", name);
        sums[most].counted = 0;
        free(name);
        free(names);
        names = more;
    }
    info_print_line("counted", "%s of %s: %s%s", COUNTED(calls, "call"), COUNTED(analysis->summary.counted, "function"),
                    names, analysis->summary.counted > MOST ? ", ..." : "");
    info_print_count_cost(analysis->file->header.count_cost);
    free(names);
    free(sums);
}

/* Of a session without a recorder, or whose recorder was killed: chunks that its processes had finished have checksums.
 */
static void info_print_some_checksums(const struct session_file *f, uint64_t events)
{
    size_t chunks = 0, sealed = 0;
    uint64_t covered = 0;
    char part[64] = "";
    for (size_t i = 0; i < f->chunk_count; i++) {
        const struct trace_chunk *chunk = &f->chunks[i];
        const bool counted = chunk->kind == DWELL_CHUNK_EVENTS && chunk->sealed && chunk->enters != DWELL_NOT_COUNTED;
        chunks += seal_is_for(chunk->kind);
        sealed += chunk->sealed;
        covered += counted ? (uint64_t)chunk->enters + chunk->exits : 0;
    }
    if (covered && events)
        snprintf(part, sizeof part, ", with %" PRIu64 " %% of the events",
                 multiply_divide(smaller(covered, events), 100, events));
    if (sealed)
        info_print_line("checksums", "%zu of %s have one%s: damage to the others may go unnoticed", sealed,
                        COUNTED(chunks, "chunk"), part);
    else
        info_print_line("checksums", "none: damage may go unnoticed");
}

static void info_print_checksums(const struct session_file *f, uint64_t events)
{
    if (!f->health.is_sealed)
        info_print_some_checksums(f, events);
    else if (f->health.whole_chunks == f->health.sealed_chunks)
        info_print_line("checksums", "all chunks are whole");
    else
        info_print_line("checksums", "%" PRIu64 " of %s %s whole", f->health.whole_chunks,
                        COUNTED(f->health.sealed_chunks, "chunk"), counted_word(f->health.whole_chunks, "is", "are"));
}

/* What recording took of the program's time, and how much of it the budget allows, if there was one. */
static void info_print_budget(const struct analysis *analysis)
{
    char *reached = budget_reached_text(&analysis->summary), *parts = budget_parts_text(&analysis->summary);
    if (parts)
        info_print_line("recording", "%s", parts);
    if (reached)
        info_print_line("budget", "%s%s", reached,
                        analysis->summary.budget_acted
                            ? ""
                            : "; no function was changed (the first 250,000 calls of a program are timed)");
    free(parts);
    free(reached);
}

/* What levels and pauses cost. */
static void info_print_changes(const struct session_file *f)
{
    char time[TIME_TEXT];
    const uint64_t ticks = multiply_divide(f->more.change_time, f->header.ticks_per_second, 1000000000);
    if (f->more.code_changes)
        info_print_line("changes of code", "%" PRIu64 ", which took %s of CPU time", f->more.code_changes,
                        info_time(f, ticks, time));
}

static void info_print_stolen(const struct session_file *f)
{
    char time[TIME_TEXT];
    const uint64_t ticks = multiply_divide(f->more.stolen_time, f->header.ticks_per_second, 1000000000);
    if (f->more.stolen_time)
        info_print_line("stolen",
                        "%s, which the host took from the processors of this machine: it is in no CPU time "
                        "of the kernel",
                        info_time(f, ticks, time));
}

static void info_print_counts(const struct analysis *analysis)
{
    if (!analysis->summary.imported)
        info_print_events(analysis, &analysis->profile->counts);
    info_print_line("call paths", "%zu, each thread's own, of %s in %s",
                    analysis->profile->node_count - analysis->profile->thread_count,
                    COUNTED(analysis->profile->function_count, "function"),
                    COUNTED(analysis->profile->module_count, "module"));
    info_print_counted(analysis);
    struct stat status;
    if (fstat(analysis->file->fd, &status) < 0)
        die(STATUS_ERROR, "%s: %s", analysis->file->path, strerror(errno));
    info_print_line("size", "%s in %s", COUNTED(status.st_size, "byte"), COUNTED(analysis->file->chunk_count, "chunk"));
    info_print_checksums(analysis->file, analysis->profile->counts.enters + analysis->profile->counts.exits);
    if (!analysis->summary.imported)
        info_print_line("lost events", "%" PRIu64, analysis->file->header.lost_events);
    if (!(analysis->summary.imported || analysis->file->sums.summed_count ||
          analysis->file->header.mode == DWELL_MODE_PROFILE))
        info_print_line("searches", "%" PRIu64 " of chunks, for records that probes had claimed and not stored",
                        analysis->file->more.hole_searches);
    info_print_changes(analysis->file);
    info_print_stolen(analysis->file);
    info_print_budget(analysis);
}

static const struct command_line line = {
    .name = "info",
    .arguments = "[FILE]",
    .text = "Describes a session (default: dwell.data): what was recorded, where and how, and what was lost.\v"
            "Examples:\n"
            "  dwell info\n"
            "  dwell info run.data",
    .options = options,
    .shared = shared,
};

/* Each text once: many processes may have the same. */
static void info_print_notes(const struct session_file *file)
{
    struct intern seen = { .index = NULL };
    for (size_t i = 0; i < file->labels.note_count; i++) {
        const size_t count = seen.count;
        if (intern(&seen, file->labels.notes[i], strlen(file->labels.notes[i])) == count)
            info_print_line("note", "%s", file->labels.notes[i]);
    }
    intern_drop(&seen);
}

/* That of reports about their rows, for all of them. */
static void info_remark_probes(struct summary *summary)
{
    char *probes = probe_share_remark(summary, summary->overhead,
                                      times_value(&summary->sums, probe_share_rest(summary), INCLUSIVE), "");
    if (probes)
        summary_remark_doubt(summary, "mostly-probes", "%s", probes);
    free(probes);
}

static void info_print_remarks(const struct summary *summary)
{
    char *bounds = bounds_remark(summary);
    if (bounds)
        info_print_line("application", "%s", bounds);
    for (size_t i = 0; i < summary->remark_count; i++)
        if (!summary_is_caveat(summary, i))
            info_print_line("remark", "%s", summary->remarks[i]);
    for (size_t i = 0; i < summary->remark_count; i++)
        if (summary_is_caveat(summary, i))
            info_print_line("caveat", "%s", summary->remarks[i]);
    free(bounds);
}

int command_info(int argc, char **argv)
{
    struct info_settings s = { .file = DEFAULT_SESSION, .shared.limit = MAX_LEVELS };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    struct analysis analysis;
    shared_options_load_plain(&analysis, s.file, &s.shared);
    info_remark_probes(&analysis.summary);
    if (s.shared.print != table_print_text) {
        (s.shared.print == table_print_json ? info_print_json : info_print_csv)(&analysis, s.file);
        analysis_drop(&analysis);
        return finish_output();
    }
    info_print_line("session", "%s", s.file);
    info_print_time(analysis.file);
    info_print_lengths(&analysis);
    info_print_clock(analysis.file);
    if (!analysis.summary.imported) {
        info_print_mode(analysis.file);
        info_print_probes(&analysis);
    }
    info_print_counts(&analysis);
    info_print_notes(analysis.file);
    info_print_remarks(&analysis.summary);
    info_print_kept(analysis.file, s.shared.limit);
    info_print_values(analysis.file);
    info_print_libraries(analysis.file);
    info_print_levels(analysis.file, s.shared.limit);
    info_print_processes(analysis.file);
    if (!analysis.summary.imported)
        info_print_threads(&analysis);
    info_print_cpu(&analysis);
    analysis_drop(&analysis);
    return finish_output();
}
