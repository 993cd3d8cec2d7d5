/* Follows parameters on x86-64 from the registers of the caller to words of the frame, and from there to their own
 * places. The code has no branches there; any instruction that is not known ends the search. */
#include "arguments/spilled.h"

#include <string.h>

#include "arguments/number_change.h"
#include "arguments/operands.h"
#include "levels/x86_decode.h"

enum { MOST_BYTES = 1024, MOST_SLOTS = 32, REGISTERS = 16, VECTORS_FROM = 16, NO_SOURCE = 255, MOST_CHANGES = 4 };

/* What a register or a word has: the lowest bytes of a register at the function's begin. Behind the probe's call,
 * `slot` is the word that has had them while it was called; or `kept`, which is one more than the register, if that is
 * not zero. Offsets are from the stack pointer at the function's begin.
 * If the number was changed, its lowest `needs` bytes tell `whole` bytes of the source; zero: as many as there are. */
struct spilled_value {
    uint8_t source, bytes, kept;
    uint8_t needs, whole, change_count;
    int64_t slot;
    struct change changes[MOST_CHANGES];
};
static const struct spilled_value spilled_unknown = { .source = NO_SOURCE };

struct spilled_slot {
    int64_t at;
    struct spilled_value value;
};

struct spilled_walk {
    const struct spilled_parameter *parameter;
    struct spilled_value general[REGISTERS], vectors[REGISTERS];
    struct spilled_slot slots[MOST_SLOTS];
    unsigned slot_count;
    int64_t stack, frame;
    bool has_frame;
    int64_t home; /* behind the probe's call: the parameter's own place */
    bool seeks;   /* the code is behind that call */
    bool ended, found;
    struct spilled_value found_in;
};

/* DWARF numbers the first eight registers otherwise than code. */
static unsigned spilled_dwarf_register(unsigned number)
{
    static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };
    return number < sizeof numbers ? numbers[number] : number;
}

static unsigned spilled_code_register(unsigned number)
{
    static const uint8_t numbers[] = { 0, 2, 1, 3, 6, 7, 5, 4 };
    return number < sizeof numbers ? numbers[number] : number;
}

/* ---- memory ---- */

/* Stores, of the frame's memory only. */
static void spilled_store(struct spilled_walk *w, int64_t at, unsigned size, struct spilled_value value)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < w->slot_count; i++)
        if (w->slots[i].at + w->slots[i].value.bytes <= at || w->slots[i].at >= at + (int64_t)size)
            w->slots[kept++] = w->slots[i];
    w->slot_count = kept;
    if (w->seeks && at < w->home + (int64_t)w->parameter->size && at + (int64_t)size > w->home) {
        const unsigned wanted = w->parameter->number + (w->parameter->vector ? VECTORS_FROM : 0);
        w->ended = true;
        w->found = at == w->home && size == w->parameter->size && value.source == wanted && value.bytes >= size &&
                   !value.change_count;
        w->found_in = value;
        return;
    }
    value.bytes = value.bytes < size ? value.bytes : (uint8_t)size;
    if (value.source != NO_SOURCE && w->slot_count < MOST_SLOTS)
        w->slots[w->slot_count++] = (struct spilled_slot){ at, value };
}

static struct spilled_value spilled_load(const struct spilled_walk *w, int64_t at, unsigned size)
{
    for (unsigned i = 0; i < w->slot_count; i++) {
        struct spilled_value value = w->slots[i].value;
        if (w->slots[i].at != at)
            continue;
        value.bytes = value.bytes < size ? value.bytes : (uint8_t)size;
        return value;
    }
    return spilled_unknown;
}

/* Whether the operand is in the frame, and where. */
static bool spilled_operand(const struct spilled_walk *w, const struct operands *i, int64_t *at)
{
    *at = (i->rm == OPERAND_RSP ? w->stack : w->frame) + i->displacement;
    return i->mod != 3 && i->plain && (i->rm == OPERAND_RSP || (i->rm == OPERAND_RBP && w->has_frame));
}

/* ---- instructions ---- */

static bool spilled_is_low(const struct operands *i, unsigned number)
{
    return i->rex || number < 4; /* not ah, ch, dh or bh */
}

/* rbp is any other register unless it has the frame. */
static bool spilled_is_frame(const struct spilled_walk *w, unsigned number)
{
    return number == OPERAND_RSP || (number == OPERAND_RBP && w->has_frame);
}

