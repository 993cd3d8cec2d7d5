/* PerfLog's lines in all their forms: the record of each, and the lines that are errors. A line never causes the loss
 * of another one. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/perflog.h"

/* golden_perflog tests the messages about bad lines. */
TestSuite(unit_perflog, .init = log_quietly, .timeout = 300);

static void perflog_check_row(const struct perflog *log, const char *marker, uint64_t count, uint64_t total_ns)
{
    struct rows rows = rows_of(log, false);
    const struct perflog_row *row = row_of(&rows, "a", marker);
    cr_assert(eq(u64, row->count, count), "%s", marker);
    cr_assert(eq(u64, row->total, total_ns), "%s", marker);
    free(rows.list);
}

static void perflog_check_bad(const struct perflog *log, uint64_t bad_lines)
{
    cr_assert(eq(u64, perflog_totals(log).bad_lines, bad_lines));
}

/* ---- the examples of the library's description and of the seeds ---- */

static void perflog_check_example(const char *file)
{
    struct perflog *log = log_of_file(file, false);
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, 2), "%s", file);
    const struct perflog_row *written = row_of(&rows, "myperfapp", "WriteFile");
    const struct perflog_row *read = row_of(&rows, "myperfapp", "ReadFile");
    /* 450718 ticks, on average 112679.5: 0.09 s; 176960, 44240: 0.04 s */
    cr_assert(eq(u64, written->count, 4));
    cr_assert(eq(u64, written->total, 377745185));
    cr_assert(eq(u64, written->mean, 94436296));
    cr_assert(eq(u64, written->least, 91310615));
    cr_assert(eq(u64, written->greatest, 102682747));
    cr_assert(eq(u64, read->count, 4));
    cr_assert(eq(u64, read->total, 148309559));
    cr_assert(eq(u64, read->mean, 37077390));
    cr_assert(eq(u64, read->least, 33529727));
    cr_assert(eq(u64, read->greatest, 46010661));
    perflog_check_bad(log, 0);
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog, markers_one_after_the_other)
{
    perflog_check_example("one-after-the-other.log");
}

Test(unit_perflog, markers_interleaved)
{
    perflog_check_example("interleaved.log");
}

Test(unit_perflog, an_id_registered_again_gives_two_results)
{
    perflog_check_example("registered-again.log");
}

