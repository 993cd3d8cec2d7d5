/*
 * A question is the module's build-id and path in the process' control chunk. The recorder matches the patterns with
 * the module's functions, writes another filters chunk, and takes the question back.
 */
#include "filter_ask.h"

#include <errno.h>
#include <string.h>

#include "clock.h"
#include "filter.h"
#include "lock.h"
#include "metadata.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { /* milliseconds */
       SLICE = 50,
       PATIENCE = 2000,      /* with a recorder that seems to be dead */
       MAX_PATIENCE = 60000, /* with one that is alive */
};

static void filter_put_question(struct dwell_control *c, enum dwell_question what, struct text build_id,
                                struct text path)
{
    struct dwell_file_header *h = runtime.session.header;
    c->build_id_length = (uint32_t)build_id.length;
    c->path_length = (uint32_t)path.length;
    memcpy(c->module, build_id.at, build_id.length);
    memcpy(c->module + build_id.length, path.at, path.length);
    __atomic_store_n(&c->asks, (uint32_t)what, __ATOMIC_RELEASE);
    __atomic_fetch_add(&h->filter_asks, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(&h->filter_asks);
}

static bool filter_recorder_is_dead(uint64_t waited)
{
    if (waited < PATIENCE)
        return false;
    return waited > MAX_PATIENCE || SYS2(kill, runtime.session.header->recorder_pid, 0) == -ESRCH;
}

static bool filter_is_answered(void)
{
    const uint32_t server = __atomic_load_n(&runtime.session.header->filter_server, __ATOMIC_RELAXED);
    return server == DWELL_FILTER_SERVER_ANSWERS || server == DWELL_FILTER_SERVER_LEVELS;
}

static bool filter_wait_for_answer(const struct dwell_control *c)
{
    struct dwell_file_header *h = runtime.session.header;
    const uint64_t begin = clock_monotonic();
    for (;;) {
        const uint32_t seen = __atomic_load_n(&h->filter_answers, __ATOMIC_ACQUIRE);
        if (!__atomic_load_n(&c->asks, __ATOMIC_ACQUIRE))
            return true;
        if (filter_recorder_is_dead((clock_monotonic() - begin) / 1000000))
            __atomic_store_n(&h->filter_server,
                             h->filter_server == DWELL_FILTER_SERVER_LEVELS ? DWELL_FILTER_SERVER_NONE
                                                                            : DWELL_FILTER_SERVER_ENDED,
                             __ATOMIC_RELAXED);
        if (!filter_is_answered() || !sys_futex_wait_shared(&h->filter_answers, seen, SLICE))
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
    filter_put_question(c, what, build_id, path);
    const bool answered = filter_wait_for_answer(c);
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

uint64_t filter_ask_levels(struct text build_id, struct text path)
{
    const struct dwell_control *c = runtime.process->control.chunk;
    return filter_ask(DWELL_ASKS_LEVELS, build_id, path) ? __atomic_load_n(&c->answer, __ATOMIC_ACQUIRE) : 0;
}
