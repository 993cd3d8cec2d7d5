/* The sites of plain_x86.c, found in a plain way: all instructions are followed again and again, with the values of all
 * registers, until what is known at the targets of jumps stays the same. */
#include <string.h>

#include "plain_flow.h"

#include "levels/x86_decode.h"

enum { MAX_RANGE = 1 << 22, MAX_PASSES = 40, WORD_BITS = 64 };

/* What the general registers hold; zero if that is not known or not always the same. */
struct plain_values {
    uint64_t of[X86_REGISTERS];
    bool reached;
};

struct plain_flow {
    const struct hook_places *places;
    const struct unwind_range *range;
    struct x86_insn *insns; /* all of them */
    uint32_t insn_count;
    uint64_t *targets; /* a bit for each byte of the code: a jump leads there */
    uint32_t *first;   /* for each word of bits: the number of targets before it */
    uint64_t words;
    struct plain_values *at; /* for each target */
    uint32_t count;
    bool strict;                     /* nothing is known after a call, as the next instruction may not follow it */
    bool indirect;                   /* there is a jump to an address that is computed */
    struct plain_values at_indirect; /* the values at that jump */
    bool changed;
    struct call_sites *sites; /* in the last pass; else NULL */
};

static bool plain_is_target(const struct plain_flow *f, uint64_t offset)
{
    return f->targets[offset / WORD_BITS] >> offset % WORD_BITS & 1;
}

static struct plain_values *plain_at(const struct plain_flow *f, uint64_t offset)
{
    const uint64_t below = f->targets[offset / WORD_BITS] & ((1ull << offset % WORD_BITS) - 1);
    return &f->at[f->first[offset / WORD_BITS] + (uint32_t)__builtin_popcountll(below)];
}

static bool plain_join(struct plain_values *into, const struct plain_values *from)
{
    if (!from->reached)
        return false;
    if (!into->reached) {
        *into = *from;
        return true;
    }
    bool changed = false;
    for (int i = 0; i < X86_REGISTERS; i++) {
        if (into->of[i] && into->of[i] != from->of[i]) {
            into->of[i] = 0;
            changed = true;
        }
    }
    return changed;
}

/* Exceptions continue at a handler with values of any call. */
static void plain_add_handler(void *data, uint64_t address)
{
    struct plain_flow *f = data;
    const uint64_t offset = address - f->range->begin;
    if (address >= f->range->begin && address < f->range->end)
        f->targets[offset / WORD_BITS] |= 1ull << offset % WORD_BITS;
}

static void plain_forget_at_handler(void *data, uint64_t address)
{
    const struct plain_flow *f = data;
    if (address >= f->range->begin && address < f->range->end)
        *plain_at(f, address - f->range->begin) = (struct plain_values){ .reached = true };
}

static bool plain_decode(const struct plain_flow *f, uint64_t address, struct x86_insn *insn)
{
    return x86_decode_slowly((const uint8_t *)address, f->range->end - address, address, insn);
}

static bool plain_jumps(const struct x86_insn *insn)
{
    return insn->kind == X86_JUMP || insn->kind == X86_BRANCH;
}

/* Decodes all instructions, and marks the targets of jumps. False if an instruction is not known. */
static bool plain_find_targets(struct plain_flow *f)
{
    const struct unwind_range *range = f->range;
    for (uint64_t at = range->begin; at < range->end;) {
        struct x86_insn *insn = &f->insns[f->insn_count++];
        if (!plain_decode(f, at, insn))
            return false;
        if (plain_jumps(insn) && insn->value >= range->begin && insn->value < range->end)
            plain_add_handler(f, insn->value);
        f->indirect |= insn->kind == X86_JUMP_ANY || insn->kind == X86_JUMP_SLOT;
        at += insn->length;
    }
    return true;
}

static bool plain_begin(struct plain_flow *f, struct call_sites *memory)
{
    const uint64_t bytes = f->range->end - f->range->begin;
    if (bytes > MAX_RANGE)
        return false;
    f->words = bytes / WORD_BITS + 1;
    const size_t bits = f->words * (sizeof *f->targets + sizeof *f->first);
    f->targets = call_sites_scratch(memory, 0, bits + bytes * sizeof *f->insns);
    if (!f->targets)
        return false;
    memset(f->targets, 0, f->words * sizeof *f->targets);
    f->insns = (struct x86_insn *)(f->targets + f->words);
    f->first = (uint32_t *)(f->insns + bytes);
    memset(f->first, 0, f->words * sizeof *f->first);
    if (!plain_find_targets(f) || !unwind_handlers(f->range, plain_add_handler, f))
        return false;
    for (uint64_t i = 0; i < f->words; i++) {
        f->first[i] = f->count;
        f->count += (uint32_t)__builtin_popcountll(f->targets[i]);
    }
    f->at = call_sites_scratch(memory, 1, (f->count + 1) * sizeof *f->at);
    if (!f->at)
        return false;
    memset(f->at, 0, (f->count + 1) * sizeof *f->at);
    unwind_handlers(f->range, plain_forget_at_handler, f);
    return true;
}

