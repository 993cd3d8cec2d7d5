/* Cuts text from a file to a length that suits a message. */
#include "base/quote.h"

#include <string.h>

char *quote(char to[QUOTE_ROOM], const char *text, size_t length)
{
    static const char dots[] = "...";
    size_t kept = length;
    if (length >= QUOTE_ROOM) {
        kept = QUOTE_ROOM - sizeof dots;
        while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80) /* no half of a character */
            kept--;
    }
    for (size_t i = 0; i < kept; i++)
        to[i] = text[i] ? text[i] : '?';
    strcpy(to + kept, kept < length ? dots : "");
    return to;
}