/* mov between general registers, or to the register of the frame. */
static bool spilled_copy(struct spilled_walk *w, const struct operands *i, unsigned to, unsigned from, unsigned size)
{
    if (to == OPERAND_RBP && from == OPERAND_RSP && i->wide && !w->seeks) {
        w->frame = w->stack;
        w->has_frame = true;
        return true;
    }
    if (spilled_is_frame(w, to) || (size == 1 && !(spilled_is_low(i, to) && spilled_is_low(i, from))))
        return false;
    w->general[to] = w->general[from];
    w->general[to].bytes = w->general[to].bytes < size ? w->general[to].bytes : (uint8_t)size;
    return true;
}

static bool spilled_move(struct spilled_walk *w, const struct operands *i)
{
    const bool byte = !(i->opcode & 1), load = i->opcode & 2;
    const unsigned size = byte ? 1 : i->wide ? 8 : i->half ? 2 : 4;
    int64_t at;
    if (i->mod == 3)
        return load ? spilled_copy(w, i, i->reg, i->rm, size) : spilled_copy(w, i, i->rm, i->reg, size);
    if (byte && !spilled_is_low(i, i->reg))
        return false;
    const bool in_frame = spilled_operand(w, i, &at);
    if (load && !spilled_is_frame(w, i->reg)) {
        w->general[i->reg] = in_frame ? spilled_load(w, at, size) : spilled_unknown;
        return true;
    }
    if (load || !in_frame)
        return false;
    spilled_store(w, at, size, w->general[i->reg]);
    return true;
}

/* Moves that extend their operand of one, two or four bytes. False if it is none, or not understood. */
static bool spilled_extend(struct spilled_walk *w, const struct operands *i)
{
    const bool is_long = !i->two_bytes && i->opcode == 0x63 && i->wide;
    const bool is_short = i->two_bytes && (i->opcode & 0xf6) == 0xb6;
    const unsigned size = is_long ? 4 : i->opcode & 1 ? 2 : 1;
    struct spilled_value value = spilled_unknown;
    int64_t at;
    if (!(is_long || is_short) || spilled_is_frame(w, i->reg))
        return false;
    if (i->mod != 3 && spilled_operand(w, i, &at))
        value = spilled_load(w, at, size);
    else if (i->mod == 3 && (size > 1 || spilled_is_low(i, i->rm)))
        value = w->general[i->rm];
    w->general[i->reg] = value;
    w->general[i->reg].bytes = value.bytes < size ? value.bytes : (uint8_t)size;
    return true;
}

/* movss, movsd and movaps of a register to the frame, and back, and movaps between registers. */
static bool spilled_move_vector(struct spilled_walk *w, const struct operands *i)
{
    const bool scalar = i->rep || i->repne;
    const unsigned size = !scalar ? 16 : i->rep ? 4 : 8;
    int64_t at;
    if (i->mod == 3 && i->opcode == 0x28 && !scalar) {
        w->vectors[i->reg] = w->vectors[i->rm];
        return true;
    }
    if (i->mod == 3 || !spilled_operand(w, i, &at) || (i->opcode < 0x20) != scalar)
        return false;
    if (i->opcode == 0x10 || i->opcode == 0x28)
        w->vectors[i->reg] = spilled_load(w, at, size);
    else
        spilled_store(w, at, size, w->vectors[i->reg]);
    return true;
}

/* movd and movq between general and vector registers. */
static bool spilled_move_between(struct spilled_walk *w, const struct operands *i)
{
    const unsigned size = i->wide ? 8 : 4;
    if (i->mod != 3 || !i->half || i->rep || i->repne || spilled_is_frame(w, i->rm))
        return false;
    struct spilled_value *general = &w->general[i->rm], *vector = &w->vectors[i->reg];
    struct spilled_value *to = i->opcode == 0x6e ? vector : general;
    *to = i->opcode == 0x6e ? *general : *vector;
    to->bytes = to->bytes < size ? to->bytes : (uint8_t)size;
    return true;
}

