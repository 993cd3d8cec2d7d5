/*
 * Finds the act that ended each wait. What one thread at a time can take (a semaphore's token, what was written to a
 * pipe) goes to the thread that has slept longest, as in the kernel's queues: acts are taken in order of time, and each
 * ends the first wait in the queue. So an act that came while the thread had been woken and had no CPU yet is not
 * taken for its waker. Where a wait ends only when all others have acted, as for locks, its last act counts.
 */
#include "causes/wait_acts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

enum { CLOSE_PER_SECOND = 20000, SLACK_PER_SECOND = 200000 };

#define MATCH_UNSURE (UINT32_C(1) << 31)

struct wait_acts wait_acts_begin(const struct session_file *file)
{
    return (struct wait_acts){
        .file = file,
        .holes = wait_holes_find(file),
        .close = file->header.ticks_per_second / CLOSE_PER_SECOND,
        .slack = file->header.ticks_per_second / SLACK_PER_SECOND,
    };
}

void wait_acts_drop(struct wait_acts *acts)
{
    waits_drop(&acts->waits);
    wait_holes_drop(&acts->holes);
    lock_ends_drop(&acts->lock_ends);
    free(acts->matches);
}

/* ---- order ---- */

/* An address means an object of one process. */
static uint32_t wait_acts_process(const struct profile_act *act)
{
    return object_is_of_process(act->kind, act->id) ? act->process : 0;
}

/* An act on the object of the wait, to be compared with others. */
static struct profile_act wait_acts_wanted(const struct profile_wait *wait)
{
    return (
        struct profile_act){ .id = wait->id, .process = wait->place.process, .kind = wait->kind, .room = wait->room };
}

static int wait_acts_compare_objects(const struct profile_act *x, const struct profile_act *y)
{
    if (wait_acts_process(x) != wait_acts_process(y))
        return wait_acts_process(x) < wait_acts_process(y) ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->room != y->room)
        return x->room ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int wait_acts_compare(const void *a, const void *b)
{
    const struct profile_act *x = a, *y = b;
    const int order = wait_acts_compare_objects(x, y);
    if (order || x->begin == y->begin)
        return order ? order : (x->thread > y->thread) - (x->thread < y->thread);
    return x->begin < y->begin ? -1 : 1;
}

/* An act on one end of a connection ends waits for the other one. Leaves out acts whose other end is not known. */
static void wait_acts_find_other_ends(struct waits *acts, const struct session_file *file)
{
    size_t kept = 0;
    for (size_t i = 0; i < acts->act_count; i++) {
        struct profile_act act = acts->acts[i];
        const struct trace_descriptor *d =
            object_is_of_process(act.kind, act.id) ? NULL : descriptor_list_find(&file->descriptors, act.id);
        if (d && !d->peer)
            continue;
        act.id = d ? d->peer : act.id;
        acts->acts[kept++] = act;
    }
    acts->act_count = kept;
}

static bool wait_acts_is_before(const struct profile_act *act, const struct profile_act *wanted, uint64_t time)
{
    const int order = wait_acts_compare_objects(act, wanted);
    return order < 0 || (order == 0 && act->begin < time);
}

/* The number of acts that come before that time, or belong to a smaller object. */
static size_t wait_acts_place(const struct waits *acts, const struct profile_act *wanted, uint64_t time)
{
    return LOWER_BOUND(act, acts->acts, acts->act_count, wait_acts_is_before(act, wanted, time));
}

/* ---- kinds of objects ---- */

static bool wait_acts_concern(const struct profile_wait *wait)
{
    if (wait->gave_up)
        return false;
    return (wait->kind == DWELL_OBJECT_SIGNALFD && !wait->room) ||
           (wait->kind >= DWELL_OBJECT_MUTEX && wait->kind <= DWELL_OBJECT_BARRIER) ||
           (wait->kind >= DWELL_OBJECT_PIPE && wait->kind <= DWELL_OBJECT_EVENTFD) ||
           (wait->kind >= DWELL_OBJECT_FUTEX && wait->kind <= DWELL_OBJECT_SIGNAL);
}

/* Whether the first act that comes may end the wait. A lock is free when the last holder has left it, a barrier when
 * the last thread has come, and how much room a writer needs is not known, except in a queue of messages. */
static bool wait_acts_end_at_once(const struct profile_wait *wait)
{
    return wait_acts_concern(wait) && (!wait->room || wait->kind == DWELL_OBJECT_QUEUE) &&
           wait->kind != DWELL_OBJECT_MUTEX && wait->kind != DWELL_OBJECT_RWLOCK &&
           wait->kind != DWELL_OBJECT_BARRIER && wait->kind != DWELL_OBJECT_SIGNAL &&
           wait->kind != DWELL_OBJECT_SIGNALFD;
}

