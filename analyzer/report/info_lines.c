/* Lines of dwell info, as names and texts. */
#include "report/info_lines.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text_options.h"
#include "base/units.h"
#include "base/visible.h"

void info_print_line(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%-16s", name);
    vprint_text(stdout, format, arguments);
    putchar('\n');
    va_end(arguments);
}

const char *info_time(const struct session_file *f, uint64_t ticks, char text[TIME_TEXT])
{
    text_time(ticks_to_ns(ticks, f->header.ticks_per_second), text);
    return text;
}
