/*
 * A process' life in the recording. It enters the session when the loader starts the runtime, if it may have probes, or
 * at its first event. A forked child enters it again.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "binding.h"
#include "calibrate.h"
#include "clock.h"
#include "control.h"
#include "environment.h"
#include "fault_signals.h"
#include "filter.h"
#include "filter_ask.h"
#include "forking.h"
#include "gate.h"
#include "guard.h"
#include "helper.h"
#include "interposed.h"
#include "keep_calls.h"
#include "levels/levels.h"
#include "library_calls.h"
#include "library_sites.h"
#include "loaded.h"
#include "losses.h"
#include "metadata_records.h"
#include "modules.h"
#include "monitor.h"
#include "osevents.h"
#include "process.h"
#include "program_path.h"
#include "recorder.h"
#include "recording.h"
#include "retired.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"
#include "thread.h"
#include "thread_chunks.h"
#include "trace_events.h"
#include "value_plan.h"

enum {
    LOCK_PATIENCE = 1000, /* milliseconds */
};

/* 0: the runtime is not set up; 1: a thread is setting it up; 2: done */
static uint32_t setup_state;

static void process_complain(const char *what)
{
    const char *log = environment_get("DWELL_LOG");
    if (!log || strcmp(log, "stderr") != 0)
        return;
    SYS3(write, STDERR_FILENO, "dwell: ", 7);
    SYS3(write, STDERR_FILENO, what, strlen(what));
    SYS3(write, STDERR_FILENO, "\n", 1);
}

/* The session's path, made absolute, as the program may change its directory. */
static bool process_find_path(void)
{
    const char *path = environment_get("DWELL_OUTPUT");
    if (!path || !*path)
        return false;
    size_t used = 0;
    if (path[0] != '/') {
        long length = SYS2(getcwd, runtime.path, sizeof runtime.path);
        if (length <= 0)
            return false;
        runtime.path[length - 1] = '/';
        used = (size_t)length;
    }
    if (used + strlen(path) >= sizeof runtime.path)
        return false;
    strcpy(runtime.path + used, path);
    return true;
}

static void process_choose_os_sources(void)
{
    const char *events = environment_get("DWELL_OS_EVENTS");
    runtime.os.wanted = 1u << DWELL_OS_PERF | 1u << DWELL_OS_RSEQ;
    if (!events)
        return;
    runtime.os.syscalls_wanted = strcmp(events, "syscalls") == 0;
    if (strcmp(events, "perf") == 0)
        runtime.os.wanted = 1u << DWELL_OS_PERF;
    else if (strcmp(events, "rseq") == 0)
        runtime.os.wanted = 1u << DWELL_OS_RSEQ;
    else if (strcmp(events, "none") == 0)
        runtime.os.wanted = 0;
}

/* What `dwell record` has put into the header. Without it, DWELL_MODE is the name of a mode, or "ring=BYTES"; and
 * DWELL_CALL_SITES is "1". */
static void process_choose_mode(void)
{
    struct dwell_file_header *h = runtime.session.header;
    const char *name = environment_get("DWELL_MODE");
    const char *end = name ? strchrnul(name, '=') : NULL;
    enum dwell_mode mode;
    if (h->recorder_pid == 0 && name && recorder_find_mode(name, end, &mode)) {
        h->mode = mode;
        const unsigned long size = *end ? strtoul(end + 1, NULL, 10) : 0;
        if (mode == DWELL_MODE_RING)
            h->ring_size = size >= DWELL_RING_MIN && size <= DWELL_RING_MAX ? (uint32_t)size : DWELL_RING_USUAL;
    }
    runtime.mode = h->mode;
    const char *sites = environment_get("DWELL_CALL_SITES");
    if (h->recorder_pid == 0 && sites && strcmp(sites, "1") == 0)
        h->also |= DWELL_ALSO_CALL_SITES;
    runtime.call_sites = h->also & DWELL_ALSO_CALL_SITES;
}

static void process_explain(int error)
{
    if (error == SESSION_NOT_OURS)
        process_complain("DWELL_OUTPUT names a file that is not a dwell session; nothing is recorded");
    else if (error == SESSION_OTHER_KIND)
        process_complain("DWELL_OUTPUT names a session of another version, machine or clock; nothing is recorded");
    else if (error == SESSION_NOT_PRIVATE)
        process_complain("DWELL_OUTPUT names a session that another user owns or may write to; nothing is recorded");
    else if (error == -ELOOP)
        process_complain("DWELL_OUTPUT names a symbolic link, which is not followed; nothing is recorded");
    else if (error == SESSION_REPLACED)
        process_complain("DWELL_OUTPUT names a later session than that of this program; nothing is recorded");
    else
        process_complain("the session file of DWELL_OUTPUT cannot be written; nothing is recorded");
}

