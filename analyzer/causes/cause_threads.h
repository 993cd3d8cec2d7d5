/* Threads by the system's numbers, and the causes of waits that the waits' objects name. */
#ifndef DWELL_CAUSES_CAUSE_THREADS_H
#define DWELL_CAUSES_CAUSE_THREADS_H

#include "causes/wait_causes.h"

/* Threads of a session, sorted by tid and start. */
struct tid_list {
    const struct trace_thread **list;
    size_t count;
};

struct tid_list tid_list_of(const struct session_file *file);
void tid_list_drop(struct tid_list *t);

/* The first thread with this tid that was recorded after that time; NULL if there is none. */
const struct trace_thread *tid_list_find_next(const struct tid_list *t, uint32_t tid, uint64_t time);

/* Sets the thread that ended the wait. A thread that acted before the wait began did not end it. */
void causes_set_waker(struct caused_wait *w, uint32_t thread, uint64_t time);

/* Sets the thread that the wait was for, and the time at which its open calls are of interest. False if the object
 * names none. */
bool causes_name_thread(struct caused_wait *w, const struct tid_list *tids, uint64_t *time);

#endif
