/* Makes programs of loads, and describes them. */
#include "arguments/load_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

/* Where the instructions begin that leave the uppermost word when those up to `end` have run; `end` if there is none.
 * No text is among them. */
static unsigned load_word_begin(const struct load_program *p, unsigned end)
{
    for (unsigned missing = 1, i = end; i-- > 0;) {
        missing += load_takes(&p->loads[i]) - 1;
        if (!missing)
            return i;
    }
    return end;
}

bool load_add_copy(struct load_program *p, unsigned above)
{
    unsigned end = p->count, begin = load_word_begin(p, end);
    for (; above && begin < end; above--) {
        end = begin;
        begin = load_word_begin(p, end);
    }
    const unsigned count = end - begin;
    if (!count || count > LOAD_MOST - p->count)
        return false;
    memcpy(&p->loads[p->count], &p->loads[begin], count * sizeof *p->loads);
    p->count += count;
    return true;
}

bool load_swap(struct load_program *p)
{
    struct load upper[LOAD_MOST];
    const unsigned middle = load_word_begin(p, p->count), begin = load_word_begin(p, middle);
    const unsigned count = p->count - middle;
    if (begin == middle || middle == p->count)
        return false;
    memcpy(upper, &p->loads[middle], count * sizeof *upper);
    memmove(&p->loads[begin + count], &p->loads[begin], (middle - begin) * sizeof *upper);
    memcpy(&p->loads[begin], upper, count * sizeof *upper);
    return true;
}

bool load_drop(struct load_program *p)
{
    const unsigned begin = load_word_begin(p, p->count);
    const bool any = begin < p->count;
    p->count = begin;
    return any;
}

/* ---- for people ---- */

static const char *const load_signs[LOAD_OPS] = {
    /* of instructions with two words */
    [LOAD_SUM] = "+",         [LOAD_DIFFERENCE] = "-", [LOAD_PRODUCT] = "*",
    [LOAD_AND] = "&",         [LOAD_OR] = "|",         [LOAD_XOR] = "^",
    [LOAD_LEFT] = "<<",       [LOAD_RIGHT] = ">>",     [LOAD_RIGHT_SIGNED] = ">>",
    [LOAD_EQUAL] = "==",      [LOAD_NOT_EQUAL] = "!=", [LOAD_LESS] = "<",
    [LOAD_LESS_EQUAL] = "<=", [LOAD_DIVIDE] = "/",
};

const struct load_names load_names_x86 = {
    .general = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                 "r15" },
    .vector = "xmm",
};

const struct load_names load_names_aarch64 = {
    .general = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
                 "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
                 "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp" },
    .vector = "v",
};

/* The text of an instruction, from those of the words that it takes, which it frees. */
static char *load_text_of(const struct load *l, const struct load_names *names, char *left, char *right)
{
    const uint64_t size = l->number < 0 ? -(uint64_t)l->number : (uint64_t)l->number;
    char *text;
    switch ((enum load_op)l->op) {
    case LOAD_REGISTER:
        return need_text("%s", names->general[l->operand] ? names->general[l->operand] : "?");
    case LOAD_VECTOR:
        return need_text("%s%u", names->vector, l->operand);
    case LOAD_NUMBER:
        return need_text("%" PRId64, l->number);
    case LOAD_MODULE:
        return need_text("module+0x%" PRIx64, (uint64_t)l->number);
    case LOAD_CPU:
        return need_text("the processor");
    case LOAD_ADD:
        text = need_text("%s%s%" PRIu64, left, l->number < 0 ? "-" : "+", size);
        break;
    case LOAD_MEMORY:
        text = l->operand == 8 ? need_text("[%s]", left) : need_text("[%s]:%u", left, l->operand);
        break;
    case LOAD_LONG_DOUBLE:
        text = need_text("[%s]:%u", left, l->operand);
        break;
    case LOAD_SIGNED:
    case LOAD_UNSIGNED:
        return left; /* how it is shown, which the type says as well */
    case LOAD_NEGATE:
        text = need_text("-(%s)", left);
        break;
    case LOAD_SWAP:
        text = l->operand == 8 ? need_text("swapped(%s)", left) : need_text("swapped(%s):%u", left, l->operand);
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
    case LOAD_TEXT_BOUNDED:
        text = need_text("text at %s, up to %s bytes", left, right);
        break;
    default:
        text = need_text("(%s %s %s)", left, load_signs[l->op], right);
        break;
    }
    free(left);
    free(right);
    return text;
}

/* The same of a choice between two. */
static char *load_text_of_choice(char *condition, char *left, char *right)
{
    char *text = need_text("(%s ? %s : %s)", condition, left, right);
    free(condition);
    free(left);
    free(right);
    return text;
}

char *load_describe(const struct load_program *p, const struct load_names *names)
{
    char *stack[LOAD_DEPTH + 1] = { NULL }, *last = NULL;
    unsigned depth = 0;
    if (!load_check(p))
        return NULL;
    for (unsigned i = 0; i < p->count; i++) {
        const struct load *l = &p->loads[i];
        char *condition = load_takes(l) == 3 ? stack[--depth] : NULL;
        char *right = load_takes(l) >= 2 ? stack[--depth] : NULL;
        char *left = load_takes(l) ? stack[--depth] : NULL;
        last = stack[depth++] =
            condition ? load_text_of_choice(condition, left, right) : load_text_of(l, names, left, right);
    }
    return last; /* the only one that is left, as load_check has seen */
}
