/*
 * Calls that are kept. A call is a record in the metadata of its process. Its window is a range of time: when a ring is
 * about to use a chunk of it again, the chunk stays in the session instead. So nobody copies anything, and a kill
 * loses nothing that was recorded.
 */
#include <string.h>

#include "keep_calls.h"
#include "keep_shared.h"
#include "lock.h"
#include "metadata_records.h"
#include "offers.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

struct keep_settings keep_settings;

static bool keep_is_rule(const struct dwell_watch *watch)
{
    return watch->rule == DWELL_KEEP_ABOVE || (watch->rule <= DWELL_KEEP_MEAN && watch->amount > 0);
}

static bool keep_read(int fd, struct dwell_keep *from)
{
    const uint64_t offset = session_more(&runtime.session)->keep;
    return offset && SYS4(pread64, fd, from, sizeof *from, offset) == (long)sizeof *from &&
           from->chunk.magic == DWELL_CHUNK_MAGIC && from->chunk.kind == DWELL_CHUNK_KEEP &&
           from->watches <= DWELL_KEEP_WATCHES;
}

/* No probe uses a watch yet that is added. The limit is stored last. */
static void keep_add_watch(struct keep_settings *s, uint32_t watch, const struct dwell_watch *from)
{
    const bool is_set = keep_is_rule(from);
    s->rules[watch] = is_set ? *from : (struct dwell_watch){ .limit = UINT64_MAX };
    if (s->rules[watch].rule != DWELL_KEEP_ABOVE)
        __atomic_store_n(&s->asks, true, __ATOMIC_RELAXED);
    __atomic_store_n(&s->limits[watch], s->rules[watch].limit, __ATOMIC_RELEASE);
}

void keep_begin(int fd)
{
    struct dwell_keep from;
    if (!keep_read(fd, &from))
        return;
    struct keep_settings s = {
        .on = true, .usual = from.usual, .around = from.around, .period = from.period, .most = from.most
    };
    s.asks = s.usual;
    s.others = from.flags & DWELL_KEEP_OTHERS;
    s.shorter = from.flags & DWELL_KEEP_SHORTER;
    s.watches = from.watches;
    for (uint32_t i = 0; i <= DWELL_KEEP_WATCHES; i++)
        s.limits[i] = UINT64_MAX;
    for (uint32_t i = 1; i <= from.watches; i++)
        keep_add_watch(&s, i, &from.watch[i - 1]);
    keep_settings = s;
    runtime.makes_room = from.flags & DWELL_KEEP_NEWEST;
}

void keep_read_more(int fd)
{
    struct dwell_keep from;
    if (!keep_read(fd, &from))
        return;
    for (uint32_t i = keep_settings.watches + 1; i <= from.watches; i++)
        keep_add_watch(&keep_settings, i, &from.watch[i - 1]);
    if (from.watches > keep_settings.watches)
        keep_settings.watches = from.watches;
}

/* ---- limits that are learnt ---- */

static void keep_learn_calls(uint32_t watch, uint64_t calls, uint64_t ticks, bool longer)
{
    struct keep_learnt *l = &keep_settings.learnt[watch];
    keep_learn(l, &keep_settings.rules[watch], calls, ticks, longer);
    __atomic_store_n(&keep_settings.limits[watch], keep_limit_of(l, &keep_settings.rules[watch]), __ATOMIC_RELAXED);
}

/* While there is no limit, each call counts. Later, a thread adds some at a time, as others use the same memory. */
bool keep_asks(struct thread_keep *k, uint32_t watch, uint64_t duration)
{
    enum { TOGETHER = 16 };
    if (keep_settings.rules[watch].rule != DWELL_KEEP_ABOVE) {
        const bool first = __atomic_load_n(&keep_settings.limits[watch], __ATOMIC_RELAXED) == UINT64_MAX;
        k->unlearnt[watch].calls++;
        k->unlearnt[watch].ticks += duration;
        if (first || k->unlearnt[watch].calls >= TOGETHER) {
            const uint64_t calls = k->unlearnt[watch].calls;
            keep_learn_calls(watch, calls, k->unlearnt[watch].ticks / calls,
                             first && keep_is_longer(&keep_settings.learnt[watch], duration));
            k->unlearnt[watch].calls = k->unlearnt[watch].ticks = 0;
        }
    }
    return keep_settings.usual && ++k->since_usual >= keep_settings.usual;
}

