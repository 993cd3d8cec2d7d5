/*
 * The calling convention of x86-64 has 6 registers for numbers and addresses, and 8 for floating-point numbers. What is
 * found is at least what a function takes: a struct counts as a whole, though it may be passed in registers.
 *
 * That of aarch64 has 8 of each. Arguments behind one that no longer fits get no registers of its kind. So a struct
 * counts as a whole, and takes as many registers as one of its size can, of both kinds.
 */
#include "arguments/stack_arguments.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/argument_type.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/code_machine.h"

enum {
    WORD = 8,
    GENERAL = 6,
    VECTORS = 8,
    AARCH64_REGISTERS = 8,       /* of each kind */
    AARCH64_IN_GENERAL = 16,     /* a larger struct is passed by its address */
    AARCH64_IN_VECTORS = 4 * 16, /* one of up to four vectors or floating-point numbers is not */
    ALIGNMENT = 16,
    DEEPEST = 16 /* nested namespaces and classes */
};

/* What arguments take. On aarch64, `general` and `vectors` are registers only. */
struct stack_count {
    bool aarch64;
    uint64_t general, vectors, bytes;
    bool any;
};

static uint64_t stack_rounded(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* An argument in so many of the registers, if as many are left; none of them are, if it is on the stack. */
static void stack_count_aarch64_in(struct stack_count *count, uint64_t *registers, uint64_t number, uint64_t size)
{
    if (*registers + number > AARCH64_REGISTERS) {
        *registers = AARCH64_REGISTERS;
        count->bytes += size <= WORD ? WORD : stack_rounded(size + WORD);
    } else {
        *registers += number;
    }
}

static void stack_count_aarch64_take(uint64_t *registers, uint64_t number)
{
    *registers = *registers + number > AARCH64_REGISTERS ? AARCH64_REGISTERS : *registers + number;
}

/* `is_plain`: an integer or an address. Bytes of others may have some before them, which align them. */
static void stack_count_aarch64(struct stack_count *count, uint64_t size, bool is_float, bool is_plain)
{
    if (is_float) {
        stack_count_aarch64_in(count, &count->vectors, 1, size);
    } else if (is_plain && size <= WORD) {
        stack_count_aarch64_in(count, &count->general, 1, size);
    } else {
        count->bytes += size <= AARCH64_IN_VECTORS ? stack_rounded(size + WORD) : WORD;
        stack_count_aarch64_take(&count->vectors, AARCH64_IN_VECTORS / ALIGNMENT);
        stack_count_aarch64_take(&count->general, AARCH64_IN_GENERAL / WORD + 1);
    }
}

/* The most bytes that can be before an argument of that size to align it, beyond those that each one is rounded up by:
 * the size is a multiple of the alignment. */
static uint64_t stack_padding(uint64_t size)
{
    const uint64_t alignment = size & -size;
    return alignment > ALIGNMENT ? alignment - ALIGNMENT : 0;
}

static void stack_count_x86(struct stack_count *count, uint64_t size, bool is_float, bool is_plain)
{
    if (is_float && size <= WORD)
        count->vectors++;
    else if (is_plain && size <= WORD)
        count->general++;
    else
        count->bytes += stack_rounded(size) + stack_padding(size);
}

static void stack_count_parameter(struct stack_count *count, Dwarf_Die *parameter)
{
    Dwarf_Die type;
    if (!type_of(parameter, &type) || !type_strip(&type)) {
        count->any = true;
        return;
    }
    const uint64_t size = type_is_reference(&type) || type_is_pointer(&type) ? WORD : type_size(&type);
    const enum argument_kind kind = type_kind(&type);
    const bool is_float = kind == ARGUMENT_FLOAT, is_class = type_is_class(&type);
    if (!size)
        count->any = true;
    else if (count->aarch64)
        stack_count_aarch64(count, size, is_float, !is_class && kind != ARGUMENT_NONE);
    else
        stack_count_x86(count, size, is_float, !is_class);
}

/* A large result is stored where a hidden first argument says; on aarch64, it is none of those that are counted. */
static void stack_count_result(struct stack_count *count, Dwarf_Die *function)
{
    Dwarf_Die type;
    if (!count->aarch64 && type_of(function, &type) && type_strip(&type) &&
        (type_is_class(&type) || type_size(&type) > WORD))
        count->general++;
}

static uint64_t stack_above(uint64_t number, uint64_t registers)
{
    return number > registers ? (number - registers) * WORD : 0;
}

static uint64_t stack_count_function(Dwarf_Die *function, bool aarch64)
{
    struct stack_count count = { .aarch64 = aarch64 };
    Dwarf_Die child;
    bool parameters = false;
    stack_count_result(&count, function);
    for (int more = dwarf_child(function, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        const int tag = dwarf_tag(&child);
        parameters |= tag == DW_TAG_formal_parameter;
        if (tag == DW_TAG_formal_parameter)
            stack_count_parameter(&count, &child);
        else if (tag == DW_TAG_unspecified_parameters)
            count.any = true;
    }
    if (!parameters && type_is_of_c(function) && !dwarf_hasattr(function, DW_AT_prototyped))
        count.any = true; /* int f(); */
    const uint64_t above = aarch64 ? 0 : stack_above(count.general, GENERAL) + stack_above(count.vectors, VECTORS);
    return count.any ? STACK_ARGUMENTS_ANY : stack_rounded(above + count.bytes);
}

static const char *stack_linkage_name(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr(function, DW_AT_linkage_name, &attribute));
    return name ? name : dwarf_diename(function);
}

static void stack_take_function(struct stack_arguments *s, Dwarf_Die *function)
{
    const char *name = dwarf_hasattr(function, DW_AT_external) ? stack_linkage_name(function) : NULL;
    if (!name)
        return;
    GROW(s->list, s->count, s->room);
    s->list[s->count++] =
        (struct stack_arguments_of){ need_text("%s", name), stack_count_function(function, s->aarch64) };
}

/* Declarations are among a unit's children, and in namespaces and classes there. */
static void stack_take_children(struct stack_arguments *s, Dwarf_Die *parent, unsigned depth)
{
    Dwarf_Die child;
    for (int more = dwarf_child(parent, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
            stack_take_function(s, &child);
            break;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
            if (depth < DEEPEST)
                stack_take_children(s, &child, depth + 1);
            break;
        default:
            break;
        }
    }
}

/* The largest one of a name comes first. */
static int stack_compare(const void *a, const void *b)
{
    const struct stack_arguments_of *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : ORDER(y->bytes, x->bytes);
}

struct stack_arguments stack_arguments_find(Dwfl_Module *module)
{
    Dwarf_Addr bias;
    struct stack_arguments s = { .aarch64 =
                                     code_machine_of(dwfl_module_getelf(module, &bias)) == &code_machine_aarch64 };
    Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        stack_take_children(&s, &die, 0);
    if (s.count)
        qsort(s.list, s.count, sizeof *s.list, stack_compare);
    return s;
}

void stack_arguments_drop(struct stack_arguments *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->list[i].name);
    free(s->list);
}

const struct stack_arguments_of *stack_arguments_of(const struct stack_arguments *s, const char *name)
{
    const size_t i = LOWER_BOUND(of, s->list, s->count, strcmp(of->name, name) < 0);
    return i < s->count && strcmp(s->list[i].name, name) == 0 ? &s->list[i] : NULL;
}
