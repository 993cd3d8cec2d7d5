/* Reads the code from a function's begin to the call of the probe. Some compilers call it before they store the
 * parameters, and the debug information of code that is not optimised does not tell. */
#include "arguments/stored.h"

#include <stdlib.h>
#include <string.h>

#include "arguments/operands.h"
#include "base/memory.h"
#include "levels/x86_decode.h"

enum { MOST_BYTES = 1 << 16 };

struct stored_reader {
    const uint8_t *code;
    size_t size;
    uint64_t begin;
};

/* Moves from general and vector registers, and of numbers. */
static bool stored_is_store(const struct operands *i)
{
    if (!i->plain)
        return false;
    if (!i->two_bytes)
        return i->opcode == 0x88 || i->opcode == 0x89 || i->opcode == 0xc6 || i->opcode == 0xc7;
    return i->opcode == 0x11 || i->opcode == 0x29 || i->opcode == 0x7f || i->opcode == 0xd6 || i->opcode == 0x13 ||
           (i->opcode == 0x7e && i->half);
}

/* Goes through the code. Returns how the stack pointer has moved. If `word`, sets *stored; `at_call` is that move then.
 */
static int64_t stored_walk(const struct stored_reader *r, const struct frame_word *word, int64_t at_call, bool *stored)
{
    int64_t moved = 0;
    struct x86_insn insn;
    for (size_t at = 0; at < r->size; at += insn.length) {
        struct operands i;
        if (!x86_decode(r->code + at, r->size - at, r->begin + at, &insn) || !insn.length)
            return moved;
        if (!operands_parse(&i, r->code + at, insn.length))
            continue;
        if (word && stored_is_store(&i)) {
            const bool same = i.rm == (word->by_stack ? OPERAND_RSP : OPERAND_RBP);
            *stored |= same && i.displacement + (word->by_stack ? moved - at_call : 0) == word->offset;
        }
        moved += operands_move_of_stack(&i);
    }
    return moved;
}

bool stored_before_x86(const struct image *image, uint64_t begin, uint64_t at, struct frame_word word)
{
    bool stored = false;
    if (at <= begin || at - begin > MOST_BYTES)
        return false;
    uint8_t *code = need_memory(at - begin, 1);
    const struct stored_reader r = { code, at - begin, begin };
    if (image_read(image, begin, code, r.size)) {
        const int64_t at_call = stored_walk(&r, NULL, 0, NULL);
        stored_walk(&r, &word, at_call, &stored);
    }
    free(code);
    return stored;
}
