/* stackdepth: prints the most bytes of a thread's stack that its instrumented calls need below the calling function. It
 * includes set-up and new chunks. */
#include "work.h"

enum { SIZE = 256 << 10 };
static const char paint = 0x5a;
static char *stack, *mark;

static BARE void *run(void *argument)
{
    (void)argument;
    mark = __builtin_frame_address(0);
    volatile unsigned long value = 1;
    for (int i = 0; i < 300000; i++)
        value = step(value);
    return NULL;
}

BARE int main(void)
{
    begin();
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(stack != MAP_FAILED, "mmap");
    memset(stack, paint, SIZE);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    need(pthread_attr_setstack(&attributes, stack, SIZE) == 0, "setstack");
    need(pthread_create(&thread, &attributes, run, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
    const char *lowest = stack;
    while (*lowest == paint)
        lowest++;
    printf("calls step %lu\ncalls bytes %ld\n", counts->step, (long)(mark - lowest));
    return 0;
}
