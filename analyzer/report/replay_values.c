/* Finds the recorded values of a call by its address, and writes them. */
#include "report/replay_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/visible.h"
#include "tables/value_args.h"

/* A module without a build-id can be any, as in other views. */
static bool replay_is_in_module(const struct recorded_function *f, const struct trace_module *m)
{
    return !m || !m->build_id_length || !f->build_id_length ||
           (m->build_id_length == f->build_id_length && memcmp(m->build_id, f->build_id, f->build_id_length) == 0);
}

static bool replay_is_function(const struct recorded_function *f, const struct session_file *file, uint32_t process,
                               const struct timeline_call *call)
{
    const struct trace_process *p = session_file_process(file, process);
    const struct trace_module *m = p ? trace_module_at(p, call->function, call->enter_time) : NULL;
    return replay_is_in_module(f, m) && f->offset == (m ? call->function - m->bias : call->function);
}

/* Two calls that follow each other can be entered in the same tick. */
const struct recorded_row *replay_values_of(const struct recorded_values *values, const struct session_file *file,
                                            uint32_t process, uint32_t thread, const struct timeline_call *call)
{
    size_t count;
    const struct recorded_row *rows = recorded_values_at(values, thread, call->enter_time - call->delay, &count);
    for (size_t i = 0; i < count; i++)
        if (replay_is_function(&values->functions[rows[i].function], file, process, call))
            return &rows[i];
    return NULL;
}

void replay_put_values(const struct recorded_values *values, const struct recorded_row *row, FILE *out)
{
    char *text = value_args_text(values, row);
    fputs("  ", out);
    put_visible(text, out);
    free(text);
}

char *replay_values_json(const struct recorded_values *values, const struct recorded_row *row)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    value_args_put_json(&(struct value_args){ .values = values }, row, out);
    need_stream_end(out);
    return text;
}
