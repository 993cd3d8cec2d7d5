/* Prints an error as one line on standard error and ends the program. */
#include "commands/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    say("%s", text);
    free(text);
    exit(status);
}

void die_of(const struct error *error)
{
    say("%s", error->text);
    fputs(error->list ? error->list : "", stderr);
    exit(STATUS_ERROR);
}
