/*
 * A function of a library that is linked into the module: calls lead straight to its code. A pattern has to name it.
 * Some calls lead to a stub of the linker, which jumps through a slot. The loader may give it the function of that name
 * that another module has. Or the function has several versions, one of which its resolver chooses.
 */
#include "recorder/planned_sites.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/call_frames.h"
#include "arguments/callee_code.h"
#include "arguments/direct_callee.h"
#include "arguments/stack_arguments.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sorted.h"
#include "recorder/call_choice.h"
#include "symbols/code_machine.h"
#include "symbols/direct_calls.h"
#include "symbols/named_functions.h"
#include "symbols/probe_targets.h"
#include "symbols/uncalled_functions.h"

/* A slot with a function of the module, or a version that its resolver chooses. */
struct sites_slot {
    uint64_t slot, function;
    const char *name; /* by which the loader looks it up; NULL if it does not */
};

struct sites_search {
    struct planned_calls *calls;
    const uint32_t *order; /* of modules, in which names are looked up */
    const struct calling_module *module;
    struct named_functions functions;
    struct direct_calls found;
    struct sites_slot *slots;
    size_t slot_count, slot_room;
    struct stack_arguments declared; /* read for the first function that is chosen */
    Dwarf_CFI *cfi;
    bool read;
    const char *addressed; /* a function whose address the code takes, too */
    size_t addressed_count;
    struct dwell_calls_function *put;
    size_t put_count, put_room;
    struct dwell_calls_site *sites;
    size_t site_count, site_room;
};

/* ---- slots ---- */

/* The slot's function of the module. Its function is zero if there is none. */
static struct sites_slot sites_slot_of(const struct sites_search *s, const GElf_Rela *relocation,
                                       const GElf_Shdr *header, Elf_Data *symbols)
{
    const struct code_machine *machine = code_machine_of(s->module->elf);
    const uint64_t type = GELF_R_TYPE(relocation->r_info);
    struct sites_slot slot = { .slot = relocation->r_offset };
    GElf_Shdr of_symbols;
    GElf_Sym symbol;
    if (type == machine->resolved)
        slot.function = (uint64_t)relocation->r_addend;
    if ((type != machine->call_slot && type != machine->slot) || !symbols ||
        !gelf_getsym(symbols, (int)GELF_R_SYM(relocation->r_info), &symbol) || symbol.st_shndx == SHN_UNDEF ||
        !gelf_getshdr(elf_getscn(s->module->elf, header->sh_link), &of_symbols))
        return slot;
    slot.function = symbol.st_value;
    slot.name = elf_strptr(s->module->elf, of_symbols.sh_link, symbol.st_name);
    return slot;
}

static void sites_take_slots(struct sites_search *s, Elf_Data *data, const GElf_Shdr *header, Elf_Data *symbols)
{
    GElf_Rela relocation;
    for (int i = 0; data && gelf_getrela(data, i, &relocation); i++) {
        const struct sites_slot slot = sites_slot_of(s, &relocation, header, symbols);
        if (!slot.function)
            continue;
        GROW(s->slots, s->slot_count, s->slot_room);
        s->slots[s->slot_count++] = slot;
    }
}

static int sites_compare_slots(const void *a, const void *b)
{
    const struct sites_slot *x = a, *y = b;
    return ORDER_BY(x, y, slot);
}

static void sites_find_slots(struct sites_search *s)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->module->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC))
            continue;
        Elf_Scn *symbols = header.sh_link ? elf_getscn(s->module->elf, header.sh_link) : NULL;
        sites_take_slots(s, elf_getdata(section, NULL), &header, symbols ? elf_getdata(symbols, NULL) : NULL);
    }
    if (s->slot_count)
        qsort(s->slots, s->slot_count, sizeof *s->slots, sites_compare_slots);
}

/* Another module can have a function of that name which the loader finds first. */
static bool sites_are_taken(const struct sites_search *s, const struct sites_slot *slot)
{
    const struct calling_module *of =
        slot->name ? calling_modules_find(&s->calls->found, s->order, slot->name) : s->module;
    return of && of != s->module;
}

/* What the session knows the target of a call by. Zero if it is a function of another module. */
static uint64_t sites_function_of(const struct sites_search *s, uint64_t target)
{
    if (!image_is_stub(s->module->parts.image, target))
        return target;
    const uint64_t address = probe_slot_of_stub(&s->found.targets, s->module->parts.image, target);
    const size_t i = LOWER_BOUND(of, s->slots, s->slot_count, of->slot < address);
    const struct sites_slot *slot = &s->slots[i];
    return address && i < s->slot_count && slot->slot == address && !sites_are_taken(s, slot) ? slot->function : 0;
}

/* ---- a function ---- */

/* The calls of a function, and its names. */
struct sites_group {
    uint64_t target;
    struct direct_callee callee;
    size_t name, name_count;
};

static const char *sites_name(const struct sites_search *s, const struct sites_group *g, size_t i)
{
    return s->functions.list[g->name + i].name;
}

