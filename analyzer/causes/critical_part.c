/* Finds the part of a session whose critical path is wanted: a whole run, a part of it, or the slowest call. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "causes/critical.h"
#include "trace/activities.h"

/* ---- the thread at the end ---- */

static bool critical_is_first_thread(const struct session_file *file, const struct trace_thread *t)
{
    const struct trace_process *p = session_file_process(file, t->process);
    return p && p->pid == t->tid;
}

/* Whether the first thread is the better one: the first one of its process, in the first process. */
static bool critical_comes_first(const struct session_file *file, const struct trace_thread *a,
                                 const struct trace_thread *b)
{
    if (a->process != b->process)
        return a->process < b->process;
    const bool one = critical_is_first_thread(file, a), other = critical_is_first_thread(file, b);
    return one != other ? one : a->start_time < b->start_time;
}

static const struct trace_thread *critical_find_thread(const struct session_file *file, const struct selection *s)
{
    const struct trace_thread *found = NULL;
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        if (selection_takes(s, file, t->process, t->serial) && (!found || critical_comes_first(file, t, found)))
            found = t;
    }
    return found;
}

/* ---- its time ---- */

static uint64_t critical_process_start(const struct session_file *file, const struct trace_thread *t)
{
    const struct trace_process *p = session_file_process(file, t->process);
    return p && p->start_time && p->start_time < t->start_time ? p->start_time : t->start_time;
}

static uint64_t critical_thread_end(const struct session_file *file, const struct trace_thread *t)
{
    const struct trace_process *p = session_file_process(file, t->process);
    if (t->end_time)
        return t->end_time;
    return p && p->end_time ? p->end_time : session_file_last_time(file);
}

/* The longest of the activities and calls that the request names. Calls that were found are used up. */
static bool critical_find_activity(struct selection_request *r, const struct session_file *file,
                                   struct critical_part *part, struct error *error)
{
    struct selection_request copy = {
        .within = r->within,
        .valued = r->valued,
        .selection = { .within = r->selection.within },
        .valued_time = r->valued_time,
    };
    const struct thread_range *longest = NULL;
    r->selection.within = r->valued_time = NULL;
    if (!selection_ranges_find(&copy, file, part->from, part->to, error)) {
        selection_free_found(&copy.selection);
        return false;
    }
    for (size_t i = 0; i < copy.selection.within->count; i++) {
        const struct thread_range *range = &copy.selection.within->list[i];
        if (!longest || range->end - range->begin > longest->end - longest->begin)
            longest = range;
    }
    if (longest)
        *part = (struct critical_part){ longest->thread, longest->begin, longest->end };
    selection_free_found(&copy.selection);
    return longest ? true : error_set(error, "%s: --within: no such activity between --from and --to", file->path);
}

bool critical_find_part(const struct analysis *analysis, struct selection_request *request, struct critical_part *part,
                        struct error *error)
{
    const struct session_file *file = analysis->file;
    uint64_t from, to;
    if (!selection_check_names(&request->selection, file, error) ||
        !selection_moments_find(&request->from, &request->to, file, &from, &to, error))
        return false;
    const struct trace_thread *t = critical_find_thread(file, &request->selection);
    if (!t)
        return error_set(error, "%s: no thread was recorded", file->path);
    *part = (struct critical_part){ t->serial, larger(critical_process_start(file, t), from),
                                    smaller(critical_thread_end(file, t), to) };
    if (selection_has_within(request))
        return critical_find_activity(request, file, part, error);
    return part->from < part->to ? true : error_set(error, "%s: no events in the selected range", file->path);
}

/* ---- the slowest call ---- */

struct critical_slowest {
    const struct critical_part *within;
    struct finished_call call;
    bool found;
};

static void critical_take_call(void *context, const struct finished_call *call)
{
    struct critical_slowest *s = context;
    if (call->begin < s->within->from || call->end > s->within->to)
        return;
    const uint64_t longest = s->call.end - s->call.begin, length = call->end - call->begin;
    if (s->found && (length < longest || (length == longest && call->begin >= s->call.begin)))
        return;
    s->call = *call;
    s->found = true;
}

bool critical_find_slowest(const struct analysis *analysis, uint32_t function, const struct critical_part *within,
                           struct critical_part *part, struct error *error)
{
    const unsigned jobs = analysis_jobs(analysis);
    struct critical_slowest *found = need_memory(jobs, sizeof *found), slowest = { .within = within };
    void **contexts = need_memory(jobs, sizeof *contexts);
    for (unsigned i = 0; i < jobs; i++) {
        found[i] = slowest;
        contexts[i] = &found[i];
    }
    analysis_scan_calls(analysis, function, critical_take_call, contexts);
    for (unsigned i = 0; i < jobs; i++)
        if (found[i].found)
            critical_take_call(&slowest, &found[i].call);
    free(found);
    free(contexts);
    if (!slowest.found)
        return error_set(error, "%s: no call of %s began and ended in the selected range", analysis->file->path,
                         analysis->names[function].name);
    *part = (struct critical_part){ slowest.call.thread, slowest.call.begin, slowest.call.end };
    return true;
}
