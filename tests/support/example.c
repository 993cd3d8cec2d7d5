/* Builds the example session: two processes with call trees, unfinished calls, source lines and OS events. */
#include "support/example.h"

#include <stdlib.h>
#include <string.h>

static const char shop[] = "/opt/shop/bin/shop", worker[] = "/opt/shop/bin/worker";
static const char price[] = "/opt/shop/lib/libprice.so";

enum { MAIN = 0x401000, HANDLE = 0x401100, AUDIT = 0x401200, WORK = 0x401000 };

/* libprice.so has another address in the child. */
static const uint64_t price_at = 0x7f1234500000, price_in_child = 0x7f9900000000;
static const uint64_t price_of = 0x2000, round_up = 0x2100, unknown = 0x7f0000dead00;

enum { US = 1000 };

static void example_write_symbols(struct writer *w)
{
    set_build_id(w, "\xaa\x01", 2);
    write_symbol_module(w, 0, shop);
    set_build_id(w, "\xbb\x02", 2);
    write_symbol_module(w, 1, price);
    set_build_id(w, "\xcc\x03", 2);
    write_symbol_module(w, 2, worker);
    write_symbol_file(w, 1, "/home/me/shop/main.c");
    write_symbol_file(w, 2, "/home/me/shop/price.cc");
    write_symbol(w, 0, 1, 10, 0x1000, "main");
    write_symbol(w, 0, 1, 40, 0x1100, "handle");
    write_symbol(w, 0, 0, 0, 0x1200, "audit");
    write_symbol(w, 1, 2, 7, price_of, "_Z8price_ofRKN4shop4ItemEi");
    write_symbol(w, 1, 2, 31, round_up, "_ZN4shop8round_upEd");
    write_symbol(w, 2, 0, 0, 0x1000, "main");
}

static void example_write_modules(struct writer *w, uint32_t process, const char *program, const char *id,
                                  uint64_t library)
{
    set_build_id(w, id, 2);
    write_module(w, process, 1, 0x400000, 0x401000, 0x402000, 0, program);
    set_build_id(w, "\xbb\x02", 2);
    write_module(w, process, 2, library, library + 0x1000, library + 0x9000, 0, price);
}

/* main calls handle three times. The price of a bundle is the price of its parts. */
static void example_write_shop(struct writer *w)
{
    begin_events(w, 1, 1, 0, 1000 * US, NULL, 0);
    write_enter(w, 1001 * US, MAIN);
    uint64_t t = 1003 * US;
    for (int i = 0; i < 3; i++, t += 30 * US) {
        write_enter(w, t, HANDLE);
        write_enter(w, t + 1 * US, price_at + price_of);
        write_enter(w, t + 2 * US, price_at + price_of);
        write_enter(w, t + 3 * US, price_at + round_up);
        write_exit(w, t + 3250);
        write_exit(w, t + 5 * US);
        write_exit(w, t + 6 * US);
        write_off_cpu(w, i == 1, t + 8 * US, 9 * US);
        if (i == 2)
            write_faults(w, 2);
        write_exit(w, t + 20 * US);
    }
    end_events(w, true);
    begin_events(w, 1, 1, 1, t - 10 * US, (struct open_call[]){ { MAIN, 1001 * US } }, 1);
    write_enter(w, t, AUDIT);
    write_enter(w, t + 2 * US, HANDLE);
    write_enter(w, t + 3 * US, unknown);
    write_unwind(w, 2); /* the longjmp of audit */
    write_exit(w, t + 40 * US);
    write_exit(w, t + 50 * US);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, t + 51 * US);
}

static void example_write_pricing(struct writer *w)
{
    begin_events(w, 1, 2, 0, 1010 * US, NULL, 0);
    for (uint64_t i = 0; i < 8; i++) {
        const uint64_t t = 1010 * US + 17 * i * US;
        write_enter(w, t, price_at + price_of);
        write_enter(w, t + 3 * US, price_at + round_up);
        if (i % 4 == 3)
            write_os(w);
        write_exit(w, t + 4 * US + 125 * i);
        write_exit(w, t + 9 * US);
    }
    end_events(w, false);
    write_thread_end(w, 1, 2, true, 1200 * US);
}

