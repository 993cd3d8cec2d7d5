/* dwell doctor on programs of all kinds, and with prerequisites missing. The tests assert nothing about this machine
 * except what they remove, and never speeds or sizes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_doctor, .timeout = 300);

#define AS_NOBODY "setpriv --reuid=54321 --regid=54321 --clear-groups"

/* The lines about PROGRAM itself. `more` is shell text before dwell. The status is that of dwell. */
static void doctor_check_program(const char *more, const char *program, int status, const char *wanted)
{
    struct ran r =
        run("%s $DWELL doctor %s >all; s=$?; sed '/^ok    kernel /,$d' all | sed 's/  */ /g'; exit $s", more, program);
    cr_assert(eq(str, r.out, (char *)wanted), "%s", program);
    cr_assert(eq(int, r.status, status), "%s", program);
    ran_drop(&r);
}

#define EACH "as each function has one, and each inlined copy\n"

Test(e2e_doctor, each_kind_of_program)
{
    free(run_well(
        "cp $SAMPLES/fib fib; cp $PROGRAMS/static static; cp $PROGRAMS/static-dwell ours; printf 'exit 0' >script; "
        "chmod +x script"));
    doctor_check_program("", "./fib", 0,
                         "ok program ./fib: dynamically linked, position-independent\n"
                         "ok instrumented 2 functions; 2 calls of the probe, " EACH "ok symbols in the program\n"
                         "ok debug information in the program\n");
    doctor_check_program(
        "", "./static", 1,
        "bad program ./static is statically linked, so libdwell.so cannot be loaded into it; link it with libdwell.a\n"
        "ok instrumented 2 functions; 2 calls of the probe, " EACH "ok symbols in the program\n"
        "ok debug information in the program\n");
    doctor_check_program("", "./ours", 0,
                         "ok program ./ours: statically linked, at a fixed address, with the runtime in it\n"
                         "ok instrumented 2 functions; 2 calls of the probe, " EACH "ok symbols in the program\n"
                         "ok debug information in the program\n");
    doctor_check_program(
        "", "./script", 0,
        "warn program ./script is not a binary; the instrumented programs that it runs are recorded\n");
    doctor_check_program("", "./nothing", 1, "bad program ./nothing: no such program\n");
    doctor_check_program("cp $PROGRAMS/processes/processes-plain plain;", "./plain", 1,
                         "ok program ./plain: dynamically linked, position-independent\n"
                         "bad instrumented no function of it: compile and link it with dwell cc, or with -g "
                         "-finstrument-functions (libraries that it loads may be)\n");
}

Test(e2e_doctor, stripped_programs)
{
    static const char found[] = "ok program ./p: dynamically linked, position-independent\n"
                                "ok instrumented 2 calls of the probe (functions, and copies where they were inlined)\n"
                                "ok symbols in a file of debug information\n"
                                "ok debug information in a file of its own\n";
    free(run_well("cp $PROGRAMS/loading/stripped-by-id p; strip -o bare $SAMPLES/fib; strip -g -o named $SAMPLES/fib"));
    doctor_check_program("DWELL_DEBUG_PATH=$PROGRAMS/loading/debug-root", "./p", 0, found);
    doctor_check_program(
        "", "./bare", 0,
        "ok program ./bare: dynamically linked, position-independent\n"
        "ok instrumented 2 calls of the probe (functions, and copies where they were inlined)\n"
        "warn symbols stripped; functions are shown by address: do not strip it, or install its file of "
        "debug information "
        "(/usr/lib/debug/.build-id, beside it by .gnu_debuglink, or DEBUGINFOD_URLS)\n"
        "warn debug information none, so source lines are unknown; compile with -g\n");
    doctor_check_program("", "./named", 0,
                         "ok program ./named: dynamically linked, position-independent\n"
                         "ok instrumented 2 functions; 2 calls of the probe, " EACH "ok symbols in the program\n"
                         "warn debug information none, so source lines are unknown; compile with -g\n");
}

