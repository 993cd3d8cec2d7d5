/* Two threads: one takes the deltas, and the other one pushes them. So a store that is slow delays no delta. */
#include "recorder/record_push.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/progress.h"
#include "fleet/spool.h"
#include "recorder/service_thread.h"
#include "sums/sums_delta.h"
#include "trace/session_finish.h"

enum { LAST_PUSH_SECONDS = 10 }; /* for what is left when the program has ended */

struct record_push {
    const struct record_settings *settings;
    struct fleet_store store;
    char *folder; /* the spool */
    const struct session *session;
    int fd;
    const char *path;
    struct sums_deltas *deltas; /* NULL without --every */
    pthread_t taker, pusher;
    bool taking, pushing; /* the threads run */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    bool stop_taking, last, idle; /* the pusher: nothing follows; it does nothing */
    uint64_t written;             /* files that the spool has got */
    bool cancelled;
    uint64_t pushed, dropped;
    struct error error; /* of the last push */
    struct error spool; /* of the last file */
};

static uint64_t push_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool push_find_server(struct record_push *p, struct error *error)
{
    struct error wrong = { NULL };
    if (http_missing())
        return error_set(error, "--push: %s", http_missing());
    if (fleet_store_find(&p->store, &wrong))
        return true;
    error_set(error, "--push: %s", wrong.text);
    error_drop(&wrong);
    return false;
}

static bool push_make_spool(struct record_push *p, struct error *error)
{
    const char *spool = p->settings->spool;
    struct error wrong = { NULL };
    p->folder = spool ? need_copy(spool, strlen(spool)) : fleet_spool_usual(&p->store);
    if (fleet_spool_make(p->folder, &wrong))
        return true;
    error_set(error, "--spool: %s", wrong.text);
    error_drop(&wrong);
    return false;
}

bool record_push_new(const struct record_settings *s, struct record_push **push, struct error *error)
{
    *push = NULL;
    if (!s->push)
        return true;
    struct record_push *p = need_memory(1, sizeof *p);
    p->settings = s;
    if (strcmp(s->push, "-") != 0)
        p->store.url = need_copy(s->push, strlen(s->push));
    if (!push_find_server(p, error) || !push_make_spool(p, error)) {
        fleet_store_drop(&p->store);
        free(p->folder);
        free(p);
        return false;
    }
    p->store.cancelled = &p->cancelled;
    p->store.tries = s->every ? 1 : p->store.tries; /* the next interval tries again */
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&p->lock, NULL);
    *push = p;
    return true;
}

/* ---- the spool ---- */

static void push_set_error(struct record_push *p, struct error *which, struct error *error)
{
    pthread_mutex_lock(&p->lock);
    error_drop(which);
    *which = *error;
    pthread_mutex_unlock(&p->lock);
}

/* Writes sums, which it frees, into the spool. */
static void push_write(struct record_push *p, struct sums *sums, uint64_t time, uint32_t number)
{
    struct error error = { NULL };
    const struct fleet_labels *labels = &p->settings->labels;
    struct trace_label *list = need_memory(labels->count + 1, sizeof *list);
    for (size_t i = 0; i < labels->count; i++)
        list[i] = (struct trace_label){ labels->list[i].key, labels->list[i].value };
    sums->labels = list;
    sums->label_count = labels->count;
    char *name = fleet_spool_name(p->folder, time, sums->sessions[0].summed.record.header.session_id, number);
    const char *wrong = fleet_spool_write(sums, name);
    if (wrong)
        error_set(&error, "%s: %s", name, wrong);
    const uint64_t dropped = fleet_spool_trim(p->folder, p->settings->spool_limit) + (wrong != NULL);
    push_set_error(p, &p->spool, &error);
    pthread_mutex_lock(&p->lock);
    p->dropped += dropped;
    p->written++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    free(name);
    free(list);
    sums_free(sums);
}

static void push_take_delta(struct record_push *p, bool last)
{
    struct error error = { NULL };
    const uint64_t now = push_now();
    struct sums *delta = sums_deltas_take(p->deltas, p->path, now, last, &error);
    if (delta)
        push_write(p, delta, now, sums_deltas_count(p->deltas));
    else if (error.text)
        push_set_error(p, &p->spool, &error);
}

/* ---- threads ---- */

static struct timespec push_later(uint64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t nanoseconds = (uint64_t)t.tv_nsec + ns;
    t.tv_sec += (time_t)(nanoseconds / 1000000000);
    t.tv_nsec = (long)(nanoseconds % 1000000000);
    return t;
}

