/* A library below a plugin. The loader fills its tables before those of the plugin, when both are mapped. It asks
 * `choose` for an address then, which tells the host, and waits for its answer. */
#include <stddef.h>
#include <unistd.h>

enum { HALFWAY_REACHED = 100, HALFWAY_GO_ON = 101 }; /* descriptors; halfway.c has the same */

static void chosen(void)
{
}

static void (*choose(void))(void)
{
    char byte = 0;
    const int result = (int)write(HALFWAY_REACHED, &byte, 1);
    return result == 1 && read(HALFWAY_GO_ON, &byte, 1) == 1 ? chosen : NULL;
}

static void below_chosen(void) __attribute__((ifunc("choose")));

void below(void);
void below(void)
{
    below_chosen();
}
