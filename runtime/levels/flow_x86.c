/* Finds the calls of the probes in one function's code on x86-64, and the function that each is about: the first
 * argument, if it is the same constant on all ways to the call. The events of the code are followed from its start to
 * its end, again and again until what is known at the targets of its jumps stays the same. */
#if defined(__x86_64__)

#include "levels/flow_x86.h"

#include <string.h>

#include "common.h"

enum { MAX_PASSES = 40 };

#define ALL_SLOTS (~0ull << X86_REGISTERS)

static const struct flow_values flow_nothing = { .stack = { FLOW_NOWHERE, FLOW_NOWHERE }, .reached = true };

/* ---- values ---- */

static void flow_set(struct flow_values *values, unsigned to, uint64_t value)
{
    values->of[to] = value;
    values->known |= 1ull << to;
}

static void flow_copy(struct flow_values *values, unsigned to, unsigned from)
{
    if (values->known >> from & 1)
        flow_set(values, to, values->of[from]);
    else
        values->known &= ~(1ull << to);
}

static void flow_take(struct flow_values *into, const struct flow_values *from)
{
    for (uint64_t known = from->known; known; known &= known - 1)
        into->of[__builtin_ctzll(known)] = from->of[__builtin_ctzll(known)];
    into->known = from->known;
    into->stack[0] = from->stack[0];
    into->stack[1] = from->stack[1];
    into->reached = from->reached;
}

static bool flow_join_stack(int32_t *into, int32_t from)
{
    if (*into == from || *into == FLOW_NOWHERE)
        return false;
    *into = FLOW_NOWHERE;
    return true;
}

/* Keeps what both know. Returns whether that is less than before. */
static bool flow_join(struct flow_values *into, const struct flow_values *from)
{
    if (!from->reached)
        return false;
    if (!into->reached) {
        flow_take(into, from);
        return true;
    }
    uint64_t both = into->known & from->known;
    for (uint64_t known = both; known; known &= known - 1) {
        const int i = __builtin_ctzll(known);
        if (into->of[i] != from->of[i])
            both &= ~(1ull << i);
    }
    bool changed = both != into->known;
    into->known = both;
    changed |= flow_join_stack(&into->stack[0], from->stack[0]);
    changed |= flow_join_stack(&into->stack[1], from->stack[1]);
    return changed;
}

/* ---- the stack ---- */

/* Where the register points to on the stack. */
static int32_t *flow_base(struct flow_values *values, unsigned base)
{
    return &values->stack[base == X86_RBP];
}

/* An address that no other instruction makes. All lie far from one another, so a stack that is aligned or that alloca
 * has moved has other slots than before. */
static int32_t flow_anchor(const struct flow *f, const struct flow_event *event)
{
    const uint32_t number = (uint32_t)(event - f->events) + 1;
    return number < 1 << 10 ? (int32_t)(number << 20) : FLOW_NOWHERE;
}

static int32_t flow_address(struct flow_values *values, const struct flow_event *event, unsigned base)
{
    const int32_t at = *flow_base(values, base);
    int32_t address;
    return at == FLOW_NOWHERE || __builtin_add_overflow(at, event->displacement, &address) ? FLOW_NOWHERE : address;
}

/* The place of the slot at that address, or zero. */
static unsigned flow_slot(const struct flow *f, int32_t address)
{
    for (unsigned i = 0; i < f->slot_count; i++)
        if (f->slots[i] == address)
            return X86_REGISTERS + i;
    return 0;
}

/* Only what may be a function is of interest. */
static void flow_add_slot(struct flow *f, int32_t address, uint64_t value)
{
    if (hook_places_code(f->places, value) && f->slot_count < FLOW_SLOTS && !flow_slot(f, address))
        f->slots[f->slot_count++] = address;
}

/* Eight bytes of the stack get a constant, or something else. A compiler reads the first argument of a probe only from
 * a slot that it has spilled it to. So no store but a spill matters, nor one through a pointer. */
