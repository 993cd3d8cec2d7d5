/* Writes the hostile files, and lists the commands that show them. */
#include "support/hostile.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/site_session.h"

const struct hostile_view hostile_views[] = {
    { "report", "hostile.data" },
    { "report", "--summary hostile.data" },
    { "report", "--by line hostile.data" },
    { "report", "--by module hostile.data" },
    { "report", "--by module-function hostile.data" },
    { "report", "--by thread hostile.data" },
    { "report", "--by thread-name hostile.data" },
    { "report", "--by process hostile.data" },
    { "report", "imported.data" },
    { "tree", "--min 0 hostile.data" },
    { "tree", "--by thread --min 0 hostile.data" },
    { "tree", "--collapse=50% --fold-recursion hostile.data" },
    { "callers", "hostile.data main" },
    { "callers", "--by line hostile.data main" },
    { "callers", "hostile.data twin" },
    { "waits", "hostile.data" },
    { "waits", "--by lock hostile.data" },
    { "waits", "--raw hostile.data" },
    { "critical", "hostile.data" },
    { "critical", "--by thread hostile.data" },
    { "whatif", "hostile.data main=0.5" },
    { "advise", "hostile.data" },
    { "annotate", "hostile.data main" },
    { "values", "hostile.data main" },
    { "values", "--list hostile.data main" },
    { "scaling", "hostile.data main" },
    { "histogram", "hostile.data main" },
    { "slowest", "hostile.data main" },
    { "why", "--call 1 hostile.data work" },
    { "replay", "hostile.data" },
    { "marks", "hostile.data" },
    { "events", "hostile.data" },
    { "events", "--stack hostile.data" },
    { "events", "--pairs hostile.data" },
    { "events", "--queues hostile.data" },
    { "info", "hostile.data" },
    { "info", "imported.data" },
    { "view", "--no-open --force -o out.html hostile.data" },
    { "top", "--once hostile.data" },
    { "top", "--once --by module hostile.data" },
    { "top", "--once --by thread hostile.data" },
    { "top", "--once --by process hostile.data" },
    { "diff", "hostile.data hostile.data" },
    { "diff", "--by module hostile.data imported.data" },
    { "diff", "--by path --fail-if 'calls < +1' hostile.data imported.data" },
    { "export", "callgrind hostile.data" },
    { "export", "collapsed hostile.data" },
    { "export", "perflog hostile.data" },
    { "export", "speedscope hostile.data" },
    { "export", "chrome hostile.data" },
    { "export", "firefox hostile.data" },
    { "import", "vsperf --resolution 1000 hostile.csv -o again.data" },
    { "import", "vsperf hostile.log -o again.data" },
    { "profile", "hostile.data -o sums.data" },
    { "merge", "hostile.data -o merged.data" },
    { "perflog", "hostile.log" },
    { "perflog", "--instances hostile.log" },
    { "perflog", "--monitors hostile.log" },
    { "perflog", "--diff hostile.log hostile.log" },
    { "doctor", "$PROGRAMS/timer" },
    { "record", "-o recorded.data $SAMPLES/fib 3" },
    { "control", "hostile.data pause" },
    { NULL, NULL },
};

char *hostile_commands(void)
{
    return run_well("$DWELL --help | sed -n 's/^  \\([a-z][a-z]*\\)  .*/\\1/p' | tr '\\n' ' '");
}

/* ---- the session ---- */

enum { BIAS = 0x400000, MAIN = BIAS + 0x1000, WORK = BIAS + 0x2000, TWIN = BIAS + 0x3000, OTHER = BIAS + 0x4000 };
enum {
    RECORD_PROCESS_NAME = 12,
    RECORD_HOST = 14,
    RECORD_SITE = 17,
    ALSO = 176,
    CALL_SITES = 1,
    CAUSES = 2,
    SITE_EXTENSION = 16
};

static const char *prefix;

/* Valid until the test ends. */
static const char *hostile_name(const char *word)
{
    char *name = malloc(strlen(prefix) + strlen(word) + 1);
    strcpy(name, prefix);
    return strcat(name, word);
}