/* A thread's own act does not end its wait. Nor does arriving at a barrier, if the thread has waited
 * there: the last thread to arrive does not wait. */
static bool wait_acts_may_end(const struct profile_act *act, const struct profile_wait *wait)
{
    return act->thread != wait->place.thread && (act->kind != DWELL_OBJECT_BARRIER || !act->blocked);
}

bool wait_acts_may_lack(const struct wait_acts *acts, const struct profile_wait *wait)
{
    return wait_holes_overlap(&acts->holes, wait->place.begin, wait->place.end);
}

/* ---- the last act ---- */

/* A mutex was free only after the last unlock. Other objects may have been acted on more than once before the thread
 * went on. */
static bool wait_acts_are_exact(const struct profile_wait *wait)
{
    return wait->kind == DWELL_OBJECT_MUTEX;
}

/* When an act ended, as far as waits go: a thread arrives at a barrier as its call begins. */
static uint64_t wait_acts_moment(const struct profile_act *act)
{
    return act->kind == DWELL_OBJECT_BARRIER && !act->room ? act->begin : act->end;
}

/* Whether another thread than that of the last act, which is number `last`, has acted shortly before it. */
static bool wait_acts_are_close(const struct wait_acts *acts, size_t last, const struct profile_wait *wait)
{
    const struct profile_act *const list = acts->waits.acts, *const act = &list[last];
    const uint64_t from = act->begin - smaller(acts->close, act->begin);
    for (size_t i = last; i-- > 0;) {
        const uint64_t moment = wait_acts_moment(&list[i]);
        if (wait_acts_compare_objects(&list[i], act) != 0 || moment < wait->place.begin || moment < from)
            return false;
        if (list[i].thread != act->thread && wait_acts_may_end(&list[i], wait))
            return true;
    }
    return false;
}

/* A thread's calls do not overlap, so few acts lie between. */
static const struct profile_act *wait_acts_find_last(const struct wait_acts *acts, const struct profile_wait *wait)
{
    const struct profile_act wanted = wait_acts_wanted(wait);
    const uint64_t until = wait->kind == DWELL_OBJECT_BARRIER ? wait->back : wait->place.end;
    for (size_t i = wait_acts_place(&acts->waits, &wanted, until); i-- > 0;) {
        const struct profile_act *act = &acts->waits.acts[i];
        if (wait_acts_compare_objects(act, &wanted) != 0 || wait_acts_moment(act) < wait->place.begin)
            return NULL;
        if (wait_acts_may_end(act, wait))
            return wait_acts_are_exact(wait) || !wait_acts_are_close(acts, i, wait) ? act : NULL;
    }
    return NULL;
}

const struct profile_act *wait_acts_find_unlock(const struct wait_acts *acts, const struct profile_wait *wait)
{
    if (wait->kind != DWELL_OBJECT_CONDITION || !wait->mutex || wait->left == wait->left_last ||
        wait_acts_may_lack(acts, wait))
        return NULL;
    struct profile_wait again = *wait;
    again.kind = DWELL_OBJECT_MUTEX;
    again.id = wait->mutex;
    const struct profile_act *act = wait_acts_find_last(acts, &again);
    return act && act->left > wait->left_last ? act : NULL;
}

/* ---- the first act ---- */

/* A thread that sleeps until an act comes: from the last time that it left the CPU for the object, until it ran again.
 */
struct sleeper {
    uint64_t from, to;
    uint32_t number; /* of the wait */
};

/* The sleepers of an object: those up to `seen` have begun to sleep. A heap has them by their ends. */
struct sleeper_queue {
    struct wait_acts *acts;
    const struct caused_wait *list;
    const struct sleeper *sleepers;
    size_t count, head, seen;
    uint32_t *heap;
    size_t heap_count;
};

/* A thread that has been woken may wait for the mutex of the condition variable next. */
static struct sleeper sleeper_of(const struct wait_acts *acts, const struct profile_wait *wait, size_t number)
{
    const bool waits_again = wait_acts_find_unlock(acts, wait);
    const uint64_t left = waits_again ? wait->left : wait->left_last;
    return (struct sleeper){ larger(wait->place.begin, left - smaller(acts->slack, left)),
                             waits_again ? wait->left_last : wait->back, (uint32_t)number };
}

static int sleeper_compare(const void *a, const void *b, void *context)
{
    const struct sleeper *x = a, *y = b;
    const struct caused_wait *list = context;
    const struct profile_act one = wait_acts_wanted(&list[x->number].wait),
                             other = wait_acts_wanted(&list[y->number].wait);
    const int order = wait_acts_compare_objects(&one, &other);
    if (order || x->from == y->from)
        return order ? order
                     : (list[x->number].wait.place.thread > list[y->number].wait.place.thread) -
                           (list[x->number].wait.place.thread < list[y->number].wait.place.thread);
    return x->from < y->from ? -1 : 1;
}

