/*
 * The code is searched byte by byte for distances to slots and to the linker's stubs, as call_slots.c does. So each
 * call is found. What is found without being one only makes the answer larger. Any use of a slot or a stub that is no
 * call makes it unknown: after a jump, the arguments lie in another frame. So do numbers by which code computes their
 * addresses.
 */
#include "arguments/call_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/code_machine.h"

enum { FRAME_POINTER = 6, STACK_POINTER = 7, WORD = 8, FRAME_TOP = 2 * WORD, DISTANCE = sizeof(int32_t) };

/* Addresses that lead to slots: their own, or those at which stubs of the linker may begin. */
struct frames_targets {
    struct frames_target {
        uint64_t address;
        size_t slot;
    } * list; /* by address */
    size_t count, room;
};

struct frames_search {
    struct call_frames *frames;
    const struct image *image;
    struct frames_targets slots, stubs;
};

static int frames_compare_targets(const void *a, const void *b)
{
    const struct frames_target *x = a, *y = b;
    return ORDER_BY(x, y, address);
}

static int frames_compare_sites(const void *a, const void *b)
{
    const struct call_frames_site *x = a, *y = b;
    return ORDER_BY(x, y, slot);
}

static void frames_add_target(struct frames_targets *targets, uint64_t address, size_t slot)
{
    GROW(targets->list, targets->count, targets->room);
    targets->list[targets->count++] = (struct frames_target){ address, slot };
}

static const struct frames_target *frames_target_at(const struct frames_targets *targets, uint64_t address)
{
    if (!targets->count || address < targets->list[0].address || address > targets->list[targets->count - 1].address)
        return NULL;
    const size_t i = LOWER_BOUND(t, targets->list, targets->count, t->address < address);
    return targets->list[i].address == address ? &targets->list[i] : NULL;
}

static void frames_add_site(struct call_frames *frames, size_t slot, uint64_t return_to)
{
    GROW(frames->sites, frames->count, frames->room);
    frames->sites[frames->count++] = (struct call_frames_site){ slot, return_to };
}

static void frames_sort(struct frames_targets *targets)
{
    if (targets->count)
        qsort(targets->list, targets->count, sizeof *targets->list, frames_compare_targets);
}

/* ---- computed addresses ---- */

/* Addresses that code of the large model begins with: those of the sections for slots. */
struct frames_bases {
    uint64_t list[4];
    size_t count;
};

static struct frames_bases frames_bases_of(Elf *elf)
{
    struct frames_bases bases = { .count = 0 };
    size_t names;
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) && elf_getshdrstrndx(elf, &names) == 0
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name && strncmp(name, ".got", 4) == 0 && bases.count < sizeof bases.list / sizeof *bases.list)
            bases.list[bases.count++] = header.sh_addr;
    }
    return bases;
}

/* movabs $NUMBER, %register: the number has eight bytes. */
static bool frames_is_long_number(const uint8_t *number)
{
    return (number[-2] & 0xfe) == 0x48 && (number[-1] & 0xf8) == 0xb8;
}

static void frames_take_number(struct frames_search *search, const struct frames_bases *bases, uint64_t number)
{
    for (size_t i = 0; i < bases->count; i++) {
        const struct frames_target *slot = frames_target_at(&search->slots, bases->list[i] + number);
        const struct frames_target *stub = frames_target_at(&search->stubs, bases->list[i] + number);
        if (slot)
            frames_add_site(search->frames, slot->slot, 0);
        if (stub)
            frames_add_site(search->frames, stub->slot, 0);
    }
}

/* Who calls through a computed address is not known. */
static void frames_find_computed(struct frames_search *search, const struct frames_bases *bases)
{
    for (size_t i = 0; i < search->image->segment_count; i++) {
        const struct image_segment *s = &search->image->segments[i];
        uint64_t number;
        for (uint64_t at = 2; s->code && at + sizeof number <= s->size; at++)
            if (frames_is_long_number(s->bytes + at)) {
                memcpy(&number, s->bytes + at, sizeof number);
                frames_take_number(search, bases, number);
            }
    }
}

/* ---- the code ---- */

/* Takes a distance to one of the targets, with the address behind it. */
typedef void frames_taker(struct frames_search *search, size_t slot, const uint8_t *distance, uint64_t behind);

