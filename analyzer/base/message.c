/* Messages to the user: one line each on stderr, which begins with "dwell: ". */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/progress.h"

static const char *(*find_place)(void);

void message_set_place(const char *(*place)(void))
{
    find_place = place;
}

void say(const char *format, ...)
{
    progress_hide();
    fflush(stdout);
    const char *place = find_place ? find_place() : NULL;
    fputs("dwell: ", stderr);
    if (place)
        fprintf(stderr, "%s: ", place);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
