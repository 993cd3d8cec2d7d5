/*
 * Each function is read from its beginning to its end, so what is found are instructions. That is proven if all bytes
 * are known instructions, and no jump leads into the middle of one. All other functions are left out.
 */
#include "symbols/direct_calls.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/aarch64_operands.h"
#include "symbols/probe_targets.h"

enum { MOST_BYTES = 1 << 22 };

struct direct_reader {
    struct direct_calls *calls;
    const struct image *image;
    /* of a function */
    uint64_t begin, end;
    const uint8_t *code;
    uint8_t *starts; /* by offset: an instruction begins there (1), a jump leads there (2) */
    size_t starts_room;
    size_t first, first_address; /* of its own */
    bool probes;
    /* aarch64: addresses that several instructions make, in the order of the code */
    uint64_t values[CODE_REGISTERS];
    uint32_t known; /* a bit for each register that has its value */
};

enum { STARTS = 1, IS_TARGET = 2 };

static const uint8_t *direct_bytes(const struct image *image, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        const struct image_segment *s = &image->segments[i];
        if (s->code && address >= s->address && address - s->address <= s->size &&
            size <= s->size - (address - s->address))
            return s->bytes + (address - s->address);
    }
    return NULL;
}

/* ---- a function ---- */

static bool direct_decode(const struct direct_reader *r, uint64_t at, struct code_insn *insn)
{
    return r->calls->targets.machine->decode(r->code + (at - r->begin), r->end - at, at, insn) && insn->length;
}

static bool direct_is_aarch64(const struct direct_reader *r)
{
    return r->calls->targets.machine == &code_machine_aarch64;
}

static bool direct_is_probe(const struct direct_reader *r, const struct code_insn *insn)
{
    bool other = false;
    return probe_target_of(&r->calls->targets, r->image, insn, &other) != PROBE_NONE;
}

static void direct_take_address(struct direct_reader *r, uint64_t address)
{
    if (!direct_bytes(r->image, address, 1))
        return;
    GROW(r->calls->addresses, r->calls->address_count, r->calls->address_room);
    r->calls->addresses[r->calls->address_count++] = address;
}

static void direct_take(struct direct_reader *r, uint64_t at, const struct code_insn *insn)
{
    const bool goes = insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH;
    if (direct_is_probe(r, insn)) {
        r->probes = true;
        return;
    }
    if (insn->kind == CODE_CONSTANT && !direct_is_aarch64(r))
        direct_take_address(r, insn->value);
    if (insn->kind != CODE_CALL && !goes)
        return;
    if (goes && insn->value >= r->begin && insn->value < r->end) {
        r->starts[insn->value - r->begin] |= IS_TARGET;
        return;
    }
    GROW(r->calls->list, r->calls->count, r->calls->room);
    r->calls->list[r->calls->count++] = (struct direct_call){
        .at = at,
        .next = at + insn->length,
        .target = insn->value,
        .kind = insn->kind == CODE_CALL   ? DIRECT_CALL
                : insn->kind == CODE_JUMP ? DIRECT_JUMP
                                          : DIRECT_BRANCH,
    };
}

/* Functions that a register leads to: a probe is called so with -fno-plt. */
static void direct_follow(struct direct_reader *r, const struct code_insn *insn)
{
    const uint32_t bit = insn->to < CODE_NONE ? 1u << insn->to : 0;
    const bool from_known = insn->from < CODE_NONE && r->known >> insn->from & 1;
    const uint64_t value = insn->value + (insn->kind == CODE_CONSTANT || !from_known ? 0 : r->values[insn->from]);
    const bool loads = insn->kind == CODE_LOAD_AT && from_known;
    const bool makes = insn->kind == CODE_CONSTANT || (insn->kind == CODE_ADD && from_known);
    r->known &= ~insn->writes;
    if (loads || makes) {
        const struct code_insn call = { .kind = loads ? CODE_CALL_SLOT : CODE_CALL, .value = value };
        r->probes |= direct_is_probe(r, &call);
    }
    if (!makes)
        return;
    r->known |= bit;
    r->values[insn->to] = value;
    direct_take_address(r, value);
}

/* A number that code loads lies in it. So not all of it is instructions. */
static bool direct_loads_own(const struct direct_reader *r, uint64_t at)
{
    uint32_t word;
    memcpy(&word, r->code + (at - r->begin), sizeof word);
    const uint64_t from = at + (uint64_t)(((int64_t)((uint64_t)word << 40) >> 45) * (int64_t)sizeof word);
    return (word & 0x3b000000) == 0x18000000 && from >= r->begin && from < r->end;
}

