/* Makes a random process with several stacks and pauses, computes its times, and writes its events as a session. */
#include "support/stack_model.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum {
    FUNCTIONS = STACK_MODEL_FUNCTIONS,
    THREADS = STACK_MODEL_THREADS,
    DEEPEST = STACK_MODEL_DEEPEST,
    STACKS = THREADS + 4, /* the first ones are those that the threads begin on */
    MAX_RECORDS = STACK_MODEL_STEPS + 1,
};

/* The record that is written for a step of a thread. */
struct record {
    enum { RECORD_ENTER, RECORD_EXIT, RECORD_MARK, RECORD_PAUSE, RECORD_RESUME, RECORD_SWITCH, RECORD_CHUNK } kind;
    uint64_t time;
    int function;
    unsigned left, ended, count;
    bool flagged, hole;
    uint64_t blocked;
    struct open_call open[DEEPEST]; /* calls that are found open */
};

struct stack {
    struct stack_model_call *calls[DEEPEST];
    unsigned depth;
    uint64_t aside_at; /* when it was set aside */
    bool busy;
};

struct thread {
    struct stack *on;
    uint64_t last;
    bool paused, changed; /* it has changed to another stack since the pause began */
    unsigned paused_depth, kept;
    struct record records[2 * MAX_RECORDS];
    size_t count;
    unsigned tail; /* how its events end: completely, or by a kill */
    uint64_t end;
    bool end_flagged;
};

struct making {
    struct stack_model *m;
    uint64_t random, now;
    unsigned pieces;
    struct stack stacks[STACKS];
    struct thread threads[THREADS];
};

static unsigned stack_model_random_below(struct making *g, unsigned limit)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(g->random >> 33) % limit;
}

uint64_t stack_model_address(int function)
{
    return (function % 2 ? 0x7f5500000000 : 0x5500000000) + 0x1000 + 0x40 * (uint64_t)function;
}

/* ---- the reference ---- */

static struct stack_model_call *stack_model_new_call(struct making *g, int function, uint64_t time, bool recorded)
{
    struct stack_model *m = g->m;
    struct stack_model_call *call = calloc(1, sizeof *call);
    cr_assert(m->call_count < STACK_MODEL_CALLS);
    *call = (struct stack_model_call){ .function = function, .begin = time, .entered = time, .recorded = recorded };
    return m->calls[m->call_count++] = call;
}

/* Adds the time since the thread's last event to each call on its stack, and to each function once. */
static void stack_model_pass_interval(struct making *g, unsigned thread, uint64_t until, bool flagged, uint64_t blocked)
{
    struct thread *t = &g->threads[thread];
    const struct stack *s = t->on;
    const uint64_t d = until - t->last;
    bool seen[FUNCTIONS] = { false };
    for (unsigned i = 0; i < s->depth; i++) {
        struct stack_model_call *call = s->calls[i];
        struct stack_model_times *f = &g->m->functions[call->function];
        const bool top = i + 1 == s->depth;
        call->elapsed += d;
        call->flagged += flagged ? d : 0;
        call->blocked += blocked < d ? blocked : d;
        call->below += top ? 0 : d;
        call->flagged_below += flagged && !top ? d : 0;
        f->elapsed_inclusive += seen[call->function] ? 0 : d;
        f->flagged_inclusive += seen[call->function] || !flagged ? 0 : d;
        f->elapsed_exclusive += top ? d : 0;
        f->flagged_exclusive += top && flagged ? d : 0;
        seen[call->function] = true;
    }
    g->m->threads[thread] += s->depth ? d : 0;
    g->m->intervals++;
}

static void stack_model_end_call(struct making *g, struct stack *s, uint64_t now)
{
    struct stack_model_call *call = s->calls[--s->depth];
    struct stack_model_times *f = &g->m->functions[call->function];
    const uint64_t d = now - call->entered;
    call->finished = true;
    f->shortest = d < f->shortest ? d : f->shortest;
    f->longest = d > f->longest ? d : f->longest;
}

static void stack_model_remember_event(struct making *g, unsigned thread, uint64_t time)
{
    struct stack_model_event *e = &g->m->events[thread][g->m->event_count[thread]++];
    const struct stack *s = g->threads[thread].on;
    *e = (struct stack_model_event){ .time = time, .depth = s->depth };
    for (unsigned i = 0; i < s->depth; i++)
        e->stack[i] = s->calls[i];
}

