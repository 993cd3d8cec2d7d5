/* Follows single calls in the order of their ends. The times of calls below wait with their thread until the call of
 * the function ends. */
#include "tables/scaling_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { NO_SERIES = 0 /* the whole time, which no function has as its own */ };

struct scaling_own {
    bool touched;
    double time; /* in 1/256 ticks */
};

/* What was below the open call of the function on a thread. */
struct scaling_open {
    struct scaling_own *own; /* by function of the analysis; NULL if there was nothing yet */
    uint32_t *touched;
    size_t touched_count, touched_room;
    double total;
};

struct scaling_follower {
    struct scaling_calls *calls;
    const struct analysis *analysis;
    const struct recorded_argument *argument;
    uint32_t total;
    bool *below;       /* by path: whether a caller is the function */
    bool *total_below; /* by path below: whether it, or a caller, is the function of --total */
    size_t path_count;
    size_t *series;            /* by function of the analysis */
    struct scaling_open *open; /* by thread of the file */
};

/* ---- series ---- */

static size_t scaling_add_series(struct scaling_calls *calls, const struct function_name *name)
{
    for (size_t i = SERIES_OWN; i < calls->series_count; i++)
        if (strcmp(calls->series[i].name, name->name) == 0 && strcmp(calls->series[i].module, name->module) == 0)
            return i;
    GROW(calls->series, calls->series_count, calls->series_room);
    calls->series[calls->series_count] = (struct scaling_series){
        .name = need_copy(name->name, strlen(name->name)),
        .module = need_copy(name->module, strlen(name->module)),
    };
    return calls->series_count++;
}

static size_t scaling_series_of(struct scaling_follower *f, uint32_t function)
{
    if (f->series[function] == NO_SERIES)
        f->series[function] = scaling_add_series(f->calls, &f->analysis->names[function]);
    return f->series[function];
}

static void scaling_add_time(struct scaling_follower *f, size_t series, double amount)
{
    static const double parts = DWELL_PROBE_FRACTION;
    struct scaling_series *s = &f->calls->series[series];
    GROW(s->times, s->count, s->room);
    s->times[s->count++] = (struct scaling_time){
        .call = f->calls->count - 1,
        .ns = amount / parts * 1e9 / (double)f->analysis->summary.ticks_per_second,
    };
}

/* ---- calls ---- */

static struct scaling_open *scaling_open_of(struct scaling_follower *f, uint32_t thread)
{
    struct scaling_open *open = &f->open[session_file_thread_index(f->analysis->file, thread)];
    if (!open->own)
        open->own = need_memory(f->analysis->profile->function_count, sizeof *open->own);
    return open;
}

/* Without the times in which other programs had the processor: what they take does not depend on the value. */
static double scaling_own_time(const struct finished_call *call)
{
    return (double)(int64_t)(call->times[CALL_ELAPSED_EXCLUSIVE] - call->preempted[1]);
}

static double scaling_whole_time(const struct finished_call *call)
{
    return (double)(int64_t)(call->times[CALL_ELAPSED_INCLUSIVE] - call->preempted[0]);
}

static void scaling_add_own(struct scaling_open *open, const struct finished_call *call)
{
    struct scaling_own *own = &open->own[call->function];
    if (!own->touched) {
        GROW(open->touched, open->touched_count, open->touched_room);
        open->touched[open->touched_count++] = call->function;
    }
    own->touched = true;
    own->time += scaling_own_time(call);
}

static void scaling_forget(struct scaling_open *open)
{
    for (size_t i = 0; i < open->touched_count; i++)
        open->own[open->touched[i]] = (struct scaling_own){ .touched = false };
    open->touched_count = 0;
    open->total = 0;
}

/* False if it is no number above zero. */
static bool scaling_read_value(const struct scaling_follower *f, const uint64_t *words, double *value)
{
    *value = recorded_value_number(f->argument->value, *words);
    return isfinite(*value) && *value > 0;
}