static int plain_hook(const struct plain_flow *f, const struct x86_insn *insn)
{
    if (insn->kind == X86_CALL || insn->kind == X86_JUMP)
        return insn->value - f->range->begin < f->range->end - f->range->begin
                   ? HOOK_NONE
                   : hook_places_of_target(f->places, insn->value);
    if (insn->kind == X86_CALL_SLOT || insn->kind == X86_JUMP_SLOT)
        return hook_places_of_slot(f->places, insn->value);
    return HOOK_NONE;
}

/* The probe's address comes into a register, by which it may be called. */
static bool plain_loads_enter(const struct plain_flow *f, const struct x86_insn *insn)
{
    return insn->kind == X86_LOAD && hook_places_of_slot(f->places, insn->value) == HOOK_ENTER;
}

static bool plain_jump_kind(enum x86_kind kind)
{
    return kind == X86_JUMP || kind == X86_JUMP_SLOT;
}

/* A jump through a slot, about an unknown function, is a stub of the linker. */
static bool plain_add_site(struct plain_flow *f, uint64_t address, const struct x86_insn *insn, uint64_t function)
{
    const int hook = plain_hook(f, insn);
    if (hook == HOOK_NONE || (insn->kind == X86_JUMP_SLOT && !function))
        return true;
    const bool jump = plain_jump_kind(insn->kind);
    if (insn->length > 6 || insn->length < 5 || (jump && hook == HOOK_ENTER)) {
        f->sites->more_enters |= hook == HOOK_ENTER;
        return true;
    }
    struct call_site site = {
        .address = address,
        .function = function,
        .length = insn->length,
        .hook = (uint8_t)hook,
        .jump = jump,
    };
    memcpy(site.original, (const void *)address, insn->length);
    return call_sites_add(f->sites, &site);
}

/* What the loader has made constant stays as it is. */
static uint64_t plain_load(const struct plain_flow *f, uint64_t address)
{
    if (address < f->places->constant_begin || address + 8 > f->places->constant_end)
        return 0;
    return *(const volatile uint64_t *)address;
}

static void plain_apply(struct plain_values *values, const struct plain_flow *f, const struct x86_insn *insn)
{
    const uint64_t from = values->of[insn->from];
    unsigned writes = insn->writes;
    if (insn->kind == X86_CALL || insn->kind == X86_CALL_SLOT || insn->kind == X86_CALL_ANY)
        writes |= f->strict ? 0xffff : X86_CALLER_SAVED;
    for (; writes; writes &= writes - 1)
        values->of[__builtin_ctz(writes)] = 0;
    if (insn->kind == X86_CONSTANT)
        values->of[insn->to] = insn->value;
    else if (insn->kind == X86_COPY)
        values->of[insn->to] = from;
    else if (insn->kind == X86_LOAD)
        values->of[insn->to] = plain_load(f, insn->value);
}

static bool plain_ends(enum x86_kind kind)
{
    return plain_jump_kind(kind) || kind == X86_JUMP_ANY || kind == X86_END;
}

/* Where no known jump leads, a computed one may. An exception handler is a target of its own. */
static struct plain_values plain_after_end(const struct plain_flow *f)
{
    struct plain_values none = { .reached = true };
    return f->indirect && !f->range->handlers ? f->at_indirect : none;
}

/* What compilers put between an end and the next target: int3, and no-operations with any prefixes. */
static bool plain_is_padding(uint64_t address, const struct x86_insn *insn)
{
    const uint8_t *at = (const uint8_t *)address, *end = at + insn->length;
    while (at + 1 < end && (*at == 0x66 || *at == 0x2e))
        at++;
    return *at == 0x90 || *at == 0xcc || (*at == 0x0f && at + 1 < end && at[1] == 0x1f);
}

/* The values before an instruction. */
static void plain_arrive(struct plain_flow *f, uint64_t at, const struct x86_insn *insn, struct plain_values *values,
                         bool *waiting)
{
    const uint64_t offset = at - f->range->begin;
    if (plain_is_target(f, offset)) {
        struct plain_values *target = plain_at(f, offset);
        f->changed |= plain_join(target, values);
        if (f->indirect)
            f->changed |= plain_join(target, &f->at_indirect);
        *values = *target;
        *waiting = !values->reached;
    } else if (!values->reached && !*waiting && !plain_is_padding(at, insn)) {
        *values = plain_after_end(f);
    }
}

