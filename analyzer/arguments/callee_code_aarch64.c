/*
 * The same as callee_code.c, on aarch64. The return address is in x30, and in most functions also in their frame, where
 * the unwind table says. Compilers use x30 for other values once the function has called another one. So what reads it
 * before that reads the return address, in the order of the code.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/callee_code.h"
#include "symbols/aarch64_operands.h"
#include "symbols/code_machine.h"

enum { WORD = AARCH64_WORD, LINK = 30 };
#define XPACLRI 0xd50320ffu /* takes the signature off a return address, in x30 */

struct callee_reader {
    struct callee_code code;
    Dwarf_CFI *cfi;
    bool link_is_kept; /* no instruction has changed x30 yet */
    bool frame_known;  /* x29 is `frame` bytes above the end of the caller's frame */
    int64_t frame;
    uint32_t frame_copies; /* a bit for each register that x29 was copied to */
};

static bool callee_word(const struct image *image, uint64_t at, uint64_t end, uint32_t *word)
{
    return end - at >= WORD && image_read(image, at, (uint8_t *)word, sizeof *word);
}

/* ---- the unwind table ---- */

/* How far the end of the caller's frame is above a register: sp or x29. */
static bool callee_cfa(Dwarf_Frame *frame, unsigned *reg, int64_t *offset)
{
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1)
        return false;
    const bool numbered = ops->atom == DW_OP_bregx;
    *reg = (unsigned)(numbered ? ops->number : (uint64_t)ops->atom - DW_OP_breg0);
    *offset = (int64_t)(numbered ? ops->number2 : ops->number);
    return true;
}

/* Where a register is kept, from the end of the caller's frame. */
static bool callee_kept_at(Dwarf_Frame *frame, int reg, int64_t *at)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0 || count != 2 ||
        ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst)
        return false;
    *at = (int64_t)ops[1].number;
    return true;
}

/* ---- a function's frame ---- */

/* Where a register plus a number leads, from the end of the caller's frame. */
static bool callee_from_end(const struct callee_reader *r, Dwarf_Frame *frame, unsigned base, int64_t offset,
                            int64_t *from_end)
{
    unsigned of_end;
    int64_t above;
    if (base < AARCH64_FRAME && r->frame_copies >> base & 1)
        base = AARCH64_FRAME;
    if (base != AARCH64_STACK && base != AARCH64_FRAME)
        return false;
    if (callee_cfa(frame, &of_end, &above) && of_end == base) {
        *from_end = offset - above;
        return true;
    }
    *from_end = offset + r->frame;
    return base == AARCH64_FRAME && r->frame_known;
}

/* A load of what is kept for the caller: the return address, or x29, which leads to other frames. */
static bool callee_is_load_of(Dwarf_Frame *frame, const struct aarch64_memory *m, int64_t from_end, int reg)
{
    int64_t at;
    if (!m->load || m->vector || !callee_kept_at(frame, reg, &at))
        return false;
    for (unsigned i = 0; i < m->count; i++)
        if (from_end + (int64_t)(i * m->size) == at && (i ? m->next : m->first) != (unsigned)reg)
            return true;
    return false;
}

/* Stores may come before the unwind table says how large the frame is. */
static void callee_take_memory(struct callee_reader *r, Dwarf_Frame *frame, const struct aarch64_memory *m)
{
    int64_t from_end;
    if (!callee_from_end(r, frame, m->base, m->offset, &from_end))
        return;
    r->code.looks_at_caller |=
        callee_is_load_of(frame, m, from_end, LINK) || callee_is_load_of(frame, m, from_end, AARCH64_FRAME);
    if (m->load && from_end >= 0 && (uint64_t)from_end + m->size * m->count > r->code.bytes)
        r->code.bytes = (uint64_t)from_end + m->size * m->count;
}

static void callee_take_addition(struct callee_reader *r, Dwarf_Frame *frame, const struct aarch64_addition *add)
{
    int64_t from_end;
    if (!callee_from_end(r, frame, add->from, add->number, &from_end))
        return;
    if (add->to == AARCH64_FRAME) {
        r->frame_known = true;
        r->frame = from_end;
    }
    r->code.takes_address |= from_end >= 0 && add->to != AARCH64_STACK;
}

static void callee_take_frame(struct callee_reader *r, uint64_t at, uint32_t word)
{
    struct aarch64_memory m;
    struct aarch64_addition add;
    const bool memory = aarch64_memory_parse(&m, word), adds = !memory && aarch64_addition_parse(&add, word);
    Dwarf_Frame *frame = NULL;
    if ((!memory && !adds) || dwarf_cfi_addrframe(r->cfi, at, &frame) != 0)
        return;
    if (memory && !m.moves)
        callee_take_memory(r, frame, &m);
    if (adds)
        callee_take_addition(r, frame, &add);
    free(frame);
}

