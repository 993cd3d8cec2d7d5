/* Teams of OpenMP by libgomp: their waits and causes, the path through them, and that programs run as without dwell. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/run.h"

static void openmp_begin(void)
{
    if (access(DWELL_PROGRAMS "/openmp/openmp", X_OK) != 0)
        cr_skip_test("the programs were not built by GCC");
    setenv("OMP_CANCELLATION", "true", 1);
}

TestSuite(e2e_openmp, .timeout = 300, .init = openmp_begin);

/* Each wait is for the team, or for the thread that makes teams, and the last one to arrive has ended it. */
Test(e2e_openmp, waits_and_causes)
{
    static const char *const parts[][3] = {
        { "end", "main;at_the_end;GOMP_parallel_end", "at_the_end,barrier,waker,at_the_end._omp_fn.0,3" },
        { "reduction", "main;sum_up;GOMP_parallel_end", "sum_up,barrier,waker,sum_up._omp_fn.0,3" },
        { "start", "GOMP_parallel", "(start of thread),barrier,waker,at_the_end,3" },
        { "barrier", "at_barriers._omp_fn.0;GOMP_barrier",
          "at_barriers._omp_fn.0,barrier,waker,at_barriers._omp_fn.0,2" },
        { "barrier", "main;at_barriers;at_barriers._omp_fn.0;GOMP_barrier",
          "at_barriers._omp_fn.0,barrier,waker,at_barriers._omp_fn.0,1" },
        { "loop", "in_loops._omp_fn.0;GOMP_loop_end", "in_loops._omp_fn.0,barrier,waker,in_loops._omp_fn.0,3" },
        { "sections", "in_sections._omp_fn.0;GOMP_sections_end",
          "in_sections._omp_fn.0,barrier,waker,in_sections._omp_fn.0,3" },
    };
    static const char *const modes[] = { "", "--mode ring", "--min 0ns", "--call-sites" };
    setenv("OMP_WAIT_POLICY", "passive", 1);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            free(run_well("$DWELL record -q %s $PROGRAMS/openmp/openmp %s", modes[m], parts[i][0]));
            char *out = run_well("$DWELL waits --format csv --columns "
                                 "function,object.kind,cause,cause_function,waits --filter 'path=%s' "
                                 "--filter object.kind=barrier | tail -n +2 | tr -d '\\r'",
                                 parts[i][1]);
            char *wanted = run_well("echo '%s'", parts[i][2]);
            cr_assert(eq(str, out, wanted), "%s %s", parts[i][0], modes[m]);
            free(out);
            free(wanted);
        }
}

/* All waits of a team have one object. */
Test(e2e_openmp, an_object_for_each_team)
{
    setenv("OMP_WAIT_POLICY", "passive", 1);
    free(run_well("$DWELL record -q $PROGRAMS/openmp/openmp barrier"));
    char *out = run_well("$DWELL waits --format csv --columns object.name --filter 'path~*GOMP_barrier' | tail -n +2 | "
                         "sort -u | wc -l");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}

static double openmp_number(struct json_object *of, const char *key)
{
    struct json_object *value;
    cr_assert(json_object_object_get_ex(of, key, &value), "%s", key);
    return (double)json_object_get_int64(value);
}

/* Three times 100 ms of CPU time in a thread for which the other one waits: asleep, or on the CPU. */
Test(e2e_openmp, the_slow_thread_is_on_the_path)
{
    for (int passive = 0; passive < 2; passive++) {
        setenv("OMP_WAIT_POLICY", passive ? "passive" : "active", 1);
        free(run_well("$DWELL record -q $PROGRAMS/openmp/openmp unbalanced"));
        char *text = run_well("$DWELL critical --format json");
        struct json_object *root = json_tokener_parse(text), *rows, *first, *name;
        cr_assert(json_object_object_get_ex(root, "rows", &rows));
        first = json_object_array_get_idx(rows, 0);
        cr_assert(json_object_object_get_ex(first, "function", &name));
        cr_assert(eq(str, (char *)json_object_get_string(name), "work_long"), "%s", text);
        cr_assert(ge(dbl, openmp_number(first, "work_ns"), 270e6), "%s", text);
        json_object_put(root);
        free(text);
        text = run_well("$DWELL whatif --format json work_long=0.5");
        root = json_tokener_parse(text);
        const double predicted = openmp_number(root, "predicted_ns");
        cr_assert(gt(dbl, predicted, 0), "no point: %s", text);
        cr_assert(le(dbl, predicted, openmp_number(root, "recorded_ns") - 140e6), "%s", text);
        json_object_put(root);
        free(text);
    }
}

/* The results are those without dwell, and each thread's run of a region is a call. */
Test(e2e_openmp, regions_of_all_kinds)
{
    static const char *const modes[] = { "", "--mode profile", "--mode ring", "--call-sites", "--overhead 1" };
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        free(run_well("$DWELL record -q %s $PROGRAMS/openmp/openmp-mixed 5", modes[m]));
        char *out =
            run_well("$DWELL report --by function --format csv --columns calls --filter '*._omp_fn.*' | tr -d '\\r' "
                     "| awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"function\") name = i; "
                     "else if ($i == \"calls\") calls = i } NR > 1 { print $name, $calls }' | sort");
        cr_assert(eq(str, out,
                     "cancels._omp_fn.0 20\ncopies._omp_fn.0 15\nloops._omp_fn.0 10\nloops._omp_fn.1 10\n"
                     "loops._omp_fn.2 10\nloops._omp_fn.3 10\nnested._omp_fn.0 10\nnested._omp_fn.1 30\n"
                     "sections._omp_fn.0 10\ntasks._omp_fn.0 15\ntasks._omp_fn.1 10\n"),
                  "%s", modes[m]);
        free(out);
    }
}

/* Without an OpenMP library of the program's own: a plugin brings one, and has no probes. */
Test(e2e_openmp, of_a_plugin)
{
    free(run_well("$DWELL record -q $PROGRAMS/openmp/openmp-host $PROGRAMS/openmp/libopenmp-library.so"));
    char *out = run_well("$DWELL report --by function --format csv --filter '*omp_fn*' | tail -n +2");
    cr_assert(eq(str, out, ""));
    free(out);
}

/* Samples of a region without probes are time of that region, although the runtime has called it. */
Test(e2e_openmp, samples_of_regions)
{
    free(run_well("$DWELL record -q --sample 1000 $PROGRAMS/openmp/openmp-host $PROGRAMS/openmp/libopenmp-library.so"));
    char *out = run_well("$DWELL tree --min 0 --format csv | tr -d '\\r' | grep -c 'work_in_team._omp_fn.0' || true");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}
