/* The x86-64 instructions behind the byte 0f, and those of vectors: their lengths, and the general registers that they
 * write. */
#include "levels/x86_state.h"

/* Whether an instruction of the map 0f ends with a byte of its own. */
static bool x86_0f_has_byte(uint8_t op)
{
    return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
           (op >= 0xc4 && op <= 0xc6) || op == 0x0f;
}

static bool x86_0f_has_no_operands(uint8_t op)
{
    return (op >= 0x05 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
           (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf);
}

static void x86_0f_plain(struct x86_state *s, uint8_t op)
{
    if (op >= 0xc8)
        x86_writes(s, X86_BIT((op & 7) | s->rm_high));
    else if (op != 0x77)
        x86_writes(s, X86_BIT(RAX) | X86_BIT(RCX) | X86_BIT(RDX) | X86_BIT(RBX) | X86_BIT(11));
    if (op == 0x0b)
        s->insn->kind = X86_END;
}

/* The general registers that instructions of the map 0f write. */
static void x86_0f_registers(struct x86_state *s, uint8_t op)
{
    if ((op >= 0x40 && op < 0x50) || op == 0x02 || op == 0x03 || op == 0x2c || op == 0x2d || op == 0x50 || op == 0xaf ||
        op == 0xb2 || (op >= 0xb4 && op <= 0xb8) || (op >= 0xbc && op <= 0xbf) || op == 0xc5 || op == 0xd7)
        x86_writes_reg(s);
    else if (op < 0x02 || (op >= 0x20 && op <= 0x23) || op == 0x78 || op == 0x79 || op == 0x7e ||
             (op >= 0x90 && op < 0xa0) || op == 0xa4 || op == 0xa5 || op == 0xab || (op >= 0xac && op <= 0xae) ||
             op == 0xb3 || op == 0xba || op == 0xbb)
        x86_writes_rm(s);
    if (op < 0x02)
        x86_writes(s, X86_BIT(RAX) | X86_BIT(RCX) | X86_BIT(RDX) | X86_BIT(RBX));
    if (op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1 || op == 0xc7) {
        x86_writes_reg(s);
        x86_writes_rm(s);
        x86_writes(s, X86_BIT(RAX) | X86_BIT(RDX));
    }
    if ((op >= 0x90 && op < 0xa0) || op == 0xb0 || op == 0xc0)
        x86_widen_byte_registers(s);
}

static bool x86_map_0f(struct x86_state *s, uint8_t op)
{
    if (op >= 0x80 && op < 0x90) {
        x86_relative(s, X86_BRANCH, 4);
        return true;
    }
    if (x86_0f_has_no_operands(op)) {
        x86_0f_plain(s, op);
        return true;
    }
    if (op == 0x04 || (op >= 0x24 && op <= 0x27) || (op >= 0x39 && op <= 0x3f) || op == 0xa6 || op == 0xa7)
        return false;
    x86_modrm(s);
    x86_0f_registers(s, op);
    if (x86_0f_has_byte(op))
        x86_skip(s, 1);
    return true;
}

/* The maps 0f 38 and 0f 3a. */
static void x86_map_0f38(struct x86_state *s, uint8_t op)
{
    x86_modrm(s);
    if (op >= 0xf0)
        x86_writes_reg(s);
}

static void x86_map_0f3a(struct x86_state *s, uint8_t op)
{
    x86_modrm(s);
    x86_skip(s, 1);
    if (op >= 0x14 && op <= 0x17)
        x86_writes_rm(s);
    if (op >= 0x60 && op <= 0x63)
        x86_writes(s, X86_BIT(RCX));
    if (op == 0xf0)
        x86_writes_reg(s);
}

bool x86_two_bytes(struct x86_state *s)
{
    const uint8_t op = x86_byte(s);
    if (op == 0x38)
        x86_map_0f38(s, x86_byte(s));
    else if (op == 0x3a)
        x86_map_0f3a(s, x86_byte(s));
    else
        return x86_map_0f(s, op);
    return true;
}

static bool x86_vector_map(struct x86_state *s, int map, uint8_t op)
{
    if (map == 1) {
        if (op == 0x77)
            return true;
        x86_modrm(s);
        if (op == 0x93 || op == 0x78 || op == 0x79)
            x86_writes_reg(s);
        else if (op < 0x90 || op > 0x9f)
            x86_0f_registers(s, op);
        if (x86_0f_has_byte(op))
            x86_skip(s, 1);
        return true;
    }
    if (map == 2) {
        x86_map_0f38(s, op);
        if (op >= 0xf0)
            x86_writes(s, X86_BIT(s->vvvv));
        return true;
    }
    if (map == 3) {
        x86_map_0f3a(s, op);
        return true;
    }
    return false;
}

bool x86_vex(struct x86_state *s, uint8_t op)
{
    const uint8_t first = x86_byte(s);
    int map = 1;
    uint8_t last = first;
    s->reg_high = first & 0x80 ? 0 : 8;
    if (op == 0xc4) {
        s->rm_high = first & 0x20 ? 0 : 8;
        map = first & 0x1f;
        last = x86_byte(s);
    }
    s->vvvv = ~last >> 3 & 15;
    return x86_vector_map(s, map, x86_byte(s));
}

/* The registers above the fifteenth are vector registers: their numbers' lower bits are reported, which does no harm.
 */
bool x86_evex(struct x86_state *s)
{
    const uint8_t first = x86_byte(s), second = x86_byte(s);
    x86_skip(s, 1);
    s->reg_high = first & 0x80 ? 0 : 8;
    s->rm_high = first & 0x20 ? 0 : 8;
    s->vvvv = ~second >> 3 & 15;
    return x86_vector_map(s, first & 7, x86_byte(s));
}
