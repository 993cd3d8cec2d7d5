/* Lists the export formats with their checks, and makes the names of functions unique. */
#include "export/exports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/session_needs.h"
#include "base/memory.h"
#include "export/formats.h"
#include "export/measures.h"

static bool export_check_time(const struct analysis *session, const struct export_options *options, struct error *error)
{
    return measure_check(session, options->time, error);
}

static const char of_sums[] = "export callgrind, pprof or speedscope"; /* formats that need no single calls */

const struct export_format export_formats[] = {
    { .name = "callgrind",
      .summary = "functions and calls, for KCachegrind and callgrind_annotate",
      .uses = EXPORT_LINES,
      .write = export_callgrind },
    { .name = "collapsed",
      .summary = "stacks for flamegraph.pl and similar tools, by one of the times",
      .uses = EXPORT_TIME,
      .check = export_check_time,
      .write = export_collapsed },
    { .name = "pprof",
      .summary = "call paths of each thread with all their values, for pprof",
      .uses = EXPORT_LINES,
      .write = export_pprof,
      .compressed = true,
      .binary = true },
    { .name = "speedscope",
      .summary = "call paths of each thread for speedscope, by one of the times",
      .uses = EXPORT_TIME,
      .check = export_check_time,
      .write = export_speedscope },
    { .name = "sqlite",
      .summary = "a database of all call paths, with the reports as views",
      .uses = EXPORT_LIMITS | EXPORT_COUNTED | EXPORT_TIMING | EXPORT_VALUES,
      .write_files = export_sqlite },
    { .name = "chrome",
      .summary = "single calls over time in JSON, for about:tracing and Perfetto's UI",
      .uses = EXPORT_SINGLE | EXPORT_MOMENTS | EXPORT_VALUES,
      .needs = SESSION_SINGLE_CALLS,
      .instead = of_sums,
      .write = export_chrome },
    { .name = "perfetto",
      .summary = "single calls, flows and counters as a Perfetto trace",
      .uses = EXPORT_SINGLE | EXPORT_MOMENTS | EXPORT_VALUES,
      .needs = SESSION_SINGLE_CALLS,
      .instead = of_sums,
      .write = export_perfetto,
      .binary = true },
    { .name = "firefox",
      .summary = "intervals with their stacks, for the Firefox Profiler",
      .uses = EXPORT_SINGLE | EXPORT_MOMENTS | EXPORT_VALUES,
      .write = export_firefox },
    { .name = "ctf",
      .summary = "single calls as a CTF trace, a folder that babeltrace2 reads",
      .uses = EXPORT_SINGLE | EXPORT_MOMENTS | EXPORT_VALUES,
      .needs = SESSION_SINGLE_CALLS,
      .instead = of_sums,
      .write_files = export_ctf },
    { 0 },
};

/* ---- names ---- */

struct exported_name {
    const char *name;
    uint32_t function;
};

static int export_compare_named(const void *a, const void *b)
{
    return strcmp(((const struct exported_name *)a)->name, ((const struct exported_name *)b)->name);
}

struct placed_function {
    char **name;
    const struct profile_module *module;
};

static int export_compare_placed(const void *a, const void *b)
{
    const struct placed_function *x = a, *y = b;
    const int by_name = strcmp(*x->name, *y->name);
    return by_name ? by_name : profile_compare_modules(x->module, y->module);
}

/* Numbers names that are still equal: modules of one name may have equal functions at equal addresses. */
static void export_number_equal_names(const struct profile *p, char **names)
{
    struct placed_function *sorted = need_memory(p->function_count + 1, sizeof *sorted);
    for (size_t i = 0; i < p->function_count; i++)
        sorted[i] = (struct placed_function){ &names[i], &p->modules[p->functions[i].module] };
    if (p->function_count)
        qsort(sorted, p->function_count, sizeof *sorted, export_compare_placed);
    for (size_t first = 0, next; first < p->function_count; first = next) {
        const char *name = *sorted[first].name;
        for (next = first + 1; next < p->function_count && strcmp(*sorted[next].name, name) == 0; next++) {
            char *numbered = need_text("%s (%zu)", name, next - first + 1);
            free(*sorted[next].name);
            *sorted[next].name = numbered;
        }
    }
    free(sorted);
}

char **export_unique_names(const struct analysis *session)
{
    const size_t count = session->profile->function_count;
    struct exported_name *sorted = need_memory(count + 1, sizeof *sorted);
    char **names = need_memory(count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct exported_name){ session->names[i].name, i };
    if (count)
        qsort(sorted, count, sizeof *sorted, export_compare_named);
    for (size_t i = 0; i < count; i++) {
        const struct function_name *name = &session->names[sorted[i].function];
        const bool shared = (i > 0 && strcmp(sorted[i - 1].name, name->name) == 0) ||
                            (i + 1 < count && strcmp(sorted[i + 1].name, name->name) == 0);
        char **place = &names[sorted[i].function];
        if (!shared)
            *place = need_copy(name->name, strlen(name->name));
        else if (!function_has_address(session, sorted[i].function))
            *place = need_text("%s @%s", name->name, name->module);
        else
            *place = need_text("%s @%s+0x%" PRIx64, name->name, name->module,
                               session->profile->functions[sorted[i].function].offset);
    }
    free(sorted);
    export_number_equal_names(session->profile, names);
    return names;
}
