/*
 * Ends that are recorded before or after they happen. A process that executes another program ends at the exec. A
 * child that was killed cannot record its end, so its parent does when it waits for it. libc's `syscall` may end a
 * thread or a process at once. Not part of libdwell.a.
 */
#include "endings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "fault_signals.h"
#include "helper.h"
#include "keep_calls.h"
#include "levels/levels.h"
#include "lock.h"
#include "losses.h"
#include "metadata_records.h"
#include "monitor.h"
#include "process.h"
#include "recorder.h"
#include "recording.h"
#include "retired.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

/* ---- exec ---- */

static void ending_keep(struct ending *ending, struct dwell_record *record)
{
    ending->records[ending->count++] = record;
}

/* The time of threads beyond the limit ends with the process. */
void ending_begin(struct ending *ending)
{
    ending->count = 0;
    if (!process_is_recorded())
        return;
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return;
    if (thread_self && thread_self->wiped->alive)
        recorder_flush(thread_self);
    for (struct thread *t = runtime.process->threads.live; t && ending->count < ENDING_RECORDS - 2; t = t->next)
        ending_keep(ending, thread_append_end(t));
    monitor_end();
    ending_keep(ending, process_cpu_append_end());
    ending_keep(ending, process_append_end(DWELL_END_EXECUTED, 0));
    losses_of_process();
    retired_finish();
    sys_restore_signals(mask);
}

void ending_take_back(const struct ending *ending)
{
    for (uint32_t i = 0; i < ending->count; i++)
        metadata_take_back(ending->records[i]);
    struct process *p = runtime.process;
    if (ending->count)
        levels_take_end_back();
    if (ending->count && p->control.chunk && p->helper.tid)
        p->control.chunk->listening = 1;
}

/* ---- children ---- */

/* A service may have any number of children, so the ends of earlier ones make room where only windows are kept. The
 * recorder has seen these, too. */
static void ending_append_of_child(const struct dwell_rec_process_end *end)
{
    struct process_keep *k = &runtime.process->keep;
    if (!keep_settings.on) {
        metadata_append(&end->record, sizeof *end, NULL, 0);
        return;
    }
    lock_take(&k->lock);
    struct dwell_record **place = &k->child_ends[k->child_end_count++ % KEEP_CHILD_ENDS], *record = *place;
    lock_release(&k->lock);
    if (!record) {
        *place = metadata_append(&end->record, sizeof *end, NULL, 0);
        return;
    }
    metadata_take_back(record);
    memcpy(record + 1, &end->record + 1, sizeof *end - sizeof end->record);
    __atomic_store_n(&record->type, DWELL_REC_PROCESS_END, __ATOMIC_RELEASE);
}

void ending_of_child(pid_t pid, int status)
{
    if (pid <= 0 || !(WIFEXITED(status) || WIFSIGNALED(status)) || !process_is_recorded())
        return;
    const struct dwell_rec_process_end record = {
        .record.type = DWELL_REC_PROCESS_END,
        .pid = (uint32_t)pid,
        .how = WIFSIGNALED(status) ? DWELL_END_SIGNAL : DWELL_END_EXIT,
        .value = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)),
        .time = clock_now(runtime.clock),
    };
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED)
        ending_append_of_child(&record);
    sys_restore_signals(mask);
}

/* ---- by libc's syscall ---- */

enum { LARGEST_STATUS = 4096 };

/* Set when the first thread has ended alone. The kernel counts it until the process ends. */
static bool leader_has_left;

/* Whether the calling thread is the last one but the helper. False if that cannot be determined. */
static bool ending_is_of_last_thread(void)
{
    static const char name[] = "\nThreads:";
    char text[LARGEST_STATUS];
    if (sys_read_file("/proc/self/status", text, sizeof text) <= 0)
        return false;
    const char *at = strstr(text, name);
    const bool helped = runtime.process->helper.tid != 0;
    return at && strtoul(at + strlen(name), NULL, 10) == 1ul + helped + leader_has_left;
}

/* If the helper stayed, the process would not end. If it ended last, the process would have its exit status. */
static void ending_by_exit(int status)
{
    if (!process_is_recorded())
        return;
    if (ending_is_of_last_thread()) {
        process_end(DWELL_END_EXIT, status);
        const int fd = helper_pause();
        if (fd >= 0)
            sys_close(fd);
    } else {
        thread_leave();
    }
    if ((uint32_t)SYS0(gettid) == runtime.process->pid)
        leader_has_left = true;
}

DWELL_HIDDEN long ending_call(long number, long a, long b, long c, long d, long e);
DWELL_HIDDEN long sandbox_failed(long error);

/* Handles syscall(SYS_exit, ...), SYS_exit_group, SYS_execve and SYS_execveat. */
long ending_call(long number, long a, long b, long c, long d, long e)
{
    struct ending ending = { .count = 0 };
    if (number == SYS_exit)
        ending_by_exit((int)a);
    else if (number == SYS_exit_group)
        process_end(DWELL_END_EXIT, (int)a);
    else
        ending_begin(&ending);
    const struct fault_shown shown = fault_show(true);
    const long result = sys_bare(number, a, b, c, d, e, 0);
    fault_hide(shown);
    ending_take_back(&ending);
    return result < 0 ? sandbox_failed(result) : result;
}
