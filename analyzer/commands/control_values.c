/* The debug information is read here, so the recorder is not needed for it. */
#include "commands/control_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "commands/die.h"
#include "recorder/changed_values.h"
#include "recorder/filter_service.h"
#include "trace/session_file.h"

static void control_values_look_at(struct planned_values *v, const struct trace_module *module, uint32_t pid,
                                   struct error *error)
{
    struct filter_loaded loaded = { .path = module->path, .build_id_length = module->build_id_length };
    if (module->unload_time != UINT64_MAX || loaded.build_id_length > sizeof loaded.build_id)
        return;
    memcpy(loaded.build_id, module->build_id, module->build_id_length);
    char *file = filter_service_find_file(&loaded, pid);
    const struct symbol_module named = { module->path, loaded.build_id, loaded.build_id_length };
    if (file)
        planned_values_find_in(v, &named, file, error);
    free(file);
}

static void control_values_find(struct planned_values *v, uint32_t pid, int fd, struct error *error)
{
    char *path = need_text("/proc/self/fd/%d", fd);
    const char *wrong = NULL;
    struct session_file *file = session_file_open(path, &wrong);
    const struct trace_process *process = NULL;
    if (!file)
        die(STATUS_ERROR, "%s: %s", path, wrong);
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].pid == pid)
            process = &file->processes[i]; /* the newest of that number */
    for (size_t i = 0; process && i < process->module_count && !error->text; i++)
        control_values_look_at(v, &process->modules[i], pid, error);
    session_file_close(file);
    free(path);
}

static void control_values_check(const struct planned_values *v, uint32_t pid, struct error *error)
{
    const struct value_choice *c = &v->choices[0];
    if (error->text || (!c->matches && planned_values_say_unread(v, error)))
        return;
    if (!c->matches)
        error_set(error, "control: values: no function of process %u that calls a probe is named '%s'%s", pid, c->text,
                  function_pattern_hint(&c->function, ""));
    else if (!v->functions)
        error_set(error, "control: values: nothing of that can be read; dwell values --list says why");
}

char *control_values_text(const char *setting, uint32_t pid, const struct session *session, int fd)
{
    struct planned_values v = { .count = 0 };
    struct error error = { NULL };
    uint64_t offset = 0;
    v.sums = session->header->mode == DWELL_MODE_PROFILE;
    if (changed_values_parse(&v, setting, &error)) {
        control_values_find(&v, pid, fd, &error);
        control_values_check(&v, pid, &error);
    }
    if (!error.text)
        offset = changed_values_write(&v, session, fd, &error);
    if (!offset)
        die_of(&error);
    planned_values_drop(&v);
    return need_text("%" PRIu64, offset);
}
