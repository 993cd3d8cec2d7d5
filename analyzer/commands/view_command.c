/* dwell view: reads its options, and writes sessions as an HTML page to a file or serves the page. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "report/answer.h"
#include "report/text_summary.h"
#include "trace/raw_session.h"
#include "view/browser.h"
#include "view/page.h"
#include "view/page_server.h"
#include "view/page_session.h"
#include "view/page_waits.h"

#define DEFAULT_PAGE "dwell.html"
enum { MAX_SESSIONS = 2, USUAL_DETAIL = 8 << 20, MAX_DETAIL = 1 << 30 };

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },   { SHARED_CALLS, NULL },    { SHARED_OUTPUT, "(default: " DEFAULT_PAGE ")" },
    { SHARED_RAW, NULL },    { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL }, { SHARED_END, NULL },
};

struct view_settings {
    struct shared_options shared;
    const char *files[MAX_SESSIONS];
    size_t count;
    bool force, no_open;
    unsigned long port; /* zero if not given */
    struct view_options options;
};

static void view_take(void *settings, const struct option_row *row, char *argument)
{
    struct view_settings *s = settings;
    (void)row;
    if (s->count == MAX_SESSIONS)
        die(STATUS_ERROR, "a page compares two sessions at most; leave out '%s'", argument);
    s->files[s->count++] = argument;
}

static const struct option_row options[] = {
    { "force", NULL, "Replace FILE even if it is not a page of dwell", STORE_FLAG(struct view_settings, force) },
    { "no-open", NULL, "Do not open the page in a browser", STORE_FLAG(struct view_settings, no_open) },
    { "detail", "SIZE",
      "Let the timeline add at most SIZE to the page (default: 8M; 0: no timeline); a larger one can be zoomed further",
      STORE_SIZE(struct view_settings, options.detail, 0, MAX_DETAIL,
                 "a number of bytes up to 1G, such as 500K or 32M") },
    { "source", NULL, "Put the text of the functions' source files into the page, as far as they can be read now",
      STORE_FLAG(struct view_settings, options.sources) },
    { "with-values", NULL, "Also show recorded values of arguments, which can be secrets (record --values)",
      STORE_FLAG(struct view_settings, options.values) },
    { "live", NULL, "Serve the page on this machine until Ctrl-C, and update it while the program runs",
      STORE_FLAG(struct view_settings, options.live) },
    { "port", "PORT", "With --live: serve on this port (default: any free one)",
      STORE_NUMBER(struct view_settings, port, 1, UINT16_MAX, "must be from 1 to 65535") },
    { TAKE_BY(view_take) },
    { 0 },
};

/* ---- the file ---- */

static bool view_is_special_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Ends the program if the page would replace a file that is not a page. */
static void view_check_output(const struct view_settings *s)
{
    for (size_t i = 0; i < s->count; i++)
        output_spare(s->shared.output, s->files[i]);
    struct stat status;
    if (stat(s->shared.output, &status) == 0 && S_ISDIR(status.st_mode))
        die(STATUS_ERROR, "%s: is a directory", s->shared.output);
    FILE *there = s->force || view_is_special_file(s->shared.output) ? NULL : fopen(s->shared.output, "r");
    if (!there)
        return;
    if (!page_is_ours(there))
        die(STATUS_ERROR, "%s: is not a page of dwell; give another name with -o, or replace it with --force",
            s->shared.output);
    fclose(there);
}

static int view_write_page(const char *path, const struct view_session *const *sessions, size_t count)
{
    FILE *out = output_open(path);
    page_write(sessions, count, out);
    return output_close(path, out);
}

/* ---- sessions ---- */

/* Loads a session for the page. Sets *ended to whether its recording is complete. `quiet` prints no losses. Returns
 * NULL and sets the error where the session cannot be loaded. */
