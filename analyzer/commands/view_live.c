/* Serves the page of a session that is still being recorded. A thread loads the file again at intervals until the
 * recording ends. */
#include "commands/view_live.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "recorder/find_session.h"
#include "view/browser.h"
#include "view/server.h"

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

int view_live(const struct live_settings *s)
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