static void flow_spill(struct flow *f, const struct flow_event *event, struct flow_values *values, bool known,
                       uint64_t value)
{
    const int32_t address = flow_address(values, event, event->to);
    if (address == FLOW_NOWHERE && event->to == X86_RSP)
        values->known &= ~ALL_SLOTS;
    if (address == FLOW_NOWHERE)
        return;
    if (f->finds_slots) {
        if (known)
            flow_add_slot(f, address, value);
        return;
    }
    for (unsigned i = 0; i < f->slot_count; i++)
        if (f->slots[i] < address + 8 && address < f->slots[i] + 8)
            values->known &= ~(1ull << (X86_REGISTERS + i));
    const unsigned slot = flow_slot(f, address);
    if (slot && known)
        flow_set(values, slot, value);
}

static void flow_fill(const struct flow *f, const struct flow_event *event, struct flow_values *values)
{
    const int32_t address = flow_address(values, event, event->from);
    const unsigned slot = address == FLOW_NOWHERE ? 0 : flow_slot(f, address);
    if (slot)
        flow_copy(values, event->to, slot);
}

static void flow_copy_stack(const struct flow *f, const struct flow_event *event, struct flow_values *values)
{
    if (event->to != X86_RSP && event->to != X86_RBP)
        return;
    const bool both = event->from == X86_RSP || event->from == X86_RBP;
    const int32_t from = both ? *flow_base(values, event->from) : FLOW_NOWHERE;
    *flow_base(values, event->to) = from == FLOW_NOWHERE && event->to == X86_RSP ? flow_anchor(f, event) : from;
}

static void flow_follow_stack(struct flow *f, const struct flow_event *event, struct flow_values *values)
{
    int32_t *rsp = flow_base(values, X86_RSP);
    switch (event->kind) {
    case FLOW_MOVE:
        if (*rsp != FLOW_NOWHERE && __builtin_add_overflow(*rsp, (int32_t)event->value, rsp))
            *rsp = FLOW_NOWHERE;
        break;
    case FLOW_LEAVE:
        *rsp = flow_anchor(f, event);
        break;
    case FLOW_SPILL:
        flow_spill(f, event, values, values->known >> event->from & 1, values->of[event->from]);
        break;
    case FLOW_STORE:
        flow_spill(f, event, values, true, event->value);
        break;
    case FLOW_FILL:
        flow_fill(f, event, values);
        break;
    default:
        break;
    }
}

/* ---- passes ---- */

/* Where no known jump leads, a computed one may. An exception handler is a target of its own. */
static void flow_resume(const struct flow *f, struct flow_values *values)
{
    flow_take(values, f->indirect && !f->range->handlers ? &f->at_indirect : &flow_nothing);
}

static void flow_arrive(struct flow *f, uint32_t number, struct flow_values *values)
{
    struct flow_values *target = &f->at[number];
    flow_join(target, values);
    if (f->indirect)
        flow_join(target, &f->at_indirect);
    flow_take(values, target);
    f->arrived = number + 1;
}

/* What changes further below is seen in this pass. */
static void flow_jump(struct flow *f, uint32_t number, const struct flow_values *values)
{
    f->changed |= flow_join(&f->at[number], values) && number < f->arrived;
}

/* `waiting`: for a jump further below, which leads here. The values are known in the next pass. */
static void flow_follow(struct flow *f, const struct flow_event *event, struct flow_values *values, bool *waiting)
{
    const bool runs = values->reached || *waiting;
    switch (event->kind) {
    case FLOW_TARGET:
        flow_arrive(f, event->number, values);
        *waiting = !values->reached;
        break;
    case FLOW_CONSTANT:
        if (runs)
            flow_set(values, event->to, event->value);
        if (event->to == X86_RBP)
            *flow_base(values, X86_RBP) = FLOW_NOWHERE;
        break;
    case FLOW_COPY:
        flow_copy_stack(f, event, values);
        flow_copy(values, event->to, event->from);
        break;
    case FLOW_BRANCH:
    case FLOW_JUMP:
        flow_jump(f, event->number, values);
        break;
    case FLOW_JUMP_ANY:
        f->changed |= flow_join(&f->at_indirect, values);
        break;
    case FLOW_RESUME:
        if (!runs)
            flow_resume(f, values);
        break;
    case FLOW_SITE:
        f->sites->list[event->number].function = values->known >> X86_RDI & 1 ? values->of[X86_RDI] : 0;
        break;
    default:
        flow_follow_stack(f, event, values);
        break;
    }
    if (event->kind == FLOW_JUMP || event->kind == FLOW_JUMP_ANY || event->kind == FLOW_END) {
        values->known = 0;
        values->reached = *waiting = false;
    }
}

