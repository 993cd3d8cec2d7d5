/* Calls with more parameters than registers keep, so that the compiler moves truths to the frame. Prints each truth. */
#include <stdbool.h>
#include <stdio.h>

#define NOT_INLINED __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function, noinline))

static volatile double sink;

PLAIN static void use(double number, const void *address, long word)
{
    sink += number + (double)word + (address != NULL);
}

void take(float real, void *place, char byte, long long word, void *other, long extra, bool truth, const char *text,
          signed char last);

NOT_INLINED void take(float real, void *place, char byte, long long word, void *other, long extra, bool truth,
                      const char *text, signed char last)
{
    use(real, place, byte);
    use(0, other, extra);
    use(real, text, truth);
    use(0, place, last + word);
}

int main(void)
{
    static char names[8];
    for (int i = 0; i < 8; i++) {
        const bool truth = i % 4 == 1;
        take((float)i, names, (char)i, i, NULL, -i, truth, "text", (signed char)-i);
        puts(truth ? "true" : "false");
    }
    return 0;
}
