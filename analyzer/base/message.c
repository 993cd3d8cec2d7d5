#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("dwell: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    exit(status);
}
