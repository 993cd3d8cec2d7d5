/* Parts of arguments as users type them: n, req->len, v.size, *p, name[0], return. */
#ifndef DWELL_ARGUMENTS_ARGUMENT_PATH_H
#define DWELL_ARGUMENTS_ARGUMENT_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments/argument_type.h"
#include "arguments/enum_names.h"
#include "arguments/place.h"
#include "base/error.h"

enum path_step_kind { STEP_MEMBER, STEP_ARROW, STEP_INDEX, STEP_TARGET };

struct path_step {
    enum path_step_kind kind;
    char *name; /* of a member; NULL if there is none */
    uint64_t index;
};

struct argument_path {
    char *text; /* as typed */
    char *name; /* of the parameter */
    struct path_step *steps;
    size_t count, room;
};

/* If the text is no path, sets the error; the path must be dropped nevertheless. */
bool argument_path_parse(struct argument_path *p, const char *text, struct error *error);
void argument_path_drop(struct argument_path *p);

/* A part of a variable: its type, and where it is. */
struct argument_part {
    Dwarf_Die type;
    struct place place;
    uint8_t bit_size, bit_offset; /* of a bit field; zero if it is none */
    enum missing missing;         /* of the place; the type is known nevertheless */
};

/* Follows the steps. False if the types do not allow them; then *wrong says why. */
bool argument_path_follow(const struct argument_path *p, struct argument_part *part, const char **wrong);

/* What the part is, and its size: behind references, and in classes that wrap a single value. A reference to anything
 * else is an address. */
enum argument_kind argument_part_kind(const struct argument_part *part, uint64_t *size);

/* The names of its values, if it is an enumeration. */
struct enum_names argument_part_names(const struct argument_part *part);

/* The class that the part is, behind references, if that has no single value. False otherwise. */
bool argument_part_class(const struct argument_part *part, Dwarf_Die *class);

/* Makes the program that leaves the part's value. */
enum missing argument_part_load(const struct argument_part *part, struct load_program *program);

#endif
