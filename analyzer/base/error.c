/* The text of an error: set once in the format of printf, and freed. */
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/memory.h"

bool error_set(struct error *error, const char *format, ...)
{
    if (error->text)
        return false;
    va_list arguments;
    va_start(arguments, format);
    error->text = need_vtext(format, arguments);
    va_end(arguments);
    return false;
}

void error_drop(struct error *error)
{
    free(error->text);
    error->text = NULL;
}
