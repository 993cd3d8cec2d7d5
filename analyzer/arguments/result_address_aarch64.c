/*
 * On aarch64, x8 has the address at the function's begin. Compilers copy it to a register that calls preserve. All code
 * of the function is followed from there, to prove that the register still has the address at each call.
 *
 * Code that nothing leads to can be a place where exceptions arrive, or a case of a switch. It is followed as well.
 * Exceptions come from calls, and bring the registers back that calls preserve. So it begins with the address in the
 * register, if that holds for all calls and jumps of a switch.
 */
#include <stdlib.h>
#include <string.h>

#include "arguments/result_address.h"
#include "base/memory.h"
#include "symbols/code_machine.h"

enum { WORD = 4, MOST_WORDS = 1 << 16, RESULT = 8, FIRST_KEPT = 19, LAST_KEPT = 28 };

/* What is known before an instruction. */
enum { REACHED = 1, IN_RESULT = 2 /* x8 has the address */, KEPT = 4 /* so has the other register */ };

struct address_walk {
    const struct function_code *code;
    uint8_t *bytes; /* of all ranges, one behind the other */
    size_t words;
    uint8_t *states;
    uint32_t *pending; /* words that have to be followed again */
    size_t pending_count;
    unsigned kept; /* the other register */
    bool proved;
};

/* ---- the code ---- */

static size_t address_words(const struct code_range *range)
{
    return (size_t)(range->end - range->begin) / WORD;
}

/* The number of the word at an address; that of all words if it is outside. */
static size_t address_word(const struct address_walk *w, uint64_t address)
{
    size_t first = 0;
    for (unsigned i = 0; i < w->code->count; i++) {
        const struct code_range *range = &w->code->ranges[i];
        if (address >= range->begin && address < range->end)
            return first + (size_t)(address - range->begin) / WORD;
        first += address_words(range);
    }
    return w->words;
}

static uint64_t address_of_word(const struct address_walk *w, size_t word)
{
    const struct code_range *range = w->code->ranges;
    for (; word >= address_words(range); range++)
        word -= address_words(range);
    return range->begin + word * WORD;
}

static bool address_read_code(struct address_walk *w, const struct image *image)
{
    size_t at = 0;
    for (unsigned i = 0; i < w->code->count; i++) {
        const struct code_range *range = &w->code->ranges[i];
        if (range->begin % WORD || range->end % WORD || range->end < range->begin ||
            range->end - range->begin > (uint64_t)(MOST_WORDS - w->words) * WORD)
            return false;
        w->words += address_words(range);
    }
    w->bytes = need_memory(w->words + 1, WORD);
    for (unsigned i = 0; i < w->code->count; i++) {
        const size_t size = address_words(&w->code->ranges[i]) * WORD;
        if (!image_read(image, w->code->ranges[i].begin, w->bytes + at, size))
            return false;
        at += size;
    }
    return true;
}

/* ---- following ---- */

/* What comes to an instruction. Of several ways, what all of them know is known. */
static void address_flow(struct address_walk *w, size_t word, unsigned state)
{
    const unsigned before = w->states[word], now = before & REACHED ? before & state : state;
    if (before == (now | REACHED))
        return;
    w->states[word] = (uint8_t)(now | REACHED);
    w->pending[w->pending_count++] = (uint32_t)word;
}

/* Where the code goes on if it is another part of the function; a tail call leaves it. */
static void address_jump(struct address_walk *w, const struct code_insn *insn, unsigned state)
{
    const size_t to = address_word(w, insn->value);
    if (to < w->words)
        address_flow(w, to, state);
    else if (insn->kind == CODE_BRANCH)
        w->proved = false;
}

static unsigned address_step(const struct address_walk *w, const struct code_insn *insn, unsigned state)
{
    const unsigned copied = insn->kind == CODE_COPY && insn->to == w->kept && insn->from == RESULT ? state : 0;
    if (insn->writes >> w->kept & 1)
        state &= ~(unsigned)KEPT;
    if (insn->writes >> RESULT & 1)
        state &= ~(unsigned)IN_RESULT;
    return copied & IN_RESULT ? state | KEPT : state;
}

static void address_follow_word(struct address_walk *w, size_t word)
{
    struct code_insn insn;
    unsigned state = w->states[word];
    if (!code_machine_aarch64.decode(w->bytes + word * WORD, WORD, address_of_word(w, word), &insn)) {
        w->proved = false;
        return;
    }
    const bool calls = insn.kind == CODE_CALL || insn.kind == CODE_CALL_ANY;
    if ((calls || insn.kind == CODE_JUMP_ANY) && !(state & KEPT))
        w->proved = false;
    state = calls ? state & ~(unsigned)IN_RESULT : address_step(w, &insn, state);
    if (insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH)
        address_jump(w, &insn, state);
    if (insn.kind == CODE_JUMP || insn.kind == CODE_JUMP_ANY || insn.kind == CODE_END)
        return;
    const size_t next = address_word(w, address_of_word(w, word) + WORD);
    if (next < w->words)
        address_flow(w, next, state);
    else
        w->proved &= calls; /* which does not come back */
}

static void address_follow(struct address_walk *w)
{
    while (w->proved && w->pending_count)
        address_follow_word(w, w->pending[--w->pending_count]);
}

/* Whether the register has the address at each call. */
static bool address_is_kept(struct address_walk *w, unsigned kept)
{
    memset(w->states, 0, w->words);
    w->kept = kept;
    w->pending_count = 0;
    w->proved = true;
    address_flow(w, address_word(w, w->code->entry), IN_RESULT);
    address_follow(w);
    for (size_t word = 0; word < w->words && w->proved; word++)
        if (!w->states[word] && !code_machine_aarch64.is_padding(w->bytes + word * WORD, WORD)) {
            address_flow(w, word, KEPT);
            address_follow(w);
        }
    return w->proved;
}

/* A word is pending three times at most, as each time less is known. */
bool result_address_aarch64(const struct image *image, const struct function_code *code, struct load_program *program)
{
    struct address_walk w = { .code = code };
    bool found = false;
    program->count = 0;
    if (address_read_code(&w, image) && address_word(&w, code->entry) < w.words) {
        w.states = need_memory(w.words, 1);
        w.pending = need_memory(3 * w.words, sizeof *w.pending);
        for (unsigned kept = FIRST_KEPT; kept <= LAST_KEPT && !found; kept++)
            if (address_is_kept(&w, kept))
                found = load_add(program, LOAD_REGISTER, kept, 0);
    }
    free(w.pending);
    free(w.states);
    free(w.bytes);
    return found;
}
