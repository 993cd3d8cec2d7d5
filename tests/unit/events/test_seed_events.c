/*
 * "EVENT_TRACE_HEADER structure", sentence by sentence. Each test is named after a sentence of the page and begins with
 * what it says.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "event_check.h"
#include "events/etw.h"
#include "events/event_views.h"
#include "support/exported.h"
#include "trace/event_cost.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"
#include "trace/event_stamp.h"

TestSuite(unit_seed_events, .timeout = 300);

static const char CLASS[16] = "class of seed 3", OTHER[16] = "another class 3";

static struct writer *begin_session(void)
{
    struct writer *w = writer_new();
    write_header(w, 40, 1000, 8);                 /* start_ticks */
    write_header(w, 56, 1700000000000000000u, 8); /* start_realtime */
    write_process(w, 1, 4711, "/bin/prog");
    write_thread(w, 1, 1, 4712, SOURCE_PERF, "one");
    write_thread(w, 1, 2, 4713, SOURCE_PERF, "two");
    write_event_class(w, 1, CLASS, "seed");
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1000, 0x1000);
    write_exit(w, 2000);
    end_events(w, true);
    begin_trace_events(w, 1, 1, 0);
    return w;
}

static void write_event(struct writer *w, const char guid[16], uint64_t time, unsigned type, const char *data)
{
    write_trace_event(
        w, guid,
        &(struct written_event){
            .time = time, .type = type, .level = 4, .version = 7, .data = data, .size = (uint32_t)strlen(data) });
}

struct seed_log {
    struct analysis session;
    struct trace_events events;
    struct event_pairs pairs;
};

static struct seed_log end_session(struct writer *w)
{
    end_trace_events(w, true);
    struct seed_log log = { .session = loaded_of(w) };
    log.events = trace_events_read(log.session.file);
    log.pairs = event_pairs_match(&log.events, 0);
    return log;
}

static void drop_log(struct seed_log *log)
{
    event_pairs_free(&log->pairs);
    trace_events_free(&log->events);
    analysis_drop(&log->session);
}

/* The session's records as Windows has them. The caller frees them. */
static char *records_of(const struct seed_log *log, const struct event_options *options, enum etw_times times)
{
    static const struct event_filter all = { .severity = -1, .to = UINT64_MAX };
    struct event_options with_filter = *options;
    char *bytes = NULL;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    with_filter.filter = &all;
    etw_write(log->session.file, &log->events, &with_filter, times, out);
    fclose(out);
    return bytes;
}

/* The n-th record, from 0: the log's header. */
static EVENT_TRACE_HEADER record_at(const char *bytes, int n)
{
    EVENT_TRACE_HEADER h;
    for (memcpy(&h, bytes, sizeof h); n > 0; n--) {
        bytes += h.Size;
        memcpy(&h, bytes, sizeof h);
    }
    return h;
}

static const struct event_options usual = { .resolution = EVENT_RESOLUTION_USUAL };

/* Size: bytes of the header and of the event's data. */
Test(unit_seed_events, size_includes_the_header_and_the_data)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_INFO, "12345");
    struct seed_log log = end_session(w);
    char *bytes = records_of(&log, &usual, ETW_UNITS);
    cr_assert(eq(u16, record_at(bytes, 1).Size, 48 + 5));
    free(bytes);
    drop_log(&log);
}

/* On input, Size is less than the session's buffer less 72 (0x48). */
Test(unit_seed_events, size_must_be_less_than_the_buffer_minus_72)
{
    cr_assert(eq(int, DWELL_EVENT_BUFFER_HEADER, 0x48));
    cr_assert(eq(int, event_check_size(65536 - 72 - 48 - 1), DWELL_OK));
    cr_assert(eq(int, event_check_size(65536 - 72 - 48), DWELL_EVENT_TOO_LONG));
}

