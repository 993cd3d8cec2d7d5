/*
 * A stub saves the registers as they are at the call instruction. The values are read before the usual probe takes the
 * time, so that this takes none of the function's. They are stored behind it, as the row has the time of the enter.
 * Results are read and stored behind the probe of the exit.
 *
 * The stack above the stack pointer is certain to be there. Other memory is read so that a bad address does not hurt
 * (memory_read.h).
 */
#include "value_probe.h"

#include <string.h>

#include "call.h"
#include "common.h"
#include "frames_left.h"
#include "keep_calls.h"
#include "main_stack.h"
#include "memory_read.h"
#include "os_cpu.h"
#include "probe_steps.h"
#include "probes.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"
#include "value_plan.h"
#include "value_rows.h"
#include "value_store.h"
#include "value_stubs.h"
#include "value_sums.h"

#define VALUE_SELDOM __attribute__((noinline))

/* The stack above the stack pointer is certain to be there, up to some place. */
static bool value_is_on_stack(const struct load_state *state, uint64_t address, uint64_t size)
{
    const uint64_t begin = state->general[LOAD_STACK], room = stack_certain_end(begin) - begin, at = address - begin;
    return at < room && size <= room - at;
}

/* A forked child whose first probe this is has not set up its process. */
static bool value_read_memory(void *data, uint64_t address, void *into, size_t size)
{
    const struct load_state *state = data;
    const struct thread *t = thread_self;
    if (!memory_is_known(address) && value_is_on_stack(state, address, size)) {
        memcpy(into, (const void *)address, size);
        memory_note(address, size);
        return true;
    }
    return memory_read(t && t->wiped->alive ? runtime.process->pid : (uint32_t)SYS0(getpid), address, into, size);
}

static VALUE_SELDOM struct memory_word value_read_new_word(const struct load_state *state, uint64_t address,
                                                           uint32_t bytes)
{
    struct memory_word read = { 0, 0 };
    read.good = value_read_memory((void *)state, address, &read.word, bytes);
    return read;
}

/* The word has `bytes` bytes of that address, at most eight, and maybe others above them. */
static ALWAYS_INLINE struct memory_word value_read_word(const struct load_state *state, uint64_t address,
                                                        uint32_t bytes)
{
    struct memory_word read = { 0, 0 };
    if (LIKELY(address % PAGE <= PAGE - sizeof read.word && memory_is_known(address)))
        read = memory_load(address);
    return LIKELY(read.good) ? read : value_read_new_word(state, address, bytes);
}

/* ---- texts ---- */

/* The bytes that a text may take behind `count` words, so that there is a word for each of the `more` values. */
static uint64_t value_text_room(const struct value_reads *reads, uint64_t count, uint64_t more)
{
    const uint64_t room = (UINT8_MAX - count - 1 - more) * sizeof(uint64_t);
    return room < reads->text_bytes ? room : reads->text_bytes;
}

/* The number of words of a text whose bytes are behind the first one already. */
static uint64_t value_end_text(uint64_t *words, uint64_t length, bool cut)
{
    const uint64_t rest = length % 8, used = length / 8 + (rest > 0);
    words[0] = length | (cut ? DWELL_VALUES_CUT : 0);
    if (rest)
        words[used] &= (1ull << 8 * rest) - 1;
    return 1 + used;
}

/* Reads on behind the first `length` bytes. Returns the number of words; zero if it cannot be read. */
static VALUE_SELDOM uint64_t value_read_more_text(const struct load_state *state, uint64_t address, uint64_t room,
                                                  uint64_t *words, uint64_t length)
{
    struct load_result text = { .text = (char *)(words + 1), .text_room = room, .text_length = length };
    return load_text(state, address, &text) ? value_end_text(words, text.text_length, text.cut) : 0;
}

/* Whole blocks are read first, within a page. */
static uint64_t value_read_text(const struct load_state *state, uint64_t address, uint64_t room, uint64_t *words)
{
    const uint64_t page = PAGE - address % PAGE, blocks = smaller_of(room, page) / 16;
    struct memory_text begin = { 0, 0 };
    if (LIKELY(blocks && memory_is_known(address)))
        begin = memory_copy_text(words + 1, address, blocks);
    return LIKELY(begin.found) ? value_end_text(words, begin.length, false)
                               : value_read_more_text(state, address, room, words, begin.length);
}

