/* Reads one function's code on x86-64. It is decoded once, from its start to its end. What matters for the values of
 * registers becomes a list of instructions, and then, as all targets of jumps are known, of events. */
#if defined(__x86_64__)

#include <string.h>

#include "common.h"
#include "levels/flow_x86.h"
#include "levels/x86_quick.h"

enum { MAX_RANGE = 1 << 22, WORD_BITS = 64 };

static void flow_mark(uint64_t *bits, uint64_t offset)
{
    bits[offset / WORD_BITS] |= 1ull << offset % WORD_BITS;
}

/* The number of bits that are set. Not all processors have an instruction for it. */
static uint32_t flow_count(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(bits * 0x0101010101010101 >> 56);
}

uint32_t flow_target(const struct flow *f, uint64_t offset)
{
    const uint64_t below = f->targets[offset / WORD_BITS] & ((1ull << offset % WORD_BITS) - 1);
    return f->ranks[offset / WORD_BITS] + flow_count(below);
}

/* ---- sites ---- */

int flow_hook(const struct flow *f, const struct x86_insn *insn)
{
    if (insn->kind == X86_CALL || insn->kind == X86_JUMP)
        return flow_is_inside(f, insn->value) ? HOOK_NONE : hook_places_of_target(f->places, insn->value);
    if (insn->kind == X86_CALL_SLOT || insn->kind == X86_JUMP_SLOT)
        return hook_places_of_slot(f->places, insn->value);
    return HOOK_NONE;
}

bool flow_loads_enter(const struct flow *f, const struct x86_insn *insn)
{
    return insn->kind == X86_LOAD && hook_places_of_slot(f->places, insn->value) == HOOK_ENTER;
}

/* A jump through a slot may be a stub of the linker: it stays only if it has a function (flow_drop_sites). */
bool flow_add_site(struct flow *f, uint64_t address, const struct x86_insn *insn)
{
    const int hook = flow_hook(f, insn);
    if (hook == HOOK_NONE)
        return true;
    struct call_site site = {
        .address = address,
        .length = insn->length,
        .hook = (uint8_t)hook,
        .jump = insn->kind == X86_JUMP || insn->kind == X86_JUMP_SLOT,
    };
    if (insn->kind != X86_JUMP_SLOT && !flow_is_usual(&site)) {
        f->sites->more_enters |= hook == HOOK_ENTER;
        return true;
    }
    memcpy(site.original, (const void *)address, smaller_of(insn->length, MAX_CALL_BYTES));
    return call_sites_add(f->sites, &site);
}

/* ---- instructions ---- */

/* What the loader has made constant stays as it is. */
static uint64_t flow_load(const struct flow *f, uint64_t address)
{
    if (address < f->places->constant_begin || address + 8 > f->places->constant_end)
        return 0;
    call_sites_note_load(f->sites, f->places, address);
    return *(const volatile uint64_t *)address;
}

static uint64_t flow_constant(const struct flow *f, const struct x86_insn *insn)
{
    return insn->kind == X86_CONSTANT ? insn->value : insn->kind == X86_LOAD ? flow_load(f, insn->value) : 0;
}

/* What compilers put between an end and the next target: int3, and no-operations with any prefixes. */
static bool flow_is_padding(uint64_t address, const struct x86_insn *insn)
{
    const uint8_t *at = (const uint8_t *)address, *end = at + insn->length;
    while (at + 1 < end && (*at == 0x66 || *at == 0x2e))
        at++;
    return *at == 0x90 || *at == 0xcc || (*at == 0x0f && at + 1 < end && at[1] == 0x1f);
}

static struct flow_insn *flow_add(struct flow *f, uint64_t address, enum flow_kind kind)
{
    struct flow_insn *insn = &f->insns[f->insn_count++];
    *insn = (struct flow_insn){ .offset = (uint32_t)(address - f->range->begin), .kind = (uint8_t)kind };
    return insn;
}

static void flow_add_jump(struct flow *f, uint64_t address, const struct x86_insn *insn, enum flow_kind kind)
{
    struct flow_insn *jump = flow_add(f, address, kind);
    jump->value = insn->value - f->range->begin;
    jump->writes = insn->writes;
    flow_mark(f->targets, jump->value);
}