Test(unit_perflog, monitors)
{
    struct perflog *log = log_of_file("monitors.log", false);
    struct rows rows = rows_of(log, false);
    size_t count;
    const struct perflog_series *series = perflog_series(log, &count);
    cr_assert(eq(sz, rows.count, 1));
    const struct perflog_row *row = row_of(&rows, "myperfapp", "CeWriteRecord");
    cr_assert(eq(u32, row->id, 10));
    cr_assert(eq(u64, row->count, 10));
    cr_assert(eq(u64, row->total, 2940881)); /* 3509 ticks */
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(int, series[0].memory, false));
    cr_assert(eq(int, series[1].memory, true));
    cr_assert(eq(u64, series[0].count, 2));
    cr_assert(series[0].least == 74625984 && series[0].greatest == 77205093 && series[0].sum == 151831077);
    cr_assert(eq(u64, series[1].count, 2));
    cr_assert(series[1].least == 10080256000000 && series[1].greatest == 10080256000000);
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog, the_seeds_log_gives_the_seeds_figures)
{
    struct perflog *log = log_of_file("seed.log", false);
    struct rows rows = rows_of(log, false);
    size_t count;
    const struct perflog_run *runs = perflog_runs(log, &count);
    cr_assert(eq(sz, count, 1));
    cr_assert(eq(str, (char *)runs[0].app, "myperfapp"));
    cr_assert(eq(u64, runs[0].pid, 0x03d3002e));
    cr_assert(eq(u64, runs[0].resolution, 1193180));
    static const char *const fields[] = { "6.0", "1234", "CEPC", "x86", "CEPC" };
    for (int i = 0; i < FIELD_COUNT; i++)
        cr_assert(eq(str, (char *)runs[0].fields[i], (char *)fields[i]));
    cr_assert(eq(sz, rows.count, 1));
    const struct perflog_row *row = row_of(&rows, "myperfapp", "Test=MyTest");
    cr_assert(eq(u32, row->id, 1));
    cr_assert(eq(u64, row->total, 102682747));
    const struct perflog_series *series = perflog_series(log, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(series[0].sum == 57843834);
    cr_assert(series[1].sum == 10059776000000);
    perflog_check_bad(log, 0);
    free(rows.list);
    perflog_free(log);
}

Test(unit_perflog, the_translated_page_is_refused)
{
    struct perflog *log = log_of_file("scrambled.log", false);
    cr_assert(eq(u64, perflog_totals(log).understood, 0));
    perflog_check_bad(log, 12);
    perflog_free(log);
}

/* ---- forms of lines ---- */

static const struct {
    const char *line, *marker;
    uint64_t total_ns;
} good[] = {
    { "## PERF ## APP [a] EVT [1] DUR [7]", "m", 7000000 },
    { "## perf ## app [a] evt [1] dur [7]", "m", 7000000 },
    { "  4711 PID:400002 TID:410002 ## PERF ## APP [a] EVT [1] DUR [7]", "m", 7000000 },
    { "# ## PERF # ##  PERF\t## APP [a] EVT [1] DUR [7]", "m", 7000000 },
    { "##PERF##APP[a]EVT[1]DUR[7]", "m", 7000000 },
    { "## PERF ## APP [a]  EVT [ 1 ] DUR [ 7 ]   ", "m", 7000000 },
    { "## PERF ## APP [a] EVT [1] DUR [7] and what another program said", "m", 7000000 },
    { "## PERF ## APP [a] EVT [1] DUR [7]## PERF ## APP [a] EVT [1] DUR [8]", "m", 15000000 },
    { "## PERF ## APP [a] EVT [001] DUR [0000000000000000000000000000007]", "m", 7000000 },
    { "## PERF ## APP [a] EVT [1] DUR [0]", "m", 0 },
    { "## PERF ## APP [a] EVT [1] DUR [4294967296]", "m", 4294967296000000 },
    { "## PERF ## APP [a] EVT [1] DUR [18446744073709]", "m", 18446744073709000000u },
    { "## PERF ## APP [a] EVT [1] DUR [18446744073709551615]", "m",
      UINT64_MAX }, /* the largest value that can be reported */
    { "## PERF ## APP [a] EVT [2] DUR [7]", "", 7000000 },
    { "## PERF ## APP [a] EVT [0] DUR [7]", "", 7000000 },
    { "## PERF ## APP [a] EVT [4294967295] DUR [7]", "", 7000000 },
};

Test(unit_perflog, lines_may_have_any_of_their_forms)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[2048];
        snprintf(text, sizeof text, LOG_HEADER LOG_MARKER("m", 1) "%s\n", good[i].line);
        struct perflog *log = log_of(text);
        struct rows rows = rows_of(log, false);
        const struct perflog_row *row = row_of(&rows, "a", good[i].marker);
        cr_assert(row->count > 0, "%s", good[i].line);
        cr_assert(eq(u64, row->total, good[i].total_ns), "%s", good[i].line);
        perflog_check_bad(log, 0);
        free(rows.list);
        perflog_free(log);
    }
}

static const char *const strings[] = {
    "",
    "m",
    "Test=MyTest",
    "brackets [1] within",
    "[all]",
    "]",
    "[",
    "a] AS [b] AS [c",
    "x] AS [7] BY APP [y",
    "std::map<int, char[4]>::operator[](int const&)",
    "Test=RegQueryValueEx - X - Test#2010, time=%AVG%",
    "Bytes=%u,Bps AVG=%Bytes%/%AVG%,Test=Write",
    " blanks stay ",
    "# and ## and PERF",
    "Gr\xc3\xb6\xc3\x9f"
    "e",
    "\xff\xfe bytes",
};