/* Arithmetic with a register as its result, or without any. Reads of other memory do no harm. */
static bool spilled_is_arithmetic(const struct operands *i)
{
    const bool in_register = i->mod == 3;
    const uint8_t op = i->opcode;
    if (i->two_bytes)
        return (op & 0xf0) == 0x40 || op == 0xa3 || op == 0xaf || op == 0xbc || op == 0xbd || (op & 0xf8) == 0xc8 ||
               (in_register && ((op & 0xf0) == 0x90 || op == 0xab || op == 0xb3 || op == 0xba || op == 0xbb));
    if (op < 0x40 && (op & 7) < 6)
        return (op & 7) >= 2 || in_register || (op & 0x38) == 0x38;
    if (op == 0x80 || op == 0x81 || op == 0x83)
        return in_register || (i->reg & 7) == 7;
    if ((op & 0xfe) == 0xc0 || (op & 0xfc) == 0xd0 || (op & 0xfe) == 0xf6)
        return in_register || ((op & 0xfe) == 0xf6 && (i->reg & 7) < 2);
    return op == 0x69 || op == 0x6b || op == 0x98 || op == 0x99 || op == 0xa8 || op == 0xa9;
}

/* Those that change general registers alone. */
static bool spilled_loses_registers(const struct operands *i)
{
    if (i->two_bytes && (i->opcode == 0x1f || i->opcode == 0x1e))
        return true;
    return spilled_is_arithmetic(i) ||
           (!i->two_bytes && (i->opcode == 0x8d || (i->opcode & 0xf8) == 0xb8 || i->opcode == 0x84 ||
                              i->opcode == 0x85 || i->opcode == 0x90 || (i->mod == 3 && i->opcode == 0xc7)));
}

/* ---- arithmetic that can be taken back ---- */

static unsigned spilled_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Makes the value what the change leaves. False if the source cannot be told from that. */
static bool spilled_change(struct spilled_value *v, const struct change *c)
{
    if (v->source == NO_SOURCE || v->change_count == MOST_CHANGES || v->needs > c->bytes)
        return false;
    if (c->whole) {
        const unsigned left = (8u * c->bytes - c->shift) / 8;
        if (v->needs ? v->needs != c->bytes || c->shift : !c->shift && v->bytes < c->bytes)
            return false;
        v->whole = v->needs ? v->whole : (uint8_t)spilled_least(v->bytes, left);
        v->needs = v->bytes = c->bytes;
    }
    v->bytes = (uint8_t)spilled_least(v->bytes, c->bytes);
    v->changes[v->change_count++] = *c;
    return true;
}

static bool spilled_take_back_later(struct spilled_walk *w, const struct operands *i, const uint8_t *code)
{
    struct change c;
    if (!change_parse(&c, i, code) || spilled_is_frame(w, c.to) || spilled_is_frame(w, c.from) ||
        (c.has_other && spilled_is_frame(w, c.other)))
        return false;
    struct spilled_value value = w->general[c.from];
    w->general[c.to] = !w->seeks && spilled_change(&value, &c) ? value : spilled_unknown;
    return true;
}

static void spilled_forget_if(struct spilled_value *v, uint16_t registers)
{
    for (unsigned i = 0; i < v->change_count; i++)
        if (v->changes[i].has_other && registers >> v->changes[i].other & 1) {
            *v = spilled_unknown;
            return;
        }
}

/* Forgets what cannot be taken back without these registers. */
static void spilled_forget_users(struct spilled_walk *w, uint16_t registers)
{
    for (unsigned n = 0; n < REGISTERS; n++) {
        spilled_forget_if(&w->general[n], registers);
        spilled_forget_if(&w->vectors[n], registers);
    }
    for (unsigned i = 0; i < w->slot_count; i++)
        spilled_forget_if(&w->slots[i].value, registers);
}

/* ---- instructions one after another ---- */

/* The lowest bit of a byte. A truth has no other. */
static bool spilled_cut_to_bit(struct spilled_walk *w, const struct operands *i, const uint8_t *code)
{
    const bool of_al = code[0] == 0x24 && code[1] == 1;
    const bool of_other = !i->two_bytes && i->opcode == 0x80 && i->mod == 3 && (i->reg & 7) == 4 &&
                          spilled_is_low(i, i->rm) && *i->immediate == 1;
    if (!of_al && !of_other)
        return false;
    struct spilled_value *value = &w->general[of_al ? OPERAND_RAX : i->rm];
    *value = w->parameter->is_bool ? *value : spilled_unknown;
    return !spilled_is_frame(w, i->rm) || of_al;
}

