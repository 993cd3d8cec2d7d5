/* Code that runs before and after main: constructors of all priorities, static objects, thread-local ones, atexit,
 * IFUNCs. */
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

#define KEPT __attribute__((noinline))

extern "C" {

static long leaves;

KEPT static void leaf()
{
    leaves++;
    __asm__ volatile("");
}

KEPT static void in_preinit()
{
    leaf();
}

static void (*const preinit)() __attribute__((section(".preinit_array"), used)) = in_preinit;

__attribute__((constructor(101))) static void first_constructor()
{
    leaf();
}

__attribute__((constructor)) static void last_constructor()
{
    leaf();
}

__attribute__((destructor)) static void first_destructor()
{
    leaf();
}

KEPT static void at_the_end()
{
    leaf();
}

KEPT static int chosen_one()
{
    leaf();
    return 1;
}

#ifdef STATIC /* no thread-local storage yet */
#define EARLY __attribute__((noinline, no_instrument_function))
#else
#define EARLY KEPT
#endif

EARLY static void choose()
{
    __asm__ volatile("");
}

/* Runs before relocation is finished: it must not crash. */
typedef int chosen_type();
EARLY static chosen_type *resolver()
{
    choose();
    return chosen_one;
}

int chosen() __attribute__((ifunc("resolver")));
}

struct Object {
    KEPT Object()
    {
        leaf();
    }
    KEPT ~Object()
    {
        leaf();
    }
    KEPT void touch()
    {
        leaf();
    }
};

static Object object;
static thread_local Object own;

static void *run(void *unused)
{
    own.touch();
    return unused;
}

int main()
{
    pthread_t thread;
    atexit(at_the_end);
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, nullptr, run, nullptr);
        pthread_join(thread, nullptr);
    }
    return chosen() == 1 ? 0 : 1;
}
