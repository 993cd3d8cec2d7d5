/* Classes as values: which of their members are shown, and random ones compared with what programs print. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_values_classes, .timeout = 1800);

#define COMPILE "g++ -std=c++17 %s -w -g -finstrument-functions -finstrument-functions-exclude-file-list=/usr -c "
#define SOURCE DWELL_CONSUMERS "/../e2e/programs/arguments/classes.cc "
#define ROWS                                                                                                           \
    "jq -r '.rows[] | [.value, .kind, .readable, .places, (.reasons | join(\" \"))] | join(\"|\")' | sed 's/|$//'"

static void classes_build(const char *flags)
{
    free(run_well(COMPILE SOURCE "-o first.o && " COMPILE SOURCE
                                 "-DOTHER -o second.o && g++ first.o second.o -o classes",
                  flags, flags));
}

static void classes_expect(const char *wanted_of, const char *wanted)
{
    char *rows = run_well("$DWELL values --list ./classes %s --format json | " ROWS, wanted_of);
    cr_expect(eq(str, rows, (char *)wanted), "%s", wanted_of);
    free(rows);
}

static void classes_check(void)
{
    classes_expect("f_request",
                   "request.id|signed|1|1\nrequest.from.x|signed|1|1\nrequest.from.y|float|1|1\n"
                   "request.to.x|signed|1|1\nrequest.to.y|float|1|1\nrequest.level|enum|1|1\nrequest.name|text|1|1\n"
                   "request.low|unsigned|1|1\nreturn|signed|1|1\n");
    classes_expect("f_pointer", "request|address|1|1\nreturn|signed|1|1\n");
    classes_expect("f_library",
                   "points.size|unsigned|1|1\nmap.size|unsigned|1|1\nlist.size|unsigned|1|1\nmaybe.has_value|bool|1|1\n"
                   "time|signed|1|1\npoint|address|1|1\nat|address|1|1\nreturn|signed|1|1\n");
    classes_expect("f_nothing", "empty|none|0|1|empty\nmutex|address|1|1\nopaque|address|1|1\nvalue|none|0|1|type\n"
                                "return|signed|1|1\n");
    classes_expect("f_text", "text|text|1|1\nslice|text|1|1\nreturn|character|1|1\n");
    classes_expect("f_slice", "text|text|1|1\nreturn|text|1|1\n");
    classes_expect("f_status", "code|signed|1|1\nreturn|signed|1|1\n");
    classes_expect("f_point", "x|signed|1|1\nreturn.x|signed|1|1\nreturn.y|float|1|1\n");
    classes_expect("f_reference", "point.x|signed|1|1\npoint.y|float|1|1\nreturn.x|signed|1|1\nreturn.y|float|1|1\n");
    classes_expect("f_string", "n|signed|1|1\nreturn|text|1|1\n");
    classes_expect("Left::~Left", "this|address|1|1\n");
}

Test(e2e_values_classes, their_members_are_shown)
{
    classes_build("-O0");
    classes_check();
    classes_build("-O2");
    classes_check();
}

/* The members that are named, and those of classes that are. */
Test(e2e_values_classes, parts_that_are_named)
{
    classes_build("-O2");
    classes_expect("'f_request:request.to,request.points,request.status,request.more'",
                   "request.to.x|signed|1|1\nrequest.to.y|float|1|1\nrequest.points.size|unsigned|1|1\n"
                   "request.status|signed|1|1\nrequest.more|signed|1|1\n");
    classes_expect("'f_pointer:*request'",
                   "request->id|signed|1|1\nrequest->from.x|signed|1|1\nrequest->from.y|float|1|1\n"
                   "request->to.x|signed|1|1\nrequest->to.y|float|1|1\nrequest->level|enum|1|1\n"
                   "request->name|text|1|1\nrequest->low|unsigned|1|1\n");
    classes_expect("'f_library:*maybe,*point'", "*maybe|signed|1|1\npoint->x|signed|1|1\npoint->y|float|1|1\n");
}

/* A function has room for 24 values. */
Test(e2e_values_classes, fewer_members_of_many_classes)
{
    classes_build("-O2");
    char *names =
        run_well("$DWELL values --list ./classes f_many --format json | jq -r '[.rows[].value] | join(\" \")'");
    cr_expect(eq(str, names,
                 "one.a one.b one.c one.d two.a two.b two.c two.d three.a three.b three.c three.d four.a four.b four.c "
                 "four.d return\n"));
    free(names);
}

/* Constructors have other names in the units that inline them. */
Test(e2e_values_classes, constructors_of_several_units)
{
    classes_build("-O2");
    classes_expect("Part::Part:n", "n|signed|3|3\n");
}

/* ---- random classes ---- */

static void classes_compare(int first, int last, const char *compilers)
{
    char *text = run_well("python3 -B " DWELL_CONSUMERS "/../random/values/run_values.py $DWELL %d %d %s", first, last,
                          compilers);
    int same = 0, different = -1, unread = -1;
    cr_assert(eq(int, sscanf(text, "%d same, %d different, %d not read", &same, &different, &unread), 3), "%s", text);
    cr_expect(eq(int, different, 0), "%s", text);
    cr_expect(gt(int, same, 10 * unread), "%s", text);
    free(text);
}

Test(e2e_values_classes, random_ones_of_gcc)
{
    classes_compare(1, 2,
                    "'g++ -O0 -finstrument-functions -finstrument-functions-exclude-file-list=/usr' "
                    "'g++ -O2 -finstrument-functions -finstrument-functions-exclude-file-list=/usr'");
    classes_compare(3, 3,
                    "'g++ -O1 -finstrument-functions -finstrument-functions-exclude-file-list=/usr' "
                    "'g++ -O3 -finstrument-functions -finstrument-functions-exclude-file-list=/usr'");
}

Test(e2e_values_classes, random_ones_of_clang)
{
    classes_compare(4, 5,
                    "'clang++ -O0 -finstrument-functions-after-inlining' "
                    "'clang++ -O2 -finstrument-functions-after-inlining'");
    classes_compare(6, 6,
                    "'clang++ -O1 -finstrument-functions-after-inlining' "
                    "'clang++ -O3 -finstrument-functions-after-inlining'");
}