static void flow_add_stack_insn(struct flow *f, uint64_t address, const struct x86_insn *insn,
                                const struct x86_stack_insn *stack)
{
    static const uint8_t kinds[] = { [STACK_MOVES] = FLOW_MOVE,
                                     [STACK_LEAVES] = FLOW_LEAVE,
                                     [STACK_SPILL] = FLOW_SPILL,
                                     [STACK_STORE] = FLOW_STORE,
                                     [STACK_FILL] = FLOW_FILL };
    struct flow_insn *made = flow_add(f, address, (enum flow_kind)kinds[stack->kind]);
    const bool fills = stack->kind == STACK_FILL;
    made->value = (uint64_t)stack->value;
    made->displacement = stack->displacement;
    made->writes = insn->writes;
    made->registers = (uint8_t)(fills ? stack->reg | stack->base << 4 : stack->base | stack->reg << 4);
    f->fills |= fills;
}

/* Adds an instruction that is no site. A call of a probe returns. */
static void flow_add_insn(struct flow *f, uint64_t address, const struct x86_insn *insn, bool site)
{
    const uint64_t constant = flow_constant(f, insn);
    const bool inside = flow_is_inside(f, insn->value);
    switch (insn->kind) {
    case X86_CALL:
    case X86_CALL_SLOT:
    case X86_CALL_ANY:
        flow_add(f, address, FLOW_CALL)->value = site;
        break;
    case X86_JUMP:
        if (inside)
            flow_add_jump(f, address, insn, FLOW_JUMP);
        else
            flow_add(f, address, FLOW_END);
        break;
    case X86_BRANCH:
        if (inside)
            flow_add_jump(f, address, insn, FLOW_BRANCH);
        else if (insn->writes)
            flow_add(f, address, FLOW_WRITES)->writes = insn->writes;
        break;
    case X86_JUMP_SLOT:
    case X86_JUMP_ANY:
        flow_add(f, address, FLOW_JUMP_ANY);
        break;
    case X86_END:
        flow_add(f, address, FLOW_END);
        break;
    case X86_COPY:
        flow_add(f, address, FLOW_COPY)->registers = (uint8_t)(insn->to | insn->from << 4);
        break;
    default:
        if (constant) {
            struct flow_insn *set = flow_add(f, address, FLOW_CONSTANT);
            set->registers = insn->to;
            set->value = constant;
        } else if (insn->writes) {
            flow_add(f, address, FLOW_WRITES)->writes = insn->writes;
        }
        break;
    }
}

static bool flow_ends(enum x86_kind kind)
{
    return kind == X86_JUMP || kind == X86_JUMP_SLOT || kind == X86_JUMP_ANY || kind == X86_END;
}

/* Adds an instruction that is more than a change of registers. `stack`: what it does there, or NULL. `ended`: the one
 * before it was an end. */
static enum flow_result flow_read_insn(struct flow *f, uint64_t at, const struct x86_insn *insn,
                                       const struct x86_stack_insn *stack, bool *ended)
{
    const uint32_t sites = f->sites->count;
    if (*ended && !flow_is_padding(at, insn)) {
        flow_add(f, at, FLOW_RESUME);
        *ended = false;
    }
    if (!flow_add_site(f, at, insn))
        return FLOW_NO_MEMORY;
    if (f->sites->count > sites)
        flow_add(f, at, FLOW_SITE)->value = sites;
    f->sites->more_enters |= flow_loads_enter(f, insn);
    if (stack)
        flow_add_stack_insn(f, at, insn, stack);
    else
        flow_add_insn(f, at, insn, f->sites->count > sites);
    f->indirect |= insn->kind == X86_JUMP_ANY || insn->kind == X86_JUMP_SLOT;
    *ended |= flow_ends(insn->kind);
    return FLOW_READ;
}

static enum flow_result flow_read_insns(struct flow *f)
{
    bool ended = false;
    struct x86_insn insn;
    struct x86_stack_insn stack;
    for (uint64_t at = f->range->begin; at < f->range->end; at += insn.length) {
        const bool quick = f->range->end - at >= X86_MAX_LENGTH && x86_decode_quickly((const uint8_t *)at, at, &insn);
        if (!quick && !x86_decode_slowly((const uint8_t *)at, f->range->end - at, at, &insn))
            return FLOW_UNREADABLE;
        const bool on_stack = (insn.writes >> X86_RSP & 1 || x86_stack_may_be((const uint8_t *)at)) &&
                              x86_stack_decode((const uint8_t *)at, &insn, &stack);
        flow_mark(f->starts, at - f->range->begin);
        if (LIKELY(insn.kind == X86_OTHER && !ended && !on_stack)) {
            f->insns[f->insn_count] =
                (struct flow_insn){ .offset = (uint32_t)(at - f->range->begin), .writes = insn.writes };
            f->insn_count += insn.writes != 0;
        } else if (flow_read_insn(f, at, &insn, on_stack ? &stack : NULL, &ended) != FLOW_READ) {
            return FLOW_NO_MEMORY;
        }
    }
    return FLOW_READ;
}

