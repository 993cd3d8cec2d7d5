/*
 * Finds the compilation unit of an address by the ranges that each unit states. libdw's own search needs the section
 * .debug_aranges, which clang does not write. libdw also searches a whole unit for a function, which takes a
 * millisecond in a large unit, so this module lists the functions of a unit once.
 */
#include "symbols/compile_units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

struct units {
    Dwfl_Module *module;
    bool read;
    bool complete; /* the functions of units that state no ranges are in `spans` */
    struct unit *list;
    size_t count, room;
    struct spans spans;
};

/* ---- spans ---- */

static int spans_compare(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->item < y->item) - (x->item > y->item); /* the search begins at the last, and finds the first item */
}

static void spans_sort(struct spans *s)
{
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, spans_compare);
    Dwarf_Addr reach = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->list[i].end > reach)
            reach = s->list[i].end;
        s->list[i].reach = reach;
    }
}

/* Spans can overlap where the linker removed code. The one that begins last is then the right one. */
static const struct span *spans_find(const struct spans *s, Dwarf_Addr address)
{
    size_t place = LOWER_BOUND(span, s->list, s->count, span->begin <= address);
    for (; place && s->list[place - 1].reach > address; place--)
        if (s->list[place - 1].end > address)
            return &s->list[place - 1];
    return NULL;
}

/* Returns whether the unit or function states any range. Code that the linker removed is at 0 or 1, or ends before it
 * begins. */
static bool spans_add_ranges(struct spans *s, Dwarf_Die *die, Dwarf_Addr bias, size_t item)
{
    bool any = false;
    Dwarf_Addr base, begin, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
        any = true;
        if (begin <= 1 || begin >= end)
            continue;
        GROW(s->list, s->count, s->room);
        s->list[s->count++] = (struct span){ .begin = begin + bias, .end = end + bias, .item = item };
    }
    return any;
}

/* ---- functions ---- */

static int unit_add_function(Dwarf_Die *function, void *data)
{
    struct unit *u = data;
    const size_t count = u->spans.count;
    spans_add_ranges(&u->spans, function, u->bias, u->function_count);
    if (u->spans.count == count)
        return DWARF_CB_OK;
    GROW(u->functions, u->function_count, u->function_room);
    u->functions[u->function_count++] = *function;
    return DWARF_CB_OK;
}

const char *unit_missing_file(const struct unit *unit)
{
    Dwarf_Die split = { 0 }, die = unit->die;
    Dwarf_Attribute name;
    const bool found = dwarf_cu_info(die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr;
    if (found || !(dwarf_attr(&die, DW_AT_dwo_name, &name) || dwarf_attr(&die, DW_AT_GNU_dwo_name, &name)))
        return NULL;
    return dwarf_formstring(&name);
}

/* The functions can be in a file of their own, as with -gsplit-dwarf. */
void unit_list_functions(struct unit *unit)
{
    if (unit->listed)
        return;
    unit->listed = true;
    Dwarf_Die split = { 0 }, die = unit->die;
    if (dwarf_cu_info(die.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr)
        die = split;
    dwarf_getfuncs(&die, unit_add_function, unit, 0);
    spans_sort(&unit->spans);
}

Dwarf_Die *unit_function_at(struct unit *unit, Dwarf_Addr address)
{
    unit_list_functions(unit);
    const struct span *found = spans_find(&unit->spans, address);
    return found ? &unit->functions[found->item] : NULL;
}

/* ---- units ---- */

struct units *units_new(Dwfl_Module *module)
{
    struct units *units = need_memory(1, sizeof *units);
    units->module = module;
    return units;
}

void units_free(struct units *units)
{
    for (size_t i = 0; units && i < units->count; i++) {
        free(units->list[i].functions);
        free(units->list[i].spans.list);
    }
    if (units) {
        free(units->list);
        free(units->spans.list);
    }
    free(units);
}

static void units_read(struct units *units)
{
    Dwarf_Addr bias;
    for (Dwarf_Die *die = NULL; (die = dwfl_module_nextcu(units->module, die, &bias));) {
        GROW(units->list, units->count, units->room);
        units->list[units->count++] = (struct unit){ .die = *die, .bias = bias };
    }
    for (size_t i = 0; i < units->count; i++)
        if (spans_add_ranges(&units->spans, &units->list[i].die, units->list[i].bias, i))
            units->list[i].stated = true;
    spans_sort(&units->spans);
    units->read = true;
}

/* Adds the functions of the units that state no ranges. */
static void units_complete(struct units *units)
{
    for (size_t i = 0; i < units->count; i++) {
        struct unit *u = &units->list[i];
        if (u->stated)
            continue;
        unit_list_functions(u);
        for (size_t j = 0; j < u->spans.count; j++) {
            GROW(units->spans.list, units->spans.count, units->spans.room);
            units->spans.list[units->spans.count++] = u->spans.list[j];
            units->spans.list[units->spans.count - 1].item = i;
        }
    }
    spans_sort(&units->spans);
    units->complete = true;
}

struct unit *units_find(struct units *units, Dwarf_Addr address)
{
    if (!units->read)
        units_read(units);
    const struct span *found = spans_find(&units->spans, address);
    if (!found && !units->complete) {
        units_complete(units);
        found = spans_find(&units->spans, address);
    }
    return found ? &units->list[found->item] : NULL;
}

const char *unit_line_at(const struct unit *unit, Dwarf_Addr address, uint32_t *line)
{
    Dwarf_Die die = unit->die;
    Dwarf_Line *found = dwarf_getsrc_die(&die, address - unit->bias);
    int number = 0;
    *line = found && dwarf_lineno(found, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    return found ? dwarf_linesrc(found, NULL, NULL) : NULL;
}