/* Stores the eight bytes of a register, or unknown ones, below the stack. */
static void spilled_push(struct spilled_walk *w, const uint8_t *code, int64_t moved)
{
    const bool upper = code[0] == 0x41;
    const uint8_t opcode = code[upper];
    const bool is_register = (opcode & 0xf8) == 0x50;
    w->stack += moved;
    if (moved < 0)
        spilled_store(w, w->stack, (unsigned)-moved,
                      is_register ? w->general[(opcode & 7) | (unsigned)upper << 3] : spilled_unknown);
}

/* mov of a thread's word to a register, as for the stack's guard. */
static bool spilled_loads_of_thread(const uint8_t *code)
{
    return code[0] == 0x64 && (code[1] & 0xfb) == 0x48 && code[2] == 0x8b;
}

static bool spilled_step(struct spilled_walk *w, const uint8_t *code, const struct x86_insn *insn)
{
    struct operands i;
    int64_t at;
    if ((insn->kind != X86_OTHER && insn->kind < X86_CONSTANT) || !operands_parse(&i, code, insn->length))
        return false;
    spilled_forget_users(w, insn->writes);
    if (!i.two_bytes && (i.opcode & 0xfc) == 0x88)
        return spilled_move(w, &i);
    if (i.two_bytes && (i.opcode == 0x6e || i.opcode == 0x7e))
        return spilled_move_between(w, &i);
    if (i.two_bytes && i.half && i.opcode == 0x6c) /* punpcklqdq keeps the lower half */
        return true;
    if (i.two_bytes && (i.opcode == 0x10 || i.opcode == 0x11 || i.opcode == 0x28 || i.opcode == 0x29))
        return spilled_move_vector(w, &i);
    if (spilled_cut_to_bit(w, &i, code) || spilled_extend(w, &i) || spilled_take_back_later(w, &i, code))
        return true;
    const int64_t moved = operands_move_of_stack(&i);
    if (moved) {
        spilled_push(w, code, moved);
        return moved < 0 && -moved < INT32_MAX;
    }
    if (!i.two_bytes && (i.opcode == 0xc6 || i.opcode == 0xc7) && spilled_operand(w, &i, &at)) {
        spilled_store(w, at, i.opcode == 0xc6 ? 1 : i.wide ? 8 : i.half ? 2 : 4, spilled_unknown);
        return true;
    }
    for (unsigned n = 0; n < REGISTERS; n++)
        if (insn->writes >> n & 1) {
            w->general[n] = spilled_unknown;
            if (spilled_is_frame(w, n))
                return false;
        }
    return spilled_loads_of_thread(code) || spilled_loses_registers(&i);
}

/* The bytes of an instruction, and maybe of the next ones. Returns their number. */
static size_t spilled_read(const struct image *image, uint64_t at, uint64_t end, uint8_t *code)
{
    size_t size = end - at < X86_MAX_LENGTH ? end - at : X86_MAX_LENGTH;
    while (size && !image_read(image, at, code, size))
        size--;
    return size;
}

/* A function with `...` stores vector registers unless a branch leaves that out. These words are not known behind it.
 * False if there is anything else. */
static bool spilled_store_maybe(struct spilled_walk *w, const uint8_t *code, const struct x86_insn *insn)
{
    enum { MOVAPS_STORE = 0x29, VECTOR_BYTES = 16 };
    struct operands i;
    int64_t at;
    if (!operands_parse(&i, code, insn->length) || !i.two_bytes || i.opcode != MOVAPS_STORE ||
        !spilled_operand(w, &i, &at))
        return false;
    spilled_store(w, at, VECTOR_BYTES, spilled_unknown);
    return true;
}

/* Follows the code up to the end, or what ends the search. */
static bool spilled_follow(struct spilled_walk *w, const struct image *image, uint64_t begin, uint64_t end)
{
    uint64_t at = begin, maybe_until = begin;
    while (at < end && !w->ended) {
        uint8_t code[X86_MAX_LENGTH] = { 0 };
        struct x86_insn insn;
        const size_t size = spilled_read(image, at, end, code);
        if (!x86_decode(code, size, at, &insn) || !insn.length)
            return false;
        if (insn.kind == X86_BRANCH && !w->seeks && at >= maybe_until && insn.value > at && insn.value <= end)
            maybe_until = insn.value;
        else if (!(at < maybe_until ? spilled_store_maybe(w, code, &insn) : spilled_step(w, code, &insn)))
            return false;
        at += insn.length;
        if (at > maybe_until && at - insn.length < maybe_until)
            return false;
    }
    return at == end || w->ended;
}

