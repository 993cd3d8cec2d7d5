/* Copies a name with its control characters escaped, so that it fits on one line. */
#include "export/export_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

enum { MAX_ESCAPE = 4 }; /* \x1b */

static char *text_put_escape(char *to, unsigned char control)
{
    switch (control) {
    case '\n':
        return stpcpy(to, "\\n");
    case '\r':
        return stpcpy(to, "\\r");
    case '\t':
        return stpcpy(to, "\\t");
    default:
        return to + sprintf(to, "\\x%02x", control);
    }
}

char *text_single_line(const char *name)
{
    char *valid = utf8_repair(name);
    char *line = need_memory(strlen(valid) * MAX_ESCAPE + 1, 1), *to = line;
    for (const char *at = valid; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte < 0x20 || byte == 0x7f)
            to = text_put_escape(to, byte);
        else
            *to++ = *at;
    }
    free(valid);
    return line;
}