Test(unit_perflog, strings_of_markers)
{
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 LOG_HEADER "## PERF ## REGISTERED MARKER [%s] AS [1] BY APP [a]\n" LOG_DURATION(1, 7), strings[i]);
        struct perflog *log = log_of(text);
        perflog_check_row(log, strings[i], 1, 7000000);
        perflog_check_bad(log, 0);
        perflog_free(log);
    }
}

Test(unit_perflog, a_string_of_any_length)
{
    enum { LENGTH = 60000 };
    char *string = malloc(LENGTH + 1), *text = malloc(LENGTH + 4096);
    memset(string, 's', LENGTH);
    string[LENGTH] = '\0';
    sprintf(text, LOG_HEADER "## PERF ## REGISTERED MARKER [%s] AS [1] BY APP [a]\n" LOG_DURATION(1, 7), string);
    struct perflog *log = log_of(text);
    perflog_check_row(log, string, 1, 7000000);
    perflog_free(log);
    free(string);
    free(text);
}

static const char *const registrations[] = {
    "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [a]",
    "## PERF ## REGISTERED MARKER [m] AS [1] by APP [a]",
    "## PERF ## REGISTERED MARKER [m] AS [1] BY APP a]",
    "## PERF ## REGISTERED MARKER[m]AS[1]BY APP[a]",
    "debug: ## PERF ## REGISTERED MARKER [m] AS [ 1 ] BY APP [a] \t",
    "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [a] another program",
};

Test(unit_perflog, registrations_may_have_any_of_their_forms)
{
    for (size_t i = 0; i < sizeof registrations / sizeof *registrations; i++) {
        char text[2048];
        snprintf(text, sizeof text, LOG_HEADER "%s\n" LOG_DURATION(1, 7), registrations[i]);
        struct perflog *log = log_of(text);
        perflog_check_row(log, "m", 1, 7000000);
        perflog_check_bad(log, 0);
        perflog_free(log);
    }
}

Test(unit_perflog, names_of_applications_may_hold_brackets)
{
    struct perflog *log = log_of("## PERF ## REGISTERED APP [x[1]] PROCESSID [0x1]\n"
                                 "## PERF ## RESOLUTION [1000] TICKS PER SECOND\n"
                                 "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [x[1]]\n"
                                 "## PERF ## APP [x[1]] EVT [1] DUR [7]\n");
    struct rows rows = rows_of(log, false);
    cr_assert(eq(sz, rows.count, 1));
    cr_assert(eq(u64, row_of(&rows, "x[1]", "m")->count, 1));
    free(rows.list);
    perflog_free(log);
}

static const struct {
    const char *value;
    long long millionths;
} values[] = {
    { "57.843834", 57843834 },
    { "57,843834", 57843834 },
    { "57", 57000000 },
    { "0.5", 500000 },
    { "-0.25", -250000 },
    { " 1.5 ", 1500000 },
    { "0.0000004", 0 },
    { "0.0000005", 1 },
    { "99.99999999999999999999", 100000000 },
    { "10059776", 10059776000000 },
    { "0", 0 },
};

Test(unit_perflog, values)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[2048];
        size_t count;
        snprintf(text, sizeof text, LOG_HEADER "## PERF ## APP [a] EVT [103] CPU [%s]\n", values[i].value);
        struct perflog *log = log_of(text);
        const struct perflog_series *series = perflog_series(log, &count);
        cr_assert(eq(sz, count, 1), "%s", values[i].value);
        cr_assert(series[0].sum == values[i].millionths, "%s", values[i].value);
        perflog_free(log);
    }
}

