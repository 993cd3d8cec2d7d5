/* Decodes x86-64 instructions as far as needed to find the calls of the probes. Of the registers that an instruction
 * writes, it may report more than it does, but never fewer. */
#include "levels/x86_state.h"

/* The first instructions of both maps: eight arithmetic ones in six forms. */
static bool x86_arithmetic(struct x86_state *s, uint8_t op)
{
    const bool compares = (op & 0x38) == 0x38;
    switch (op & 7) {
    case 4:
        x86_skip(s, 1);
        break;
    case 5:
        x86_immediate(s);
        break;
    case 6:
    case 7:
        return false;
    default:
        x86_modrm(s);
        if (!compares && op & 2)
            x86_writes_reg(s);
        else if (!compares)
            x86_writes_rm(s);
        if (!(op & 1))
            x86_widen_byte_registers(s);
        return true;
    }
    if (!compares)
        x86_writes(s, X86_BIT(RAX));
    return true;
}

static bool x86_move_immediate(struct x86_state *s, uint8_t op)
{
    const uint8_t to = (op & 7) | s->rm_high;
    x86_writes(s, X86_BIT(to));
    if (op < 0xb8) {
        x86_skip(s, 1);
        x86_widen_byte_registers(s);
        return true;
    }
    if (s->operand_size && !s->wide) {
        x86_skip(s, 2);
        return true;
    }
    s->insn->kind = X86_CONSTANT;
    s->insn->to = to;
    s->insn->value = x86_bytes(s, 4);
    if (s->wide)
        s->insn->value |= (uint64_t)x86_bytes(s, 4) << 32;
    return true;
}

static bool x86_group_ff(struct x86_state *s)
{
    x86_modrm(s);
    switch (s->reg & 7) {
    case 0:
    case 1:
        x86_writes_rm(s);
        return true;
    case 2:
        s->insn->kind = s->has_address ? X86_CALL_SLOT : X86_CALL_ANY;
        return true;
    case 4:
        s->insn->kind = s->has_address ? X86_JUMP_SLOT : X86_JUMP_ANY;
        return true;
    case 6:
        return true;
    default:
        return false;
    }
}

static void x86_group_f6(struct x86_state *s, uint8_t op)
{
    x86_modrm(s);
    const uint8_t what = s->reg & 7;
    if (what < 2 && op == 0xf6)
        x86_skip(s, 1);
    else if (what < 2)
        x86_immediate(s);
    else if (what < 4)
        x86_writes_rm(s);
    else
        x86_writes(s, X86_BIT(RAX) | X86_BIT(RDX));
    if (op == 0xf6)
        x86_widen_byte_registers(s);
}

/* mov, lea and similar: 0x84 to 0x8f. */
static bool x86_moves(struct x86_state *s, uint8_t op)
{
    x86_modrm(s);
    const bool both = s->mod == 3 && s->wide;
    switch (op) {
    case 0x84:
    case 0x85:
    case 0x8e:
        return true;
    case 0x86:
    case 0x87:
        x86_writes_reg(s);
        x86_writes_rm(s);
        break;
    case 0x88:
    case 0x89:
    case 0x8c:
        x86_writes_rm(s);
        if (op == 0x89 && both)
            s->insn->kind = X86_COPY, s->insn->to = s->rm, s->insn->from = s->reg;
        break;
    case 0x8a:
    case 0x8b:
        x86_writes_reg(s);
        if (op == 0x8b && both)
            s->insn->kind = X86_COPY, s->insn->to = s->reg, s->insn->from = s->rm;
        else if (op == 0x8b && s->wide && s->has_address)
            s->insn->kind = X86_LOAD, s->insn->to = s->reg;
        break;
    case 0x8d:
        x86_writes_reg(s);
        if (s->wide && s->has_address)
            s->insn->kind = X86_CONSTANT, s->insn->to = s->reg;
        break;
    default: /* 0x8f: pop, unless it begins one of AMD's own instructions */
        x86_writes_rm(s);
        return (s->reg & 7) == 0;
    }
    if (!(op & 1))
        x86_widen_byte_registers(s);
    return true;
}

