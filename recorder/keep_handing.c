/*
 * Each kept slow call becomes a file: its window, and those of the last usual calls of its function to compare. The
 * file is the command's while it runs, and is removed then. So a service's disk stays as it is, whatever it keeps.
 */
#include "recorder/keep_handing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sorted.h"
#include "clock.h"
#include "recorder/keep_copy.h"
#include "recorder/keep_hook.h"
#include "recorder/service_thread.h"
#include "sys.h"

enum {
    LOOK_MS = 100,
    MOST_WAITING = 100, /* windows: of more, the oldest are left out */
    MOST_USUAL = 100,   /* calls to compare in a file */
    END_MS = 10000,     /* at the program's end */
    END_LOOK_MS = 10,
};

/* ---- commands ---- */

/* With the lock. */
static void keep_hand_free(struct keep_handing *h, size_t i, int status)
{
    if (status && h->failed++ == 0)
        say("--on-keep: the command %s %d; others that fail are counted",
            WIFSIGNALED(status) ? "was ended by signal" : "failed with status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    unlink(h->hands[i].file);
    free(h->hands[i].file);
    h->hands[i] = h->hands[--h->busy];
}

void keep_handing_ended(struct keep_handing *h, pid_t pid, int status)
{
    if (!h->command)
        return;
    pthread_mutex_lock(&h->lock);
    for (size_t i = h->busy; i-- > 0;)
        if (h->hands[i].pid == pid)
            keep_hand_free(h, i, status);
    pthread_mutex_unlock(&h->lock);
}

/* Returns how many commands run. If somebody else waits for one, its status is unknown here. */
static size_t keep_handing_reap(struct keep_handing *h)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = h->busy; i-- > 0;) {
        int status = 0;
        const pid_t waited = waitpid(h->hands[i].pid, &status, WNOHANG);
        if (waited != 0)
            keep_hand_free(h, i, waited > 0 ? status : 0);
    }
    const size_t busy = h->busy;
    pthread_mutex_unlock(&h->lock);
    return busy;
}

/* Takes the file. */
static bool keep_handing_run(struct keep_handing *h, char *file)
{
    pthread_mutex_lock(&h->lock);
    const pid_t pid = keep_hook_start(h->command, file);
    const int error = errno;
    if (pid)
        h->hands[h->busy++] = (struct keep_hand){ pid, file };
    else if (h->failed++ == 0)
        say("--on-keep: the command could not be started: %s", strerror(error));
    pthread_mutex_unlock(&h->lock);
    if (!pid) {
        unlink(file);
        free(file);
    }
    return pid != 0;
}

/* ---- files ---- */

/* A name that no file has. Returns -1 if there is none. */
static int keep_handing_create(struct keep_handing *h, char **name)
{
    enum { TRIES = 10000 };
    int fd = -1;
    *name = NULL;
    for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        free(*name);
        *name = need_text("%s.window-%u", h->path, ++h->number);
        fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, SESSION_FILE_MODE);
    }
    return fd;
}

static bool keep_is_to_compare(const struct trace_kept *usual, const struct trace_kept *slow)
{
    return usual->usual && usual->process == slow->process && usual->function == slow->function &&
           (usual->function || usual->watch == slow->watch) && usual->exit_time < slow->exit_time;
}

/* The slow call, and the last usual ones before it. The caller frees the calls. */
static struct kept_calls keep_handing_choose(const struct session_file *file, const struct trace_kept *slow)
{
    struct kept_calls chosen = { .calls = need_memory(1 + MOST_USUAL, sizeof *chosen.calls) };
    chosen.calls[chosen.count++] = *slow;
    for (size_t i = file->kept.count; i-- > 0 && chosen.count <= MOST_USUAL;)
        if (keep_is_to_compare(&file->kept.calls[i], slow))
            chosen.calls[chosen.count++] = file->kept.calls[i];
    return chosen;
}

static void keep_handing_hand(struct keep_handing *h, const struct session_file *file, const struct trace_kept *slow,
                              bool live)
{
    char *name;
    const int fd = keep_handing_create(h, &name);
    int error = fd < 0 ? errno : 0;
    if (!error) {
        struct kept_calls chosen = keep_handing_choose(file, slow);
        error = keep_copy(file, &chosen, live, fd);
        free(chosen.calls);
        close(fd);
    }
    if (!error) {
        keep_handing_run(h, name);
        return;
    }
    pthread_mutex_lock(&h->lock);
    if (h->failed++ == 0)
        say("--on-keep: %s: %s", name, strerror(error));
    pthread_mutex_unlock(&h->lock);
    if (fd >= 0)
        unlink(name);
    free(name);
}

/* ---- windows ---- */

static int keep_compare_handed(const void *a, const void *b)
{
    const struct keep_handed *x = a, *y = b;
    return ORDER_BY(x, y, process, thread, exit_time);
}

static struct keep_handed keep_handed_of(const struct trace_kept *call)
{
    return (struct keep_handed){ .process = call->process, .thread = call->thread, .exit_time = call->exit_time };
}

static bool keep_handing_is_done(const struct keep_handing *h, const struct trace_kept *call)
{
    const struct keep_handed wanted = keep_handed_of(call);
    return h->done_count && bsearch(&wanted, h->done, h->done_count, sizeof wanted, keep_compare_handed);
}