/* The child is forked within main and handle, and killed in price_of. */
static void example_write_worker(struct writer *w)
{
    begin_events(w, 2, 3, 0, 1100 * US, (struct open_call[]){ { WORK, 1050 * US } }, 1);
    write_enter(w, 1105 * US, price_in_child + price_of);
    write_exit(w, 1110 * US);
    write_os(w);
    write_enter(w, 1150 * US, price_in_child + price_of);
    end_events(w, false);
    write_process_end(w, 0, 1001, END_SIGNAL, 9, 1180 * US);
}

struct writer *example_session(uint32_t source)
{
    struct writer *w = writer_new();
    write_header(w, 40, 900 * US, 8);
    write_header(w, 72, 1300 * US, 8);
    write_process(w, 1, 1000, shop);
    example_write_modules(w, 1, shop, "\xaa\x01", price_at);
    write_thread(w, 1, 1, 1000, source, "shop");
    write_thread(w, 1, 2, 1002, source, "pricing");
    write_note(w, 1, "made by hand");
    write_thread_switches(w, 1, 1, 3, 1, 2);
    write_thread_switches(w, 1, 2, 10, 10, 10);
    write_thread_switches(w, 1, 2, 20, 5, 22); /* the later record is the valid one */
    write_process(w, 2, 1001, worker);
    example_write_modules(w, 2, worker, "\xcc\x03", price_in_child);
    write_thread(w, 2, 3, 1001, source ? SOURCE_RSEQ : SOURCE_NONE, "worker");
    example_write_shop(w);
    example_write_pricing(w);
    example_write_worker(w);
    write_process_end(w, 1, 1000, END_EXIT, 0, 1250 * US);
    example_write_symbols(w);
    return w;
}

struct writer *example_small(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    set_build_id(w, "\x01\x02", 2);
    write_module(w, 1, 1, 0x10000, 0x11000, 0x12000, 0, "/lib/x.so");
    write_module_unload(w, 1, 1, 70000);
    write_module(w, 1, 2, 0x10000, 0x11000, 0x12000, 75000, "/lib/y.so");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread_name(w, 1, 1, "renamed");
    write_note(w, 1, "a note");
    write_thread_end(w, 1, 1, true, 100000);
    write_process_end(w, 1, 100, END_SIGNAL, 11, 200000);
    write_event_class(w, 1, "sixteen bytes...", "class");
    begin_trace_events(w, 1, 1, 0);
    for (unsigned type = 1; type < 8; type++)
        write_trace_event(w, "sixteen bytes...",
                          &(struct written_event){ .time = 1000 * type,
                                                   .type = type,
                                                   .data = "text",
                                                   .size = 4,
                                                   .frames = (uint64_t[]){ 0x11100 },
                                                   .frame_count = 1 });
    end_trace_events(w, true);
    begin_events(w, 1, 1, 0, 0, (struct open_call[]){ { 0x11000, 0 }, { 0x9000, 0 } }, 2);
    write_enter(w, 100, 0x11100);
    write_os(w);
    write_enter(w, 20000, 0x700000001000);
    write_words(w, (uint16_t[]){ 0 }, 1);
    write_off_cpu(w, true, 20010, 30);
    write_faults(w, 1);
    write_exit(w, 20100);
    write_words(w, (uint16_t[]){ 13u << 8, 50u << 8 | 1, 5 }, 3);
    write_unwind(w, 1);
    write_off_cpu(w, false, 60000, 7000);
    write_enter(w, 80000, 0x11100);
    write_exit(w, 80001);
    write_exit(w, 80001);
    end_events(w, true);
    write_symbol_module(w, 0, "/lib/x.so");
    write_symbol_file(w, 1, "x.c");
    write_symbol(w, 0, 1, 12, 0x1100, "_Z3foov");
    return w;
}
