#include "analysis/selection_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "base/duration.h"
#include "base/message.h"
#include "base/units.h"
#include "base/wide.h"
#include "trace/mark_search.h"

void selection_request_drop(struct selection_request *r)
{
    selection_free(&r->selection);
}

bool selection_is_asked_for(const struct selection_request *r)
{
    return r && (r->from.given || r->to.given || r->root || r->selection.threads.count || r->selection.processes.count);
}

/* ---- moments ---- */

struct selection_moment selection_moment_parse(const char *option, const char *text)
{
    static const char mark[] = "mark:";
    struct selection_moment moment = { .given = true };
    if (strncmp(text, mark, strlen(mark)) == 0 && text[strlen(mark)])
        moment.mark = text + strlen(mark);
    else if (!duration_parse(text, &moment.ns))
        die(STATUS_ERROR, "%s: '%s' is no time such as 500us, 2.5ms or 1s, and no mark as mark:1 or mark:loaded",
            option, text);
    return moment;
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

/* The earliest that is later than `after`. */
static uint64_t selection_find_mark(struct selection_moment *m, const char *option, const struct session_file *file,
                                    uint64_t after)
{
    uint64_t found;
    if (!mark_search(file, m->mark, after + 1, &found)) {
        if (after && mark_search(file, m->mark, 0, &found))
            die(STATUS_ERROR, "%s: %s: no mark '%s' is later than --from", file->path, option, m->mark);
        die(STATUS_ERROR, "%s: %s: no mark '%s'%s dwell marks lists them", file->path, option, m->mark,
            hint_mark(file, m->mark, ";"));
    }
    m->ns = found > file->header.start_ticks
                ? ticks_to_ns(found - file->header.start_ticks, file->header.ticks_per_second)
                : 0;
    return found;
}

void selection_moments_find(struct selection_moment *from, struct selection_moment *to, const struct session_file *file,
                            uint64_t *begin, uint64_t *end)
{
    *begin = 0;
    *end = UINT64_MAX;
    if (from->given)
        *begin = from->mark ? selection_find_mark(from, "--from", file, 0) : selection_ns_to_ticks(from->ns, file);
    if (to->given)
        *end = to->mark ? selection_find_mark(to, "--to", file, *begin) : selection_ns_to_ticks(to->ns, file);
    if (*begin >= *end)
        die(STATUS_ERROR, "%s: --from is not before --to", file->path);
}

static void selection_find_range(struct selection_request *r, const struct session_file *file)
{
    struct selection *s = &r->selection;
    const bool imported = file->header.origin & DWELL_ORIGIN_IMPORTED;
    if (imported || file->header.mode == DWELL_MODE_PROFILE)
        die(STATUS_ERROR, "%s: %s, so it has sums without times and cannot be cut by --from and --to", file->path,
            imported ? "imported" : "recorded in mode profile");
    *s = (struct selection){ .cut = true, .threads = s->threads, .processes = s->processes };
    selection_moments_find(&r->from, &r->to, file, &s->from, &s->to);
}

void selection_check_names(const struct selection *s, const struct session_file *file)
{
    const char *what, *name = selection_unknown_name(s, file, &what);
    if (!name)
        return;
    const bool is_thread = strcmp(what, "thread") == 0;
    die(STATUS_ERROR, "%s: no %s '%s'%s dwell report --by %s lists them", file->path, what, name,
        is_thread ? hint_thread(file, name, ";") : hint_process(file, name, ";"), what);
}

void selection_find(struct selection_request *r, const struct session_file *file)
{
    if (r->from.given || r->to.given)
        selection_find_range(r, file);
    selection_check_names(&r->selection, file);
}

/* ---- in words ---- */

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

/* Before each part but the first. */
static const char *selection_separator(FILE *out)
{
    return ftell(out) > 0 ? ", " : "";
}

char *selection_describe(const struct selection_request *r)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        die(STATUS_ERROR, "out of memory");
    selection_describe_moment(out, "from ", &r->from);
    selection_describe_moment(out, r->from.given ? " to " : "to ", &r->to);
    if (r->selection.threads.count)
        fputs(selection_separator(out), out);
    selection_describe_names(out, "thread ", &r->selection.threads);
    if (r->selection.processes.count)
        fputs(selection_separator(out), out);
    selection_describe_names(out, "process ", &r->selection.processes);
    if (r->selection.below)
        fprintf(out, "%sin calls of %s", selection_separator(out), r->root);
    if (fclose(out) != 0)
        die(STATUS_ERROR, "out of memory");
    if (!*text) {
        free(text);
        text = NULL;
    }
    return text;
}
