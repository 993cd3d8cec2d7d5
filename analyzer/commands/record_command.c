/* dwell record: creates the session, runs the program, and completes the session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "clock.h"
#include "commands/commands.h"
#include "commands/record_options.h"
#include "recorder/budget.h"
#include "recorder/count_cost.h"
#include "recorder/executable.h"
#include "recorder/filter_service.h"
#include "recorder/filters.h"
#include "recorder/keep_handing.h"
#include "recorder/keep_reuse.h"
#include "recorder/keep_trim.h"
#include "recorder/left_processes.h"
#include "recorder/name_service.h"
#include "recorder/process_watch.h"
#include "recorder/record_child.h"
#include "recorder/record_others.h"
#include "recorder/record_outcome.h"
#include "recorder/record_push.h"
#include "recorder/record_series.h"
#include "recorder/record_timer.h"
#include "recorder/sample_rate.h"
#include "recorder/sampler.h"
#include "recorder/session_guard.h"
#include "recorder/signal_relay.h"
#include "recorder/size_warning.h"
#include "recorder/stolen_time.h"
#include "recorder/syscall_events.h"
#include "rotation.h"
#include "session.h"
#include "session_lock.h"
#include "trace/session_finish.h"

static char *record_absolute_path(const char *path)
{
    if (path[0] == '/')
        return need_copy(path, strlen(path));
    char *folder = getcwd(NULL, 0);
    if (!folder)
        die(STATUS_OWN_FAILURE, "the working directory: %s", strerror(errno));
    char *whole = need_memory(strlen(folder) + strlen(path) + 2, 1);
    sprintf(whole, "%s/%s", folder, path);
    free(folder);
    return whole;
}

static int record_create_session(const struct record_settings *s, const char *path, struct session *session)
{
    const struct session_settings settings = {
        .recorder_pid = (uint32_t)getpid(),
        .clock = s->clock ? s->clock : getenv("DWELL_CLOCK"),
        .max_size = s->max_size,
        .shared_ring = s->shared_ring,
        .keep_free = s->keep_free,
    };
    const char *shown = s->output;
    int fd = session_create(session, path, &settings);
    if (fd >= 0)
        return fd;
    switch (fd) {
    case SESSION_NOT_OURS:
        die(STATUS_OWN_FAILURE, "%s: not a dwell session, so it is not replaced; choose another file with -o", shown);
    case SESSION_IN_USE:
        die(STATUS_OWN_FAILURE, "%s: another recording writes to it; choose another file with -o", shown);
    case SESSION_OTHER_KIND:
        die(STATUS_OWN_FAILURE, "%s: a session of another version of dwell", shown);
    case SESSION_NOT_PRIVATE:
        die(STATUS_OWN_FAILURE, "%s: other users may write to files of that file system; choose another with -o",
            shown);
    case -ELOOP:
        die(STATUS_OWN_FAILURE, "%s: a symbolic link, which is not followed; name the file itself with -o", shown);
    default:
        die(STATUS_OWN_FAILURE, "%s: %s", shown, strerror(-fd));
    }
}

/* The session until its names are settled. If dwell ends before that, by a lack of memory, the names are right all the
 * same. */
static struct {
    const struct session *session;
    const char *path;
    int fd;
    bool ran; /* the program has run */
} record_begun;

static void record_settle(void)
{
    const struct session *session = record_begun.session;
    if (!session)
        return;
    record_begun.session = NULL;
    if (!record_begun.ran)
        rotation_end(session, record_begun.path, ROTATION_UNDONE);
    else if (rotation_holds_data(record_begun.fd))
        rotation_end(session, record_begun.path, ROTATION_RECORDED);
    else if (!session_has_other_writers(record_begun.fd))
        rotation_end(session, record_begun.path, ROTATION_EMPTY);
}

/* Creates the session with what the runtime must know of the settings. */
static int record_begin(struct record_settings *s, const char *path, struct session *session)
{
    const int fd = record_create_session(s, path, session);
    record_begun.session = session;
    record_begun.path = path;
    record_begun.fd = fd;
    atexit(record_settle);
    session->header->mode = s->mode;
    session->header->ring_size = s->ring_size;
    session->header->also = (s->call_sites ? DWELL_ALSO_CALL_SITES : 0) | (s->overhead ? DWELL_ALSO_BUDGET : 0) |
                            (s->filters.actions & DWELL_FILTER_HISTOGRAM ? DWELL_ALSO_HISTOGRAMS : 0);
    session_more(session)->overhead = s->overhead;
    if (s->filters.keep.count && !keep_watches_write(&s->filters.keep, session, fd))
        die(STATUS_OWN_FAILURE, "%s: no room for the settings of --keep", s->output);
    if (s->values.count && !planned_values_write(&s->values, session, fd))
        die(STATUS_OWN_FAILURE, "%s: no room for the settings of --values", s->output);
    if (planned_calls_any(&s->calls) && !planned_calls_write(&s->calls, session, fd))
        die(STATUS_OWN_FAILURE, "%s: no room for the settings of --calls-to", s->output);
    if (filters_any(&s->filters) && !filters_write(&s->filters, session, fd))
        die(STATUS_OWN_FAILURE, "%s: no room for the filters", s->output);
    return fd;
}

