/*
 * Calls with values that are no numbers, endless, empty, or cannot be read: specials how
 *   few    one of each, and their opposites
 *   many   with so many other numbers that they become ranges
 *   slow   each twentieth call is slow, and its number is none
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

static volatile double sink;

NOT_INLINED static void handle(double x, float y, const double *at, const char *text)
{
    sink += x;
    sink += y;
    sink += (double)(size_t)at;
    sink += (double)(size_t)text;
}

static void few(void)
{
    static const double numbers[] = { NAN, -NAN, INFINITY, -INFINITY, 1.5, -0.0 };
    static const char *const texts[] = { "nan", "", NULL, "(unreadable)", "inf", "x" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        handle(numbers[i], (float)numbers[i], i == 4 ? NULL : &numbers[i], texts[i]);
}

static void many(void)
{
    for (int i = 0; i < 30; i++) {
        const double number = ldexp(1 + i / 64.0, 1000);
        handle(number, (float)i, &number, "x");
    }
    few();
    handle(ldexp(-1, 1023), 0, NULL, "x");
    handle(ldexp(1, 1023), 0, NULL, "x");
}

NOT_INLINED static void slowly(double x, const double *at)
{
    const struct timespec pause = { 0, 3000000 };
    sink += (double)(size_t)at;
    if (isnan(x))
        nanosleep(&pause, NULL);
}

static void slow(void)
{
    for (int i = 0; i < 600; i++) {
        const double number = i % 7;
        const int is_slow = i % 20 == 0;
        slowly(is_slow ? NAN : number, is_slow ? NULL : &number);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "few") == 0)
        few();
    else if (strcmp(how, "many") == 0)
        many();
    else if (strcmp(how, "slow") == 0)
        slow();
    return 0;
}