/* The bytes of a record after its type and size. */
struct hostile_content {
    uint8_t bytes[8192];
    size_t length;
};

static void hostile_add(struct hostile_content *c, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        c->bytes[c->length++] = (uint8_t)(value >> 8 * i);
}

static void hostile_add_text(struct hostile_content *c, const char *text)
{
    const size_t length = strlen(text);
    hostile_add(c, length, 2);
    memcpy(c->bytes + c->length, text, length);
    c->length += length;
}

static void hostile_write_texts(struct writer *w, uint32_t type, unsigned count)
{
    struct hostile_content c = { .length = 0 };
    for (unsigned i = 0; i < count; i++)
        hostile_add_text(&c, hostile_name("text"));
    write_record(w, 1, type, c.bytes, c.length);
}

static void hostile_write_line(struct writer *w, uint64_t offset)
{
    struct hostile_content c = { .length = 0 };
    hostile_add(&c, 0, 4); /* module */
    hostile_add(&c, 1, 4); /* file */
    hostile_add(&c, 10, 4);
    hostile_add(&c, 0, 4);
    hostile_add(&c, 0, 4);
    hostile_add(&c, 0, 4);
    hostile_add(&c, offset, 8);
    hostile_add_text(&c, hostile_name("main"));
    hostile_add_text(&c, "");
    write_record(w, 0, RECORD_SITE, c.bytes, c.length);
}

static void hostile_write_symbols(struct writer *w)
{
    write_symbol_module(w, 0, hostile_name("bin"));
    write_symbol_module(w, 1, hostile_name("lib"));
    write_symbol_file(w, 1, hostile_name("file.c"));
    write_symbol(w, 0, 1, 9, 0x1000, hostile_name("main"));
    write_symbol(w, 0, 1, 18, 0x2000, hostile_name("work(int)"));
    write_symbol(w, 0, 1, 28, 0x3000, hostile_name("twin"));
    write_symbol(w, 1, 1, 38, 0x1000, hostile_name("twin"));
    hostile_write_line(w, 0x1010);
}

static void hostile_write_metadata(struct writer *w)
{
    write_process(w, 1, 100, hostile_name("bin"));
    hostile_write_texts(w, RECORD_PROCESS_NAME, 1);
    hostile_write_texts(w, RECORD_HOST, 5);
    write_thread(w, 1, 1, 100, SOURCE_PERF, hostile_name("first"));
    write_thread(w, 1, 2, 101, SOURCE_PERF, "second");
    write_thread_name(w, 1, 2, hostile_name("renamed"));
    write_module(w, 1, 1, BIAS, BIAS, BIAS + 0x4000, 0, hostile_name("bin"));
    write_module(w, 1, 2, BIAS + 0x3000, BIAS + 0x4000, BIAS + 0x8000, 0, hostile_name("lib"));
    write_note(w, 1, hostile_name("note"));
    write_event_class(w, 1, "sixteen bytes...", hostile_name("class"));
}

static void hostile_write_trace_events(struct writer *w)
{
    const char *data = hostile_name("data");
    begin_trace_events(w, 1, 1, 0);
    for (unsigned type = 1; type < 9; type++)
        write_trace_event(w, "sixteen bytes...",
                          &(struct written_event){ .time = 1000 * type,
                                                   .type = type,
                                                   .level = 4,
                                                   .data = data,
                                                   .size = (uint32_t)strlen(data),
                                                   .frames = (uint64_t[]){ WORK, MAIN },
                                                   .frame_count = 2 });
    end_trace_events(w, true);
}

static void hostile_write_calls(struct writer *w, uint32_t thread)
{
    begin_events(w, 1, thread, 0, 1000, NULL, 0);
    write_enter(w, 2000, MAIN);
    write_mark(w, 2500, 2500, 7, hostile_name("mark"));
    for (uint64_t t = 3000; t < 9000; t += 1000) {
        write_site(w, SITE_EXTENSION, 0x10, 1);
        write_enter(w, t, WORK);
        write_enter(w, t + 100, TWIN);
        write_exit(w, t + 200);
        write_enter(w, t + 300, OTHER);
        write_off_cpu(w, false, t + 320, 50);
        write_object(w, OBJECT_MUTEX, false, 0x5000, 102 - thread); /* which the other thread holds */
        write_exit(w, t + 400);
        write_exit(w, t + 500);
    }
    write_exit(w, 10000);
    end_events(w, true);
}

