/* Writes a session in which several functions have one name. */
#include "support/copies_session.h"

enum { MAIN = 0x1000, FIRST = 0x2000, SECOND = 0x3000, OTHER = 0x4000, ELSEWHERE = 0x5000, DIFFERENT = 0x6000 };

struct writer *copies_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/shop");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0x10000, 0x10000, 0x15000, 0, "/bin/shop");
    write_module(w, 1, 2, 0x20000, 0x20000, 0x28000, 0, "/lib/libshop.so");
    write_symbol_module(w, 1, "/bin/shop");
    write_symbol_file(w, 1, "/src/sds.h");
    write_symbol_file(w, 2, "/src/list.h");
    write_symbol(w, 1, 0, 0, MAIN, "main");
    write_symbol(w, 1, 1, 87, FIRST, "length");
    write_symbol(w, 1, 1, 87, SECOND, "length");
    write_symbol(w, 1, 2, 9, OTHER, "length");
    write_symbol_module(w, 2, "/lib/libshop.so");
    write_symbol_file(w, 1, "/src/sds.h");
    write_symbol(w, 2, 1, 87, ELSEWHERE, "length");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x10000 + MAIN);
    write_enter(w, 10, 0x10000 + SECOND);
    write_enter(w, 15, 0x10000 + FIRST);
    write_exit(w, 20);
    write_exit(w, 30);
    write_enter(w, 40, 0x10000 + FIRST);
    write_exit(w, 50);
    write_enter(w, 60, 0x10000 + OTHER);
    write_exit(w, 70);
    write_enter(w, 80, 0x20000 + ELSEWHERE);
    write_exit(w, 90);
    write_exit(w, 100);
    end_events(w, true);
    return w;
}
