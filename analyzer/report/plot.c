/* Draws numbers as a row of bars, one character each, in block characters or ASCII. */
#include "report/plot.h"

#include <langinfo.h>
#include <string.h>

#include "base/memory.h"

enum { HEIGHTS = 8, BLOCK_LENGTH = 3 };

bool plot_has_blocks(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The height of a bar, from 0. If all numbers are equal, bars have half the height. */
static int plot_height(double number, double least, double greatest)
{
    if (!(greatest > least))
        return HEIGHTS / 2 - 1;
    const int h = (int)((number - least) / (greatest - least) * HEIGHTS);
    return h < HEIGHTS ? h : HEIGHTS - 1;
}

char *plot_bars(const double *numbers, size_t count, bool blocks)
{
    static const char plain[] = "_.-~=+*#";
    double least = count ? numbers[0] : 0, greatest = least;
    for (size_t i = 1; i < count; i++) {
        least = numbers[i] < least ? numbers[i] : least;
        greatest = numbers[i] > greatest ? numbers[i] : greatest;
    }
    char *text = need_memory(count * BLOCK_LENGTH + 1, 1), *to = text;
    for (size_t i = 0; i < count; i++) {
        const int h = plot_height(numbers[i], least, greatest);
        if (!blocks) {
            *to++ = plain[h];
            continue;
        }
        memcpy(to, "\xe2\x96\x81", BLOCK_LENGTH); /* U+2581, the lowest block; higher ones follow it */
        to[2] = (char)(to[2] + h);
        to += BLOCK_LENGTH;
    }
    return text;
}
