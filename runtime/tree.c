/*
 * The profile mode: no intervals are kept, but sums of them, in a call tree that each thread has in the session file
 * itself (docs/format.md). A usual event adds to a node what passed since the last one, and finds the next node in a
 * table by its parent and function; others take the slow path below.
 *
 * While a thread is in this mode, the low half of its state is the time of its last event: so that the claim takes
 * the interval and the shadow stack's entry at once, and a signal handler can neither count an interval twice nor
 * leave one out. As it may not be zero there, the last bit of all times is set.
 */
#include <string.h>

#include "call.h"
#include "chunk.h"
#include "clock.h"
#include "filter.h"
#include "frames_left.h"
#include "modules.h"
#include "osevents.h"
#include "probe_steps.h"
#include "probes.h"
#include "process.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"
#include "tree.h"
#include "tree_table.h"

enum {
    FIRST_SLOTS = 1024,
    FIRST_CHUNK = 16 << 10,
    LARGEST_CHUNK = 256 << 10,
};

/* ---- the probes ---- */

PROBES_DEFINITION(tree, STEPS_TIMED | STEPS_TREE)
PROBES_DEFINITION(tree_sites, STEPS_TIMED | STEPS_TREE | STEPS_SITES)
PROBES_DEFINITION(tree_filter, STEPS_TIMED | STEPS_TREE | STEPS_FILTER)
PROBES_DEFINITION(tree_filter_sites, STEPS_TIMED | STEPS_TREE | STEPS_FILTER | STEPS_SITES)

/* ---- nodes; signals are held back from here on ---- */

/* In the place of a node that is not to be found again. */
static struct dwell_tree_node forgotten;

/* All old ones together are smaller than the new. */
static bool grow_table(struct thread *t)
{
    struct tree_table *old = t->tree.table;
    if (old->taken * 2 < old->mask)
        return true;
    struct tree_table *table = tree_new_table(old, (old->mask + 1) * 2);
    if (!table)
        return false;
    for (uint64_t i = 0; i <= old->mask; i++)
        if (old->slots[i].key && old->slots[i].node != &forgotten)
            tree_insert(table, old->slots[i].key, old->slots[i].node);
    t->tree.table = table;
    return true;
}

static char *first_node(struct dwell_chunk_header *chunk)
{
    return (char *)(chunk + 1) + (chunk->sequence == 0 ? sizeof(struct dwell_tree_head) : 0);
}

static void end_tree_chunk(struct thread *t)
{
    if (t->tree.chunk)
        __atomic_store_n(&t->tree.chunk->used, (uint32_t)(t->tree.next - (char *)t->tree.chunk), __ATOMIC_RELEASE);
}

/* Chunks of the tree stay mapped while the thread lives, each linked to the one before. */
static bool next_tree_chunk(struct thread *t)
{
    uint32_t size = FIRST_CHUNK;
    while (size < LARGEST_CHUNK && t->tree.chunk && size <= t->tree.chunk->size)
        size *= 2;
    struct area area = chunk_take(size, size);
    if (!area.at)
        return false;
    end_tree_chunk(t);
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = t->tree.chunk ? t->tree.chunk->sequence + 1 : 0;
    chunk->link = (uint64_t)t->tree.chunk;
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_CALL_TREE, __ATOMIC_RELEASE);
    t->tree.chunk = chunk;
    t->tree.next = first_node(chunk);
    return true;
}

/*
 * A function that calls itself from two places would have as many paths as there are ways to get down. So, where a call
 * is made that is open already from the same site, what is below it does not depend on that site any more:
 * calls of one function, from whatever site, by one caller, share what they call. The functions on each path stay
 * what they are, and so does the set of places.
 */
static bool is_open(const struct thread *t, const struct call *call)
{
    if (!runtime.call_sites)
        return false;
    for (const struct call *outer = call - 1; outer > (const struct call *)t->shadow; outer--)
        if (outer->function == call->function && outer->call_site == call->call_site)
            return true;
    return false;
}

enum { ANY_PLACE = 1 }; /* no code lies there */

