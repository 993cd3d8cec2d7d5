/* own_hooks [PLUGIN [deep]]: has functions of its own for enters and exits, which its functions call. Those of the
 * plugin do so, too, unless it is loaded with RTLD_DEEPBIND. */
#include <dlfcn.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))

static volatile int events;

QUIET void __cyg_profile_func_enter(void *function, void *site);
QUIET void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)function, (void)site;
    events++;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
    events++;
}

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_DEEPBIND : 0)) : NULL;
    int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_work") : NULL;
    if (argc > 1 && (!work || work(100) != 100))
        abort();
    return events == 0;
}
