/* An amount of time as users give it: parses and prints a percentage or a time, and converts it to ticks. */
#include "base/amount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

const char *amount_parse(const char *text, struct amount *amount)
{
    char *end;
    const double number = strtod(text, &end);
    *amount = (struct amount){ 0 };
    if (end != text && strcmp(end, "%") == 0 && number >= 0 && number <= 100) {
        amount->percent = number;
        return NULL;
    }
    if (duration_parse(text, &amount->ns))
        return NULL;
    if (end != text && !*end && number == 0)
        return NULL;
    return end != text && !*end && number > 0 ? "has no unit; give a percentage such as 5% or a time such as 2ms"
                                              : "is neither a percentage such as 5% nor a time such as 2ms";
}

void amount_text(const struct amount *amount, char text[AMOUNT_TEXT])
{
    if (amount->ns)
        duration_text(amount->ns, text);
    else
        snprintf(text, AMOUNT_TEXT, "%g %%", amount->percent);
}

double amount_ticks(const struct amount *amount, uint64_t whole, uint64_t ticks_per_second)
{
    if (amount->ns)
        return (double)amount->ns * ((double)ticks_per_second / 1e9);
    return (double)whole * amount->percent / 100;
}
