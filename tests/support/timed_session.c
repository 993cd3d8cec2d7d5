/* Writes a session whose calls take many different times. */
#include "support/timed_session.h"

#include "support/session_writer.h"

enum { SESSION_ID = 24, TICKS = 64, TICK = 256 };

/* Each thread calls the function F many times, 2 F from some of these calls, and 3 F once. */
static void timed_session_write_thread(struct writer *w, uint32_t thread, uint64_t seed)
{
    uint64_t time = 0, state = seed * 77 + thread;
    write_thread(w, 1, thread, 100 + thread, SOURCE_PERF, "thread");
    begin_events(w, 1, thread, 0, 0, NULL, 0);
    for (uint32_t i = 0, sequence = 0; i < 400; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        if (i % 97 == 96) {
            end_events(w, true);
            begin_events(w, 1, thread, ++sequence, time, NULL, 0);
        }
        write_enter(w, time += 1000, TIMED_SESSION_FUNCTION);
        if (i % 5 == 0 || i == 7) {
            write_enter(w, time += 10, (i == 7 ? 3 : 2) * TIMED_SESSION_FUNCTION);
            write_exit(w, time += 100 + (state >> 45) % 60000);
        }
        write_exit(w, time += 200 + (state >> 40) % 9000);
    }
    end_events(w, true);
}

void timed_session_save(const char *path, uint64_t id, uint64_t rate, uint32_t cost)
{
    struct writer *w = writer_new();
    write_header(w, SESSION_ID, id, 8);
    write_header(w, TICKS, rate, 8);
    write_process(w, 1, 70, "/bin/p");
    if (cost)
        write_probes(w, 1, 2 * cost * TICK, cost * TICK, 3 * cost * TICK);
    for (uint32_t i = 1; i <= TIMED_SESSION_THREADS; i++)
        timed_session_write_thread(w, i, id);
    writer_save(w, path);
    writer_free(w);
}
