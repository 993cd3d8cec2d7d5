#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/event_settings.h"
#include "commands/executable.h"
#include "commands/filters.h"
#include "commands/record_symbols.h"
#include "commands/runtime_library.h"
#include "session.h"
#include "trace/scan.h"
#include "trace/session_finish.h"
#include "trace/trace_events.h"

enum {
    OPTION_OS_EVENTS = 256,
    OPTION_MODE,
    OPTION_PAUSED,
    OPTION_FILTER_FILE,
    OPTION_ONLY,
    OPTION_SUPPRESS,
    OPTION_IGNORE,
    OPTION_START_ON,
    OPTION_STOP_ON,
    OPTION_DEPTH,
    OPTION_MIN,
    OPTION_NO_FOLLOW,
    OPTION_NO_OS_CALLS,
    OPTION_DUMP_ON,
    OPTION_MONITOR,
    OPTION_EVENT,
    OPTION_CLOCK,
    OPTION_CALL_SITES,
};

static const struct argp_option options[] = {
    { "quiet", 'q', NULL, 0, "Print nothing at the end unless something was lost", 0 },
    { "os-events", OPTION_OS_EVENTS, "SOURCE", 0,
      "How to learn what the operating system did: auto (default), perf, syscalls (perf, and every system call: for "
      "root), rseq or none",
      0 },
    { "no-os-calls", OPTION_NO_OS_CALLS, NULL, 0,
      "No rows for calls of the operating system (read, poll, nanosleep, pthread_cond_wait ...): their time counts for "
      "their callers",
      0 },
    { "call-sites", OPTION_CALL_SITES, NULL, 0,
      "Record where each call is made, so that reports can show times by source line; a call takes 12 bytes instead of "
      "8",
      0 },
    { "no-follow", OPTION_NO_FOLLOW, NULL, 0, "Record only PROGRAM, not the processes that it starts", 0 },
    { "mode", OPTION_MODE, "MODE", 0,
      "What to keep: trace (default): every interval; profile: sums by call path, so that the file does not grow with "
      "the run; ring[=SIZE]: the last SIZE bytes of each thread (default: 4M)",
      0 },
    { "dump-on", OPTION_DUMP_ON, "SIGNAL", 0,
      "Write what was recorded until then to FILE.dump whenever PROGRAM gets this signal (USR2, or a number); PROGRAM "
      "must not use the signal itself",
      0 },
    { "monitor", OPTION_MONITOR, "TIME", 0, "Sample the use of CPU and memory of each process every TIME (100ms)", 0 },
    { "clock", OPTION_CLOCK, "CLOCK", 0,
      "What the probes read: auto (default): the CPU's counter; ordered: the same after all earlier instructions, "
      "slower, but right for functions of a few nanoseconds; monotonic: CLOCK_MONOTONIC",
      0 },
    { "paused", OPTION_PAUSED, NULL, 0,
      "Do not record until the program calls dwell_start, or dwell control resumes it", 0 },
    { "event", OPTION_EVENT, "CLASS[:LEVEL]", 0,
      "Record trace events of this class (a name, a GUID, or * for all) up to LEVEL (0 to 255, or critical, error, "
      "warning, information, verbose; default: 255); may be repeated, the last one that fits decides",
      0 },
    { NULL, 0, NULL, 0, "Filters, which may be repeated (PATTERN: see below):", 1 },
    { "only", OPTION_ONLY, "PATTERN", 0, "Record only these functions", 1 },
    { "suppress", OPTION_SUPPRESS, "PATTERN", 0, "Do not record these: their time counts for their callers", 1 },
    { "ignore", OPTION_IGNORE, "PATTERN", 0, "Do not record these and all that they call: their time is discarded", 1 },
    { "start-on", OPTION_START_ON, "PATTERN", 0, "Record nothing until one of these is entered", 1 },
    { "stop-on", OPTION_STOP_ON, "PATTERN", 0, "Record nothing more once one of these is entered", 1 },
    { "depth", OPTION_DEPTH, "N", 0, "Suppress calls that are deeper than N", 1 },
    { "min", OPTION_MIN, "TIME", 0, "Suppress calls that took less time (500ns, 10us, 1ms); not in mode profile", 1 },
    { "filter-file", OPTION_FILTER_FILE, "FILE", 0,
      "Read filters from FILE: one a line, as here without the dashes; lines that begin with # are comments", 1 },
    { 0 },
};

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: dwell.data); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

