/* The end of a thread's stack: the time between its last event and its end. */
#include "trace/stack.h"

#include "trace/thread_ends.h"

const struct trace_thread *stack_thread_end(const struct session_file *file, const struct trace_chunk *chunk,
                                            const struct stack_state *s)
{
    const struct trace_thread *t = session_file_thread(file, chunk->thread);
    if (file->health.lacks_parts) /* perhaps its last chunk */
        return NULL;
    return chunk->last_of_thread && !s->paused && t && t->end_time > s->last ? t : NULL;
}

struct decoded_extras stack_end_extras(const struct trace_thread *t, const char *module, uint64_t length)
{
    const uint64_t blocked = thread_end_blocked(t, module, length);
    return (struct decoded_extras){
        .flagged = t->end_flagged || blocked || t->end_preempted,
        .blocked = blocked,
        .preempted = t->end_preempted,
    };
}
