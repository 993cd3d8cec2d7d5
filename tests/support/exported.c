/* Exports sessions to memory, and builds the session with hostile names. */
#include "support/exported.h"
#include "commands/features.h"
#include "support/load.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/scenario.h"

struct analysis loaded_of(struct writer *w)
{
    struct analysis analysis;
    writer_save(w, test_path("exported.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("exported.dwell"), 1);
    return analysis;
}

char *exported(const struct analysis *session, const char *format, enum export_time time, size_t *length)
{
    const struct export_format *found = find_export(format);
    const struct export_options options = { .time = time };
    char *text = NULL;
    cr_assert(found && found->write, "%s", format);
    FILE *out = open_memstream(&text, length);
    struct error error = { NULL };
    cr_assert(found->write(session, &options, out, &error), "%s", error.text);
    cr_assert(not(ferror(out)));
    cr_assert(zero(int, fclose(out)));
    return text;
}

static char long_name[10001];

const char *bad_names[BAD_NAMES] = {
    [BAD_QUOTES] = "operator\"\"_s<'\\'>",   [BAD_SEMICOLON] = "a;b::c;",
    [BAD_NEWLINE] = "two\nlines\r\n",        [BAD_UNICODE] = "größe::日本<😀>",
    [BAD_BYTES] = "bad\xff\xc3name\xe2\x82", [BAD_LONG] = long_name,
    [BAD_NUMBER] = "operator new 12",        [BAD_CONTROLS] = "tab\there\x1b[0m\x7f",
    [BAD_MARKUP] = "</script><b>&amp;",
};

static void exported_make_long_name(void)
{
    memset(long_name, 'x', sizeof long_name - 1);
    memcpy(long_name, "wide<", 5);
    long_name[sizeof long_name - 2] = '>';
}

struct writer *bad_session(void)
{
    struct writer *w = writer_new();
    exported_make_long_name();
    write_process(w, 1, 100, "/opt/a;b");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x40f000, 0, "/opt/a;b");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "th\nread");
    write_symbol_module(w, 0, "/opt/a;b");
    write_symbol_file(w, 1, "/src/a \"b\".c");
    write_symbol(w, 0, 1, 3, 0x1000, "main");
    for (unsigned i = 0; i < BAD_NAMES; i++)
        write_symbol(w, 0, 1, 10 + i, 0x2000 + i * 0x100, bad_names[i]);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    uint64_t time = 1000;
    write_enter(w, time, 0x401000);
    for (unsigned i = 0; i < BAD_NAMES; i++) {
        for (unsigned call = 0; call <= i; call++) {
            write_enter(w, time, 0x402000 + i * 0x100);
            if (call == i)
                write_off_cpu(w, false, time + 2, 4);
            write_exit(w, time += 10);
        }
    }
    write_exit(w, time += 5);
    end_events(w, true);
    return w;
}
