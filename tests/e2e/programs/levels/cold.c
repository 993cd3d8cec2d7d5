/* Code that compilers put apart: parts that are seldom run, blocks that only these lead to, what follows calls that do
 * not return, tables of jumps. */
#include <setjmp.h>

#define KEPT __attribute__((noinline))
#define COLD __attribute__((noinline, cold))
#define INLINED static inline __attribute__((always_inline))
#define RARELY(condition) __builtin_expect(condition, 0)

static jmp_buf back;
static volatile int sink, zero;

COLD static int report(int n)
{
    sink += n;
    return n * zero;
}

COLD static __attribute__((noreturn)) void leave(int n)
{
    sink = n;
    longjmp(back, 1);
}

INLINED int added(int n)
{
    sink += n;
    return n ^ 3;
}

INLINED int taken(int n)
{
    sink -= n;
    return n + sink;
}

KEPT static int loops(int n, int special)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (RARELY(i == special)) {
            sum = report(i);
            if (RARELY(sum == 7))
                leave(1);
            goto again;
        }
        sum += added(i);
        continue;
    again:
        sum += taken(i);
        if (RARELY(sink == 12345678))
            leave(2);
    }
    if (RARELY(special == -5))
        leave(n);
    return sum + taken(n);
}

KEPT static int chooses(int n)
{
    switch (n) {
    case 0:
        return added(1);
    case 1:
        return taken(2);
    case 2:
        return loops(3, 1);
    case 3:
        if (zero)
            leave(3);
        return added(4) + taken(5);
    case 4:
        return report(3) + added(9);
    case 5:
        return added(n) * added(n + 1);
    case 6:
        return loops(9, -1);
    default:
        leave(n);
    }
}

KEPT static int jumps(const char *text)
{
    static const void *const places[] = { &&first, &&second, &&third, &&fourth };
    int sum = 0;
    for (; *text; text++) {
        goto *places[*text & 3];
    first:
        sum += added(1);
        continue;
    second:
        sum += taken(2);
        continue;
    third:
        sum += loops(2, 0);
        continue;
    fourth:
        if (RARELY(*text == 'z'))
            leave(1);
        sum += chooses(0);
    }
    return sum;
}

int main(void)
{
    for (volatile int i = 0; i < 10; i++)
        if (setjmp(back) == 0)
            sink += chooses(i);
    if (setjmp(back) == 0)
        sink += jumps("abcdefgz");
    if (setjmp(back) == 0)
        loops(3, -5);
    return 0;
}
