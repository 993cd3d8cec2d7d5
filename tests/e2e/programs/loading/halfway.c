/* halfway PLUGIN [deep]: loads a plugin, `deep` in a scope of its own, and has it call 100 times. Its library (below.c)
 * waits until another thread has come to a probe. So that thread sees a plugin that is mapped, but calls nothing yet.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

enum { HALFWAY_REACHED = 100, HALFWAY_GO_ON = 101 }; /* descriptors; below.c has the same */

static int reached, go_on; /* their other ends */
static pthread_barrier_t ready;

static void __attribute__((noinline)) look(void)
{
    if (write(go_on, "", 1) != 1)
        abort();
}

/* After it has called dlopen, its next probe looks at what is loaded. */
QUIET static void *watch(void *unused)
{
    char byte;
    if (!dlopen(NULL, RTLD_NOW))
        abort();
    pthread_barrier_wait(&ready);
    if (read(reached, &byte, 1) != 1)
        abort();
    look();
    return unused;
}

QUIET int main(int argc, char **argv)
{
    int there[2], back[2];
    pthread_t thread;
    if (argc < 2 || pipe(there) || pipe(back) || dup2(there[1], HALFWAY_REACHED) < 0 ||
        dup2(back[0], HALFWAY_GO_ON) < 0)
        return 1;
    reached = there[0];
    go_on = back[1];
    if (pthread_barrier_init(&ready, NULL, 2) || pthread_create(&thread, NULL, watch, NULL))
        return 1;
    pthread_barrier_wait(&ready);
    void *plugin = dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_DEEPBIND : 0));
    int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_work") : NULL;
    return !work || work(100) != 100 || pthread_join(thread, NULL);
}
