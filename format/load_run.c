/* Checks and runs programs of loads. Nothing here needs a library, so that a probe can run them. */
#include <string.h>

#include "load_run.h"

enum { LOAD_X87 = 10, LOAD_QUAD = 16 }; /* bytes of a long double */
enum { LOAD_PAGE = 4096 };              /* memory is readable or not by pages */

enum load_operand { OPERAND_NONE, OPERAND_REGISTER, OPERAND_VECTOR, OPERAND_BYTES, OPERAND_BITS, OPERAND_WIDE };

static const struct {
    uint8_t takes, leaves, operand;
} load_table[LOAD_OPS] = {
    [LOAD_REGISTER] = { 0, 1, OPERAND_REGISTER }, [LOAD_VECTOR] = { 0, 1, OPERAND_VECTOR },
    [LOAD_NUMBER] = { 0, 1, OPERAND_NONE },       [LOAD_MODULE] = { 0, 1, OPERAND_NONE },
    [LOAD_ADD] = { 1, 1, OPERAND_NONE },          [LOAD_MEMORY] = { 1, 1, OPERAND_BYTES },
    [LOAD_SIGNED] = { 1, 1, OPERAND_BITS },       [LOAD_UNSIGNED] = { 1, 1, OPERAND_BITS },
    [LOAD_NEGATE] = { 1, 1, OPERAND_NONE },       [LOAD_INVERT] = { 1, 1, OPERAND_NONE },
    [LOAD_SUM] = { 2, 1, OPERAND_NONE },          [LOAD_DIFFERENCE] = { 2, 1, OPERAND_NONE },
    [LOAD_PRODUCT] = { 2, 1, OPERAND_NONE },      [LOAD_AND] = { 2, 1, OPERAND_NONE },
    [LOAD_OR] = { 2, 1, OPERAND_NONE },           [LOAD_XOR] = { 2, 1, OPERAND_NONE },
    [LOAD_LEFT] = { 2, 1, OPERAND_NONE },         [LOAD_RIGHT] = { 2, 1, OPERAND_NONE },
    [LOAD_RIGHT_SIGNED] = { 2, 1, OPERAND_NONE }, [LOAD_TEXT] = { 1, 0, OPERAND_NONE },
    [LOAD_TEXT_COUNTED] = { 2, 0, OPERAND_NONE }, [LOAD_TEXT_BOUNDED] = { 2, 0, OPERAND_NONE },
    [LOAD_LONG_DOUBLE] = { 1, 1, OPERAND_WIDE },  [LOAD_CPU] = { 0, 1, OPERAND_NONE },
    [LOAD_EQUAL] = { 2, 1, OPERAND_NONE },        [LOAD_NOT_EQUAL] = { 2, 1, OPERAND_NONE },
    [LOAD_LESS] = { 2, 1, OPERAND_NONE },         [LOAD_LESS_EQUAL] = { 2, 1, OPERAND_NONE },
    [LOAD_SELECT] = { 3, 1, OPERAND_NONE },       [LOAD_SWAP] = { 1, 1, OPERAND_BYTES },
    [LOAD_DIVIDE] = { 2, 1, OPERAND_NONE },
};

unsigned load_takes(const struct load *l)
{
    return load_table[l->op].takes;
}

bool load_is_text(const struct load_program *p)
{
    const uint8_t last = p->count ? p->loads[p->count - 1].op : LOAD_OPS;
    return last == LOAD_TEXT || last == LOAD_TEXT_COUNTED || last == LOAD_TEXT_BOUNDED;
}

static bool load_operand_is_good(const struct load *l)
{
    switch (load_table[l->op].operand) {
    case OPERAND_REGISTER:
    case OPERAND_VECTOR:
        return l->operand < LOAD_REGISTERS;
    case OPERAND_BYTES:
        return l->operand >= 1 && l->operand <= 8;
    case OPERAND_BITS:
        return l->operand >= 1 && l->operand <= 64;
    case OPERAND_WIDE:
        return l->operand == LOAD_X87 || l->operand == LOAD_QUAD;
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
        const bool text = l->op == LOAD_TEXT || l->op == LOAD_TEXT_COUNTED || l->op == LOAD_TEXT_BOUNDED;
        if (depth > LOAD_DEPTH || (text && (depth || i + 1 < p->count)))
            return false;
    }
    return depth == 1 || load_is_text(p);
}

