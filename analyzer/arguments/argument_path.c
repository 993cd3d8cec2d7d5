/* Parses the paths, and follows them through types and places. */
#include "arguments/argument_path.h"

#include <ctype.h>
#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/class_values.h"
#include "arguments/library_types.h"
#include "base/memory.h"

enum { MOST_STEPS = 16, POINTER = 8, LONG_DOUBLE = 16, MOST_INDEX = 1 << 30 };

/* ---- text ---- */

static size_t path_name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return isdigit((unsigned char)*text) ? 0 : length;
}

static void path_add(struct argument_path *p, struct path_step step)
{
    GROW(p->steps, p->count, p->room);
    p->steps[p->count++] = step;
}

static const char *path_add_member(struct argument_path *p, const char *at, enum path_step_kind kind)
{
    const size_t length = path_name_length(at);
    if (length)
        path_add(p, (struct path_step){ kind, need_copy(at, length), 0 });
    return length ? at + length : NULL;
}

static const char *path_add_index(struct argument_path *p, const char *at)
{
    char *end;
    const unsigned long index = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : ULONG_MAX;
    if (index > MOST_INDEX || *end != ']')
        return NULL;
    path_add(p, (struct path_step){ STEP_INDEX, NULL, index });
    return end + 1;
}

/* The rest of the text; NULL if no step is there. */
static const char *path_parse_step(struct argument_path *p, const char *at)
{
    if (*at == '.')
        return path_add_member(p, at + 1, STEP_MEMBER);
    if (at[0] == '-' && at[1] == '>')
        return path_add_member(p, at + 2, STEP_ARROW);
    return *at == '[' ? path_add_index(p, at + 1) : NULL;
}

bool argument_path_parse(struct argument_path *p, const char *text, struct error *error)
{
    const size_t stars = strspn(text, "*");
    const char *at = text + stars;
    const size_t length = path_name_length(at);
    *p = (struct argument_path){ .text = need_text("%s", text), .name = need_copy(at, length) };
    at = length ? at + length : NULL;
    while (at && *at && p->count < MOST_STEPS)
        at = path_parse_step(p, at);
    for (size_t i = 0; at && i < stars && p->count < MOST_STEPS; i++)
        path_add(p, (struct path_step){ STEP_TARGET, NULL, 0 });
    if (at && !*at && p->count < MOST_STEPS)
        return true;
    return error_set(error, "'%s' is not a value such as n, *p, req->len, v.size, name[0] or return", text);
}

void argument_path_drop(struct argument_path *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->steps[i].name);
    free(p->steps);
    free(p->name);
    free(p->text);
}

/* ---- steps ---- */

/* Goes to what the pointer at the part's place points to. */
static void part_load_target(struct argument_part *part, const Dwarf_Die *target)
{
    struct load_program program;
    if (!part->missing)
        part->missing = place_load(&part->place, POINTER, &program);
    if (!part->missing)
        part->place = place_of(&program, false);
    part->type = *target;
}

static bool part_follow_references(struct argument_part *part)
{
    Dwarf_Die target;
    for (int i = 0; i < MOST_STEPS && type_strip(&part->type); i++) {
        if (!type_is_reference(&part->type))
            return true;
        if (!type_of(&part->type, &target))
            return false;
        part_load_target(part, &target);
    }
    return false;
}

static void part_enter_member(struct argument_part *part, const struct type_member *member)
{
    part->type = member->type;
    part->place.offset += member->offset;
    part->bit_size = member->bit_size;
    part->bit_offset = member->bit_offset;
}

static bool part_append(struct load_program *program, const struct load_program *more)
{
    bool added = true;
    for (unsigned i = 0; added && i < more->count; i++)
        added = load_add(program, (enum load_op)more->loads[i].op, more->loads[i].operand, more->loads[i].number);
    return added;
}

