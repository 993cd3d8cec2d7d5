/* Finds the compilation unit, the function and the source line of an address in the debug information of a module. */
#ifndef DWELL_SYMBOLS_COMPILE_COMPILE_UNITS_H
#define DWELL_SYMBOLS_COMPILE_COMPILE_UNITS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units; /* of a module; read when they are needed */

/* Parts of addresses. Each belongs to an item of a list, by the item's index. */
struct spans {
    struct span {
        Dwarf_Addr begin, end;
        Dwarf_Addr reach; /* the greatest end of this span and of those before it */
        size_t item;
    } * list; /* in order of `begin` */
    size_t count, room;
};

struct unit {
    Dwarf_Die die;
    Dwarf_Addr bias; /* an address in the file less that in the debug information */
    bool stated;     /* the unit states its ranges */
    bool listed;     /* the functions are listed */
    Dwarf_Die *functions;
    size_t function_count, function_room;
    struct spans spans; /* of the functions */
};

struct units *units_new(Dwfl_Module *module);
void units_free(struct units *units); /* does nothing with NULL */

/* Takes an address as in the file itself. Returns NULL if no unit has it. The unit is valid as long as `units`. */
struct unit *units_find(struct units *units, Dwarf_Addr address);

/* The function with its own code that contains the address, an inlined one being part of its caller. NULL if unknown.
 */
Dwarf_Die *unit_function_at(struct unit *unit, Dwarf_Addr address);

/* The name of the file that has the unit's functions, if it could not be read (-gsplit-dwarf); else NULL. */
const char *unit_missing_file(const struct unit *unit);

/* Lists the functions with their own code, if that has not been done. */
void unit_list_functions(struct unit *unit);

/* The source file of an address, and its line or zero. Returns NULL if the file is unknown. The text is libdw's. */
const char *unit_line_at(const struct unit *unit, Dwarf_Addr address, uint32_t *line);

#endif
