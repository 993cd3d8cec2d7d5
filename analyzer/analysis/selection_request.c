/* The part of a session that a user selects: parses moments, finds them in the session, and describes the part. */
#include "analysis/selection_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "analysis/thread_titles.h"
#include "base/duration.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/wide.h"
#include "trace/activities.h"
#include "trace/mark_search.h"

void selection_request_drop(struct selection_request *r)
{
    selection_free(&r->selection);
    selection_names_free(&r->roots);
    selection_names_free(&r->within);
    selection_names_free(&r->valued);
    call_filters_drop(&r->filters);
}

bool selection_has_within(const struct selection_request *r)
{
    return r->within.count || r->valued.count;
}

bool selection_is_requested(const struct selection_request *r)
{
    return selection_has_within(r) || r->from.given || r->to.given || r->roots.count || r->selection.share.count ||
           r->selection.threads.count || r->selection.processes.count;
}

/* ---- moments ---- */

bool selection_moment_parse(const char *option, const char *text, struct selection_moment *moment, struct error *error)
{
    static const char mark[] = "mark:";
    *moment = (struct selection_moment){ .given = true };
    if (strncmp(text, mark, strlen(mark)) == 0 && text[strlen(mark)]) {
        moment->mark = text + strlen(mark);
        return true;
    }
    if (duration_parse(text, &moment->ns))
        return true;
    return error_set(error, "%s: '%s' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded",
                     option, text);
}

