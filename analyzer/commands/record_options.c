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
#include "commands/features.h"
#include "recorder/event_settings.h"
#include "recorder/filter_patterns.h"
#include "recorder/sample_rate.h"

enum { RECORD_USUAL_OVERHEAD = 100 }; /* in thousandths */

#define MIN_MAX_SIZE (1ull << 20)
#define LONGEST_RECORDING (UINT64_C(365) * 86400 * 1000000000) /* nanoseconds */
#define MAX_SHARED_RING (8ull << 30)                           /* the chunks stay mapped */

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: dwell.data); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

static void record_read_mode(void *settings, const struct option_row *row, char *mode)
{
    struct record_settings *s = settings;
    (void)row;
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

static void record_read_signal(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    (void)row;
    char *end;
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    long number = strtol(text, &end, 10);
    if (*end || end == text)
        for (number = 1; number < SIGRTMIN; number++)
            if (sigabbrev_np((int)number) && strcmp(sigabbrev_np((int)number), name) == 0)
                break;
    if (number < 1 || number >= NSIG || number == SIGKILL || number == SIGSTOP || (number == SIGRTMIN && *end))
        die(STATUS_OWN_FAILURE, "--dump-on: '%s' is not a signal that a program can receive", text);
    s->dump_on = (int)number;
}

static void record_read_filter(void *settings, const struct option_row *row, char *value)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    char place[32];
    snprintf(place, sizeof place, "--%s", row->name);
    if (!filters_add(&s->filters, row->name, value, place, &error))
        die(STATUS_OWN_FAILURE, "%s", error.text);
}

static void record_read_filter_file(void *settings, const struct option_row *row, char *path)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!filters_read(&s->filters, path, &error))
        die(STATUS_OWN_FAILURE, "%s", error.text);
}

static void record_read_levels(void *settings, const struct option_row *row, char *path)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
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

static void record_add_event_setting(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    enum { LONGEST = 8000 }; /* the runtime's limit */
    struct error error = { NULL };
    char *setting = event_setting(text, "--event", &error), *both = NULL;
    (void)row;
    if (!setting)
        die(STATUS_OWN_FAILURE, "%s", error.text);
    if (!feature_is_built("events"))
        die(STATUS_OWN_FAILURE, "--event: this dwell was built without trace events");
    if (asprintf(&both, "%s%s%s", s->events ? s->events : "", s->events ? "," : "", setting) < 0)
        die(STATUS_OWN_FAILURE, "out of memory");
    if (strlen(both) > LONGEST)
        die(STATUS_OWN_FAILURE, "--event: too many classes; use * for all");
    free(setting);
    free(s->events);
    s->events = both;
}

static void record_read_monitor(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    const uint64_t ms = option_time("--monitor", text) / 1000000, hour = 3600000;
    (void)row;
    if (ms < 1 || ms > hour)
        die(STATUS_OWN_FAILURE, "--monitor: '%s' is not between 1ms and an hour", text);
    s->monitor = (unsigned long)ms;
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

static void record_read_rate(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    (void)row;
    s->sample_rate = record_parse_rate("--sample", text);
}

static void record_read_overhead(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    (void)row;
    s->overhead = record_parse_overhead("--overhead", text);
    s->overhead_asked = true;
}

/* Without the option: the budget of DWELL_OVERHEAD, or the usual one. A default yields to what it would change: counted
 * calls are not filtered by stack or duration, have no call sites, and no times without samples. */
static uint32_t record_usual_overhead(const struct record_settings *s)
{
    const char *wanted = getenv("DWELL_OVERHEAD");
    const uint32_t usual = wanted ? record_parse_overhead("DWELL_OVERHEAD", wanted) : RECORD_USUAL_OVERHEAD;
    const bool unsampled = s->mode != DWELL_MODE_PROFILE && s->sample_rate == 0;
    return unsampled || s->call_sites || s->filters.keep.count || filters_select_calls(&s->filters) ? 0 : usual;
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

static void record_read_keep_free(void *settings, const struct option_row *row, char *text)
{
    (void)row;
    record_parse_keep_free(settings, "--keep-free", text);
}

static void record_read_max_size(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    const char *comma = strchrnul(text, ',');
    (void)row;
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

static void record_read_keep_limit(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!keep_watches_limit(&s->filters.keep, text, "--keep-limit", &error))
        die(STATUS_OWN_FAILURE, "%s", error.text);
}

/* Windows of slow calls are kept of rings. */
static void record_check_keep(struct record_settings *s)
{
    struct keep_watches *keep = &s->filters.keep;
    if (!keep->count && (keep->usual || keep->most || keep->others || s->on_keep))
        die(STATUS_OWN_FAILURE,
            "--keep-usual, --keep-limit, --keep-others and --on-keep are for --keep 'FUNCTION>TIME'");
    if (s->on_keep && !strstr(s->on_keep, "{}"))
        die(STATUS_OWN_FAILURE, "--on-keep: '%s' has no {}, where the name of a window's file is to be", s->on_keep);
    if (!keep->count)
        return;
    keep->newest = s->shared_ring; /* each thread has a ring of its own */
    s->shared_ring = false;
    if (s->mode == DWELL_MODE_PROFILE)
        die(STATUS_OWN_FAILURE, "--keep: mode profile has no single calls; use --mode ring=SIZE");
    if (s->mode == DWELL_MODE_TRACE)
        s->ring_size = DWELL_RING_USUAL;
    s->mode = DWELL_MODE_RING;
}

static void record_read_values(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!planned_values_add(&s->values, text, &error))
        die(STATUS_OWN_FAILURE, "--values: %s", error.text);
}

static void record_read_calls_to(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!planned_calls_add(&s->calls, text, &error))
        die(STATUS_OWN_FAILURE, "--calls-to: %s", error.text);
}

