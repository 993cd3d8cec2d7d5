/* Plays events to filtered.c with a clock and OS events of the script's own. */
#include "unit/runtime/filtered_script.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"
#include "frames_left.h"
#include "gate.h"
#include "pause.h"
#include "sites.h"
#include "slow.h"
#include "thread_chunks.h"
#include "unit/runtime/runtime_block.h"

static uint64_t script_now;

/* filtered.c and extensions.c are compiled to call it instead of clock_monotonic. */
uint64_t script_clock(void);
uint64_t script_clock(void)
{
    return script_now;
}

static struct os_events script_events;
static uint64_t script_word; /* instead of a source of OS events */

static void script_put_off_cpu(struct extensions *e, enum dwell_extension type, uint64_t begin, uint64_t length)
{
    extensions_put_head(e, type, 6);
    extensions_put_number(e, begin, 3);
    extensions_put_number(e, length, 3);
}

static void script_set_os_events(const struct script_event *event)
{
    struct extensions e = { script_events.words, 0 };
    const uint64_t off_cpu = event->blocked + (uint64_t)event->preempted, begin = event->time - off_cpu;
    if (event->blocked)
        script_put_off_cpu(&e, DWELL_EXT_BLOCKED, begin, event->blocked);
    if (event->preempted)
        script_put_off_cpu(&e, DWELL_EXT_PREEMPTED, begin + event->blocked, event->preempted);
    if (event->faults) {
        extensions_put_head(&e, DWELL_EXT_FAULTS, 1);
        extensions_put(&e, (uint16_t)event->faults);
    }
    if (e.length == 0)
        extensions_put_head(&e, DWELL_EXT_OS, 0);
    script_events.length = e.length;
    script_events.flagged = true;
    script_word += event->os;
}

uint64_t os_read(const struct thread *t, struct os_events *e)
{
    (void)t;
    *e = script_events;
    return script_word;
}

uint64_t os_read_until(const struct thread *t, uint64_t time, struct os_events *e)
{
    (void)time;
    return os_read(t, e);
}

bool os_commit(struct thread *t, uint64_t head, const struct os_events *events)
{
    (void)events;
    t->os.seen = head;
    return true;
}

bool os_intervened(struct thread *t)
{
    return *t->os.word != t->os.seen;
}

/* ---- what the script does not need of the others ---- */

const struct calibration calibration_of_events;

void os_skip(struct thread *t, uint64_t time)
{
    (void)t, (void)time;
}

void os_forget_own(struct thread *t)
{
    (void)t;
}

int64_t frames_left_before(const struct thread *t, uint64_t state, const struct event *event)
{
    (void)t, (void)state, (void)event;
    return 0;
}

bool thread_grow_stack(struct thread *t)
{
    (void)t;
    return true;
}

uint64_t sites_of_event(const struct call *caller, const struct event *event)
{
    (void)caller, (void)event;
    return 0;
}

bool sites_are_recorded(void)
{
    return false;
}

static _Noreturn void script_fail(void)
{
    abort(); /* the script's chunk has room for all events, and the probes are not called */
}

struct own_moment own_now(const struct thread *t)
{
    (void)t;
    return (struct own_moment){ .time = 0 }; /* it is not measured */
}

struct own_moment own_of_event(const struct thread *t, uint64_t time)
{
    (void)t, (void)time;
    script_fail();
}

void thread_next_chunk(struct thread *t, uint32_t bytes)
{
    (void)t, (void)bytes;
    script_fail();
}

void thread_stop_for(struct thread *t, enum dwell_trouble trouble)
{
    (void)t, (void)trouble;
    script_fail();
}

void slow_count_lost(void)
{
    script_fail();
}

void slow_enter(uint64_t function, uint64_t stack_pointer, uint64_t frame_id)
{
    (void)function, (void)stack_pointer, (void)frame_id;
    script_fail();
}

void slow_enter_from(uint64_t function, uint64_t stack_pointer, uint64_t frame_return, uint64_t probe_return)
{
    (void)function, (void)stack_pointer, (void)frame_return, (void)probe_return;
    script_fail();
}

void slow_exit(uint64_t function, uint64_t stack_pointer, bool tail_call)
{
    (void)function, (void)stack_pointer, (void)tail_call;
    script_fail();
}

struct control_event pause_resume_event(const struct thread *t, uint64_t time, uint16_t words[PAUSE_RESUME_WORDS])
{
    (void)t, (void)time, (void)words;
    script_fail();
}

bool pause_resume_fits(const struct thread *t, const struct control_event *resume)
{
    (void)t, (void)resume;
    script_fail();
}

size_t filtered_script_play(const struct script_filters *filters, const struct script_event *events, size_t count,
                            uint64_t start, uint16_t *words, size_t room)
{
    struct thread *t = runtime_block();
    struct {
        struct dwell_filters head;
        struct dwell_filter_module module;
        char id[8];
        struct dwell_filter functions[SCRIPT_FUNCTIONS];
    } file = {
        .head = { .chunk = { .kind = DWELL_CHUNK_FILTERS, .magic = DWELL_CHUNK_MAGIC, .size = PAGE },
                  .modules = 1,
                  .depth = filters->depth,
                  .shortest = filters->shortest,
                  .shortest_in = { filters->shortest_in[0], filters->shortest_in[1] } },
        .module = { 16 + 8 + sizeof file.functions, SCRIPT_FUNCTIONS, 2, 0 },
        .id = "id",
    };
    for (uint32_t i = 0; i < SCRIPT_FUNCTIONS; i++) {
        file.functions[i] = (struct dwell_filter){ (i + 1) * SCRIPT_FUNCTION, filters->actions[i], 0 };
        file.head.actions |= filters->actions[i];
    }
    const int fd = runtime_filters(&file, sizeof file);
    if (!filter_begin(fd))
        abort();
    close(fd);
    filter_use_modules(&(struct filter_use){ 0, 1 }, 1);

    static struct dwell_chunk_header chunk;
    runtime.recorder = &filtered_recorder;
    runtime.clock = DWELL_CLOCK_MONOTONIC;
    t->base = (char *)words;
    t->chunks.current = &chunk;
    t->chunks.end = (uint32_t)(room * sizeof *words);
    t->last = start;
    t->os.word = &script_word;
    script_word = t->os.seen = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t depth = thread_calls(t->state) + (uint64_t)events[i].enter;
        const struct event event = { .function = events[i].function,
                                     .stack_pointer = UINT32_MAX - depth * 64,
                                     .enter = events[i].enter,
                                     .flagged = events[i].flagged };
        struct attempt attempt = { .event = &event };
        script_now = events[i].time;
        script_set_os_events(&events[i]);
        filtered_recorder.record(t, &attempt);
    }
    return (uint32_t)t->state / sizeof *words;
}