/* Exceptions continue at a handler with values of any call. */
static void flow_add_handler(void *data, uint64_t address)
{
    const struct flow *f = data;
    if (flow_is_inside(f, address))
        flow_mark(f->targets, address - f->range->begin);
}

/* An instruction of one byte adds at most two: a resumption and itself. A site has more bytes. */
enum flow_result flow_read(struct flow *f)
{
    const uint64_t bytes = f->range->end - f->range->begin;
    if (bytes > MAX_RANGE)
        return FLOW_UNREADABLE;
    f->words = bytes / WORD_BITS + 1; /* one more bit than there are bytes */
    const uint64_t bits = f->words * sizeof *f->targets;
    f->targets = call_sites_scratch(f->sites, 0, 2 * bits + f->words * sizeof *f->ranks + 2 * bytes * sizeof *f->insns);
    if (!f->targets)
        return FLOW_NO_MEMORY;
    f->starts = f->targets + f->words;
    memset(f->targets, 0, 2 * bits);
    f->insns = (struct flow_insn *)(f->starts + f->words);
    f->ranks = (uint32_t *)(f->insns + 2 * bytes);
    return flow_read_insns(f);
}

/* ---- events ---- */

static void flow_add_event(struct flow *f, struct flow_event *event, enum flow_kind kind)
{
    event->kind = (uint8_t)kind;
    f->events[f->event_count++] = *event;
    *event = (struct flow_event){ .writes = 0 };
}

/* The first target from an offset on, or the code's end. A target in the middle of an instruction is none. */
static uint64_t flow_next_target(const struct flow *f, uint64_t from)
{
    uint64_t word = from / WORD_BITS;
    uint64_t bits = f->targets[word] & f->starts[word] & ~0ull << from % WORD_BITS;
    while (!bits && ++word < f->words)
        bits = f->targets[word] & f->starts[word];
    return bits ? word * WORD_BITS + (uint64_t)__builtin_ctzll(bits) : UINT64_MAX;
}

/* What only changes registers goes with the next event. */
static void flow_add_insn_event(struct flow *f, struct flow_event *event, const struct flow_insn *insn)
{
    event->writes |= insn->writes;
    event->calls |= insn->kind == FLOW_CALL;
    event->others |= insn->kind == FLOW_CALL && !insn->value;
    if (insn->kind == FLOW_WRITES || insn->kind == FLOW_CALL || (insn->kind >= FLOW_MOVE && !f->follows_stack))
        return;
    event->value = insn->value;
    event->displacement = insn->displacement;
    event->number = (uint32_t)insn->value;
    event->to = insn->registers & 15;
    event->from = insn->registers >> 4;
    if (insn->kind == FLOW_BRANCH || insn->kind == FLOW_JUMP)
        event->number = flow_target(f, insn->value);
    flow_add_event(f, event, (enum flow_kind)insn->kind);
}

enum flow_result flow_make_events(struct flow *f)
{
    if (!unwind_handlers(f->range, flow_add_handler, f))
        return FLOW_UNREADABLE;
    f->target_count = f->event_count = 0;
    for (uint64_t i = 0; i < f->words; i++) {
        f->ranks[i] = f->target_count;
        f->target_count += flow_count(f->targets[i]);
    }
    const uint64_t size = (f->insn_count + f->target_count) * sizeof *f->events;
    f->events = call_sites_scratch(f->sites, 1, size + (f->target_count + 1) * sizeof *f->at);
    if (!f->events)
        return FLOW_NO_MEMORY;
    f->at = (struct flow_values *)((char *)f->events + size);
    struct flow_event event = { .writes = 0 };
    uint64_t target = flow_next_target(f, 0);
    for (const struct flow_insn *insn = f->insns, *end = insn + f->insn_count; insn < end; insn++) {
        for (; target <= insn->offset; target = flow_next_target(f, target + 1)) {
            event.number = flow_target(f, target);
            flow_add_event(f, &event, FLOW_TARGET);
        }
        flow_add_insn_event(f, &event, insn);
    }
    return FLOW_READ;
}

#endif
