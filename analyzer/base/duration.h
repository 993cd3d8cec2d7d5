/* Times as text with a unit. */
#ifndef DWELL_BASE_DURATION_H
#define DWELL_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a time such as 500ns, 10us, 2.5ms, 1s, 90min or 8h. Returns false if the text is not a time. */
bool duration_parse(const char *text, uint64_t *ns);

/* Writes text such as "2.5 ms". */
enum { DURATION_TEXT = 32 };
void duration_text(uint64_t ns, char text[DURATION_TEXT]);

#endif