/* A call preserves some registers. What these and words of the frame have now is what is looked for. */
static void spilled_pass_call(struct spilled_walk *w)
{
    for (unsigned i = 0; i < w->slot_count; i++)
        w->slots[i].value.slot = w->slots[i].at;
    for (unsigned n = 0; n < REGISTERS; n++) {
        w->vectors[n] = spilled_unknown;
        if (X86_CALLER_SAVED >> n & 1)
            w->general[n] = spilled_unknown;
        else
            w->general[n].kept = (uint8_t)(n + 1);
    }
}

/* Goes from the function's begin to the call. */
static bool spilled_begin(struct spilled_walk *w, const struct image *image, const struct hook_call *call,
                          const struct spilled_parameter *p)
{
    *w = (struct spilled_walk){ .parameter = p };
    for (unsigned n = 0; n < REGISTERS; n++) {
        w->general[n] = (struct spilled_value){ .source = (uint8_t)n, .bytes = 8 };
        w->vectors[n] = (struct spilled_value){ .source = (uint8_t)(VECTORS_FROM + n), .bytes = 8 };
    }
    return p->size && p->size <= 8 && call->at > call->begin && call->at - call->begin <= MOST_BYTES &&
           spilled_follow(w, image, call->begin, call->at);
}

bool spilled_find_x86(const struct image *image, const struct hook_call *call, const struct spilled_parameter *p,
                      struct spilled_place *found)
{
    struct spilled_walk w;
    if (!spilled_begin(&w, image, call, p) || (!p->home.by_stack && !w.has_frame))
        return false;
    const int64_t base = p->home.by_stack ? w.stack : w.frame;
    w.home = base + p->home.offset;
    w.seeks = true;
    spilled_pass_call(&w);
    if (!spilled_follow(&w, image, call->next, call->next + MOST_BYTES) || !w.found)
        return false;
    *found = (struct spilled_place){ .word = { p->home.by_stack, w.found_in.slot - base } };
    if (w.found_in.kept) {
        const unsigned number = spilled_dwarf_register(w.found_in.kept - 1u);
        *found = (struct spilled_place){ .in_register = true, .number = number };
    }
    return true;
}

/* ---- parameters that have no place of their own ---- */

static bool spilled_has(const struct spilled_parameter *p, const struct spilled_value *value, bool changed)
{
    const unsigned wanted = p->vector ? VECTORS_FROM + p->number : spilled_code_register(p->number);
    return value->source == wanted && (value->change_count > 0) == changed && value->bytes >= value->needs &&
           (value->needs ? value->whole : value->bytes) >= p->size;
}

/* Where such a value is. */
static const struct spilled_value *spilled_search(const struct spilled_walk *w, const struct spilled_parameter *p,
                                                  bool changed, struct spilled_place *found)
{
    for (unsigned n = 0; n < REGISTERS; n++) {
        *found = (struct spilled_place){ .in_register = true, .number = spilled_dwarf_register(n) };
        if (!spilled_is_frame(w, n) && spilled_has(p, &w->general[n], changed))
            return &w->general[n];
    }
    for (unsigned n = 0; n < REGISTERS; n++) {
        *found = (struct spilled_place){ .in_register = true, .vector = true, .number = n };
        if (spilled_has(p, &w->vectors[n], changed))
            return &w->vectors[n];
    }
    for (unsigned i = 0; i < w->slot_count; i++) {
        *found = (struct spilled_place){ .word = { true, w->slots[i].at - w->stack } };
        if (spilled_has(p, &w->slots[i].value, changed))
            return &w->slots[i].value;
    }
    return NULL;
}

bool spilled_find_entered_x86(const struct image *image, const struct hook_call *call,
                              const struct spilled_parameter *p, struct spilled_place *found)
{
    struct spilled_walk w;
    bool undone = true;
    *found = (struct spilled_place){ .in_register = true };
    if (!spilled_begin(&w, image, call, p))
        return false;
    const struct spilled_value *value = spilled_search(&w, p, false, found);
    if (!value)
        value = spilled_search(&w, p, true, found);
    for (unsigned i = value ? value->change_count : 0; i-- > 0;)
        undone &= change_undo(&value->changes[i], spilled_dwarf_register(value->changes[i].other), &found->undo);
    found->bytes = value ? value->bytes : 0;
    return value && undone;
}
