/* Decodes the x86-64 instructions that move the stack pointer, and those that spill registers. */
#include "levels/x86_stack.h"

#include <string.h>

enum { RSP = X86_RSP, RBP = X86_RBP, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1, BASE_RSP = 0x24 };

const uint8_t x86_stack_opcodes[256] = {
    [0x50 ... 0x5f] = STACK_FIRST | STACK_BEHIND_REX,
    [0x66] = STACK_FIRST,
    [0x68] = STACK_FIRST,
    [0x6a] = STACK_FIRST,
    [0x81] = STACK_BEHIND_REX,
    [0x83] = STACK_BEHIND_REX,
    [0x89] = STACK_BEHIND_REX,
    [0x8b] = STACK_BEHIND_REX,
    [0x8d] = STACK_BEHIND_REX,
    [0x8f] = STACK_FIRST | STACK_BEHIND_REX,
    [0x9c ... 0x9d] = STACK_FIRST,
    [0xc7] = STACK_BEHIND_REX,
    [0xc9] = STACK_FIRST,
    [0xff] = STACK_FIRST | STACK_BEHIND_REX,
};

static int32_t x86_stack_number(const uint8_t *at, bool is_byte)
{
    int32_t number;
    if (is_byte)
        return (int8_t)*at;
    memcpy(&number, at, sizeof number);
    return number;
}

/* Memory at rsp or rbp without an index. `at` is modrm; returns what follows, or NULL. */
static const uint8_t *x86_stack_memory(const uint8_t *at, unsigned rex, struct x86_stack_insn *made)
{
    const unsigned modrm = *at++, mod = modrm >> 6;
    made->reg = (uint8_t)((modrm >> 3 & 7) | (rex & REX_R) << 1);
    made->base = modrm & 7;
    if (mod == 3 || rex & (REX_B | REX_X) || (made->base != RSP && made->base != RBP))
        return NULL;
    if (made->base == RSP && *at++ != BASE_RSP)
        return NULL;
    if (made->base == RBP && mod == 0)
        return NULL; /* relative to the instruction */
    made->displacement = mod ? x86_stack_number(at, mod == 1) : 0;
    return at + (mod == 2 ? 4 : mod);
}

static bool x86_stack_moves(struct x86_stack_insn *made, int64_t value)
{
    made->kind = STACK_MOVES;
    made->value = value;
    return true;
}

static bool x86_stack_leaves(struct x86_stack_insn *made)
{
    made->kind = STACK_LEAVES;
    return true;
}

/* Arithmetic with a constant. `at` is modrm. */
static bool x86_stack_arithmetic(const uint8_t *at, unsigned rex, bool is_byte, struct x86_stack_insn *made)
{
    const unsigned what = *at >> 3 & 7;
    if ((*at & 0xc7) != (0xc0 | RSP) || rex & REX_B || what == 7)
        return false;
    const int64_t value = x86_stack_number(at + 1, is_byte);
    return what && what != 5 ? x86_stack_leaves(made) : x86_stack_moves(made, what ? -value : value);
}

/* mov and lea of 64 bits. `at` is modrm. */
static bool x86_stack_move(unsigned op, const uint8_t *at, unsigned rex, struct x86_stack_insn *made)
{
    const uint8_t *rest = x86_stack_memory(at, rex, made);
    const bool to_rsp = made->reg == RSP && (op == 0x8b || op == 0x8d);
    if (to_rsp && op == 0x8d && rest && made->base == RSP)
        return x86_stack_moves(made, made->displacement);
    if (to_rsp)
        return (op == 0x8d || *at < 0xc0) && x86_stack_leaves(made);
    if (!rest || op == 0x8d)
        return false;
    made->kind = op == 0x89 ? STACK_SPILL : op == 0x8b ? STACK_FILL : STACK_STORE;
    if (op == 0xc7)
        made->value = x86_stack_number(rest, false);
    return true;
}

static bool x86_stack_pushes(const uint8_t *at, unsigned rex, struct x86_stack_insn *made)
{
    switch (*at) {
    case 0x50 ... 0x57:
    case 0x68:
    case 0x6a:
    case 0x9c:
        return x86_stack_moves(made, -8);
    case 0x58 ... 0x5f:
        return *at == 0x58 + RSP && !(rex & REX_B) ? x86_stack_leaves(made) : x86_stack_moves(made, 8);
    case 0x8f:
    case 0x9d:
        return x86_stack_moves(made, 8);
    case 0xc9:
        return x86_stack_leaves(made);
    case 0xff:
        return (at[1] >> 3 & 7) == 6 && x86_stack_moves(made, -8);
    default:
        return false;
    }
}

bool x86_stack_decode(const uint8_t *code, const struct x86_insn *insn, struct x86_stack_insn *made)
{
    const uint8_t *at = code;
    const unsigned rex = (*at & 0xf0) == 0x40 ? *at++ : 0;
    *made = (struct x86_stack_insn){ .kind = STACK_LEAVES };
    if (insn->kind != X86_OTHER)
        return insn->kind != X86_COPY && insn->writes >> RSP & 1;
    if (*at == 0x66) /* a push of two bytes is rare */
        return insn->writes >> RSP & 1 || (at[1] >= 0x50 && at[1] < 0x60) || at[1] == 0x68 || at[1] == 0x6a ||
               at[1] == 0x9c || at[1] == 0x9d;
    if (x86_stack_pushes(at, rex, made))
        return true;
    if (rex & REX_W && (*at == 0x81 || *at == 0x83))
        return x86_stack_arithmetic(at + 1, rex, *at == 0x83, made);
    if (rex & REX_W && (*at == 0x89 || *at == 0x8b || *at == 0x8d || *at == 0xc7))
        return x86_stack_move(*at, at + 1, rex, made);
    return insn->writes >> RSP & 1;
}