/* Before the first function that is chosen. */
static void sites_read(struct sites_search *s)
{
    Dwarf_Addr bias;
    if (s->read)
        return;
    s->declared = stack_arguments_find(s->module->parts.module);
    s->cfi = dwfl_module_eh_cfi(s->module->parts.module, &bias);
    s->read = true;
}

/* Any of the names can be a reason. */
static const char *sites_named_reason(const struct sites_search *s, const struct sites_group *g)
{
    for (size_t i = 0; i < g->name_count; i++) {
        const char *reason = uncalled_reason(sites_name(s, g, i));
        if (reason)
            return reason;
        if (named_symbol_is_part(sites_name(s, g, i)))
            return "a compiler has made it of another function";
    }
    return NULL;
}

static const char *sites_code_reason(struct sites_search *s, struct sites_group *g)
{
    sites_read(s);
    return direct_callee_reason(&g->callee, &s->found, s->module->parts.image, s->cfi);
}

static void sites_bound(const struct sites_search *s, const struct sites_group *g, struct dwell_calls_stack *stack)
{
    struct call_frame frame = { .bytes = 0 };
    for (size_t i = 0; i < g->callee.count; i++)
        if (g->callee.calls[i].kind != DIRECT_CALL || !s->cfi ||
            !call_frame_add(s->cfi, g->callee.calls[i].next, &frame))
            return;
    calls_bound_by(stack, &frame);
}

/* Whether a caller may hand over more than a stub copies. */
static bool sites_hand_over_much(const struct sites_search *s, const struct sites_group *g)
{
    for (size_t i = 0; i < g->callee.count; i++) {
        const struct direct_range *range = direct_calls_range(&s->found, g->callee.calls[i].at);
        if (!range || callee_code_hands_over(s->module->parts.image, range->begin, range->end, DWELL_CALLS_STACK_MOST))
            return true;
    }
    return false;
}

/* As a struct of any size. All arguments lie in the callers' frames, so those of small ones take little. On aarch64, a
 * struct of more than 16 bytes is not among them, but its address. */
static bool sites_may_take_much(const struct sites_search *s, const struct sites_group *g,
                                const struct dwell_calls_stack *stack)
{
    if (s->found.targets.machine == &code_machine_aarch64)
        return g->callee.code.bytes > DWELL_CALLS_STACK_MOST;
    return stack->bytes == DWELL_CALLS_STACK_MOST && !g->callee.code.any_number &&
           (g->callee.code.takes_address || g->callee.code.bytes > DWELL_CALLS_STACK_MOST) &&
           sites_hand_over_much(s, g);
}

/* A declaration is that of the function with that name which other units can call. Compilers may change what one that
 * they cannot call takes, and other units may have one of that name. */
static bool sites_find_stack(struct sites_search *s, const struct sites_group *g, size_t i,
                             struct dwell_calls_stack *stack)
{
    bool exact;
    stack->bytes = calls_stack_bytes(&s->declared, s->module, sites_name(s, g, i), &exact);
    if (stack->bytes == UINT32_MAX)
        return false;
    const bool local = s->functions.list[g->name + i].local;
    if (exact && !local)
        return true;
    if (local)
        stack->bytes = DWELL_CALLS_STACK_MOST;
    sites_bound(s, g, stack);
    return (!local && stack_arguments_of(&s->declared, sites_name(s, g, i))) || !sites_may_take_much(s, g, stack);
}

static void sites_put(struct sites_search *s, const struct sites_group *g, const struct dwell_calls_stack *stack)
{
    GROW(s->put, s->put_count, s->put_room);
    s->put[s->put_count] = (struct dwell_calls_function){ g->target, g->callee.function, *stack };
    for (size_t i = 0; i < g->callee.count; i++) {
        GROW(s->sites, s->site_count, s->site_room);
        s->sites[s->site_count++] = (struct dwell_calls_site){ g->callee.calls[i].at, (uint32_t)s->put_count, 0 };
    }
    s->put_count++;
}

static void sites_note_address(struct sites_search *s, const struct sites_group *g)
{
    if (!s->addressed)
        s->addressed = sites_name(s, g, 0);
    s->addressed_count++;
}

/* A compiler may keep the address of a function that is called several times. In one line: there can be many. */
static void sites_say_addressed(const struct sites_search *s)
{
    if (!s->addressed)
        return;
    char *name = symbol_demangle(s->addressed);
    if (s->addressed_count == 1)
        say("--calls-to: calls of %s through pointers are not recorded, whose address the code takes", name);
    else
        say("--calls-to: calls of %s and %s through pointers are not recorded, whose addresses the code takes", name,
            COUNTED(s->addressed_count - 1, "other function"));
    free(name);
}

static void sites_note_refused(struct sites_search *s, const struct sites_group *g, const char *reason)
{
    if (!s->calls->refused.count++) {
        s->calls->refused.name = symbol_demangle(sites_name(s, g, 0));
        s->calls->refused.reason = reason;
    }
}

