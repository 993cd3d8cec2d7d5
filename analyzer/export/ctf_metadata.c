/* Writes the metadata of a CTF trace in its language TSDL: clock, environment, functions, streams and events. */
#include "export/ctf_metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/wide.h"
#include "export/exports.h"

#define NS_PER_SECOND 1000000000u

/* Writes a string literal of the metadata language; unprintable and invalid bytes are escaped by their number. */
static void ctf_metadata_put_text(FILE *out, const char *text)
{
    char *valid = utf8_repair(text);
    putc('"', out);
    for (const char *at = valid; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(out, "\\%03o", byte);
        else
            putc(byte, out);
    }
    putc('"', out);
    free(valid);
}

static void ctf_metadata_put_uuid(FILE *out, const uint8_t uuid[16])
{
    putc('"', out);
    for (int i = 0; i < 16; i++)
        fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    putc('"', out);
}

static void ctf_metadata_put_fact(FILE *out, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(out, "\t%s = ", key);
    ctf_metadata_put_text(out, text);
    fputs(";\n", out);
}

static void ctf_metadata_write_environment(const struct analysis *session, FILE *out)
{
    const struct session_file *file = session->file;
    const struct trace_host *host = &file->host;
    fputs("env {\n", out);
    ctf_metadata_put_fact(out, "tracer_name", "dwell");
    ctf_metadata_put_fact(out, "tracer_version", DWELL_VERSION_TEXT);
    ctf_metadata_put_fact(out, "session", session->summary.path);
    ctf_metadata_put_fact(out, "hostname", host->node);
    ctf_metadata_put_fact(out, "sysname", host->system);
    ctf_metadata_put_fact(out, "kernel_release", host->release);
    ctf_metadata_put_fact(out, "kernel_version", host->version);
    ctf_metadata_put_fact(out, "machine", host->machine);
    ctf_metadata_put_fact(out, "program", file->process_count ? file->processes[0].path : NULL);
    ctf_metadata_put_fact(out, "arguments", file->process_count ? file->processes[0].arguments : NULL);
    for (size_t i = 0; i < session->summary.remark_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "remark_%zu", i + 1);
        ctf_metadata_put_fact(out, key, session->summary.remarks[i]);
    }
    fprintf(out, "\tlost_events = %" PRIu64 ";\n};\n\n", file->header.lost_events);
}

/* Writes the clock. Its values are ticks since the session's start; the offset is the start's time since 1970. */
static void ctf_metadata_write_clock(const struct dwell_file_header *h, FILE *out)
{
    fprintf(out,
            "clock {\n\tname = dwell;\n\tdescription = \"%s\";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRIu64
            ";\n\toffset = %" PRIu64 ";\n\tabsolute = true;\n};\n\n",
            h->clock == DWELL_CLOCK_MONOTONIC ? "CLOCK_MONOTONIC" : "the CPU's counter", h->ticks_per_second,
            h->start_realtime / NS_PER_SECOND,
            multiply_divide(h->start_realtime % NS_PER_SECOND, h->ticks_per_second, NS_PER_SECOND));
}