void record_check_options(void *settings)
{
    struct record_settings *s = settings;
    record_check_keep(s);
    if (s->shared_ring && s->mode != DWELL_MODE_TRACE)
        die(STATUS_OWN_FAILURE, "--max-size: ring is for --mode trace; use --max-size SIZE");
    if (s->shared_ring)
        s->mode = DWELL_MODE_RING;
    s->filters.hidden_out |= s->overhead_asked && s->overhead;
    if (s->mode == DWELL_MODE_PROFILE && filters_wait(&s->filters))
        die(STATUS_OWN_FAILURE, "%s: mode profile counts every call; use --mode trace or ring",
            filters_have_targets(&s->filters) ? "--callers-of" : "--min");
    if (s->mode != DWELL_MODE_PROFILE && s->filters.actions & DWELL_FILTER_HISTOGRAM)
        die(STATUS_OWN_FAILURE, "--histogram is for --mode profile; modes trace and ring have percentiles without it");
    if (!s->overhead_asked)
        s->overhead = record_usual_overhead(s);
    if (s->sample_rate < 0)
        s->sample_rate = record_usual_rate(s);
    if (!s->keep_free && getenv("DWELL_KEEP_FREE"))
        record_parse_keep_free(s, "DWELL_KEEP_FREE", getenv("DWELL_KEEP_FREE"));
    if (s->values.many && !s->values.count)
        die(STATUS_OWN_FAILURE, "--values-many is for --values FUNCTION");
    if (s->values.text_bytes && !s->values.count)
        die(STATUS_OWN_FAILURE, "--values-text is for --values FUNCTION");
    s->values.sums = s->mode == DWELL_MODE_PROFILE;
    if (filters_have_targets(&s->filters) && (s->filters.shortest_ns || s->filters.time_count))
        die(STATUS_OWN_FAILURE, "--min has no effect on --callers-of; use one of them");
    if (s->every && s->mode != DWELL_MODE_PROFILE)
        die(STATUS_OWN_FAILURE, "--every: only mode profile has sums while the program runs; use --mode profile");
    if (!s->push && (s->every || s->labels.count || s->spool))
        die(STATUS_OWN_FAILURE, "--every, --label and --spool are for --push URL");
    if (!s->program)
        die(STATUS_OWN_FAILURE, "record: which PROGRAM? See dwell record --help");
}

static void record_add_label(void *settings, const struct option_row *row, char *text)
{
    struct record_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    if (!fleet_labels_add(&s->labels, text, &error))
        die(STATUS_OWN_FAILURE, "--label: %s", error.text);
}

void record_forward(void *settings, const struct option_row *row, const char *argument)
{
    struct record_settings *s = settings;
    if (strcmp(row->name, "runs") == 0)
        return;
    GROW(s->forwarded, s->forwarded_count, s->forwarded_room);
    s->forwarded[s->forwarded_count++] =
        need_text("--%s%s%s", row->name, argument ? "=" : "", argument ? argument : "");
}