Test(unit_perflog, memory_beyond_64_bits_of_millionths)
{
    size_t count;
    struct perflog *log = log_of("## PERF ## APP [a] EVT [102] MEM [18446744073709551615]\n");
    const struct perflog_series *series = perflog_series(log, &count);
    cr_assert(eq(sz, count, 1));
    cr_assert(series[0].greatest == (int128)UINT64_MAX * 1000000);
    perflog_free(log);
}

/* ---- encodings ---- */

static const char sample[] = LOG_HEADER LOG_MARKER("Gr\xc3\xb6\xc3\x9f"
                                                   "e \xf0\x9f\x98\x80",
                                                   1) LOG_DURATION(1, 7);
static const char sample_name[] = "Gr\xc3\xb6\xc3\x9f"
                                  "e \xf0\x9f\x98\x80";

/* The sample as UTF-16, with its own line ends or with CR LF. */
static size_t perflog_put_utf16(unsigned char *to, bool big, bool mark, bool crlf)
{
    size_t length = 0;
    uint16_t units[2048];
    if (mark)
        units[length++] = 0xfeff;
    for (const unsigned char *at = (const unsigned char *)sample; *at;) {
        const int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        uint32_t c = more ? *at & (0x3fu >> more) : *at;
        for (int i = 1; i <= more; i++)
            c = c << 6 | (at[i] & 0x3fu);
        at += more + 1;
        if (crlf && c == '\n')
            units[length++] = '\r';
        if (c >= 0x10000)
            units[length++] = (uint16_t)(0xd7c0 + (c >> 10));
        units[length++] = (uint16_t)(c >= 0x10000 ? 0xdc00 | (c & 0x3ff) : c);
    }
    for (size_t i = 0; i < length; i++) {
        to[2 * i + big] = (unsigned char)units[i];
        to[2 * i + !big] = (unsigned char)(units[i] >> 8);
    }
    return length * 2;
}

Test(unit_perflog, utf16_of_both_orders_with_and_without_a_mark)
{
    for (int way = 0; way < 8; way++) {
        unsigned char bytes[4096];
        const size_t length = perflog_put_utf16(bytes, way & 1, way & 2, way & 4);
        struct perflog *log = log_of_bytes(bytes, length, false);
        perflog_check_row(log, sample_name, 1, 7000000);
        perflog_check_bad(log, 0);
        perflog_free(log);
    }
}

Test(unit_perflog, utf16_cut_anywhere_or_broken)
{
    unsigned char bytes[4096];
    const size_t length = perflog_put_utf16(bytes, false, true, true);
    for (size_t cut = 2; cut <= length; cut++)
        perflog_free(log_of_bytes(bytes, cut, false));
    /* Single halves of surrogate pairs. The text after them is not lost. */
    static const unsigned char broken[] = {
        0xff, 0xfe, 0x00, 0xd8, '\n', 0, 0x00, 0xdc, 0x3d, 0xd8, 0x3d, 0xd8, '\n', 0
    };
    memmove(bytes + sizeof broken, bytes + 2, length - 2);
    memcpy(bytes, broken, sizeof broken);
    struct perflog *log = log_of_bytes(bytes, length - 2 + sizeof broken, false);
    perflog_check_row(log, sample_name, 1, 7000000);
    perflog_free(log);
}

Test(unit_perflog, utf8_with_a_mark_and_zero_bytes)
{
    char text[4096];
    const int length = snprintf(text, sizeof text, "\xef\xbb\xbf%sab##%s", sample, LOG_DURATION(1, 8));
    memset(strstr(text, "ab##"), 0, 4);
    struct perflog *log = log_of_bytes(text, (size_t)length, false);
    perflog_check_row(log, sample_name, 2, 15000000);
    perflog_check_bad(log, 0);
    perflog_free(log);
}

