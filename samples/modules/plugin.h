/* The plugin of the modules sample: the function that the program looks up by name, and the count of its calls. */
#ifndef PLUGIN_H
#define PLUGIN_H

#define PLUGIN_EXPORT __attribute__((visibility("default")))

/* The function that the program looks up in the plugin by name. */
PLUGIN_EXPORT extern unsigned long plugin_step_calls;
PLUGIN_EXPORT unsigned plugin_step(unsigned value);

typedef unsigned plugin_step_function(unsigned value);

#endif