/* The linker may give a call of the probe any form. The number of calls equals a disassembler's. */
Test(e2e_doctor, calls_of_the_probe)
{
    free(run_well(
        "cat >p.c <<'END'\nint twice(int a) { return 2 * a; }\nint main(int count, char **words) { (void)words; return "
        "twice(count) + twice(3) > 99; }\nEND\n"
        "n() { $DWELL doctor \"$1\" | sed -n 's/.*[; ]\\([0-9]*\\) calls of the probe.*/\\1/p'; }\n"
        "for how in -O0 '-O2 -fno-plt' '-O1 -no-pie' '-O2 -fcf-protection=full -Wl,-z,now' '-O2 -no-pie -fno-plt'; do\n"
        "  cc -finstrument-functions $how p.c -o p || exit 1\n"
        "  test \"$(n ./p)\" = \"$(objdump -d p | grep -c 'call.*__cyg_profile_func_enter')\" || exit 1\n"
        "done\n"
        "test ! -e $SAMPLES/cplusplus || test \"$(n $SAMPLES/cplusplus)\" = "
        "\"$(objdump -d $SAMPLES/cplusplus | grep -c 'call.*__cyg_profile_func_enter')\""));
}

Test(e2e_doctor, programs_with_privileges)
{
    if (geteuid() != 0)
        cr_skip_test("only root may do this");
    free(run_well("cp $SAMPLES/fib p; chown 54321:54321 p; chmod 4755 p"));
    char *out = run_well(
        "$DWELL doctor ./p | grep -c '^bad   privilege .*setuid.*as its owner$'; $DWELL doctor ./p >all; test $? = 1");
    cr_assert(eq(str, out, "1\n"));
    free(out);
    free(run_well("chmod 777 .; " AS_NOBODY " $DWELL doctor ./p >as-its-owner; ! grep privilege as-its-owner"));
}

/* The health of the lines about `what` that `dwell doctor` prints after this shell text. */
static void check_health(const char *words, const char *what, const char *wanted)
{
    char *out = run_well("%s $DWELL doctor >all; sed -n 's/^\\([a-z]*\\)  *%s  .*/\\1/p' all", words, what);
    cr_assert(eq(str, out, (char *)wanted), "%s: %s", words, what);
    free(out);
}

Test(e2e_doctor, what_the_system_forbids)
{
    char refuse[128];
    snprintf(refuse, sizeof refuse, "$PROGRAMS/scarcity/refuse %d 1", (int)SYS_perf_event_open);
    check_health(refuse, "perf events", "warn\n");
    check_health(refuse, "locked memory", "");
    snprintf(refuse, sizeof refuse, "GLIBC_TUNABLES=glibc.pthread.rseq=0 $PROGRAMS/scarcity/refuse %d 38",
             (int)SYS_perf_event_open);
    check_health(refuse, "perf events", "warn\n");
    check_health(refuse, "rseq", "warn\n");
    check_health(refuse, "application times", "warn\n");
    check_health("DWELL_CLOCK=monotonic", "clock", "warn\n");
    check_health("ulimit -f 1000;", "file size", "warn\n");
    check_health("", "libdwell.so", "ok\n");
}

#if defined(__x86_64__)
Test(e2e_doctor, how_calls_are_counted)
{
    enum { HWCAP2_GS = 2 };
    char *out = run_well("$DWELL doctor | sed -n 's/^[a-z]*  *counted calls  *//p'");
    if (getauxval(AT_HWCAP2) & HWCAP2_GS)
        cr_assert(eq(str, out, "in place: instructions set the base of gs (FSGSBASE)\n"));
    else
        cr_assert(strncmp(out, "in place: arch_prctl ", 21) == 0 || strncmp(out, "by stubs, ", 10) == 0, "%s", out);
    free(out);
}

static void doctor_says_of_counting(const char *command, const char *wanted)
{
    char *out = run_well("%s $DWELL doctor >all; sed -n 's/  *counted calls  */ /p' all", command);
    cr_assert(eq(str, out, (char *)wanted), "%s", command);
    free(out);
}