/* Goes to what an optional has. If it has nothing, the address becomes zero, where nothing can be read. */
static void part_enter_optional(struct argument_part *part, const struct type_member *value,
                                const struct type_member *engaged)
{
    struct argument_part flag = *part;
    struct load_program program, has;
    Dwarf_Die type = value->type;
    const uint64_t size = type_strip(&type) ? type_size(&type) : 0;
    part_enter_member(&flag, engaged);
    part_enter_member(part, value);
    if (part->missing)
        return;
    if (!size || !place_address(&part->place, size, &program) || place_load(&flag.place, 1, &has) ||
        !part_append(&program, &has) || !load_add(&program, LOAD_NEGATE, 0, 0) || !load_add(&program, LOAD_AND, 0, 0))
        part->missing = MISSING_IN_PARTS;
    else
        part->place = place_of(&program, false);
}

static bool part_follow_pointer(struct argument_part *part)
{
    struct type_member pointer, value, engaged;
    Dwarf_Die target;
    if (type_special(&part->type) == TYPE_OPTIONAL && type_optional(&part->type, &value, &engaged)) {
        part_enter_optional(part, &value, &engaged);
        return true;
    }
    if (type_smart_pointer(&part->type, &pointer)) {
        part_enter_member(part, &pointer);
        if (!type_strip(&part->type))
            return false;
    }
    if (!type_is_pointer(&part->type) || !type_of(&part->type, &target))
        return false;
    part_load_target(part, &target);
    return true;
}

static bool part_follow_index(struct argument_part *part, uint64_t index)
{
    Dwarf_Die element;
    const bool is_array = dwarf_tag(&part->type) == DW_TAG_array_type;
    if (!is_array && !part_follow_pointer(part))
        return false;
    if (!is_array)
        element = part->type;
    else if (!type_of(&part->type, &element))
        return false;
    Dwarf_Die stripped = element;
    const uint64_t size = type_strip(&stripped) ? type_size(&stripped) : 0;
    part->type = element;
    part->place.offset += index * size;
    return size > 0 && size <= INT32_MAX;
}

/* Divides by a number that divides it exactly: shifts by the power of two in it, and multiplies by the inverse of the
 * rest. */
static bool part_divide(struct load_program *program, uint64_t by)
{
    const int shift = __builtin_ctzll(by);
    const uint64_t odd = by >> shift;
    uint64_t inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return (!shift || (load_add(program, LOAD_NUMBER, 0, shift) && load_add(program, LOAD_RIGHT_SIGNED, 0, 0))) &&
           (inverse == 1 ||
            (load_add(program, LOAD_NUMBER, 0, (int64_t)inverse) && load_add(program, LOAD_PRODUCT, 0, 0)));
}

/* The number of elements between two pointers of a vector. */
static void part_count_elements(struct argument_part *part, const struct type_container *container)
{
    struct argument_part begin = *part, end = *part;
    struct load_program program, first;
    part_enter_member(&begin, &container->size);
    part_enter_member(&end, &container->end);
    if (!part->missing)
        part->missing = place_load(&end.place, POINTER, &program);
    if (!part->missing)
        part->missing = place_load(&begin.place, POINTER, &first);
    if (part->missing)
        return;
    if (part_append(&program, &first) && load_add(&program, LOAD_DIFFERENCE, 0, 0) &&
        part_divide(&program, container->element))
        part->place = place_of(&program, true);
    else
        part->missing = MISSING_COMPUTED;
}

static bool part_follow_size(struct argument_part *part)
{
    struct type_container container;
    if (!type_container(&part->type, &container))
        return false;
    if (container.element)
        part_count_elements(part, &container);
    else
        part_enter_member(part, &container.size);
    part->type = container.type;
    return true;
}

static bool part_follow_member(struct argument_part *part, const char *name)
{
    struct type_member member, engaged;
    if (type_find_member(&part->type, name, &member)) {
        part_enter_member(part, &member);
        return true;
    }
    if (strcmp(name, "has_value") == 0 && type_optional(&part->type, &member, &engaged)) {
        part_enter_member(part, &engaged);
        return true;
    }
    return strcmp(name, "size") == 0 && part_follow_size(part);
}

