/* What the runtime does around a fork. */
#include "forking.h"

#include <pthread.h>

#include "clock.h"
#include "forked.h"
#include "gate.h"
#include "interposed.h"
#include "levels/level_pause.h"
#include "levels/levels.h"
#include "loader.h"
#include "process.h"
#include "recorder.h"
#include "runtime.h"
#include "switches.h"
#include "sys.h"
#include "thread.h"

static void fork_tell_recorder(struct thread *t)
{
    if (!t || !t->wiped->alive || t->stopped || !runtime.recorder->fork_begins)
        return;
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED && !t->pause.active) {
        runtime.recorder->fork_begins(t);
        thread_set_limit(t);
    }
    sys_restore_signals(mask);
}

struct forking fork_begins(void)
{
    struct thread *t = thread_self;
    fork_tell_recorder(t);
    struct forking f = {
        .process = (uint32_t)SYS0(getpid),
        .thread = t && t->wiped->alive ? t->serial : 0,
        .recorded = runtime.process != NULL,
    };
    if (t)
        t->modules.inside_loader++; /* fork holds locks of malloc that the loader may wait for */
    if (f.recorded) {
        loader_forking(true);
        levels_forking(true);
        f.time = clock_now(runtime.clock);
    }
    return f;
}

void fork_ends(const struct forking *f, bool child)
{
    struct thread *t = thread_self;
    if (!child) {
        if (f->recorded) {
            levels_forking(false);
            loader_forking(false);
        }
        if (t)
            t->modules.inside_loader--;
        return;
    }
    if (f->recorded)
        levels_forked();
    if (!runtime.process)
        return;
    runtime.fork_began = f->time;
    runtime.forked_at = clock_now(runtime.clock);
    if (!switches_read_cpu(&runtime.forked_cpu))
        runtime.forked_cpu = 0; /* where the thread's clock began */
    runtime.forked_pid = (uint32_t)SYS0(getpid);
    runtime.forked_from = f->process;
    runtime.forked_thread = f->thread;
    thread_forked();
    if (level_pause_is_on())
        thread_of_caller(); /* no probe may come: a paused child has to be found by dwell control */
}

static __thread struct forking forking_watched __attribute__((tls_model("initial-exec")));

static void forking_begins(void)
{
    forking_watched = fork_begins();
}

static void forking_ends(void)
{
    fork_ends(&forking_watched, false);
}

static void forking_child(void)
{
    fork_ends(&forking_watched, true);
}

void fork_watch(void)
{
    static bool watches;
    if (!&dwell_interposed && !watches)
        watches = pthread_atfork(forking_begins, forking_ends, forking_child) == 0;
}
