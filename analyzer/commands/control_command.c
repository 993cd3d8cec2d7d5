/* dwell control: sends commands to a running program's runtime, by its control chunk in the session file
 * (docs/format.md). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "analysis/level_changes.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/control_values.h"
#include "commands/features.h"
#include "dwell/format.h"
#include "recorder/control_chunk.h"
#include "recorder/event_settings.h"
#include "recorder/filter_patterns.h"
#include "recorder/filter_service.h"
#include "recorder/filters.h"
#include "recorder/find_session.h"
#include "recorder/keep_watches.h"
#include "trace/raw_session.h"
#include "trace/session_file.h"
#include "trace/session_seal.h"

enum { PATIENCE = 5000 /* milliseconds */, DUMP_PATIENCE = 600000 };

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: dwell.dump.data); with dump" },
    { SHARED_END, NULL },
};

struct control_settings {
    struct shared_options shared;
    const char *target; /* a PID or a session file */
    const char *action;
    const char *event;  /* of the action "event": which class at which level */
    const char *level;  /* of the action "level": LEVEL=PATTERN */
    const char *keep;   /* of the action "keep": PATTERN>LIMIT */
    const char *values; /* of the action "values": FUNCTION[:WHAT,...] */
};

static void control_take(void *settings, const struct option_row *row, char *argument)
{
    struct control_settings *s = settings;
    (void)row;
    if (!s->target)
        s->target = argument;
    else if (!s->action)
        s->action = argument;
    else if (!s->event && strcmp(s->action, "event") == 0)
        s->event = argument;
    else if (!s->level && strcmp(s->action, "level") == 0)
        s->level = argument;
    else if (!s->keep && strcmp(s->action, "keep") == 0)
        s->keep = argument;
    else if (!s->values && strcmp(s->action, "values") == 0)
        s->values = argument;
    else if (strcmp(s->action, "histogram") != 0) /* of which control_check says more */
        die(STATUS_ERROR, "control: too many arguments: '%s'", argument);
}

static void control_check(void *settings)
{
    const struct control_settings *s = settings;
    if (!s->action)
        die(STATUS_ERROR,
            "control: give a PID or a session file, then pause, resume, stop, dump, event, level, keep or values; see dwell "
            "control --help");
    if (strcmp(s->action, "histogram") == 0)
        die(STATUS_ERROR, "control: a path's durations are counted from its first call on, or not at all: begin with "
                          "dwell record --histogram PATTERN");
}

static const struct option_row options[] = { { TAKE_BY(control_take) }, { 0 } };

/* ---- the session of a process ---- */

static int control_open_session(const char *path)
{
    const int fd = session_open_raw(path, O_RDWR);
    if (fd < 0)
        die(STATUS_ERROR, "%s: %s", path, errno == EINVAL ? "not a dwell session" : strerror(errno));
    return fd;
}

static int control_open_session_of_pid(uint32_t pid)
{
    struct error error = { NULL };
    char *path = find_session(pid, &error);
    if (!path)
        die_of(&error);
    const int fd = control_open_session(path);
    free(path);
    return fd;
}

/* ---- control chunks ---- */