/* What follows a call that does not return may be reached in another way. */
static void flow_forget(struct flow_values *values)
{
    values->known = 0;
    values->stack[0] = values->stack[1] = FLOW_NOWHERE;
}

static void flow_pass(struct flow *f)
{
    struct flow_values values = { .stack = { 0, FLOW_NOWHERE }, .reached = true };
    bool waiting = false;
    f->arrived = 0;
    for (const struct flow_event *event = f->events, *end = event + f->event_count; event < end; event++) {
        values.known &= ~(uint64_t)(event->writes | (event->calls ? X86_CALLER_SAVED : 0));
        if (event->writes >> X86_RBP & 1)
            *flow_base(&values, X86_RBP) = FLOW_NOWHERE;
        if (event->others && f->strict)
            flow_forget(&values);
        flow_follow(f, event, &values, &waiting);
    }
}

static void flow_forget_at_handler(void *data, uint64_t address)
{
    const struct flow *f = data;
    if (flow_is_inside(f, address))
        f->at[flow_target(f, address - f->range->begin)] = flow_nothing;
}

/* Finds the values at all targets, and so the functions of the sites. False if that takes too long. */
static bool flow_settle(struct flow *f, bool strict)
{
    f->strict = strict;
    f->at_indirect = (struct flow_values){ .reached = false };
    for (uint32_t i = 0; i < f->target_count; i++)
        f->at[i].known = f->at[i].reached = 0;
    unwind_handlers(f->range, flow_forget_at_handler, f);
    f->changed = true;
    for (int pass = 0; f->changed && pass < MAX_PASSES; pass++) {
        f->changed = false;
        flow_pass(f);
    }
    return !f->changed;
}

/* ---- sites ---- */

static bool flow_is_through_slot(const struct call_site *site)
{
    return site->jump && site->original[0] != 0xe9 && site->original[1] != 0xe9;
}

static bool flow_begins_function(const struct flow *f)
{
    for (uint32_t i = f->first_site; i < f->sites->count; i++)
        if (f->sites->list[i].function == f->range->begin && flow_is_usual(&f->sites->list[i]))
            return true;
    return false;
}

/* A jump through a slot, about an unknown function, is a stub of the linker. */
static void flow_drop_stubs(struct flow *f)
{
    struct call_site *list = f->sites->list;
    uint32_t count = f->first_site;
    for (uint32_t i = count; i < f->sites->count; i++) {
        const bool usual = flow_is_usual(&list[i]);
        f->sites->more_enters |= list[i].function && !usual && list[i].hook == HOOK_ENTER;
        if (usual && (list[i].function || !flow_is_through_slot(&list[i])))
            list[count++] = list[i];
    }
    f->sites->count = count;
}

/* Bytes that may be a call of a probe, or load the enter probe's address. */
static bool flow_may_be_call(const uint8_t *at)
{
    const bool loads = (at[0] & 0xf8) == 0x48 && at[1] == 0x8b;
    return at[0] == 0xe8 || at[0] == 0xe9 || at[0] == 0xff || loads;
}

/* Most code calls no probe. Bytes that look like a call but are none cost only time. */
static bool flow_may_call(const struct flow *f)
{
    for (uint64_t at = f->range->begin; at + 5 <= f->range->end; at++) {
        struct x86_insn insn;
        if (flow_may_be_call((const uint8_t *)at) && flow_decode(f, at, &insn) &&
            (flow_hook(f, &insn) != HOOK_NONE || flow_loads_enter(f, &insn)))
            return true;
    }
    return false;
}

