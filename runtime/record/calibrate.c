/*
 * Measuring what the probes themselves take: on this machine, in this process, at its start and at its end.
 *
 * Small functions like those of real programs are called twice, with probes and without. Meanwhile, a block that
 * belongs to no thread takes the place of the thread's own. So the probes are the real ones, and record into memory
 * that is thrown away. The probes add to an interval what it lasts between two probes, less what its part of the work
 * takes without probes. Work of a few nanoseconds runs beside the probe's instructions, so this is less than the time
 * between two probes with nothing between them. docs/time-model.md describes how it is used.
 */
#include <string.h>

#include "calibrate.h"
#include "call.h"
#include "call_tree.h"
#include "clock.h"
#include "duration_rows.h"
#include "filter.h"
#include "metadata_records.h"
#include "probes.h"
#include "process.h"
#include "record.h"
#include "recorder.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

enum {
    ITEMS = 64,
    ROUNDS = 40,
    RECORDS = 8192,
    FIRST_RECORD = 8,
    SHADOW = 8192,
    NODES = 8,
};

/* ---- the work ---- */

struct item {
    struct item *next;
    const uint8_t *bytes;
    uint32_t kind, size;
};

#ifdef __clang__
#define NEVER_INLINE __attribute__((noinline))
#define AS_IT_IS(function) __asm__ volatile("") /* or clang leaves out calls whose result it knows */
#else
#define NEVER_INLINE __attribute__((noinline, noclone, noipa))
#define AS_IT_IS(function)
#endif
#define ENTERED(function) calibrate_enter((void *)(function), __builtin_return_address(0))
#define EXITED(function) calibrate_exit((void *)(function), __builtin_return_address(0))

/* As programs call them: by a pointer that the loader has set. */
static void (*volatile calibrate_enter)(void *, void *) = probe_enter;
static void (*volatile calibrate_exit)(void *, void *) = probe_exit;

/* WORK reads a number of 7 bits a byte, as file formats have them, and has a loop over a list. CALLERS has a function
 * that calls this, and a loop. */
