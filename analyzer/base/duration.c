/* Times with a unit: parses and prints text such as "2.5 ms". */
#include "base/duration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 } };
enum { UNITS = sizeof units / sizeof *units, SHOWN_UNITS = 4 /* minutes and hours are only read */ };

bool duration_parse(const char *text, uint64_t *ns)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text)
        return false;
    end += strspn(end, " ");
    for (int i = 0; i < UNITS; i++) {
        if (strcmp(end, units[i].name) == 0 && number >= 0 && number * units[i].ns < 1e18) {
            *ns = (uint64_t)(number * units[i].ns + 0.5);
            return true;
        }
    }
    return false;
}

void duration_text(uint64_t ns, char text[DURATION_TEXT])
{
    int unit = 0;
    while (unit + 1 < SHOWN_UNITS && (double)ns >= units[unit + 1].ns)
        unit++;
    snprintf(text, DURATION_TEXT, "%.12g %s", (double)ns / units[unit].ns, units[unit].name);
}
