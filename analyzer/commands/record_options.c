/* Parses and checks the options of `dwell record`. */
#include "commands/record_options.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/event_settings.h"
#include "recorder/filter_patterns.h"
#include "recorder/sample_rate.h"

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
    OPTION_MIN_SIZE,
    OPTION_ROOT,
    OPTION_CALLERS_OF,
    OPTION_LEVEL,
    OPTION_LEVELS_FROM,
    OPTION_NO_FOLLOW,
    OPTION_NO_OS_CALLS,
    OPTION_DUMP_ON,
    OPTION_MONITOR,
    OPTION_EVENT,
    OPTION_CLOCK,
    OPTION_CALL_SITES,
    OPTION_STRICT_FILTERS,
    OPTION_NO_HIDDEN_PROBES,
    OPTION_MAX_SIZE,
    OPTION_KEEP_FREE,
    OPTION_SAMPLE,
    OPTION_OVERHEAD,
    OPTION_RUNS,
    OPTION_WAIT_ALL,
    OPTION_FOR,
    OPTION_PUSH,
    OPTION_EVERY,
    OPTION_LABEL,
    OPTION_SPOOL,
    OPTION_SPOOL_LIMIT,
};

enum { RECORD_USUAL_OVERHEAD = 100 }; /* in thousandths */

#define MIN_MAX_SIZE (1ull << 20)
#define MAX_SHARED_RING (8ull << 30) /* the chunks stay mapped */

