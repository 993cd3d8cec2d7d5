/* Prints an error as one line on standard error and ends the program. */
#include "commands/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/session_file.h"

/* Adds a hint if there is no default session. */
static void die_say(const char *text)
{
    const bool none = strcmp(text, DWELL_USUAL_FILE ": No such file or directory") == 0;
    say("%s%s", text, none ? "; record a program first: dwell record ./prog" : "");
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    die_say(text);
    free(text);
    exit(status);
}

void die_of(const struct error *error)
{
    die_say(error->text);
    fputs(error->list ? error->list : "", stderr);
    exit(STATUS_ERROR);
}
