/* The recording's variables are hidden from the program, and come back for the programs that it executes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_environment, .timeout = 300);

extern char **environ;

/* The value of LD_PRELOAD that the program sees; NULL if it sees none. */
static const char *environment_hidden(const char *value)
{
    static char variable[256];
    char *list[] = { variable, NULL };
    strcpy(stpcpy(variable, "LD_PRELOAD="), value);
    environment_hide(list);
    return list[0] ? variable + strlen("LD_PRELOAD=") : NULL;
}

static void environment_check_hidden(const char *value, const char *expected)
{
    const char *left = environment_hidden(value);
    cr_assert(eq(int, left != NULL, expected != NULL), "%s", value);
    if (left)
        cr_assert(eq(str, (char *)left, (char *)expected));
}

Test(unit_runtime_environment, the_library_is_hidden_however_often_it_is_there)
{
    environment_check_hidden("", "");
    environment_check_hidden("libx.so", "libx.so");
    environment_check_hidden("/lib/mylibdwell.so", "/lib/mylibdwell.so");
    environment_check_hidden("libdwell.so", NULL);
    environment_check_hidden("/a/libdwell.so.0", NULL);
    environment_check_hidden("libx.so:/a/libdwell.so.0", "libx.so");
    environment_check_hidden("/a/libdwell.so.0 libx.so", "libx.so");
    environment_check_hidden("libdwell.so:/a/libdwell.so.0", NULL);
    environment_check_hidden("libdwell.so:libx.so /b/libdwell.so", "libx.so");
    environment_check_hidden("/a/libdwell.so.0:/b/libdwell.so:libx.so:libdwell.so.0", "libx.so");
}

Test(unit_runtime_environment, executed_programs_get_what_was_hidden)
{
    char output[] = "DWELL_OUTPUT=/tmp/a", log[] = "DWELL_PERFLOG=/tmp/log", home[] = "HOME=/",
         preload[] = "LD_PRELOAD=libx.so:/a/libdwell.so.0";
    char *list[] = { output, log, home, preload, NULL }, **before = environ;
    runtime_block();
    environ = list;
    environment_adopt();
    environ = before;
    environment_hide(list);
    cr_assert(eq(str, list[0], "DWELL_PERFLOG=/tmp/log"));
    cr_assert(eq(str, list[1], "HOME=/"));
    cr_assert(eq(str, list[2], "LD_PRELOAD=libx.so"));
    cr_assert(list[3] == NULL);
    void *room = malloc(environment_room(list, true, true));
    char **filled = environment_fill(list, room, true);
    cr_assert(eq(str, filled[0], "DWELL_PERFLOG=/tmp/log"));
    cr_assert(eq(str, filled[1], "HOME=/"));
    cr_assert(eq(str, filled[2], "LD_PRELOAD=libx.so:/a/libdwell.so.0"));
    cr_assert(eq(str, filled[3], "DWELL_OUTPUT=/tmp/a"));
    cr_assert(filled[4] == NULL);
    cr_assert(eq(sz, environment_room(filled, true, true), 0));
    free(room);
}

/* The loader uses the last of several variables. A file's name may end with any character. */
Test(unit_runtime_environment, the_library_is_added_to_the_preload_that_holds)
{
    char output[] = "DWELL_OUTPUT=/tmp/a", preload[] = "LD_PRELOAD=/a/libdwell.so", first[] = "LD_PRELOAD=libdwell.so",
         other[] = "LD_PRELOAD=libx.so=";
    char *kept[] = { output, preload, NULL }, *list[] = { output, first, other, NULL }, **before = environ;
    runtime_block();
    environ = kept;
    environment_adopt();
    environ = before;
    void *room = malloc(environment_room(list, true, true));
    cr_assert(room != NULL);
    char **filled = environment_fill(list, room, true);
    cr_assert(eq(str, filled[0], "DWELL_OUTPUT=/tmp/a"));
    cr_assert(eq(str, filled[1], "LD_PRELOAD=libdwell.so"));
    cr_assert(eq(str, filled[2], "LD_PRELOAD=libx.so=:/a/libdwell.so"));
    cr_assert(filled[3] == NULL);
    cr_assert(eq(sz, environment_room(filled, true, true), 0));
    free(room);
}