static void frames_each(struct frames_search *search, const struct frames_targets *targets, frames_taker *take)
{
    for (size_t i = 0; i < search->image->segment_count; i++) {
        const struct image_segment *s = &search->image->segments[i];
        for (uint64_t at = 2; s->code && at + DISTANCE <= s->size; at++) {
            int32_t distance;
            memcpy(&distance, s->bytes + at, sizeof distance);
            const uint64_t behind = s->address + at + DISTANCE;
            const struct frames_target *target = frames_target_at(targets, behind + (uint64_t)(int64_t)distance);
            if (target)
                take(search, target->slot, s->bytes + at, behind);
        }
    }
}

/* The linker's stubs are jmp *SLOT(%rip), after endbr64, a prefix, both, or none of them. */
static void frames_take_slot(struct frames_search *search, size_t slot, const uint8_t *distance, uint64_t behind)
{
    static const uint8_t before[] = { 0, 1, 4, 5 };
    const uint64_t begin = behind - DISTANCE - 2;
    if (!image_is_stub(search->image, begin))
        frames_add_site(search->frames, slot, distance[-2] == 0xff && distance[-1] == 0x15 ? behind : 0);
    else if (distance[-2] == 0xff && distance[-1] == 0x25)
        for (size_t i = 0; i < sizeof before; i++)
            frames_add_target(&search->stubs, begin - before[i], slot);
}

static void frames_take_stub(struct frames_search *search, size_t slot, const uint8_t *distance, uint64_t behind)
{
    if (!image_is_stub(search->image, behind - 1))
        frames_add_site(search->frames, slot, distance[-1] == 0xe8 ? behind : 0);
}

struct call_frames call_frames_find(Dwfl_Module *module, const struct image *image, const struct call_slots *slots)
{
    struct call_frames frames = { .sites = NULL };
    struct frames_search search = { .frames = &frames, .image = image };
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    const struct frames_bases bases = frames_bases_of(elf);
    frames.cfi = code_machine_of(elf) == &code_machine_x86 ? dwfl_module_eh_cfi(module, &bias) : NULL;
    if (!frames.cfi)
        return frames;
    for (size_t i = 0; i < slots->count; i++)
        frames_add_target(&search.slots, slots->list[i].address, i);
    frames_each(&search, &search.slots, frames_take_slot);
    frames_sort(&search.stubs);
    frames_each(&search, &search.stubs, frames_take_stub);
    frames_find_computed(&search, &bases);
    if (frames.count)
        qsort(frames.sites, frames.count, sizeof *frames.sites, frames_compare_sites);
    free(search.slots.list);
    free(search.stubs.list);
    return frames;
}

void call_frames_drop(struct call_frames *frames)
{
    free(frames->sites);
}

/* ---- the frames ---- */

/* Adds the frame of a call. False if its end is not known. */
static bool frames_add(struct call_frame *frame, const Dwarf_Op *op)
{
    const bool numbered = op->atom == DW_OP_bregx;
    const uint64_t number = numbered ? op->number : (uint64_t)op->atom - DW_OP_breg0;
    const int64_t offset = (int64_t)(numbered ? op->number2 : op->number);
    if (number == FRAME_POINTER && offset == FRAME_TOP) {
        frame->frame_pointers = true;
        return true;
    }
    if (number != STACK_POINTER || offset < WORD || offset > INT32_MAX)
        return false;
    const uint32_t bytes = (uint32_t)offset - WORD;
    frame->bytes = bytes > frame->bytes ? bytes : frame->bytes;
    return true;
}

/* At the call, the return address is not on the stack yet. */
bool call_frame_add(Dwarf_CFI *cfi, uint64_t return_to, struct call_frame *to)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    if (!return_to || dwarf_cfi_addrframe(cfi, return_to - 1, &frame) != 0)
        return false;
    const bool known = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 && frames_add(to, ops);
    free(frame);
    return known;
}

struct call_frame call_frame_of(const struct call_frames *frames, const struct call_slots *slots, size_t slot)
{
    struct call_frame frame = { .bytes = 0 };
    size_t i = LOWER_BOUND(site, frames->sites, frames->count, site->slot < slot);
    bool known = !slots->list[slot].everywhere && i < frames->count && frames->sites[i].slot == slot;
    for (; known && i < frames->count && frames->sites[i].slot == slot; i++)
        known = call_frame_add(frames->cfi, frames->sites[i].return_to, &frame);
    return known ? frame : (struct call_frame){ .bytes = CALL_FRAMES_UNKNOWN };
}