struct record_settings {
    struct shared_options shared;
    bool quiet, no_follow, no_os_calls, call_sites;
    const char *os_events;
    enum dwell_mode mode;
    uint32_t ring_size;
    bool paused;
    int dump_on;           /* a signal's number, or zero */
    unsigned long monitor; /* milliseconds, or zero */
    char *events;          /* settings, parted by commas; NULL: none */
    struct filters filters;
    char **program; /* and its arguments */
};

/* A number of bytes, which may end in K, M or G. */
static uint32_t record_parse_size(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        end++;
    if (unit && size <= DWELL_RING_MAX)
        size <<= 10 * (unit - units + 1);
    if (errno || end == text || *end || text[0] == '-' || size < DWELL_RING_MIN || size > DWELL_RING_MAX)
        die(STATUS_OWN_FAILURE, "--mode ring=%s: the size is a number of bytes from 64K to 1G", text);
    return (uint32_t)size;
}

static void record_parse_mode(struct record_settings *s, const char *mode)
{
    s->ring_size = 0;
    if (strcmp(mode, "trace") == 0) {
        s->mode = DWELL_MODE_TRACE;
    } else if (strcmp(mode, "profile") == 0) {
        s->mode = DWELL_MODE_PROFILE;
    } else if (strcmp(mode, "ring") == 0) {
        s->mode = DWELL_MODE_RING;
        s->ring_size = DWELL_RING_USUAL;
    } else if (strncmp(mode, "ring=", 5) == 0) {
        s->mode = DWELL_MODE_RING;
        s->ring_size = record_parse_size(mode + 5);
    } else {
        option_refuse("--mode", mode, "trace, profile, ring, ring=SIZE");
    }
}

static int record_parse_signal(const char *text)
{
    char *end;
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    long number = strtol(text, &end, 10);
    if (*end || end == text)
        for (number = 1; number < SIGRTMIN; number++)
            if (sigabbrev_np((int)number) && strcmp(sigabbrev_np((int)number), name) == 0)
                break;
    if (number < 1 || number >= NSIG || number == SIGKILL || number == SIGSTOP || (number == SIGRTMIN && *end))
        die(STATUS_OWN_FAILURE, "--dump-on: '%s' is no signal that a program can receive", text);
    return (int)number;
}

static const char *record_option_name(int key)
{
    for (const struct argp_option *o = options; o->name || o->doc; o++)
        if (o->key == key)
            return o->name;
    return "";
}

static void record_parse_filter(struct record_settings *s, int key, const char *value)
{
    char place[32];
    snprintf(place, sizeof place, "--%s", record_option_name(key));
    if (key == OPTION_FILTER_FILE)
        filters_read(&s->filters, value);
    else
        filters_add(&s->filters, record_option_name(key), value, place);
}

static void record_add_event_setting(struct record_settings *s, const char *text)
{
    enum { LONGEST = 8000 }; /* the runtime's room for it */
    char *setting = event_setting(text, STATUS_OWN_FAILURE, "--event"), *both = NULL;
    if (asprintf(&both, "%s%s%s", s->events ? s->events : "", s->events ? "," : "", setting) < 0)
        die(STATUS_OWN_FAILURE, "out of memory");
    if (strlen(both) > LONGEST)
        die(STATUS_OWN_FAILURE, "--event: so many classes cannot be named; use * for all");
    free(setting);
    free(s->events);
    s->events = both;
}