/* Reads a text of a known length anew, page by page. */
static VALUE_SELDOM uint64_t value_read_pages(const struct load_state *state, uint64_t address, uint64_t length,
                                              uint64_t room, uint64_t *words)
{
    struct load_result text = { .text = (char *)(words + 1), .text_room = room };
    return load_counted_text(state, address, length, &text) ? value_end_text(words, text.text_length, text.cut) : 0;
}

static uint64_t value_read_counted(const struct load_state *state, uint64_t address, uint64_t length, uint64_t room,
                                   uint64_t *words)
{
    const uint64_t kept = smaller_of(length, room), last = address + kept - 1;
    if (LIKELY(kept && memory_is_known(address) && (last / PAGE == address / PAGE || memory_is_known(last)) &&
               memory_copy(words + 1, address, kept)))
        return value_end_text(words, kept, length > room);
    return value_read_pages(state, address, length, room, words);
}

/* ---- rows ---- */

static ALWAYS_INLINE struct memory_word value_read_cpu(void)
{
    const int32_t number = os_cpu_number();
    return (struct memory_word){ (uint64_t)number, number >= 0 };
}

/* The word of a source, before it is extended. */
static ALWAYS_INLINE struct memory_word value_read_source(const struct value_source *source,
                                                          const struct load_state *state)
{
    if (UNLIKELY(source->is_cpu))
        return value_read_cpu();
    struct memory_word read = { state->general[source->number], 1 };
    const int32_t *add = source->add;
    for (uint32_t left = source->loads; left && read.good; left--)
        read = value_read_word(state, read.word + (uint64_t)*add++, left == 1 ? source->bytes : sizeof read.word);
    return read;
}

/* The number of words of a text; zero if it cannot be read. */
static uint64_t value_read_text_of(const struct value_reads *reads, const struct value_source *source,
                                   const struct load_state *state, uint64_t word, uint64_t room, uint64_t *words)
{
    const uint64_t address = word + (uint64_t)source->add[source->loads];
    if (!source->is_counted)
        return value_read_text(state, address, room, words);
    const struct memory_word length = value_read_source(&reads->lengths[source - reads->list], state);
    return LIKELY(length.good) ? value_read_counted(state, address, length.word, room, words) : 0;
}

/* The words of all values. Returns the row's first word. `unread` has 64 bits, as its spare half would be loaded with
 * what was stored before. */
static uint64_t value_read_sources(const struct value_reads *reads, const struct load_state *state, uint64_t *words)
{
    const struct value_source *source = reads->list, *const end = source + reads->count;
    uint64_t unread = reads->unread, *at = words;
    for (; source < end; source++) {
        const struct memory_word read = value_read_source(source, state);
        uint64_t count = read.good;
        if (!source->is_text)
            *at = value_source_extend(source, read.word);
        else if (LIKELY(count))
            count =
                value_read_text_of(reads, source, state, read.word,
                                   value_text_room(reads, (uint64_t)(at - words), (uint64_t)(end - source - 1)), at);
        if (UNLIKELY(!count))
            unread |= 1ull << source->value;
        at += count;
    }
    return value_row_first(reads->site, (uint64_t)(at - words), unread);
}

/* The number of words of a value; zero if it cannot be read. */
static uint64_t value_run_program(const struct load_program *program, const struct load_state *state, uint64_t room,
                                  uint64_t *words)
{
    struct load_result result = { .text = (char *)(words + 1), .text_room = room };
    if (!program->count || !load_run(program, state, &result))
        return 0;
    if (load_is_text(program))
        return value_end_text(words, result.text_length, result.cut);
    words[0] = result.word;
    return 1;
}

static VALUE_SELDOM uint64_t value_run_programs(const struct value_reads *reads, const struct load_state *state,
                                                uint64_t *words)
{
    const struct dwell_value_loads *loads;
    const uint32_t values = value_plan_loads(reads->site, &loads);
    uint64_t count = 0, unread = 0;
    for (uint32_t i = 0; i < values; i++, loads = value_plan_next(loads)) {
        const uint64_t more = value_run_program(value_plan_program(loads), state,
                                                value_text_room(reads, count, values - 1 - i), words + count);
        if (!more)
            unread |= 1ull << i;
        count += more;
    }
    return value_row_first(reads->site, count, unread);
}

