/* Whether anything is recorded of the calling process and the calling thread. */
#include "recording.h"

#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

__thread bool thread_refused __attribute__((tls_model("initial-exec")));
__thread bool process_is_being_set_up __attribute__((tls_model("initial-exec")));

void thread_refuse(enum dwell_trouble trouble)
{
    thread_refused = true;
    session_trouble(&runtime.session, trouble);
    __atomic_fetch_add(&runtime.session.header->lost_threads, 1, __ATOMIC_RELAXED);
}

bool process_is_recorded(void)
{
    const struct process *p = runtime.process;
    return !runtime.off && !thread_refused && p && __atomic_load_n(&p->initialized, __ATOMIC_ACQUIRE) &&
           (uint32_t)SYS0(getpid) == p->pid;
}

void process_stop(void)
{
    __atomic_store_n(&runtime.process->stopped, 1, __ATOMIC_RELAXED);
}
