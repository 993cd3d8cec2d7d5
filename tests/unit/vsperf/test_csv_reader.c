/* CSV from other programs: encodings, quotes, separators, line ends and numbers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsperf/csv_reader.h"

TestSuite(unit_csv_reader);

/* All records as one text: each record begins with its line, and fields are in brackets. An error follows as "! line:
 * error". */
static char *csv_records(const void *bytes, size_t length)
{
    struct csv csv;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (csv_open(&csv, bytes, length)) {
        while (csv_next(&csv)) {
            fprintf(out, "%lu", csv.record);
            for (size_t i = 0; i < csv.count; i++)
                fprintf(out, "[%s]", csv.fields[i]);
            fputc('\n', out);
        }
    }
    if (csv.error)
        fprintf(out, "! %lu: %s\n", csv.line, csv.error);
    csv_close(&csv);
    fclose(out);
    return text;
}

static void expect_bytes(const void *bytes, size_t length, const char *wanted)
{
    char *got = csv_records(bytes, length), *copy = strdup(wanted);
    cr_assert(eq(str, got, copy));
    free(got);
    free(copy);
}

static void expect_records(const char *text, const char *wanted)
{
    expect_bytes(text, strlen(text), wanted);
}

#define EXPECT_BYTES(text, wanted) expect_bytes((text), sizeof(text) - 1, (wanted))

Test(unit_csv_reader, fields_and_lines)
{
    expect_records("a,b\nc,d\n", "1[a][b]\n2[c][d]\n");
    expect_records("a,b\r\nc,d", "1[a][b]\n2[c][d]\n");
    expect_records("a,b\rc,d\r", "1[a][b]\n2[c][d]\n");
    expect_records("a,,\n,b,", "1[a][][]\n2[][b][]\n");
    expect_records("a\n\n\r\n,,\nb\n", "1[a]\n5[b]\n");
    expect_records("", "");
    expect_records("\n", "");
}

Test(unit_csv_reader, quotes)
{
    expect_records("\"a,b\",c\n", "1[a,b][c]\n");
    expect_records("\"say \"\"yes\"\"\",\"\"\"\",\"\"\n", "1[say \"yes\"][\"][]\n");
    expect_records("\"two\nlines\",x\ny,z\n", "1[two\nlines][x]\n3[y][z]\n");
    expect_records("\"two\r\nlines\r\rmore\",x\r\ny,z\r\n", "1[two\r\nlines\r\rmore][x]\n5[y][z]\n");
    expect_records("\"a\" ,b\n", "1[a ][b]\n");
    expect_records("a\"b\"c,d\n", "1[a\"b\"c][d]\n");
}

/* The first line of the seed's listing has lost its first quote. */
Test(unit_csv_reader, a_quote_that_was_lost)
{
    expect_records("Root\",\"_wmain\"\n\"Caller\",\"x\"\n", "1[Root][_wmain]\n2[Caller][x]\n");
}

Test(unit_csv_reader, a_quote_that_is_never_closed)
{
    expect_records("a,b\nc,\"d\ne,f\n", "1[a][b]\n! 2: a quote is opened and never closed\n");
}

Test(unit_csv_reader, separators)
{
    expect_records("a;b;c\n1,5;2;\"x;y\"\n", "1[a][b][c]\n2[1,5][2][x;y]\n");
    expect_records("a\tb\n1,5\t2\n", "1[a][b]\n2[1,5][2]\n");
    expect_records("\"a;b;c\",d\ne,f\n", "1[a;b;c][d]\n2[e][f]\n");
    expect_records("sep=;\na;b,c\n", "2[a][b,c]\n");
    expect_records("sep=|\r\na|b\r\n", "2[a][b]\n");
    expect_records("one\ntwo\n", "1[one]\n2[two]\n");
}

