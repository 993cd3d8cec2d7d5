/* Hand-written sessions of threads that wait and act. */
#include "support/wakes.h"

enum { ALSO = 176, CAUSES = 2 }; /* the header's place of what else was recorded */

struct writer *wakes_new(void)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x1100, "work");
    write_symbol(w, 1, 0, 0, 0x1000, "wait");
    write_symbol(w, 1, 0, 0, 0x1100, "act");
    return w;
}

void wakes_thread_begins(struct writer *w, uint32_t serial, uint64_t begin, uint64_t function)
{
    write_thread_at(w, 1, serial, 99 + serial, SOURCE_PERF, begin, "t");
    begin_events(w, 1, serial, 0, begin, NULL, 0);
    write_enter(w, begin, function);
}

void wakes_thread_ends(struct writer *w, uint32_t serial, uint64_t end)
{
    write_exit(w, end);
    end_events(w, true);
    write_thread_end(w, 1, serial, false, end);
}

void wakes_call(struct writer *w, uint64_t begin, uint64_t end, unsigned kind, uint64_t id, uint32_t holder)
{
    write_enter(w, begin, WAKES_WAIT);
    write_off_cpu(w, false, begin + 5, end - begin - 10);
    if (kind)
        write_object(w, kind, false, id, holder);
    write_exit(w, end);
}

void wakes_act(struct writer *w, uint64_t begin, uint64_t end, unsigned kind, uint64_t id)
{
    write_enter(w, begin, WAKES_ACT);
    write_os(w);
    write_object(w, kind, true, id, 0);
    write_exit(w, end);
}
