/*
 * Finds the functions that contain an address. libdw's search reads a whole compilation unit for each address, which
 * takes a millisecond in a large unit. This module lists the functions of a unit once, and then reads only one
 * function.
 */
#include "symbols/scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/memory.h"

enum { MAX_INLINED = 64 }; /* nested calls */

struct range {
    Dwarf_Addr begin, end;
    Dwarf_Die function;
};

struct unit {
    Dwarf_Off offset;
    Dwarf_Die die;
    Dwarf_Addr bias;
    struct range *ranges; /* in order of `begin` */
    size_t range_count, range_room;
};

struct scopes {
    Dwfl_Module *module;
    struct unit *units;
    size_t unit_count, unit_room;
    bool all; /* all units are listed */
};

/* The functions that contain an address, outermost first. All others are inlined. */
struct chain {
    Dwarf_Die functions[MAX_INLINED];
    int count;
};

struct scopes *scopes_new(Dwfl_Module *module)
{
    struct scopes *s = need_memory(1, sizeof *s);
    s->module = module;
    return s;
}

void scopes_free(struct scopes *s)
{
    for (size_t i = 0; s && i < s->unit_count; i++)
        free(s->units[i].ranges);
    if (s)
        free(s->units);
    free(s);
}

/* ---- units ---- */

static int scopes_compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int scopes_add_function(Dwarf_Die *function, void *data)
{
    struct unit *u = data;
    Dwarf_Addr base, begin, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0;) {
        GROW(u->ranges, u->range_count, u->range_room);
        u->ranges[u->range_count++] = (struct range){ begin, end, *function };
    }
    return DWARF_CB_OK;
}

static struct unit *scopes_unit_of(struct scopes *s, Dwarf_Die *die, Dwarf_Addr bias)
{
    const Dwarf_Off offset = dwarf_dieoffset(die);
    for (size_t i = 0; i < s->unit_count; i++)
        if (s->units[i].offset == offset)
            return &s->units[i];
    GROW(s->units, s->unit_count, s->unit_room);
    struct unit *u = &s->units[s->unit_count++];
    *u = (struct unit){ .offset = offset, .die = *die, .bias = bias };
    dwarf_getfuncs(&u->die, scopes_add_function, u, 0);
    if (u->range_count)
        qsort(u->ranges, u->range_count, sizeof *u->ranges, scopes_compare_ranges);
    return u;
}

static Dwarf_Die *scopes_function_at(const struct unit *u, Dwarf_Addr address)
{
    size_t low = 0, high = u->range_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (u->ranges[middle].begin <= address - u->bias)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address - u->bias < u->ranges[low - 1].end ? &u->ranges[low - 1].function : NULL;
}

/* Some compilers do not say which unit has an address. Then all units are searched. */
static struct unit *scopes_find_unit(struct scopes *s, Dwarf_Addr address)
{
    Dwarf_Addr bias;
    Dwarf_Die *die = dwfl_module_addrdie(s->module, address, &bias);
    if (die)
        return scopes_unit_of(s, die, bias);
    for (die = NULL; !s->all && (die = dwfl_module_nextcu(s->module, die, &bias));)
        scopes_unit_of(s, die, bias);
    s->all = true;
    for (size_t i = 0; i < s->unit_count; i++)
        if (scopes_function_at(&s->units[i], address))
            return &s->units[i];
    return NULL;
}

/* ---- functions ---- */

/* Sets *child to the child that contains the address. Also searches blocks. */
static bool scopes_find_inlined(Dwarf_Die *within, Dwarf_Addr pc, Dwarf_Die *child)
{
    if (dwarf_child(within, child) != 0)
        return false;
    do {
        const int tag = dwarf_tag(child);
        if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(child, pc) > 0)
            return true;
        Dwarf_Die block = *child, inner;
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
            dwarf_haspc(&block, pc) > 0 && scopes_find_inlined(&block, pc, &inner)) {
            *child = inner;
            return true;
        }
    } while (dwarf_siblingof(child, child) == 0);
    return false;
}

static struct chain scopes_chain_at(const struct unit *u, Dwarf_Addr address)
{
    struct chain c = { .count = 0 };
    Dwarf_Die *function = u ? scopes_function_at(u, address) : NULL;
    if (!function)
        return c;
    c.functions[c.count++] = *function;
    while (c.count < MAX_INLINED &&
           scopes_find_inlined(&c.functions[c.count - 1], address - u->bias, &c.functions[c.count]))
        c.count++;
    return c;
}

static const char *scopes_function_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Attribute *found = dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute);
    if (!found)
        found = dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute);
    const char *name = found ? dwarf_formstring(found) : NULL;
    return name ? name : dwarf_diename(function);
}

static bool scopes_function_origin(Dwarf_Die *function, Dwarf_Off *origin)
{
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    if (!dwarf_attr(function, DW_AT_abstract_origin, &attribute) || !dwarf_formref_die(&attribute, &die))
        return false;
    *origin = dwarf_dieoffset(&die);
    return true;
}

/* An instrumented inlined function also has a copy with its own address. */
static uint64_t scopes_function_begin(const struct unit *u, Dwarf_Die *function)
{
    Dwarf_Addr at;
    Dwarf_Off origin, other;
    if (dwarf_tag(function) != DW_TAG_inlined_subroutine)
        return dwarf_entrypc(function, &at) == 0 ? at + u->bias : 0;
    if (!scopes_function_origin(function, &origin))
        return 0;
    for (size_t i = 0; i < u->range_count; i++)
        if (scopes_function_origin(&u->ranges[i].function, &other) && other == origin &&
            dwarf_entrypc(&u->ranges[i].function, &at) == 0)
            return at + u->bias;
    return 0;
}

static uint32_t scopes_attribute_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* The source file and line of the call of an inlined function. */
static const char *scopes_inlined_call(const struct unit *u, Dwarf_Die *inlined, uint32_t *line)
{
    Dwarf_Files *files;
    size_t count;
    Dwarf_Die die = u->die;
    *line = scopes_attribute_number(inlined, DW_AT_call_line);
    if (dwarf_getsrcfiles(&die, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, scopes_attribute_number(inlined, DW_AT_call_file), NULL, NULL);
}

static const char *scopes_line_at(const struct unit *u, Dwarf_Addr address, uint32_t *line)
{
    Dwarf_Die die = u->die;
    Dwarf_Line *found = dwarf_getsrc_die(&die, address - u->bias);
    int number = 0;
    if (!found || dwarf_lineno(found, &number) != 0 || number <= 0)
        return NULL;
    *line = (uint32_t)number;
    return dwarf_linesrc(found, NULL, NULL);
}

struct scopes_site scopes_find(struct scopes *s, uint64_t address, bool inlined)
{
    struct scopes_site found = { 0 };
    struct symbol_site *const site = &found.site;
    const struct unit *u = scopes_find_unit(s, address);
    if (!u)
        return found;
    struct chain c = scopes_chain_at(u, address);
    int caller = c.count - 1;
    if (!inlined) {
        site->file = scopes_line_at(u, address, &site->line);
    } else if (caller > 0) {
        site->file = scopes_inlined_call(u, &c.functions[caller], &site->line);
        caller--;
    }
    if (caller >= 0) {
        site->function = scopes_function_name(&c.functions[caller]);
        found.function_at = scopes_function_begin(u, &c.functions[caller]);
    }
    if (caller > 0) {
        site->outer = scopes_function_name(&c.functions[0]);
        site->outer_file = scopes_inlined_call(u, &c.functions[1], &site->outer_line);
        found.outer_at = scopes_function_begin(u, &c.functions[0]);
    }
    return found;
}