static error_t record_parse_option(int key, char *argument, struct argp_state *state)
{
    struct record_settings *s = state->input;
    switch (key) {
    case 'q':
        s->quiet = true;
        return 0;
    case OPTION_NO_FOLLOW:
        s->no_follow = true;
        return 0;
    case OPTION_NO_OS_CALLS:
        s->no_os_calls = true;
        return 0;
    case OPTION_CALL_SITES:
        s->call_sites = true;
        return 0;
    case OPTION_OS_EVENTS:
        if (strcmp(argument, "auto") != 0 && strcmp(argument, "perf") != 0 && strcmp(argument, "rseq") != 0 &&
            strcmp(argument, "syscalls") != 0 && strcmp(argument, "none") != 0)
            option_refuse("--os-events", argument, "auto, perf, syscalls, rseq, none");
        s->os_events = argument;
        return 0;
    case OPTION_CLOCK:
        if (strcmp(argument, "auto") != 0 && strcmp(argument, "ordered") != 0 && strcmp(argument, "monotonic") != 0)
            die(STATUS_OWN_FAILURE, "--clock: '%s' is none of auto, ordered, monotonic", argument);
        setenv("DWELL_CLOCK", argument, 1); /* of the session, which is made here, and of the program */
        return 0;
    case OPTION_MODE:
        record_parse_mode(s, argument);
        return 0;
    case OPTION_PAUSED:
        s->paused = true;
        return 0;
    case OPTION_EVENT:
        record_add_event_setting(s, argument);
        return 0;
    case OPTION_DUMP_ON:
        s->dump_on = record_parse_signal(argument);
        return 0;
    case OPTION_MONITOR:
        s->monitor = option_time("--monitor", argument) / 1000000;
        if (s->monitor < 1 || s->monitor > 3600000)
            die(STATUS_OWN_FAILURE, "--monitor: '%s' is not between 1ms and an hour", argument);
        return 0;
    case OPTION_FILTER_FILE:
    case OPTION_ONLY:
    case OPTION_SUPPRESS:
    case OPTION_IGNORE:
    case OPTION_START_ON:
    case OPTION_STOP_ON:
    case OPTION_DEPTH:
    case OPTION_MIN:
        record_parse_filter(s, key, argument);
        return 0;
    case ARGP_KEY_ARG:
        s->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (s->mode == DWELL_MODE_PROFILE && s->filters.shortest_ns)
            die(STATUS_OWN_FAILURE, "--min: mode profile counts every call; use --mode trace or ring");
        if (!s->program)
            die(STATUS_OWN_FAILURE, "record: which PROGRAM? See dwell record --help");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- before ---- */

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

static int record_create_session(struct session *session, const char *path, const char *shown)
{
    int fd = session_create(session, path, false, (uint32_t)getpid());
    if (fd >= 0)
        return fd;
    switch (fd) {
    case SESSION_NOT_OURS:
        die(STATUS_OWN_FAILURE, "%s: not a dwell session, so it is not replaced; choose another file by -o", shown);
    case SESSION_IN_USE:
        die(STATUS_OWN_FAILURE, "%s: another recording writes to it; choose another file by -o", shown);
    case SESSION_OTHER_KIND:
        die(STATUS_OWN_FAILURE, "%s: a session of another version of dwell", shown);
    default:
        die(STATUS_OWN_FAILURE, "%s: %s", shown, strerror(-fd));
    }
}

static void record_append_variable(const char *name, const char *value)
{
    const char *before = getenv(name);
    if (!before || !*before) {
        setenv(name, value, 1);
        return;
    }
    char *both = NULL;
    if (asprintf(&both, "%s:%s", before, value) < 0)
        die(STATUS_OWN_FAILURE, "out of memory");
    setenv(name, both, 1);
    free(both);
}

static void record_set_variable(const char *name, unsigned long number)
{
    char text[24];
    snprintf(text, sizeof text, "%lu", number);
    setenv(name, text, 1);
}

static void record_prepare_environment(const struct record_settings *s, const struct executable *e, const char *session)
{
    setenv("DWELL_OUTPUT", session, 1);
    if (s->os_events)
        setenv("DWELL_OS_EVENTS", s->os_events, 1);
    if (s->paused)
        setenv("DWELL_START", "paused", 1);
    if (s->dump_on)
        record_set_variable("DWELL_DUMP_ON", (unsigned long)s->dump_on);
    if (s->monitor)
        record_set_variable("DWELL_MONITOR", s->monitor);
    if (s->events)
        setenv("DWELL_EVENTS", s->events, 1);
    if (s->no_follow)
        setenv("DWELL_FOLLOW", "no", 1);
    if (s->no_os_calls)
        setenv("DWELL_OS_CALLS", "off", 1);
    if (e->has_runtime)
        return;
    struct runtime_library library = runtime_library_find();
    if (library.wrong)
        die(STATUS_OWN_FAILURE, "%s", library.wrong);
    char *runtime = library.path;
    record_append_variable("LD_PRELOAD", runtime);
    free(runtime);
}

/* ---- the program ---- */

static volatile sig_atomic_t child;

/* What is sent to dwell alone is meant for the program; the terminal sends to both. */
static void record_pass_on_signal(int number)
{
    if (child > 0)
        kill((pid_t)child, number);
}

static void record_set_signal_handler(int number, void (*handler)(int), struct sigaction *before)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, before);
}

