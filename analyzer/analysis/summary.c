/* The remarks of a session, each with its code. */
#include "analysis/summary.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void summary_remark(struct summary *s, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    GROW(s->remarks, s->remark_count, s->remark_room);
    GROW(s->remark_codes, s->remark_count, s->code_room);
    s->remark_codes[s->remark_count] = code;
    s->remarks[s->remark_count++] = need_vtext(format, arguments);
    va_end(arguments);
}

void summary_remark_doubt(struct summary *s, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    GROW(s->remarks, s->remark_count, s->remark_room);
    GROW(s->remark_codes, s->remark_count, s->code_room);
    const size_t place = s->loss_count, later = s->remark_count++ - place;
    memmove(s->remarks + place + 1, s->remarks + place, later * sizeof *s->remarks);
    memmove(s->remark_codes + place + 1, s->remark_codes + place, later * sizeof *s->remark_codes);
    s->remarks[place] = need_vtext(format, arguments);
    s->remark_codes[place] = code;
    va_end(arguments);
}

const char *summary_code(const struct summary *s, size_t remark)
{
    const char *const unknown = remark < s->loss_count ? "other-loss" : "other";
    return s->remark_codes ? s->remark_codes[remark] : unknown;
}

void summary_drop_remarks(struct summary *s)
{
    for (size_t i = 0; i < s->remark_count; i++)
        free(s->remarks[i]);
    free(s->remarks);
    free(s->remark_codes);
    s->remarks = NULL;
    s->remark_codes = NULL;
    s->remark_count = s->remark_room = s->code_room = 0;
}