static void hostile_save_session(void)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CALL_SITES | CAUSES, 4);
    hostile_write_metadata(w);
    hostile_write_trace_events(w);
    hostile_write_calls(w, 1);
    hostile_write_calls(w, 2);
    write_process_end(w, 1, 100, END_EXIT, 0, 20000);
    hostile_write_symbols(w);
    writer_save(w, test_path("hostile.data"));
    writer_free(w);
}

/* ---- the log and the report ---- */

static void hostile_save_log(void)
{
    FILE *out = fopen(test_path("hostile.log"), "wb");
    cr_assert(out != NULL);
    fprintf(out, "## PERF ## OSVERSION=[%sos] BUILD=[%sbuild]\n", prefix, prefix);
    fprintf(out, "## PERF ## PLATFORM=[%splatform] CPU=[%scpu]\n", prefix, prefix);
    fprintf(out, "## PERF ## DEVNAME=[%sdevice]\n", prefix);
    fprintf(out, "## PERF ## REGISTERED APP [%sapp] PROCCESSID [0x03d3002e]\n", prefix);
    fprintf(out, "## PERF ## RESOLUTION [1000] TICKS PER SECOND\n");
    fprintf(out, "## PERF ## REGISTERED MARKER [%smarker,%skey=%svalue] AS [1] BY APP [%sapp]\n", prefix, prefix,
            prefix, prefix);
    fprintf(out, "## PERF ## APP [%sapp] EVT [1] DUR [5]\n## PERF ## APP [%sapp] EVT [9] DUR [5]\n", prefix, prefix);
    fprintf(out, "## PERF ## APP [%sapp] EVT [%snumber] DUR [%snumber]\n", prefix, prefix, prefix);
    fprintf(out, "## PERF ## REGISTERED MARKER [CPU: %sapp] AS [103] BY APP [%sapp]\n", prefix, prefix);
    fprintf(out, "## PERF ## APP [%sapp] CPU MON [%sapp] FREQ [100]\n", prefix, prefix);
    fprintf(out, "## PERF ## APP [%sapp] EVT [103] CPU [77.2]\n", prefix);
    fprintf(out, "## PERF ## APP [%sapp] %sKIND [5] X [%s]\n## PERF ## %s\n", prefix, prefix, prefix, prefix);
    fclose(out);
}

static void hostile_save_report(void)
{
    FILE *out = fopen(test_path("hostile.csv"), "wb");
    cr_assert(out != NULL);
    fprintf(out, "Type,Function Name,Elapsed Inclusive Time,Elapsed Exclusive Time,Number of Calls,Module Name,Source "
                 "File,Process Name,Process ID\n");
    fprintf(out, "Root,\"%smain\",14000,4000,1,\"%slib\",\"%sfile.c\",\"%sprocess\",7\n", prefix, prefix, prefix,
            prefix);
    fprintf(out, "Callee,\"%swork\",10000,10000,6,\"%slib\",\"%sfile.c\",\"%sprocess\",7\n", prefix, prefix, prefix,
            prefix);
    fprintf(out, "Root,\"%swork\",10000,10000,6,\"%slib\",\"%sfile.c\",\"%sprocess\",7\n", prefix, prefix, prefix,
            prefix);
    fprintf(out, "Caller,\"%smain\",10000,10000,6,\"%slib\",\"%sfile.c\",\"%sprocess\",7\n", prefix, prefix, prefix,
            prefix);
    fclose(out);
    struct ran r = run("$DWELL import vsperf --resolution 1000000000 hostile.csv -o imported.data");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
}

void hostile_save(const char *text)
{
    need_features("events perflog vsperf"); /* the list of views has their commands */
    prefix = text;
    hostile_save_session();
    hostile_save_log();
    hostile_save_report();
}