/* Version is a roll-up of Class: type in the low byte, then the level, then two bytes of version. */
Test(unit_seed_events, version_is_a_roll_up_of_the_members_of_class)
{
    const EVENT_TRACE_HEADER h = { .Class = { .Type = 2, .Level = 3, .Version = 4 } };
    cr_assert(eq(u32, h.Version, 0x00040302));
}

/* The predefined types and their use. INFO is the default. */
Test(unit_seed_events, predefined_event_types)
{
    static const char *const names[] = { "INFO",      "START", "END",     "DC_START",  "DC_END",
                                         "EXTENSION", "REPLY", "DEQUEUE", "CHECKPOINT" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert(eq(str, (char *)event_type_name(i), (char *)names[i]));
        cr_assert(eq(int, event_type_of(names[i]), (int)i));
    }
    const EVENT_TRACE_HEADER zero = { 0 };
    cr_assert(eq(int, zero.Class.Type, EVENT_TRACE_TYPE_INFO));
}

/* DEQUEUE: START marks the time in the queue, DEQUEUE the time when the work begins, END when it is complete. */
Test(unit_seed_events, dequeue_marks_when_the_work_on_a_queued_item_begins)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_START, "");
    write_event(w, CLASS, 1250, EVENT_TRACE_TYPE_DEQUEUE, "");
    write_event(w, CLASS, 1300, EVENT_TRACE_TYPE_END, "");
    struct seed_log log = end_session(w);
    cr_assert(eq(sz, log.pairs.count, 1));
    cr_assert(eq(sz, log.pairs.list[0].start, 1));
    cr_assert(eq(sz, log.pairs.list[0].dequeue, 2));
    cr_assert(eq(sz, log.pairs.list[0].end, 3));
    drop_log(&log);
}

/* CHECKPOINT: an event that is neither at the start nor at the end of an activity. */
Test(unit_seed_events, a_checkpoint_is_neither_start_nor_end_of_an_activity)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_START, "");
    write_event(w, CLASS, 1150, EVENT_TRACE_TYPE_CHECKPOINT, "");
    write_event(w, CLASS, 1300, EVENT_TRACE_TYPE_END, "");
    struct seed_log log = end_session(w);
    cr_assert(eq(sz, log.pairs.count, 1));
    cr_assert(eq(sz, log.pairs.list[0].end, 3));
    cr_assert(eq(sz, log.pairs.stray_count, 0));
    drop_log(&log);
}

/* EXTENSION: continues a previous event, for example when there is more data than a buffer can take. */
Test(unit_seed_events, an_extension_continues_the_previous_event)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_START, "GET /a_");
    write_event(w, OTHER, 1110, EVENT_TRACE_TYPE_INFO, "between");
    write_event(w, CLASS, 1120, EVENT_TRACE_TYPE_EXTENSION, "long_");
    write_event(w, CLASS, 1130, EVENT_TRACE_TYPE_EXTENSION, "name");
    write_event(w, CLASS, 1300, EVENT_TRACE_TYPE_END, "");
    struct seed_log log = end_session(w);
    const struct event_filter all = { .severity = -1, .to = UINT64_MAX };
    struct event_options options = usual;
    options.filter = &all;
    struct table t = view_event_pairs(&log.session, &log.events, &log.pairs, &options);
    cr_assert(eq(sz, t.row_count, 1));
    cr_assert(eq(str, t.cells[t.column_count - 2].text, "GET /a_long_name"));
    cr_assert(eq(u32, log.pairs.list[0].extensions, 2));
    cr_assert(eq(sz, log.pairs.stray_count, 0));
    table_drop(&t);
    drop_log(&log);
}

/* DC_START and DC_END: events at the start and at the end of the data collection. They begin and end the activities
 * that were open then. */
