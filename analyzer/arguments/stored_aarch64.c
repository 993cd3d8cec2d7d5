/* Whether code of aarch64 stores a parameter before it calls a probe. */
#include <stdlib.h>
#include <string.h>

#include "arguments/stored.h"
#include "base/memory.h"
#include "symbols/aarch64_operands.h"

enum { MOST_BYTES = 1 << 16 };

/* Offsets from the stack pointer at the function's begin. */
struct stored_walk {
    int64_t stack, frame;
    bool has_frame;
};

static void stored_move(struct stored_walk *w, unsigned to, unsigned from, int64_t number)
{
    const int64_t at = from == AARCH64_STACK ? w->stack : w->frame;
    const bool known = from == AARCH64_STACK || (from == AARCH64_FRAME && w->has_frame);
    if (to == AARCH64_STACK && known)
        w->stack = at + number;
    if (to == AARCH64_FRAME) {
        w->has_frame = known;
        w->frame = at + number;
    }
}

static bool stored_at(const struct stored_walk *w, const struct aarch64_memory *m, int64_t wanted)
{
    const bool by_stack = m->base == AARCH64_STACK;
    if (m->load || !(by_stack || (m->base == AARCH64_FRAME && w->has_frame)))
        return false;
    const int64_t at = (by_stack ? w->stack : w->frame) + m->offset;
    return at == wanted || (m->count == 2 && at + m->size == wanted);
}

/* Goes through the code. If `wanted`, returns whether it stores there. */
static bool stored_follow(const uint8_t *code, size_t size, struct stored_walk *w, const int64_t *wanted)
{
    bool stored = false;
    *w = (struct stored_walk){ .stack = 0 };
    for (size_t at = 0; at + AARCH64_WORD <= size; at += AARCH64_WORD) {
        struct aarch64_memory m;
        struct aarch64_addition a;
        uint32_t word;
        memcpy(&word, code + at, sizeof word);
        if (aarch64_addition_parse(&a, word)) {
            stored_move(w, a.to, a.from, a.number);
        } else if (aarch64_memory_parse(&m, word)) {
            stored |= wanted && stored_at(w, &m, *wanted);
            if (m.moves)
                stored_move(w, m.base, m.base, m.moves);
        }
    }
    return stored;
}

bool stored_before_aarch64(const struct image *image, uint64_t begin, uint64_t at, struct frame_word word)
{
    bool stored = false;
    if (at <= begin || at - begin > MOST_BYTES)
        return false;
    const size_t size = at - begin;
    uint8_t *code = need_memory(size, 1);
    struct stored_walk at_call;
    if (image_read(image, begin, code, size)) {
        stored_follow(code, size, &at_call, NULL);
        const int64_t base = word.by_stack ? at_call.stack : at_call.frame;
        const int64_t wanted = (int64_t)((uint64_t)base + (uint64_t)word.offset);
        if (word.by_stack || at_call.has_frame)
            stored = stored_follow(code, size, &at_call, &wanted);
    }
    free(code);
    return stored;
}