/* How and when the program ended. */
struct record_program_end {
    pid_t pid;
    int status; /* as record_child_run returns it */
    uint64_t time;
    const struct zombie_cpu *cpu; /* if it was killed, else NULL */
};

static void record_end(const struct record_settings *s, struct session *session, int fd, struct finish_writer *ends,
                       const struct record_program_end *program)
{
    const int status = program->status == RECORD_CHILD_LOST ? FINISH_STATUS_UNKNOWN : program->status;
    if (program->cpu)
        finish_cpu_add(ends, 0, (uint32_t)program->pid, program->cpu->usage, program->cpu->clock, program->time);
    finish_ends_add(ends, 0, (uint32_t)program->pid, status, program->time);
    finish_ends_close(ends);
    if (!s->every)
        finish_host(session, fd);
    finish_clock(session);
}

/* A process that is still alive may record something yet. Then the next recording names the sessions. */
static void record_name(const struct record_settings *s, const struct session *session, int fd, const char *path,
                        const struct record_outcome *o)
{
    if (!o->empty)
        rotation_end(session, path, ROTATION_RECORDED);
    else if (!session_has_other_writers(fd) && !left_processes_any(path) && rotation_end(session, path, ROTATION_EMPTY))
        say("%s: nothing was recorded, so it is still the earlier session", s->output);
}

static void record_check_syscalls(const struct record_settings *s)
{
    if (!s->os_events || strcmp(s->os_events, "syscalls") != 0)
        return;
    char *missing = syscall_events_missing();
    if (missing)
        say("--os-events=syscalls: system calls cannot be watched, so it is perf: %s", missing);
    free(missing);
}

/* Chooses the periods of samples if the budget decides. Returns the part of the budget that is left for the probes. */
static uint32_t record_share_budget(const struct record_settings *s, const struct session *session, uint64_t cost,
                                    struct sample_periods *periods)
{
    if (!s->overhead_asked && s->sample_rate < 0 && !s->filters.hidden_out && !filters_have_levels(&s->filters))
        session->header->also |= DWELL_ALSO_SPARE_SAMPLES;
    *periods =
        s->sample_rate >= 0 ? sample_periods_of((unsigned)s->sample_rate) : sample_periods_within(s->overhead, cost);
    return s->sample_rate >= 0 ? s->overhead
                               : sample_rate_rest(s->overhead, cost, sample_rate_within(s->overhead, cost));
}

/* At which size of the session to warn. */
static uint64_t record_warning_size(void)
{
    const char *size = getenv("DWELL_WARN_SIZE");
    return size ? option_size("DWELL_WARN_SIZE", size, 0, UINT64_MAX, "a number of bytes, such as 500M or 2G")
                : SIZE_WARNING_USUAL;
}

/* Records several runs. Returns the exit status. */
static int record_runs(struct record_settings *s)
{
    struct series_program program = { .words = s->program };
    struct error error = { NULL };
    const int failed = series_record(s, &program, 1, false, &error);
    if (error.text)
        die(STATUS_OWN_FAILURE, "%s", error.text);
    if (!failed && !s->quiet) {
        char *took = series_describe(&program, s->runs);
        say("%s; sessions: %s to %s", took, program.sessions[0], program.sessions[s->runs - 1]);
        free(took);
    }
    series_drop(&program, 1, s->runs);
    record_settings_drop(s);
    return failed ? record_child_end_as(failed) : STATUS_OK;
}

/* Ends dwell if the program could not be started. */
static void record_check_start(const struct record_settings *s, const struct record_program_end *program, int error)
{
    if (program->status == -1)
        die(program->pid < 0  ? STATUS_OWN_FAILURE
            : error == ENOENT ? STATUS_NOT_FOUND
                              : STATUS_NOT_EXECUTABLE,
            "%s: %s", s->program[0], strerror(error));
}

/* Finds the functions that filters and values are about in the program's file. */
static void record_find_functions(struct record_settings *s, const char *file)
{
    struct error wrong = { NULL };
    s->filters.os_calls = !s->no_os_calls;
    s->filters.leveled = function_set_new();
    s->calls.no_os_calls = s->no_os_calls;
    s->filters.calls = planned_calls_any(&s->calls) ? &s->calls : NULL;
    if (s->filters.calls && !planned_calls_find(&s->calls, file, &wrong))
        die(STATUS_OWN_FAILURE, "%s", wrong.text);
    if (filters_any(&s->filters) && !filters_find(&s->filters, file, &wrong))
        die(STATUS_OWN_FAILURE, "%s", wrong.text);
    if (s->values.count && !planned_values_find(&s->values, file, &wrong))
        die(STATUS_OWN_FAILURE, "%s", wrong.text);
}

