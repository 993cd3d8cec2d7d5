/* dwell info: which values a session holds, which are secrets, perhaps; and which calls into libraries. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/path_text.h"
#include "report/info_lines.h"
#include "trace/library_slots.h"
#include "trace/recorded_values.h"

/* A part of the line with a reason, if some were lost by it. The caller frees it. */
static char *info_lost_part(char *text, uint64_t count, const char *reason)
{
    if (!count)
        return text;
    char *more = need_text("%s%s%" PRIu64 " %s", text, *text ? ", " : "", count, reason);
    free(text);
    return more;
}

static void info_print_lost_values(const struct dwell_file_more *more)
{
    const uint64_t others = add_saturated(more->unstored_values, more->late_values);
    char *reasons = need_copy("", 0);
    reasons = info_lost_part(reasons, less(more->lost_values, others), "had no room");
    reasons = info_lost_part(reasons, more->unstored_values, "were in pages that could not be stored");
    reasons = info_lost_part(reasons, more->late_values, "came when their thread ended");
    if (more->lost_values)
        info_print_line("lost values", "%s: %s",
                        more->lost_values == 1 ? "1 enter or exit" : COUNTED(more->lost_values, "enters and exit"),
                        reasons);
    else
        info_print_line("lost values", "0");
    free(reasons);
}

void info_print_values(const struct session_file *f)
{
    struct recorded_values values = recorded_values_list(f);
    for (size_t i = 0; i < values.function_count; i++) {
        const struct recorded_function *r = &values.functions[i];
        char names[DWELL_VALUES_MOST * (DWELL_VALUES_NAME + 2)] = "";
        for (uint32_t j = 0; j < r->value_count; j++)
            strcat(strcat(names, j ? ", " : ""), r->values[j].name);
        char *what = session_file_why_sums(f) ? need_text(" in sums") : need_text(" of %s", COUNTED(r->rows, "call"));
        info_print_line("values", "%s%s of %s+0x%" PRIx64, names, what, path_file_name(r->path), r->offset);
        free(what);
    }
    if (f->more.values)
        info_print_lost_values(&f->more);
    if (values.later_calls)
        info_print_line("later values", "of %s, of functions whose values began while the session was read",
                        COUNTED(values.later_calls, "call"));
    if (values.damaged_chunks)
        info_print_line("damaged values", "%s not read to %s", COUNTED_WAS(values.damaged_chunks, "chunk"),
                        counted_word(values.damaged_chunks, "its end", "their ends"));
    recorded_values_free(&values);
}

void info_print_libraries(const struct session_file *f)
{
    const struct library_slots l = library_slots_read(f);
    if (l.functions)
        info_print_line("libraries", "calls of %s of libraries by %s are recorded", COUNTED(l.functions, "function"),
                        COUNTED(l.modules, "module"));
}