uint64_t selection_ticks(uint64_t ns, const struct session_file *file)
{
    const uint128 ticks = ((uint128)ns * file->header.ticks_per_second + 500000000u) / 1000000000u;
    return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

static uint64_t selection_ns_to_ticks(uint64_t ns, const struct session_file *file)
{
    const uint128 ticks = (uint128)selection_ticks(ns, file) + file->header.start_ticks;
    return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

/* Sets *found to the time of the earliest such mark after `after`. */
static bool selection_find_mark(struct selection_moment *m, const char *option, const struct session_file *file,
                                uint64_t after, uint64_t *found, struct error *error)
{
    if (!mark_search(file, m->mark, after + 1, found)) {
        if (after && mark_search(file, m->mark, 0, found))
            return error_set(error, "%s: %s: no mark '%s' is later than --from", file->path, option, m->mark);
        return error_set(error, "%s: %s: no mark '%s'%s dwell marks lists them", file->path, option, m->mark,
                         hint_mark(file, m->mark, ";"));
    }
    m->ns = *found > file->header.start_ticks
                ? ticks_to_ns(*found - file->header.start_ticks, file->header.ticks_per_second)
                : 0;
    return true;
}

static bool selection_find_moment(struct selection_moment *m, const char *option, const struct session_file *file,
                                  uint64_t after, uint64_t *found, struct error *error)
{
    if (!m->given)
        return true;
    if (m->mark)
        return selection_find_mark(m, option, file, after, found, error);
    *found = selection_ns_to_ticks(m->ns, file);
    return true;
}

bool selection_moments_find(struct selection_moment *from, struct selection_moment *to, const struct session_file *file,
                            uint64_t *begin, uint64_t *end, struct error *error)
{
    *begin = 0;
    *end = UINT64_MAX;
    if (!selection_find_moment(from, "--from", file, 0, begin, error) ||
        !selection_find_moment(to, "--to", file, *begin, end, error))
        return false;
    const uint64_t last = larger(file->header.end_ticks, session_file_last_time(file));
    if (from->given && file->header.end_ticks && *begin > last) {
        char length[DURATION_TEXT];
        duration_text(ticks_to_ns(last - file->header.start_ticks, file->header.ticks_per_second), length);
        return error_set(error, "%s: --from is after the end of the recording, which is at %s", file->path, length);
    }
    return *begin < *end ? true : error_set(error, "%s: --from is not before --to", file->path);
}

/* ---- activities ---- */

static const char *selection_activity_hint(const struct activities *a, const char *wanted)
{
    const char *typed = strchr(wanted, ':') + 1;
    const char **names = need_memory(a->count, sizeof *names);
    for (size_t i = 0; i < a->count; i++)
        names[i] = a->list[i].name;
    const char *text = suggestion(typed, names, a->count, ";");
    free(names);
    return text;
}

/* Adds the ranges of the activities that match. An activity that ends on another thread than it begins has none. */
static bool selection_add_activities(struct thread_ranges *ranges, const struct activities *a, const char *wanted,
                                     const struct session_file *file, struct error *error)
{
    size_t matching = 0, on_threads = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct trace_activity *activity = &a->list[i];
        if (!activity_matches(a, activity, wanted))
            continue;
        matching++;
        on_threads += activity_has_thread(activity);
        if (activity_has_thread(activity))
            thread_ranges_add(ranges, activity->first->thread, activity->first->time, activity->last->time);
    }
    if (!matching)
        return error_set(error, "%s: --within: no '%s' that began and ended%s dwell events --pairs lists them",
                         file->path, wanted, selection_activity_hint(a, wanted));
    if (!on_threads)
        return error_set(error, "%s: --within: every '%s' began and ended on different threads", file->path, wanted);
    return true;
}

/* Keeps only the time in which the conditions on values hold, too. */
static bool selection_keep_valued(struct selection_request *r, uint64_t begin, uint64_t end, struct error *error)
{
    if (!r->valued.count)
        return true;
    if (!r->valued_time)
        return error_set(error, "--filter: '%s': this view takes conditions on columns alone", r->valued.list[0]);
    thread_ranges_join(r->valued_time, begin, end);
    if (r->selection.within) {
        thread_ranges_keep(r->selection.within, r->valued_time);
        thread_ranges_free(r->valued_time);
        free(r->valued_time);
    } else {
        r->selection.within = r->valued_time;
    }
    r->valued_time = NULL;
    return r->selection.within->count ? true : error_set(error, "--filter: no call meets all conditions");
}

static bool selection_find_within(struct selection_request *r, const struct session_file *file, uint64_t begin,
                                  uint64_t end, struct error *error)
{
    if (!r->within.count)
        return true;
    bool good = true;
    const bool has_calls = r->selection.within != NULL;
    struct activities activities = activities_read(file);
    if (!has_calls)
        r->selection.within = need_memory(1, sizeof *r->selection.within);
    for (size_t i = 0; i < r->within.count && good; i++) {
        if (activity_is_valid_name(r->within.list[i]))
            good = selection_add_activities(r->selection.within, &activities, r->within.list[i], file, error);
        else if (!has_calls)
            good = error_set(error, "--within: '%s': this view takes marker:WHAT and activity:CLASS alone",
                             r->within.list[i]);
    }
    thread_ranges_join(r->selection.within, begin, end);
    activities_free(&activities);
    return good;
}

bool selection_ranges_find(struct selection_request *r, const struct session_file *file, uint64_t begin, uint64_t end,
                           struct error *error)
{
    return selection_find_within(r, file, begin, end, error) && selection_keep_valued(r, begin, end, error);
}

static bool selection_find_range(struct selection_request *r, const struct session_file *file, struct error *error)
{
    struct selection *s = &r->selection;
    const char *why = session_file_why_sums(file), *cut_by = r->from.given || r->to.given ? "--from and --to"
                                                             : r->within.count            ? "--within"
                                                                                          : "--filter";
    if (file->header.origin & DWELL_ORIGIN_SUMS)
        return error_set(error, "%s: holds sums, which cannot be cut by %s; read the recorded session", file->path,
                         cut_by);
    if (why)
        return error_set(error, "%s: %s, so it has sums without times and cannot be cut by %s", file->path, why,
                         cut_by);
    *s = (struct selection){ .cut = true, .within = s->within, .threads = s->threads, .processes = s->processes };
    return selection_moments_find(&r->from, &r->to, file, &s->from, &s->to, error) &&
           selection_ranges_find(r, file, s->from, s->to, error);
}

bool selection_check_names(struct selection *s, const struct session_file *file, struct error *error)
{
    const char *what, *name = selection_unknown_name(s, file, &what);
    const bool is_thread = name && strcmp(what, "thread") == 0;
    if (is_thread && !s->titles) {
        s->titles = thread_titles_read(file);
        s->title_count = file->thread_count;
        return selection_check_names(s, file, error);
    }
    if (!name)
        return true;
    return error_set(error, "%s: no %s '%s'%s dwell report --by %s lists them", file->path, what, name,
                     is_thread ? hint_thread(file, s->titles, name, ";") : hint_process(file, name, ";"), what);
}

bool selection_find(struct selection_request *r, const struct session_file *file, struct error *error)
{
    if ((r->from.given || r->to.given || selection_has_within(r)) && !selection_find_range(r, file, error))
        return false;
    return selection_check_names(&r->selection, file, error);
}

/* ---- descriptions ---- */

static void selection_describe_moment(FILE *out, const char *word, const struct selection_moment *m)
{
    char time[DURATION_TEXT];
    if (!m->given)
        return;
    duration_text(m->ns, time);
    fputs(word, out);
    if (m->mark)
        fprintf(out, "mark %s (%s)", m->mark, time);
    else
        fputs(time, out);
}

static void selection_describe_names(FILE *out, const char *what, const struct selection_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        fprintf(out, "%s%s", i ? " or " : what, names->list[i]);
}

/* The separator before each part except the first. */
static const char *selection_separator(FILE *out)
{
    return ftell(out) > 0 ? ", " : "";
}

static void selection_describe_filters(FILE *out, const struct call_filters *f)
{
    static const char *const words[] = {
        [CALL_SHOWN] = "only", [CALL_SUPPRESSED] = "without", [CALL_IGNORED] = "ignoring"
    };
    char time[DURATION_TEXT];
    for (int action = CALL_SHOWN; action <= CALL_IGNORED; action++)
        for (size_t i = 0, count = 0; i < f->count; i++) {
            if ((int)f->list[i].action != action)
                continue;
            if (count == 0)
                fputs(selection_separator(out), out);
            fprintf(out, "%s %s", count++ ? " or" : words[action], f->list[i].of.text);
        }
    if (f->depth)
        fprintf(out, "%sto depth %" PRIu32, selection_separator(out), f->depth);
    duration_text(f->shortest, time);
    if (f->shortest)
        fprintf(out, "%scalls of at least %s", selection_separator(out), time);
}

char *selection_describe(const struct selection_request *r)
{
    char *text = NULL;
    size_t length;
    FILE *out = need_stream(&text, &length);
    selection_describe_moment(out, "from ", &r->from);
    selection_describe_moment(out, r->from.given ? " to " : "to ", &r->to);
    if (r->within.count)
        fputs(selection_separator(out), out);
    selection_describe_names(out, "within ", &r->within);
    for (size_t i = 0; i < r->valued.count; i++)
        fprintf(out, "%swhere %s", selection_separator(out), r->valued.list[i]);
    if (r->selection.threads.count)
        fputs(selection_separator(out), out);
    selection_describe_names(out, "thread ", &r->selection.threads);
    if (r->selection.processes.count)
        fputs(selection_separator(out), out);
    selection_describe_names(out, "process ", &r->selection.processes);
    if (r->root_text)
        fprintf(out, "%sin calls of %s", selection_separator(out), r->root_text);
    selection_describe_filters(out, &r->filters);
    need_stream_end(out);
    if (!*text) {
        free(text);
        text = NULL;
    }
    return text;
}
