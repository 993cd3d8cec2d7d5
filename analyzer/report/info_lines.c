/* Lines of dwell info, as names and texts. */
#include "report/info_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "base/units.h"
#include "report/text_lines.h"

void info_print_line(const char *name, const char *format, ...)
{
    enum { TEXTS = 16 }; /* where they begin */
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    text_put_named_lines(stdout, name, TEXTS, text, terminal_width(stdout));
    free(text);
}

const char *info_time(const struct session_file *f, uint64_t ticks, char text[TIME_TEXT])
{
    text_time(ticks_to_ns(ticks, f->header.ticks_per_second), text);
    return text;
}
