/*
 * A question is the module's build-id and path in the process' control chunk. The recorder matches the patterns with
 * the module's functions, writes another filters chunk, and takes the question back. It takes back a list of files to
 * keep when it has opened them.
 */
#include "filter_ask.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "filter.h"
#include "lock.h"
#include "metadata_records.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { /* milliseconds */
       SLICE = 50,
       PATIENCE = 2000,      /* with a recorder that seems to be dead */
       MAX_PATIENCE = 60000, /* with one that is alive */
       KEEP_PATIENCE = 1000, /* for files that are to be kept */
       END_PATIENCE = 500,   /* for the same as the process ends */
};

static bool keeps_nothing; /* the recorder did not answer: this process asks it to keep no more files */

static void filter_send_question(struct dwell_control *c, enum dwell_question what)
{
    struct dwell_file_header *h = runtime.session.header;
    __atomic_store_n(&c->asks, (uint32_t)what, __ATOMIC_RELEASE);
    __atomic_fetch_add(&h->filter_asks, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(&h->filter_asks);
}

static void filter_put_question(struct dwell_control *c, enum dwell_question what, struct text build_id,
                                struct text path)
{
    c->build_id_length = (uint32_t)build_id.length;
    c->path_length = (uint32_t)path.length;
    memcpy(c->module, build_id.at, build_id.length);
    memcpy(c->module + build_id.length, path.at, path.length);
    filter_send_question(c, what);
}

static bool filter_is_answered(void)
{
    const uint32_t server = __atomic_load_n(&runtime.session.header->filter_server, __ATOMIC_RELAXED);
    return server == DWELL_FILTER_SERVER_ANSWERS || server == DWELL_FILTER_SERVER_LEVELS;
}

/* If the recorder seems to be dead, nobody waits for it any more. */
static void filter_look_for_recorder(uint64_t waited)
{
    struct dwell_file_header *h = runtime.session.header;
    if (waited < PATIENCE || (waited <= MAX_PATIENCE && SYS2(kill, h->recorder_pid, 0) != -ESRCH))
        return;
    __atomic_store_n(&h->filter_server,
                     h->filter_server == DWELL_FILTER_SERVER_LEVELS ? DWELL_FILTER_SERVER_NONE
                                                                    : DWELL_FILTER_SERVER_ENDED,
                     __ATOMIC_RELAXED);
}

/* Waits until nothing is asked any more: so many milliseconds, or if that is zero, while the recorder lives. */
static bool filter_wait_for_answer(const struct dwell_control *c, uint64_t patience)
{
    struct dwell_file_header *h = runtime.session.header;
    const uint64_t begin = clock_monotonic();
    for (;;) {
        const uint32_t seen = __atomic_load_n(&h->filter_answers, __ATOMIC_ACQUIRE);
        if (!__atomic_load_n(&c->asks, __ATOMIC_ACQUIRE))
            return true;
        const uint64_t waited = (clock_monotonic() - begin) / 1000000;
        if (!patience)
            filter_look_for_recorder(waited);
        if (!filter_is_answered() || (patience && waited >= patience) ||
            !sys_futex_wait_shared(&h->filter_answers, seen, SLICE))
            return false;
    }
}

/* One question at a time: the helper asks for levels while another thread loads a module. */
static bool filter_ask(enum dwell_question what, struct text build_id, struct text path)
{
    struct dwell_control *c = runtime.process->control.chunk;
    uint32_t *lock = &runtime.process->control.asking;
    if (!c || build_id.length + path.length > sizeof c->module || !filter_is_answered())
        return false;
    lock_take(lock);
    const bool is_free = filter_wait_for_answer(c, 0); /* a list of files may be there */
    if (is_free)
        filter_put_question(c, what, build_id, path);
    const bool answered = is_free && filter_wait_for_answer(c, 0);
    lock_release(lock);
    return answered;
}

static bool filter_read_answer(void)
{
    const int fd = session_reopen(&runtime.session, runtime.path);
    if (fd < 0)
        return false;
    const bool mapped = filter_map(fd);
    sys_close(fd);
    return mapped;
}

uint32_t filter_of_module(struct text build_id, struct text path)
{
    uint32_t number = filter_module(build_id, path);
    const uint32_t server = runtime.session.header->filter_server;
    if (number || server == DWELL_FILTER_SERVER_NONE || server == DWELL_FILTER_SERVER_LEVELS)
        return number;
    if (filter_ask(DWELL_ASKS_FILTERS, build_id, path) && filter_read_answer())
        number = filter_module(build_id, path);
    static bool noted;
    if (!number && !noted)
        metadata_note("the recorder did not answer which functions of a module the filters name: none of them");
    noted |= !number;
    return number;
}

/* The offset that the recorder answers; zero if there is none. */
static uint64_t filter_ask_where(enum dwell_question question, struct text build_id, struct text path)
{
    const struct dwell_control *c = runtime.process->control.chunk;
    return filter_ask(question, build_id, path) ? __atomic_load_n(&c->answer, __ATOMIC_ACQUIRE) : 0;
}

uint64_t filter_ask_levels(struct text build_id, struct text path)
{
    return filter_ask_where(DWELL_ASKS_LEVELS, build_id, path);
}

uint64_t filter_ask_calls(struct text build_id, struct text path)
{
    return filter_ask_where(DWELL_ASKS_FILTERS, build_id, path);
}

/* ---- files to keep ---- */

static bool filter_wait_until_kept(const struct dwell_control *c, uint64_t patience)
{
    if (filter_wait_for_answer(c, patience))
        return true;
    keeps_nothing = true;
    /* Other processes need not wait for a recorder that is dead. It may be one of another PID namespace. */
    struct dwell_file_header *h = runtime.session.header;
    uint32_t levels = DWELL_FILTER_SERVER_LEVELS;
    if (SYS2(kill, h->recorder_pid, 0) == -ESRCH)
        __atomic_compare_exchange_n(&h->filter_server, &levels, DWELL_FILTER_SERVER_NONE, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    return false;
}

struct kept_module {
    struct text build_id, path; /* kept texts */
};

enum { MOST_KEPT = 256 };

static struct kept_module keeps[MOST_KEPT]; /* forked children inherit what was asked */
static uint32_t keep_count, keeps_asked;

void filter_note_keep(struct text build_id, struct text path)
{
    bool wanted = keep_count < MOST_KEPT && build_id.length && path.length && path.length <= UINT16_MAX;
    for (uint32_t i = 0; i < keep_count && wanted; i++)
        wanted = keeps[i].path.at != path.at || keeps[i].build_id.at != build_id.at;
    if (wanted)
        keeps[keep_count++] = (struct kept_module){ build_id, path };
}

/* Writes as many as find a place, at least one of those that do so alone. Returns the bytes. */
static size_t filter_list_keeps(char *into, size_t room)
{
    size_t used = 0;
    for (; keeps_asked < keep_count; keeps_asked++) {
        const struct text id = keeps[keeps_asked].build_id, path = keeps[keeps_asked].path;
        const struct dwell_kept_module head = { (uint16_t)id.length, (uint16_t)path.length };
        const size_t size = sizeof head + id.length + path.length;
        if (size > room)
            continue;
        if (size > room - used)
            break;
        memcpy(into + used, &head, sizeof head);
        memcpy(into + used + sizeof head, id.at, id.length);
        memcpy(into + used + sizeof head + id.length, path.at, path.length);
        used += size;
    }
    return used;
}

/* At the first look, when the program has just begun, nobody waits. */
void filter_ask_keep(void)
{
    struct dwell_control *c = runtime.process->control.chunk;
    uint32_t *lock = &runtime.process->control.asking;
    const bool wait = keeps_asked > 0;
    while (c && !keeps_nothing && keeps_asked < keep_count && filter_is_answered()) {
        lock_take(lock);
        if (filter_wait_until_kept(c, KEEP_PATIENCE)) {
            c->build_id_length = 0;
            c->path_length = (uint32_t)filter_list_keeps(c->module, sizeof c->module);
            filter_send_question(c, DWELL_ASKS_KEEP);
            if (wait)
                filter_wait_until_kept(c, KEEP_PATIENCE);
        }
        lock_release(lock);
    }
}

void filter_end_process(void)
{
    const struct dwell_control *c = runtime.process->control.chunk;
    if (c && !keeps_nothing && __atomic_load_n(&c->asks, __ATOMIC_ACQUIRE) == DWELL_ASKS_KEEP)
        filter_wait_until_kept(c, END_PATIENCE);
}
