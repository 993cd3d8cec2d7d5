/*
 * Reads the code of functions, and follows the constants in their registers: the probe's first argument is the
 * function. What is known where jumps lead is found by reading the code again until nothing changes.
 */
#include "arguments/hook_calls.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/probe_targets.h"

enum { MOST_BYTES = 1 << 22, MOST_PASSES = 16, MOST_KEPT = 16, KEPT_NEAR = 4096, WORD = 8 };

/* An address of code, or the page that it is made from, that is kept on the stack until a probe is called with it. */
struct hook_kept {
    int64_t at; /* from the stack pointer */
    uint64_t value;
};

/* Constants that the general registers hold. */
struct hook_values {
    uint64_t of[CODE_REGISTERS];
    uint32_t known; /* a bit for each register */
    bool reached;
    uint8_t kept_count;
    struct hook_kept kept[MOST_KEPT];
};

/* What the loader stores into a slot: an address in the file. */
struct hook_slot {
    uint64_t slot, value;
};

struct hook_reader {
    struct hook_calls *calls;
    const struct image *image;
    struct probe_targets targets;
    struct hook_slot *slots;
    size_t slot_count, slot_room;
    uint64_t lowest, highest; /* functions of the unwind table */
    /* of a function */
    uint64_t begin, end;
    uint8_t *code;
    uint32_t *targets_at; /* by offset: 1 + the index of what is known there, if a jump leads there */
    struct hook_values *at;
    size_t target_count, target_room;
    bool changed, last;
};

/* ---- slots ---- */

static int hook_compare_slots(const void *a, const void *b)
{
    const struct hook_slot *x = a, *y = b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static void hook_add_slots(struct hook_reader *r, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Scn *symbols = elf_getscn(elf, header->sh_link);
    Elf_Data *data = elf_getdata(section, NULL), *names = symbols ? elf_getdata(symbols, NULL) : NULL;
    const struct code_machine *machine = r->targets.machine;
    GElf_Rela relocation;
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getrela(data, i, &relocation); i++) {
        const uint64_t type = GELF_R_TYPE(relocation.r_info);
        uint64_t value = 0;
        if (type == machine->relative)
            value = (uint64_t)relocation.r_addend;
        else if ((type == machine->slot || type == machine->address) && names &&
                 gelf_getsym(names, (int)GELF_R_SYM(relocation.r_info), &symbol) && symbol.st_shndx != SHN_UNDEF)
            value = symbol.st_value + (uint64_t)relocation.r_addend;
        if (!value)
            continue;
        GROW(r->slots, r->slot_count, r->slot_room);
        r->slots[r->slot_count++] = (struct hook_slot){ relocation.r_offset, value };
    }
}

static void hook_read_slots(struct hook_reader *r, Elf *elf)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            hook_add_slots(r, elf, section, &header);
    }
    if (r->slot_count)
        qsort(r->slots, r->slot_count, sizeof *r->slots, hook_compare_slots);
}

/* Without a relocation, the file has the word itself. Zero if it is unknown. */
static uint64_t hook_slot_value(const struct hook_reader *r, uint64_t slot)
{
    const struct hook_slot wanted = { slot, 0 };
    const struct hook_slot *found =
        r->slot_count ? bsearch(&wanted, r->slots, r->slot_count, sizeof *r->slots, hook_compare_slots) : NULL;
    uint64_t value = 0;
    if (!found)
        image_read(r->image, slot, &value, sizeof value);
    return found ? found->value : value;
}

/* ---- a function ---- */

static bool hook_is_inside(const struct hook_reader *r, uint64_t address)
{
    return address >= r->begin && address < r->end;
}

static bool hook_decode(const struct hook_reader *r, uint64_t at, struct code_insn *insn)
{
    return r->targets.machine->decode(r->code + (at - r->begin), r->end - at, at, insn) && insn->length;
}

/* ---- what the code keeps on its stack ---- */

static const struct hook_kept *hook_kept_at(const struct hook_values *v, int64_t at)
{
    for (unsigned i = 0; i < v->kept_count; i++)
        if (v->kept[i].at == at)
            return &v->kept[i];
    return NULL;
}

/* Forgets what is not the same on another way. Returns whether there was any. */
static bool hook_kept_join(struct hook_values *to, const struct hook_values *other)
{
    const unsigned before = to->kept_count;
    to->kept_count = 0;
    for (unsigned i = 0; i < before; i++) {
        const struct hook_kept kept = to->kept[i], *same = hook_kept_at(other, kept.at);
        if (same && same->value == kept.value)
            to->kept[to->kept_count++] = kept;
    }
    return to->kept_count != before;
}

static void hook_kept_forget(struct hook_values *v, int64_t at, int64_t size)
{
    const unsigned before = v->kept_count;
    v->kept_count = 0;
    for (unsigned i = 0; i < before; i++)
        if (v->kept[i].at + WORD <= at || v->kept[i].at >= at + size)
            v->kept[v->kept_count++] = v->kept[i];
}

