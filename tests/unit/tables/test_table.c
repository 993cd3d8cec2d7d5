/* Tables as text, CSV and JSON: how each format prints each kind of cell. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/table_formats.h"

static const struct column columns[] = {
    { "name", "NAME", CELL_TEXT, USE_ALWAYS, false },  { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "time", "TIME", CELL_TICKS, USE_ALWAYS, false }, { "share_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "shown", "SHOWN", CELL_TEXT, USE_TEXT, false },  { "data", "DATA", CELL_COUNT, USE_DATA, false },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct summary summary = {
    .path = "a.data",
    .ticks_per_second = 1000000000,
    .elapsed_inclusive = 5000000,
    .application_inclusive = 4000000,
    .application_known = true,
    .os_events = 3,
    .threads = 1,
    .processes = 2,
    .events = 18446744073709551615u,
    .lost_events = 7,
};

static struct table one_row(const char *name)
{
    struct table t = table_make(columns, COLUMNS, &summary);
    struct cell *row = table_row(&t);
    cell_text(&row[0], name);
    cell_number(&row[1], 12);
    cell_number(&row[2], 3456789);
    cell_percent(&row[3], 12.3456);
    cell_text(&row[4], "here");
    cell_number(&row[5], 99);
    return t;
}

static char *table_printed(struct table t, table_printer *printer)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    printer(&t, out);
    fclose(out);
    table_drop(&t);
    return text;
}

static void expect_table(struct table t, table_printer *printer, const char *wanted)
{
    char *text = table_printed(t, printer);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
}

Test(unit_table, csv)
{
    expect_table(one_row("plain"), table_print_csv,
                 "name,calls,time_ns,share_percent,data\r\nplain,12,3456789,12.3456,99\r\n");
}

Test(unit_table, csv_quotes_where_needed)
{
    static const char *const names[][2] = {
        { "f(int, char)", "\"f(int, char)\"" },
        { "operator\"\"_s", "\"operator\"\"\"\"_s\"" },
        { "two\nlines", "\"two\nlines\"" },
        { "two\rlines", "\"two\rlines\"" },
        { "", "" },
        { "f<int>; x", "f<int>; x" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char wanted[256];
        snprintf(wanted, sizeof wanted, "name,calls,time_ns,share_percent,data\r\n%s,12,3456789,12.3456,99\r\n",
                 names[i][1]);
        expect_table(one_row(names[i][0]), table_print_csv, wanted);
    }
}

Test(unit_table, csv_leaves_the_unknown_empty)
{
    struct table t = table_make(columns, COLUMNS, &summary);
    table_row(&t);
    expect_table(t, table_print_csv, "name,calls,time_ns,share_percent,data\r\n,,,,\r\n");
}

Test(unit_table, json)
{
    expect_table(
        one_row("plain"), table_print_json,
        "{\"schema\": \"dwell-table-1\",\n \"session\": {\"run_ns\":null,\"elapsed_inclusive_ns\":5000000,\"application_inclusive_ns\":4000000,\"overhead_inclusive_ns\":null,\"os_events\":3,"
        "\"threads\":1,\"processes\":2,\"events\":18446744073709551615,\"lost_events\":7},\n \"remarks\": [\n ],\n \"rows\": [\n  "
        "{\"name\":\"plain\",\"calls\":12,\"time_ns\":3456789,\"share_percent\":12.3456,\"data\":99}\n ]}\n");
}

Test(unit_table, json_has_null_for_the_unknown)
{
    struct summary blind = summary;
    blind.application_known = false;
    struct table t = table_make(columns, COLUMNS, &blind);
    table_row(&t);
    expect_table(
        t, table_print_json,
        "{\"schema\": \"dwell-table-1\",\n \"session\": {\"run_ns\":null,\"elapsed_inclusive_ns\":5000000,\"application_inclusive_ns\":null,\"overhead_inclusive_ns\":null,\"os_events\":null,"
        "\"threads\":1,\"processes\":2,\"events\":18446744073709551615,\"lost_events\":7},\n \"remarks\": [\n ],\n \"rows\": [\n  "
        "{\"name\":null,\"calls\":null,\"time_ns\":null,\"share_percent\":null,\"data\":null}\n ]}\n");
}

/* The name as a reader of the JSON gets it. */
static void expect_json_name(const char *name, const char *wanted)
{
    char *text = table_printed(one_row(name), table_print_json);
    struct json_object *whole = json_tokener_parse(text), *rows, *found;
    cr_assert(whole != NULL, "%s", text);
    cr_assert(json_object_object_get_ex(whole, "rows", &rows));
    cr_assert(json_object_object_get_ex(json_object_array_get_idx(rows, 0), "name", &found));
    cr_assert(eq(str, (char *)json_object_get_string(found), (char *)wanted));
    json_object_put(whole);
    free(text);
}

