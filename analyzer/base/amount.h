/* An amount of time as users give it: a percentage of some whole, or a time. */
#ifndef DWELL_BASE_AMOUNT_H
#define DWELL_BASE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* At most one of the two is not zero. */
struct amount {
    double percent;
    uint64_t ns;
};

/* Parses text such as "5%", "2.5ms" or "0". Returns NULL, or an error message to follow the quoted text. */
const char *amount_parse(const char *text, struct amount *amount);

/* Writes text such as "5 %" or "2 ms". */
enum { AMOUNT_TEXT = 32 };
void amount_text(const struct amount *amount, char text[AMOUNT_TEXT]);

/* The amount in ticks; `whole` ticks are 100 %. */
double amount_ticks(const struct amount *amount, uint64_t whole, uint64_t ticks_per_second);

#endif