static const int terminal_signals[] = { SIGINT, SIGQUIT };
static const int sent_signals[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
enum { TERMINAL_SIGNALS = 2, SENT_SIGNALS = 4, ALL_SIGNALS = TERMINAL_SIGNALS + SENT_SIGNALS };

static void record_guard_signals(struct sigaction *before)
{
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        record_set_signal_handler(terminal_signals[i], SIG_IGN, &before[i]);
    for (int i = 0; i < SENT_SIGNALS; i++)
        record_set_signal_handler(sent_signals[i], record_pass_on_signal, &before[TERMINAL_SIGNALS + i]);
}

static void record_unguard_signals(const struct sigaction *before)
{
    for (int i = 0; i < TERMINAL_SIGNALS; i++)
        sigaction(terminal_signals[i], &before[i], NULL);
    for (int i = 0; i < SENT_SIGNALS; i++)
        sigaction(sent_signals[i], &before[TERMINAL_SIGNALS + i], NULL);
}

/* Runs in the new process: as if the shell had started the program. */
static void __attribute__((noreturn)) record_run_program(const struct executable *e, char **argv, int report)
{
    execv(e->path, argv);
    int error = errno;
    if (error == ENOEXEC) { /* a script without a first line that names its interpreter */
        size_t count = 0;
        while (argv[count])
            count++;
        char **shell = need_memory(count + 2, sizeof *shell);
        shell[0] = "sh";
        shell[1] = e->path;
        memcpy(shell + 2, argv + 1, count * sizeof *shell);
        execv("/bin/sh", shell);
    }
    if (write(report, &error, sizeof error) < 0)
        _exit(STATUS_OWN_FAILURE);
    _exit(STATUS_NOT_EXECUTABLE);
}

/* Returns the wait status, or -1 and sets *error where the program could not be started. */
static int record_run_and_wait(const struct record_settings *s, const struct executable *e, pid_t *pid, int *error)
{
    int pipes[2];
    struct sigaction before[ALL_SIGNALS];
    sigset_t all, mask;
    if (pipe2(pipes, O_CLOEXEC) < 0)
        die(STATUS_OWN_FAILURE, "pipe: %s", strerror(errno));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask); /* nothing is lost between the fork and knowing the child */
    record_guard_signals(before);
    *pid = fork();
    if (*pid < 0)
        die(STATUS_OWN_FAILURE, "fork: %s", strerror(errno));
    if (*pid == 0) {
        record_unguard_signals(before);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        record_run_program(e, s->program, pipes[1]);
    }
    child = (sig_atomic_t)*pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(pipes[1]);
    bool failed = read(pipes[0], error, sizeof *error) == (ssize_t)sizeof *error;
    close(pipes[0]);
    int status;
    while (waitpid(*pid, &status, 0) < 0 && errno == EINTR)
        ;
    child = 0;
    record_unguard_signals(before);
    return failed ? -1 : status;
}

