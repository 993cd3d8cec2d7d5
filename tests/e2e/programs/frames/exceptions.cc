/*
 * Exceptions through several frames, rethrown, out of constructors, past destructors. GCC runs the exit probes of the
 * frames that are left; clang does not. The traces therefore differ, but the report must be the same.
 */
#include <cstdio>
#include <stdexcept>

#define KEPT __attribute__((noinline))

/* With clang, functions that were inlined into a catching frame stay open (docs/runtime.md, known limits). */
#ifdef __clang__
#define INLINED KEPT
#else
#define INLINED inline __attribute__((always_inline))
#endif

#define AFTER __asm__ volatile("")

namespace
{

long wides, leaves, guards, releases, throwers, middles, outers, rethrowers, passers, catchers, bads, makers, lasts;

KEPT void leaf()
{
    leaves++;
    AFTER;
}

/* Its frame is larger than the ones that were left when it is called, and covers their place. */
KEPT void wide()
{
    volatile char room[600];
    wides++;
    room[0] = room[599] = 1;
    leaf();
    AFTER;
}

struct Guard {
    KEPT Guard()
    {
        guards++;
        leaf();
        AFTER;
    }
    KEPT ~Guard()
    {
        releases++;
        wide();
        AFTER;
    }
};

KEPT void thrower(int depth)
{
    throwers++;
    if (depth == 0)
        throw std::runtime_error("thrown");
    thrower(depth - 1);
    AFTER;
}

KEPT void middle(int depth)
{
    middles++;
    Guard guard;
    thrower(depth);
    AFTER;
}

KEPT void outer(int depth)
{
    outers++;
    middle(depth);
    AFTER;
}

KEPT void rethrower(int depth)
{
    rethrowers++;
    try {
        outer(depth);
    } catch (std::exception &) {
        wide();
        throw;
    }
    AFTER;
}

INLINED void passer(int depth)
{
    passers++;
    outer(depth);
    AFTER;
}

struct Bad {
    Guard guard;
    KEPT Bad()
    {
        bads++;
        leaf();
        throw 1;
    }
};

KEPT void maker()
{
    makers++;
    try {
        Bad bad;
    } catch (int) {
        wide();
    }
    leaf();
    AFTER;
}

KEPT void catcher(int depth)
{
    catchers++;
    try {
        rethrower(depth);
    } catch (std::runtime_error &) {
        wide();
    }
    try {
        passer(depth);
    } catch (...) {
        wide();
    }
    leaf();
    AFTER;
}

/* The same again in a frame at the same place of the stack. */
KEPT void last()
{
    lasts++;
    leaf();
    AFTER;
}

} // namespace

int main()
{
    for (int i = 0; i < 100; i++) {
        catcher(i % 2);
        last();
        maker();
    }
    std::printf(
        "calls wide %ld\ncalls leaf %ld\ncalls Guard %ld\ncalls ~Guard %ld\ncalls thrower %ld\ncalls middle %ld\ncalls outer %ld\n"
        "calls rethrower %ld\ncalls passer %ld\ncalls catcher %ld\ncalls Bad %ld\ncalls maker %ld\ncalls last %ld\n",
        wides, leaves, guards, releases, throwers, middles, outers, rethrowers, passers, catchers, bads, makers, lasts);
    return 0;
}
