/* dwell info: which values a session holds, which are secrets, perhaps; and which calls into libraries. */
#include <inttypes.h>
#include <string.h>

#include "base/path_text.h"
#include "report/info_lines.h"
#include "trace/library_slots.h"
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

void info_print_libraries(const struct session_file *f)
{
    const struct library_slots l = library_slots_read(f);
    if (l.slots)
        info_print_line("libraries",
                        "calls of %" PRIu32 " function%s of libraries by %" PRIu32 " module%s are recorded", l.slots,
                        l.slots == 1 ? "" : "s", l.modules, l.modules == 1 ? "" : "s");
}