/* ---- records ---- */

static struct record *stack_model_add_record(struct thread *t, int kind, uint64_t time)
{
    struct record *r = &t->records[t->count++];
    *r = (struct record){ .kind = kind, .time = time };
    return r;
}

static void stack_model_name_calls(struct record *r, const struct stack *s, unsigned from)
{
    for (unsigned i = from; i < s->depth; i++)
        r->open[r->count++] = (struct open_call){ stack_model_address(s->calls[i]->function), s->calls[i]->entered };
}

static void stack_model_begin_chunk(struct thread *t, uint64_t start)
{
    stack_model_name_calls(stack_model_add_record(t, RECORD_CHUNK, start), t->on, 0);
}

/* ---- stacks ---- */

static struct stack *stack_model_idle_stack(struct making *g, unsigned thread)
{
    struct stack *s =
        &g->stacks[stack_model_random_below(g, 3) ? THREADS + stack_model_random_below(g, STACKS - THREADS) : thread];
    return s->busy ? NULL : s;
}

static void stack_model_change_stack(struct thread *t, struct stack *to, uint64_t since, uint64_t now)
{
    t->on->aside_at = since;
    t->on->busy = false;
    for (unsigned i = 0; i < to->depth; i++)
        to->calls[i]->entered += now - to->aside_at;
    to->busy = true;
    t->on = to;
}

/* ---- pauses ---- */

/* Changes the stack during a pause. The thread's probes keep track of it, but record nothing. */
static void stack_model_act_in_pause(struct making *g, unsigned thread)
{
    struct thread *t = &g->threads[thread];
    struct stack *to;
    if (!t->changed && stack_model_random_below(g, 12) == 0 && (to = stack_model_idle_stack(g, thread))) {
        for (unsigned i = 0; i < t->on->depth; i++)
            t->on->calls[i]->lost = true;
        while (t->on->depth > t->kept) /* these were entered in the pause and not recorded */
            t->on->depth--;
        stack_model_change_stack(t, to, t->last, g->now);
        for (unsigned i = 0; i < to->depth; i++)
            to->calls[i]->entered -= g->now - t->last; /* at its end, the whole pause is added again */
        t->kept = t->paused_depth = to->depth;
        t->changed = true;
    } else if (stack_model_random_below(g, 2) && t->on->depth > 0) {
        t->on->depth--;
        t->kept = t->on->depth < t->kept ? t->on->depth : t->kept;
    } else if (t->on->depth < DEEPEST) {
        t->on->calls[t->on->depth++] =
            stack_model_new_call(g, (int)stack_model_random_below(g, FUNCTIONS), g->now, false);
    }
}

static void stack_model_begin_pause(struct making *g, struct thread *t)
{
    t->paused = true;
    t->changed = false;
    t->kept = t->paused_depth = t->on->depth;
    g->m->pauses++;
}

/* At the end of a pause, the enter times of calls that were open before move by the pause. Other calls begin now. */
static void stack_model_move_calls(struct making *g, const struct thread *t)
{
    for (unsigned i = 0; i < t->on->depth; i++) {
        struct stack_model_call *call = t->on->calls[i];
        if (i < t->kept)
            call->entered += g->now - t->last;
        else
            call->begin = call->entered = g->now;
    }
}

/* Returns whether the RESUME is lost. Then another event must follow at once. */
static bool stack_model_end_pause(struct making *g, struct thread *t)
{
    const bool same = t->kept == t->paused_depth && t->on->depth == t->kept;
    const unsigned how = t->changed ? 3 : stack_model_random_below(g, same ? 5 : 4);
    stack_model_move_calls(g, t);
    t->paused = false;
    g->m->paused += how == 3 ? 0 : g->now - t->last; /* a pause between two chunks is unknown */
    if (how == 4) {
        t->last = g->now;
        return true;
    }
    if (how == 3 || how == 2) {
        stack_model_begin_chunk(t, g->now);
        if (how == 2)
            g->m->paused -= g->now - t->last;
    }
    if (how != 3) {
        struct record *r = stack_model_add_record(t, RECORD_RESUME, g->now);
        r->ended = t->paused_depth - t->kept;
        stack_model_name_calls(r, t->on, t->kept);
    }
    t->last = g->now;
    return false;
}