static void scaling_end_call(struct scaling_follower *f, struct scaling_open *open, const struct finished_call *call)
{
    struct scaling_calls *calls = f->calls;
    const struct recorded_row *row = recorded_argument_row(f->argument, call->thread, call->begin);
    const uint64_t *words = row ? recorded_value_words(f->argument->values, row, f->argument->index) : NULL;
    double value = 0;
    const bool good = words && scaling_read_value(f, words, &value);
    calls->valueless += !words;
    calls->unsuitable += words && !good;
    if (!good)
        return;
    GROW(calls->values, calls->count, calls->room);
    calls->values[calls->count++] = value;
    scaling_add_time(f, SERIES_WHOLE, f->total == PROFILE_NONE ? scaling_whole_time(call) : open->total);
    for (size_t i = 0; i < open->touched_count; i++)
        scaling_add_time(f, scaling_series_of(f, open->touched[i]), open->own[open->touched[i]].time);
}

static bool scaling_take_call(void *context, const struct finished_call *call)
{
    struct scaling_follower *f = context;
    const bool outermost = call->function == f->argument->function;
    if (call->path >= f->path_count || (!f->below[call->path] && !outermost))
        return true;
    struct scaling_open *open = scaling_open_of(f, call->thread);
    scaling_add_own(open, call);
    if (f->total_below[call->path])
        open->total += scaling_own_time(call);
    if (f->below[call->path])
        return true;
    if (call->completed)
        scaling_end_call(f, open, call);
    scaling_forget(open);
    return true;
}

/* ---- a session ---- */

/* Whether the node is a path of that function of the analysis. */
static bool scaling_is(const struct scaling_follower *f, const struct profile *paths, uint32_t node, uint32_t function)
{
    const uint32_t own = paths->nodes[node].function;
    return own != PROFILE_NONE && function != PROFILE_NONE &&
           profile_find_same_function(f->analysis->profile, paths, own) == function;
}

static void scaling_find_paths(struct scaling_follower *f)
{
    const struct profile *paths = analysis_call_paths(f->analysis);
    f->path_count = paths->node_count;
    f->below = need_memory(paths->node_count + 1, sizeof *f->below);
    f->total_below = need_memory(paths->node_count + 1, sizeof *f->total_below);
    for (size_t i = 0; i < paths->node_count; i++) {
        const uint32_t parent = paths->nodes[i].parent;
        if (parent == PROFILE_NONE)
            continue;
        const bool is_called = scaling_is(f, paths, parent, f->argument->function);
        f->below[i] = f->below[parent] || is_called;
        f->total_below[i] = f->below[i] && (f->total_below[parent] || scaling_is(f, paths, (uint32_t)i, f->total));
    }
}

/* The series of all sessions begin with those of the function. */
static void scaling_begin_series(struct scaling_follower *f)
{
    struct scaling_calls *calls = f->calls;
    const uint32_t whole = f->total == PROFILE_NONE ? f->argument->function : f->total;
    if (!calls->series_count)
        scaling_add_series(calls, &f->analysis->names[whole]);
    scaling_series_of(f, f->argument->function);
}

void scaling_calls_add(struct scaling_calls *calls, const struct analysis *analysis,
                       const struct recorded_argument *argument, uint32_t total)
{
    struct scaling_follower f = {
        .calls = calls,
        .analysis = analysis,
        .argument = argument,
        .total = total,
    };
    const size_t threads = analysis->file->thread_count + 1;
    f.series = need_memory(analysis->profile->function_count + 1, sizeof *f.series);
    f.open = need_memory(threads, sizeof *f.open);
    calls->total = total != PROFILE_NONE;
    scaling_find_paths(&f);
    scaling_begin_series(&f);
    calls->resolution = fmax(calls->resolution,
                             (double)analysis->summary.resolution * 1e9 / (double)analysis->summary.ticks_per_second);
    analysis_follow_calls(analysis, true, scaling_take_call, &f);
    for (size_t i = 0; i < threads; i++) {
        free(f.open[i].own);
        free(f.open[i].touched);
    }
    free(f.open);
    free(f.below);
    free(f.total_below);
    free(f.series);
}

void scaling_calls_drop(struct scaling_calls *calls)
{
    for (size_t i = 0; i < calls->series_count; i++) {
        free(calls->series[i].name);
        free(calls->series[i].module);
        free(calls->series[i].times);
    }
    free(calls->series);
    free(calls->values);
}