/* ---- windows ---- */

/* Windows that overlap become one. Of more than there is room for, the oldest is forgotten. */
static void keep_add_window(struct process_keep *k, struct keep_window window)
{
    lock_take(&k->lock);
    struct keep_window *last = k->count ? &k->windows[(k->first + k->count - 1) % KEEP_WINDOWS] : NULL;
    if (last && window.begin <= last->end && window.end >= last->begin) {
        last->begin = window.begin < last->begin ? window.begin : last->begin;
        last->end = window.end > last->end ? window.end : last->end;
    } else {
        if (k->count == KEEP_WINDOWS) {
            const uint64_t end = k->windows[k->first % KEEP_WINDOWS].end;
            k->forgotten = end > k->forgotten ? end : k->forgotten;
            k->first++;
            k->count--;
        }
        k->windows[(k->first + k->count++) % KEEP_WINDOWS] = window;
    }
    lock_release(&k->lock);
}

/* The session has its maximum size, or no room: then rings use all of their chunks again. */
static bool keep_is_full(void)
{
    const struct dwell_file_header *h = runtime.session.header;
    const bool ended = !runtime.makes_room && __atomic_load_n(&h->limit_time, __ATOMIC_RELAXED) != 0;
    return (ended && !offers_have(&runtime.session, DWELL_UNIT)) ||
           __atomic_load_n(&h->trouble, __ATOMIC_RELAXED) & DWELL_TROUBLE_NO_SPACE;
}

bool keep_covers(uint64_t begin, uint64_t end)
{
    struct process_keep *k = &runtime.process->keep;
    if (!keep_settings.on || keep_is_full())
        return false;
    const uint64_t room_until = __atomic_load_n(&session_more(&runtime.session)->room_until, __ATOMIC_RELAXED);
    lock_take(&k->lock);
    const bool dropped = end <= k->dropped || end <= room_until;
    bool covers = !dropped && k->forgotten && begin <= k->forgotten;
    for (uint32_t i = k->count; i-- > 0 && !covers && !dropped;) {
        const struct keep_window *w = &k->windows[(k->first + i) % KEEP_WINDOWS];
        covers = begin <= w->end && end >= w->begin;
    }
    lock_release(&k->lock);
    return covers || (keep_settings.others && !dropped && keep_shared_cover(begin, end));
}

/* ---- calls ---- */

static void keep_count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* A call of the same function is open around it: that one is judged when it ends. */
static bool keep_is_nested(const struct thread *t, uint64_t function)
{
    const struct call *first = (const struct call *)t->shadow;
    for (const struct call *call = thread_call(t, t->state) - 1; call > first; call--)
        if (call->function == function)
            return true;
    return false;
}

/* Whether one more window may be kept in this period, of all processes. The word has the period's number, and the
 * windows so far. */
static bool keep_takes_turn(uint64_t now)
{
    enum { COUNT_BITS = 24 };
    uint64_t *word = &session_more(&runtime.session)->keep_period;
    if (!keep_settings.period)
        return true;
    const uint64_t number = 1 + (now - runtime.session.header->start_ticks) / keep_settings.period;
    uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED), after;
    do {
        const uint64_t count = before >> COUNT_BITS == number ? before & ((1u << COUNT_BITS) - 1) : 0;
        if (count >= keep_settings.most)
            return false;
        after = number << COUNT_BITS | (count + 1);
    } while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* A quarter of the session's maximum size is left for the threads' rings, which need chunks for those that stay. */
