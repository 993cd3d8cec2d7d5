/* Completes the session file when the program has ended, and prints a line with what was recorded, what was lost and
 * why. */
#include "recorder/record_outcome.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "guard.h"
#include "recorder/executable.h"
#include "recorder/record_symbols.h"
#include "symbols/instrumentation.h"
#include "trace/mark_search.h"
#include "trace/samples.h"
#include "trace/scan.h"
#include "trace/session_finish.h"
#include "trace/session_seal.h"
#include "trace/trace_event_list.h"

static bool record_is_empty(const struct session_file *file, const struct record_outcome *o)
{
    uint64_t time;
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].sample_count)
            return false;
    return o->events == 0 && o->counted == 0 && o->trace_events == 0 && !mark_search(file, "*", 0, &time);
}

/* Whether the file has events of a thread, but not the thread's name, which was there first. Where no other trouble
 * explains that, the file was truncated when no chunk in use was behind its end, and has grown again since. */
static bool record_lacks_threads(const struct session_file *file)
{
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        const bool of_thread = chunk->kind == DWELL_CHUNK_EVENTS || chunk->kind == DWELL_CHUNK_CALL_TREE ||
                               chunk->kind == DWELL_CHUNK_COUNTS;
        const struct trace_thread *thread = of_thread ? session_file_thread(file, chunk->thread) : NULL;
        if (of_thread && (!thread || !thread->announced))
            return true;
    }
    return false;
}

/* Whether the first chunk is gone, which was there before the disk could be full: the file was truncated, and another
 * process or thread made it longer before a store could fail. */
static bool record_lacks_first_chunk(int fd)
{
    uint32_t magic = 0;
    return pread(fd, &magic, sizeof magic, DWELL_UNIT) == sizeof magic && magic != DWELL_CHUNK_MAGIC;
}

static bool record_was_truncated(const struct session *session, int fd, const struct session_file *file)
{
    const uint32_t trouble = session->header->trouble;
    if (trouble & DWELL_TROUBLE_TRUNCATED)
        return false; /* it is known */
    return trouble & DWELL_TROUBLE_NO_SPACE ? record_lacks_first_chunk(fd) : !trouble && record_lacks_threads(file);
}

/* Threads of the samples are known now. Samples of others, such as those of programs that are not instrumented, are
 * discarded. */
static void record_set_sampled_threads(int fd, const struct session_file *file)
{
    for (size_t i = 0; i < file->chunk_count; i++) {
        const struct trace_chunk *chunk = &file->chunks[i];
        const uint32_t owner[] = { chunk->process, chunk->thread };
        const uint16_t kind = DWELL_CHUNK_FREE;
        if (chunk->kind != DWELL_CHUNK_SAMPLES)
            continue;
        const off_t at = (off_t)chunk->offset;
        if (chunk->thread
                ? pwrite(fd, owner, sizeof owner, at + (off_t)offsetof(struct dwell_chunk_header, process)) < 0
                : pwrite(fd, &kind, sizeof kind, at + (off_t)offsetof(struct dwell_chunk_header, kind)) < 0)
            return;
    }
}

/* Short runs are not worth a remark. The CPU time is that of all processes that were waited for, so that the probes of
 * others may come to more. */
static double record_probes_share(const struct session_file *file, uint64_t calls)
{
    static const double LEAST = 0.1, MOST = 0.99;
    struct rusage usage;
    double ticks = 0, processes = 0;
    for (size_t i = 0; i < file->process_count; i++) {
        const struct dwell_rec_probes *p = &file->processes[i].probes;
        if (!p->rounds)
            continue;
        ticks += (double)p->in_callee + p->in_caller;
        processes++;
    }
    if (!processes || !file->header.ticks_per_second || getrusage(RUSAGE_CHILDREN, &usage) < 0)
        return 0;
    const double took =
        (double)calls * ticks / processes / DWELL_PROBE_FRACTION / (double)file->header.ticks_per_second;
    const double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return took < LEAST ? 0 : took < MOST * cpu ? took / cpu : MOST;
}

/* A session of windows may have none: then no call was slow, which is worth knowing. */
static void record_count_kept(const struct session *session, struct record_outcome *o)
{
    const struct dwell_file_more *more = session_more(session);
    o->keeps = more->keep != 0;
    o->kept = more->kept_calls;
    o->usual = more->usual_calls;
    o->limited = more->limited_calls;
    o->unkept = more->unkept_calls;
    if (o->keeps && o->processes)
        o->empty = false;
}