const struct argp_option record_own_options[] = {
    { "quiet", 'q', NULL, 0, "Print nothing at the end unless something was lost", 0 },
    { "runs", OPTION_RUNS, "N", 0,
      "Record N runs of the program, each to a session of its own: FILE-1.data, FILE-2.data, ...", 0 },
    { "for", OPTION_FOR, "TIME", 0, "Record for that long (10s); PROGRAM then goes on without being recorded", 0 },
    { "wait-all", OPTION_WAIT_ALL, NULL, 0,
      "Go on until the last recorded process has ended, not only PROGRAM: for daemons", 0 },
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
    { "overhead", OPTION_OVERHEAD, "PERCENT", 0,
      "Keep the time of the probes and samples at PERCENT of the program's own CPU time (1 to 1000, default: 10): "
      "functions with the shortest calls are only counted, and samples say where their time goes; none: all calls are "
      "timed",
      0 },
    { "sample", OPTION_SAMPLE, "HZ", 0,
      "Sample each thread HZ times a second of its CPU time (1 to 10000; 0: never), to know where the time of functions "
      "goes that are not timed; default: as many as half of the budget (--overhead) allows, but 0 in mode profile; "
      "without a budget 1000 with --level or --levels-from, and else 0",
      0 },
    { "max-size", OPTION_MAX_SIZE, "SIZE", 0,
      "Record until FILE has SIZE bytes (500M, 2G); PROGRAM goes on, and what is not recorded is counted; SIZE,ring: "
      "from then on, threads replace the oldest events by new ones",
      0 },
    { "keep-free", OPTION_KEEP_FREE, "SIZE", 0,
      "Record only while SIZE bytes of the disk are free, 0: as long as there are any (default: 5 % of the disk, at "
      "most 1G)",
      0 },
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
    { "push", OPTION_PUSH, "URL", 0,
      "At the end, send the sums of the session to this ClickHouse server, as dwell fleet push does; -: to that of "
      "DWELL_FLEET_URL or ~/.config/dwell/fleet, where user, password and ca are",
      0 },
    { "every", OPTION_EVERY, "TIME", 0,
      "With --push and --mode profile: send what was added in each TIME (60s), while PROGRAM runs", 0 },
    { "label", OPTION_LABEL, "KEY=VALUE", 0, "With --push: what to know the run by; may be repeated", 0 },
    { "spool", OPTION_SPOOL, "DIR", 0,
      "With --push: where sums wait that the server has not taken (default: a folder in ~/.local/state/dwell/spool)",
      0 },
    { "spool-limit", OPTION_SPOOL_LIMIT, "SIZE", 0,
      "With --push: drop the oldest sums when DIR has more than SIZE (default: 1G)", 0 },
    { NULL, 0, NULL, 0, "Filters, which may be repeated (PATTERN: see below):", 1 },
    { "only", OPTION_ONLY, "PATTERN", 0, "Record only these functions", 1 },
    { "suppress", OPTION_SUPPRESS, "PATTERN", 0, "Do not record these: their time counts for their callers", 1 },
    { "ignore", OPTION_IGNORE, "PATTERN", 0, "Do not record these and all that they call: their time is discarded", 1 },
    { "root", OPTION_ROOT, "PATTERN", 0, "Record only these and what they call", 1 },
    { "callers-of", OPTION_CALLERS_OF, "PATTERN", 0,
      "Record only these and the calls that lead to them; not in mode profile", 1 },
    { "start-on", OPTION_START_ON, "PATTERN", 0, "Record nothing until one of these is entered", 1 },
    { "stop-on", OPTION_STOP_ON, "PATTERN", 0,
      "Record nothing more once one of these is entered, until --start-on starts it again", 1 },
    { "depth", OPTION_DEPTH, "[PATTERN=]N", 0,
      "Suppress calls that are deeper than N; with PATTERN: that are more than N levels below one of these", 1 },
    { "min", OPTION_MIN, "[PATTERN=]TIME", 0,
      "Suppress calls that took less time (500ns, 10us, 1ms); with PATTERN: of these, and below them; not in mode "
      "profile",
      1 },
    { "min-duration", OPTION_MIN, "[PATTERN=]TIME", 0, "The same as --min", 1 },
    { "min-size", OPTION_MIN_SIZE, "BYTES", 0, "Suppress functions with less code", 1 },
    { "level", OPTION_LEVEL, "LEVEL=PATTERN", 0,
      "LEVEL is counted: only count the calls of these functions; or out: their calls are not recorded and cost nothing. Their "
      "time counts for their callers. Or timed: as usual, whatever --levels-from says",
      1 },
    { "levels-from", OPTION_LEVELS_FROM, "SESSION", 0,
      "Begin with the levels that functions had at the end of that recording; the budget goes on from there, and "
      "--level has precedence",
      1 },
    { "filter-file", OPTION_FILTER_FILE, "FILE", 0,
      "Read filters from FILE: one a line, as here without the dashes; lines that begin with # are comments", 1 },
    { "no-hidden-probes", OPTION_NO_HIDDEN_PROBES, NULL, 0,
      "Take the probes of functions that --only and --suppress hide out of the code, so that they cost nothing; "
      "application times of their callers become less, and page faults may be missing; an --overhead does the same",
      1 },
    { "strict-filters", OPTION_STRICT_FILTERS, NULL, 0,
      "Do not start PROGRAM if a PATTERN matches no function of it or its libraries", 1 },
    { 0 },
};

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: dwell.data); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

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
        s->ring_size = (uint32_t)option_size("--mode ring", mode + 5, DWELL_RING_MIN, DWELL_RING_MAX,
                                             "a number of bytes from 64K to 1G");
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
        die(STATUS_OWN_FAILURE, "--dump-on: '%s' is not a signal that a program can receive", text);
    return (int)number;
}

static const char *record_option_name(int key)
{
    for (const struct argp_option *o = record_own_options; o->name || o->doc; o++)
        if (o->key == key)
            return o->name;
    return "";
}

static void record_parse_filter(struct record_settings *s, int key, const char *value)
{
    char place[32];
    snprintf(place, sizeof place, "--%s", record_option_name(key));
    struct error error = { NULL };
    const bool good = key == OPTION_FILTER_FILE
                          ? filters_read(&s->filters, value, &error)
                          : filters_add(&s->filters, record_option_name(key), value, place, &error);
    if (!good)
        die(STATUS_OWN_FAILURE, "%s", error.text);
}

