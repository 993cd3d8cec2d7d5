/* The programs of other suites, while the levels of half of their functions change at random all the time. The other
 * half keeps its exact calls and stacks, and no call of any function is lost or recorded twice. DWELL_SEED=NUMBER
 * selects the changes; scripts/soak counts it up. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "support/run.h"
#include "support/scenario.h"

static unsigned long random_seed;

static void random_begin(void)
{
    without_os_calls();
    const char *seed = getenv("DWELL_SEED");
    random_seed = seed ? strtoul(seed, NULL, 10) : 1;
}

TestSuite(e2e_random_levels, .timeout = 600, .init = random_begin);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* Writes the names of the functions whose levels have changed to a file. */
static void random_save_changed(void)
{
    const char *error = NULL;
    struct session_file *f = session_file_open(test_path("dwell.data"), &error);
    cr_assert(f != NULL, "%s", error ? error : "");
    struct namer *namer = namer_new(f);
    FILE *out = fopen(test_path("changed"), "w");
    for (size_t i = 0; i < f->levels.change_count; i++) {
        const char *name =
            namer_find(namer, f->levels.changes[i].process, f->levels.changes[i].function, f->levels.changes[i].time);
        const int length = (int)strcspn(name, ","); /* as report_paths shows it */
        fprintf(out, "%s%.*s\n", name[length] ? "\"" : "", length, name);
    }
    fclose(out);
    namer_free(namer);
    session_file_close(f);
}

/* Records the program. Saves its paths and the calls of its functions to files of that name. */
static char *random_record(const char *name, const char *mode, const char *program, int status)
{
    struct ran r = run("$DWELL record -q --mode %s $PROGRAMS/%s", mode, program);
    cr_assert(eq(int, r.status, status), "%s: %s", program, r.err);
    char *paths = report_paths("");
    FILE *out = fopen(test_path(name), "w");
    fputs(paths, out);
    fclose(out);
    free(paths);
    free(r.err);
    struct report *report = report_of("");
    cr_assert(eq(u64, report_session(report, "lost_events"), 0), "%s", program);
    report_drop(report);
    return r.out;
}

static void random_switch(bool out)
{
    char text[32];
    snprintf(text, sizeof text, "%lu%s", ++random_seed, out ? ",out" : "");
    setenv("DWELL_RANDOM_LEVELS", text, 1);
}

/* The same program has the same paths, without the functions that change, and the same calls. */
static void random_compare(const char *program, const char *mode, int status, bool out)
{
    static const char calls[] =
        "$DWELL report --by function --columns calls --format csv | cut -d, -f1,2,5 | LC_ALL=C sort";
    free(random_record("plain", mode, program, status));
    char *wanted = run_well("%s", calls);
    random_switch(out);
    free(random_record("random", mode, program, status));
    char *got = run_well("%s", calls);
    const char *how = getenv("DWELL_RANDOM_LEVELS");
    if (!out)
        cr_assert(eq(str, got, wanted), "DWELL_RANDOM_LEVELS=%s, mode %s, %s", how, mode, program);
    random_save_changed();
    struct ran r = run("awk -f %s changed plain random", DWELL_COMPARE);
    cr_assert(eq(int, r.status, 0), "DWELL_RANDOM_LEVELS=%s, mode %s, %s: %s", how, mode, program, r.out);
    ran_drop(&r);
    unsetenv("DWELL_RANDOM_LEVELS");
    free(wanted);
    free(got);
}

/* All programs whose paths begin so, each in one of the modes. */
static void random_compare_all(const char *programs, const char *arguments, int status)
{
    char *list = run_well("cd $PROGRAMS; for i in %s-*; do test -f $i && test -x $i && echo $i; done; true", programs);
    int count = 0;
    for (char *name = strtok(list, "\n"); name; name = strtok(NULL, "\n"), count++) {
        char *program = NULL;
        cr_assert(gt(int, asprintf(&program, "%s %s", name, arguments), 0));
        random_compare(program, modes[(random_seed + (unsigned)count) % 3], status, count % 2);
        free(program);
    }
    cr_assert(gt(int, count, 0));
    free(list);
}

Test(e2e_random_levels, frames)
{
    random_compare_all("frames/exceptions", "", 0);
    random_compare_all("frames/leaving", "", 7);
    random_compare_all("jumps", "", 0);
}

Test(e2e_random_levels, kinds_of_calls)
{
    random_compare_all("levels/kinds", "3000", 7);
}

static void random_compare_modes(const char *program, int status)
{
    for (int i = 0; i < 3; i++) {
        random_compare(program, modes[i], status, false);
        random_compare(program, modes[i], status, true);
    }
}

Test(e2e_random_levels, stacks)
{
    random_compare_modes("stacks/stacks ucontext", 0);
    random_compare_modes("stacks/stacks hand", 0);
    random_compare_modes("stacks/stacks place", 0);
}

Test(e2e_random_levels, loading)
{
    random_compare_modes("loading/same $PROGRAMS/loading/libloading-a.so $PROGRAMS/loading/libloading-b.so 50", 0);
    random_compare_modes("loading/early", 0);
    random_compare_modes("loading/early-no-pie", 0);
}

/* The program counts its calls. */
static void random_count(const char *program)
{
    for (int i = 0; i < 3; i++) {
        random_switch(false);
        char *out = random_record("random", modes[i], program, 0);
        struct report *r = report_of("");
        const char *how = getenv("DWELL_RANDOM_LEVELS");
        for (const char *line = out; (line = strstr(line, "calls ")); line++) {
            char name[64];
            unsigned long calls;
            cr_assert(eq(int, sscanf(line, "calls %63s %lu", name, &calls), 2), "%s", line);
            cr_assert(eq(u64, report_sum(r, "function", name, "calls"), calls),
                      "DWELL_RANDOM_LEVELS=%s, mode %s, %s: %s", how, modes[i], program, name);
        }
        report_drop(r);
        free(out);
    }
    unsetenv("DWELL_RANDOM_LEVELS");
}

/* Programs change the protection of their code themselves. */
Test(e2e_random_levels, programs_that_change_their_code)
{
    random_count("levels/patching kept");
    random_count("levels/patching taken");
    random_count("levels/patching taken_bare");
    random_count("levels/patching hidden");
}

Test(e2e_random_levels, signals)
{
    random_count("signals/signals-O0 nested 20000");
    random_count("signals/signals-O2 nested 20000");
    random_count("signals/signals-O2 alternate 20000");
    random_compare_modes("signals/signals-O2 jump", 0);
    random_compare_modes("signals/signals-O2 above", 0);
    random_compare_modes("signals/signals-O0 never", 0);
}
