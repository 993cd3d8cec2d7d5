/* The calls of the function, as both loops over events find them: how they begin, end, and are lost. */
#include "causes/why_worker.h"

#include "base/numbers.h"
#include "base/units.h"
#include "causes/why_random.h"
#include "profile/identify.h"

uint32_t why_add_row(struct why_worker *w, uint32_t node, enum why_kind kind, uint32_t wait)
{
    struct why_found *f = &w->found;
    GROW(f->rows, f->row_count, f->row_room);
    f->rows[f->row_count] = (struct why_row){ .node = node, .kind = kind, .wait = wait };
    GROW(w->now, f->row_count, w->now_room);
    w->now[f->row_count] = (struct why_now){ 0 };
    return (uint32_t)f->row_count++;
}

bool why_look_up_function(struct why_worker *w, uint64_t address, uint64_t time, uint64_t key)
{
    const struct why_plan *plan = w->job->plan;
    const uint32_t known = identify_function(w->known, w->process, address, time);
    const bool is = profile_find_same_function(plan->loaded->profile, w->known, known) == plan->function;
    index_set(w->functions, index_find(w->functions, key, 0), key, 0, is);
    return is;
}

void why_close(struct why_worker *w)
{
    for (size_t i = 0; i < w->listed_count; i++)
        w->now[w->listed[i]] = (struct why_now){ 0 };
    w->listed_count = 0;
    w->stack_count = 0;
    w->open = 0;
    why_cpus_end_call(&w->cpus);
}

void why_lose(struct why_worker *w, uint64_t now)
{
    if (selection_holds_on(w->job->plan->loaded->selection, w->thread, now))
        w->found.cut++;
    why_close(w);
}

/* Whether the call is one of those that are kept as samples: the answer depends only on the call. */
static bool why_is_sampled(const struct why_worker *w, const struct why_call *call, unsigned set)
{
    const uint64_t mixed = why_mix(call->begin ^ (uint64_t)call->thread << 40);
    return (double)(mixed >> 11) < w->job->plan->sampled[set] * (double)(UINT64_C(1) << 53);
}

/* What the probes take in the call on all paths. */
static uint64_t why_charged(const struct why_worker *w)
{
    uint64_t ticks = 0;
    for (size_t i = 0; i < w->listed_count; i++)
        ticks += w->now[w->listed[i]].charge / DWELL_PROBE_FRACTION;
    return ticks;
}

static void why_add_call(struct why_worker *w, const struct why_call *call, unsigned set)
{
    struct why_found *f = &w->found;
    const bool sampled = why_is_sampled(w, call, set);
    const size_t first = f->value_count;
    const uint64_t charged = why_charged(w);
    why_touch(w, ROW_PROBE);
    for (size_t i = 0; i < w->listed_count; i++) {
        const struct why_now *now = &w->now[w->listed[i]];
        struct why_sum *sum = &f->rows[w->listed[i]].sets[set];
        const uint64_t own = now->ticks - now->charge / DWELL_PROBE_FRACTION; /* wraps below zero */
        const int64_t ticks = (int64_t)(own + (w->listed[i] == ROW_PROBE ? charged : 0));
        sum->ticks += now->ticks;
        sum->count += now->count;
        sum->charge += now->charge;
        sum->squares += (uint128)((int128)ticks * ticks);
        if (!sampled)
            continue;
        GROW(f->values, f->value_count, f->value_room);
        f->values[f->value_count++] = (struct why_value){ w->listed[i], (double)ticks };
    }
    f->calls[set]++;
    why_samples_keep(w, set);
    if (!sampled)
        return;
    GROW(f->sampled, f->sampled_count, f->sampled_room);
    f->sampled[f->sampled_count++] = (struct why_sampled){
        .thread = call->thread,
        .begin = call->begin,
        .end = call->end,
        .set = set,
        .cpus = w->cpus,
        .segment = (size_t)(w->segment - w->job->segments.list),
        .session = call->session,
        .first = first,
        .count = f->value_count - first,
    };
}

void why_end_call(struct why_worker *w, uint64_t now)
{
    const struct why_plan *plan = w->job->plan;
    const uint64_t ticks = now - w->begin - w->excluded;
    const uint64_t duration = plan->rate ? ticks_to_ns(ticks, plan->rate) : ticks;
    const struct why_call call = { w->thread, w->begin, now, duration, plan->session };
    if (!w->whole) {
        why_lose(w, now);
        return;
    }
    if (selection_holds_on(plan->loaded->selection, call.thread, now)) {
        const unsigned set = plan->choose(w->context, &call);
        if (plan->waits && set < WHY_SETS)
            why_add_call(w, &call, set);
    }
    why_close(w);
}

void why_begin_call(struct why_worker *w, uint64_t now, bool whole)
{
    w->open = w->depth;
    w->whole = whole;
    w->begin = now;
    w->excluded = 0;
    if (w->segment->called)
        return;
    w->segment->called = true;
    w->segment->call = now;
}