/* Instructions on strings and in and out: all that they may use. */
enum { X86_STRING = 1u << RAX | 1u << RCX | 1u << RSI | 1u << RDI };

static bool x86_from_90(struct x86_state *s, uint8_t op)
{
    if (op < 0x98) {
        x86_writes(s, X86_BIT(RAX) | X86_BIT((op & 7) | s->rm_high));
        if (op == 0x90 && !s->rm_high)
            s->insn->writes = 0; /* nop, pause */
        return true;
    }
    switch (op) {
    case 0x98:
    case 0x9f:
        x86_writes(s, X86_BIT(RAX));
        return true;
    case 0x99:
        x86_writes(s, X86_BIT(RDX));
        return true;
    case 0x9b:
    case 0x9c:
    case 0x9d:
    case 0x9e:
        return true;
    case 0xa8:
        x86_skip(s, 1);
        return true;
    case 0xa9:
        x86_immediate(s);
        return true;
    default:
        if (op == 0x9a)
            return false;
        if (op < 0xa4)
            x86_skip(s, 8);
        x86_writes(s, X86_STRING);
        return true;
    }
}

static bool x86_from_c0(struct x86_state *s, uint8_t op)
{
    switch (op) {
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        x86_modrm(s);
        x86_writes_rm(s);
        if (!(op & 1))
            x86_widen_byte_registers(s);
        if (op < 0xd0)
            x86_skip(s, 1);
        return true;
    case 0xc2:
        x86_skip(s, 2);
        s->insn->kind = X86_END;
        return true;
    case 0xc3:
        s->insn->kind = X86_END;
        return true;
    case 0xc6:
        x86_modrm(s);
        x86_writes_rm(s);
        x86_widen_byte_registers(s);
        x86_skip(s, 1);
        return s->reg == s->reg_high;
    case 0xc7:
        x86_modrm(s);
        x86_writes_rm(s);
        if (s->wide && s->mod == 3) {
            s->insn->kind = X86_CONSTANT;
            s->insn->to = s->rm;
            s->insn->value = (uint64_t)(int32_t)x86_bytes(s, 4);
        } else {
            x86_immediate(s);
        }
        return s->reg == s->reg_high;
    case 0xc9:
        x86_writes(s, X86_BIT(RBP));
        return true;
    case 0xcc:
        return true;
    case 0xd7:
        x86_writes(s, X86_BIT(RAX));
        return true;
    default:
        if (op < 0xd8)
            return false;
        x86_modrm(s); /* x87; fnstsw writes rax */
        x86_writes(s, X86_BIT(RAX));
        return true;
    }
}

static bool x86_from_e0(struct x86_state *s, uint8_t op)
{
    switch (op) {
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
        x86_writes(s, X86_BIT(RCX));
        x86_relative(s, X86_BRANCH, 1);
        return true;
    case 0xe8:
        x86_relative(s, X86_CALL, 4);
        return true;
    case 0xe9:
        x86_relative(s, X86_JUMP, 4);
        return true;
    case 0xeb:
        x86_relative(s, X86_JUMP, 1);
        return true;
    case 0xf4:
        s->insn->kind = X86_END;
        return true;
    case 0xf5:
    case 0xf8:
    case 0xf9:
    case 0xfc:
    case 0xfd:
        return true;
    case 0xf6:
    case 0xf7:
        x86_group_f6(s, op);
        return true;
    case 0xfe:
        x86_modrm(s);
        x86_writes_rm(s);
        x86_widen_byte_registers(s);
        return (s->reg & 7) < 2;
    case 0xff:
        return x86_group_ff(s);
    default:
        return false;
    }
}

