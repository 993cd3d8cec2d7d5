/* The remarks of a session, each with its code. */
#include "analysis/summary.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void summary_remark(struct summary *summary, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    GROW(summary->remarks, summary->remark_count, summary->remark_room);
    GROW(summary->remark_codes, summary->remark_count, summary->code_room);
    summary->remark_codes[summary->remark_count] = code;
    summary->remarks[summary->remark_count++] = need_vtext(format, arguments);
    va_end(arguments);
}

void summary_remark_doubt(struct summary *summary, const char *code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    GROW(summary->remarks, summary->remark_count, summary->remark_room);
    GROW(summary->remark_codes, summary->remark_count, summary->code_room);
    const size_t place = summary->loss_count, later = summary->remark_count++ - place;
    memmove(summary->remarks + place + 1, summary->remarks + place, later * sizeof *summary->remarks);
    memmove(summary->remark_codes + place + 1, summary->remark_codes + place, later * sizeof *summary->remark_codes);
    summary->remarks[place] = need_vtext(format, arguments);
    summary->remark_codes[place] = code;
    va_end(arguments);
}

const char *summary_code(const struct summary *summary, size_t remark)
{
    const char *const unknown = remark < summary->loss_count ? "other-loss" : "other";
    return summary->remark_codes ? summary->remark_codes[remark] : unknown;
}

bool remark_is_caveat(const char *code)
{
    static const char *const codes[] = { "counted-estimated", "counted-without-paths", "counted-without-times",
                                         "cpu-time-of-switches", "partly-timed" };
    bool is_caveat = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        is_caveat |= strcmp(code, codes[i]) == 0;
    return is_caveat;
}

bool summary_is_caveat(const struct summary *summary, size_t remark)
{
    return remark_is_caveat(summary_code(summary, remark));
}

size_t summary_count_special(const struct summary *summary)
{
    size_t count = 0;
    for (size_t i = 0; i < summary->remark_count; i++)
        count += !summary_is_caveat(summary, i);
    return count;
}

void summary_drop_remarks(struct summary *summary)
{
    for (size_t i = 0; i < summary->remark_count; i++)
        free(summary->remarks[i]);
    free(summary->remarks);
    free(summary->remark_codes);
    summary->remarks = NULL;
    summary->remark_codes = NULL;
    summary->remark_count = summary->remark_room = summary->code_room = 0;
}