/* ---- events ---- */

static void stack_model_change_over(struct making *g, unsigned thread, struct stack *to, struct record *r)
{
    struct thread *t = &g->threads[thread];
    stack_model_change_stack(t, to, g->now, g->now);
    r->kind = RECORD_SWITCH;
    r->function = (int)(to - g->stacks);
    if (stack_model_random_below(g, 3))
        stack_model_name_calls(r, to, 0);
    else
        stack_model_begin_chunk(t, g->now); /* the runtime does so if there are many calls */
}

static void stack_model_enter_or_exit(struct making *g, unsigned thread, struct record *r)
{
    struct stack *s = g->threads[thread].on;
    if (s->depth < DEEPEST && stack_model_random_below(g, 100) < 53) {
        const int function = (int)stack_model_random_below(g, FUNCTIONS);
        r->kind = RECORD_ENTER;
        r->function = function;
        s->calls[s->depth++] = stack_model_new_call(g, function, g->now, true);
        g->m->functions[function].calls++;
        g->m->enters++;
        stack_model_remember_event(g, thread, g->now);
    } else if (s->depth > 0) {
        r->kind = RECORD_EXIT;
        stack_model_remember_event(g, thread, g->now);
        stack_model_end_call(g, s, g->now);
        g->m->exits++;
    } else {
        r->kind = RECORD_EXIT;
        g->m->stray_exits++;
        g->m->intervals--;
    }
}

/* Adds any event except a RESUME. `lost` says that the RESUME before it is lost. */
static void stack_model_add_event(struct making *g, unsigned thread, bool lost)
{
    struct thread *t = &g->threads[thread];
    if (!lost && g->pieces && stack_model_random_below(g, g->pieces) == 0)
        stack_model_begin_chunk(t, t->last);
    struct record *r = stack_model_add_record(t, RECORD_ENTER, g->now);
    r->flagged = !lost && stack_model_random_below(g, 8) == 0;
    r->blocked = !lost && stack_model_random_below(g, 12) == 0 ? 1 + stack_model_random_below(g, 300) : 0;
    r->hole = lost || stack_model_random_below(g, 40) == 0;
    if (lost)
        g->m->intervals++;
    else
        stack_model_pass_interval(g, thread, g->now, r->flagged || r->blocked, r->blocked);
    t->last = g->now;
    if (t->on->depth > 1 && stack_model_random_below(g, 25) == 0)
        r->left = 1 + stack_model_random_below(g, t->on->depth - 1);
    for (unsigned i = 0; i < r->left; i++, g->m->left++)
        stack_model_end_call(g, t->on, g->now);
    const unsigned what = stack_model_random_below(g, 60);
    struct stack *to = what < 6 ? stack_model_idle_stack(g, thread) : NULL;
    if (to && to != t->on) {
        stack_model_change_over(g, thread, to, r);
    } else if (what < 9) {
        r->kind = RECORD_PAUSE;
        stack_model_begin_pause(g, t);
    } else if (what < 11) {
        r->kind = RECORD_MARK;
        g->m->marks++;
        stack_model_remember_event(g, thread, g->now);
    } else {
        stack_model_enter_or_exit(g, thread, r);
    }
}

static void stack_model_step(struct making *g, unsigned thread)
{
    struct thread *t = &g->threads[thread];
    g->now += 1 + stack_model_random_below(g, stack_model_random_below(g, 4)
                                                  ? 4000
                                                  : 3000000); /* so long that calls hardly ever have the same age */
    if (!t->paused)
        stack_model_add_event(g, thread, false);
    else if (stack_model_random_below(g, 2))
        stack_model_act_in_pause(g, thread);
    else if (stack_model_end_pause(g, t))
        stack_model_add_event(g, thread, true);
}

static void stack_model_end_thread(struct making *g, unsigned thread)
{
    struct thread *t = &g->threads[thread];
    t->end = g->now + stack_model_random_below(g, 500);
    t->end_flagged = stack_model_random_below(g, 2);
    t->tail = stack_model_random_below(g, 4);
    if (!t->paused && t->end > t->last)
        stack_model_pass_interval(g, thread, t->end, t->end_flagged, 0);
}

