/* Messages to the user: one line each on stderr, which begins with "dwell: ". */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/visible.h"

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
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    print_text(stderr, "dwell: %s%s%s\n", place ? place : "", place ? ": " : "", text);
    free(text);
}
