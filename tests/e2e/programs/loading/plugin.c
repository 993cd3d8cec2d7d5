/* plugin_work calls `inner` so many times. */
#define KEPT __attribute__((noinline))

static volatile int calls;

KEPT static void inner(void)
{
    calls++;
}

KEPT int plugin_work(int times);
KEPT int plugin_work(int times)
{
    for (int i = 0; i < times; i++)
        inner();
    return calls;
}