/* Only what compilers keep there themselves is of use, which nothing else changes: a probe always gets a function. */
static void hook_keep(const struct hook_reader *r, const struct code_insn *insn, struct hook_values *v)
{
    for (unsigned i = 0; i < insn->count; i++) {
        const int64_t at = (int64_t)insn->value + (int64_t)i * insn->size;
        const unsigned from = insn->first[i];
        hook_kept_forget(v, at, insn->size);
        if (insn->size == WORD && v->known >> from & 1 && v->kept_count < MOST_KEPT &&
            v->of[from] + KEPT_NEAR > r->lowest && v->of[from] <= r->highest)
            v->kept[v->kept_count++] = (struct hook_kept){ at, v->of[from] };
    }
}

static void hook_fetch(const struct code_insn *insn, struct hook_values *v)
{
    for (unsigned i = 0; i < insn->count; i++) {
        const struct hook_kept *kept = hook_kept_at(v, (int64_t)insn->value + (int64_t)i * insn->size);
        if (!kept || insn->size != WORD || insn->first[i] == CODE_NONE)
            continue;
        v->of[insn->first[i]] = kept->value;
        v->known |= 1u << insn->first[i];
    }
}

/* What is known at a target on all ways to it. */
static void hook_arrive(struct hook_reader *r, uint64_t target, const struct hook_values *values)
{
    struct hook_values *to = &r->at[r->targets_at[target - r->begin] - 1];
    if (!to->reached) {
        *to = *values;
        r->changed = true;
        return;
    }
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (to->known & 1u << i && !(values->known & 1u << i && values->of[i] == to->of[i])) {
            to->known &= ~(1u << i);
            r->changed = true;
        }
    r->changed |= hook_kept_join(to, values);
}

/* The constant that an instruction leaves in a register. False if it is not known. */
static bool hook_constant(const struct hook_reader *r, const struct code_insn *insn, const struct hook_values *v,
                          uint64_t *value)
{
    const bool known = v->known >> insn->from & 1u;
    const uint64_t from = v->of[insn->from];
    switch (insn->kind) {
    case CODE_CONSTANT:
        *value = insn->value; /* zero, too: a page may begin there */
        return true;
    case CODE_LOAD:
        *value = hook_slot_value(r, insn->value);
        return *value != 0;
    case CODE_COPY:
        *value = from;
        return known;
    case CODE_ADD:
        *value = from + insn->value;
        return known;
    case CODE_LOAD_AT:
        *value = known ? hook_slot_value(r, from + insn->value) : 0;
        return *value != 0;
    default:
        return false;
    }
}

static void hook_change_registers(const struct hook_reader *r, const struct code_insn *insn, struct hook_values *v)
{
    uint64_t value = 0;
    const bool known = hook_constant(r, insn, v, &value);
    v->known &= ~insn->writes;
    if (insn->kind >= CODE_CONSTANT && insn->kind <= CODE_LOAD_AT)
        v->known &= ~(1u << insn->to);
    if (insn->moves_stack)
        v->kept_count = 0;
    if (known) {
        v->of[insn->to] = value;
        v->known |= 1u << insn->to;
    } else if (insn->kind == CODE_CALL || insn->kind == CODE_CALL_SLOT || insn->kind == CODE_CALL_ANY) {
        v->known &= ~r->targets.machine->caller_saved;
    } else if (insn->kind == CODE_STORE_STACK) {
        hook_keep(r, insn, v);
    } else if (insn->kind == CODE_LOAD_STACK) {
        hook_fetch(insn, v);
    }
}

static bool hook_ends(enum insn_kind kind)
{
    return kind == CODE_JUMP || kind == CODE_JUMP_SLOT || kind == CODE_JUMP_ANY || kind == CODE_END;
}

/* Whether the code behind a call goes on with an exception, and not to the function's end. */
static bool hook_unwinds(const struct hook_reader *r, uint64_t at)
{
    enum { FEW = 24 };
    struct code_insn insn;
    for (int i = 0; i < FEW && at < r->end && hook_decode(r, at, &insn); i++) {
        if (insn.kind == CODE_CALL || insn.kind == CODE_CALL_SLOT)
            return probe_target_resumes(&r->targets, r->image, &insn);
        if (hook_ends(insn.kind) && !(insn.kind == CODE_JUMP && hook_is_inside(r, insn.value)))
            return false;
        at = insn.kind == CODE_JUMP ? insn.value : at + insn.length;
    }
    return false;
}

static void hook_add_call(struct hook_reader *r, uint64_t at, const struct code_insn *insn, const struct hook_values *v)
{
    bool other = false;
    const int probe = probe_target_of(&r->targets, r->image, insn, &other);
    if (probe == PROBE_NONE)
        return;
    const uint8_t argument = r->targets.machine->first_argument;
    if (!v->reached || !(v->known >> argument & 1) || !v->of[argument]) {
        r->calls->unknown += probe == PROBE_ENTER;
        return;
    }
    GROW(r->calls->list, r->calls->count, r->calls->room);
    r->calls->list[r->calls->count++] = (struct hook_call){
        .function = v->of[argument],
        .at = at,
        .next = at + insn->length,
        .begin = r->begin,
        .exit = probe == PROBE_EXIT,
        .jump = insn->kind == CODE_JUMP || insn->kind == CODE_JUMP_SLOT,
        .unwinds = probe == PROBE_EXIT && hook_unwinds(r, at + insn->length),
    };
}