static void value_read(const struct value_reads *reads, uint64_t probe_return, struct load_state *state,
                       struct value_row *row)
{
    state->read = value_read_memory;
    state->data = state;
    if (LIKELY(!reads->by_programs)) {
        row->first = value_read_sources(reads, state, row->words);
        return;
    }
    state->cpu = os_cpu_number;
    state->module = __atomic_load_n(&value_plan_find(probe_return)->bias, __ATOMIC_RELAXED);
    row->first = value_run_programs(reads, state, row->words);
}

/* ---- storing rows ---- */

static VALUE_SELDOM void value_append_again(struct thread *t, const struct value_reads *reads, struct load_state *state,
                                            uint64_t time)
{
    struct value_row row;
    value_read(reads, 0, state, &row); /* no program is run */
    row.time = time;
    value_rows_append(t, &row);
}

/* Stores the row of a call whose event has just been recorded, with values in registers. */
static ALWAYS_INLINE void value_store_registers(struct thread *t, const struct value_reads *reads,
                                                struct load_state *state, uint64_t time)
{
    const uint64_t first = value_row_first(reads->site, reads->count, reads->unread);
    const struct value_place place = value_store_begin(t, first, time);
    for (uint32_t i = 0; LIKELY(place.at != NULL) && i < reads->count; i++)
        value_rows_store_word(place.at, i, value_source_extend(&reads->list[i], state->general[reads->list[i].number]));
    if (UNLIKELY(!value_store_end(t, &place)))
        value_append_again(t, reads, state, time);
}

/* ---- events of all kinds ---- */

/* What a probe was called with, and what is read at its site; NULL if nothing is. */
#define VALUE_PARAMETERS                                                                                               \
    uint64_t function, uint64_t frame_return, uint64_t probe_return, struct load_state *state,                         \
        const struct value_reads *reads
#define VALUE_ARGUMENTS function, frame_return, probe_return, state, reads

static ALWAYS_INLINE uint64_t value_stack_pointer(const struct load_state *state)
{
    return (uint64_t)state + VALUE_STUB_FRAME;
}

/* The innermost open call; NULL if it is not recorded. */
static const struct call *value_open_call(const struct thread *t)
{
    if (!t || !t->wiped->alive || t->pause.active || t->stopped || t->wiped->gate == GATE_QUIET)
        return NULL;
    const struct call *call = thread_call(t, thread_state(t)) - 1;
    return call > (const struct call *)t->shadow && call->kind != CALL_HIDDEN ? call : NULL;
}

/* The call's enter by the steps of the usual probe; NULL if they are not enough. */
static ALWAYS_INLINE const struct call *value_enter_usually(struct thread *t, uint64_t function, uint64_t stack_pointer,
                                                            uint64_t frame_id)
{
    const struct steps_start start = steps_start(t);
    const bool done = steps_enter_has_room(STEPS_TIMED, t, start.state) &&
                      steps_enter(STEPS_TIMED, t, start, function, stack_pointer, frame_id, (struct origin){ 0, 0 });
    return LIKELY(done) ? thread_call(t, start.state) : NULL;
}

/* The innermost call after its enter by the usual probe; NULL if it is not recorded. */
static VALUE_SELDOM const struct call *value_enter_by_probe(uint64_t function, uint64_t stack_pointer,
                                                            uint64_t frame_return, uint64_t probe_return)
{
    probe_enter_from(function, stack_pointer, frame_return, probe_return);
    const struct call *call = value_open_call(thread_self);
    return call && call->function == function && call->stack_pointer == stack_pointer ? call : NULL;
}