static void record_read_levels(struct record_settings *s, const char *path)
{
    struct error error = { NULL };
    earlier_levels_free(s->filters.earlier);
    s->filters.earlier = earlier_levels_read(path, &error);
    if (!s->filters.earlier)
        die(STATUS_OWN_FAILURE, "--levels-from: %s", error.text);
    if (earlier_levels_count(s->filters.earlier))
        return;
    say("--levels-from: %s: all functions were timed at its end", path);
    earlier_levels_free(s->filters.earlier);
    s->filters.earlier = NULL;
}

static void record_add_event_setting(struct record_settings *s, const char *text)
{
    enum { LONGEST = 8000 }; /* the runtime's limit */
    struct error error = { NULL };
    char *setting = event_setting(text, "--event", &error), *both = NULL;
    if (!setting)
        die(STATUS_OWN_FAILURE, "%s", error.text);
    if (asprintf(&both, "%s%s%s", s->events ? s->events : "", s->events ? "," : "", setting) < 0)
        die(STATUS_OWN_FAILURE, "out of memory");
    if (strlen(both) > LONGEST)
        die(STATUS_OWN_FAILURE, "--event: too many classes; use * for all");
    free(setting);
    free(s->events);
    s->events = both;
}

/* Milliseconds. */
static unsigned long record_parse_monitor(const char *text)
{
    const uint64_t ms = option_time("--monitor", text) / 1000000, hour = 3600000;
    if (ms < 1 || ms > hour)
        die(STATUS_OWN_FAILURE, "--monitor: '%s' is not between 1ms and an hour", text);
    return (unsigned long)ms;
}

static uint64_t record_parse_for(const char *text)
{
    const uint64_t ns = option_time("--for", text), least = 1000000, most = UINT64_C(365) * 86400 * 1000000000;
    if (ns < least || ns > most)
        die(STATUS_OWN_FAILURE, "--for: '%s' is not between 1ms and a year", text);
    return ns;
}

static int record_parse_rate(const char *option, const char *text)
{
    char *end;
    const unsigned long rate = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || rate > SAMPLE_MAX_RATE)
        die(STATUS_OWN_FAILURE, "%s: '%s' is not a number from 0 to %d", option, text, SAMPLE_MAX_RATE);
    return (int)rate;
}

static uint32_t record_parse_overhead(const char *option, const char *text)
{
    return strcmp(text, "none") == 0 ? 0 : option_overhead(option, text);
}

/* Without the option: the budget of DWELL_OVERHEAD, or the usual one. A default yields to what it would change: counted
 * calls are not filtered by stack or duration, have no call sites, and no times without samples. */
static uint32_t record_usual_overhead(const struct record_settings *s)
{
    const char *wanted = getenv("DWELL_OVERHEAD");
    const uint32_t usual = wanted ? record_parse_overhead("DWELL_OVERHEAD", wanted) : RECORD_USUAL_OVERHEAD;
    const bool unsampled = s->mode != DWELL_MODE_PROFILE && s->sample_rate == 0;
    return unsampled || s->call_sites || filters_select_calls(&s->filters) ? 0 : usual;
}

/* Without the option: samples say where the time of functions goes that are not timed. Returns a negative number if the
 * budget decides. */
static int record_usual_rate(const struct record_settings *s)
{
    const char *wanted = getenv("DWELL_SAMPLE");
    if (s->mode == DWELL_MODE_PROFILE) /* its files are small */
        return 0;
    if (wanted)
        return record_parse_rate("DWELL_SAMPLE", wanted);
    if (s->overhead)
        return -1;
    return filters_have_levels(&s->filters) ? SAMPLE_USUAL_RATE : 0;
}

static void record_parse_keep_free(struct record_settings *s, const char *option, const char *text)
{
    free(s->keep_free);
    s->keep_free =
        need_text("%" PRIu64, option_size(option, text, 0, UINT64_MAX / 4, "a number of bytes, such as 500M or 2G"));
}

