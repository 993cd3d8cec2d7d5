/* host FLAGS PLUGIN...: loads each plugin, calls it 100 times deep, and unloads it. The host is not instrumented, so no
 * probe comes before those of the plugin. FLAGS has letters: d (RTLD_DEEPBIND), l (RTLD_LAZY), n (by dlmopen), f (calls
 * it again in a forked child). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(void *plugin, int times)
{
    int (*work)(int) = (int (*)(int))dlsym(plugin, "plugin_work");
    if (!work || work(times) < times)
        abort();
}

static void call_in_child(void *plugin)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        call(plugin, 10);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

int main(int argc, char **argv)
{
    const char *flags = argv[1];
    const int mode = (strchr(flags, 'l') ? RTLD_LAZY : RTLD_NOW) | (strchr(flags, 'd') ? RTLD_DEEPBIND : 0);
    for (int i = 2; i < argc; i++) {
        void *plugin = strchr(flags, 'n') ? dlmopen(LM_ID_NEWLM, argv[i], mode) : dlopen(argv[i], mode);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            return 77;
        }
        call(plugin, 100);
        if (strchr(flags, 'f'))
            call_in_child(plugin);
        dlclose(plugin);
    }
    return 0;
}
