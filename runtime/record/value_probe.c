/*
 * A stub saves the registers as they are at the call instruction. The values are read before the usual probe takes the
 * time, so that this takes none of the function's. They are stored behind it, as the row has the time of the enter.
 * Results are read and stored behind the probe of the exit.
 *
 * The stack above the stack pointer is certain to be there. Other memory is read so that a bad address does not hurt
 * (memory_read.h).
 */
#include "value_probe.h"

#if defined(__x86_64__)

#include <string.h>

#include "call.h"
#include "common.h"
#include "frames_left.h"
#include "keep_calls.h"
#include "main_stack.h"
#include "memory_read.h"
#include "probes.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"
#include "value_plan.h"
#include "value_rows.h"

enum { RSI = 4, RDI = 5, RSP = 7 /* in the order of DWARF */ };

/* What is known about the memory: a part of the stack, and the process. */
struct value_memory {
    uint64_t begin, end;
    uint32_t pid;
};

static bool value_read_memory(void *data, uint64_t address, void *into, size_t size)
{
    const struct value_memory *m = data;
    if (address >= m->begin && address < m->end && size <= m->end - address) {
        memcpy(into, (const void *)address, size);
        return true;
    }
    return memory_read(m->pid, address, into, size);
}

/* A forked child whose first probe this is has not set up its process. */
static struct value_memory value_find_memory(const struct thread *t, uint64_t stack_pointer)
{
    return (struct value_memory){ .begin = stack_pointer,
                                  .end = stack_certain_end(stack_pointer),
                                  .pid = t && t->wiped->alive ? runtime.process->pid : (uint32_t)SYS0(getpid) };
}

/* The bytes that a text may take, so that there is a word for each of the `more` values behind it. */
static uint64_t value_text_room(const struct value_row *row, uint32_t more)
{
    const uint64_t words = UINT8_MAX - row->head.words - 1 - more, room = words * sizeof *row->words;
    const uint64_t wanted = value_plan_text_bytes(row->head.site);
    return room < wanted ? room : wanted;
}

/* Appends the words of a value, which `more` others follow. False if it cannot be read. */
static bool value_read_one(const struct dwell_value_loads *loads, const struct load_state *state, uint32_t more,
                           struct value_row *row)
{
    uint64_t *words = row->words + row->head.words;
    const struct load_program *program = value_plan_program(loads);
    const bool text = load_is_text(program);
    struct load_result result = { .text = (char *)(words + 1), .text_room = text ? value_text_room(row, more) : 0 };
    if (!loads->count)
        return false;
    if (!load_run(program, state, &result))
        return false;
    words[0] = text ? result.text_length | (result.cut ? DWELL_VALUES_CUT : 0) : result.word;
    const uint64_t used = text ? (result.text_length + sizeof *words - 1) / sizeof *words : 0;
    for (uint64_t i = result.text_length; text && i < used * sizeof *words; i++)
        result.text[i] = 0;
    row->head.words = (uint8_t)(row->head.words + 1 + used);
    return true;
}

static void value_read_registers(const struct value_site *site, const struct load_state *state, struct value_row *row)
{
    const uint32_t count = site->registers.count;
    row->head = (struct dwell_values_row){ .site = (uint16_t)site->number,
                                           .words = (uint8_t)count,
                                           .unread = site->registers.unread };
    for (uint32_t i = 0; i < count; i++) {
        const struct value_register *r = &site->registers.list[i];
        const uint64_t left = state->general[r->number] << r->shift;
        row->words[i] = r->is_signed ? (uint64_t)((int64_t)left >> r->shift) : left >> r->shift;
    }
}

static void value_read_all(const struct value_site *site, const struct load_state *state, struct value_row *row)
{
    const struct dwell_value_loads *loads;
    const uint32_t count = value_plan_loads(site->number, &loads);
    row->head = (struct dwell_values_row){ .site = (uint16_t)site->number };
    for (uint32_t i = 0; i < count; i++, loads = value_plan_next(loads))
        if (!value_read_one(loads, state, count - 1 - i, row))
            row->head.unread |= 1u << i;
}

static void value_read(const struct value_site *site, const struct thread *t, struct load_state *state,
                       struct value_row *row)
{
    if (site->registers.all) {
        value_read_registers(site, state, row);
        return;
    }
    struct value_memory memory = value_find_memory(t, state->general[RSP]);
    state->module = site->bias;
    state->read = value_read_memory;
    state->data = &memory;
    value_read_all(site, state, row);
}

/* The innermost open call; NULL if it is not recorded. */
static const struct call *value_open_call(const struct thread *t)
{
    if (!t || !t->wiped->alive || t->pause.active || t->stopped || t->wiped->gate == GATE_QUIET)
        return NULL;
    const struct call *call = thread_call(t, thread_state(t)) - 1;
    return call > (const struct call *)t->shadow && call->kind != CALL_HIDDEN ? call : NULL;
}

__attribute__((used)) static void value_enter(struct load_state *state, uint64_t probe_return)
{
    const uint64_t function = state->general[RDI], stack_pointer = state->general[RSP] - sizeof(void *);
    const struct value_site *site = value_plan_find(probe_return);
    struct thread *t = thread_self;
    struct value_row row;
    if (site && t && t->wiped->gate == GATE_QUIET)
        site = NULL; /* paused */
    if (site)
        value_read(site, t, state, &row);
    probe_enter_from(function, stack_pointer, state->general[RSI], probe_return);
    const struct call *call = site ? value_open_call(t = thread_self) : NULL;
    if (!call || call->function != function || call->stack_pointer != stack_pointer)
        return;
    row.head.time = call->enter_time;
    value_rows_append(t, &row);
}