#define WORK(NAME, ENTER, EXIT)                                                                                        \
    static NEVER_INLINE uint32_t NAME##_leaf(const struct item *item)                                                  \
    {                                                                                                                  \
        ENTER(NAME##_leaf);                                                                                            \
        uint32_t value = 0;                                                                                            \
        const uint8_t *at = item->bytes;                                                                               \
        do                                                                                                             \
            value = value << 7 | (*at & 127);                                                                          \
        while (*at++ & 128);                                                                                           \
        EXIT(NAME##_leaf);                                                                                             \
        return value;                                                                                                  \
    }                                                                                                                  \
    static NEVER_INLINE uint32_t NAME##_flat(const struct item *item)                                                  \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int i = 0; i < ITEMS; i++, item = item->next)                                                             \
            if (item->kind <= item->size)                                                                              \
                sum += NAME##_leaf(item);                                                                              \
        return sum;                                                                                                    \
    }

#define CALLERS(NAME, ENTER, EXIT)                                                                                     \
    static NEVER_INLINE uint32_t NAME##_between(const struct item *item)                                               \
    {                                                                                                                  \
        ENTER(NAME##_between);                                                                                         \
        uint32_t value = item->size;                                                                                   \
        if (item->kind != 0)                                                                                           \
            value += NAME##_leaf(item);                                                                                \
        EXIT(NAME##_between);                                                                                          \
        return value;                                                                                                  \
    }                                                                                                                  \
    static NEVER_INLINE uint32_t NAME##_deep(const struct item *item)                                                  \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int i = 0; i < ITEMS; i++, item = item->next)                                                             \
            if (item->kind <= item->size)                                                                              \
                sum += NAME##_between(item);                                                                           \
        return sum;                                                                                                    \
    }

WORK(plain, AS_IT_IS, AS_IT_IS)
CALLERS(plain, AS_IT_IS, AS_IT_IS)
WORK(probed, ENTERED, EXITED)
CALLERS(probed, ENTERED, EXITED)
WORK(hidden, ENTERED, EXITED) /* a filter hides its calls */

const struct calibrated_function calibrated_functions[CALIBRATED_FUNCTIONS] = {
    { (const void *)probed_leaf, DWELL_FILTER_ROOT },
    { (const void *)probed_between, DWELL_FILTER_ROOT },
    { (const void *)hidden_leaf, DWELL_FILTER_SUPPRESS },
};

static NEVER_INLINE uint32_t plain_loop(const struct item *item)
{
    uint32_t sum = 0;
    for (int i = 0; i < ITEMS; i++, item = item->next)
        if (item->kind <= item->size)
            sum += item->size;
    return sum;
}

static void calibrate_make_items(struct item *items)
{
    static const uint8_t numbers[] = { 5, 0x83, 7, 42, 0x91, 0x82, 1, 99 };
    static const uint8_t begins[] = { 0, 1, 3, 7, 0, 4, 3, 7 }; /* of one byte, two, one, one ... */
    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = (struct item){ &items[(i * 37 + 11) % ITEMS], numbers + begins[i * 5 % 8], 1 + i % 3, 8 + i % 5 };
}

/* ---- what was recorded of it ---- */

enum interval { ENTER_ENTER, ENTER_EXIT, EXIT_ENTER, EXIT_EXIT, INTERVALS };

struct scratch {
    _Alignas(64) char shadow[SHADOW];
    _Alignas(64) char records[RECORDS];
    struct thread thread;
    struct thread_wiped wiped;
    struct dwell_chunk_header chunk; /* call sites: the extensions' bytes are counted in it */
    struct item items[ITEMS];
    uint64_t os_word;
    /* The averages of each round: a leaf's interval; the flat loop's interval between two calls; the two intervals of a
     * call that makes another; and what the work takes by itself, per call. */
    uint32_t leaf[ROUNDS], loop[ROUNDS], between[ROUNDS];
    uint32_t hidden[ROUNDS], too_short[ROUNDS]; /* the flat loop with calls that are not recorded, per call */
    uint32_t bare[3][ROUNDS];
    struct dwell_tree_head head;
    struct dwell_tree_node nodes[NODES];
    uint64_t durations[ITEMS]; /* their counters */
    uint32_t counting[ROUNDS]; /* what counting one took */
};

/* No call is open. The state's low half is a position, or a time in mode profile. */
static void calibrate_reset(struct thread *t, uint64_t now, uint32_t low)
{
    t->state = one_call | low;
    t->last = now;
}

static void calibrate_stand_in(struct scratch *scratch)
{
    struct thread *t = &scratch->thread;
    t->wiped = &scratch->wiped;
    scratch->wiped.alive = 1;
    t->base = scratch->records;
    t->shadow = scratch->shadow;
    t->shadow_size = sizeof scratch->shadow;
    ((struct call *)t->shadow)[0] = (struct call){ .stack_pointer = UINT64_MAX };
    t->os.word = &scratch->os_word;
    t->upper[0] = t->upper[1] = (uint32_t)((uint64_t)probed_leaf >> 32);
    const uint64_t here = (uint64_t)__builtin_frame_address(0);
    enum { NEAR = 64 << 10 };
    t->stack.low = here - NEAR;
    t->stack.span = 2 * NEAR;
}

/* Sums a round's intervals by kind, from its records. False if events are missing, as one took the slow path, which
 * records nothing here. */
static bool calibrate_read_records(const struct scratch *scratch, int calls, uint64_t sums[INTERVALS],
                                   uint32_t counts[INTERVALS])
{
    const char *at = scratch->records + FIRST_RECORD;
    bool entered = false;
    uint32_t last = 0;
    memset(sums, 0, INTERVALS * sizeof *sums);
    memset(counts, 0, INTERVALS * sizeof *counts);
    for (int i = 0; i < 2 * calls; i++) {
        uint16_t word;
        memcpy(&word, at, sizeof word);
        const unsigned kind = word >> DWELL_WORD_KIND_SHIFT;
        if (kind == DWELL_WORD_EXTENSION && runtime.call_sites && word) {
            at += 2 + 2 * (word & ((1 << DWELL_EXTENSION_LENGTH_BITS) - 1));
            i--; /* it belongs to the next event */
            continue;
        }
        const bool enter = kind == DWELL_WORD_ENTER_0 || kind == DWELL_WORD_ENTER_0 + 1;
        if (!enter && kind != DWELL_WORD_EXIT)
            return false;
        const uint32_t time = word & DWELL_TIME_MASK;
        if (i > 0) {
            const int interval = (entered ? ENTER_ENTER : EXIT_ENTER) + !enter;
            sums[interval] += (time - last) & DWELL_TIME_MASK;
            counts[interval]++;
        }
        last = time;
        entered = enter;
        at += enter ? ENTER_BYTES : EXIT_BYTES;
    }
    uint16_t behind;
    memcpy(&behind, at, sizeof behind);
    return behind == 0;
}

static uint32_t calibrate_mean(uint64_t sum, uint32_t count)
{
    return (uint32_t)(sum * DWELL_PROBE_FRACTION / count);
}

static void calibrate_reset_records(struct scratch *scratch)
{
    memset(scratch->records, 0, sizeof scratch->records);
    calibrate_reset(&scratch->thread, clock_counter(), FIRST_RECORD);
}

/* Whether the mode's probes record the two calls at once. Filters can hide the inner one, or keep them waiting. */
static bool calibrate_records_calls(void)
{
    return !filter_settings.waits && filter_settings.depth >= 2;
}

static bool calibrate_events_round(struct scratch *scratch, int round)
{
    uint64_t sums[INTERVALS];
    uint32_t counts[INTERVALS];
    scratch->wiped.gate = calibrate_records_calls() ? runtime.recorder->gates[runtime.call_sites]
                                                    : trace_recorder.gates[runtime.call_sites];
    scratch->wiped.limit = scratch->wiped.gate == GATE_SLOW ? RECORDS - ENTER_BYTES : 0;
    scratch->thread.chunks.limit = RECORDS - ENTER_BYTES;
    scratch->thread.chunks.current = &scratch->chunk;
    calibrate_reset_records(scratch);
    probed_flat(scratch->items);
    if (!calibrate_read_records(scratch, ITEMS, sums, counts))
        return false;
    scratch->leaf[round] = calibrate_mean(sums[ENTER_EXIT], counts[ENTER_EXIT]);
    scratch->loop[round] = calibrate_mean(sums[EXIT_ENTER], counts[EXIT_ENTER]);
    calibrate_reset_records(scratch);
    probed_deep(scratch->items);
    if (!calibrate_read_records(scratch, 2 * ITEMS, sums, counts))
        return false;
    scratch->between[round] =
        calibrate_mean(sums[ENTER_ENTER], counts[ENTER_ENTER]) + calibrate_mean(sums[EXIT_EXIT], counts[EXIT_EXIT]);
    return true;
}

static bool calibrate_tree_round(struct scratch *scratch, int round)
{
    struct dwell_tree_node *const leaf = &scratch->nodes[1], *const between = &scratch->nodes[2];
    for (int i = 0; i < NODES; i++)
        scratch->nodes[i].calls = scratch->nodes[i].elapsed = 0;
    const uint64_t begin = clock_counter() | 1;
    calibrate_reset(&scratch->thread, begin, (uint32_t)begin);
    probed_flat(scratch->items);
    if (leaf->calls != ITEMS)
        return false;
    const uint64_t inside = leaf->elapsed;
    scratch->leaf[round] = calibrate_mean(inside, ITEMS);
    scratch->loop[round] = calibrate_mean(scratch->thread.last - begin - inside,
                                          ITEMS); /* including that before the first call: one per call */
    probed_deep(scratch->items);
    if (between->calls != ITEMS)
        return false;
    scratch->between[round] = calibrate_mean(between->elapsed, ITEMS);
    return true;
}

enum { COUNTED_NODE = NODES - 1 };

/* Durations of about 100 ticks to 20,000, each in a counter of its own. */
static uint64_t calibrate_duration(uint32_t i)
{
    return (uint64_t)(100 + 4 * i % 32) << i / 8;
}

static bool calibrate_begin_counting(struct scratch *scratch)
{
    struct dwell_tree_node *const node = &scratch->nodes[COUNTED_NODE];
    node->number = NODES;
    node->shortest = DURATION_NO_CALL;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (!duration_rows_add_known(&scratch->thread, node, calibrate_duration(i), &scratch->durations[i]))
            return false;
    return true;
}

static uint32_t calibrate_counting(struct scratch *scratch)
{
    const uint64_t begin = clock_counter();
    for (uint32_t i = 0; i < ITEMS; i++)
        duration_counts_note(&scratch->thread, &scratch->nodes[COUNTED_NODE], &scratch->nodes[0],
                             calibrate_duration(i * 5 % ITEMS));
    return calibrate_mean(clock_counter() - begin, ITEMS);
}

static bool calibrate_begin_tree(struct scratch *scratch)
{
    struct thread *t = &scratch->thread;
    scratch->wiped.limit = 0;
    scratch->wiped.gate = runtime.recorder->gates[0]; /* no call sites */
    t->tree.head = &scratch->head;
    t->tree.root = &scratch->nodes[0];
    ((struct call *)t->shadow)[0].node = &scratch->nodes[0];
    return tree_add_known(t, &scratch->nodes[0], &scratch->nodes[1], (uint64_t)probed_leaf) &&
           tree_add_known(t, &scratch->nodes[0], &scratch->nodes[2], (uint64_t)probed_between) &&
           tree_add_known(t, &scratch->nodes[2], &scratch->nodes[3], (uint64_t)probed_leaf);
}

/* The time of a loop whose calls are not recorded, per call. Zero if a call took the slow path. */
static uint32_t calibrate_unrecorded(struct scratch *scratch, uint32_t (*loop)(const struct item *))
{
    struct thread *const t = &scratch->thread;
    const uint64_t begin = clock_counter() | 1;
    calibrate_reset(t, begin, runtime.mode == DWELL_MODE_PROFILE ? (uint32_t)begin : FIRST_RECORD);
    t->filter.last_seen = 0;
    loop(scratch->items);
    const uint64_t end = clock_counter();
    const bool usual = t->filter.last_seen || t->last != begin;
    t->filter.cost_recorded = t->filter.cost;
    return usual ? calibrate_mean(end - begin, ITEMS) : 0;
}

/* What hidden calls and calls that are too short cost. Where there are no filters, nothing uses it. */
static void calibrate_filtered_round(struct scratch *scratch, int round)
{
    scratch->wiped.gate = runtime.recorder->gates[runtime.mode == DWELL_MODE_PROFILE ? 0 : runtime.call_sites];
    scratch->wiped.limit = 0;
    scratch->hidden[round] = calibrate_unrecorded(scratch, hidden_flat);
    scratch->too_short[round] = filter_settings.waits ? calibrate_unrecorded(scratch, probed_flat) : 0;
}

const struct calibration calibration_of_events = { NULL, calibrate_events_round };
const struct calibration calibration_of_trees = { calibrate_begin_tree, calibrate_tree_round };

/* The work alone, per call. */
static void calibrate_bare_round(struct scratch *scratch, int round)
{
    static uint32_t (*const shapes[])(const struct item *) = { plain_loop, plain_flat, plain_deep };
    for (int i = 0; i < 3; i++) {
        const uint64_t begin = clock_counter();
        shapes[i](scratch->items);
        scratch->bare[i][round] = calibrate_mean(clock_counter() - begin, ITEMS);
    }
}

/* The median, as other work on the machine makes some rounds longer. */
static uint32_t calibrate_median(uint32_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        const uint32_t value = values[i];
        int j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    return values[count / 2];
}

/* The result of the first measurement, which holds for forked children, too; and the process that measured it. */
static struct dwell_rec_probes calibrate_found;
static uint32_t calibrate_found_in;

static bool calibrate_measure(struct scratch *scratch, struct dwell_rec_probes *costs)
{
    struct thread *const self = thread_self;
    const struct calibration *const calibration = runtime.recorder->calibration;
    calibrate_make_items(scratch->items);
    calibrate_stand_in(scratch);
    thread_self = &scratch->thread;
    int rounds = 0;
    const bool counts = filter_settings.histograms && calibrate_begin_counting(scratch);
    for (int i = calibration->begin && !calibration->begin(scratch) ? ROUNDS : 0; i < ROUNDS; i++) {
        if (!calibration->round(scratch, rounds))
            continue;
        calibrate_bare_round(scratch, rounds);
        if (filter_is_on())
            calibrate_filtered_round(scratch, rounds);
        scratch->counting[rounds] = counts ? calibrate_counting(scratch) : 0;
        rounds++;
    }
    thread_self = self;
    tree_drop_tables(&scratch->thread);
    duration_rows_drop_tables(&scratch->thread);
    if (rounds < ROUNDS / 2)
        return false;
    const uint32_t loop = calibrate_median(scratch->bare[0], rounds), flat = calibrate_median(scratch->bare[1], rounds),
                   deep = calibrate_median(scratch->bare[2], rounds);
    const uint32_t in_leaf = (uint32_t)saturating_difference(flat, loop),
                   in_between = (uint32_t)saturating_difference(deep, flat);
    *costs = (struct dwell_rec_probes){
        .record.type = DWELL_REC_PROBES,
        .in_callee = (uint32_t)saturating_difference(calibrate_median(scratch->leaf, rounds), in_leaf),
        .in_caller = (uint32_t)saturating_difference(calibrate_median(scratch->loop, rounds), loop),
        .work = deep,
        .rounds = (uint32_t)rounds,
        .ordered = runtime.ordered,
    };
    if (filter_is_on()) {
        filter_settings.hidden_cost = (uint32_t)saturating_difference(calibrate_median(scratch->hidden, rounds), flat);
        filter_settings.short_cost =
            (uint32_t)saturating_difference(calibrate_median(scratch->too_short, rounds), flat);
    }
    duration_counts_cost = calibrate_median(scratch->counting, rounds);
    costs->first_callee = saturating_difference(calibrate_median(scratch->between, rounds),
                                                in_between + costs->in_callee + costs->in_caller);
    return true;
}

static bool calibrate_find(struct dwell_rec_probes *costs)
{
    struct scratch *scratch = sys_memory(sizeof *scratch);
    if (!scratch)
        return false;
    const uint64_t mask = sys_block_signals();
    const bool done = mask != SYS_NOT_BLOCKED && calibrate_measure(scratch, costs);
    sys_restore_signals(mask);
    sys_unmap(scratch, sizeof *scratch);
    return done;
}

void calibrate(void)
{
    if (runtime.clock == DWELL_CLOCK_MONOTONIC)
        return;
    if (!calibrate_found.rounds && !thread_self && calibrate_find(&calibrate_found))
        calibrate_found_in = runtime.process->pid;
    if (calibrate_found.rounds)
        metadata_append(&calibrate_found.record, sizeof calibrate_found, NULL, 0);
}

void calibrate_again(void)
{
    struct dwell_rec_probes costs;
    if (calibrate_found.rounds && calibrate_found_in == runtime.process->pid && calibrate_find(&costs))
        metadata_append(&costs.record, sizeof costs, NULL, 0);
}
