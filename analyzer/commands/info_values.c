/* dwell info: which values a session holds. They are secrets, perhaps. */
#include <inttypes.h>
#include <string.h>

#include "base/path_text.h"
#include "commands/info_lines.h"
#include "trace/recorded_values.h"

void info_print_values(const struct session_file *f)
{
    struct recorded_values values = recorded_values_list(f);
    for (size_t i = 0; i < values.function_count; i++) {
        const struct recorded_function *r = &values.functions[i];
        char names[DWELL_VALUES_MOST * (DWELL_VALUES_NAME + 2)] = "";
        for (uint32_t j = 0; j < r->value_count; j++)
            strcat(strcat(names, j ? ", " : ""), r->values[j].name);
        info_print_line("values", "%s of %" PRIu64 " calls of %s+0x%" PRIx64, names, r->rows, path_file_name(r->path),
                        r->offset);
    }
    if (f->more.lost_values)
        info_print_line("not kept", "values of %" PRIu64 " calls for which there was no room", f->more.lost_values);
    recorded_values_free(&values);
}
