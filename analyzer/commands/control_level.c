/* dwell control PID level: matches a pattern with the functions of the modules that a running process has loaded, and
 * writes them and their level as a chunk of its session. */
#include "commands/control_level.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/level_changes.h"
#include "base/memory.h"
#include "commands/die.h"
#include "commands/filter_service.h"
#include "commands/filters.h"
#include "trace/session_file.h"

/* The setting's level, an enum dwell_level_of_probes; CONTROL_LEVELS if it has none. */
enum { CONTROL_LEVELS = DWELL_PROBES_OUT + 1 };

static uint32_t control_level_of(const char *setting)
{
    const size_t length = strcspn(setting, "=");
    uint32_t level = 0;
    while (level < CONTROL_LEVELS && (strlen(level_name(level)) != length ||
                                      strncmp(level_name(level), setting, length) != 0 || setting[length] != '='))
        level++;
    return level;
}

void control_level_check(const char *setting)
{
    if (control_level_of(setting) == CONTROL_LEVELS)
        die(STATUS_ERROR, "control: '%s' is not timed=PATTERN, counted=PATTERN or out=PATTERN", setting);
}

static void control_level_add_module(struct filters *filters, const struct trace_module *module, uint32_t pid)
{
    struct filter_loaded loaded = { .path = module->path, .build_id_length = module->build_id_length };
    if (module->unload_time != UINT64_MAX || loaded.build_id_length > sizeof loaded.build_id)
        return;
    memcpy(loaded.build_id, module->build_id, module->build_id_length);
    loaded.file = filter_service_find_file(&loaded, pid);
    filters_judge_loaded(filters, &loaded);
    free(loaded.file);
}

static void control_level_add_modules(struct filters *filters, const char *path, uint32_t pid)
{
    const char *error = NULL;
    struct session_file *file = session_file_open(path, &error);
    if (!file)
        die(STATUS_ERROR, "%s: %s", path, error);
    const struct trace_process *process = NULL;
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].pid == pid)
            process = &file->processes[i]; /* the newest of that number */
    for (size_t i = 0; process && i < process->module_count; i++)
        control_level_add_module(filters, &process->modules[i], pid);
    session_file_close(file);
}

/* The patterns of a process are a list of levels chunks. The new chunk becomes its head. */
static uint64_t control_level_write(const struct filters *filters, const char *setting, const char *pattern,
                                    struct dwell_control *control, const struct session *session, int fd)
{
    uint64_t before = __atomic_load_n(&control->levels, __ATOMIC_ACQUIRE), offset;
    do {
        offset = filters_write_levels(filters, &(struct filters_levels){ control_level_of(setting), before, pattern },
                                      session, fd);
        if (!offset)
            die(STATUS_ERROR, "the session file has no room for the command");
    } while (
        !__atomic_compare_exchange_n(&control->levels, &before, offset, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    return offset;
}

char *control_level_text(const char *setting, struct dwell_control *control, int fd, struct dwell_file_header *header)
{
    const char *pattern = strchr(setting, '=') + 1;
    const uint32_t pid = control->pid, server = header->filter_server;
    struct filters filters = { .strict = false };
    char *every = need_text("out=%s", pattern); /* any level selects functions */
    filters_add(&filters, "level", every, "control: level");
    free(every);
    char *path = need_text("/proc/self/fd/%d", fd);
    control_level_add_modules(&filters, path, pid);
    free(path);
    const bool later = server == DWELL_FILTER_SERVER_ANSWERS || server == DWELL_FILTER_SERVER_LEVELS;
    if (filters_function_count(&filters) == 0) {
        if (!later)
            die(STATUS_ERROR, "control: pattern '%s' matches no instrumented function of process %u or its libraries",
                pattern, pid);
        say("process %u has no instrumented function '%s' yet; the level holds for libraries that it loads", pid,
            pattern);
    }
    const struct session session = { .header = header, .id = { header->session_id[0], header->session_id[1] } };
    const uint64_t offset = control_level_write(&filters, setting, pattern, control, &session, fd);
    filters_free(&filters);
    return need_text("%" PRIu64, offset);
}