static bool order_wanted;

/* CLOCK_MONOTONIC needs no fence. */
static void process_order_clock(void)
{
    order_wanted = clock_order_wanted(environment_get("DWELL_CLOCK")) && runtime.clock != DWELL_CLOCK_MONOTONIC;
    runtime.ordered = order_wanted && clock_order();
}

/* Executed programs join this session, wherever they are executed. */
static void process_pass_on_session(void)
{
    static const char output_name[] = "DWELL_OUTPUT=", session_name[] = "DWELL_SESSION=";
    static char output[sizeof output_name + sizeof runtime.path], session[sizeof session_name + SESSION_KEY_SIZE];
    strcpy(stpcpy(output, output_name), runtime.path);
    environment_replace(output);
    session_write_key(&runtime.session, runtime.path, stpcpy(session, session_name));
    environment_replace(session);
}

/* Reads the recording's variables and takes them out of the program's environment. */
static void process_adopt(void)
{
    static bool adopted;
    if (adopted)
        return;
    adopted = true;
    environment_adopt();
    if (!process_find_path())
        runtime.path[0] = '\0';
    environment_conceal();
}

/* Runs once in a program; forked children find it done. Returns a descriptor of the session. */
static int process_set_up(void)
{
    process_adopt();
    if (!runtime.path[0] || (!environment_follows() && !environment_is_first_process()))
        return -ENOENT;
    process_choose_os_sources();
    trace_events_begin();
    const char *start = environment_get("DWELL_START");
    runtime.activation.stopped = start && strcmp(start, "paused") == 0;
    const char *max_size = environment_get("DWELL_MAX_SIZE");
    fault_begin(SIGBUS);
    int fd = session_create(&runtime.session, runtime.path,
                            &(struct session_settings){
                                .join = true,
                                .key = environment_get("DWELL_SESSION"),
                                .clock = environment_get("DWELL_CLOCK"),
                                .max_size = max_size ? strtoull(max_size, NULL, 10) : 0,
                                .keep_free = environment_get("DWELL_KEEP_FREE"),
                            });
    if (fd < 0) {
        fault_end();
        process_explain(fd);
        return fd;
    }
    process_pass_on_session();
    runtime.clock = runtime.session.header->clock;
    const uint64_t rate = runtime.session.header->ticks_per_second;
    runtime.ticks_per_second = rate ? rate : 1;
    process_order_clock();
    process_choose_mode();
    if (runtime.os.syscalls_wanted)
        os_watch_syscalls();
    keep_begin(fd);
    value_plan_begin(fd);
    if (value_plan_has_memory && &dwell_interposed) /* the program's later actions are seen */
        fault_begin(SIGSEGV);
    runtime.recorder = recorder_of(runtime.mode, filter_begin(fd));
    if (runtime.activation.stopped && !filter_settings.starts)
        levels_begin_paused();
    struct process *p = sys_memory(page_end(sizeof *p));
    if (!p || SYS3(madvise, p, page_end(sizeof *p), MADV_WIPEONFORK) < 0) {
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_MEMORY);
        runtime.lossy = true;
        sys_close(fd);
        return -ENOMEM;
    }
    runtime.process = p;
    const char *calls = environment_get("DWELL_OS_CALLS");
    runtime.os_calls = !calls || strcmp(calls, "off") != 0;
    runtime.acts = runtime.os_calls && runtime.mode != DWELL_MODE_PROFILE; /* sums have no order */
    if (runtime.os_calls)
        runtime.session.header->also |= DWELL_ALSO_CAUSES;
    levels_begin_process();
    fork_watch();
    pthread_key_t key;
    if (pthread_key_create(&key, thread_key_ended) == 0) {
        runtime.thread_key = key;
        runtime.thread_key_valid = 1;
    }
    return fd;
}

/* Whether this process was made by a fork that the runtime saw. */
static bool process_was_forked(const struct process *p)
{
    return runtime.forked_pid == p->pid;
}

static void process_announce(struct process *p, uint32_t parent_process)
{
    static char command[4096], path[4096]; /* only one thread runs this, but its stack may be small */
    const size_t length = program_path(path, sizeof path);
    long command_length = sys_read_file("/proc/self/cmdline", command, sizeof command);
    struct dwell_rec_process record = {
        .record.type = DWELL_REC_PROCESS,
        .pid = p->pid,
        .parent_pid = process_was_forked(p) ? runtime.forked_from : (uint32_t)SYS0(getppid),
        .parent_process = parent_process,
        .start_time = process_was_forked(p) ? runtime.fork_began : clock_now(runtime.clock),
    };
    struct text texts[] = { { path, length }, { command, command_length > 0 ? (size_t)command_length : 0 } };
    metadata_append(&record.record, sizeof record, texts, 2);
}