/* ---- x30 ---- */

static bool callee_field_is_link(uint32_t word, unsigned low)
{
    return aarch64_bits(word, low, 5) == LINK;
}

/* Whether the instruction uses x30 as a value. In frames it is kept by stores at the stack pointer. */
static bool callee_reads_link(uint32_t word)
{
    const uint32_t group = aarch64_bits(word, 25, 4);
    struct aarch64_memory m;
    if ((group & 14) == 8)
        return callee_field_is_link(word, 5) && (word & 0x1f000000) != 0x10000000 && (word & 0x1f800000) != 0x12800000;
    if ((group & 7) == 5)
        return callee_field_is_link(word, 5) || callee_field_is_link(word, 16) ||
               ((word & 0x1f000000) == 0x1b000000 && callee_field_is_link(word, 10));
    if ((group & 5) != 4)
        return false;
    if (aarch64_memory_parse(&m, word) && m.base == AARCH64_STACK)
        return false;
    const bool stores = !aarch64_bits(word, 26, 1) && !aarch64_bits(word, 22, 1);
    return callee_field_is_link(word, 5) || (stores && callee_field_is_link(word, 0)) ||
           ((word & 0x3b200c00) == 0x38200800 && callee_field_is_link(word, 16));
}

static bool callee_changes_link(const struct code_insn *insn)
{
    return insn->kind == CODE_CALL || insn->kind == CODE_CALL_ANY || insn->writes >> LINK & 1;
}

/* ---- functions ---- */

/* SVE, and the matrices of SME. */
static bool callee_is_sve(uint32_t word)
{
    const uint32_t group = aarch64_bits(word, 25, 4);
    return group == 2 || (!group && word >> 31);
}

bool callee_code_has_sve(const struct image *image, uint64_t begin, uint64_t end)
{
    uint32_t word;
    for (uint64_t at = begin; at < end && callee_word(image, at, end, &word); at += WORD)
        if (callee_is_sve(word))
            return true;
    return false;
}

struct callee_code callee_code_read_aarch64(const struct image *image, Dwarf_CFI *cfi, uint64_t begin, uint64_t end)
{
    struct callee_reader r = { .cfi = cfi, .link_is_kept = true };
    struct code_insn insn;
    uint32_t word;
    for (uint64_t at = begin; at < end && callee_word(image, at, end, &word); at += WORD) {
        if (!code_machine_aarch64.decode((const uint8_t *)&word, sizeof word, at, &insn))
            continue;
        r.code.own_rules |= callee_is_sve(word);
        r.code.looks_at_caller |= word == XPACLRI || (r.link_is_kept && callee_reads_link(word));
        r.link_is_kept &= !callee_changes_link(&insn);
        if (cfi)
            callee_take_frame(&r, at, word);
        r.frame_copies &= ~insn.writes;
        if (r.frame_known && insn.kind == CODE_COPY && insn.from == AARCH64_FRAME)
            r.frame_copies |= 1u << insn.to;
    }
    return r.code;
}

/* ---- flags ---- */

/* b.cond, csel and its kind, ccmp, adc and sbc, fcsel, fccmp, and a read of them. */
static bool callee_uses_flags(uint32_t word)
{
    const uint32_t kind = word & 0x1fe00000, of_floats = word & 0x5f200c00;
    return (word & 0xff000000) == 0x54000000 || kind == 0x1a800000 || kind == 0x1a400000 || kind == 0x1a000000 ||
           of_floats == 0x1e200c00 || of_floats == 0x1e200400 || (word & 0xffffffe0) == 0xd53b4200;
}

static bool callee_sets_flags(uint32_t word)
{
    return (word & 0x3f000000) == 0x31000000 || (word & 0x3f000000) == 0x2b000000 ||
           (word & 0x7f800000) == 0x72000000 || (word & 0x7f000000) == 0x6a000000 || (word & 0x5f203c00) == 0x1e202000;
}

bool callee_code_leaves_flags_aarch64(const struct image *image, uint64_t behind, uint64_t end)
{
    struct code_insn insn;
    uint32_t word;
    for (uint64_t at = behind; at < end && callee_word(image, at, end, &word); at += WORD) {
        if (callee_uses_flags(word))
            return true;
        if (callee_sets_flags(word) || !code_machine_aarch64.decode((const uint8_t *)&word, sizeof word, at, &insn) ||
            (insn.kind >= CODE_CALL && insn.kind <= CODE_END))
            return false;
    }
    return false;
}
