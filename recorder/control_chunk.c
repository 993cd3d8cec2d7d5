/* Sends commands to a recorded process: claims the command word, writes the text, wakes the runtime's helper thread. */
#include "recorder/control_chunk.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/numbers.h"
#include "clock.h"
#include "sys.h"

enum { WAIT_AT_ONCE = 10000000 /* nanoseconds */ };

struct control_walk control_walk_begin(uint64_t first)
{
    return (struct control_walk){ .at = first, .kept = first, .period = 1 };
}

/* A circle is noticed when it comes back to the offset that is kept, at the latest after three times around. */
void control_walk_on(struct control_walk *walk, uint64_t next)
{
    walk->at = next == walk->kept ? 0 : next;
    if (++walk->steps == walk->period) {
        walk->kept = walk->at;
        walk->period *= 2;
        walk->steps = 0;
    }
}

struct dwell_control *control_chunk_next(int fd, struct control_walk *walk)
{
    struct dwell_chunk_header head;
    if (!walk->at || walk->at % DWELL_UNIT || pread(fd, &head, sizeof head, (off_t)walk->at) != sizeof head ||
        head.magic != DWELL_CHUNK_MAGIC || head.kind != DWELL_CHUNK_CONTROL)
        return NULL;
    struct dwell_control *control = mmap(NULL, DWELL_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)walk->at);
    if (control == MAP_FAILED)
        return NULL;
    control_walk_on(walk, control->next);
    return control;
}

bool control_chunk_has_ended(int fd, uint64_t offset, uint32_t process)
{
    struct dwell_chunk_header head;
    uint32_t ended = 0;
    const off_t at = (off_t)(offset + offsetof(struct dwell_control, ended));
    return pread(fd, &head, sizeof head, (off_t)offset) == sizeof head && head.magic == DWELL_CHUNK_MAGIC &&
           head.kind == DWELL_CHUNK_CONTROL && head.process == process &&
           pread(fd, &ended, sizeof ended, at) == sizeof ended && ended;
}

/* Not by a mapping, as somebody may truncate the file. */
void control_chunk_deafen(int fd, uint64_t offset, uint32_t process)
{
    struct dwell_chunk_header head;
    uint32_t listening = 0;
    const off_t at = (off_t)(offset + offsetof(struct dwell_control, listening));
    if (pread(fd, &head, sizeof head, (off_t)offset) != sizeof head || head.magic != DWELL_CHUNK_MAGIC ||
        head.kind != DWELL_CHUNK_CONTROL || head.process != process ||
        pread(fd, &listening, sizeof listening, at) != sizeof listening || !listening)
        return;
    listening = 0;
    if (pwrite(fd, &listening, sizeof listening, at) < 0)
        return; /* whoever waits for the process has a limit */
}

void control_chunk_wake(struct dwell_control *control)
{
    __atomic_fetch_add(&control->work, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(&control->work);
}

/* Waits until the process has no command. Returns false if that takes longer. A wake may be lost: a process that ends
 * gives none. */
static bool control_chunk_wait(const struct dwell_control *control, long milliseconds)
{
    const uint64_t until = clock_monotonic() + (uint64_t)milliseconds * 1000000;
    for (;;) {
        const uint32_t command = __atomic_load_n(&control->command, __ATOMIC_ACQUIRE);
        const uint64_t now = clock_monotonic();
        if (command == DWELL_COMMAND_NONE)
            return true;
        if (now >= until)
            return false;
        sys_futex_wait_shared_for(&control->command, command, smaller(until - now, WAIT_AT_ONCE));
    }
}

bool control_chunk_listens(const struct dwell_control *control)
{
    return __atomic_load_n(&control->listening, __ATOMIC_ACQUIRE);
}

enum control_answer control_chunk_post(struct dwell_control *control, uint32_t command, const char *text, long patience)
{
    if (!control_chunk_listens(control))
        return CONTROL_DEAF;
    uint32_t none = DWELL_COMMAND_NONE;
    const uint32_t claimed = UINT32_MAX; /* while the text is written */
    if (!control_chunk_wait(control, patience) ||
        !__atomic_compare_exchange_n(&control->command, &none, claimed, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return CONTROL_BUSY;
    snprintf(control->text, sizeof control->text, "%s", text);
    __atomic_store_n(&control->command, command, __ATOMIC_RELEASE);
    control_chunk_wake(control);
    return CONTROL_DONE;
}

enum control_answer control_chunk_await(const struct dwell_control *control, long patience)
{
    return control_chunk_wait(control, patience) ? CONTROL_DONE : CONTROL_SILENT;
}

enum control_answer control_chunk_send(struct dwell_control *control, uint32_t command, const char *text, long patience,
                                       long answer_patience)
{
    const enum control_answer sent = control_chunk_post(control, command, text, patience);
    return sent == CONTROL_DONE ? control_chunk_await(control, answer_patience) : sent;
}

size_t control_chunks_pause(int fd, struct dwell_file_header *header)
{
    enum { PATIENCE = 5000 }; /* milliseconds */
    size_t deaf = 0;
    __atomic_store_n(&header->global_stopped, 1, __ATOMIC_SEQ_CST);
    struct control_walk walk = control_walk_begin(header->first_control);
    for (struct dwell_control *control; (control = control_chunk_next(fd, &walk));) {
        if (kill((pid_t)control->pid, 0) == 0)
            deaf += control_chunk_send(control, DWELL_COMMAND_LOOK, "", PATIENCE, PATIENCE) != CONTROL_DONE;
        munmap(control, DWELL_UNIT);
    }
    return deaf;
}