static const struct option_word event_sources[] = { { "auto", 0 }, { "perf", 0 }, { "syscalls", 0 },
                                                    { "rseq", 0 }, { "none", 0 }, { NULL, 0 } };
static const struct option_word clocks[] = { { "auto", 0 }, { "ordered", 0 }, { "monotonic", 0 }, { NULL, 0 } };
static const struct option_word modes[] = { { "trace", 0 }, { "profile", 0 }, { "ring", 0 }, { NULL, 0 } };

const struct option_row record_own_options[] = {
    { "quiet", NULL, "Print nothing at the end unless something was lost", STORE_FLAG(struct record_settings, quiet),
      .letter = 'q' },
    { "runs", "N", "Record N runs of the program, each to a session of its own: FILE-1.data, FILE-2.data, ...",
      STORE_NUMBER(struct record_settings, runs, 1, 10000, "a number from 1 to 10000") },
    { "for", "TIME", "Record for that long (10s, 8h); PROGRAM then goes on without being recorded",
      STORE_DURATION(struct record_settings, record_for, 1000000, LONGEST_RECORDING, "between 1ms and a year") },
    { "wait-all", NULL, "Go on until the last recorded process has ended, not only PROGRAM: for daemons",
      STORE_FLAG(struct record_settings, wait_all) },
    { "os-events", "SOURCE",
      "How to learn what the operating system did: auto (default), perf, syscalls (perf, and every system call: for "
      "root), rseq or none",
      STORE_WORD(struct record_settings, os_events, event_sources) },
    { "no-os-calls", NULL,
      "No rows for calls of the operating system (read, poll, nanosleep, pthread_cond_wait ...): their time counts for "
      "their callers",
      STORE_FLAG(struct record_settings, no_os_calls) },
    { "call-sites", NULL,
      "Record where each call is made, so that reports can show times by source line; a call takes 12 bytes instead of "
      "8",
      STORE_FLAG(struct record_settings, call_sites) },
    { "no-follow", NULL, "Record only PROGRAM, not the processes that it starts",
      STORE_FLAG(struct record_settings, no_follow) },
    { "mode", "MODE",
      "What to keep: trace (default): every interval; profile: sums by call path, so that the file does not grow with "
      "the run; ring[=SIZE]: the last SIZE bytes of each thread (default: 4M)",
      READ_BY(record_read_mode), .words = modes },
    { "keep", "PATTERN>LIMIT",
      "Keep only what happens around slow calls: those of these functions that take longer than a time (20ms), a "
      "percentile of the calls so far (p99) or a multiple of their mean (5xmean), with all threads of their process; "
      "also of activities (marker:WHAT, activity:CLASS); may be repeated; needs mode ring, which is the default then",
      READ_BY(record_read_filter) },
    { "keep-around", "TIME", "With --keep: what to keep before and after each slow call (default: up to 5ms)",
      STORE_DURATION(struct record_settings, filters.keep.around_ns, 0, UINT64_C(60000000000), "at most 60s") },
    { "keep-others", NULL, "With --keep: windows have all processes of the recording, not only that of the slow call",
      STORE_FLAG(struct record_settings, filters.keep.others) },
    { "keep-usual", "N", "With --keep: of the calls that are not slow, keep one in N to compare; see dwell why",
      STORE_NUMBER(struct record_settings, filters.keep.usual, 1, 1000000000, "a number from 1 to 1000000000") },
    { "keep-limit", "N/UNIT", "With --keep: keep at most N slow calls in each s, min, h or day (10/min)",
      READ_BY(record_read_keep_limit) },
    { "on-keep", "COMMAND",
      "With --keep: run this shell command for each slow call that is kept, at most 4 at once; {} is a session file of "
      "its window, which is removed when the command ends ('dwell why parse {} >>slow.txt')",
      STORE_TEXT(struct record_settings, on_keep) },
    { "calls-to", "PATTERN",
      "Record calls of instrumented code to these functions, which have no probes of their own: of libraries, or linked "
      "into the program (qsort, 'libz.so*!*', module:libcrypto*); may be repeated",
      READ_BY(record_read_calls_to) },
    { "calls-to-all", NULL, "Record calls of instrumented code to all functions of libraries",
      STORE_FLAG(struct record_settings, calls.all) },
    { "values", "FUNCTION[:WHAT]",
      "Record values of this function's calls, so that dwell values can show times by value: WHAT is a parameter (n), "
      "a part of one (req->len, *p, name[0]), or several (n,req->len), or return, default: all that can be read; may be "
      "repeated",
      READ_BY(record_read_values) },
    { "values-many", NULL, "With --values: a pattern may name more than 20 functions; values can be secrets",
      STORE_FLAG(struct record_settings, values.many) },
    { "values-text", "N", "With --values: keep N bytes of each text, 1 to 1024 (default: 64)",
      STORE_NUMBER(struct record_settings, values.text_bytes, 1, DWELL_VALUES_TEXT_MOST, "a number from 1 to 1024") },
    { "dump-on", "SIGNAL",
      "Write what was recorded until then to FILE.dump whenever PROGRAM gets this signal (USR2, or a number); PROGRAM "
      "must not use the signal itself",
      READ_BY(record_read_signal) },
    { "monitor", "TIME", "Sample the use of CPU and memory of each process every TIME (100ms)",
      READ_BY(record_read_monitor) },
    { "overhead", "PERCENT",
      "Keep the time of the probes and samples at PERCENT of the program's own CPU time (1 to 1000, default: 10): "
      "functions with the shortest calls are only counted, and samples say where their time goes; none: all calls are "
      "timed",
      READ_BY(record_read_overhead) },
    { "sample", "HZ",
      "Sample each thread HZ times a second of its CPU time (1 to 10000; 0: never), to know where the time of functions "
      "goes that are not timed; default: as many as half of the budget (--overhead) allows, but 0 in mode profile; "
      "without a budget 1000 with --level or --levels-from, and else 0",
      READ_BY(record_read_rate) },
    { "max-size", "SIZE",
      "Record until FILE has SIZE bytes (500M, 2G); PROGRAM goes on, and what is not recorded is counted; SIZE,ring: "
      "from then on, threads replace the oldest events, or with --keep the oldest windows, by new ones",
      READ_BY(record_read_max_size) },
    { "keep-free", "SIZE",
      "Record only while SIZE bytes of the disk are free, 0: as long as there are any (default: 5 % of the disk, at "
      "most 1G)",
      READ_BY(record_read_keep_free) },
    { "clock", "CLOCK",
      "What the probes read: auto (default): the CPU's counter; ordered: the same after all earlier instructions, "
      "slower, but right for functions of a few nanoseconds; monotonic: CLOCK_MONOTONIC",
      STORE_WORD(struct record_settings, clock, clocks) },
    { "paused", NULL, "Do not record until the program calls dwell_start, or dwell control resumes it",
      STORE_FLAG(struct record_settings, paused) },
    { "event", "CLASS[:LEVEL]",
      "Record trace events of this class (a name, a GUID, or * for all) up to LEVEL (0 to 255, or critical, error, "
      "warning, information, verbose; default: 255); may be repeated, the last one that fits decides",
      READ_BY(record_add_event_setting) },
    { "push", "URL",
      "At the end, send the sums of the session to this ClickHouse server, as dwell fleet push does; -: to that of "
      "DWELL_FLEET_URL or ~/.config/dwell/fleet, where user, password and ca are",
      STORE_TEXT(struct record_settings, push) },
    { "every", "TIME", "With --push and --mode profile: send what was added in each TIME (60s), while PROGRAM runs",
      STORE_DURATION(struct record_settings, every, 100000000, 86400000000000, "between 100ms and a day") },
    { "label", "KEY=VALUE", "With --push: what to know the run by; may be repeated", READ_BY(record_add_label) },
    { "spool", "DIR",
      "With --push: where sums wait that the server has not taken (default: a folder in ~/.local/state/dwell/spool)",
      STORE_TEXT(struct record_settings, spool) },
    { "spool-limit", "SIZE", "With --push: drop the oldest sums when DIR has more than SIZE (default: 1G)",
      STORE_SIZE(struct record_settings, spool_limit, 0, UINT64_MAX / 4, "a number of bytes, such as 500M or 2G") },
    { .help = "Filters, which may be repeated (PATTERN: see below):", .kind = OPTION_HEADING },
    { "only", "PATTERN", "Record only these functions", READ_BY(record_read_filter) },
    { "suppress", "PATTERN", "Do not record these: their time counts for their callers", READ_BY(record_read_filter) },
    { "ignore", "PATTERN", "Do not record these and all that they call: their time is discarded",
      READ_BY(record_read_filter) },
    { "root", "PATTERN", "Record only these and what they call", READ_BY(record_read_filter) },
    { "callers-of", "PATTERN", "Record only these and the calls that lead to them; not in mode profile",
      READ_BY(record_read_filter) },
    { "start-on", "PATTERN", "Record nothing until one of these is entered", READ_BY(record_read_filter) },
    { "stop-on", "PATTERN", "Record nothing more once one of these is entered, until --start-on starts it again",
      READ_BY(record_read_filter) },
    { "depth", "[PATTERN=]N",
      "Suppress calls that are deeper than N; with PATTERN: that are more than N levels below one of these",
      READ_BY(record_read_filter) },
    { "min", "[PATTERN=]TIME",
      "Suppress calls that took less time (500ns, 10us, 1ms); with PATTERN: of these, and below them; not in mode "
      "profile",
      READ_BY(record_read_filter) },
    { "min-duration", "[PATTERN=]TIME", "The same as --min", READ_BY(record_read_filter) },
    { "histogram", "PATTERN",
      "With --mode profile: count how long each call of these takes, so that they have percentiles: --columns +p99",
      READ_BY(record_read_filter) },
    { "min-size", "BYTES", "Suppress functions with less code", READ_BY(record_read_filter) },
    { "level", "LEVEL=PATTERN",
      "LEVEL is counted: only count the calls of these functions; or out: their calls are not recorded and cost nothing. Their "
      "time counts for their callers. Or timed: as usual, whatever --levels-from says",
      READ_BY(record_read_filter) },
    { "levels-from", "SESSION",
      "Begin with the levels that functions had at the end of that recording; the budget goes on from there, and "
      "--level has precedence",
      READ_BY(record_read_levels) },
    { "filter-file", "FILE",
      "Read filters from FILE: one a line, as here without the dashes; lines that begin with # are comments",
      READ_BY(record_read_filter_file) },
    { "no-hidden-probes", NULL,
      "Take the probes of functions that --only and --suppress hide out of the code, so that they cost nothing; "
      "application times of their callers become less, and page faults may be missing; an --overhead does the same",
      STORE_FLAG(struct record_settings, filters.hidden_out) },
    { "strict-filters", NULL, "Do not start PROGRAM if a PATTERN matches no function of it or its libraries",
      STORE_FLAG(struct record_settings, filters.strict) },
    { TAKE_PROGRAM(struct record_settings, program) },
    { 0 },
};

