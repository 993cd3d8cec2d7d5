/* memory: limits its address space to what is in use when main begins. Then it runs a thread on a prepared stack, a
 * recursion, and more work than fits into the existing mappings. */
#include <sys/resource.h>

#include "work.h"

/* The recursion grows the program's own stack, so this grows it before. */
static BARE void touch_stack(void)
{
    volatile char room[4 << 20];
    for (size_t i = 0; i < sizeof room; i += 4096)
        room[i] = 0;
}

static BARE rlim_t in_use(void)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    need(in != NULL && fscanf(in, "%lu", &pages) == 1, "statm");
    fclose(in);
    return pages * 4096;
}

int main(void)
{
    begin();
    static char stack[256 << 10] __attribute__((aligned(4096)));
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof stack);
    touch_stack();
    rlim_t most = in_use() + (16 << 10);
    need(setrlimit(RLIMIT_AS, &(struct rlimit){ most, most }) == 0, "setrlimit");
    work(1000);
    need(pthread_create(&thread, &attributes, worker, (void *)1000) == 0, "pthread_create");
    pthread_join(thread, NULL);
    dive(20000);
    work(500000);
    tell_counts();
    return 0;
}