Test(unit_perflog, the_same_with_cr_lf)
{
    char text[4096], *to = text;
    for (const char *from = sample; *from; from++) {
        if (*from == '\n')
            *to++ = '\r';
        *to++ = *from;
    }
    struct perflog *log = log_of_bytes(text, (size_t)(to - text), false);
    perflog_check_row(log, sample_name, 1, 7000000);
    perflog_free(log);
}

Test(unit_perflog, nearly_empty_logs)
{
    static const char *const texts[] = { "\n", "#", "##", "## PERF #", "a\r", "\r\n\r\n", "##\tPERF" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct perflog *log = log_of(texts[i]);
        cr_assert(eq(u64, perflog_totals(log).understood, 0));
        perflog_check_bad(log, 0);
        perflog_free(log);
    }
}

/* ---- bad lines ---- */

static const char *const bad[] = {
    "## PERF ##",
    "## PERF ## ",
    "## PERF ## APP",
    "## PERF ## APP [a",
    "## PERF ## APP [a]",
    "## PERF ## APP [a] EVT",
    "## PERF ## APP [a] EVT [",
    "## PERF ## APP [a] EVT [1",
    "## PERF ## APP [a] EVT [1]",
    "## PERF ## APP [a] EVT [1] D",
    "## PERF ## APP [a] EVT [1] DUR",
    "## PERF ## APP [a] EVT [1] DUR [",
    "## PERF ## APP [a] EVT [1] DUR [12",
    "## PERF ## APP [a] EVT [1] DUR []",
    "## PERF ## APP [a] EVT [1] DUR [-7]",
    "## PERF ## APP [a] EVT [1] DUR [7.5]",
    "## PERF ## APP [a] EVT [1] DUR [0x7]",
    "## PERF ## APP [a] EVT [1] DUR [7 8]",
    "## PERF ## APP [a] EVT [1] DUR [ticks]",
    "## PERF ## APP [a] EVT [1] DUR 7",
    "## PERF ## APP [a] EVT [1] DUR [18446744073709551616]",
    "## PERF ## APP [a] EVT [4294967296] DUR [7]",
    "## PERF ## APP [a] EVT [x] DUR [7]",
    "## PERF ## APP [a] EVT [103] CPU [12,]",
    "## PERF ## APP [a] EVT [103] CPU [.5]",
    "## PERF ## APP [a] EVT [103] CPU [1.2.3]",
    "## PERF ## APP [a] EVT [103] CPU [nan]",
    "## PERF ## APP [a] EVT [103] CPU [1 .5]",
    "## PERF ## APP [a] EVT [102] MEM [18446744073709551616]",
    "## PERF ## APP [a] EVT [1] ATTR [n",
    "## PERF ## APP [a] CPU",
    "## PERF ## APP [a] CAL [4",
    "## PERF ## APP [a] CPU MON [a] FREQ",
    "## PERF ## APPa EVT [1] DUR [7]",
    "## PERF ## REGISTERED",
    "## PERF ## REGISTERED MARKERS [x] AS [1] BY APP [a]",
    "## PERF ## REGISTERED MARKER x AS [1] BY APP [a]",
    "## PERF ## REGISTERED MARKER [x",
    "## PERF ## REGISTERED MARKER [x] AS",
    "## PERF ## REGISTERED MARKER [x] AS [app] BY APP [a]",
    "## PERF ## REGISTERED MARKER [x] AS [1]",
    "## PERF ## REGISTERED MARKER [x] AS [1] BY",
    "## PERF ## REGISTERED MARKER [x] AS [1] BY APP",
    "## PERF ## REGISTERED MARKER [x] AS [1] BY APP [a",
    "## PERF ## REGISTERED MARKER [x] como [1] BY APP [a]",
    "## PERF ## REGISTERED APP",
    "## PERF ## REGISTERED APP [a",
    "## PERF ## REGISTERED APP [a] PROCESSID",
    "## PERF ## REGISTERED APP [a] PROCESSID [0x]",
    "## PERF ## REGISTERED APP [a] PROCESSID [0x1234g]",
    "## PERF ## REGISTERED APP [a] PROCESSID [0x11112222333344445]",
    "## PERF ## RESOLUTION",
    "## PERF ## RESOLUTION [0] TICKS PER SECOND",
    "## PERF ## RESOLUTION [many] TICKS PER SECOND",
    "## PERF ## RESOLUTION [1193",
    "## PERF ## BUILD=[12",
    "## PERF ## BUILD 1234",
    "## PERF ## [m] took [long] ticks",
    "## PERF ## [m] needs [7] ticks",
    "## PERF ## hello",
    "## PERF ## ## PERF ##",
    "PERF ## ## APP [a] EVT [1] DUR [7]",
    "EVT [1] ## APP Perf ## [a] DUR [7]",
};