/* False if the bytes are not all known. */
static bool direct_read(struct direct_reader *r)
{
    const size_t size = (size_t)(r->end - r->begin);
    if (!r->starts || size > r->starts_room) {
        free(r->starts);
        r->starts_room = 2 * size;
        r->starts = need_memory(r->starts_room, 1);
    }
    memset(r->starts, 0, size);
    r->first = r->calls->count;
    r->first_address = r->calls->address_count;
    r->probes = false;
    r->known = 0;
    struct code_insn insn;
    for (uint64_t at = r->begin; at < r->end; at += insn.length) {
        if (!direct_decode(r, at, &insn) || (direct_is_aarch64(r) && direct_loads_own(r, at)))
            return false;
        r->starts[at - r->begin] |= STARTS;
        direct_take(r, at, &insn);
        if (direct_is_aarch64(r))
            direct_follow(r, &insn);
    }
    for (size_t i = 0; i < size; i++)
        if (r->starts[i] == IS_TARGET)
            return false;
    return true;
}

/* Bytes that look like the call of a probe but are none make a function without probes count as one that was not read.
 */
static bool direct_may_have_probes(struct direct_reader *r)
{
    struct code_insn insn;
    r->known = 0;
    for (uint64_t at = r->begin; at < r->end && !r->probes; at++) {
        if (!direct_decode(r, at, &insn))
            continue;
        r->probes = direct_is_probe(r, &insn);
        if (direct_is_aarch64(r))
            direct_follow(r, &insn);
    }
    return r->probes;
}

static bool direct_begin(struct direct_reader *r, const struct direct_range *range)
{
    r->begin = range->begin;
    r->end = range->end;
    r->code = direct_bytes(r->image, r->begin, r->end - r->begin);
    return r->code;
}

static void direct_leave_out(struct direct_reader *r)
{
    r->calls->count = r->first;
    r->calls->address_count = r->first_address;
}

/* Only the calls of functions with probes stay. */
static void direct_read_range(struct direct_reader *r, struct direct_range *range)
{
    if (!direct_begin(r, range))
        return;
    const bool read = direct_read(r);
    range->probes = r->probes || (!read && direct_may_have_probes(r));
    r->calls->unread += !read && range->probes;
    if (!read || !range->probes)
        direct_leave_out(r);
}

static bool direct_take_whole(void *context, uint64_t address)
{
    return direct_calls_have_probes(context, address);
}

/* A part may have no probe of its own. What it calls has none of its own for this reason. */
static void direct_read_part(struct direct_reader *r, const struct direct_range *range)
{
    if (direct_begin(r, range) && !direct_read(r))
        direct_leave_out(r);
}

/* ---- all functions ---- */

static int direct_compare(const void *a, const void *b)
{
    const struct direct_call *x = a, *y = b;
    return ORDER_BY(x, y, target, at);
}

/* Tables of damaged files can have the same code again and again. */
static void direct_add_range(struct direct_calls *d, const struct image *image, uint32_t index)
{
    struct direct_range range = { .begin = 0 };
    uint64_t begin, next;
    if (!image_table_entry(image, index, &begin) || !image_function(image, begin, &range.begin, &range.end) ||
        range.begin != begin || image_is_stub(image, begin))
        return;
    if (index + 1 < image->table_count && image_table_entry(image, index + 1, &next) && range.end > next)
        range.end = next;
    if (range.end <= range.begin || range.end - range.begin > MOST_BYTES ||
        (d->range_count && range.begin < d->ranges[d->range_count - 1].end))
        return;
    GROW(d->ranges, d->range_count, d->range_room);
    d->ranges[d->range_count++] = range;
}

struct direct_calls direct_calls_find(Elf *elf, const struct image *image, const struct named_functions *functions)
{
    struct direct_calls d = { .list = NULL };
    struct direct_reader r = { .calls = &d, .image = image };
    if (!image->table_header || !probe_targets_find(&d.targets, elf))
        return d;
    for (uint32_t i = 0; i < image->table_count; i++)
        direct_add_range(&d, image, i);
    for (size_t i = 0; i < d.range_count; i++)
        direct_read_range(&r, &d.ranges[i]);
    for (size_t i = 0; i < d.range_count; i++)
        if (!d.ranges[i].probes && named_functions_each_whole(functions, d.ranges[i].begin, direct_take_whole, &d))
            direct_read_part(&r, &d.ranges[i]);
    if (d.count)
        qsort(d.list, d.count, sizeof *d.list, direct_compare);
    if (d.address_count)
        qsort(d.addresses, d.address_count, sizeof *d.addresses, compare_numbers);
    free(r.starts);
    return d;
}