static struct dwell_file_header *control_map_header(int fd)
{
    void *at = mmap(NULL, DWELL_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        die(STATUS_ERROR, "the session file: %s", strerror(errno));
    return at;
}

static bool control_is_gone(uint32_t pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* The helper of a process that has just begun may not listen yet. */
static void control_await_helper(const struct dwell_control *control, uint32_t pid)
{
    enum { TRIES = 200 };
    static const struct timespec pause = { .tv_nsec = 5000000 };
    for (int i = 0; i < TRIES && !control_chunk_listens(control) && !control_is_gone(pid); i++)
        nanosleep(&pause, NULL);
}

static void control_send_command(struct dwell_control *control, uint32_t pid, uint32_t command, const char *text)
{
    control_await_helper(control, pid);
    const enum control_answer answer =
        control_chunk_send(control, command, text, PATIENCE, command == DWELL_COMMAND_DUMP ? DUMP_PATIENCE : PATIENCE);
    if (answer != CONTROL_DONE && control_is_gone(pid))
        die(STATUS_ERROR, "process %u has ended", pid);
    switch (answer) {
    case CONTROL_DEAF:
        die(STATUS_ERROR,
            "process %u takes no commands: its runtime has no helper thread; run it without DWELL_HELPER=off", pid);
    case CONTROL_BUSY:
        die(STATUS_ERROR, "process %u is busy with another command; try again", pid);
    case CONTROL_SILENT:
        die(STATUS_ERROR, "process %u does not answer; is it stopped?", pid);
    case CONTROL_DONE:
        break;
    }
    if (control->result == -EEXIST)
        die(STATUS_ERROR, "%s: not a dwell session, so it is not replaced; choose another file with -o", text);
    if (control->result < 0 && command == DWELL_COMMAND_DUMP)
        die(STATUS_ERROR, "%s: %s", text, strerror(-control->result));
    if (control->result == -ENOSPC && command == DWELL_COMMAND_EVENT)
        die(STATUS_ERROR, "process %u: too many classes; use * for all", pid);
    if (control->result == -EOPNOTSUPP && command == DWELL_COMMAND_VALUES)
        die(STATUS_ERROR, "process %u cannot record values: they need x86-64 or aarch64", pid);
    if (control->result == -ENOSYS)
        die(STATUS_ERROR, "process %u has a runtime of another version, which does not know this command", pid);
    if (control->result < 0)
        die(STATUS_ERROR, "process %u refused: %s", pid,
            control->result == -EPERM ? "its recording was stopped permanently" : strerror(-control->result));
}

/* ---- levels ---- */

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

/* Ends the program unless `setting` is LEVEL=PATTERN. */
static void control_level_check(const char *setting)
{
    if (control_level_of(setting) == CONTROL_LEVELS)
        die(STATUS_ERROR, "control: '%s' is not timed=PATTERN, counted=PATTERN or out=PATTERN", setting);
}

/* Functions of libraries have levels if their calls are recorded (`record --calls-to`). */
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
    struct planned_calls calls = { .all = true };
    filters->calls = file->more.calls ? &calls : NULL;
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].pid == pid)
            process = &file->processes[i]; /* the newest of that number */
    for (size_t i = 0; process && i < process->module_count; i++)
        control_level_add_module(filters, &process->modules[i], pid);
    filters->calls = NULL;
    planned_calls_drop(&calls);
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

static struct session control_session(struct dwell_file_header *header)
{
    return (struct session){ .header = header, .id = { header->session_id[0], header->session_id[1] } };
}

/* The functions of the process' loaded modules that a pattern selects. */
static struct filters control_select(const char *pattern, uint32_t pid, int fd)
{
    struct filters filters = { .strict = false };
    struct error error = { NULL };
    char *every = need_text("out=%s", pattern), *path = need_text("/proc/self/fd/%d", fd); /* any level selects them */
    if (!filters_add(&filters, "level", every, "control", &error))
        die(STATUS_OWN_FAILURE, "%s", error.text);
    control_level_add_modules(&filters, path, pid);
    free(path);
    free(every);
    return filters;
}

static void control_refuse_pattern(const char *pattern, uint32_t pid)
{
    die(STATUS_ERROR, "control: pattern '%s' matches no instrumented function of process %u or its libraries", pattern,
        pid);
}

/* Writes a chunk with the functions that `setting` selects, their level and the pattern, into the process' session.
 * From then on, the recorder applies the pattern to libraries that the process loads. Returns the command's text, which
 * the caller frees. Prints a remark if there is no such function, and ends the program if there is no recorder, either.
 */
static char *control_level_text(const char *setting, struct dwell_control *control, int fd,
                                struct dwell_file_header *header)
{
    const char *pattern = strchr(setting, '=') + 1;
    const uint32_t pid = control->pid, server = header->filter_server;
    struct filters filters = control_select(pattern, pid, fd);
    const bool later = server == DWELL_FILTER_SERVER_ANSWERS || server == DWELL_FILTER_SERVER_LEVELS;
    if (filters_function_count(&filters) == 0) {
        if (!later)
            control_refuse_pattern(pattern, pid);
        say("process %u has no instrumented function '%s' yet; the level holds for libraries that it loads", pid,
            pattern);
    }
    const struct session session = control_session(header);
    const uint64_t offset = control_level_write(&filters, setting, pattern, control, &session, fd);
    filters_free(&filters);
    return need_text("%" PRIu64, offset);
}