static bool sleeper_is_gone(const struct sleeper_queue *q, size_t i, uint64_t time)
{
    return q->acts->matches[q->sleepers[i].number] || q->sleepers[i].to <= time;
}

static uint64_t sleeper_end(const struct sleeper_queue *q, size_t place)
{
    return q->sleepers[q->heap[place]].to;
}

static void sleeper_swap(struct sleeper_queue *q, size_t a, size_t b)
{
    const uint32_t moved = q->heap[a];
    q->heap[a] = q->heap[b];
    q->heap[b] = moved;
}

static void sleepers_push(struct sleeper_queue *q, size_t i)
{
    size_t at = q->heap_count++;
    q->heap[at] = (uint32_t)i;
    for (; at && sleeper_end(q, (at - 1) / 2) > sleeper_end(q, at); at = (at - 1) / 2)
        sleeper_swap(q, at, (at - 1) / 2);
}

static void sleepers_pop(struct sleeper_queue *q)
{
    q->heap[0] = q->heap[--q->heap_count];
    for (size_t at = 0, next; (next = 2 * at + 1) < q->heap_count; at = next) {
        next += next + 1 < q->heap_count && sleeper_end(q, next + 1) < sleeper_end(q, next);
        if (sleeper_end(q, at) <= sleeper_end(q, next))
            return;
        sleeper_swap(q, at, next);
    }
}

static void sleeper_take(struct sleeper_queue *q, size_t i, size_t act, bool unsure)
{
    const struct sleeper *s = &q->sleepers[i];
    if (wait_acts_may_end(&q->acts->waits.acts[act], &q->list[s->number].wait))
        q->acts->matches[s->number] = (uint32_t)(act + 1) | (unsure ? MATCH_UNSURE : 0);
}

/* The times up to which other threads acted, to know whether it is certain who came first. */
struct acts_before {
    uint64_t until, until_of_others; /* of all, and of all but the thread of the former */
    uint32_t thread;
};

static void acts_before_add(struct acts_before *b, const struct profile_act *act)
{
    if (act->thread == b->thread) {
        b->until = larger(b->until, act->left);
    } else if (act->left > b->until) {
        b->until_of_others = b->until;
        b->until = act->left;
        b->thread = act->thread;
    } else {
        b->until_of_others = larger(b->until_of_others, act->left);
    }
}

static bool acts_before_overlap(const struct acts_before *b, const struct profile_act *act)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is an element of an array that is not empty
    return (act->thread == b->thread ? b->until_of_others : b->until) > act->begin;
}

/* Gives the act to the sleepers that it has woken: to all of them, or to the first one in the queue. A sleeper that no
 * later act can have woken comes before. `next`: when the next act begins. */
static void sleepers_wake(struct sleeper_queue *q, size_t number, uint64_t next, bool unsure)
{
    const struct profile_act *act = &q->acts->waits.acts[number];
    for (; q->seen < q->count && q->sleepers[q->seen].from <= act->end; q->seen++)
        sleepers_push(q, q->seen);
    while (q->heap_count && sleeper_is_gone(q, q->heap[0], act->begin))
        sleepers_pop(q);
    while (q->head < q->seen && sleeper_is_gone(q, q->head, act->begin))
        q->head++;
    if (q->head == q->seen)
        return;
    if (act->all)
        for (; q->head < q->seen; q->head++) {
            if (!sleeper_is_gone(q, q->head, act->begin))
                sleeper_take(q, q->head, number, unsure);
        }
    else
        sleeper_take(q, sleeper_end(q, 0) <= next ? q->heap[0] : q->head, number, unsure);
}

/* Matches the sleepers of one object with its acts. */
static void sleepers_match(struct sleeper_queue *q)
{
    const struct waits *waits = &q->acts->waits;
    const struct profile_act wanted = wait_acts_wanted(&q->list[q->sleepers[0].number].wait);
    struct acts_before before = { 0, 0, 0 };
    for (size_t i = wait_acts_place(waits, &wanted, 0); i < waits->act_count; i++) {
        const struct profile_act *act = &waits->acts[i], *next = i + 1 < waits->act_count ? act + 1 : NULL;
        if (wait_acts_compare_objects(act, &wanted) != 0)
            return;
        if (next && wait_acts_compare_objects(next, &wanted) != 0)
            next = NULL;
        const bool unsure =
            acts_before_overlap(&before, act) || (next && next->thread != act->thread && next->begin < act->left);
        sleepers_wake(q, i, next ? next->begin : UINT64_MAX, unsure);
        acts_before_add(&before, act);
    }
}