/* The usual probe comes first, so that reading takes none of the function's time. Its frame still stands. */
__attribute__((used)) static void value_exit(struct load_state *state, uint64_t probe_return)
{
    const uint64_t function = state->general[RDI], stack_pointer = state->general[RSP] - sizeof(void *);
    const bool tail_call = probe_return == state->general[RSI];
    const struct value_site *site = value_plan_find(probe_return);
    struct thread *t = thread_self;
    const struct call *call = site ? value_open_call(t) : NULL;
    struct value_row row;
    const bool ends = call && call_exits(call, function, stack_pointer, tail_call);
    const uint64_t enter_time = ends ? call->enter_time : 0;
    if (UNLIKELY(keep_settings.on))
        upward.watched_exit(&(struct frame_exit){ function, stack_pointer, state->general[RSI], tail_call });
    else
        probe_exit_at(function, stack_pointer, tail_call);
    if (!ends || thread_self != t || !t->wiped->alive || t->stopped)
        return;
    value_read(site, t, state, &row);
    row.head.time = enter_time;
    value_rows_append(t, &row);
}

_Static_assert(offsetof(struct load_state, vectors) == 128, "the stub's offsets");
_Static_assert(sizeof(struct load_state) <= 288, "the stub's offsets");

/* At its first instruction, the stack has the return address, and rsp was 8 more at the call instruction. The frame is
 * 296 bytes: with the return address a multiple of 16. */
#define VALUE_STUB(name, probe)                                                                                        \
    __asm__(".pushsection .text\n"                                                                                     \
            ".type " name ", @function\n"                                                                              \
            "" name ":\n"                                                                                              \
            ".cfi_startproc\n"                                                                                         \
            "endbr64\n"                                                                                                \
            "leaq -296(%rsp), %rsp\n"                                                                                  \
            ".cfi_adjust_cfa_offset 296\n"                                                                             \
            "movq %rax, (%rsp)\n"                                                                                      \
            "movq %rdx, 8(%rsp)\n"                                                                                     \
            "movq %rcx, 16(%rsp)\n"                                                                                    \
            "movq %rbx, 24(%rsp)\n"                                                                                    \
            ".cfi_offset %rbx, -280\n"                                                                                 \
            "movq %rsi, 32(%rsp)\n"                                                                                    \
            "movq %rdi, 40(%rsp)\n"                                                                                    \
            "movq %rbp, 48(%rsp)\n"                                                                                    \
            "leaq 304(%rsp), %rax\n"                                                                                   \
            "movq %rax, 56(%rsp)\n"                                                                                    \
            "movq %r8, 64(%rsp)\n"                                                                                     \
            "movq %r9, 72(%rsp)\n"                                                                                     \
            "movq %r10, 80(%rsp)\n"                                                                                    \
            "movq %r11, 88(%rsp)\n"                                                                                    \
            "movq %r12, 96(%rsp)\n"                                                                                    \
            "movq %r13, 104(%rsp)\n"                                                                                   \
            "movq %r14, 112(%rsp)\n"                                                                                   \
            "movq %r15, 120(%rsp)\n"                                                                                   \
            "cmpb $0, value_plan_has_vectors(%rip)\n"                                                                  \
            "je 1f\n"                                                                                                  \
            "movq %xmm0, 128(%rsp)\n"                                                                                  \
            "movq %xmm1, 136(%rsp)\n"                                                                                  \
            "movq %xmm2, 144(%rsp)\n"                                                                                  \
            "movq %xmm3, 152(%rsp)\n"                                                                                  \
            "movq %xmm4, 160(%rsp)\n"                                                                                  \
            "movq %xmm5, 168(%rsp)\n"                                                                                  \
            "movq %xmm6, 176(%rsp)\n"                                                                                  \
            "movq %xmm7, 184(%rsp)\n"                                                                                  \
            "movq %xmm8, 192(%rsp)\n"                                                                                  \
            "movq %xmm9, 200(%rsp)\n"                                                                                  \
            "movq %xmm10, 208(%rsp)\n"                                                                                 \
            "movq %xmm11, 216(%rsp)\n"                                                                                 \
            "movq %xmm12, 224(%rsp)\n"                                                                                 \
            "movq %xmm13, 232(%rsp)\n"                                                                                 \
            "movq %xmm14, 240(%rsp)\n"                                                                                 \
            "movq %xmm15, 248(%rsp)\n"                                                                                 \
            "1:\n"                                                                                                     \
            "movq 296(%rsp), %rsi\n"                                                                                   \
            "movq %rsp, %rdi\n"                                                                                        \
            "movq %rsp, %rbx\n"                                                                                        \
            ".cfi_def_cfa_register %rbx\n"                                                                             \
            "andq $-16, %rsp\n" /* code may keep its stack at multiples of 8 only */                                   \
            "call " probe "\n"                                                                                         \
            "movq %rbx, %rsp\n"                                                                                        \
            ".cfi_def_cfa_register %rsp\n"                                                                             \
            "movq 24(%rsp), %rbx\n"                                                                                    \
            ".cfi_restore %rbx\n"                                                                                      \
            "leaq 296(%rsp), %rsp\n"                                                                                   \
            ".cfi_adjust_cfa_offset -296\n"                                                                            \
            "ret\n"                                                                                                    \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", . - " name "\n"                                                                           \
            ".popsection\n")

VALUE_STUB("value_enter_stub", "value_enter");
VALUE_STUB("value_exit_stub", "value_exit");

extern const char value_enter_stub[] __attribute__((visibility("hidden")));
extern const char value_exit_stub[] __attribute__((visibility("hidden")));

struct value_probes value_probes(void)
{
    return (struct value_probes){ (uint64_t)value_enter_stub, (uint64_t)value_exit_stub };
}

#else

struct value_probes value_probes(void)
{
    return (struct value_probes){ 0, 0 };
}

#endif