/* ---- running ---- */

bool load_can_run(const struct load_program *p)
{
    for (unsigned i = 0; i < p->count; i++) {
        const struct load *l = &p->loads[i];
        if ((l->op == LOAD_REGISTER && l->operand >= LOAD_GENERAL) ||
            (l->op == LOAD_VECTOR && l->operand >= LOAD_VECTORS))
            return false;
    }
    return true;
}

static uint64_t load_extend(uint64_t word, unsigned bits, bool is_signed)
{
    const unsigned spare = 64 - bits;
    return is_signed ? (uint64_t)((int64_t)(word << spare) >> spare) : word << spare >> spare;
}

static uint64_t load_combine(enum load_op op, uint64_t left, uint64_t right)
{
    switch (op) {
    case LOAD_SUM:
        return left + right;
    case LOAD_DIFFERENCE:
        return left - right;
    case LOAD_PRODUCT:
        return left * right;
    case LOAD_AND:
        return left & right;
    case LOAD_OR:
        return left | right;
    case LOAD_XOR:
        return left ^ right;
    case LOAD_LEFT:
        return right < 64 ? left << right : 0;
    case LOAD_RIGHT:
        return right < 64 ? left >> right : 0;
    case LOAD_EQUAL:
        return left == right;
    case LOAD_NOT_EQUAL:
        return left != right;
    case LOAD_LESS:
        return (int64_t)left < (int64_t)right;
    case LOAD_LESS_EQUAL:
        return (int64_t)left <= (int64_t)right;
    default: /* LOAD_RIGHT_SIGNED */
        return (uint64_t)((int64_t)left >> (right < 64 ? right : 63));
    }
}

/* A text may end just before memory that cannot be read. */
static bool load_copy_text(const struct load_state *s, uint64_t address, uint64_t length, bool counted,
                           struct load_result *r)
{
    const uint64_t wanted = length < r->text_room ? length : r->text_room;
    while (r->text_length < wanted) {
        const uint64_t at = address + r->text_length, left = wanted - r->text_length, page = LOAD_PAGE - at % LOAD_PAGE;
        const uint64_t size = left < page ? left : page;
        char *into = r->text + r->text_length;
        if (!s->read(s->data, at, into, size))
            return false;
        const char *end = counted ? NULL : memchr(into, 0, size);
        r->text_length += end ? (uint64_t)(end - into) : size;
        if (end)
            return true;
    }
    char next = 0;
    r->cut = length > wanted && (counted || !s->read(s->data, address + wanted, &next, 1) || next);
    return true;
}

bool load_text(const struct load_state *s, uint64_t address, struct load_result *result)
{
    return load_copy_text(s, address, UINT64_MAX, false, result);
}

bool load_counted_text(const struct load_state *s, uint64_t address, uint64_t length, struct load_result *result)
{
    return load_copy_text(s, address, length, true, result);
}

/* The double that is nearest to fraction * 2^(exponent - 63), of which `fraction` has its highest bit, and `more` says
 * that bits below are not zero. `exponent` is that of a double with its bias. */
static uint64_t load_round(uint64_t fraction, bool more, int64_t exponent)
{
    enum { DROPPED = 11, INFINITE = 0x7ff };
    const int64_t shift = DROPPED + (exponent < 1 ? 1 - exponent : 0); /* more for numbers near zero */
    if (exponent >= INFINITE)
        return (uint64_t)INFINITE << 52;
    if (shift > 64)
        return 0;
    const uint64_t kept = shift < 64 ? fraction >> shift : 0, half = UINT64_C(1) << (shift - 1);
    const uint64_t rest = shift < 64 ? fraction & ((UINT64_C(1) << shift) - 1) : fraction;
    const bool up = rest > half || (rest == half && (more || kept & 1));
    const uint64_t hidden = exponent < 1 ? 0 : ((uint64_t)exponent - 1) << 52; /* the highest bit adds one */
    return hidden + kept + up;
}

