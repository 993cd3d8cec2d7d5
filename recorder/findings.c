/* The list of what dwell doctor finds. */
#include "recorder/findings.h"

#include <stdarg.h>

#include "base/memory.h"

void find_that(struct findings *f, enum health health, const char *what, const char *format, ...)
{
    va_list arguments;
    GROW(f->list, f->count, f->room);
    struct finding *finding = &f->list[f->count++];
    *finding = (struct finding){ .health = health, .what = what };
    va_start(arguments, format);
    finding->says = need_vtext(format, arguments);
    va_end(arguments);
}
