/* Looks now and then whether a session has so much that space of ended processes is to be used again. */
#include "recorder/keep_reuse.h"

#include "base/numbers.h"
#include "clock.h"
#include "offers.h"
#include "recorder/service_thread.h"
#include "sys.h"

enum { LOOK_MS = 10 };

/* Rests for as long as it has worked, and then offers what it has freed. */
static void *keep_reuse_work(void *argument)
{
    struct keep_reuse *r = argument;
    uint64_t rest = 0;
    while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
        sys_futex_wait_shared_for(&r->stop, 0, larger(rest, LOOK_MS * UINT64_C(1000000)));
        const uint64_t begin = clock_monotonic();
        if (keep_reclaim_is_due(r->reclaim.session)) {
            keep_reclaim(&r->reclaim);
            rest = clock_monotonic() - begin;
        } else if (rest) {
            keep_reclaim_offer(&r->reclaim);
            rest = 0;
        }
    }
    return NULL;
}

void keep_reuse_start(struct keep_reuse *r, const struct session *session, int fd, const char *path,
                      struct process_watch *watch)
{
    *r = (struct keep_reuse){ .reclaim = { .session = session, .fd = fd, .path = path, .watch = watch } };
    r->running = session_more(session)->keep && service_thread_start(&r->thread, keep_reuse_work, r);
}

void keep_reuse_stop(struct keep_reuse *r)
{
    if (!r->running)
        return;
    service_thread_stop(r->thread, &r->stop);
    r->running = false;
    if (session_is_whole(r->reclaim.session))
        offers_end(r->reclaim.session);
    keep_reclaim_end(&r->reclaim);
}