/* ---- the session ---- */

static void stack_model_write_extensions(struct writer *w, const struct record *r)
{
    if (r->hole) {
        write_os(w); /* of an event that was never written */
        write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
    }
    if (r->flagged)
        write_os(w);
    if (r->blocked)
        write_off_cpu(w, false, r->time - r->blocked, r->blocked);
    if (r->left)
        write_unwind(w, r->left);
    for (unsigned i = 0; i < r->count; i++)
        write_open(w, r->open[i].function, r->open[i].enter_time);
}

static void stack_model_write_event(struct writer *w, const struct record *r)
{
    stack_model_write_extensions(w, r);
    switch (r->kind) {
    case RECORD_ENTER:
        write_enter(w, r->time, stack_model_address(r->function));
        break;
    case RECORD_EXIT:
        write_exit(w, r->time);
        break;
    case RECORD_MARK:
        write_mark(w, r->time, r->time, 1, "m");
        break;
    case RECORD_PAUSE:
        write_pause(w, r->time);
        break;
    case RECORD_RESUME:
        write_resume(w, r->time, r->ended);
        break;
    case RECORD_SWITCH:
        write_switch(w, r->time, (uint32_t)r->function);
        break;
    case RECORD_CHUNK:
        break;
    }
}

/* Writes the words that a kill leaves after the last event. */
static void stack_model_write_tail(struct writer *w, unsigned tail)
{
    if (tail == 1)
        write_words(w, (uint16_t[]){ 1u << 14 | 5, 0, 0 }, 3); /* an enter without its function */
    else if (tail == 2)
        write_os(w);
    end_events(w, tail == 0);
}

/* Writes the thread's records. A SWITCH whose calls are those of the next chunk is the last record of its chunk. */
static void stack_model_write_events(struct writer *w, unsigned thread, struct thread *t)
{
    uint32_t sequence = 0;
    begin_events(w, 1, thread + 1, sequence++, 1000, NULL, 0);
    for (size_t i = 0; i < t->count; i++) {
        const struct record *r = &t->records[i];
        if (r->kind == RECORD_CHUNK) {
            end_events(w, i % 2);
            begin_events(w, 1, thread + 1, sequence++, r->time, r->open, r->count);
        } else {
            stack_model_write_event(w, r);
        }
    }
    stack_model_write_tail(w, t->tail);
}

static struct writer *stack_model_write_session(struct making *g)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/stacks");
    for (unsigned i = 0; i < THREADS; i++)
        write_thread(w, 1, i + 1, 10 + i, SOURCE_PERF, "t");
    for (unsigned i = 0; i < THREADS; i++)
        write_thread_end(w, 1, i + 1, g->threads[i].end_flagged, g->threads[i].end);
    for (unsigned i = 0; i < THREADS; i++)
        stack_model_write_events(w, i, &g->threads[i]);
    return w;
}

struct stack_model *stack_model_new(uint64_t seed, unsigned pieces)
{
    struct stack_model *m = calloc(1, sizeof *m);
    struct making *g = calloc(1, sizeof *g);
    *g = (struct making){ .m = m, .random = seed, .now = 1000, .pieces = pieces };
    for (unsigned i = 0; i < FUNCTIONS; i++)
        m->functions[i].shortest = UINT64_MAX;
    for (unsigned i = 0; i < THREADS; i++) {
        m->events[i] = calloc(MAX_RECORDS, sizeof **m->events);
        g->stacks[i].busy = true;
        g->threads[i].on = &g->stacks[i];
        g->threads[i].last = 1000;
    }
    for (unsigned i = 0; i < STACK_MODEL_STEPS; i++)
        stack_model_step(g, stack_model_random_below(g, THREADS));
    for (unsigned i = 0; i < THREADS; i++)
        stack_model_end_thread(g, i);
    m->writer = stack_model_write_session(g);
    free(g);
    return m;
}

void stack_model_free(struct stack_model *m)
{
    for (size_t i = 0; i < m->call_count; i++)
        free(m->calls[i]);
    for (unsigned i = 0; i < THREADS; i++)
        free(m->events[i]);
    free(m);
}