/* The same for a watch of slow calls, without libraries that are loaded later. */
static char *control_keep_text(const char *setting, uint32_t pid, int fd, struct dwell_file_header *header)
{
    const struct session session = control_session(header);
    struct keep_watches watches = { .count = 0 };
    struct error error = { NULL };
    uint32_t number;
    char *pattern = keep_watches_change(&watches, setting, &error);
    if (!pattern)
        die_of(&error);
    const bool activities = keep_is_for_activities(pattern);
    struct filters filters = { .pattern_count = 0 };
    if (!activities)
        filters = control_select(pattern, pid, fd);
    if (!activities && filters_function_count(&filters) == 0)
        control_refuse_pattern(pattern, pid);
    if (!keep_watches_append(&watches, &session, fd, &number, &error))
        die_of(&error);
    const struct filters_levels watch = { .level = number << DWELL_FILTER_KEEP_SHIFT };
    const uint64_t offset = filters_write_levels(&filters, &watch, &session, fd);
    if (!offset)
        die(STATUS_ERROR, "the session file has no room for the command");
    filters_free(&filters);
    keep_watches_drop(&watches);
    free(pattern);
    return need_text("%" PRIu64, offset);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    enum dwell_command command;
} actions[] = {
    { "pause", DWELL_COMMAND_PAUSE }, { "resume", DWELL_COMMAND_RESUME }, { "stop", DWELL_COMMAND_STOP },
    { "dump", DWELL_COMMAND_DUMP },   { "event", DWELL_COMMAND_EVENT },   { "level", DWELL_COMMAND_LEVEL },
    { "keep", DWELL_COMMAND_KEEP },   { "values", DWELL_COMMAND_VALUES },
};