static void expect_as_it_is(const char *name)
{
    expect_json_name(name, name);
}

Test(unit_table, json_escapes)
{
    expect_as_it_is("quote \" backslash \\ slash / tab \t line \n bell \a");
    expect_as_it_is("Gr\xc3\xb6\xc3\x9f"
                    "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

#define BAD "\xef\xbf\xbd"

Test(unit_table, json_replaces_invalid_utf8)
{
    expect_json_name("a\xff"
                     "b",
                     "a" BAD "b");
    expect_json_name("cut \xe2\x82", "cut " BAD BAD);
    expect_json_name("long \xc0\x80", "long " BAD BAD);
    expect_json_name("\xe0\x80\x80", BAD BAD BAD);
    expect_json_name("surrogate \xed\xa0\x80", "surrogate " BAD BAD BAD);
    expect_json_name("\xf4\x90\x80\x80", BAD BAD BAD BAD);
    expect_json_name("\xc3(", BAD "(");
}

Test(unit_table, numbers_are_the_same_in_every_locale)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        cr_skip("there is no locale here with a comma in numbers");
    char *csv = table_printed(one_row("plain"), table_print_csv),
         *json = table_printed(one_row("plain"), table_print_json);
    cr_assert(strstr(csv, ",12.3456,") != NULL);
    cr_assert(strstr(json, ":12.3456,") != NULL);
    free(csv);
    free(json);
}

Test(unit_table, text)
{
    expect_table(one_row("plain"), table_print_text,
                 "CALLS  TIME us     % NAME  SHOWN\n"
                 "   12 3456.789 12.35 plain here\n"
                 "\na.data: elapsed 5.000 ms in 1 thread, application 4.000 ms, 3 OS events, 2 processes, "
                 "18446744073709551615 events\n");
}

/* A text that other columns follow does not widen all rows. */
Test(unit_table, text_of_three_thousand_characters)
{
    static const struct column two[] = { { "object", "OBJECT", CELL_TEXT, USE_ALWAYS, false },
                                         { "thread", "THREAD", CELL_TEXT, USE_ALWAYS, false } };
    static char words[3001];
    memset(words, 'w', sizeof words - 1);
    struct table t = table_make(two, 2, NULL);
    struct cell *row = table_row(&t);
    cell_text(&row[0], words);
    cell_text(&row[1], "short");
    char *text = table_printed(t, table_print_text);
    cr_assert(lt(sz, strlen(text), 300), "%s", text);
    free(text);
}

Test(unit_table, text_has_dashes_for_the_unknown)
{
    struct summary blind = summary;
    blind.application_known = false;
    struct table t = table_make(columns, COLUMNS, &blind);
    cell_text(&table_row(&t)[0], "f");
    expect_table(t, table_print_text,
                 "CALLS TIME us % NAME SHOWN\n"
                 "    -       - - f    \n"
                 "\na.data: elapsed 5.000 ms in 1 thread, application unknown (no source of OS events), 2 processes, "
                 "18446744073709551615 events\n");
}

Test(unit_table, text_chooses_units_of_sums)
{
    static const struct {
        uint64_t elapsed;
        const char *told;
    } units[] = {
        { 0, "elapsed 0 ns in 1 thread," },
        { 999, "elapsed 999 ns in 1 thread," },
        { 1000, "elapsed 1.000 us in 1 thread," },
        { 999999, "elapsed 999.999 us in 1 thread," },
        { 1000000, "elapsed 1.000 ms in 1 thread," },
        { 99999999, "elapsed 100.000 ms in 1 thread," },
        { 999999999, "elapsed 1000.000 ms in 1 thread," },
        { 1000000000, "elapsed 1.000 s in 1 thread," },
        { 10407537000, "elapsed 10.408 s in 1 thread," },
        { 3600000499999, "elapsed 3600.000 s in 1 thread," },
        { 3600000500000, "elapsed 3600.001 s in 1 thread," },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct summary s = summary;
        s.elapsed_inclusive = units[i].elapsed;
        char *text = table_printed(table_make(columns, COLUMNS, &s), table_print_text);
        cr_assert(strstr(text, units[i].told) != NULL, "%s in %s", units[i].told, text);
        free(text);
    }
}

/* Without rows there is nothing but the facts: neither column titles nor empty lines. */
Test(unit_table, text_of_a_table_without_rows)
{
    expect_table(table_make(columns, COLUMNS, &summary), table_print_text,
                 "a.data: elapsed 5.000 ms in 1 thread, application 4.000 ms, 3 OS events, 2 processes, "
                 "18446744073709551615 events\n");
}

Test(unit_table, text_has_remarks_and_the_number_of_hidden_rows)
{
    char *remarks[] = { "this was lost", "that too" };
    struct summary s = summary;
    s.remarks = remarks;
    s.remark_count = 2;
    struct table t = one_row("plain");
    t.session = &s;
    t.hidden_rows = 5;
    char *text = table_printed(t, table_print_text);
    cr_assert(strstr(text, "here\n5 more; --limit 0 shows all\n\na.data: ") != NULL);
    cr_assert(strstr(text, "events\n! this was lost\n! that too\n") != NULL);
    free(text);
}

Test(unit_table, ticks_become_nanoseconds_rounded_one_by_one)
{
    cr_assert(eq(u64, ticks_to_ns(0, 2600000000), 0));
    cr_assert(eq(u64, ticks_to_ns(13, 2600000000), 5));
    cr_assert(eq(u64, ticks_to_ns(1, 2600000000), 0));
    cr_assert(eq(u64, ticks_to_ns(2, 2600000000), 1));
    cr_assert(eq(u64, ticks_to_ns(1, 1000), 1000000));
    cr_assert(eq(u64, ticks_to_ns(1ull << 62, 2600000000), 1773725391702841502));
    cr_assert(eq(u64, ticks_to_ns(UINT64_MAX, 1000000000), UINT64_MAX));
}

Test(unit_table, formats_by_name)
{
    cr_assert(table_format("text") == table_print_text);
    cr_assert(table_format("csv") == table_print_csv);
    cr_assert(table_format("json") == table_print_json);
    cr_assert(table_format("xml") == NULL);
    cr_assert(table_format("") == NULL);
}

/* ---- tables without a session ---- */

static const struct column free_columns[] = {
    { "name", "NAME", CELL_TEXT, USE_ALWAYS, false },     { "time", "TIME", CELL_TICKS, USE_ALWAYS, false },
    { "change", "BY", CELL_CHANGE, USE_ALWAYS, false },   { "change_percent", "%", CELL_PERCENT, USE_ALWAYS, false },
    { "value", "VALUE", CELL_DIGITS, USE_ALWAYS, false },
};
enum { FREE_COLUMNS = sizeof free_columns / sizeof *free_columns };

static void add_free_row(struct table *t, uint64_t ns, int64_t change, double percent, const char *value)
{
    struct cell *row = table_row(t);
    cell_text(&row[0], "f");
    cell_number(&row[1], ns);
    cell_change(&row[2], change);
    cell_percent(&row[3], percent);
    cell_text(&row[4], value);
}

static struct table free_table(void)
{
    struct table t = table_make(free_columns, FREE_COLUMNS, NULL);
    add_free_row(&t, 1500000000, -250000000, -14.28571, "57.843834");
    add_free_row(&t, 1000499, 499, 0.00001, "10059776");
    add_free_row(&t, 0, 0, -0.00001, NULL);
    return t;
}

Test(unit_table, without_a_session_as_text)
{
    expect_table(free_table(), table_print_text,
                 " TIME ms       BY ms      %     VALUE NAME\n"
                 "1500.000 -250.000    -14.29 57.843834 f\n"
                 "   1.000   +0.000499   0.00  10059776 f\n"
                 "   0        0          0.00         - f\n");
}

Test(unit_table, without_a_session_as_csv)
{
    expect_table(free_table(), table_print_csv,
                 "name,time_ns,change_ns,change_percent,value\r\n"
                 "f,1500000000,-250000000,-14.2857,57.843834\r\n"
                 "f,1000499,499,0.0000,10059776\r\n"
                 "f,0,0,0.0000,\r\n");
}

Test(unit_table, without_a_session_as_json)
{
    expect_table(
        free_table(), table_print_json,
        "{\"schema\": \"dwell-table-1\",\n \"remarks\": [\n ],\n \"rows\": [\n"
        "  {\"name\":\"f\",\"time_ns\":1500000000,\"change_ns\":-250000000,\"change_percent\":-14.2857,\"value\":57.843834},\n"
        "  {\"name\":\"f\",\"time_ns\":1000499,\"change_ns\":499,\"change_percent\":0.0000,\"value\":10059776},\n"
        "  {\"name\":\"f\",\"time_ns\":0,\"change_ns\":0,\"change_percent\":0.0000,\"value\":null}\n ]}\n");
}

Test(unit_table, the_largest_times_and_changes)
{
    struct table t = table_make(free_columns, FREE_COLUMNS, NULL);
    add_free_row(&t, UINT64_MAX, INT64_MIN, 0, "0");
    expect_table(t, table_print_text,
                 "         TIME s            BY s    % VALUE NAME\n"
                 "18446744073.710 -9223372036.855 0.00     0 f\n");
    t = table_make(free_columns, FREE_COLUMNS, NULL);
    add_free_row(&t, UINT64_MAX, INT64_MAX, 0, "0");
    expect_table(
        t, table_print_csv,
        "name,time_ns,change_ns,change_percent,value\r\nf,18446744073709551615,9223372036854775807,0.0000,0\r\n");
}

Test(unit_table, csv_quotes_titles)
{
    static const struct column odd[] = { { "a,b", "", CELL_COUNT, USE_ALWAYS, false },
                                         { "c\"d", "", CELL_COUNT, USE_DATA, false } };
    expect_table(table_make(odd, 2, NULL), table_print_csv, "\"a,b\",\"c\"\"d\"\r\n");
}

/* From one tick to all that 64 bits hold is 1.8 * 10^21 percent. */
Test(unit_table, percentages_of_any_size)
{
    static const struct {
        double percent;
        const char *digits;
    } cases[] = {
        { 12.34567, "12.3457" },
        { -3.5, "-3.5000" },
        { -0.00001, "0.0000" },
        { 99999999999.0, "99999999999.0000" },
        { 1e11, "100000000000" },
        { 2e21, "2000000000000000000000" },
        { -2e21, "-2000000000000000000000" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char digits[PERCENT_ROOM];
        percent_digits(cases[i].percent, digits);
        cr_assert(eq(str, digits, (char *)cases[i].digits));
    }
}