void direct_calls_drop(struct direct_calls *d)
{
    free(d->list);
    free(d->addresses);
    free(d->ranges);
}

bool direct_calls_take_address(const struct direct_calls *d, uint64_t address)
{
    const size_t i = LOWER_BOUND(at, d->addresses, d->address_count, *at < address);
    return i < d->address_count && d->addresses[i] == address;
}

const struct direct_range *direct_calls_range(const struct direct_calls *d, uint64_t address)
{
    const size_t i = LOWER_BOUND(range, d->ranges, d->range_count, range->end <= address);
    return i < d->range_count && d->ranges[i].begin <= address ? &d->ranges[i] : NULL;
}

bool direct_calls_have_probes(const struct direct_calls *d, uint64_t address)
{
    const struct direct_range *range = direct_calls_range(d, address);
    return range && range->probes;
}

/* ---- code that changes stacks ---- */

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_B = 1, RSP = 4, RBP = 5, RSP_TO_RBP = 0xe5 };

/* Whether the bytes of an instruction load the stack pointer from a register or from memory, but for rbp: mov, xchg and
 * pop. */
static bool direct_loads_stack(const uint8_t *code, size_t length)
{
    const uint8_t rex = (*code & 0xf0) == REX ? *code : 0, *op = code + (rex != 0);
    if (*op == 0x5c)
        return !(rex & REX_B);
    if (length < 3 || !(rex & REX_W) || (*op != 0x87 && *op != 0x89 && *op != 0x8b))
        return false;
    const unsigned reg = op[1] >> 3 & 7, rm = op[1] & 7;
    const bool registers = op[1] >> 6 == 3;
    const bool to_reg = *op != 0x89 && reg == RSP && !(rex & REX_R);
    const bool to_rm = *op != 0x8b && registers && rm == RSP && !(rex & REX_B);
    const bool from_rbp = *op == 0x8b ? registers && rm == RBP && !(rex & REX_B) : reg == RBP && !(rex & REX_R);
    return (to_reg || to_rm) && !from_rbp;
}

/* Arithmetic, whose result is the stack pointer, with another register than that and the frame pointer. A mask aligns
 * it. */
static bool direct_loads_stack_aarch64(const uint8_t *code)
{
    struct aarch64_addition add;
    uint32_t word;
    memcpy(&word, code, sizeof word);
    if (aarch64_addition_parse(&add, word))
        return add.from != AARCH64_STACK && add.from != AARCH64_FRAME;
    return (word & 0x1fe00000) == 0x0b200000 && aarch64_bits(word, 5, 5) != AARCH64_STACK;
}

static bool direct_sets_frame_aarch64(const uint8_t *code)
{
    struct aarch64_addition add;
    uint32_t word;
    memcpy(&word, code, sizeof word);
    return aarch64_addition_parse(&add, word) && add.to == AARCH64_FRAME && add.from == AARCH64_STACK;
}

bool direct_code_switches_stacks(struct direct_calls *d, const struct image *image, uint64_t address)
{
    const struct direct_range *range = direct_calls_range(d, address);
    struct direct_reader r = { .calls = d, .image = image };
    bool loads = false;
    if (!range || !direct_begin(&r, range))
        return false;
    struct code_insn insn;
    for (uint64_t at = r.begin; at < r.end && direct_decode(&r, at, &insn); at += insn.length) {
        const uint8_t *code = r.code + (at - r.begin);
        if (direct_is_aarch64(&r)) {
            if (direct_sets_frame_aarch64(code))
                return false;
            loads |= insn.moves_stack && direct_loads_stack_aarch64(code);
            continue;
        }
        if (insn.length == 3 && code[0] == (REX | REX_W) && code[1] == 0x89 && code[2] == RSP_TO_RBP)
            return false; /* what compilers make for arrays of variable size */
        loads |= direct_loads_stack(code, insn.length);
    }
    return loads;
}