/* As on a machine without the instructions, and in a sandbox there that forbids ARCH_SET_GS. */
Test(e2e_doctor, how_calls_are_counted_without_instructions)
{
    char forbidden[128];
    free(run_well("cat >none.c <<'END'\n#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <sys/auxv.h>\n"
                  "unsigned long getauxval(unsigned long type)\n{\n    unsigned long (*next)(unsigned long);\n"
                  "    *(void **)&next = dlsym(RTLD_NEXT, \"getauxval\");\n"
                  "    return type == AT_HWCAP2 ? next(type) & ~2ul : next(type);\n}\nEND\n"
                  "cc -shared -fPIC -o none.so none.c -ldl"));
    doctor_says_of_counting(
        "LD_PRELOAD=./none.so",
        "ok in place: arch_prctl sets the base of gs, as this processor or kernel has no FSGSBASE\n");
    snprintf(forbidden, sizeof forbidden, "LD_PRELOAD=./none.so $PROGRAMS/scarcity/refuse %d@0=%d 1",
             (int)SYS_arch_prctl, 0x1001);
    doctor_says_of_counting(forbidden, "warn by stubs, which take longer: there is no FSGSBASE, and arch_prctl fails: "
                                       "Operation not permitted\n");
}
#endif

Test(e2e_doctor, where_the_session_would_be)
{
    struct ran r = run("$DWELL doctor -o missing/x | tail -n 1");
    cr_assert(
        eq(str, r.out,
           "bad   session file   cannot be made in missing: No such file or directory; choose another place with -o\n"),
        "%s", r.out);
    ran_drop(&r);
    r = run("$DWELL doctor -o missing/x >all");
    cr_assert(eq(int, r.status, 1));
    ran_drop(&r);
    free(run_well("mkdir made; $DWELL doctor -o made/x >all; grep -q '^ok    session file  *can be made in made$' all; "
                  "test -z \"$(ls -A made)\""));
    r = run("mkdir small && mount -t tmpfs -o size=2m dwell-test small");
    if (r.status != 0)
        cr_skip_test("only root may mount a small disk");
    ran_drop(&r);
    r = run("$DWELL doctor -o small/x >all; s=$?; umount small; grep -c '^bad   space  *2 MB are free' all; exit $s");
    cr_assert(eq(str, r.out, "1\n"));
    cr_assert(eq(int, r.status, 1));
    ran_drop(&r);
}

/* Record would record nothing where less is free than it leaves free. */
Test(e2e_doctor, space_that_is_left_free)
{
    char *text = run_well("$DWELL doctor --keep-free 1000000G >all; echo $?; "
                          "DWELL_KEEP_FREE=1000000G $DWELL doctor >named; echo $?; "
                          "sed -n 's/, or record with .*//; s/^\\(bad *space\\)  *[0-9]* MB/\\1 N MB/p' all named; "
                          "DWELL_KEEP_FREE=1000000G $DWELL doctor --keep-free 0 | grep -c '^ok *space'");
    cr_assert(eq(str, text,
                 "1\n1\n"
                 "bad   space N MB are free, and record leaves 1073741824 MB free, so it records nothing; make room, "
                 "choose another place with -o\n"
                 "bad   space N MB are free, and record leaves 1073741824 MB free, so it records nothing; make room, "
                 "choose another place with -o\n1\n"),
              "%s", text);
    free(text);
}

Test(e2e_doctor, csv_and_json)
{
    char *text = run_well("$DWELL doctor --format json $SAMPLES/fib");
    struct json_object *root = json_tokener_parse(text), *rows, *value;
    cr_assert(root != NULL, "%s", text);
    cr_assert(json_object_object_get_ex(root, "rows", &rows));
    struct json_object *second = json_object_array_get_idx(rows, 1);
    cr_assert(json_object_object_get_ex(second, "health", &value));
    cr_assert(eq(str, (char *)json_object_get_string(value), "ok"));
    cr_assert(json_object_object_get_ex(second, "what", &value));
    cr_assert(eq(str, (char *)json_object_get_string(value), "instrumented"));
    json_object_put(root);
    free(text);
    text = run_well("$DWELL doctor --format csv $SAMPLES/fib | tr -d '\\r' | cut -d, -f1,2 | head -n 5");
    cr_assert(eq(str, text, "health,what\nok,program\nok,instrumented\nok,symbols\nok,debug information\n"));
    free(text);
}

Test(e2e_doctor, mistakes)
{
    struct ran r = run("$DWELL doctor one two");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: one program at a time: 'two' is a second one\n"));
    ran_drop(&r);
}