void record_complete(const struct session *session, int fd, const char *path, struct module_names *known,
                     struct record_outcome *o)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    if (file) {
        struct scan scan = scan_counts(file);
        if (!record_symbols(session, fd, file, known) && !session->header->trouble)
            say("%s: not all names of functions could be written", path);
        o->events = scan.enters + scan.exits;
        o->counted = scan.counted;
        o->probes_share = record_probes_share(file, scan.enters);
        o->trace_events = trace_events_count(file);
        o->threads = file->thread_count;
        for (size_t i = 0; i < file->process_count; i++)
            o->processes += file->processes[i].path[0] != '\0';
        o->empty = record_is_empty(file, o);
        o->samples = samples_count(file);
        o->spare_samples = samples_are_spare(file);
        const int unread = session_file_take_error(file);
        if (unread)
            say("%s: a part of the session could not be read at the end, so names may be missing: %s", path,
                strerror(unread));
        else
            record_set_sampled_threads(fd, file);
        if (!unread && record_was_truncated(session, fd, file))
            session_trouble(session, DWELL_TROUBLE_TRUNCATED);
        session_file_close(file);
    } else {
        say("%s: %s", path, error);
    }
    record_count_kept(session, o);
    if (!session_is_whole(session)) { /* meanwhile, somebody has put something else into the file */
        o->trouble = DWELL_TROUBLE_TRUNCATED;
        return;
    }
    finish_space(session, fd);
    seal_session(session, fd);
    struct stat status;
    if (fstat(fd, &status) == 0)
        o->bytes = (uint64_t)status.st_blocks * 512; /* on the disk: the file has holes */
    struct dwell_file_header header = *session->header;
    if (guard_header_is_lost() && pread(fd, &header, sizeof header, 0) == sizeof header) {
        header.lost_events += session->header->lost_events;
        header.lost_trace_events += session->header->lost_trace_events;
    }
    o->lost = header.lost_events;
    o->lost_trace_events = header.lost_trace_events;
    o->lost_samples = header.lost_samples;
    o->sample_error = header.sample_error;
    o->trouble = header.trouble | session->header->trouble | guard_trouble();
}

void record_seal_dump(const struct session *session, const char *path)
{
    char *dump = need_text("%s.dump", path);
    seal_dump(dump, session->header);
    free(dump);
}

static const char *record_size_text(char *text, size_t size, uint64_t number)
{
    static const char *const units[] = { "", " k", " M", " G", " T" };
    double value = (double)number;
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++)
        value /= 1000;
    snprintf(text, size, unit && value < 100 ? "%.1f%s" : "%.0f%s", value, units[unit]);
    return text;
}

static const char *record_loss_reason(uint32_t trouble)
{
    if (trouble & DWELL_TROUBLE_TRUNCATED)
        return "the session file was truncated or overwritten, or its device failed";
    if (trouble & DWELL_TROUBLE_NO_SPACE)
        return "the disk is full, or a limit on file sizes was reached";
    if (trouble & DWELL_TROUBLE_MAX_SIZE)
        return "the session had its maximum size (--max-size)";
    if (trouble & DWELL_TROUBLE_KEEP_FREE)
        return "too little of the disk was free (--keep-free)";
    if (trouble & DWELL_TROUBLE_NO_MEMORY)
        return "the system refused memory";
    if (trouble & DWELL_TROUBLE_NO_FILE)
        return "a process could not open the session file";
    if (trouble & DWELL_TROUBLE_REFUSED)
        return "the system refused a call that recording needs (a sandbox?)";
    return "the runtime could not say why";
}

static void record_report_samples(const struct record_settings *s, const struct record_outcome *o)
{
    char lost[32];
    if (o->spare_samples)
        return;
    if (o->sample_error)
        say("recorded without samples, which the system refused: %s; see dwell doctor%s", strerror(o->sample_error),
            o->counted && !s->overhead_asked ? ". So counted functions have no times; --overhead none times all calls"
                                             : "");
    if (o->lost_samples)
        say("%s %s lost, as dwell could not keep up", record_size_text(lost, sizeof lost, o->lost_samples),
            COUNTED_NOUN_WAS(o->lost_samples, "sample"));
}

/* A program without probes makes no process of the session. */
static bool record_has_probes(const char *program)
{
    const struct executable e = executable_examine(program);
    const int fd = e.path ? open(e.path, O_RDONLY | O_CLOEXEC) : -1;
    bool has = e.has_runtime;
    if (fd >= 0) {
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        has = has || (elf && instrumentation_count(elf).mentioned);
        elf_end(elf);
        close(fd);
    }
    free(e.path);
    return has;
}

static const char *record_why_empty(const struct record_settings *s, const struct record_outcome *o)
{
    const bool only_levels = filters_have_only_levels(&s->filters);
    if (!o->processes && record_has_probes(s->program[0]))
        return "the runtime was not loaded, or could not open the session file (is it setuid, does it clear its "
               "environment, or is it short of descriptors or memory?)";
    if (s->paused)
        return "it was paused and never resumed by dwell_start or dwell control";
    if (only_levels && filters_function_count(&s->filters))
        return "the probes of all functions that it called are out (--level); samples have times only below a function "
               "that is timed, so leave one out of the pattern, such as main";
    if (filters_any(&s->filters) && !only_levels)
        return "the filters match none of the calls";
    if (o->own_hooks)
        return "it has a function __cyg_profile_func_enter of its own, which its functions call instead of dwell's; "
               "link it without that one";
    return "it has no instrumented functions; compile it with dwell cc, or with -g -finstrument-functions";
}