static bool flow_has_unknown_sites(const struct flow *f)
{
    for (uint32_t i = f->first_site; i < f->sites->count; i++)
        if (!f->sites->list[i].function && !flow_is_through_slot(&f->sites->list[i]))
            return true;
    return false;
}

/* Where a function calls many inlined ones, their addresses are spilled. The first settlement finds the slots, and the
 * second one what they hold. */
static enum flow_result flow_settle_with_stack(struct flow *f)
{
    f->follows_stack = f->finds_slots = true;
    enum flow_result result = flow_make_events(f);
    bool done = result == FLOW_READ && flow_settle(f, f->strict);
    f->finds_slots = false;
    done = done && f->slot_count && flow_settle(f, f->strict);
    if (result != FLOW_READ || done)
        return result;
    f->follows_stack = false;
    result = flow_make_events(f);
    return result != FLOW_READ || flow_settle(f, f->strict) ? result : FLOW_UNREADABLE;
}

/* Without knowledge of all instructions: bytes that are a call with a probe as its target. What they are about is not
 * known. */
static bool flow_search(struct flow *f)
{
    f->sites->count = f->first_site;
    if (!flow_may_call(f))
        return true;
    for (uint64_t at = f->range->begin; at + 5 <= f->range->end; at++) {
        const uint8_t op = *(const uint8_t *)at;
        struct x86_insn insn;
        if ((op == 0xe8 || op == 0xe9 || op == 0xff) && flow_decode(f, at, &insn) && !flow_add_site(f, at, &insn))
            return false;
    }
    f->sites->more_enters = true;
    flow_drop_stubs(f);
    return true;
}

/* Without the functions. */
static bool flow_add_bare_sites(struct flow *f)
{
    for (uint64_t at = f->range->begin; at < f->range->end;) {
        struct x86_insn insn;
        if (!flow_decode(f, at, &insn))
            return flow_search(f);
        if (!flow_add_site(f, at, &insn))
            return false;
        f->sites->more_enters |= flow_loads_enter(f, &insn);
        at += insn.length;
    }
    flow_drop_stubs(f);
    return true;
}

bool call_sites_add_at(struct call_sites *sites, const struct hook_places *places, uint64_t address)
{
    const struct hook_code *code = hook_places_code(places, address);
    const uint64_t end = code ? smaller_of(address + X86_MAX_LENGTH, code->end) : address;
    const struct unwind_range range = { .begin = address, .end = end };
    struct flow f = { .places = places, .range = &range, .sites = sites, .first_site = sites->count };
    struct x86_insn insn;
    if (!flow_decode(&f, address, &insn) || !flow_add_site(&f, address, &insn) || sites->count == f.first_site)
        return false;
    if (flow_is_usual(&sites->list[f.first_site]))
        return true;
    sites->count = f.first_site;
    return false;
}

/* A part of a function that the compiler has put elsewhere is entered in its middle, from the other part. What follows
 * a call that does not return may be such a place. So all that a call leaves counts as unknown there. */
bool call_sites_in_range(struct call_sites *sites, const struct hook_places *places, const struct unwind_range *range)
{
    struct flow f = { .places = places, .range = range, .sites = sites, .first_site = sites->count };
    if (sites->bare)
        return flow_add_bare_sites(&f);
    enum flow_result result = flow_read(&f);
    if (result == FLOW_READ && sites->count == f.first_site)
        return true;
    result = result == FLOW_READ ? flow_make_events(&f) : result;
    if (result == FLOW_READ && (!flow_settle(&f, false) || (!flow_begins_function(&f) && !flow_settle(&f, true))))
        result = FLOW_UNREADABLE;
    if (result == FLOW_READ && f.fills && flow_has_unknown_sites(&f))
        result = flow_settle_with_stack(&f);
    if (result == FLOW_NO_MEMORY)
        return false;
    if (result == FLOW_UNREADABLE)
        return flow_search(&f);
    flow_drop_stubs(&f);
    return true;
}

#endif
