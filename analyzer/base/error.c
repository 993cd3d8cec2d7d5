/* The text of an error: set once in the format of printf, and freed. */
#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/visible.h"

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

void error_list(struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *line = need_vtext(format, arguments), *shown = visible_text(line);
    va_end(arguments);
    char *list = need_text("%s%s\n", error->list ? error->list : "", shown);
    free(error->list);
    free(shown);
    free(line);
    error->list = list;
}

void error_drop(struct error *error)
{
    free(error->text);
    free(error->list);
    *error = (struct error){ NULL, NULL };
}