static VALUE_SELDOM void value_enter_any(VALUE_PARAMETERS)
{
    const uint64_t stack_pointer = value_stack_pointer(state);
    struct thread *t = thread_self;
    const struct call *call = NULL;
    struct value_row row;
    if (UNLIKELY(t && t->wiped->gate == GATE_QUIET))
        reads = NULL; /* paused */
    if (LIKELY(reads != NULL))
        value_read(reads, probe_return, state, &row);
    if (LIKELY(t != NULL))
        call = value_enter_usually(t, function, stack_pointer, frame_id_of(frame_return, probe_return));
    if (UNLIKELY(!call)) {
        call = value_enter_by_probe(function, stack_pointer, frame_return, probe_return);
        t = thread_self;
    }
    if (UNLIKELY(!reads || !call || !t->wiped->alive))
        return;
    if (runtime.mode == DWELL_MODE_PROFILE) {
        value_sums_enter(t, &row);
        return;
    }
    row.time = call->enter_time;
    value_store_row(t, &row);
}

/* The usual probe comes first, so that reading takes none of the function's time. Its frame still stands. */
static VALUE_SELDOM void value_exit_any(VALUE_PARAMETERS)
{
    const uint64_t stack_pointer = value_stack_pointer(state);
    const bool tail_call = probe_return == frame_return;
    struct thread *t = thread_self;
    const struct call *call = reads ? value_open_call(t) : NULL;
    const bool ends = call && call_exits(call, function, stack_pointer, tail_call);
    const uint64_t enter_time = ends ? call->enter_time : 0;
    if (UNLIKELY(keep_settings.on))
        upward.watched_exit(&(struct frame_exit){ function, stack_pointer, frame_return, tail_call });
    else
        probe_exit_at(function, stack_pointer, tail_call);
    if (!ends || thread_self != t || !t->wiped->alive || t->stopped)
        return;
    struct value_row row;
    value_read(reads, probe_return, state, &row);
    row.time = enter_time;
    value_store_row(t, &row);
}

/* ---- usual events with values in registers ---- */

static VALUE_SELDOM void value_enter_registers(VALUE_PARAMETERS)
{
    struct thread *t = thread_self;
    const struct call *call = NULL;
    if (LIKELY(t != NULL))
        call = value_enter_usually(t, function, value_stack_pointer(state), frame_id_of(frame_return, probe_return));
    if (UNLIKELY(!call))
        value_enter_any(VALUE_ARGUMENTS);
    else if (LIKELY(t->wiped->alive))
        value_store_registers(t, reads, state, call->enter_time);
}

static VALUE_SELDOM void value_exit_registers(VALUE_PARAMETERS)
{
    const bool tail_call = probe_return == frame_return;
    struct thread *t = thread_self;
    const struct steps_start start = t ? steps_start(t) : (struct steps_start){ 0, NULL, NULL };
    if (LIKELY(t && !keep_settings.on && steps_exit_has_room(STEPS_TIMED, t, start.state))) {
        const uint64_t enter_time = thread_call(t, start.state)[-1].enter_time;
        if (LIKELY(steps_exit(STEPS_TIMED, t, start, function, value_stack_pointer(state), tail_call, NULL))) {
            if (LIKELY(t->wiped->alive))
                value_store_registers(t, reads, state, enter_time);
            return;
        }
    }
    value_exit_any(VALUE_ARGUMENTS);
}

/* ---- from the stubs ---- */

/* What is read at a site; NULL if it is not known, or needs registers that its stub has not saved, as it has come since
 * then. */
static ALWAYS_INLINE const struct value_reads *value_reads_at(uint64_t probe_return, uint32_t saved)
{
    const struct value_site *site = value_plan_find(probe_return);
    const struct value_reads *reads = LIKELY(site != NULL) ? value_plan_reads(site) : NULL;
    return UNLIKELY(reads && reads->saves & ~saved) ? NULL : reads;
}

__attribute__((used)) void value_enter(uint64_t function, uint64_t frame_return, uint64_t probe_return,
                                       struct load_state *state, uint32_t saved)
{
    const struct value_reads *reads = value_reads_at(probe_return, saved);
    if (LIKELY(reads && reads->in_registers))
        value_enter_registers(VALUE_ARGUMENTS);
    else
        value_enter_any(VALUE_ARGUMENTS);
}

__attribute__((used)) void value_exit(uint64_t function, uint64_t frame_return, uint64_t probe_return,
                                      struct load_state *state, uint32_t saved)
{
    const struct value_reads *reads = value_reads_at(probe_return, saved);
    if (LIKELY(reads && reads->in_registers))
        value_exit_registers(VALUE_ARGUMENTS);
    else
        value_exit_any(VALUE_ARGUMENTS);
}