/* What happens to kept windows while the program runs. */
struct record_keeping {
    struct keep_handing handing;
    struct keep_reuse reuse;
};

static void record_keeping_start(struct record_keeping *k, const char *command, int fd, const char *path,
                                 struct process_watch *watch)
{
    keep_handing_start(&k->handing, command, watch->session, path);
    keep_reuse_start(&k->reuse, watch->session, fd, path, watch);
}

static void record_keeping_stop(struct record_keeping *k)
{
    keep_handing_stop(&k->handing);
    keep_reuse_stop(&k->reuse);
}

int command_record(int argc, char **argv)
{
    struct record_settings s;
    record_options_parse(&s, argc, argv);
    if (s.runs > 1)
        return record_runs(&s);
    const char *file;
    struct executable e = executable_examine_command(s.program, &file);
    if (e.status)
        die(e.status, "%s: %s", e.is_loader ? file : s.program[0], e.wrong);
    record_find_functions(&s, file);
    struct error wrong = { NULL };
    char *path = record_absolute_path(s.output);
    record_check_syscalls(&s);
    struct record_push *push = NULL;
    struct child_environment environment;
    if (!record_push_new(&s, &push, &wrong) || !record_child_environment(&s, &e, path, &environment, &wrong))
        die(STATUS_OWN_FAILURE, "%s", wrong.text);
    struct session session;
    session_guard_begin();
    const int fd = record_begin(&s, path, &session);
    record_child_join(&environment, &session, path);

    struct size_warning warning;
    size_warning_start(&warning, session.header, s.output, record_warning_size());
    struct filter_service service;
    filter_service_start(&service, &s.filters, &session, fd);
    struct name_service names;
    name_service_start(&names);
    struct process_watch watch;
    struct sampler sampler = { 0 };
    process_watch_start(&watch, &session, fd, &sampler);
    const uint64_t sample_cost = s.sample_rate ? sampler_measure_cost() : 0;
    struct sample_periods periods;
    const uint32_t rest = record_share_budget(&s, &session, sample_cost, &periods);
    sampler_begin(&sampler, &session, fd, periods, sample_cost, s.sample_rate < 0 ? s.overhead / 4 : 0);
    struct budget *budget = budget_start(&session, fd, rest, &s.filters);
    record_push_start(push, &session, fd, path);
    session.header->count_cost = s.sample_rate ? count_cost_measure() : 0;
    struct record_program_end program;
    struct signal_relay relay;
    int error = 0;
    if (s.wait_all)
        record_others_adopt();
    signal_relay_begin(&relay);
    const uint64_t stolen = stolen_time_now();
    struct record_keeping keeping;
    record_keeping_start(&keeping, s.on_keep, fd, path, &watch);
    struct record_timer timer;
    record_timer_start(&timer, session.header, fd, s.record_for, s.program[0], s.quiet);
    program.status = record_child_run(&s, &e, &environment, &sampler, &relay, &program.pid, &error);
    program.time = clock_now(session.header->clock);
    program.cpu = relay.killed ? &relay.cpu : NULL;
    if (s.wait_all && program.status != -1)
        record_others_wait(&relay, &watch, &keeping.handing, fd);
    signal_relay_end(&relay);
    session_more(&session)->stolen_time = stolen_time_now() - stolen;
    record_timer_stop(&timer);
    record_keeping_stop(&keeping);
    process_watch_settle(&watch);
    struct record_others others = record_others_find(&watch);
    process_watch_stop(&watch);
    sampler_end(&sampler);
    record_push_stop(push);
    budget_stop(budget);
    filter_service_stop(&service);
    name_service_stop(&names);
    size_warning_stop(&warning);
    child_environment_drop(&environment);
    record_check_start(&s, &program, error);
    record_begun.ran = true;
    const bool lost = program.status == RECORD_CHILD_LOST;
    if (session_is_whole(&session)) {
        record_end(&s, &session, fd, watch.ends, &program);
        struct record_outcome outcome = { 0 };
        keep_trim(&session, fd, path);
        record_complete(&session, fd, path, names.names, &outcome);
        if (s.dump_on)
            record_seal_dump(&session, path);
        outcome.own_hooks = outcome.empty && executable_has_own_hooks(&e, file);
        record_report(&s, &outcome);
        keep_handing_finish(&keeping.handing);
        if (!s.quiet)
            record_others_say(&others, fd);
        keep_watches_read_named(&s.filters.keep, &session, fd);
        filters_warn(&s.filters);
        record_name(&s, &session, fd, path, &outcome);
        record_push_finish(push, outcome.empty);
    } else {
        say("%s: the session file was truncated or overwritten while it was recorded; the recording is lost", s.output);
        rotation_end(&session, path, ROTATION_RECORDED);
        record_push_finish(push, true);
    }
    record_begun.session = NULL;
    close(fd);
    module_names_free(names.names);
    record_others_drop(&others);
    free(path);
    free(e.path);
    record_settings_drop(&s);
    return lost ? STATUS_OWN_FAILURE : record_child_end_as(program.status);
}