static void record_parse_max_size(struct record_settings *s, const char *text)
{
    const char *comma = strchrnul(text, ',');
    char *size = need_copy(text, (size_t)(comma - text));
    s->shared_ring = strcmp(comma, ",ring") == 0;
    if (*comma && !s->shared_ring)
        option_refuse("--max-size", comma + 1, "ring");
    s->max_size =
        s->shared_ring
            ? option_size("--max-size", size, MIN_MAX_SIZE, MAX_SHARED_RING, "a number of bytes from 1M to 8G")
            : option_size("--max-size", size, MIN_MAX_SIZE, UINT64_MAX / 2, "a number of bytes from 1M on");
    free(size);
}

static void record_check_settings(struct record_settings *s)
{
    if (s->shared_ring && s->mode != DWELL_MODE_TRACE)
        die(STATUS_OWN_FAILURE, "--max-size: ring is for --mode trace; use --max-size SIZE");
    if (s->shared_ring)
        s->mode = DWELL_MODE_RING;
    s->filters.hidden_out |= s->overhead_asked && s->overhead;
    if (s->mode == DWELL_MODE_PROFILE && filters_wait(&s->filters))
        die(STATUS_OWN_FAILURE, "%s: mode profile counts every call; use --mode trace or ring",
            filters_have_targets(&s->filters) ? "--callers-of" : "--min");
    if (!s->overhead_asked)
        s->overhead = record_usual_overhead(s);
    if (s->sample_rate < 0)
        s->sample_rate = record_usual_rate(s);
    if (!s->keep_free && getenv("DWELL_KEEP_FREE"))
        record_parse_keep_free(s, "DWELL_KEEP_FREE", getenv("DWELL_KEEP_FREE"));
    if (filters_have_targets(&s->filters) && (s->filters.shortest_ns || s->filters.time_count))
        die(STATUS_OWN_FAILURE, "--min has no effect on --callers-of; use one of them");
    if (s->every && s->mode != DWELL_MODE_PROFILE)
        die(STATUS_OWN_FAILURE, "--every: only mode profile has sums while the program runs; use --mode profile");
    if (!s->push && (s->every || s->labels.count || s->spool))
        die(STATUS_OWN_FAILURE, "--every, --label and --spool are for --push URL");
    if (!s->program)
        die(STATUS_OWN_FAILURE, "record: which PROGRAM? See dwell record --help");
}

static unsigned record_parse_runs(const char *text)
{
    enum { MAX_RUNS = 10000 };
    const unsigned long runs = option_number("--runs", text);
    if (runs < 1 || runs > MAX_RUNS)
        die(STATUS_OWN_FAILURE, "--runs: '%s' is not a number from 1 to %d", text, MAX_RUNS);
    return (unsigned)runs;
}

