#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"

static const char *(*find_place)(void);

void message_set_place(const char *(*place)(void))
{
    find_place = place;
}

static void message_print(const char *format, va_list arguments)
{
    progress_hide();
    fflush(stdout);
    const char *place = find_place ? find_place() : NULL;
    fputs("dwell: ", stderr);
    if (place)
        fprintf(stderr, "%s: ", place);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_print(format, arguments);
    va_end(arguments);
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_print(format, arguments);
    va_end(arguments);
    exit(status);
}