/* ---- the end of the session ---- */

struct record_outcome {
    uint64_t events, trace_events, lost, lost_trace_events, bytes;
    size_t threads, processes; /* that the runtime was in */
    uint32_t trouble;
};

static void record_complete_session(const struct session *session, int fd, const char *path, struct record_outcome *o)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    if (file) {
        struct scan scan = scan_counts(file);
        record_symbols(session, fd, file);
        o->events = scan.enters + scan.exits;
        o->trace_events = trace_events_count(file);
        o->threads = file->thread_count;
        for (size_t i = 0; i < file->process_count; i++)
            o->processes += file->processes[i].path[0] != '\0';
        session_file_close(file);
    } else {
        say("%s: %s", path, error);
    }
    finish_space(session, fd);
    struct stat status;
    if (fstat(fd, &status) == 0)
        o->bytes = (uint64_t)status.st_blocks * 512; /* on the disk: the file has holes */
    o->lost = session->header->lost_events;
    o->lost_trace_events = session->header->lost_trace_events;
    o->trouble = session->header->trouble;
}

static const char *record_size_text(char *text, size_t size, uint64_t number)
{
    static const char *const units[] = { "", " k", " M", " G", " T" };
    double value = (double)number;
    int unit = 0;
    for (; value >= 1000 && unit < 4; unit++)
        value /= 1000;
    snprintf(text, size, unit && value < 100 ? "%.1f%s" : "%.0f%s", value, units[unit]);
    return text;
}

static const char *record_loss_reason(uint32_t trouble)
{
    if (trouble & DWELL_TROUBLE_NO_SPACE)
        return "the disk is full, or a limit on file sizes was reached";
    if (trouble & DWELL_TROUBLE_NO_MEMORY)
        return "the system refused memory";
    if (trouble & DWELL_TROUBLE_NO_FILE)
        return "a process could not open the session file";
    if (trouble & DWELL_TROUBLE_REFUSED)
        return "the system refused a call that recording needs (a sandbox?)";
    return "the runtime could not say why";
}

static void record_report_outcome(const struct record_settings *s, const struct record_outcome *o)
{
    char events[32], bytes[32], lost[32];
    if (o->lost || o->trouble & (DWELL_TROUBLE_NO_FILE | DWELL_TROUBLE_REFUSED))
        say("%s events were lost: %s", record_size_text(lost, sizeof lost, o->lost), record_loss_reason(o->trouble));
    if (o->lost_trace_events)
        say("%s trace events were lost: %s", record_size_text(lost, sizeof lost, o->lost_trace_events),
            record_loss_reason(o->trouble));
    if (o->events == 0 && o->trace_events == 0 && !o->trouble) {
        if (o->processes && (filters_any(&s->filters) || s->paused))
            say("%s: nothing was recorded: %s", s->program[0],
                s->paused ? "it never called dwell_start, and nobody resumed it" : "the filters let nothing through");
        else if (o->processes)
            say("%s: nothing was recorded: no function of it is instrumented; compile it with -g -finstrument-functions",
                s->program[0]);
        else
            say("%s: nothing was recorded: the runtime was not loaded into it, or could not open the session file (is "
                "it setuid, does it clear its environment, or is it short of descriptors or memory?)",
                s->program[0]);
        return;
    }
    if (s->quiet)
        return;
    char said[48] = "", traced[32];
    if (o->trace_events)
        snprintf(said, sizeof said, "%s trace events, ", record_size_text(traced, sizeof traced, o->trace_events));
    say("%s events, %s%zu thread%s, %zu process%s, %sB in %s; see: dwell report%s%s",
        record_size_text(events, sizeof events, o->events), said, o->threads, o->threads == 1 ? "" : "s", o->processes,
        o->processes == 1 ? "" : "es", record_size_text(bytes, sizeof bytes, o->bytes), s->shared.output,
        strcmp(s->shared.output, DEFAULT_SESSION) == 0 ? "" : " ",
        strcmp(s->shared.output, DEFAULT_SESSION) == 0 ? "" : s->shared.output);
}

