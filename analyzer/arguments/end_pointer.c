/*
 * The last object of a frame ends where the return address is. A loop over the object compares with that address. So
 * the code is followed along all its jumps. What is not known for certain counts as another use.
 */
#include "arguments/end_pointer.h"

#include <stdlib.h>
#include <string.h>

#include "arguments/callee_op.h"
#include "base/memory.h"

enum { RAX = 0, RCX = 1, RDX = 2, RSI = 6, RDI = 7, MOST_BYTES = 1 << 16, LEA = 0x8d };

/* What an instruction does with the register. */
enum end_use {
    END_UNUSED, /* or compared */
    END_REPLACED,
    END_OTHER,
};

/* ---- without an operand in memory or a second register ---- */

static enum end_use end_use_if(bool uses)
{
    return uses ? END_OTHER : END_UNUSED;
}

static enum end_use end_use_long(uint8_t op)
{
    const bool branches = op >= 0x80 && op < 0x90, nop = op == 0x1e || op == 0x0b;
    return end_use_if(!branches && !nop);
}

static enum end_use end_use_plain(const struct callee_op *op, uint8_t reg)
{
    const uint8_t code = *op->at, of_code = (uint8_t)((code & 7) | (op->extended & 1 ? 8 : 0));
    if (op->table == CALLEE_LONG)
        return end_use_long(code);
    if (op->table != CALLEE_SHORT)
        return end_use_if(op->table != CALLEE_VECTOR); /* vzeroupper */
    if (code >= 0x50 && code < 0x58)
        return end_use_if(of_code == reg);
    if ((code >= 0x58 && code < 0x60) || (code >= 0xb8 && code < 0xc0))
        return of_code != reg ? END_UNUSED : op->narrow ? END_OTHER : END_REPLACED;
    if (code < 0x40 || code == 0xa8 || code == 0xa9) /* arithmetic with a number, in rax */
        return end_use_if(reg == RAX);
    if (code == 0x98 || code == 0x99)
        return end_use_if(reg == RAX || reg == RDX);
    if ((code >= 0xa4 && code < 0xa8) || (code >= 0xaa && code < 0xb0))
        return end_use_if(reg == RAX || reg == RCX || reg == RSI || reg == RDI);
    return end_use_if((code < 0x70 || code >= 0x80) && code != 0x90 && code != 0xc3 && code != 0xc9 && code != 0xcc &&
                      code != 0xe9 && code != 0xeb && code != 0xf4);
}

/* ---- with one ---- */

/* Its register is a part of the opcode. */
static bool end_is_group(const struct callee_op *op)
{
    const uint8_t code = *op->at;
    if (op->table == CALLEE_LONG)
        return code < 0x02 || (code >= 0x18 && code < 0x20) || (code >= 0x71 && code < 0x74) || code == 0xae ||
               code == 0xba || code == 0xc7 || (code >= 0x90 && code < 0xa0);
    return op->table == CALLEE_SHORT && ((code >= 0x80 && code < 0x84) || code == 0x8f || code >= 0xc0);
}

/* Registers of 8 bits; some are the second byte of one of the first four. */
static bool end_is_byte(const struct callee_op *op)
{
    const uint8_t code = *op->at;
    if (op->table == CALLEE_LONG)
        return (code >= 0x90 && code < 0xa0) || code == 0xb0 || code == 0xc0 || code == 0xb6 || code == 0xbe;
    return op->table == CALLEE_SHORT && !(code & 1) && (code < 0xd8 || code > 0xdf) && code != LEA;
}

static bool end_names(const struct callee_op *op, uint8_t named, uint8_t reg)
{
    return named == reg || (end_is_byte(op) && !op->rex && named >= 4 && named < 8 && named - 4 == reg);
}

/* Registers that no byte of the instruction names. */
static bool end_uses_unnamed(const struct callee_op *op, uint8_t reg)
{
    const uint8_t code = *op->at, kind = op->at[1] >> 3 & 7;
    if (op->table == CALLEE_VECTOR)
        return code >= 0xf0; /* some of these have a general register more */
    if (op->table == CALLEE_LONG)
        return reg < 4 && (code < 0x02 || code == 0xa5 || code == 0xad || code == 0xb0 || code == 0xb1 || code == 0xc7);
    if (op->table != CALLEE_SHORT)
        return reg == RAX;
    if ((code == 0xf6 || code == 0xf7) && kind >= 4)
        return reg == RAX || reg == RDX;
    return (code == 0xd2 || code == 0xd3) && reg == RCX;
}