static const char *part_follow(struct argument_part *part, const struct path_step *step)
{
    if (!part_follow_references(part))
        return "its type is not complete";
    switch (step->kind) {
    case STEP_TARGET:
        return part_follow_pointer(part) ? NULL : "it is no pointer";
    case STEP_INDEX:
        return part_follow_index(part, step->index) ? NULL : "it is no array or pointer to what has a size";
    case STEP_ARROW:
        if (!part_follow_pointer(part) || !part_follow_references(part))
            return type_is_class(&part->type) ? "it is no pointer: use '.'" : "it is no pointer";
        break;
    case STEP_MEMBER:
        if (type_is_pointer(&part->type))
            return "it is a pointer: use '->'";
        break;
    }
    return part_follow_member(part, step->name) ? NULL : "it has no such member";
}

bool argument_path_follow(const struct argument_path *p, struct argument_part *part, const char **wrong)
{
    for (size_t i = 0; i < p->count; i++) {
        *wrong = part->bit_size ? "it is a bit field" : part_follow(part, &p->steps[i]);
        if (*wrong)
            return false;
    }
    return true;
}

/* ---- values ---- */

/* Goes on to the value that the part stands for: behind references, and in classes that wrap a single one. The last one
 * of these references goes to *reference, if there are any: to what has no value, it is at least an address, as a
 * pointer is. False if the type does not end. */
static bool part_reach_value(struct argument_part *part, struct argument_part *reference, bool *has_reference)
{
    struct type_member member;
    *has_reference = false;
    for (int i = 0; i < MOST_STEPS && type_strip(&part->type); i++) {
        if (type_is_reference(&part->type)) {
            *reference = *part;
            *has_reference = true;
            if (!part_follow_references(part))
                return false;
        }
        if (!class_wrapped(&part->type, &member))
            return true;
        part_enter_member(part, &member);
    }
    return false;
}

static bool part_is_nothing(Dwarf_Die *reached)
{
    return dwarf_tag(reached) == DW_TAG_unspecified_type || class_is_empty(reached);
}

enum argument_kind argument_part_kind(const struct argument_part *part, uint64_t *size)
{
    struct argument_part target = *part, reference;
    bool has_reference;
    *size = 0;
    if (!part_reach_value(&target, &reference, &has_reference))
        return ARGUMENT_NONE;
    const uint64_t room = type_text_room(&target.type);
    const enum argument_kind kind = room ? ARGUMENT_TEXT : type_kind(&target.type);
    *size = room ? room : type_size(&target.type);
    if (kind == ARGUMENT_FLOAT && *size == LONG_DOUBLE) /* read as a double */
        *size = sizeof(double);
    if (kind != ARGUMENT_NONE || !has_reference || part_is_nothing(&target.type))
        return kind;
    *size = POINTER;
    return ARGUMENT_ADDRESS;
}

struct enum_names argument_part_names(const struct argument_part *part)
{
    struct argument_part target = *part, reference;
    bool has_reference;
    return part_reach_value(&target, &reference, &has_reference) ? enum_names_read(&target.type)
                                                                 : (struct enum_names){ .list = NULL };
}

bool argument_part_class(const struct argument_part *part, Dwarf_Die *class)
{
    struct argument_part target = *part;
    if (!part_follow_references(&target))
        return false;
    struct type_member member;
    *class = target.type;
    return type_is_class(class) && type_kind(class) == ARGUMENT_NONE && !class_wrapped(class, &member);
}

static enum missing part_load_bits(const struct argument_part *part, bool is_signed, struct load_program *program)
{
    const unsigned bytes = (part->bit_offset + part->bit_size + 7u) / 8;
    const enum missing missing = place_load(&part->place, bytes, program);
    if (missing)
        return missing;
    const bool added = load_add(program, LOAD_NUMBER, 0, part->bit_offset) && load_add(program, LOAD_RIGHT, 0, 0) &&
                       load_add(program, is_signed ? LOAD_SIGNED : LOAD_UNSIGNED, part->bit_size, 0);
    return added ? MISSING_NOT : MISSING_COMPUTED;
}