static void plain_leave(struct plain_flow *f, const struct x86_insn *insn, struct plain_values *values, bool *waiting)
{
    const uint64_t offset = insn->value - f->range->begin;
    plain_apply(values, f, insn);
    if (plain_jumps(insn) && offset < f->range->end - f->range->begin)
        f->changed |= plain_join(plain_at(f, offset), values);
    if (insn->kind == X86_JUMP_ANY || insn->kind == X86_JUMP_SLOT)
        f->changed |= plain_join(&f->at_indirect, values);
    if (plain_ends(insn->kind))
        values->reached = *waiting = false;
}

static bool plain_pass(struct plain_flow *f)
{
    struct plain_values values = { .reached = true };
    bool waiting = false; /* for a jump further below, which leads here: the values are known in the next pass */
    uint64_t at = f->range->begin;
    for (uint32_t i = 0; i < f->insn_count; at += f->insns[i++].length) {
        const struct x86_insn *insn = &f->insns[i];
        plain_arrive(f, at, insn, &values, &waiting);
        if (f->sites && !plain_add_site(f, at, insn, values.of[X86_RDI]))
            return false;
        if (f->sites && plain_loads_enter(f, insn))
            f->sites->more_enters = true;
        plain_leave(f, insn, &values, &waiting);
    }
    return true;
}

/* Without knowledge of all instructions: bytes that are a call with a probe as its target. What they are about is not
 * known. */
static bool plain_search(struct plain_flow *f)
{
    for (uint64_t at = f->range->begin; at + 5 <= f->range->end; at++) {
        const uint8_t op = *(const uint8_t *)at;
        struct x86_insn insn;
        if ((op == 0xe8 || op == 0xe9 || op == 0xff) && plain_decode(f, at, &insn) && !plain_add_site(f, at, &insn, 0))
            return false;
    }
    f->sites->more_enters = true;
    return true;
}

/* Most code calls no probe. Bytes that look like a call but are none cost only time. */
static bool plain_may_call(const struct plain_flow *f)
{
    for (uint64_t at = f->range->begin; at + 5 <= f->range->end; at++) {
        const uint8_t op = *(const uint8_t *)at;
        struct x86_insn insn;
        const bool loads = (op & 0xf8) == 0x48 && *(const uint8_t *)(at + 1) == 0x8b;
        if ((op == 0xe8 || op == 0xe9 || op == 0xff || loads) && plain_decode(f, at, &insn) &&
            (plain_hook(f, &insn) != HOOK_NONE || plain_loads_enter(f, &insn)))
            return true;
    }
    return false;
}

/* Finds the values at all targets. False if that takes too long, or an instruction is not known. */
static bool plain_settle(struct plain_flow *f, struct call_sites *memory)
{
    bool known = plain_begin(f, memory);
    f->changed = true;
    for (int pass = 0; known && f->changed; pass++) {
        f->changed = false;
        known = pass < MAX_PASSES && plain_pass(f);
    }
    return known;
}

static bool plain_begins_function(const struct call_sites *sites, uint32_t first, uint64_t function)
{
    for (uint32_t i = first; i < sites->count; i++)
        if (sites->list[i].function == function)
            return true;
    return false;
}

static bool plain_add_sites(struct call_sites *sites, const struct hook_places *places,
                            const struct unwind_range *range, bool strict)
{
    struct plain_flow f = { .places = places, .range = range, .strict = strict };
    const bool known = plain_settle(&f, sites);
    f.sites = sites;
    return known ? plain_pass(&f) : plain_search(&f);
}

/* Without the functions. */
static bool plain_add_bare_sites(struct call_sites *sites, const struct hook_places *places,
                                 const struct unwind_range *range)
{
    struct plain_flow f = { .places = places, .range = range, .sites = sites };
    const uint32_t first = sites->count;
    for (uint64_t at = range->begin; at < range->end;) {
        struct x86_insn insn;
        if (!plain_decode(&f, at, &insn)) {
            sites->count = first;
            return plain_search(&f);
        }
        if (!plain_add_site(&f, at, &insn, 0))
            return false;
        sites->more_enters |= plain_loads_enter(&f, &insn);
        at += insn.length;
    }
    return true;
}

/* A part of a function that the compiler has put elsewhere is entered in its middle, from the other part. What follows
 * a call that does not return may be such a place. So all that a call leaves counts as unknown there. */
bool plain_sites_in_range(struct call_sites *sites, const struct hook_places *places, const struct unwind_range *range)
{
    const struct plain_flow f = { .places = places, .range = range };
    const uint32_t first = sites->count;
    if (sites->bare)
        return plain_add_bare_sites(sites, places, range);
    if (!plain_may_call(&f))
        return true;
    if (!plain_add_sites(sites, places, range, false))
        return false;
    if (plain_begins_function(sites, first, range->begin))
        return true;
    sites->count = first;
    return plain_add_sites(sites, places, range, true);
}