static bool end_is_compared(const struct callee_op *op)
{
    return op->table == CALLEE_SHORT && (*op->at == 0x39 || *op->at == 0x3b) && !op->narrow;
}

/* Whether the register gets a value that does not depend on the one that it had. */
static bool end_is_replaced(const struct callee_op *op, bool in_register, bool in_other)
{
    const uint8_t code = *op->at;
    if (op->narrow)
        return false;
    if (op->table == CALLEE_LONG)
        return in_register && !in_other && (code == 0xb6 || code == 0xb7 || code == 0xbe || code == 0xbf);
    if (op->table != CALLEE_SHORT)
        return false;
    if (in_register && in_other)
        return code == 0x31 || code == 0x33;
    if (in_register)
        return code == 0x8b || code == LEA || code == 0x63;
    return code == 0x89 || (code == 0xc7 && (op->at[1] >> 3 & 7) == 0);
}

static enum end_use end_use_of(const struct callee_op *op, uint8_t reg)
{
    if (!op->known)
        return end_use_plain(op, reg);
    if (op->table == CALLEE_LONG && *op->at == 0x1f)
        return END_UNUSED; /* it does nothing */
    const bool memory = callee_op_has_memory(op);
    if (end_uses_unnamed(op, reg) || (memory && callee_op_memory_has(op, reg)))
        return END_OTHER;
    const bool in_register = !end_is_group(op) && end_names(op, callee_op_register(op), reg);
    const bool in_other = !memory && end_names(op, callee_op_other(op), reg);
    if ((!in_register && !in_other) || end_is_compared(op))
        return END_UNUSED;
    return end_is_replaced(op, in_register, in_other) ? END_REPLACED : END_OTHER;
}

/* ---- along the code ---- */

struct end_walk {
    const struct callee_function *f;
    bool *seen; /* by offset */
    uint64_t *list;
    size_t count, room;
};

static bool end_note(struct end_walk *w, uint64_t at)
{
    if (at < w->f->begin || at >= w->f->end)
        return false;
    if (w->seen[at - w->f->begin])
        return true;
    w->seen[at - w->f->begin] = true;
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = at;
    return true;
}

/* A call may get the register, or keep it. */
static bool end_outlives_call(uint8_t reg)
{
    return reg == 3 || reg == CALLEE_FRAME_POINTER || reg >= 12;
}

/* Notes what follows an instruction. False if the register may be used there. */
static bool end_follow(struct end_walk *w, uint64_t next, const struct code_insn *insn, uint8_t reg)
{
    switch (insn->kind) {
    case CODE_JUMP:
        return end_note(w, insn->value);
    case CODE_BRANCH:
        return end_note(w, insn->value) && end_note(w, next);
    case CODE_CALL:
    case CODE_CALL_SLOT:
        return end_outlives_call(reg) && end_note(w, next);
    case CODE_END:
        return reg != RAX && reg != RDX;
    case CODE_CALL_ANY:
    case CODE_JUMP_ANY:
    case CODE_JUMP_SLOT:
        return false;
    default:
        return end_note(w, next);
    }
}

/* At one instruction. */
static bool end_step(struct end_walk *w, uint64_t at, uint8_t reg)
{
    struct code_insn insn;
    uint8_t bytes[CALLEE_LONGEST];
    if (!callee_next(w->f->image, at, w->f->end, bytes, &insn))
        return false;
    const struct callee_op op = callee_op_of(bytes, insn.length);
    const bool goes = insn.kind == CODE_CALL || insn.kind == CODE_CALL_SLOT || insn.kind == CODE_END;
    const enum end_use use = goes ? END_UNUSED : end_use_of(&op, reg);
    return use == END_REPLACED || (use == END_UNUSED && end_follow(w, at + insn.length, &insn, reg));
}

bool end_pointer_is_compared(const struct callee_function *f, uint64_t from, uint8_t reg)
{
    if (f->end - f->begin > MOST_BYTES)
        return false;
    struct end_walk w = { .f = f, .seen = need_memory((size_t)(f->end - f->begin), sizeof *w.seen) };
    bool good = end_note(&w, from);
    while (good && w.count)
        good = end_step(&w, w.list[--w.count], reg);
    free(w.seen);
    free(w.list);
    return good;
}