static enum missing part_load_member(const struct argument_part *part, const struct type_member *member,
                                     struct load_program *program)
{
    struct argument_part inner = *part;
    part_enter_member(&inner, member);
    return place_load(&inner.place, POINTER, program);
}

/* The text of a string or a view: its pointer, and then its length. */
static enum missing part_load_string(const struct argument_part *part, struct load_program *program)
{
    struct argument_part copy = *part;
    struct type_member pointer, length;
    struct load_program count;
    if (!type_text_members(&copy.type, &pointer, &length))
        return MISSING_TYPE;
    enum missing missing = part_load_member(part, &pointer, program);
    if (!missing)
        missing = part_load_member(part, &length, &count);
    if (!missing && !(part_append(program, &count) && load_add(program, LOAD_TEXT_COUNTED, 0, 0)))
        missing = MISSING_COMPUTED;
    return missing;
}

/* The text in an array, which may have no zero at its end. */
static enum missing part_load_array(struct argument_part *part, struct load_program *program)
{
    const uint64_t room = type_text_room(&part->type);
    const bool added = place_address(&part->place, room, program) && load_add(program, LOAD_NUMBER, 0, (int64_t)room) &&
                       load_add(program, LOAD_TEXT_BOUNDED, 0, 0);
    return added ? MISSING_NOT : MISSING_IN_PARTS;
}

static enum missing part_load_class(struct argument_part *part, struct load_program *program)
{
    struct type_member pointer;
    if (type_smart_pointer(&part->type, &pointer))
        return part_load_member(part, &pointer, program);
    return part_load_string(part, program);
}

/* Both machines give it 16 bytes. x86-64 has another type that uses all of them. */
static enum missing part_load_long_double(struct argument_part *part, struct load_program *program)
{
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(part->type.cu));
    const unsigned bytes = type_is_quad(&part->type) ? LONG_DOUBLE : argument_machine_of(elf)->long_double;
    const bool added =
        place_address(&part->place, LONG_DOUBLE, program) && load_add(program, LOAD_LONG_DOUBLE, bytes, 0);
    return added ? MISSING_NOT : MISSING_WIDE;
}

static enum missing part_load_scalar(struct argument_part *part, enum argument_kind kind, struct load_program *program)
{
    const bool is_signed = type_is_signed(&part->type);
    const uint64_t size = type_size(&part->type);
    if (part->bit_size)
        return part_load_bits(part, is_signed, program);
    if (kind == ARGUMENT_FLOAT && size == LONG_DOUBLE)
        return part_load_long_double(part, program);
    if (kind == ARGUMENT_FLOAT && size != 4 && size != POINTER)
        return MISSING_WIDE;
    enum missing missing = place_load(&part->place, size, program);
    if (!missing && is_signed && size < POINTER && !load_add(program, LOAD_SIGNED, 8 * (unsigned)size, 0))
        missing = MISSING_COMPUTED;
    if (!missing && kind == ARGUMENT_TEXT && !load_add(program, LOAD_TEXT, 0, 0))
        missing = MISSING_COMPUTED;
    return missing;
}

enum missing argument_part_load(const struct argument_part *part, struct load_program *program)
{
    struct argument_part target = *part, reference;
    enum missing missing;
    bool has_reference;
    program->count = 0;
    if (!part_reach_value(&target, &reference, &has_reference))
        return MISSING_TYPE;
    enum argument_kind kind = type_kind(&target.type);
    const bool is_array = type_text_room(&target.type);
    if (part_is_nothing(&target.type))
        return MISSING_EMPTY;
    if (kind == ARGUMENT_NONE && !is_array) {
        if (!has_reference)
            return MISSING_TYPE;
        target = reference;
        kind = ARGUMENT_ADDRESS;
    }
    if (target.missing)
        return target.missing;
    if (is_array)
        missing = part_load_array(&target, program);
    else
        missing =
            type_is_class(&target.type) ? part_load_class(&target, program) : part_load_scalar(&target, kind, program);
    return missing || load_check(program) ? missing : MISSING_COMPUTED;
}
