/* The record of a thread's end. */
#include "clock.h"
#include "metadata_records.h"
#include "osevents.h"
#include "process.h"
#include "process_lock.h"
#include "runtime.h"
#include "switches.h"
#include "thread.h"

enum { MAX_TRIES = 8 }; /* another thread may go on meanwhile */

/* What the OS did after the last event and before the end. The lock keeps another thread from closing its ring at the
 * same time. */
static void thread_fill_end(struct dwell_rec_thread_end *end, const struct thread *t)
{
    struct os_events events;
    uint64_t word;
    int tries = 0;
    process_lock();
    do {
        word = *t->os.word;
        if (t->os_source.ring)
            os_read(t, &events);
        end->time = clock_now(runtime.clock);
    } while (*t->os.word != word && ++tries < MAX_TRIES);
    end->flagged = word != t->os.seen;
    if (end->flagged && t->os_source.ring) {
        end->blocked = events.blocked;
        end->preempted = events.preempted;
        if (events.off_cpu_since && events.off_cpu_since < end->time)
            *(events.off_cpu_preempted ? &end->preempted : &end->blocked) += end->time - events.off_cpu_since;
    }
    process_unlock();
}

struct dwell_record *thread_append_end(const struct thread *t)
{
    struct dwell_rec_thread_end record = {
        .record.type = DWELL_REC_THREAD_END,
        .thread = t->serial,
        .time = t->last, /* lost time belongs to no function */
    };
    if (!t->stopped)
        thread_fill_end(&record, t);
    return metadata_append(&record.record, sizeof record, NULL, 0);
}

void thread_note_end(const struct thread *t)
{
    thread_append_end(t);
    switches_note(t);
}