/* Ends as the program did, so that whoever waits for dwell sees no difference; the core is the program's. */
static int record_end_as_program(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    signal(WTERMSIG(status), SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static int record_remove_and_die(const char *path, const char *program, int error)
{
    unlink(path);
    die(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE, "%s: %s", program, strerror(error));
}

static const struct command_line line = {
    .name = "record",
    .arguments = "[--] PROGRAM [ARG...]",
    .text = "Runs PROGRAM and records the calls of its instrumented functions.\v"
            "PROGRAM must be compiled with -finstrument-functions, and with -g to know source lines. dwell ends as "
            "PROGRAM does, with its exit status or by its signal; 127: not found, 126: not executable, 125: dwell "
            "itself failed before it started.\n\n"
            "A PATTERN is a glob such as 'parse_*' or 'ns::Class::*' for the function's name with or without its "
            "parameters; 're:REGEX', an extended regular expression found in it; 'file:GLOB', the functions of a "
            "source file; 'module:GLOB', those of a program or library. 'GLOB!PATTERN' names both module and "
            "function.\n\nExamples:\n  dwell record ./prog arg\n"
            "  dwell record -o run.data --mode profile ./prog\n"
            "  dwell record --only 'parse_*' --suppress 'file:*/util.c' ./prog",
    .options = options,
    .parse = record_parse_option,
    .shared = shared,
    .program_follows = true,
};

int command_record(int argc, char **argv)
{
    struct record_settings s = { .shared.output = DEFAULT_SESSION };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    struct executable e = executable_examine(s.program[0]);
    if (e.status)
        die(e.status, "%s: %s", s.program[0], e.wrong);
    s.filters.os_calls = !s.no_os_calls;
    if (filters_any(&s.filters))
        filters_find(&s.filters, e.path);
    char *path = record_absolute_path(s.shared.output);
    struct session session;
    int fd = record_create_session(&session, path, s.shared.output);
    session.header->mode = s.mode;
    session.header->ring_size = s.ring_size;
    session.header->also = s.call_sites ? DWELL_ALSO_CALL_SITES : 0;
    if (filters_any(&s.filters) && !filters_write(&s.filters, &session, fd)) {
        unlink(path);
        die(STATUS_OWN_FAILURE, "%s: no room for the filters", s.shared.output);
    }
    record_prepare_environment(&s, &e, path);

    pid_t pid;
    int error = 0;
    int status = record_run_and_wait(&s, &e, &pid, &error);
    if (status == -1)
        return record_remove_and_die(path, s.program[0], error);
    bool killed = WIFSIGNALED(status);
    finish_process(&session, fd, (uint32_t)pid, killed ? DWELL_END_SIGNAL : DWELL_END_EXIT,
                   killed ? WTERMSIG(status) : WEXITSTATUS(status));
    finish_host(&session, fd);
    finish_clock(&session);
    struct record_outcome outcome = { 0 };
    record_complete_session(&session, fd, path, &outcome);
    record_report_outcome(&s, &outcome);
    close(fd);
    free(path);
    free(e.path);
    filters_free(&s.filters);
    free(s.events);
    return record_end_as_program(status);
}