/* A long double of x87 or of 113 bits as a double. */
static uint64_t load_narrow(const uint8_t *bytes, unsigned size)
{
    uint64_t low, high;
    memcpy(&low, bytes, sizeof low);
    high = 0;
    memcpy(&high, bytes + sizeof low, size - sizeof low);
    const bool x87 = size == LOAD_X87;
    const uint64_t top = x87 ? high : high >> 48, exponent = top & 0x7fff, sign = top >> 15 << 63;
    const uint64_t fraction = x87 ? low : high << 15 | low >> 49 | (exponent ? UINT64_C(1) << 63 : 0);
    const bool more = !x87 && low << 15;
    const int64_t moved = (int64_t)exponent - 0x3fff + 0x3ff;
    if (exponent == 0x7fff) /* endless, or no number */
        return sign | UINT64_C(0x7ff0000000000000) | (fraction << 1 || more ? UINT64_C(1) << 51 : 0);
    return sign | (fraction >> 63 ? load_round(fraction, more, moved) : 0);
}

static bool load_cpu(const struct load_state *s, uint64_t *word)
{
    const int32_t number = s->cpu ? s->cpu() : -1;
    *word = (uint64_t)number;
    return number >= 0;
}

static bool load_step(const struct load *l, const struct load_state *s, uint64_t *stack, unsigned *depth)
{
    uint64_t *top = &stack[*depth ? *depth - 1 : 0], word = 0;
    uint8_t wide[LOAD_QUAD];
    switch ((enum load_op)l->op) {
    case LOAD_REGISTER:
        stack[(*depth)++] = s->general[l->operand];
        break;
    case LOAD_VECTOR:
        stack[(*depth)++] = s->vectors[l->operand];
        break;
    case LOAD_NUMBER:
        stack[(*depth)++] = (uint64_t)l->number;
        break;
    case LOAD_MODULE:
        stack[(*depth)++] = s->module + (uint64_t)l->number;
        break;
    case LOAD_ADD:
        *top += (uint64_t)l->number;
        break;
    case LOAD_MEMORY:
        if (!s->read(s->data, *top, &word, l->operand))
            return false;
        *top = word;
        break;
    case LOAD_LONG_DOUBLE:
        if (!s->read(s->data, *top, wide, l->operand))
            return false;
        *top = load_narrow(wide, l->operand);
        break;
    case LOAD_SIGNED:
    case LOAD_UNSIGNED:
        *top = load_extend(*top, l->operand, l->op == LOAD_SIGNED);
        break;
    case LOAD_CPU:
        return load_cpu(s, &stack[(*depth)++]);
    case LOAD_NEGATE:
        *top = -*top;
        break;
    case LOAD_INVERT:
        *top = ~*top;
        break;
    case LOAD_DIVIDE:
        --*depth;
        if (!*top)
            return false;
        top[-1] = *top == UINT64_MAX ? -top[-1] : (uint64_t)((int64_t)top[-1] / (int64_t)*top);
        break;
    case LOAD_SWAP:
        *top = __builtin_bswap64(*top) >> (64 - 8 * l->operand);
        break;
    case LOAD_SELECT:
        *depth -= 2;
        top[-2] = *top ? top[-2] : top[-1];
        break;
    default:
        --*depth;
        top[-1] = load_combine((enum load_op)l->op, top[-1], *top);
    }
    return true;
}

bool load_run(const struct load_program *p, const struct load_state *s, struct load_result *result)
{
    uint64_t stack[LOAD_DEPTH] = { 0 };
    unsigned depth = 0;
    result->text_length = 0;
    result->cut = false;
    for (unsigned i = 0; i < p->count; i++) {
        const struct load *l = &p->loads[i];
        if (l->op == LOAD_TEXT)
            return load_text(s, stack[0], result);
        if (l->op == LOAD_TEXT_COUNTED)
            return load_counted_text(s, stack[0], stack[1], result);
        if (l->op == LOAD_TEXT_BOUNDED)
            return load_copy_text(s, stack[0], stack[1], false, result);
        if (!load_step(l, s, stack, &depth))
            return false;
    }
    result->word = stack[0];
    return true;
}