static void ctf_metadata_write_functions(const struct analysis *session, const struct order *order, FILE *out)
{
    const size_t count = session->profile->function_count;
    char **names = export_unique_names(session);
    fputs("typealias enum : integer { size = 32; align = 8; signed = false; } {\n", out);
    for (size_t i = 0; i < count; i++) {
        putc('\t', out);
        ctf_metadata_put_text(out, names[order->functions[i]]);
        fprintf(out, " = %zu,\n", i);
    }
    fprintf(out, "\t\"[unknown]\" = %zu,\n} := function_t;\n\n", count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void ctf_metadata_write_stream(FILE *out, enum ctf_stream_class class, bool of_thread)
{
    fprintf(out,
            "stream {\n\tid = %d;\n"
            "\tevent.header := struct { u8 id; time_t timestamp; };\n"
            "\tpacket.context := struct {\n\t\ttime_t timestamp_begin;\n\t\ttime_t timestamp_end;\n"
            "\t\tu64 content_size;\n\t\tu64 packet_size;\n\t\tu64 packet_seq_num;\n%s\t};\n};\n\n",
            class, of_thread ? "\t\tu32 pid;\n\t\tu32 tid;\n\t\ttext_t process;\n\t\ttext_t thread;\n" : "");
}

static void ctf_metadata_write_event(FILE *out, enum ctf_stream_class class, int id, const char *name,
                                     const char *fields)
{
    fprintf(out, "event {\n\tname = \"dwell:%s\";\n\tid = %d;\n\tstream_id = %d;\n\tfields := struct {%s};\n};\n\n",
            name, id, class, fields);
}

static void ctf_metadata_write_events(FILE *out, bool values)
{
    static const struct {
        enum ctf_stream_class class;
        int id;
        const char *name, *fields;
    } events[] = {
        { CTF_CALLS, CTF_ENTER, "enter", " function_t function; " },
        { CTF_CALLS, CTF_EXIT, "exit", " function_t function; " },
        { CTF_CALLS, CTF_CONTINUE, "continue", " function_t function; " },
        { CTF_CALLS, CTF_SUSPEND, "suspend", " function_t function; " },
        { CTF_CALLS, CTF_LEAVE, "leave", " function_t function; " },
        { CTF_CALLS, CTF_UNENDED, "unended", " function_t function; " },
        { CTF_CALLS, CTF_OFF_CPU, "off_cpu", " enum : u8 { \"blocked\" = 0, \"preempted\" = 1 } why; " },
        { CTF_CALLS, CTF_ON_CPU, "on_cpu", "" },
        { CTF_CALLS, CTF_OS, "os", " u64 ticks; u32 events; u32 page_faults; " },
        { CTF_CALLS, CTF_MARK, "mark", " u64 at; u32 number; text_t text; " },
        { CTF_TRACE_EVENTS, 0, "trace_event",
          " text_t class; text_t guid; u8 type; u8 level; u32 version; u64 cpu_ns; text_t fields; u32 size; x8 data[size]; " },
        { CTF_SESSION, CTF_FUNCTION, "function",
          " u32 number; text_t name; text_t module; x64 address; text_t file; u32 line; " },
        { CTF_SESSION, CTF_PROCESS, "process", " u32 pid; u32 parent_pid; text_t path; text_t arguments; " },
        { CTF_SESSION, CTF_PROCESS_END, "process_end",
          " u32 pid; enum : u8 { \"unseen\" = 0, \"exit\" = 1, \"signal\" = 2, \"unknown\" = 3, \"executed\" = 4 } how; u32 value; " },
        { CTF_SESSION, CTF_SAMPLE, "sample", " u32 pid; u64 cpu_ns; u64 resident_bytes; " },
    };
    ctf_metadata_write_stream(out, CTF_CALLS, true);
    ctf_metadata_write_stream(out, CTF_TRACE_EVENTS, true);
    ctf_metadata_write_stream(out, CTF_SESSION, false);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        ctf_metadata_write_event(out, events[i].class, events[i].id, events[i].name, events[i].fields);
    if (values)
        ctf_metadata_write_event(
            out, CTF_CALLS, CTF_VALUES, "values",
            " function_t function; u32 count; struct { text_t name; text_t value; } values[count]; ");
}

void ctf_write_metadata(const struct analysis *session, const struct order *order, bool values, FILE *out)
{
    fputs("/* CTF 1.8 */\n\n"
          "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
          "typealias integer { size = 8; align = 8; signed = false; base = hex; } := x8;\n"
          "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
          "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
          "typealias integer { size = 64; align = 8; signed = false; base = hex; } := x64;\n"
          "typealias string { encoding = UTF8; } := text_t;\n\n"
          "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = ",
          out);
    ctf_metadata_put_uuid(out, (const uint8_t *)session->file->header.session_id);
    fputs(";\n\tbyte_order = le;\n\tpacket.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; };\n};\n\n", out);
    ctf_metadata_write_environment(session, out);
    ctf_metadata_write_clock(&session->file->header, out);
    fputs("typealias integer { size = 64; align = 8; signed = false; map = clock.dwell.value; } := time_t;\n\n", out);
    ctf_metadata_write_functions(session, order, out);
    ctf_metadata_write_events(out, values);
}