/* Patterns can name a function by each of its names. */
static void sites_choose(struct sites_search *s, struct sites_group *g)
{
    struct dwell_calls_stack stack = { .bytes = 0 };
    const char *named = sites_named_reason(s, g), *reason = named;
    bool chosen = false;
    for (size_t i = 0; i < g->name_count; i++) {
        const char *name = sites_name(s, g, i);
        if (!calls_are_named(s->calls, s->module, name))
            continue;
        if (!chosen && !named)
            reason = sites_code_reason(s, g);
        if (!chosen && !reason && !sites_find_stack(s, g, i, &stack))
            reason = "their arguments may take too much of the stack";
        chosen = true;
        calls_note(s->calls, name, reason);
    }
    if (chosen && reason && !named)
        sites_note_refused(s, g, reason);
    s->calls->left_alone += chosen && reason;
    if (!chosen || reason)
        return;
    sites_put(s, g, &stack);
    if (direct_calls_take_address(&s->found, g->callee.function) || direct_calls_take_address(&s->found, g->target))
        sites_note_address(s, g);
}

/* ---- a module ---- */

static struct sites_group sites_group_of(const struct sites_search *s, uint64_t target)
{
    struct sites_group g = { .target = target, .callee.function = sites_function_of(s, target) };
    g.name = named_functions_at(&s->functions, g.callee.function);
    while (g.name + g.name_count < s->functions.count &&
           s->functions.list[g.name + g.name_count].address == g.callee.function)
        g.name_count++;
    return g;
}

/* A pattern that names nothing else is an error, which has the reason. */
static void sites_note_pointer(struct sites_search *s, const struct sites_group *g)
{
    bool others = false;
    for (size_t i = 0; i < g->name_count; i++) {
        if (!calls_are_named(s->calls, s->module, sites_name(s, g, i)))
            continue;
        calls_note(s->calls, sites_name(s, g, i), "the code calls it through pointers only");
        others |= calls_have_others(s->calls);
    }
    if (others)
        sites_note_address(s, g);
}

/* Functions whose addresses the code takes, and that it never calls directly. */
static void sites_note_pointers(struct sites_search *s)
{
    const struct direct_calls *found = &s->found;
    for (size_t i = 0; i < found->address_count; i++) {
        const uint64_t address = found->addresses[i];
        const size_t call = LOWER_BOUND(c, found->list, found->count, c->target < address);
        if ((i && found->addresses[i - 1] == address) || (call < found->count && found->list[call].target == address) ||
            direct_calls_have_probes(found, address))
            continue;
        const struct sites_group g = sites_group_of(s, address);
        sites_note_pointer(s, &g);
    }
}

static void sites_choose_all(struct sites_search *s)
{
    const struct direct_calls *found = &s->found;
    for (size_t i = 0, next; i < found->count; i = next) {
        struct sites_group g = sites_group_of(s, found->list[i].target);
        for (next = i + 1; next < found->count && found->list[next].target == g.target;)
            next++;
        g.callee.calls = &found->list[i];
        g.callee.count = next - i;
        if (!g.callee.function || direct_calls_have_probes(found, g.callee.function))
            continue;
        sites_choose(s, &g);
    }
}

/* Each function has a symbol, unless the file is stripped. */
static bool sites_are_nameless(const struct sites_search *s)
{
    for (size_t i = 0; i < s->found.range_count; i++) {
        const size_t at = named_functions_at(&s->functions, s->found.ranges[i].begin);
        if (s->found.ranges[i].probes &&
            (at == s->functions.count || s->functions.list[at].address != s->found.ranges[i].begin))
            return true;
    }
    return false;
}

static int sites_compare(const void *a, const void *b)
{
    const struct dwell_calls_site *x = a, *y = b;
    return ORDER_BY(x, y, address);
}

void planned_sites_put(struct planned_calls *c, const uint32_t *order, const struct calling_module *module,
                       struct dwell_calls_module *head, FILE *out)
{
    struct sites_search s = { .calls = c, .order = order, .module = module };
    if (!c->count || !code_machine_of(module->elf))
        return;
    s.functions = named_functions_find(module->parts.module);
    s.found = direct_calls_find(module->elf, module->parts.image, &s.functions);
    c->nameless |= sites_are_nameless(&s);
    c->tableless |= !module->parts.image->table_header;
    sites_find_slots(&s);
    sites_choose_all(&s);
    sites_note_pointers(&s);
    if (s.site_count)
        qsort(s.sites, s.site_count, sizeof *s.sites, sites_compare);
    if (s.put_count && s.found.unread)
        say("--calls-to: %s: calls in %s are not recorded, as not all of their instructions are known", module->path,
            COUNTED(s.found.unread, "function"));
    sites_say_addressed(&s);
    head->functions = (uint32_t)s.put_count;
    head->sites = (uint32_t)s.site_count;
    fwrite(s.put, sizeof *s.put, s.put_count, out);
    fwrite(s.sites, sizeof *s.sites, s.site_count, out);
    stack_arguments_drop(&s.declared);
    direct_calls_drop(&s.found);
    named_functions_drop(&s.functions);
    free(s.slots);
    free(s.put);
    free(s.sites);
}