/* The slow calls that were not handed over yet, oldest first. The caller frees the list. */
static const struct trace_kept **keep_handing_waiting(const struct keep_handing *h, const struct session_file *file,
                                                      size_t *count)
{
    const struct trace_kept **list = need_memory(file->kept.count, sizeof *list);
    *count = 0;
    for (size_t i = 0; i < file->kept.count; i++)
        if (!file->kept.calls[i].usual && !keep_handing_is_done(h, &file->kept.calls[i]))
            list[(*count)++] = &file->kept.calls[i];
    return list;
}

/* Notes what is done: the slow calls of the session without those that still wait. */
static void keep_handing_note(struct keep_handing *h, const struct session_file *file,
                              const struct trace_kept *const *waiting, size_t count)
{
    struct keep_handed *done = need_memory(file->kept.count, sizeof *done);
    size_t done_count = 0, at = 0;
    for (size_t i = 0; i < file->kept.count; i++) {
        const struct trace_kept *call = &file->kept.calls[i];
        if (at < count && waiting[at] == call)
            at++;
        else if (!call->usual)
            done[done_count++] = keep_handed_of(call);
    }
    if (done_count)
        qsort(done, done_count, sizeof *done, keep_compare_handed);
    free(h->done);
    h->done = done;
    h->done_count = done_count;
}

/* Whether all that belongs to the window has happened. */
static bool keep_handing_is_over(const struct keep_handing *h, const struct trace_kept *call, uint64_t around)
{
    return clock_now(h->session->header->clock) > call->exit_time + around;
}

/* All that were kept so far, with those that have made room for later ones. A call moves from the first count to the
 * second one. In this order, none counts twice. */
static uint64_t keep_handing_all(const struct keep_handing *h)
{
    const struct dwell_file_more *more = session_more(h->session);
    const uint64_t dropped = __atomic_load_n(&more->dropped_calls, __ATOMIC_ACQUIRE);
    return dropped + __atomic_load_n(&more->kept_calls, __ATOMIC_ACQUIRE);
}

/* Returns how many of the windows are done. Of too many, the oldest are left out. */
static size_t keep_handing_hand_all(struct keep_handing *h, const struct session_file *file,
                                    const struct trace_kept *const *list, size_t count, bool live)
{
    struct dwell_keep keep = { .around = 0 };
    size_t i = 0;
    kept_settings_read(file, &keep);
    for (; i < count && keep_handing_reap(h) < KEEP_HANDS; i++) {
        if (live && !keep_handing_is_over(h, list[i], kept_around(list[i], &keep)))
            break;
        if (count - i > MOST_WAITING)
            continue;
        h->handed++;
        keep_handing_hand(h, file, list[i], live);
    }
    return i;
}

static void keep_handing_look(struct keep_handing *h, bool live)
{
    const char *error;
    const uint64_t all = keep_handing_all(h);
    size_t count;
    struct session_file *file = session_file_open_late(h->path, &error);
    if (!file)
        return;
    const struct trace_kept **list = keep_handing_waiting(h, file, &count);
    const size_t done = keep_handing_hand_all(h, file, list, count, live);
    keep_handing_note(h, file, list + done, count - done);
    const uint64_t known = h->handed + h->skipped + (count - done);
    h->skipped += all > known ? all - known : 0;
    free(list);
    session_file_close(file);
}

static bool keep_handing_has_more(const struct keep_handing *h)
{
    return keep_handing_all(h) > h->handed + h->skipped;
}

static void *keep_handing_work(void *argument)
{
    struct keep_handing *h = argument;
    while (!__atomic_load_n(&h->stop, __ATOMIC_ACQUIRE)) {
        if (keep_handing_reap(h) < KEEP_HANDS && keep_handing_has_more(h))
            keep_handing_look(h, true);
        sys_futex_wait_shared_for(&h->stop, 0, LOOK_MS * UINT64_C(1000000));
    }
    return NULL;
}

void keep_handing_start(struct keep_handing *h, const char *command, const struct session *session, const char *path)
{
    *h = (struct keep_handing){ .command = command, .session = session, .path = path };
    pthread_mutex_init(&h->lock, NULL);
    h->running = command && service_thread_start(&h->thread, keep_handing_work, h);
}

void keep_handing_stop(struct keep_handing *h)
{
    if (!h->running)
        return;
    service_thread_stop(h->thread, &h->stop);
    h->running = false;
}

static void keep_handing_report(const struct keep_handing *h)
{
    const uint64_t kept = keep_handing_all(h), left = kept > h->handed ? kept - h->handed : 0;
    if (h->failed > 1)
        say("--on-keep: %" PRIu64 " of %s failed", h->failed, COUNTED(h->handed, "command"));
    if (left)
        say("--on-keep: %" PRIu64 " of %s had no command, as %d run at once", left, COUNTED(kept, "window"),
            KEEP_HANDS);
    if (h->busy)
        say("--on-keep: %s still %s, so %s stay: %s", COUNTED(h->busy, "command"), counted_word(h->busy, "runs", "run"),
            counted_word(h->busy, "its file", "their files"), h->hands[0].file);
}

void keep_handing_finish(struct keep_handing *h)
{
    const uint64_t until = clock_monotonic() + END_MS * UINT64_C(1000000);
    while (h->command && clock_monotonic() < until) {
        if (keep_handing_has_more(h))
            keep_handing_look(h, false);
        else if (keep_handing_reap(h) == 0)
            break;
        usleep(END_LOOK_MS * 1000);
    }
    if (h->command)
        keep_handing_report(h);
    for (size_t i = 0; i < h->busy; i++)
        free(h->hands[i].file);
    free(h->done);
    pthread_mutex_destroy(&h->lock);
}