static void *push_take_deltas(void *argument)
{
    struct record_push *p = argument;
    setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
    struct timespec next = push_later(p->settings->every);
    pthread_mutex_lock(&p->lock);
    while (!p->stop_taking) {
        while (!p->stop_taking && pthread_cond_timedwait(&p->changed, &p->lock, &next) != ETIMEDOUT)
            continue;
        if (p->stop_taking)
            break;
        pthread_mutex_unlock(&p->lock);
        next = push_later(p->settings->every);
        push_take_delta(p, false);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void push_all(struct record_push *p)
{
    struct error error = { NULL };
    uint64_t pushed = 0;
    fleet_spool_push(p->folder, &p->store, &(struct fleet_labels){ NULL, 0, 0 }, &pushed, &error);
    push_set_error(p, &p->error, &error);
    pthread_mutex_lock(&p->lock);
    p->pushed += pushed;
    pthread_mutex_unlock(&p->lock);
}

/* Each new file is a reason to try again. */
static void *push_files(void *argument)
{
    struct record_push *p = argument;
    uint64_t seen = 0;
    setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
    pthread_mutex_lock(&p->lock);
    for (bool last = false; !last;) {
        while (!p->last && p->written == seen)
            pthread_cond_wait(&p->changed, &p->lock);
        last = p->last;
        seen = p->written;
        pthread_mutex_unlock(&p->lock);
        push_all(p);
        pthread_mutex_lock(&p->lock);
    }
    p->idle = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void record_push_start(struct record_push *p, const struct session *session, int fd, const char *path)
{
    if (!p)
        return;
    p->session = session;
    p->fd = fd;
    p->path = path;
    if (!p->settings->every)
        return;
    progress_abandon(); /* the program has the terminal */
    finish_host(session, fd);
    p->deltas = sums_deltas_new(push_now());
    p->pushing = service_thread_start(&p->pusher, push_files, p);
    p->taking = p->pushing && service_thread_start(&p->taker, push_take_deltas, p);
}

void record_push_stop(struct record_push *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop_taking = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->taking)
        pthread_join(p->taker, NULL);
    p->taking = false;
    if (!p->dropped)
        return;
    char *text = need_text("%s dropped, as the spool had its limit", COUNTED_WAS(p->dropped, "delta"));
    finish_note(p->session, p->fd, text);
    free(text);
}

/* ---- the end ---- */

/* Lets the pusher push what is left, but not for ever. */
static void push_end_pusher(struct record_push *p)
{
    const struct timespec limit = push_later(UINT64_C(1000000000) * LAST_PUSH_SECONDS);
    pthread_mutex_lock(&p->lock);
    p->last = true;
    pthread_cond_broadcast(&p->changed);
    while (!p->idle && pthread_cond_timedwait(&p->changed, &p->lock, &limit) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&p->lock);
    __atomic_store_n(&p->cancelled, true, __ATOMIC_RELEASE);
    pthread_join(p->pusher, NULL);
}

static void push_rest(struct record_push *p)
{
    if (p->deltas) {
        push_take_delta(p, true);
    } else {
        struct error error = { NULL };
        struct sums *sums = sums_new();
        if (sums_add_recorded(sums, p->path, (struct sums_shard){ 0, 1 }, 0, &error)) {
            push_write(p, sums, push_now(), 0);
        } else {
            sums_free(sums);
            push_set_error(p, &p->spool, &error);
        }
    }
    if (!p->pushing)
        push_all(p);
}

/* In one line: what was pushed, what waits and why, and what was dropped. */
static void push_report(const struct record_push *p)
{
    const char *what = p->deltas ? "delta" : "run";
    const uint64_t left = fleet_spool_count(p->folder);
    if (p->spool.text)
        say("--push: %s", p->spool.text);
    if (!left && !p->dropped && p->settings->quiet)
        return;
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "pushed %s to %s", COUNTED(p->pushed, what), p->store.url);
    const bool url_given = strcmp(p->settings->push, "-") != 0; /* else fleet push knows it as well */
    if (left)
        fprintf(out, "; %llu left in %s%s%s: push %s with dwell fleet push%s%s --spool%s%s", (unsigned long long)left,
                p->folder, p->error.text ? ", as " : "", p->error.text ? p->error.text : "", left == 1 ? "it" : "them",
                url_given ? " --url " : "", url_given ? p->store.url : "", p->settings->spool ? " " : "",
                p->settings->spool ? p->settings->spool : "");
    if (p->dropped)
        fprintf(out, "; %llu dropped, as the spool had its limit (--spool-limit)", (unsigned long long)p->dropped);
    need_stream_end(out);
    say("%s", text);
    free(text);
}

void record_push_finish(struct record_push *p, bool empty)
{
    if (!p)
        return;
    if (!empty)
        push_rest(p);
    if (p->pushing)
        push_end_pusher(p);
    if (!empty || p->written)
        push_report(p);
    sums_deltas_free(p->deltas);
    fleet_store_drop(&p->store);
    error_drop(&p->error);
    error_drop(&p->spool);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->folder);
    free(p);
}