static struct view_session *view_load(const char *file, const struct analysis_options *load,
                                      const struct view_options *options, bool quiet, bool *ended, struct error *error)
{
    struct analysis loaded, lines;
    struct analysis_options with_limits = *load, with_lines = *load;
    with_limits.limits = with_limits.limits_later = with_lines.timed_only = true;
    with_lines.lines = LINES_NEEDED;
    if (!analysis_load(&loaded, file, &with_limits, error))
        return NULL;
    const bool has_lines = loaded.file->header.also & DWELL_ALSO_CALL_SITES;
    if (has_lines && !analysis_load(&lines, file, &with_lines, error)) {
        analysis_drop(&loaded);
        return NULL;
    }
    for (size_t i = 0; i < loaded.summary.loss_count && !quiet; i++)
        say("%s: %s", file, loaded.summary.remarks[i]);
    *ended = loaded.file->header.state == DWELL_COMPLETE;
    struct packed waits;
    const bool unfinished = options->live && !*ended;
    const bool has_waits = !unfinished && page_waits_make(&loaded, options->detail, &waits);
    char *answer = answer_sentence(&loaded);
    if (!answer)
        answer = text_summary_facts(&loaded.summary, false);
    const struct view_inputs inputs = { &loaded, has_lines ? &lines : NULL, has_waits ? &waits : NULL, answer,
                                        unfinished };
    struct view_session *view = view_session_new(&inputs, options, error);
    free(answer);
    if (has_lines)
        analysis_drop(&lines);
    analysis_drop(&loaded);
    return view;
}

/* ---- a session that is being recorded ---- */

/* The page is served. A thread loads the file again at intervals until the recording ends. */
struct live_settings {
    const char *file;
    const struct analysis_options *load;
    struct view_options options;
    uint16_t port; /* zero for any free one */
    bool no_open;
};

/* Reading takes at most a fifth of one CPU's time, so that the recorded program has the rest. */
enum { INTERVAL_MS = 1000, REST = 4, TRIES = 5, MILLION = 1000000, THOUSAND = 1000 };

static char *secret_file; /* the file by which the browser learned the address; NULL if there is none */

struct view_live {
    const struct live_settings *settings;
    struct server *server;
};

static uint64_t view_live_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * THOUSAND + (uint64_t)now.tv_nsec / MILLION;
}

static void view_live_wait_ms(uint64_t ms)
{
    const struct timespec time = { (time_t)(ms / THOUSAND), (long)(ms % THOUSAND) * MILLION };
    nanosleep(&time, NULL);
}

static void view_live_report_end(const struct live_settings *s)
{
    say("%s: the recording has ended; the page stays until Ctrl-C", s->file);
}

/* A file that is being replaced cannot be read for a moment, so the first failures are not reported. */
static void view_live_report_failure(const struct view_live *l, const struct error *error, unsigned failures)
{
    if (failures == TRIES)
        say("%s: the page still shows the previous version", error->text);
    if (failures >= TRIES)
        server_fail(l->server, error->text);
}

/* Loads the session and serves it. Where that fails, the session that was loaded before is still served. Returns the
 * number of failures since the last success. */
static unsigned view_live_load(const struct view_live *l, unsigned failures, bool *ended)
{
    const struct live_settings *s = l->settings;
    struct error error = { NULL };
    struct view_session *session = view_load(s->file, s->load, &s->options, true, ended, &error);
    if (!session) {
        view_live_report_failure(l, &error, ++failures);
        error_drop(&error);
        return failures;
    }
    if (failures >= TRIES)
        say("%s: can be read again", s->file);
    server_show(l->server, session);
    return 0;
}

/* Serves the session for the first time. Ends the program if it cannot be read. */
static bool view_live_load_first(const struct view_live *l)
{
    const struct live_settings *s = l->settings;
    struct error error = { NULL };
    bool ended;
    struct view_session *session = view_load(s->file, s->load, &s->options, false, &ended, &error);
    if (!session)
        die_of(&error);
    server_show(l->server, session);
    return ended;
}

static void *view_live_update(void *context)
{
    const struct view_live *l = context;
    unsigned failures = 0;
    bool ended = view_live_load_first(l);
    for (uint64_t took = 0; !ended;) {
        view_live_wait_ms(took * REST > INTERVAL_MS ? took * REST : INTERVAL_MS);
        const uint64_t begin = view_live_now_ms();
        failures = view_live_load(l, failures, &ended);
        took = view_live_now_ms() - begin;
    }
    view_live_report_end(l->settings);
    return NULL;
}

static void view_live_remove_secret(void)
{
    if (secret_file)
        unlink(secret_file);
}

static void view_live_show(const struct live_settings *s, const char *address)
{
    printf("%s\n", address);
    fflush(stdout);
    if (s->no_open || !browser_is_wanted())
        return;
    atexit(view_live_remove_secret); /* also at an error */
    if (!browser_open_secret(address, &secret_file))
        say("found no browser to open it; set BROWSER");
}