/* The first such node of that function below its parent; this one, if there is none. */
static uint32_t base_of_recursion(struct tree_table *table, const struct call *call, struct dwell_tree_node *node)
{
    const uint64_t key = tree_key(node->parent, call->function, ANY_PLACE);
    for (uint64_t i = tree_first_slot(table, key); table->slots[i].key; i = (i + 1) & table->mask)
        if (table->slots[i].key == key && table->slots[i].node->parent == node->parent &&
            table->slots[i].node->function == call->function)
            return table->slots[i].node->number;
    tree_insert(table, key, node);
    return node->number;
}

static struct dwell_tree_node *add_node(struct thread *t, const struct call *call, uint64_t now)
{
    const struct dwell_tree_node *const parent = call[-1].node;
    if (!grow_table(t))
        return NULL;
    if (t->tree.next + sizeof(struct dwell_tree_node) > (char *)t->tree.chunk + t->tree.chunk->size &&
        !next_tree_chunk(t))
        return NULL;
    struct dwell_tree_node *node = (struct dwell_tree_node *)t->tree.next;
    t->tree.next += sizeof *node;
    node->parent = parent->base;
    node->depth = parent->depth + 1;
    node->number = node->base = ++t->tree.nodes;
    node->shortest = UINT64_MAX;
    node->first_time = now;
    node->site = call->call_site;
    if (is_open(t, call))
        node->base = base_of_recursion(t->tree.table, call, node);
    __atomic_store_n(&node->function, call->function, __ATOMIC_RELEASE);
    tree_insert(t->tree.table, tree_key(node->parent, node->function, node->site), node);
    return node;
}

static struct dwell_tree_node *node_of(struct thread *t, const struct call *call, uint64_t now)
{
    struct dwell_tree_node *const parent = call[-1].node;
    const uint64_t function = call->function;
    if (runtime.filtered && (filter_action(function) & (DWELL_FILTER_SUPPRESS | DWELL_FILTER_IGNORE) ||
                             parent->depth >= filter_settings.depth))
        return parent;
    struct dwell_tree_node *node = tree_find_node(t->tree.table, parent->base, function, call->call_site, true);
    return node ? node : add_node(t, call, now);
}

/* ---- the tree's begin and end ---- */

/* Gives the open calls from depth `from` (bytes) on their nodes. */
static bool find_open_calls(struct thread *t, uint32_t from, uint64_t now)
{
    struct call *call = (struct call *)(t->shadow + from);
    for (; call < thread_call(t, t->state); call++) {
        call->node = node_of(t, call, now);
        if (!call->node)
            return false;
    }
    return true;
}

static bool begin_tree(struct thread *t, uint64_t now)
{
    if (!t->tree.root)
        t->tree.root = sys_memory(PAGE);
    struct tree_table *table = t->tree.root ? tree_new_table(t->tree.table, FIRST_SLOTS) : NULL;
    t->tree.chunk = NULL;
    t->tree.nodes = 0;
    t->tree.seen_unloads = runtime.process->modules.unloads;
    if (!table)
        return false;
    t->tree.table = table; /* the older one is of before a fork */
    if (!next_tree_chunk(t))
        return false;
    t->tree.head = (struct dwell_tree_head *)(t->tree.chunk + 1);
    t->tree.head->start_time = t->tree.head->last_time = now;
    ((struct call *)t->shadow)->node = t->tree.root;
    return find_open_calls(t, sizeof(struct call), now);
}

/* For calibrate.c, whose nodes are in no file. */
bool tree_add_known(struct thread *t, const struct dwell_tree_node *parent, struct dwell_tree_node *node,
                    uint64_t function)
{
    if (!t->tree.table)
        t->tree.table = tree_new_table(NULL, FIRST_SLOTS);
    if (!t->tree.table)
        return false;
    node->parent = parent->base;
    node->number = node->base = ++t->tree.nodes;
    node->depth = parent->depth + 1;
    node->function = function;
    tree_insert(t->tree.table, tree_key(node->parent, function, 0), node);
    return true;
}

void tree_drop_tables(struct thread *t)
{
    tree_free_tables(t->tree.table);
    t->tree.table = NULL;
}

