/* The plugin of the modules sample. It is loaded by dlopen and calls into the linked library, so that a call stack runs
 * through three modules. */
#include "plugin.h"

#include "library.h"

unsigned long plugin_step_calls;

unsigned plugin_step(unsigned value)
{
    plugin_step_calls++;
    return library_twist(value) + 1;
}
