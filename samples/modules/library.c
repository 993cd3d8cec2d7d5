/*
 * The linked shared library of the modules sample: called by the program and by the plugin.
 */
#include "library.h"

unsigned long library_twist_calls;

unsigned library_twist(unsigned value)
{
    library_twist_calls++;
    return value << 7 | value >> 25;
}
