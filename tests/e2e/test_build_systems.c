/* Real projects of each build system, built by `dwell cc` as the guides say, and recorded. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

#define PROJECTS DWELL_BUILD "/projects"

/* Fetches the sources at the first run. */
static void build_systems_fetch(void)
{
    free(run_well("flock " DWELL_BUILD " " DWELL_CONSUMERS "/../../scripts/fetch-projects " PROJECTS " >/dev/null"));
}

TestSuite(e2e_build_systems, .init = build_systems_fetch, .timeout = 300);

/* Builds a copy of the project, records `program` there, and returns the functions with their calls. */
static char *build_systems_record(const char *project, const char *build, const char *program)
{
    return run_well("cp -r " PROJECTS "/%s p && cd p && export PATH=$(dirname $DWELL):$PATH && (%s) >../log 2>&1 || "
                    "{ tail ../log >&2; exit 1; }; dwell record -q %s >../out && "
                    "dwell report --no-config --by function --limit 0 --format csv",
                    project, build, program);
}

static void build_systems_expect(const char *report, const char *file, const char *function)
{
    cr_assert(has(report, file) && has(report, function), "%s in %s:\n%s", function, file, report);
}

Test(e2e_build_systems, cmake)
{
    char *report = build_systems_record(
        "cjson",
        "cmake -B build -DCMAKE_C_COMPILER_LAUNCHER='dwell;cc' -DENABLE_CJSON_TEST=On -DENABLE_CJSON_UTILS=Off && "
        "cmake --build build -j2 --target cJSON_test",
        "build/cJSON_test");
    build_systems_expect(report, "cJSON.c", "cJSON_CreateObject");
    build_systems_expect(report, "test.c", "create_objects");
    free(report);
}

Test(e2e_build_systems, meson)
{
    char *report =
        build_systems_record("jo", "CC='dwell cc' meson setup build && ninja -C build jo", "build/jo a=1 b[]=2 b[]=3");
    build_systems_expect(report, "json.c", "json_mkobject");
    build_systems_expect(report, "jo.c", "main");
    char *output = run_well("cat out");
    cr_assert(eq(str, output, "{\"a\":1,\"b\":[2,3]}\n"));
    free(output);
    free(report);
}

Test(e2e_build_systems, autotools)
{
    char *report =
        build_systems_record("byacc", "CC='dwell cc' ./configure && make -j2", "./yacc -o calc.tab.c test/calc.y");
    build_systems_expect(report, "main.c", "main");
    build_systems_expect(report, "lalr.c", "lalr");
    free(report);
}

Test(e2e_build_systems, plain_make)
{
    char *report = build_systems_record("tree", "make -j2 CC='dwell cc'", "./tree doc");
    build_systems_expect(report, "tree.c", "main");
    build_systems_expect(report, "list.c", "listdir");
    free(report);
}