/* A good line follows the bad one, or is appended to it. */
Test(unit_perflog, a_good_line_after_a_bad_one_is_never_lost)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int joined = 0; joined < 2; joined++) {
            if (joined && strncmp(bad[i], "## PERF ##", 10) != 0)
                continue;
            char text[2048];
            snprintf(text, sizeof text, LOG_HEADER LOG_MARKER("m", 1) "%s%s%s", bad[i], joined ? "" : "\n",
                     LOG_DURATION(1, 7));
            struct perflog *log = log_of(text);
            struct rows rows = rows_of(log, false);
            cr_assert(eq(sz, rows.count, 1), "%s", bad[i]);
            cr_assert(eq(u64, perflog_totals(log).bad_lines, 1), "%s", bad[i]);
            perflog_check_row(log, "m", 1, 7000000);
            free(rows.list);
            perflog_free(log);
        }
    }
}

static const char *const others[] = {
    "",
    "hello",
    "### PERF TEST [ x ] ###",
    "perf ## 1 stat",
    "# PERF # APP [a] EVT [1] DUR [7]",
    "superperf ## [x]",
    "[perf] ## APP [a] EVT [1] DUR [7]",
    "## PER",
    "PERF APP [a] EVT [1] DUR [7]",
};

Test(unit_perflog, other_programs_lines_are_no_error)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[2048];
        snprintf(text, sizeof text, LOG_HEADER LOG_MARKER("m", 1) "%s\n" LOG_DURATION(1, 7), others[i]);
        struct perflog *log = log_of(text);
        perflog_check_row(log, "m", 1, 7000000);
        cr_assert(eq(u64, perflog_totals(log).bad_lines, 0), "%s", others[i]);
        perflog_free(log);
    }
}

Test(unit_perflog, very_long_lines_of_other_programs_hide_nothing)
{
    for (size_t before = 65400; before < 65700; before++) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        fputs(LOG_HEADER LOG_MARKER("m", 1), out);
        for (size_t i = 0; i < before; i++)
            fputc('#', out);
        fputs(" " LOG_DURATION(1, 7) LOG_DURATION(1, 8), out);
        fclose(out);
        struct perflog *log = log_of_bytes(text, length, false);
        perflog_check_row(log, "m", 2, 15000000);
        perflog_check_bad(log, 0);
        perflog_free(log);
        free(text);
    }
}

Test(unit_perflog, lines_cut_anywhere)
{
    static const char whole[] = LOG_HEADER LOG_MARKER("m", 1) LOG_DURATION(1, 7) LOG_DURATION(1, 8);
    static const char last[] = LOG_DURATION(1, 8);
    const size_t kept = sizeof whole - sizeof last; /* all but the last line */
    for (size_t cut = 0; cut < sizeof last - 2; cut++) {
        struct perflog *log = log_of_bytes(whole, kept + cut, false);
        const bool complete = cut == sizeof last - 2;
        perflog_check_row(log, "m", complete ? 2 : 1, complete ? 15000000 : 7000000);
        perflog_check_bad(log, cut >= 10 && !complete); /* the tag is complete */
        perflog_free(log);
    }
}