/* Code behind an end that no known jump leads to is reached by a computed one, or by an exception: nothing is known. */
static void hook_pass(struct hook_reader *r)
{
    struct hook_values values = { .reached = true };
    struct code_insn insn;
    bool ended = false;
    for (uint64_t at = r->begin; at < r->end && hook_decode(r, at, &insn); at += insn.length) {
        if (r->targets_at[at - r->begin]) {
            if (values.reached)
                hook_arrive(r, at, &values);
            values = r->at[r->targets_at[at - r->begin] - 1];
            ended = false;
        } else if (ended && !r->targets.machine->is_padding(r->code + (at - r->begin), insn.length)) {
            values = (struct hook_values){ .reached = true };
            ended = false;
        }
        if (r->last)
            hook_add_call(r, at, &insn, &values);
        if ((insn.kind == CODE_JUMP || insn.kind == CODE_BRANCH) && hook_is_inside(r, insn.value) && values.reached)
            hook_arrive(r, insn.value, &values);
        hook_change_registers(r, &insn, &values);
        if (hook_ends(insn.kind)) {
            values.reached = false;
            ended = true;
        }
    }
}

/* Lists the targets of jumps. Returns whether a probe is called. */
static bool hook_find_targets(struct hook_reader *r)
{
    struct code_insn insn;
    bool calls = false;
    r->target_count = 0;
    for (uint64_t at = r->begin; at < r->end && hook_decode(r, at, &insn); at += insn.length) {
        bool other = false;
        calls |= probe_target_of(&r->targets, r->image, &insn, &other) != PROBE_NONE;
        if ((insn.kind != CODE_JUMP && insn.kind != CODE_BRANCH) || !hook_is_inside(r, insn.value) ||
            r->targets_at[insn.value - r->begin])
            continue;
        GROW(r->at, r->target_count, r->target_room);
        r->at[r->target_count++] = (struct hook_values){ .reached = false };
        r->targets_at[insn.value - r->begin] = (uint32_t)r->target_count;
    }
    return calls;
}

static void hook_read_function(struct hook_reader *r)
{
    const size_t size = (size_t)(r->end - r->begin);
    r->code = need_memory(size, 1);
    r->targets_at = need_memory(size, sizeof *r->targets_at);
    if (image_read(r->image, r->begin, r->code, size) && hook_find_targets(r)) {
        r->changed = true;
        r->last = false;
        for (int pass = 0; r->changed && pass < MOST_PASSES; pass++) {
            r->changed = false;
            hook_pass(r);
        }
        r->last = !r->changed; /* else what is known may be wrong */
        if (r->last)
            hook_pass(r);
    }
    free(r->targets_at);
    free(r->code);
}

static int hook_compare_calls(const void *a, const void *b)
{
    const struct hook_call *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Tables of damaged files can have the same code again and again. */
static uint64_t hook_most_bytes(const struct image *image)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < image->segment_count; i++)
        bytes += image->segments[i].size;
    return bytes;
}

static void hook_read_functions(struct hook_reader *r)
{
    uint64_t left = hook_most_bytes(r->image);
    if (r->image->table_count && (!image_table_entry(r->image, 0, &r->lowest) ||
                                  !image_table_entry(r->image, r->image->table_count - 1, &r->highest)))
        return;
    for (uint32_t i = 0; i < r->image->table_count; i++) {
        uint64_t begin, end;
        if (!image_table_entry(r->image, i, &begin) || !image_function(r->image, begin, &r->begin, &r->end) ||
            r->begin != begin)
            continue;
        if (i + 1 < r->image->table_count && image_table_entry(r->image, i + 1, &end) && r->end > end)
            r->end = end;
        if (image_is_stub(r->image, begin) || r->end <= r->begin || r->end - r->begin > MOST_BYTES ||
            r->end - r->begin > left)
            continue;
        left -= r->end - r->begin;
        hook_read_function(r);
    }
}

struct hook_calls hook_calls_find(Elf *elf, const struct image *image)
{
    struct hook_calls calls = { .list = NULL };
    struct hook_reader r = { .calls = &calls, .image = image };
    calls.other_machine = !code_machine_of(elf);
    if (calls.other_machine || !image->table_header || !probe_targets_find(&r.targets, elf))
        return calls;
    hook_read_slots(&r, elf);
    hook_read_functions(&r);
    if (calls.count)
        qsort(calls.list, calls.count, sizeof *calls.list, hook_compare_calls);
    free(r.at);
    free(r.slots);
    return calls;
}

void hook_calls_drop(struct hook_calls *h)
{
    free(h->list);
}

size_t hook_calls_first(const struct hook_calls *h, uint64_t function)
{
    return LOWER_BOUND(call, h->list, h->count, call->function < function);
}