Test(unit_seed_events, data_collection_start_and_end_events)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1000, EVENT_TRACE_TYPE_DC_START, "open before");
    write_event(w, CLASS, 1200, EVENT_TRACE_TYPE_END, "");
    write_event(w, CLASS, 1300, EVENT_TRACE_TYPE_START, "");
    write_event(w, CLASS, 1900, EVENT_TRACE_TYPE_DC_END, "open after");
    struct seed_log log = end_session(w);
    cr_assert(eq(sz, log.pairs.count, 2));
    cr_assert(eq(sz, log.pairs.list[0].start, 1));
    cr_assert(eq(sz, log.pairs.list[0].end, 2));
    cr_assert(eq(sz, log.pairs.list[1].end, 4));
    drop_log(&log);
}

/* REPLY: a request can have several answers. */
Test(unit_seed_events, a_request_can_receive_several_replies)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_START, "");
    write_event(w, CLASS, 1200, EVENT_TRACE_TYPE_REPLY, "");
    write_event(w, CLASS, 1300, EVENT_TRACE_TYPE_REPLY, "");
    struct seed_log log = end_session(w);
    cr_assert(eq(u32, log.pairs.list[0].replies, 2));
    cr_assert(eq(sz, log.pairs.list[0].end, 3));
    drop_log(&log);
}

/* The levels of severity, 1 to 5. */
Test(unit_seed_events, severity_levels)
{
    cr_assert(eq(int, event_severity_of("critical"), 1));
    cr_assert(eq(int, event_severity_of("error"), 2));
    cr_assert(eq(int, event_severity_of("warning"), 3));
    cr_assert(eq(int, event_severity_of("information"), 4));
    cr_assert(eq(int, event_severity_of("verbose"), 5));
}

/* A level includes the lower ones: with warning (3), fatal (1) and error (2) events are generated, too. */
Test(unit_seed_events, a_higher_level_includes_events_of_lower_levels)
{
    const struct dwell_event_class warning = { .enabled = 1 + TRACE_LEVEL_WARNING };
    cr_assert(dwell_event_enabled(&warning, TRACE_LEVEL_FATAL));
    cr_assert(dwell_event_enabled(&warning, TRACE_LEVEL_ERROR));
    cr_assert(dwell_event_enabled(&warning, TRACE_LEVEL_WARNING));
    cr_assert(not(dwell_event_enabled(&warning, TRACE_LEVEL_INFORMATION)));
}

/* ThreadId and ProcessId: on output, the thread and the process that generated the event. */
Test(unit_seed_events, thread_and_process_that_generated_the_event)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_INFO, "");
    struct seed_log log = end_session(w);
    char *bytes = records_of(&log, &usual, ETW_UNITS);
    cr_assert(eq(u32, record_at(bytes, 1).ThreadId, 4712));
    cr_assert(eq(u32, record_at(bytes, 1).ProcessId, 4711));
    free(bytes);
    drop_log(&log);
}

/* TimeStamp: system time, unless PROCESS_TRACE_MODE_RAW_TIMESTAMP: then it is in ticks of the session's clock. */
Test(unit_seed_events, time_stamp_is_system_time_unless_raw)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 3000, EVENT_TRACE_TYPE_INFO, "");
    struct seed_log log = end_session(w);
    struct event_options raw = usual;
    raw.raw_timestamps = true;
    char *bytes = records_of(&log, &usual, ETW_UNITS), *raw_bytes = records_of(&log, &raw, ETW_UNITS);
    const int64_t start = 17000000000000000 + EVENT_STAMP_OF_1970;
    cr_assert(eq(i64, record_at(bytes, 1).TimeStamp, start + 20)); /* 2000 ns later */
    cr_assert(eq(i64, record_at(raw_bytes, 1).TimeStamp, 3000));
    free(bytes);
    free(raw_bytes);
    drop_log(&log);
}

/* GuidPtr needs WNODE_FLAG_USE_GUID_PTR. Flags must have WNODE_FLAG_TRACED_GUID. */
Test(unit_seed_events, flags_must_contain_traced_guid)
{
    struct event_data data;
    EVENT_TRACE_HEADER h = { .Size = sizeof h, .Flags = WNODE_FLAG_TRACED_GUID };
    cr_assert(eq(int, event_check_header(&h, &data), DWELL_OK));
    h.Flags = 0;
    cr_assert(eq(int, event_check_header(&h, &data), DWELL_EVENT_BAD_FLAGS));
    h.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR;
    h.GuidPtr = (uint64_t)(uintptr_t)CLASS;
    cr_assert(eq(int, event_check_header(&h, &data), DWELL_OK));
}