/* Ends the program if the file is no session, before anything is printed. */
static void view_live_check_file(const struct live_settings *s)
{
    const int fd = session_open_raw(s->file, O_RDONLY);
    struct error error = { NULL };
    bool ended;
    if (fd >= 0)
        close(fd);
    else if (!view_load(s->file, s->load, &s->options, false, &ended, &error))
        die_of(&error);
}

/* Serves the session until a signal ends it. Returns the exit status. */
static int view_live(const struct live_settings *s)
{
    struct error error = { NULL };
    int number;
    sigset_t signals;
    pthread_t thread;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (signal(SIGHUP, SIG_DFL) == SIG_IGN) /* under nohup */
        signal(SIGHUP, SIG_IGN);
    else
        sigaddset(&signals, SIGHUP);
    struct view_live live = { .settings = s };
    view_live_check_file(s);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* in all threads from here on, as sigwait needs it */
    live.server = server_start(s->port, INTERVAL_MS, &error);
    if (!live.server)
        die_of(&error);
    view_live_show(s, server_address(live.server)); /* before the session is read, which can take long */
    if (pthread_create(&thread, NULL, view_live_update, &live) != 0)
        die(STATUS_ERROR, "cannot start a thread");
    sigwait(&signals, &number);
    view_live_remove_secret();
    const int status = finish_output();
    _exit(status); /* without waiting for a reading that is under way */
}

/* ---- the command ---- */

static void view_show(const struct view_settings *s)
{
    struct stat status;
    if (stat(s->shared.output, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    const double size = (double)status.st_size;
    print_text(stdout, "%s: %.*f %s\n", s->shared.output, size < 1e6 ? 0 : 1, size < 1e6 ? size / 1e3 : size / 1e6,
               size < 1e6 ? "kB" : "MB");
    if (s->no_open || !browser_is_wanted())
        return;
    if (!browser_open(s->shared.output))
        say("%s: found no browser to open it; set BROWSER", s->shared.output);
}

static int view_serve(const struct view_settings *s)
{
    if (s->shared.output || s->force)
        die(STATUS_ERROR, "--live writes no file: leave out %s", s->shared.output ? "--output" : "--force");
    if (s->count > 1)
        die(STATUS_ERROR, "--live shows one session at a time; leave out '%s'", s->files[1]);
    return view_live(
        &(struct live_settings){ s->files[0], &s->shared.load, s->options, (uint16_t)s->port, s->no_open });
}

static int view_write_sessions(const struct view_settings *s)
{
    struct view_session *sessions[MAX_SESSIONS];
    struct error error = { NULL };
    bool ended;
    view_check_output(s);
    for (size_t i = 0; i < s->count; i++)
        if (!(sessions[i] = view_load(s->files[i], &s->shared.load, &s->options, false, &ended, &error)))
            die_of(&error);
    if (!call_filters_check(&s->shared.load.selection.filters, s->count > 1 ? "both sessions" : s->files[0], &error))
        die_of(&error);
    const int status = view_write_page(s->shared.output, (const struct view_session *const *)sessions, s->count);
    for (size_t i = 0; i < s->count; i++)
        view_session_free(sessions[i]);
    if (status != STATUS_OK)
        return status;
    view_show(s);
    return finish_output();
}

static const struct command_line line = {
    .name = "view",
    .daily = "output no-open live port source from to thread root",
    .arguments = "[FILE [FILE]]",
    .text = "Writes a session (default: dwell.data) as a page for a browser, and opens it. A page of two sessions "
            "compares them.\v"
            "The page is one file that holds everything and needs no network.\n\nExamples:\n"
            "  dwell view\n"
            "  dwell view --no-open -o run.html run.data\n"
            "  dwell view before.data after.data\n"
            "  dwell view --live",
    .options = options,
    .shared = shared,
};

int command_view(int argc, char **argv)
{
    struct view_settings s = { .options = { .detail = USUAL_DETAIL } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (s.port && !s.options.live)
        die(STATUS_ERROR, "--port: only with --live");
    if (s.count == 0)
        s.files[s.count++] = DEFAULT_SESSION;
    s.shared.load.selection.filters.several = true; /* a program that runs can still call the function */
    if (s.options.live)
        return view_serve(&s);
    if (!s.shared.output)
        s.shared.output = DEFAULT_PAGE;
    const int status = view_write_sessions(&s);
    shared_options_drop(&s.shared);
    return status;
}