void tree_end(struct thread *t)
{
    if (!t->tree.head)
        return;
    t->tree.head = NULL;
    struct dwell_chunk_header *last = t->tree.chunk;
    end_tree_chunk(t);
    struct area area = { (char *)last, last->size };
    chunk_cut(&area, (last->used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT);
    for (struct dwell_chunk_header *chunk = last; chunk;) {
        struct dwell_chunk_header *before = (struct dwell_chunk_header *)chunk->link;
        sys_unmap(chunk, chunk->size);
        chunk = before;
    }
    tree_free_tables(t->tree.table);
    t->tree.table = NULL;
}

/* Another library may be where one was: nodes of the program alone are found again. */
static void forget_unloaded(struct thread *t)
{
    t->tree.seen_unloads = __atomic_load_n(&runtime.process->modules.unloads, __ATOMIC_ACQUIRE);
    struct tree_table *table = t->tree.table;
    for (uint64_t i = 0; i <= table->mask; i++) {
        struct tree_slot *slot = &table->slots[i];
        if (slot->key && slot->node != &forgotten && !modules_is_program(slot->node->function))
            slot->node = &forgotten;
    }
}

/* ---- the unusual event ---- */

struct passed {
    uint64_t time, own; /* the runtime's */
    bool flagged;
    uint32_t count; /* of OS events */
    uint64_t blocked, preempted, page_faults;
};

static void take_os_events(struct passed *passed, const struct os_events *events)
{
    const uint32_t count = (uint32_t)switches_sum(&events->switches) + events->page_faults;
    passed->flagged = true;
    passed->blocked += events->blocked;
    passed->preempted += events->preempted;
    passed->page_faults += events->page_faults;
    passed->count += count ? count : 1;
}

/* t->last may be that of an earlier event than the state's time, where a handler has interrupted a probe. */
static uint64_t last_time(const struct thread *t)
{
    return t->last + (uint32_t)((uint32_t)t->state - (uint32_t)t->last);
}

static void add_interval(struct thread *t, const struct passed *passed)
{
    struct dwell_tree_node *node = thread_call(t, t->state)[-1].node;
    tree_add(&node->elapsed, passed->time);
    if (!passed->flagged)
        return;
    tree_add(&node->flagged, passed->time > passed->own ? passed->time - passed->own : 0);
    tree_add(&node->flagged_intervals, 1);
    tree_add(&node->os_events, passed->count);
    tree_add(&node->blocked, passed->blocked);
    tree_add(&node->preempted, passed->preempted);
    tree_add(&node->page_faults, passed->page_faults);
}

/* At the end of the interval that an event ends, and at the beginning of the next one. */
static void tell_own_time(struct thread *t, uint64_t begin)
{
    if (begin == 0 || !t->tree.head || t->pause.active || t->stopped)
        return;
    const uint64_t took = clock_counter() - begin, since = last_time(t);
    if (took > INT64_MAX) /* the counters of two CPUs may differ */
        return;
    tree_add(&thread_call(t, t->state)[-1].node->runtime, took);
    t->tree.own_time = (t->tree.own_since == since ? t->tree.own_time : 0) + took;
    t->tree.own_since = since;
}

/* Adds what passed since the last event to the innermost call, and returns the time. */
static uint64_t end_interval(struct thread *t, uint64_t now, bool flagged)
{
    struct passed passed = { .flagged = flagged };
    const uint64_t last = last_time(t);
    while (*t->os.word != t->os.seen) {
        struct os_events events;
        uint64_t head = os_read(t, &events);
        if (os_commit(t, head, &events) && events.flagged) {
            t->switches.recorded += switches_sum(&events.switches);
            take_os_events(&passed, &events);
        }
    }
    if (now < last)
        now = last;
    passed.time = now - last;
    passed.own = t->tree.own_since == last ? t->tree.own_time : 0;
    if (flagged && passed.count == 0)
        passed.count = 1;
    add_interval(t, &passed);
    t->state = steps_with_time(t->state, now);
    return now;
}

/* False: it was a hidden one. */
static bool end_call(struct thread *t, uint64_t now)
{
    const struct call *call = thread_call(t, t->state) - 1;
    const bool shown = call->node != call[-1].node;
    if (shown)
        tree_note_duration(call->node, now - call->enter_time);
    t->state -= one_call;
    return shown;
}

static void leave(struct thread *t, int64_t left, uint64_t now)
{
    for (; left > 0; left--) {
        if (end_call(t, now))
            t->tree.head->left++;
    }
}

static bool enter(struct thread *t, const struct event *event, uint64_t now)
{
    struct call *call = thread_call(t, t->state);
    *call = (struct call){ event->function, event->stack_pointer, now, event->frame_id, 0, { NULL } };
    if (runtime.call_sites)
        call->call_site = call_site_of(&call[-1], event->function, event->stack_pointer, event->origin);
    call->node = node_of(t, call, now);
    if (!call->node)
        return false;
    if (call->node != call[-1].node)
        tree_add(&call->node->calls, 1);
    const uint32_t depth = (uint32_t)(t->state >> 32);
    t->state += one_call;
    if (runtime.filtered && filter_action(event->function) & DWELL_FILTER_IGNORE)
        filter_ignore(t, depth, now);
    return true;
}

static bool is_top_hidden(const struct thread *t)
{
    const struct call *call = thread_call(t, t->state) - 1;
    return call->node == call[-1].node;
}

static bool record(struct thread *t, const struct event *event, uint64_t now)
{
    if (!thread_grow_stack(t) || (!t->tree.head && !begin_tree(t, t->last | 1)))
        return false;
    if (t->tree.seen_unloads != __atomic_load_n(&runtime.process->modules.unloads, __ATOMIC_RELAXED))
        forget_unloaded(t);
    const int64_t left = frames_left_before(t, t->state, event);
    now = end_interval(t, now, event->flagged && !is_top_hidden(t));
    if (left >= 0) {
        leave(t, left, now);
        if (event->enter && !enter(t, event, now))
            return false;
        if (!event->enter)
            end_call(t, now);
    }
    if (!t->pause.active) /* by a filter */
        tree_note_last(t, now, thread_call(t, t->state)[-1].node);
    return true;
}

/* The thread's state holds a position until its tree has begun. */
void tree_record(struct thread *t, const struct event *event, uint64_t begin)
{
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        thread_stop_for(t, DWELL_TROUBLE_REFUSED);
        slow_count_lost();
        return;
    }
    if (!t->tree.head)
        t->state = steps_with_time(t->state, t->last | 1);
    tell_own_time(t, begin);
    const uint64_t now = clock_now(runtime.clock) | 1;
    if (!record(t, event, now)) {
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
        slow_count_lost();
    }
    thread_set_limit(t);
    tell_own_time(t, begin ? now : 0);
    sys_restore_signals(mask);
    os_forget_own(t);
}