Test(unit_csv_reader, encodings)
{
    EXPECT_BYTES("\xef\xbb\xbf\xc3\xa9,b\n", "1[\xc3\xa9][b]\n");
    EXPECT_BYTES("\xff\xfe"
                 "\xe9\0,\0b\0\r\0\n\0",
                 "1[\xc3\xa9][b]\n");
    EXPECT_BYTES("\xfe\xff"
                 "\0\xe9\0,\0b\0\r\0\n",
                 "1[\xc3\xa9][b]\n");
    /* Characters above 2^16, and single halves of their surrogate pairs. */
    EXPECT_BYTES("\xff\xfe"
                 "\x3d\xd8\x00\xde,\0\xac\x20",
                 "1[\xf0\x9f\x98\x80][\xe2\x82\xac]\n");
    EXPECT_BYTES("\xff\xfe"
                 "\x3d\xd8,\0\x00\xde",
                 "1[\xef\xbf\xbd][\xef\xbf\xbd]\n");
    EXPECT_BYTES("\xff\xfe"
                 "a",
                 "! 1: cut off in the middle of a character\n");
    EXPECT_BYTES("\xff\xfe", "");
    EXPECT_BYTES("a,\0b\n", "! 1: not text: it holds zero bytes\n");
}

static void expect_count(const char *text, uint64_t wanted)
{
    uint64_t count = 0;
    const char *wrong = csv_count(text, &count);
    cr_assert(wrong == NULL, "'%s' %s", text, wrong);
    cr_assert(eq(u64, count, wanted), "'%s'", text);
}

static void csv_expect_percent(const char *text, double wanted)
{
    double percent = -1;
    const char *wrong = csv_percent(text, &percent);
    cr_assert(wrong == NULL, "'%s' %s", text, wrong);
    cr_assert(epsilon_eq(dbl, percent, wanted, 1e-9), "'%s'", text);
}

Test(unit_csv_reader, whole_numbers)
{
    expect_count("0", 0);
    expect_count("14", 14);
    expect_count("2893824", 2893824);
    expect_count("2,893,824", 2893824);
    expect_count("2.893.824", 2893824);
    expect_count("2 893 824", 2893824);
    expect_count("2\xc2\xa0"
                 "893\xe2\x80\xaf"
                 "824",
                 2893824);
    expect_count("2'893'824", 2893824);
    expect_count("2,893", 2893);
    expect_count("18,160.51", 18161);
    expect_count("18.160,49", 18160);
    expect_count("14,00", 14);
    expect_count("0,500", 1);
    expect_count("1234,567", 1235);
    expect_count("7.", 7);
    expect_count("72057594037927936", (uint64_t)1 << 56);
}

/* The seed's viewer read these as 10000 and 4286. */
Test(unit_csv_reader, percentages)
{
    csv_expect_percent("100,00", 100);
    csv_expect_percent("42,86", 42.86);
    csv_expect_percent("28.57", 28.57);
    csv_expect_percent("0,125", 0.125);
    csv_expect_percent("99 %", 99);
    csv_expect_percent("99,5\xc2\xa0%", 99.5);
}

static void expect_wrong(const char *text, const char *wanted)
{
    uint64_t count;
    const char *wrong = csv_count(text, &count);
    cr_assert(wrong != NULL, "'%s'", text);
    cr_assert(strcmp(wrong, wanted) == 0, "'%s' %s", text, wrong);
}

Test(unit_csv_reader, text_that_is_not_a_number)
{
    static const char *const texts[] = { "",        "x", "1x", "0x10", "1e5", "1,2,3", "1,23,456", ",5.5.",
                                         "1.2.3,4", ",", ".",  "+1",   "1%2", "nan",   "1,234,56" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_wrong(texts[i], "is not a number");
    expect_wrong("-1", "is negative");
    expect_wrong("72057594037927937", "is too large");
    expect_wrong("99999999999999999999999999999999999999999999999999999999999999999999999999999", "is too large");
    double percent;
    cr_assert(strcmp(csv_percent("101", &percent), "is more than 100 %") == 0);
    cr_assert(strcmp(csv_percent("10000", &percent), "is more than 100 %") == 0);
}