static bool x86_from_50(struct x86_state *s, uint8_t op)
{
    switch (op) {
    case 0x63:
        x86_modrm(s);
        x86_writes_reg(s);
        return true;
    case 0x68:
        x86_immediate(s);
        return true;
    case 0x69:
        x86_modrm(s);
        x86_writes_reg(s);
        x86_immediate(s);
        return true;
    case 0x6a:
        x86_skip(s, 1);
        return true;
    case 0x6b:
        x86_modrm(s);
        x86_writes_reg(s);
        x86_skip(s, 1);
        return true;
    default:
        if (op >= 0x60)
            return false;
        if (op >= 0x58)
            x86_writes(s, X86_BIT((op & 7) | s->rm_high));
        return true;
    }
}

static bool x86_one_byte(struct x86_state *s, uint8_t op)
{
    if (op < 0x40)
        return x86_arithmetic(s, op);
    if (op < 0x70)
        return x86_from_50(s, op);
    if (op < 0x80) {
        x86_relative(s, X86_BRANCH, 1);
        return true;
    }
    if (op < 0x84) {
        x86_modrm(s);
        if ((s->reg & 7) != 7)
            x86_writes_rm(s);
        if (!(op & 1))
            x86_widen_byte_registers(s);
        if (op == 0x81)
            x86_immediate(s);
        else
            x86_skip(s, 1);
        return op != 0x82;
    }
    if (op < 0x90)
        return x86_moves(s, op);
    if (op < 0xb0)
        return x86_from_90(s, op);
    if (op < 0xc0)
        return x86_move_immediate(s, op);
    return op < 0xe0 ? x86_from_c0(s, op) : x86_from_e0(s, op);
}

static bool x86_is_prefix(struct x86_state *s, uint8_t byte)
{
    switch (byte) {
    case 0x66:
        s->operand_size = true;
        return true;
    case 0xf2:
    case 0xf3:
        s->repeat = true;
        return true;
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x26:
    case 0x64:
    case 0x65:
    case 0x67:
    case 0xf0:
        return true;
    default:
        return false;
    }
}

static bool x86_instruction(struct x86_state *s)
{
    uint8_t op = x86_byte(s);
    bool segment = false;
    while (x86_is_prefix(s, op) && s->at < s->end) {
        segment |= op == 0x64 || op == 0x65 || op == 0x67;
        op = x86_byte(s);
    }
    if (op >= 0x40 && op < 0x50) {
        s->rex = true;
        s->wide = op & 8;
        s->reg_high = op & 4 ? 8 : 0;
        s->rm_high = op & 1 ? 8 : 0;
        op = x86_byte(s);
    }
    bool known;
    if (op == 0x0f) {
        known = x86_two_bytes(s);
    } else if (op == 0xc4 || op == 0xc5) {
        known = x86_vex(s, op);
    } else if (op == 0x62) {
        known = x86_evex(s);
    } else {
        known = x86_one_byte(s, op);
    }
    if (segment && s->insn->kind == X86_LOAD)
        s->insn->kind = X86_OTHER; /* of thread-local memory */
    if (segment && s->insn->kind == X86_CALL_SLOT)
        s->insn->kind = X86_CALL_ANY;
    if (segment && s->insn->kind == X86_JUMP_SLOT)
        s->insn->kind = X86_JUMP_ANY;
    return known;
}

bool x86_decode_slowly(const uint8_t *code, size_t room, uint64_t address, struct x86_insn *insn)
{
    if (room > X86_MAX_LENGTH)
        room = X86_MAX_LENGTH;
    *insn = (struct x86_insn){ .kind = X86_OTHER };
    struct x86_state s = { .code = code, .at = code, .end = code + room, .address = address, .insn = insn };
    if (!x86_instruction(&s) || s.at > s.end)
        return false;
    insn->length = (uint8_t)(s.at - code);
    const bool memory = insn->kind == X86_CALL_SLOT || insn->kind == X86_JUMP_SLOT || insn->kind == X86_LOAD ||
                        (insn->kind == X86_CONSTANT && s.has_address);
    if (memory)
        insn->value = address + insn->length + (uint64_t)(int64_t)s.displacement;
    return true;
}