static void process_note_missing_features(void)
{
    if (!runtime.process->helper.tid)
        metadata_note("no helper thread could be started: chunks are prepared by the program's threads");
    if (runtime.os.syscalls_wanted && !runtime.os.syscalls_id)
        metadata_note(DWELL_NOTE_NO_SYSCALLS);
    if (!runtime.ordered && order_wanted)
        metadata_note(
            "the clock could not be put in order with the program's instructions, as the system does not let this "
            "library change its code");
    if (runtime.clock == DWELL_CLOCK_MONOTONIC)
        metadata_note("the CPU's counter cannot be used as a clock: every event reads CLOCK_MONOTONIC");
}

/* Enters the session, in the first process and in each forked child. Where windows are kept, the recorder uses the
 * space of ended processes again. It knows a process by its control chunk, so there is none without one: then this is
 * false. */
static bool process_enter_session(int fd)
{
    static uint32_t last_serial; /* in a forked child: the parent's */
    struct process *p = runtime.process;
    const uint32_t parent_process = last_serial;
    p->serial = __atomic_fetch_add(&runtime.session.header->next_process, 1, __ATOMIC_RELAXED);
    p->pid = (uint32_t)SYS0(getpid);
    runtime.session.writer = p->serial;
    last_serial = p->serial;
    control_begin_process(fd);
    if (keep_settings.on && !p->control.chunk) {
        runtime.lossy = true;
        sys_close(fd);
        return false;
    }
    chunk_begin_process(parent_process != 0, fd);
    monitor_begin();
    const char *helper = environment_get("DWELL_HELPER");
    runtime.helper_is_wanted = !helper || strcmp(helper, "off") != 0;
    helper_start(fd);
    process_announce(p, parent_process);
    modules_begin();
    if (!parent_process)
        chunk_ask_for_first_look();
    calibrate();
    process_note_missing_features();
    if (&library_calls_begin && !parent_process) /* a forked child has the slots of its parent */
        library_calls_begin(fd);
    else if (!parent_process)
        library_sites_begin(fd);
    sys_close(fd);
    process_cpu_begin(parent_process != 0);
    __atomic_store_n(&p->initialized, 1, __ATOMIC_RELEASE);
    sys_futex_wake(&p->initialized, INT32_MAX);
    return true;
}

static bool process_set_up_first(void)
{
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&setup_state, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        for (int i = 0; none == 1 && i < LOCK_PATIENCE; i++) {
            sys_futex_wait(&setup_state, 1, 1);
            none = __atomic_load_n(&setup_state, __ATOMIC_ACQUIRE);
        }
        return none == 2 && !runtime.off;
    }
    int fd = process_set_up();
    if (!&dwell_interposed)
        environment_conceal(); /* it passes on what is known now */
    const bool entered = fd >= 0 && process_enter_session(fd);
    if (entered)
        control_dump_on_signal();
    else
        runtime.off = true;
    __atomic_store_n(&setup_state, 2, __ATOMIC_RELEASE);
    sys_futex_wake(&setup_state, INT32_MAX);
    return entered;
}

/* In a forked child, whose process block is wiped, and which has the session's page 0 still mapped. It may have started
 * threads before its first event. */
static bool process_set_up_child(struct process *p)
{
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&p->entering, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < LOCK_PATIENCE && !__atomic_load_n(&p->initialized, __ATOMIC_ACQUIRE) && !runtime.off; i++)
            sys_futex_wait(&p->initialized, 0, 1);
        return __atomic_load_n(&p->initialized, __ATOMIC_ACQUIRE) && !runtime.off;
    }
    const int fd = environment_follows() ? session_reopen(&runtime.session, runtime.path) : -ENOENT;
    if (fd >= 0 && process_enter_session(fd))
        return true;
    if (fd < 0 && environment_follows()) {
        session_trouble(&runtime.session, DWELL_TROUBLE_NO_FILE);
        runtime.lossy = true;
    }
    runtime.off = true;
    return false;
}

bool process_begin(void)
{
    if (runtime.off || process_is_being_set_up)
        return false;
    struct process *p = runtime.process;
    if (p && __atomic_load_n(&p->initialized, __ATOMIC_ACQUIRE))
        return true;
    const bool first = __atomic_load_n(&setup_state, __ATOMIC_ACQUIRE) != 2;
    if (first && !environment_is_there())
        return false; /* libc itself has not begun */
    process_is_being_set_up = true;
    const bool done = first ? process_set_up_first() : process_set_up_child(p);
    process_is_being_set_up = false;
    return done;
}