static bool sleepers_have_one_object(const struct caused_wait *list, const struct sleeper *a, const struct sleeper *b)
{
    const struct profile_act one = wait_acts_wanted(&list[a->number].wait),
                             other = wait_acts_wanted(&list[b->number].wait);
    return wait_acts_compare_objects(&one, &other) == 0;
}

static void sleepers_match_all(struct wait_acts *acts, const struct caused_wait *list, struct sleeper *sleepers,
                               size_t count)
{
    uint32_t *heap = need_memory(count + 1, sizeof *heap);
    if (count)
        qsort_r(sleepers, count, sizeof *sleepers, sleeper_compare, (void *)list);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sleepers_have_one_object(list, &sleepers[i], &sleepers[end]);)
            end++;
        struct sleeper_queue q = {
            .acts = acts, .list = list, .sleepers = sleepers + i, .count = end - i, .heap = heap
        };
        sleepers_match(&q);
    }
    free(heap);
}

/* Whether acts are matched with the wait in the order of time. Without times off the CPU, they are not. */
static bool wait_acts_are_matched(const struct profile_wait *wait)
{
    return wait_acts_end_at_once(wait) && wait->left_last < wait->back;
}

void wait_acts_match(struct wait_acts *acts, const struct session_file *file, const struct caused_wait *list,
                     size_t count)
{
    struct waits *waits = &acts->waits;
    size_t sleeper_count = 0;
    acts->lock_ends = lock_ends_begin(file, waits);
    wait_acts_find_other_ends(waits, file);
    if (waits->act_count)
        qsort(waits->acts, waits->act_count, sizeof *waits->acts, wait_acts_compare);
    acts->matches = need_memory(count + 1, sizeof *acts->matches);
    for (size_t i = 0; i < count; i++)
        sleeper_count += wait_acts_are_matched(&list[i].wait);
    struct sleeper *sleepers = need_memory(sleeper_count + 1, sizeof *sleepers);
    sleeper_count = 0;
    for (size_t i = 0; i < count; i++)
        if (wait_acts_are_matched(&list[i].wait))
            sleepers[sleeper_count++] = sleeper_of(acts, &list[i].wait, i);
    sleepers_match_all(acts, list, sleepers, sleeper_count);
    free(sleepers);
}

/* ---- all ---- */

/* A signalfd gives its reader the signals that it would wait for itself, whoever made the descriptor. */
static uint64_t wait_acts_signals_of(const struct wait_acts *acts, const struct profile_wait *wait)
{
    const struct trace_thread *t = session_file_thread(acts->file, wait->place.thread);
    const struct trace_process *p = t ? session_file_process(acts->file, t->process) : NULL;
    return p ? (uint64_t)p->pid << 32 | t->tid : 0;
}

/* A signal is for one thread, or for any one of the process. */
static const struct profile_act *wait_acts_find_signal(const struct wait_acts *acts, const struct profile_wait *wait)
{
    struct profile_wait one = *wait;
    if (wait->kind == DWELL_OBJECT_SIGNALFD) {
        one.kind = DWELL_OBJECT_SIGNAL;
        one.id = wait_acts_signals_of(acts, wait);
    }
    struct profile_wait any = one;
    one.id &= UINT32_MAX;
    any.id -= one.id;
    const struct profile_act *to_one = wait_acts_find_last(acts, &one), *to_any = wait_acts_find_last(acts, &any);
    return !to_one || (to_any && to_any->begin > to_one->begin) ? to_any : to_one;
}

/* Who slept together with others may have been woken by an act for all of them. Then, and where the times are not
 * known, the last act counts. */
const struct profile_act *wait_acts_find(const struct wait_acts *acts, const struct profile_wait *wait, size_t number)
{
    const uint32_t match = acts->matches[number];
    if (!wait_acts_concern(wait) || wait_acts_may_lack(acts, wait) || match & MATCH_UNSURE)
        return NULL;
    if (wait->kind == DWELL_OBJECT_SIGNAL || wait->kind == DWELL_OBJECT_SIGNALFD)
        return wait_acts_find_signal(acts, wait);
    return match ? &acts->waits.acts[match - 1] : wait_acts_find_last(acts, wait);
}

struct lock_end wait_acts_find_end(const struct wait_acts *acts, const struct profile_wait *wait,
                                   const struct profile_act *last)
{
    if (wait->kind != DWELL_OBJECT_FILE_LOCK || wait->gave_up || wait_acts_may_lack(acts, wait))
        return (struct lock_end){ .thread = 0 };
    return lock_ends_find(&acts->lock_ends, wait, last);
}