static bool keep_has_room(void)
{
    const struct dwell_file_header *h = runtime.session.header;
    const uint64_t free = __atomic_load_n(&session_more(&runtime.session)->free_bytes, __ATOMIC_RELAXED);
    return !keep_is_full() && (!h->max_size || runtime.makes_room ||
                               __atomic_load_n(&h->cursor, __ATOMIC_RELAXED) < h->max_size / 4 * 3 + free);
}

/* The part of a window that the thread's own ring does not hold any more. */
static uint64_t keep_missing(const struct thread *t, const struct keep_window *window)
{
    const uint64_t freed = t->ring.freed_until;
    if (freed <= window->begin)
        return 0;
    return (freed < window->end ? freed : window->end) - window->begin;
}

/* ---- windows that make room ---- */

static void keep_drop_entry(struct process_keep *k, uint32_t i)
{
    struct dwell_file_more *more = session_more(&runtime.session);
    const struct keep_entry entry = k->entries[i];
    const bool usual = entry.record->usual;
    metadata_take_back(&entry.record->record);
    __atomic_fetch_sub(usual ? &more->usual_calls : &more->kept_calls, 1, __ATOMIC_RELAXED);
    keep_count(usual ? &more->dropped_usual : &more->dropped_calls);
    k->entries[i] = k->entries[--k->live];
    k->entries[k->live] = entry;
}

void keep_drop_windows(uint64_t until)
{
    struct process_keep *k = &runtime.process->keep;
    lock_take(&k->lock);
    if (until > k->dropped)
        k->dropped = until;
    for (uint32_t i = k->live; i-- > 0;)
        if (k->entries[i].begin <= until)
            keep_drop_entry(k, i);
    lock_release(&k->lock);
}

/* Stores a call in the record of one that was dropped. False if there is none. */
static bool keep_use_record(struct process_keep *k, const struct dwell_rec_kept *call, uint64_t begin)
{
    lock_take(&k->lock);
    const bool found = k->live < k->entry_count;
    if (found) {
        struct keep_entry *entry = &k->entries[k->live++];
        entry->begin = begin;
        memcpy(&entry->record->record + 1, &call->record + 1, sizeof *call - sizeof call->record);
        __atomic_store_n(&entry->record->record.type, DWELL_REC_KEPT, __ATOMIC_RELEASE);
    }
    lock_release(&k->lock);
    return found;
}

/* Without memory for it, the record stays permanently. */
static void keep_add_entry(struct process_keep *k, struct keep_entry entry)
{
    enum { FIRST_ENTRIES = 256 };
    lock_take(&k->lock);
    if (k->entry_count == k->entry_room) {
        void *grown = sys_grow(k->entries, &k->entry_room, sizeof entry, FIRST_ENTRIES);
        k->entries = grown ? grown : k->entries;
    }
    if (k->entry_count < k->entry_room) {
        k->entries[k->entry_count++] = k->entries[k->live];
        k->entries[k->live++] = entry;
    }
    lock_release(&k->lock);
}

static bool keep_store(const struct dwell_rec_kept *call, uint64_t begin)
{
    struct process_keep *k = &runtime.process->keep;
    if (runtime.makes_room && keep_use_record(k, call, begin))
        return true;
    struct dwell_record *record = metadata_append(&call->record, sizeof *call, NULL, 0);
    if (record && runtime.makes_room)
        keep_add_entry(k, (struct keep_entry){ (struct dwell_rec_kept *)record, begin });
    return record != NULL;
}

/* What is kept before and after a call. Where calls are kept often, it is a small part of the time between them. So
 * windows take a small part of the disk that all events would take, however short the calls are. */