static const struct command_line line = {
    .name = "record",
    .daily = "output quiet for mode overhead max-size call-sites runs only suppress",
    .arguments = "[--] PROGRAM [ARG...]",
    .text =
        "Runs PROGRAM and records the calls of its instrumented functions.\v"
        "PROGRAM must be compiled with dwell cc (dwell cc -g -O2 prog.c -o prog) or -finstrument-functions, and with -g "
        "to know source lines. dwell ends as "
        "PROGRAM does, with its exit status or by its signal; 127: not found, 126: not executable, 125: dwell "
        "itself failed before it started.\n\n"
        "A PATTERN is a glob such as 'parse_*' or 'ns::Class::*' for the function's name with or without its "
        "return type and parameters; 're:REGEX', an extended regular expression found in it; 'file:GLOB', the functions of a "
        "source file; 'module:GLOB', those of a program or library. 'GLOB!PATTERN' names both module and "
        "function.\n\nExamples:\n  dwell record ./prog arg\n"
        "  dwell record -o run.data --mode profile ./prog\n"
        "  dwell record --only 'parse_*' --suppress 'file:*/util.c' ./prog",
    .options = record_own_options,
    .before = record_forward,
    .check = record_check_options,
    .shared = shared,
    .program_follows = true,
};

void record_options_parse(struct record_settings *settings, int argc, char **argv)
{
    struct shared_options common = { .output = DEFAULT_SESSION };
    *settings = (struct record_settings){
        .sample_rate = -1,
        .runs = 1,
        .spool_limit = UINT64_C(1) << 30,
        .filters.keep.around_ns = KEEP_USUAL_AROUND,
    };
    command_line_parse(&line, argc, argv, settings, &common);
    settings->output = common.output;
    shared_options_drop(&common);
}