/* Records the name of a thread that has ended no chunk since it got its name. */
static void process_refresh_name(struct thread *t)
{
    char name[sizeof t->name + 1];
    const long length = sys_read_task_file(t->tid, "comm", name, sizeof name);
    if (length <= 1)
        return;
    name[length - 1] = '\0'; /* its newline */
    if (strcmp(name, t->name) != 0)
        metadata_thread_name(t, name);
}

enum { MAX_ENDING = 4096 };

/* Threads' blocks are never unmapped, so the list may be walked without its lock, which metadata_append needs. A
 * thread that ends at the same time is recorded twice, and the reader takes the later time. */
static void process_note_threads(void)
{
    int count = 0;
    for (struct thread *t = runtime.process->threads.live; t && count < MAX_ENDING; t = t->next, count++) {
        process_refresh_name(t);
        thread_note_end(t);
    }
}

struct dwell_record *process_append_end(enum dwell_end how, int value)
{
    struct process *p = runtime.process;
    levels_end_process();
    struct dwell_rec_process_end record = {
        .record.type = DWELL_REC_PROCESS_END,
        .process = p->serial,
        .pid = p->pid,
        .how = (uint32_t)how,
        .value = (uint32_t)value,
        .time = clock_now(runtime.clock),
    };
    if (p->control.chunk)
        p->control.chunk->listening = 0;
    return metadata_append(&record.record, sizeof record, NULL, 0);
}

/* Ends the thread's chunk, so that it gets a checksum. Destructors that run later have another one. */
static void process_finish_chunk(struct thread *t)
{
    if (!t || !t->wiped->alive || !t->chunks.current || t->pause.active || guard_trouble())
        return;
    holes_fill_last(t);
    thread_give_up_chunk(t, true);
    thread_set_limit(t);
}

void process_end(enum dwell_end how, int value)
{
    const struct process *p = runtime.process;
    if (runtime.session.header && (!runtime.off || runtime.lossy))
        counts_settle_lost();
    if (!process_is_recorded())
        return;
    int error = errno;
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return; /* the recorder records the end */
    const uint64_t begin = process_cpu_set_up_begins();
    if (thread_self && thread_self->wiped->alive)
        recorder_flush(thread_self);
    process_note_threads();
    monitor_end();
    if (p->os_overflow & OS_MADE_UP)
        metadata_note(
            "intervals with hundreds of OS events: how long these took is known, but not when each was; page faults may be missing");
    if (p->os_overflow & OS_MISSED)
        metadata_note("intervals with hundreds of OS events: blocked and preempted times are underreported");
    process_cpu_set_up_ends(begin);
    process_cpu_append_end();
    process_append_end(how, value);
    const uint64_t rest = process_cpu_set_up_begins();
    calibrate_again();
    losses_of_process();
    process_finish_chunk(thread_self);
    retired_finish();
    filter_end_process();
    if (p->control.chunk)
        p->control.chunk->ended = 1;
    process_cpu_set_up_ends(rest); /* it may end again */
    sys_restore_signals(mask);
    errno = error;
}

static void process_at_quick_exit(void)
{
    process_end(DWELL_END_EXIT, 0);
}

/* A child by vfork shares the memory of a process that has not begun. */
void process_begin_early(void)
{
    if (runtime.off || (!runtime.process && !environment_is_first_process()))
        return;
    const int error = errno;
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED)
        process_begin();
    sys_restore_signals(mask);
    errno = error;
}

/* A program without probes is not in the session, until it loads a library with some. It is if the samples of its use
 * of CPU and memory are wanted, or if it has to make the session: then all that it executes has one in common.
 * libdwell.a is in programs that have probes. */
static bool process_is_wanted_at_load(void)
{
    return !&dwell_interposed || environment_get("DWELL_MONITOR") || !environment_get("DWELL_SESSION") ||
           binding_is_needed() || loaded_need_runtime();
}

__attribute__((constructor(101))) static void process_at_load(void)
{
    process_adopt();
    runtime.off = runtime.off || !runtime.path[0];
    if (runtime.off)
        return;
    at_quick_exit(process_at_quick_exit);
    const int error = errno;
    binding_search();
    errno = error;
    if (process_is_wanted_at_load())
        process_begin_early();
}

__attribute__((destructor(101))) static void process_at_unload(void)
{
    process_end(DWELL_END_UNKNOWN, 0);
}
