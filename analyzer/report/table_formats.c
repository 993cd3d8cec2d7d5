/* The list of formats in which tables are printed. */
#include "report/table_formats.h"

#include <string.h>

static const struct {
    const char *name;
    table_printer *print;
} formats[] = {
    { "text", table_print_text },
    { "csv", table_print_csv },
    { "json", table_print_json },
};

const char table_format_names[] = "text, csv, json";

table_printer *table_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].print;
    return NULL;
}
