/* Makes programs of loads, checks them and describes them. */
#include "arguments/load_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum load_operand { OPERAND_NONE, OPERAND_REGISTER, OPERAND_VECTOR, OPERAND_BYTES, OPERAND_BITS };

static const struct {
    uint8_t takes, leaves, operand;
    const char *sign; /* of an instruction with two words */
} load_table[LOAD_OPS] = {
    [LOAD_REGISTER] = { 0, 1, OPERAND_REGISTER, NULL },
    [LOAD_VECTOR] = { 0, 1, OPERAND_VECTOR, NULL },
    [LOAD_NUMBER] = { 0, 1, OPERAND_NONE, NULL },
    [LOAD_MODULE] = { 0, 1, OPERAND_NONE, NULL },
    [LOAD_ADD] = { 1, 1, OPERAND_NONE, NULL },
    [LOAD_MEMORY] = { 1, 1, OPERAND_BYTES, NULL },
    [LOAD_SIGNED] = { 1, 1, OPERAND_BITS, NULL },
    [LOAD_UNSIGNED] = { 1, 1, OPERAND_BITS, NULL },
    [LOAD_NEGATE] = { 1, 1, OPERAND_NONE, NULL },
    [LOAD_INVERT] = { 1, 1, OPERAND_NONE, NULL },
    [LOAD_SUM] = { 2, 1, OPERAND_NONE, "+" },
    [LOAD_DIFFERENCE] = { 2, 1, OPERAND_NONE, "-" },
    [LOAD_PRODUCT] = { 2, 1, OPERAND_NONE, "*" },
    [LOAD_AND] = { 2, 1, OPERAND_NONE, "&" },
    [LOAD_OR] = { 2, 1, OPERAND_NONE, "|" },
    [LOAD_XOR] = { 2, 1, OPERAND_NONE, "^" },
    [LOAD_LEFT] = { 2, 1, OPERAND_NONE, "<<" },
    [LOAD_RIGHT] = { 2, 1, OPERAND_NONE, ">>" },
    [LOAD_RIGHT_SIGNED] = { 2, 1, OPERAND_NONE, ">>" },
    [LOAD_TEXT] = { 1, 0, OPERAND_NONE, NULL },
    [LOAD_TEXT_COUNTED] = { 2, 0, OPERAND_NONE, NULL },
};

/* Adding twice is adding once. */
static bool load_fold(struct load_program *p, int64_t number)
{
    struct load *last = p->count ? &p->loads[p->count - 1] : NULL;
    if (!last || last->op != LOAD_ADD)
        return number == 0 && last;
    last->number = (int64_t)((uint64_t)last->number + (uint64_t)number);
    p->count -= last->number == 0;
    return true;
}

bool load_add(struct load_program *p, enum load_op op, unsigned operand, int64_t number)
{
    if (op == LOAD_ADD && load_fold(p, number))
        return true;
    if (p->count == LOAD_MOST)
        return false;
    p->loads[p->count++] = (struct load){ (uint8_t)op, (uint8_t)operand, number };
    return true;
}

bool load_is_text(const struct load_program *p)
{
    const uint8_t last = p->count ? p->loads[p->count - 1].op : LOAD_OPS;
    return last == LOAD_TEXT || last == LOAD_TEXT_COUNTED;
}

static bool load_operand_is_good(const struct load *l)
{
    switch (load_table[l->op].operand) {
    case OPERAND_REGISTER:
        return l->operand < LOAD_GENERAL;
    case OPERAND_VECTOR:
        return l->operand < LOAD_VECTORS;
    case OPERAND_BYTES:
        return l->operand >= 1 && l->operand <= 8;
    case OPERAND_BITS:
        return l->operand >= 1 && l->operand <= 64;
    default:
        return true;
    }
}

bool load_check(const struct load_program *p)
{
    unsigned depth = 0;
    if (p->count == 0 || p->count > LOAD_MOST)
        return false;
    for (unsigned i = 0; i < p->count; i++) {
        const struct load *l = &p->loads[i];
        if (l->op >= LOAD_OPS || !load_operand_is_good(l) || depth < load_table[l->op].takes)
            return false;
        depth = depth - load_table[l->op].takes + load_table[l->op].leaves;
        const bool text = l->op == LOAD_TEXT || l->op == LOAD_TEXT_COUNTED;
        if (depth > LOAD_DEPTH || (text && (depth || i + 1 < p->count)))
            return false;
    }
    return depth == 1 || load_is_text(p);
}

/* ---- for people ---- */

static const char *const load_registers[LOAD_GENERAL] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

/* The text of an instruction, from those of the words that it takes, which it frees. */
static char *load_text_of(const struct load *l, char *left, char *right)
{
    const uint64_t size = l->number < 0 ? -(uint64_t)l->number : (uint64_t)l->number;
    char *text;
    switch ((enum load_op)l->op) {
    case LOAD_REGISTER:
        return need_text("%s", load_registers[l->operand]);
    case LOAD_VECTOR:
        return need_text("xmm%u", l->operand);
    case LOAD_NUMBER:
        return need_text("%" PRId64, l->number);
    case LOAD_MODULE:
        return need_text("module+0x%" PRIx64, (uint64_t)l->number);
    case LOAD_ADD:
        text = need_text("%s%s%" PRIu64, left, l->number < 0 ? "-" : "+", size);
        break;
    case LOAD_MEMORY:
        text = l->operand == 8 ? need_text("[%s]", left) : need_text("[%s]:%u", left, l->operand);
        break;
    case LOAD_SIGNED:
    case LOAD_UNSIGNED:
        return left; /* how it is shown, which the type says as well */
    case LOAD_NEGATE:
        text = need_text("-(%s)", left);
        break;
    case LOAD_INVERT:
        text = need_text("~(%s)", left);
        break;
    case LOAD_TEXT:
        text = need_text("text at %s", left);
        break;
    case LOAD_TEXT_COUNTED:
        text = need_text("text at %s, %s bytes", left, right);
        break;
    default:
        text = need_text("(%s %s %s)", left, load_table[l->op].sign, right);
        break;
    }
    free(left);
    free(right);
    return text;
}

char *load_describe(const struct load_program *p)
{
    char *stack[LOAD_DEPTH + 1] = { NULL };
    unsigned depth = 0;
    if (!load_check(p))
        return NULL;
    for (unsigned i = 0; i < p->count; i++) {
        const struct load *l = &p->loads[i];
        char *right = load_table[l->op].takes == 2 ? stack[--depth] : NULL;
        char *left = load_table[l->op].takes ? stack[--depth] : NULL;
        stack[depth++] = load_text_of(l, left, right);
    }
    return stack[0];
}