/* The version tells the consumer which MOF class to use to decipher the event's data. Own types begin at 10. */
Test(unit_seed_events, the_version_tells_which_class_deciphers_the_data)
{
    struct writer *w = begin_session();
    end_trace_events(w, true);
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 10, 7, 3, "ROUTE", "\x08\x67\x05", "user path delta" });
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 256, 8, 1, "", "\x67", "only" });
    write_event_layout(w, 1, CLASS, &(struct written_layout){ 256, 8, 1, "", "\x08", "later" });
    begin_trace_events(w, 1, 1, 1);
    static const char data[] = "\x2a\0\0\0/index\0\xfe\xff";
    write_trace_event(
        w, CLASS,
        &(struct written_event){ .time = 1100, .type = 10, .version = 7, .data = data, .size = sizeof data - 1 });
    write_trace_event(w, CLASS,
                      &(struct written_event){ .time = 1200, .type = 11, .version = 8, .data = "abc", .size = 3 });
    write_trace_event(w, CLASS,
                      &(struct written_event){ .time = 1300, .type = 11, .version = 9, .data = "abc", .size = 3 });
    struct seed_log log = end_session(w);
    static const char *const wanted[] = { "user=42, path=/index, delta=-2", "only=abc", "abc" };
    for (size_t i = 0; i < 3; i++) {
        char *text = event_data_text(log.session.file, &log.events, &log.events.list[i], SIZE_MAX);
        cr_assert(eq(str, text, (char *)wanted[i]));
        free(text);
    }
    char *name = event_name(log.session.file, &log.events.list[0], &log.events.classes[0]);
    cr_assert(eq(str, name, "seed ROUTE"));
    free(name);
    drop_log(&log);
}

/* The number of MOF_FIELDs is limited to MAX_MOF_FIELDS. */
Test(unit_seed_events, the_number_of_mof_fields_is_limited)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[MAX_MOF_FIELDS + 1];
    } event = { .header = { .Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR } };
    struct event_data data;
    event.header.Size = sizeof event.header + MAX_MOF_FIELDS * sizeof(MOF_FIELD);
    cr_assert(eq(int, event_check_header(&event.header, &data), DWELL_OK));
    event.header.Size += sizeof(MOF_FIELD);
    cr_assert(eq(int, event_check_header(&event.header, &data), DWELL_EVENT_BAD_SIZE));
}

static void write_used(struct writer *w, uint64_t time, uint64_t kernel_ns, uint64_t user_ns)
{
    write_trace_event(w, CLASS,
                      &(struct written_event){ .time = time, .kernel_ns = kernel_ns, .user_ns = user_ns, .cpu_ns = 1 });
}

/* Events A and B of a thread with the CPU usage 150 and 175: what ran between them cost 25 units. */
Test(unit_seed_events, the_activity_between_150_and_175_costs_25_units)
{
    const uint64_t unit = 156250 * 100;
    struct writer *w = begin_session();
    write_used(w, 1100, 50 * unit, 100 * unit);
    write_used(w, 1200, 60 * unit, 115 * unit);
    struct seed_log log = end_session(w);
    cr_assert(eq(u32, event_cost(&log.events.list[0], &log.events.list[1], 156250), 25));
    drop_log(&log);
}

