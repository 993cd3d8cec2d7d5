/* Matches the patterns of the filters of calls with functions, and applies the filters to a session. */
#include "analysis/call_filters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "base/index.h"
#include "base/memory.h"
#include "profile/collect.h"
#include "trace/filtered_session.h"

bool call_filters_add(struct call_filters *f, const char *option, enum call_action action, const char *text,
                      struct error *error)
{
    struct error wrong = { NULL };
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i].action != action && strcmp(f->list[i].of.text, text) == 0)
            return error_set(error, "%s and %s both name '%s'; leave one of them out", f->list[i].option, option, text);
    GROW(f->list, f->count, f->room);
    struct call_pattern *pattern = &f->list[f->count++];
    *pattern = (struct call_pattern){ .option = option, .action = action };
    f->only |= action == CALL_SHOWN;
    if (function_pattern_parse(&pattern->of, text, &wrong))
        return true;
    error_set(error, "%s: %s", option, wrong.text);
    error_drop(&wrong);
    return false;
}

void call_filters_drop(struct call_filters *f)
{
    for (size_t i = 0; i < f->count; i++)
        function_pattern_drop(&f->list[i].of);
    free(f->list);
    *f = (struct call_filters){ 0 };
}

/* The strongest action for a function: ignore, then suppress, then only. `path` is that of its module. */
static enum call_action call_filters_judge(const struct call_filters *f, const char *path,
                                           const struct named_function *function)
{
    enum call_action action = CALL_SHOWN;
    bool named = false;
    for (size_t i = 0; i < f->count; i++) {
        struct call_pattern *p = &f->list[i];
        if (!function_pattern_matches(&p->of, path, function)) {
            if (!p->matched)
                function_pattern_note_similar(&p->of, path, function);
            continue;
        }
        p->matched = true;
        named |= p->action == CALL_SHOWN;
        if (p->action > action)
            action = p->action;
    }
    return action == CALL_SHOWN && f->only && !named ? CALL_SUPPRESSED : action;
}

/* ---- events ---- */

/* The workers share the names. */
struct call_judge {
    const struct call_filters *filters;
    const struct session_file *file;
    struct namer *namer;
    struct number_index *actions; /* name -> enum call_action */
    pthread_mutex_t lock;
};

static enum call_action call_judge_find(const struct call_judge *j, uint32_t process, uint64_t address, uint64_t time)
{
    const struct function_name *name = namer_find_function(j->namer, process, address, time);
    struct index_slot *slot = index_find(j->actions, (uintptr_t)name, 0);
    if (slot->value_plus_1)
        return (enum call_action)(slot->value_plus_1 - 1);
    const struct trace_process *p = session_file_process(j->file, process);
    const struct trace_module *module = p ? trace_module_at(p, address, time) : NULL;
    const struct named_function f = function_named(name, module ? address - module->bias : address);
    const enum call_action action = call_filters_judge(j->filters, module ? module->path : "", &f);
    index_set(j->actions, slot, (uintptr_t)name, 0, (uint32_t)action);
    return action;
}

static enum call_action call_judge(void *context, uint32_t process, uint64_t address, uint64_t time)
{
    struct call_judge *j = context;
    if (!j->filters->count)
        return CALL_SHOWN;
    pthread_mutex_lock(&j->lock);
    const enum call_action action = call_judge_find(j, process, address, time);
    pthread_mutex_unlock(&j->lock);
    return action;
}

bool call_filters_fit(const struct call_filters *f, const struct session_file *file, struct error *error)
{
    if (!call_filters_any(f))
        return true;
    if (file->header.origin & DWELL_ORIGIN_IMPORTED)
        return error_set(error,
                         "%s: imported from a report, so --only, --suppress, --ignore, --depth and "
                         "--min-duration have no single calls to leave out",
                         file->path);
    if (f->shortest && file->header.origin & DWELL_ORIGIN_SUMS)
        return error_set(
            error, "%s: --min-duration: holds sums, which keep no durations of single calls; read the recorded session",
            file->path);
    if (f->shortest && file->header.mode == DWELL_MODE_PROFILE)
        return error_set(error,
                         "%s: --min-duration: recorded in mode profile, which keeps no durations of single "
                         "calls",
                         file->path);
    return true;
}

bool call_filters_apply(const struct call_filters *f, struct session_file *file, unsigned jobs, struct error *error)
{
    if (!call_filters_any(f))
        return true;
    if (!call_filters_fit(f, file, error))
        return false;
    struct call_judge judge = { .filters = f, .file = file, .lock = PTHREAD_MUTEX_INITIALIZER };
    judge.namer = namer_new(file);
    judge.actions = index_new();
    const struct stream_filter filter = {
        .judge = call_judge,
        .context = &judge,
        .depth = f->depth,
        .shortest = selection_ticks(f->shortest, file),
    };
    const bool good = filtered_session(file, &filter, jobs ? jobs : collect_default_jobs(), error);
    index_free(judge.actions);
    namer_free(judge.namer);
    return good;
}

/* ---- call trees ---- */

struct profile *call_filters_apply_tree(const struct call_filters *f, const struct profile *p,
                                        const struct function_name *names, uint32_t *places)
{
    struct call_filter filter = { .count = p->function_count, .depth = f->depth };
    filter.actions = need_memory(filter.count, 1);
    for (size_t i = 0; i < filter.count; i++) {
        const struct named_function function = function_named(&names[i], p->functions[i].offset);
        filter.actions[i] = (uint8_t)call_filters_judge(f, p->modules[p->functions[i].module].path, &function);
    }
    struct profile *shown = call_filter_apply(p, &filter, places);
    free(filter.actions);
    return shown;
}

bool call_filters_check(const struct call_filters *f, const char *path, struct error *error)
{
    for (size_t i = 0; i < f->count; i++)
        if (!f->list[i].matched)
            return error_set(error, "%s: %s: pattern '%s' matches no function that was recorded%s", path,
                             f->list[i].option, f->list[i].of.text,
                             function_pattern_hint(&f->list[i].of, "; dwell report -s name lists them"));
    return true;
}