static uint64_t keep_around(const struct dwell_rec_kept *call)
{
    const struct dwell_file_header *h = runtime.session.header;
    uint64_t *until = &session_more(&runtime.session)->kept_until;
    if (!keep_settings.shorter)
        return keep_settings.around;
    const uint64_t last = __atomic_load_n(until, __ATOMIC_RELAXED), since = last ? last : h->start_ticks;
    const uint64_t part = call->enter_time > since ? (call->enter_time - since) / DWELL_KEEP_PART : 0;
    const uint64_t least = call->usual ? 0 : h->ticks_per_second / DWELL_KEEP_LEAST_PER_SECOND;
    const uint64_t around = part > least ? part : least;
    if (call->exit_time > last)
        __atomic_store_n(until, call->exit_time, __ATOMIC_RELAXED);
    return around < keep_settings.around ? around : keep_settings.around;
}

static bool keep_record(const struct thread *t, const struct dwell_rec_kept *call)
{
    struct dwell_rec_kept record = *call;
    const uint64_t around = record.around = keep_around(call);
    const struct keep_window window = {
        .begin = record.enter_time > around ? record.enter_time - around : 0,
        .end = record.exit_time + around,
    };
    keep_add_window(&runtime.process->keep, window);
    if (keep_settings.others)
        keep_shared_add(window.begin, window.end);
    record.missing = keep_missing(t, &window);
    return keep_store(&record, window.begin);
}

bool keep_is_inner(const struct thread *t, uint32_t watch, uint64_t function)
{
    return UNLIKELY(__atomic_load_n(&keep_settings.recursive[watch], __ATOMIC_RELAXED)) && keep_is_nested(t, function);
}

/* What was learnt until now has inner calls in it. */
static void keep_note_recursion(uint32_t watch)
{
    if (keep_settings.rules[watch].rule == DWELL_KEEP_ABOVE ||
        __atomic_exchange_n(&keep_settings.recursive[watch], true, __ATOMIC_RELAXED))
        return;
    keep_settings.learnt[watch] = (struct keep_learnt){ 0 };
    __atomic_store_n(&keep_settings.limits[watch], UINT64_MAX, __ATOMIC_RELAXED);
}

static struct dwell_rec_kept keep_judge(const struct thread *t, uint32_t watch, uint64_t enter_time, uint64_t exit_time)
{
    const struct dwell_rec_kept call = {
        .record.type = DWELL_REC_KEPT,
        .thread = t->serial,
        .watch = (uint16_t)(watch - 1),
        .usual = exit_time - enter_time <= keep_settings.limits[watch],
        .enter_time = enter_time,
        .exit_time = exit_time,
    };
    if (keep_settings.rules[watch].rule != DWELL_KEEP_ABOVE && !call.usual)
        keep_learn_calls(watch, 1, exit_time - enter_time, true);
    return call;
}

/* Keeps the call if it may be, or counts it. With signals held back. */
static void keep_or_count(struct thread *t, const struct dwell_rec_kept *call, bool has_room)
{
    struct dwell_file_more *more = session_more(&runtime.session);
    if (call->usual)
        t->keep.since_usual = 0;
    const bool may = call->usual || keep_takes_turn(call->exit_time), kept = has_room && may && keep_record(t, call);
    if (kept)
        keep_count(call->usual ? &more->usual_calls : &more->kept_calls);
    else if (!call->usual)
        keep_count(may ? &more->unkept_calls : &more->limited_calls);
}

void keep_call(struct thread *t, uint32_t watch, uint64_t function, uint64_t enter_time)
{
    if (t->stopped)
        return;
    if (keep_is_nested(t, function)) {
        keep_note_recursion(watch);
        return;
    }
    struct dwell_rec_kept call = keep_judge(t, watch, enter_time, t->last);
    call.function = function;
    const uint64_t mask = sys_block_signals();
    if (t->wiped->alive) /* else a handler has forked, and this is the child */
        keep_or_count(t, &call, mask != SYS_NOT_BLOCKED && keep_has_room());
    sys_restore_signals(mask);
}

void keep_activity(struct thread *t, uint32_t watch, uint64_t enter_time, uint64_t exit_time)
{
    if (!keep_wants(&t->keep, watch, exit_time - enter_time))
        return;
    const struct dwell_rec_kept activity = keep_judge(t, watch, enter_time, exit_time);
    keep_or_count(t, &activity, keep_has_room());
}