/* Keeps the option for the recordings of several runs. */
static void record_forward(struct record_settings *s, int key, const char *argument)
{
    const char *name = key == ARGP_KEY_ARG ? "" : record_option_name(key); /* headings have that key, and no name */
    if (!*name || key == OPTION_RUNS)
        return;
    GROW(s->forwarded, s->forwarded_count, s->forwarded_room);
    s->forwarded[s->forwarded_count++] = need_text("--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
}

static uint64_t record_parse_every(const char *text)
{
    const uint64_t ns = option_time("--every", text), least = 100000000, most = UINT64_C(86400000000000);
    if (ns < least || ns > most)
        die(STATUS_OWN_FAILURE, "--every: '%s' is not between 100ms and a day", text);
    return ns;
}

static void record_add_label(struct record_settings *s, const char *text)
{
    struct error error = { NULL };
    if (!fleet_labels_add(&s->labels, text, &error))
        die(STATUS_OWN_FAILURE, "--label: %s", error.text);
}

/* The options of record_push.h. */
static error_t record_parse_push_option(struct record_settings *s, int key, const char *argument)
{
    switch (key) {
    case OPTION_PUSH:
        s->push = argument;
        return 0;
    case OPTION_EVERY:
        s->every = record_parse_every(argument);
        return 0;
    case OPTION_LABEL:
        record_add_label(s, argument);
        return 0;
    case OPTION_SPOOL:
        s->spool = argument;
        return 0;
    case OPTION_SPOOL_LIMIT:
        s->spool_limit =
            option_size("--spool-limit", argument, 0, UINT64_MAX / 4, "a number of bytes, such as 500M or 2G");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t record_parse_option(int key, char *argument, struct argp_state *state)
{
    struct record_settings *s = state->input;
    record_forward(s, key, argument);
    switch (key) {
    case OPTION_RUNS:
        s->runs = record_parse_runs(argument);
        return 0;
    case 'q':
        s->quiet = true;
        return 0;
    case OPTION_WAIT_ALL:
        s->wait_all = true;
        return 0;
    case OPTION_FOR:
        s->record_for = record_parse_for(argument);
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
        option_check("--os-events", argument, "auto, perf, syscalls, rseq, none");
        s->os_events = argument;
        return 0;
    case OPTION_OVERHEAD:
        s->overhead = record_parse_overhead("--overhead", argument);
        s->overhead_asked = true;
        return 0;
    case OPTION_SAMPLE:
        s->sample_rate = record_parse_rate("--sample", argument);
        return 0;
    case OPTION_MAX_SIZE:
        record_parse_max_size(s, argument);
        return 0;
    case OPTION_KEEP_FREE:
        record_parse_keep_free(s, "--keep-free", argument);
        return 0;
    case OPTION_CLOCK:
        option_check("--clock", argument, "auto, ordered, monotonic");
        s->clock = argument;
        return 0;
    case OPTION_MODE:
        record_parse_mode(s, argument);
        return 0;
    case OPTION_LEVELS_FROM:
        record_read_levels(s, argument);
        return 0;
    case OPTION_NO_HIDDEN_PROBES:
        s->filters.hidden_out = true;
        return 0;
    case OPTION_STRICT_FILTERS:
        s->filters.strict = true;
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
        s->monitor = record_parse_monitor(argument);
        return 0;
    case OPTION_FILTER_FILE:
    case OPTION_ONLY:
    case OPTION_SUPPRESS:
    case OPTION_IGNORE:
    case OPTION_START_ON:
    case OPTION_STOP_ON:
    case OPTION_DEPTH:
    case OPTION_MIN:
    case OPTION_MIN_SIZE:
    case OPTION_ROOT:
    case OPTION_CALLERS_OF:
    case OPTION_LEVEL:
        record_parse_filter(s, key, argument);
        return 0;
    case ARGP_KEY_ARG:
        s->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        record_check_settings(s);
        return 0;
    default:
        return record_parse_push_option(s, key, argument);
    }
}

static const struct command_line line = {
    .name = "record",
    .daily = "output quiet for mode overhead max-size call-sites runs only suppress",
    .arguments = "[--] PROGRAM [ARG...]",
    .text =
        "Runs PROGRAM and records the calls of its instrumented functions.\v"
        "PROGRAM must be compiled with -finstrument-functions, and with -g to know source lines. dwell ends as "
        "PROGRAM does, with its exit status or by its signal; 127: not found, 126: not executable, 125: dwell "
        "itself failed before it started.\n\n"
        "A PATTERN is a glob such as 'parse_*' or 'ns::Class::*' for the function's name with or without its "
        "return type and parameters; 're:REGEX', an extended regular expression found in it; 'file:GLOB', the functions of a "
        "source file; 'module:GLOB', those of a program or library. 'GLOB!PATTERN' names both module and "
        "function.\n\nExamples:\n  dwell record ./prog arg\n"
        "  dwell record -o run.data --mode profile ./prog\n"
        "  dwell record --only 'parse_*' --suppress 'file:*/util.c' ./prog",
    .options = record_own_options,
    .parse = record_parse_option,
    .shared = shared,
    .program_follows = true,
};

void record_options_parse(struct record_settings *settings, int argc, char **argv)
{
    struct shared_options common = { .output = DEFAULT_SESSION };
    *settings = (struct record_settings){ .sample_rate = -1, .runs = 1, .spool_limit = UINT64_C(1) << 30 };
    command_line_parse(&line, argc, argv, settings, &common);
    settings->output = common.output;
    shared_options_drop(&common);
}