/* TimerResolution in the log's TRACE_LOGFILE_HEADER is the resolution of the CPU usage timer in units of 100 ns. */
Test(unit_seed_events, the_log_contains_the_timer_resolution)
{
    struct writer *w = begin_session();
    write_event(w, CLASS, 1100, EVENT_TRACE_TYPE_INFO, "");
    struct seed_log log = end_session(w);
    char *bytes = records_of(&log, &(struct event_options){ .resolution = 156250 }, ETW_UNITS);
    const EVENT_TRACE_HEADER h = record_at(bytes, 0);
    uint32_t resolution;
    memcpy(&resolution, bytes + sizeof h + 0x18, sizeof resolution);
    cr_assert(eq(u32, resolution, 156250));
    cr_assert(eq(u32, h.Guid.data1, 0x68fdd900));
    cr_assert(eq(int, h.Class.Type, EVENT_TRACE_TYPE_INFO));
    free(bytes);
    drop_log(&log);
}

/* If the resolution is 156,250, 25 units are 0.39 seconds: 156,250 * 25 * 100 / 1,000,000,000. */
Test(unit_seed_events, at_156250_25_units_are_0_39_seconds)
{
    cr_assert(eq(u64, event_cost_ns(25, 156250), 390625000));
}

/* KernelTime and UserTime together are the CPU usage: rounded, their sum is the rounded sum, and neither falls. */
Test(unit_seed_events, kernel_and_user_time_add_up_when_rounded)
{
    const uint64_t unit = EVENT_RESOLUTION_USUAL * 100;
    struct writer *w = begin_session();
    write_used(w, 1100, unit * 6 / 10, unit * 6 / 10);   /* 1.2 units */
    write_used(w, 1200, unit * 11 / 10, unit * 6 / 10);  /* 1.7 */
    write_used(w, 1300, unit * 11 / 10, unit * 19 / 10); /* 3.0 */
    struct seed_log log = end_session(w);
    struct event_units *units = event_units_of(&log.events, EVENT_RESOLUTION_USUAL);
    static const uint32_t sums[] = { 1, 1, 3 };
    for (size_t i = 0; i < 3; i++) {
        cr_assert(eq(u32, units[i].kernel + units[i].user, sums[i]));
        cr_assert(eq(u32, event_charge(&log.events.list[i], EVENT_RESOLUTION_USUAL), sums[i]));
        cr_assert(i == 0 || (units[i].kernel >= units[i - 1].kernel && units[i].user >= units[i - 1].user));
    }
    free(units);
    drop_log(&log);
}

/* Each member is rounded down. What is left of the sum counts as user time, or as kernel time that had it before. */
Test(unit_seed_events, kernel_and_user_time_of_each_event)
{
    const uint64_t unit = EVENT_RESOLUTION_USUAL * 100;
    static const struct event_units expected[] = { { 2, 1 }, { 2, 2 }, { 4, 2 }, { 5, 2 } };
    struct writer *w = begin_session();
    write_used(w, 1100, unit * 24 / 10, unit * 13 / 10); /* 3.7 units */
    write_used(w, 1200, unit * 24 / 10, unit * 17 / 10); /* 4.1 */
    write_used(w, 1300, unit * 44 / 10, unit * 17 / 10); /* 6.1 */
    write_used(w, 1400, unit * 59 / 10, unit * 17 / 10); /* 7.6: one unit has passed */
    struct seed_log log = end_session(w);
    struct event_units *units = event_units_of(&log.events, EVENT_RESOLUTION_USUAL);
    for (size_t i = 0; i < 4; i++) {
        cr_assert(eq(u32, units[i].kernel, expected[i].kernel), "event %zu", i);
        cr_assert(eq(u32, units[i].user, expected[i].user), "event %zu", i);
    }
    free(units);
    drop_log(&log);
}

/* ProcessorTime: for private sessions, the time in user mode, in ticks. */
Test(unit_seed_events, processor_time_is_the_time_in_user_mode_in_ticks)
{
    struct writer *w = begin_session();
    write_used(w, 1100, 7000, 9000);
    struct seed_log log = end_session(w);
    char *bytes = records_of(&log, &usual, ETW_PROCESSOR);
    cr_assert(eq(u64, record_at(bytes, 1).ProcessorTime, 9000)); /* a tick is a nanosecond */
    free(bytes);
    drop_log(&log);
}