/* The session as a word of a command, which need not name the usual one. */
static const char *record_shown_file(const struct record_settings *s)
{
    return strcmp(s->output, DWELL_USUAL_FILE) == 0 ? "" : s->output;
}

/* What would have kept some: no setting that learns its limit. */
static void record_report_nothing_kept(const struct record_settings *s)
{
    const struct keep_watches *keep = &s->filters.keep;
    uint32_t i = 0;
    while (i < keep->count && (keep->list[i].rule != DWELL_KEEP_ABOVE || !strrchr(keep->list[i].text, '>')))
        i++;
    if (i == keep->count) {
        say("no call was slow, so nothing is kept in %s", s->output);
        return;
    }
    const char *text = keep->list[i].text;
    say("no call was slow, so nothing is kept in %s; --keep '%.*s>p99' would keep the slowest 1 %%", s->output,
        (int)(strrchr(text, '>') - text), text);
}

static void record_report_kept(const struct record_settings *s, const struct record_outcome *o)
{
    const char *file = record_shown_file(s);
    char bytes[32];
    if (o->unkept)
        say("%s could not be kept: %s", COUNTED(o->unkept, "slow call"),
            record_loss_reason(o->trouble ? o->trouble : DWELL_TROUBLE_MAX_SIZE));
    if (o->limited && !s->quiet)
        say("%s more than --keep-limit %s not kept", COUNTED(o->limited, "slow call"),
            counted_word(o->limited, "was", "were"));
    if (!s->quiet && !o->kept && !o->usual && !o->unkept && !o->limited)
        record_report_nothing_kept(s);
    else if (!s->quiet && !o->usual)
        say("%s kept, %sB in %s; see: dwell info%s%s", COUNTED(o->kept, "slow call"),
            record_size_text(bytes, sizeof bytes, o->bytes), s->output, *file ? " " : "", file);
    else if (!s->quiet)
        say("%s and %s kept, %sB in %s; see: dwell info%s%s", COUNTED(o->kept, "slow call"),
            COUNTED(o->usual, "usual one"), record_size_text(bytes, sizeof bytes, o->bytes), s->output,
            *file ? " " : "", file);
}

void record_report(const struct record_settings *s, const struct record_outcome *o)
{
    const char *file = record_shown_file(s);
    char events[32], bytes[32], lost[32];
    if (!o->lost && (o->trouble & DWELL_TROUBLE_TRUNCATED || guard_header_is_lost()))
        say("events were lost: %s", record_loss_reason(o->trouble));
    else if (o->lost || o->trouble & (DWELL_TROUBLE_NO_FILE | DWELL_TROUBLE_REFUSED))
        say("%s %s lost: %s", record_size_text(lost, sizeof lost, o->lost), COUNTED_NOUN_WAS(o->lost, "event"),
            record_loss_reason(o->trouble));
    if (o->lost_trace_events)
        say("%s %s lost: %s", record_size_text(lost, sizeof lost, o->lost_trace_events),
            COUNTED_NOUN_WAS(o->lost_trace_events, "trace event"), record_loss_reason(o->trouble));
    record_report_samples(s, o);
    if (o->keeps && o->processes) {
        record_report_kept(s, o);
        return;
    }
    if (o->events == 0 && o->counted == 0 && o->trace_events == 0 && !o->trouble) {
        say("%s: no events were recorded: %s", s->program[0], record_why_empty(s, o));
        return;
    }
    /* A cut session grows again while stores fail in it, so a store may have failed for room as well. */
    if (o->events == 0 && o->counted == 0 && !(o->trouble & DWELL_TROUBLE_TRUNCATED) &&
        o->trouble & (DWELL_TROUBLE_NO_SPACE | DWELL_TROUBLE_KEEP_FREE)) {
        say("%s: nothing was recorded; make room, or choose another place with -o (dwell doctor -o FILE)", s->output);
        return;
    }
    if (s->quiet)
        return;
    char said[128] = "", counted[32], traced[32], samples[32];
    if (o->counted)
        snprintf(said, sizeof said, "%s %s, ", record_size_text(counted, sizeof counted, o->counted),
                 COUNTED_NOUN(o->counted, "counted call"));
    if (o->trace_events)
        snprintf(said + strlen(said), sizeof said - strlen(said), "%s %s, ",
                 record_size_text(traced, sizeof traced, o->trace_events),
                 COUNTED_NOUN(o->trace_events, "trace event"));
    if (o->samples)
        snprintf(said + strlen(said), sizeof said - strlen(said), "%s %s, ",
                 record_size_text(samples, sizeof samples, o->samples), COUNTED_NOUN(o->samples, "sample"));
    say("%s %s, %s%s, %s, %sB in %s; see: dwell report%s%s", record_size_text(events, sizeof events, o->events),
        COUNTED_NOUN(o->events, "event"), said, COUNTED(o->threads, "thread"), COUNTED(o->processes, "process"),
        record_size_text(bytes, sizeof bytes, o->bytes), s->output, *file ? " " : "", file);
    if (o->probes_share > 0.5 && !s->overhead)
        say("the probes took about %.0f %% of the program's CPU time; record --overhead 10%% limits that",
            100 * o->probes_share);
}