static char *control_absolute_path(const char *path)
{
    char *folder = path[0] == '/' ? need_copy("", 0) : getcwd(NULL, 0);
    if (!folder)
        die(STATUS_ERROR, "working directory: %s", strerror(errno));
    const size_t room = strlen(folder) + strlen(path) + 2;
    char *whole = need_memory(room, 1);
    snprintf(whole, room, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    free(folder);
    if (strlen(whole) >= sizeof((struct dwell_control *)NULL)->text)
        die(STATUS_ERROR, "%s: the name is too long", path);
    return whole;
}

static char *control_event_text(const char *event)
{
    struct error error = { NULL };
    char *text = event_setting(event, "control", &error);
    if (!text)
        die_of(&error);
    if (!feature_is_built("events"))
        die(STATUS_ERROR, "control: this dwell was built without trace events");
    return text;
}

/* The argument of a command that all processes can get. The caller frees it. */
static char *control_command_text(const struct control_settings *s, enum dwell_command command)
{
    if (command == DWELL_COMMAND_DUMP)
        return control_absolute_path(s->shared.output);
    if (command == DWELL_COMMAND_EVENT)
        return control_event_text(s->event);
    return need_copy("", 0);
}

/* Also of one that is for one process. */
static char *control_process_text(const struct control_settings *s, enum dwell_command command,
                                  struct dwell_control *control, int fd, struct dwell_file_header *header)
{
    const struct session session = control_session(header);
    if (command == DWELL_COMMAND_LEVEL)
        return control_level_text(s->level, control, fd, header);
    if (command == DWELL_COMMAND_KEEP)
        return control_keep_text(s->keep, control->pid, fd, header);
    if (command == DWELL_COMMAND_VALUES)
        return control_values_text(s->values, control->pid, &session, fd);
    return control_command_text(s, command);
}

static void control_one_process(const struct control_settings *s, enum dwell_command command)
{
    const uint32_t pid = (uint32_t)option_number("PID", s->target);
    int fd = control_open_session_of_pid(pid);
    struct dwell_file_header *header = control_map_header(fd);
    struct control_walk walk = control_walk_begin(header->first_control);
    struct dwell_control *control = control_chunk_next(fd, &walk);
    while (control && control->pid != pid) /* the newest comes first */
        control = control_chunk_next(fd, &walk);
    if (!control)
        die(STATUS_ERROR, "process %u has no room for commands in its session file", pid);
    char *text = control_process_text(s, command, control, fd, header);
    control_send_command(control, pid, command, text);
    if (command == DWELL_COMMAND_DUMP) {
        seal_dump(text, header); /* fails where the process has another root: `dwell info` says so */
        say("dumped to %s; see: dwell report %s", s->shared.output, s->shared.output);
    }
    if (command == DWELL_COMMAND_LEVEL && control->stay_timed)
        say("%s of process %u stay%s timed, as values or slow calls are recorded: end that by values "
            "'FUNCTION>off' or keep 'PATTERN>off'",
            COUNTED(control->stay_timed, "function"), pid, control->stay_timed == 1 ? "s" : "");
    if (command == DWELL_COMMAND_EVENT && control->result == 0 && strcmp(s->event, "*") != 0)
        say("process %u has no class '%.*s' yet; the setting holds when it registers one", pid, (int)strcspn(text, ":"),
            text);
    free(text);
    close(fd);
}

static void control_all_processes(const struct control_settings *s, enum dwell_command command)
{
    const bool event = command == DWELL_COMMAND_EVENT;
    if (command != DWELL_COMMAND_PAUSE && command != DWELL_COMMAND_RESUME && !event)
        die(STATUS_ERROR,
            "control: stop, dump, level, keep and values take a PID; a session file takes pause, resume and event");
    int fd = control_open_session(s->target);
    struct dwell_file_header *header = control_map_header(fd);
    char *text = control_command_text(s, command);
    if (!event)
        __atomic_store_n(&header->global_stopped, command == DWELL_COMMAND_PAUSE, __ATOMIC_SEQ_CST);
    if (command == DWELL_COMMAND_RESUME)
        __atomic_store_n(&header->global_suspended, 0, __ATOMIC_SEQ_CST);
    struct control_walk walk = control_walk_begin(header->first_control);
    for (struct dwell_control *control; (control = control_chunk_next(fd, &walk));) {
        if (control->listening && kill((pid_t)control->pid, 0) == 0)
            control_send_command(control, control->pid, event ? command : DWELL_COMMAND_LOOK, text);
        munmap(control, DWELL_UNIT);
    }
    free(text);
    close(fd);
}

static const struct command_line line = {
    .name = "control",
    .arguments =
        "PID|FILE pause|resume\nPID stop|dump\nPID|FILE event CLASS[:LEVEL|:off]\nPID level LEVEL=PATTERN\nPID keep PATTERN>LIMIT\nPID values FUNCTION[:WHAT,...]|FUNCTION>off",
    .text =
        "Controls the recording of a running program: of the process PID, or of all processes of the session "
        "FILE.\v"
        "pause and resume its recording; stop it permanently; dump what it has recorded until now into a session file "
        "of its own, while it goes on (mostly for record --mode ring); enable or disable the trace events of a "
        "class (its name, its GUID, or * for all; LEVEL is as in record --event); take the probes of functions out of "
        "the code (level out=PATTERN), only count their calls (counted=PATTERN), or put them back "
        "(timed=PATTERN); change which slow calls record --keep keeps (keep 'PATTERN>LIMIT', and 'PATTERN>off' "
        "for none of these functions); or record values of a function, as record --values does (values "
        "FUNCTION[:WHAT,...], and 'FUNCTION>off' to end it). What record --histogram counts is chosen when a recording "
        "begins. Write ./FILE if its name is a number.\n\nExamples:\n"
        "  dwell control 1234 pause\n"
        "  dwell control 1234 dump -o now.data\n"
        "  dwell control dwell.data resume\n"
        "  dwell control 1234 event 'Requests:information'\n"
        "  dwell control 1234 level 'out=get_*'\n"
        "  dwell control 1234 keep 'parse>50ms'\n"
        "  dwell control 1234 values 'parse:length'",
    .options = options,
    .check = control_check,
    .shared = shared,
};

int command_control(int argc, char **argv)
{
    struct control_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    const enum dwell_command command = option_choice("control", s.action, actions)->command;
    if (command == DWELL_COMMAND_EVENT && !s.event)
        die(STATUS_ERROR, "control: which class of events? Give NAME, GUID or *, and :LEVEL or :off");
    if (command == DWELL_COMMAND_LEVEL && !s.level)
        die(STATUS_ERROR, "control: which level? Give timed=, counted= or out=PATTERN");
    if (command == DWELL_COMMAND_KEEP && !s.keep)
        die(STATUS_ERROR, "control: which slow calls? Give 'PATTERN>LIMIT', such as 'parse>50ms', or 'PATTERN>off'");
    if (command == DWELL_COMMAND_VALUES && !s.values)
        die(STATUS_ERROR, "control: which values? Give FUNCTION, FUNCTION:WHAT,... or 'FUNCTION>off'");
    if (s.level)
        control_level_check(s.level);
    if (s.shared.output && command != DWELL_COMMAND_DUMP)
        die(STATUS_ERROR, "--output: only with dump");
    if (!s.shared.output)
        s.shared.output = "dwell.dump.data";
    if (option_is_pid(s.target))
        control_one_process(&s, command);
    else
        control_all_processes(&s, command);
    return STATUS_OK;
}
