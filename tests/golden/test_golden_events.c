/* `dwell events` for one handmade session, byte for byte; see test_golden.c. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "dwell/event.h"
#include "support/golden.h"
#include "support/scenario.h"

enum { US = 1000, MAIN = 0x401000, ACCEPT = 0x401100, SERVE = 0x401200 };

static const char REQUEST[16] = "\x7e\x5b\x1c\x9a\x30\x2f\x11\x4d\x8e\x02\x5c\x71\x0b\x6f\x3d\x94";
static const char QUERY[16] = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f";
static const char NAMELESS[16] = "\xff\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f";

static const uint64_t in_accept[] = { ACCEPT, MAIN }, in_serve[] = { SERVE };

/* The main thread accepts requests, which the other thread serves. A query gets many answers. */
static void write_accept(struct writer *w, const char guid[16], uint64_t us, unsigned type, uint64_t cpu_ns,
                         const char *data)
{
    write_trace_event(w, guid,
                      &(struct written_event){
                          .time = us * US,
                          .type = type,
                          .level = TRACE_LEVEL_INFORMATION,
                          .version = 2,
                          .kernel_ns = cpu_ns / 4,
                          .user_ns = cpu_ns - cpu_ns / 4,
                          .cpu_ns = cpu_ns + 321,
                          .data = data,
                          .size = (uint32_t)strlen(data),
                          .frames = in_accept,
                          .frame_count = 2,
                      });
}

static void write_serve(struct writer *w, uint64_t us, unsigned type, uint64_t cpu_ns, const char *data)
{
    write_trace_event(w, REQUEST,
                      &(struct written_event){
                          .time = us * US,
                          .type = type,
                          .level = TRACE_LEVEL_ERROR,
                          .kernel_ns = cpu_ns,
                          .cpu_ns = cpu_ns,
                          .data = data,
                          .size = (uint32_t)strlen(data),
                          .frames = in_serve,
                          .frame_count = 1,
                          .more = 70,
                      });
}

static void write_functions(struct writer *w)
{
    write_process(w, 1, 1000, "/opt/shop/bin/shop");
    write_thread(w, 1, 1, 1001, SOURCE_PERF, "shop");
    write_thread(w, 1, 2, 1002, SOURCE_PERF, "server");
    write_event_class(w, 1, REQUEST, "request");
    write_event_class(w, 1, QUERY, "query");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/opt/shop/bin/shop");
    begin_events(w, 1, 1, 0, 100 * US, NULL, 0);
    write_enter(w, 101 * US, MAIN);
    write_exit(w, 900 * US);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 901 * US);
    write_symbol_module(w, 0, "/opt/shop/bin/shop");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x1100, "_Z6accepti");
    write_symbol(w, 0, 0, 0, 0x1200, "serve");
}

static void events_save_session(void)
{
    const char noise[] = "\x01\x80 not a text";
    struct writer *w = writer_new();
    write_header(w, 40, 100 * US, 8);
    write_header(w, 56, 1700000000123456789, 8);
    write_functions(w);
    begin_trace_events(w, 1, 1, 0);
    write_accept(w, REQUEST, 150, EVENT_TRACE_TYPE_START, 1500000, "r1 GET /index.html");
    write_accept(w, REQUEST, 160, EVENT_TRACE_TYPE_START, 2600000, "r2 GET /");
    write_accept(w, QUERY, 200, EVENT_TRACE_TYPE_START, 8000000, "select * from a_table_with_quite_a_long_name");
    write_accept(w, QUERY, 210, EVENT_TRACE_TYPE_REPLY, 8000000, "row, \"one\"");
    write_accept(w, QUERY, 230, EVENT_TRACE_TYPE_REPLY, 8100000, "row 2");
    write_accept(w, QUERY, 235, EVENT_TRACE_TYPE_CHECKPOINT, 9100000, "");
    write_accept(w, NAMELESS, 240, 77, 9100000, noise);
    write_accept(w, QUERY, 250, EVENT_TRACE_TYPE_START, 9100000, "never answered");
    end_trace_events(w, true);
    begin_trace_events(w, 1, 2, 0);
    write_serve(w, 170, EVENT_TRACE_TYPE_DEQUEUE, 0, "r1");
    write_serve(w, 300, EVENT_TRACE_TYPE_END, 100000, "r1");
    write_serve(w, 305, EVENT_TRACE_TYPE_DEQUEUE, 101000, "r2");
    write_serve(w, 600, EVENT_TRACE_TYPE_END, 250000, "r2");
    write_serve(w, 610, EVENT_TRACE_TYPE_END, 260000, "r2 once more");
    end_trace_events(w, true);
    writer_save(w, test_path("shop.dwell"));
    writer_free(w);
}

TestSuite(golden_events, .init = events_save_session, .timeout = 300);

static void events_check_formats(const char *arguments, const char *name)
{
    static const char *const formats[][2] = { { "text", "txt" }, { "csv", "csv" }, { "json", "json" } };
    for (int i = 0; i < 3; i++) {
        char command[256], file[256];
        snprintf(command, sizeof command, "%s --format %s 2>told", arguments, formats[i][0]);
        snprintf(file, sizeof file, "%s.%s", name, formats[i][1]);
        check_golden(command, file);
    }
}

Test(golden_events, list)
{
    events_check_formats("events shop.dwell", "events");
}

Test(golden_events, selected_events)
{
    check_golden(
        "events shop.dwell --class 'q*' --type start --type reply --level 4 --thread shop --process 1000 --from 101us "
        "--to 150us --stack --timer-period 100us --limit 2",
        "events-some.txt");
    check_golden("events shop.dwell --class '{030201FF-0504-0706-0809-0A0B0C0D0E0F}'", "events-guid.txt");
    check_golden("events shop.dwell --class none --format csv", "events-none.csv");
}

Test(golden_events, pairs)
{
    events_check_formats("events shop.dwell --pairs", "events-pairs");
}

Test(golden_events, queues)
{
    events_check_formats("events shop.dwell --queues", "events-queues");
    check_golden("events shop.dwell --queues --key 2 --class request", "events-key.txt");
}

Test(golden_events, records_of_etw)
{
    check_golden("events shop.dwell --format etw | od -A d -t x1 -v", "events-etw.txt");
    check_golden("events shop.dwell --format etw --processor-time --thread 1002 -n 1 | od -A d -t x1 -v",
                 "events-processor.txt");
}
