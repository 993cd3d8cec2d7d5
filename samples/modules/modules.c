/*
 * modules PLUGIN_PATH N [ROUNDS]: a program, a library linked to it, a plugin loaded at run time.
 *
 * ROUNDS times (default: 1) the plugin is loaded, called N times and unloaded. Each of its calls makes one into the
 * library. The program makes N calls of its own function and of the library besides. The report by module should list
 * all three files. It should count ROUNDS * N calls of local_step and plugin_step and twice as many of library_twist. A
 * PLUGIN_PATH without a slash is searched where the program finds its libraries (RUNPATH).
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>

#include "../sample.h"
#include "library.h"
#include "plugin.h"

static unsigned long local_step_calls;
static unsigned long use_plugin_calls;
static unsigned long use_library_calls;
static unsigned long plugin_calls_total; /* the plugin's own counter is unloaded with it */

static unsigned local_step(unsigned value)
{
    local_step_calls++;
    return value * 2654435761u + 1;
}

static unsigned use_library(unsigned value, long count)
{
    use_library_calls++;
    for (long i = 0; i < count; i++)
        value = library_twist(local_step(value));
    return value;
}

static SAMPLE_NOT_INSTRUMENTED void *look_up(void *plugin, const char *name)
{
    void *address = plugin != NULL ? dlsym(plugin, name) : NULL;
    if (address == NULL) {
        fprintf(stderr, "modules: %s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    return address;
}

static unsigned use_plugin(const char *path, unsigned value, long count)
{
    use_plugin_calls++;
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unsigned long *calls = look_up(plugin, "plugin_step_calls");
    plugin_step_function *step;
    *(void **)&step = look_up(plugin, "plugin_step"); /* POSIX prescribes this cast for dlsym */

    for (long i = 0; i < count; i++)
        value = step(value);
    plugin_calls_total += *calls;
    dlclose(plugin);
    return value;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        sample_usage("modules PLUGIN_PATH N [ROUNDS]");
    long count = sample_number(argv[2], 0, 1000000000);
    long rounds = argc > 3 ? sample_number(argv[3], 1, 1000000) : 1;
    unsigned value = 1;

    for (long i = 0; i < rounds; i++) {
        value = use_library(value, count);
        value = use_plugin(argv[1], value, count);
    }
    printf("value %08x\n", value);
    printf("calls local_step %lu\n", local_step_calls);
    printf("calls library_twist %lu\n", library_twist_calls);
    printf("calls plugin_step %lu\n", plugin_calls_total);
    printf("calls use_library %lu\n", use_library_calls);
    printf("calls use_plugin %lu\n", use_plugin_calls);
    printf("calls main 1\n");
    return EXIT_SUCCESS;
}