/* ---- pauses ---- */

void tree_pause(struct thread *t, uint64_t time)
{
    if (!t->tree.head)
        return;
    time = end_interval(t, time | 1, false);
    tree_note_last(t, time, thread_call(t, t->state)[-1].node);
    t->tree.head->paused = 1;
}

void tree_resume(struct thread *t, uint64_t time)
{
    t->state = steps_with_time(t->state, time | 1);
    t->last = time | 1;
    if (!t->tree.head)
        return;
    if (!find_open_calls(t, t->pause.kept_depth, time)) {
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
        return;
    }
    tree_note_last(t, time | 1, thread_call(t, t->state)[-1].node);
    t->tree.head->paused = 0;
}

/* ---- other stacks ---- */

uint64_t tree_leave_stack(struct thread *t, uint64_t time)
{
    return t->tree.head ? end_interval(t, time | 1, false) : time;
}

void tree_take_stack(struct thread *t, uint64_t time, bool other_tree)
{
    if (!t->tree.head) {
        t->last = time;
        return;
    }
    ((struct call *)t->shadow)->node = t->tree.root;
    if (other_tree && !find_open_calls(t, sizeof(struct call), time))
        thread_stop_for(t, DWELL_TROUBLE_NO_MEMORY);
    else
        tree_note_last(t, time, thread_call(t, t->state)[-1].node);
}
