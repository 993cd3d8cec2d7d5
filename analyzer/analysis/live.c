/* Reads a growing session step by step, and describes its state in a line of text. */
#include "analysis/live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/copies.h"
#include "base/counted_text.h"
#include "base/duration.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/collect.h"
#include "symbols/symbols.h"
#include "trace/alive.h"

static const uint64_t max_at_once = 256 << 20;

struct live *live_open(const char *file, const char *path, const struct analysis_options *options, struct error *error)
{
    const char *wrong;
    struct follow *follow = follow_open(file, &wrong);
    if (!follow) {
        error_set(error, "%s: %s", path, wrong);
        return NULL;
    }
    struct live *l = need_memory(1, sizeof *l);
    free(follow->growth->file->path);
    follow->growth->file->path = need_copy(path, strlen(path));
    l->follow = follow;
    l->binaries = binaries_new();
    l->jobs = options->jobs ? options->jobs : collect_default_jobs();
    l->raw = options->raw;
    l->no_merge = options->no_merge;
    return l;
}

static void live_free_rollup(struct analysis *analysis)
{
    if (analysis->rollup) {
        rollup_free(analysis->rollup);
        profile_free(analysis->profile);
        free(analysis->names);
    }
    analysis->rollup = NULL;
}

void live_close(struct live *l)
{
    live_free_rollup(&l->whole);
    live_free_rollup(&l->recent);
    live_free_rollup(&l->window);
    summary_drop_remarks(&l->whole.summary);
    summary_drop_remarks(&l->recent.summary);
    summary_drop_remarks(&l->window.summary);
    names_free(l->names, l->name_count);
    binaries_free(l->binaries);
    follow_close(l->follow);
    free(l);
}

/* Functions keep their order, so a function's number is the same in the next reading. */
static void live_join_copies(const struct live *l, struct analysis *part)
{
    struct profile *p = part->profile;
    uint32_t *copies = l->no_merge ? NULL : copies_find(p, l->names);
    if (copies) {
        part->profile = copies_join(p, copies);
        part->names = copies_names(part->profile, p, l->names, copies);
        profile_free(p);
    } else {
        part->names = need_memory(p->function_count, sizeof *part->names);
        memcpy(part->names, l->names, p->function_count * sizeof *part->names);
    }
    free(copies);
}

/* Works on a copy of the profile: the overhead may not be subtracted from the profile that grows. */
static void live_load_part(struct live *l, struct analysis *part, struct profile *profile)
{
    part->file = l->follow->growth->file;
    part->names = NULL;
    part->rollup = NULL;
    if (!profile)
        return;
    part->profile = profile_new();
    profile_copy_functions(part->profile, profile);
    profile_merge(part->profile, profile);
    if (!l->raw)
        analysis_subtract_overhead(part);
    live_join_copies(l, part);
    part->rollup = rollup_new(part->profile);
    analysis_summarize(part);
}

bool live_read(struct live *l, uint64_t *left, struct error *error)
{
    const char *wrong = follow_read(l->follow, max_at_once, l->jobs);
    if (wrong)
        return error_set(error, "%s: %s", l->follow->growth->file->path, wrong);
    *left = l->follow->growth->left;
    live_free_rollup(&l->whole);
    live_free_rollup(&l->recent);
    live_free_rollup(&l->window);
    follow_look(l->follow);
    names_extend(&l->names, &l->name_count, l->follow->growth->file, l->follow->whole, l->binaries);
    live_load_part(l, &l->whole, l->follow->whole);
    live_load_part(l, &l->recent, l->follow->recent);
    live_load_part(l, &l->window, l->follow->window);
    l->times = (struct recent_times){ l->recent.rollup, l->window.rollup, l->follow->interval };
    return true;
}

/* ---- descriptions ---- */

/* The process that began first, which is usually the one that the user started. */
static const struct trace_process *live_main_process(const struct session_file *file)
{
    return file->process_count ? &file->processes[0] : NULL;
}

static void live_describe_end(FILE *out, const struct trace_process *p)
{
    if (p && p->end_how == DWELL_END_EXIT)
        fprintf(out, "ended (exit status %" PRIu32 ")", p->end_value);
    else if (p && p->end_how == DWELL_END_SIGNAL)
        fprintf(out, "ended (killed by signal %" PRIu32 ", %s)", p->end_value, strsignal((int)p->end_value));
    else
        fputs("ended", out);
}

static uint64_t live_run_time(const struct session_file *file)
{
    const uint64_t now = session_now(file), start = file->header.start_ticks;
    return now > start ? ticks_to_ns(now - start, file->header.ticks_per_second) : 0;
}

char *live_describe(const struct live *l)
{
    const struct session_file *file = l->whole.file;
    const struct trace_process *p = live_main_process(file);
    char *text = NULL;
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (p) {
        char *name = names_module(p->path);
        fprintf(out, "%s (%" PRIu32 "): ", name, p->pid);
        free(name);
    }
    if (l->follow->alive)
        fprintf(out, "running for %.1f s", (double)live_run_time(file) / 1e9);
    else if (file->header.origin & DWELL_ORIGIN_IMPORTED)
        fputs("imported", out);
    else
        live_describe_end(out, p);
    need_stream_end(out);
    return text;
}

char *live_describe_rates(const struct live *l)
{
    const struct summary *summary = &l->whole.summary;
    char *text = NULL;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "%s", COUNTED(l->whole.rollup->session.calls, "call"));
    if (l->recent.rollup && l->times.interval)
        fprintf(out, ", %.0f a second", (double)l->recent.rollup->session.calls * 1e9 / (double)l->times.interval);
    fprintf(out, ", %s, %s", COUNTED(summary->threads, "thread"), COUNTED(summary->processes, "process"));
    need_stream_end(out);
    return text;
}
