/* dwell whatif: reads its options, and prints what a run would take if functions were faster or slower. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/time_unit.h"
#include "base/units.h"
#include "base/visible.h"
#include "causes/causes_feature.h"
#include "causes/path_sleeps.h"
#include "causes/what_if.h"
#include "causes/what_if_rows.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/die.h"
#include "report/text_summary.h"

enum { MAX_CPUS = 4096, MAX_SCALES = 64, MAX_RANKED = 200, TEXT_ROWS = 20 };

static const double max_factor = 1000;

static const struct shared_use shared[] = {
    { SHARED_FROM, NULL },
    { SHARED_TO, NULL },
    { SHARED_THREAD, "; the run ends on it" },
    { SHARED_PROCESS, "; the run ends on its first thread" },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: by 50 % less)" },
    { SHARED_LIMIT, "(default: 20 in text, else 200)" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct whatif_settings {
    struct shared_options shared;
    bool rank;
    unsigned cpus; /* zero: as recorded */
    char *functions[MAX_SCALES];
    double factors[MAX_SCALES];
    size_t count;
    const char *file;
};

/* FUNCTION=FACTOR. Returns false if the text has no such factor: then it is a file. */
static bool whatif_take_scale(struct whatif_settings *s, const char *text)
{
    const char *equals = strrchr(text, '=');
    char *end;
    if (!equals || equals == text)
        return false;
    const double factor = strtod(equals + 1, &end);
    if (end == equals + 1 || *end || !(factor >= 0 && factor <= max_factor))
        die(STATUS_ERROR, "whatif: '%s' is no factor from 0 to 1000, such as 0.5 for half of the time", equals + 1);
    if (s->count == MAX_SCALES)
        die(STATUS_ERROR, "whatif: more than %d functions", MAX_SCALES);
    s->functions[s->count] = need_copy(text, (size_t)(equals - text));
    s->factors[s->count++] = factor;
    return true;
}

static void whatif_take(void *settings, const struct option_row *row, char *argument)
{
    struct whatif_settings *s = settings;
    (void)row;
    if (whatif_take_scale(s, argument))
        return;
    if (s->file)
        die(STATUS_ERROR, "one session at a time: '%s' is a second one", argument);
    s->file = argument;
}

static void whatif_check(void *settings)
{
    const struct whatif_settings *s = settings;
    if (!s->count && !s->rank && !s->cpus)
        die(STATUS_ERROR, "whatif: which FUNCTION=FACTOR? --rank lists the functions that matter");
}

static const struct option_row options[] = {
    { "rank", NULL, "list the functions by what 10, 50 and 100 % less of each would bring",
      STORE_FLAG(struct whatif_settings, rank) },
    { "cpus", "N", "replay on N processors (default: threads run when they ran)",
      STORE_NUMBER(struct whatif_settings, cpus, 1, MAX_CPUS, "from 1 to 4096") },
    { TAKE_BY(whatif_take) },
    { 0 },
};

static const struct command_line line = {
    .name = "whatif",
    .daily = "rank cpus from to thread filter sort limit format",
    .arguments = "FUNCTION=FACTOR... [FILE]",
    .text =
        "Predicts how long a run would take if functions were faster or slower: FUNCTION=0.5 is half of its own time.\v"
        "The recorded order of work, waits and acts is replayed with the function's exclusive time scaled. FUNCTION is "
        "as in dwell callers. Times hold those of the probes. An act that nobody waited for in the recording is not "
        "replayed: a great speed-up can be predicted too high.\n\nExamples:\n"
        "  dwell whatif parse=0.5\n"
        "  dwell whatif parse=0.5 hash=0.9 run.data\n"
        "  dwell whatif --cpus 8\n"
        "  dwell whatif --rank",
    .options = options,
    .needs = SESSION_ORDER,
    .check = whatif_check,
    .shared = shared,
    .columns = view_what_if_columns,
    .column_count = &view_what_if_column_count,
};

/* ---- loading ---- */

static void whatif_load(struct analysis *analysis, struct whatif_settings *s, struct critical_part *part)
{
    struct error error = { NULL };
    shared_options_load_moments(analysis, s->file, &s->shared);
    if (!critical_find_part(analysis, &s->shared.load.selection, part, &error))
        die_of(&error);
    if (!(analysis->file->header.also & DWELL_ALSO_CAUSES))
        summary_remark(&analysis->summary, "no-causes",
                       "causes of waits were not recorded, so no thread waits for another: record again");
}

/* ---- output ---- */

/* The lengths of the run, in ticks. */
struct whatif_lengths {
    uint64_t recorded, replayed;
    uint64_t unscaled;  /* predicted with the wanted number of processors alone */
    uint64_t predicted; /* and with the functions scaled, too */
    uint64_t unknown;   /* waits without a known cause on the replayed path */
    struct what_if_range range;
};

static bool whatif_is_range(const struct whatif_lengths *n)
{
    return what_if_is_range(n->unknown, n->recorded);
}

static uint64_t whatif_ns(const struct analysis *analysis, uint64_t ticks)
{
    return ticks_to_ns(ticks, analysis->summary.ticks_per_second);
}

static double whatif_percent(uint64_t before, uint64_t after)
{
    return before ? ((double)after / (double)before - 1) * 100 : 0;
}

static void whatif_print_cpus(unsigned cpus)
{
    if (cpus)
        printf(", on %s", COUNTED(cpus, "processor"));
    putchar('\n');
}

/* The waits without a known cause, if there are any. */
static void whatif_print_unknown(const struct analysis *analysis, const struct whatif_lengths *n)
{
    char unknown[TIME_TEXT];
    text_time(whatif_ns(analysis, n->unknown), unknown);
    if (n->unknown)
        printf("unknown   %s (%.2f %%): waits without a known cause\n", unknown,
               (double)n->unknown / (double)n->recorded * 100);
}

static void whatif_print_range(const struct whatif_settings *s, const struct analysis *analysis,
                               const struct whatif_lengths *n)
{
    char least[TIME_TEXT], most[TIME_TEXT];
    text_time(whatif_ns(analysis, n->range.least), least);
    text_time(whatif_ns(analysis, n->range.most), most);
    printf("predicted %s to %s (%+.2f to %+.2f %%)", least, most, whatif_percent(n->recorded, n->range.least),
           whatif_percent(n->recorded, n->range.most));
    whatif_print_cpus(s->cpus);
}

static void whatif_print_lengths(const struct whatif_settings *s, const struct analysis *analysis,
                                 const struct whatif_lengths *n)
{
    char recorded[TIME_TEXT], replayed[TIME_TEXT], predicted[TIME_TEXT];
    text_time(whatif_ns(analysis, n->recorded), recorded);
    text_time(whatif_ns(analysis, n->replayed), replayed);
    text_time(whatif_ns(analysis, n->predicted), predicted);
    printf("recorded  %s%s\nreplayed  %s (%+.2f %%): as recorded", recorded,
           analysis->summary.overhead_known ? ", with the time of probes" : "", replayed,
           whatif_percent(n->recorded, n->replayed));
    whatif_print_cpus(s->cpus ? analysis->file->host.processors : 0);
    whatif_print_unknown(analysis, n);
    if (!s->count && !s->cpus)
        return;
    if (whatif_is_range(n)) {
        whatif_print_range(s, analysis, n);
        return;
    }
    printf("predicted %s (%+.2f %%)", predicted, whatif_percent(n->recorded, n->predicted));
    whatif_print_cpus(s->cpus);
}

static void whatif_print_number(const char *key, bool known, uint64_t value)
{
    printf(", \"%s\": ", key);
    if (known)
        printf("%" PRIu64, value);
    else
        fputs("null", stdout);
}

static void whatif_print_json(const struct whatif_settings *s, const struct analysis *analysis,
                              const struct whatif_lengths *n, const struct what_if_rank *ranks, size_t count)
{
    const bool predicted = s->count || s->cpus;
    json_begin(stdout);
    json_print_remarks(&analysis->summary, stdout);
    printf("\"recorded_ns\": %" PRIu64 ", \"replayed_ns\": %" PRIu64, whatif_ns(analysis, n->recorded),
           whatif_ns(analysis, n->replayed));
    whatif_print_number("predicted_ns", predicted && !whatif_is_range(n), whatif_ns(analysis, n->predicted));
    whatif_print_number("least_ns", predicted, whatif_ns(analysis, n->range.least));
    whatif_print_number("most_ns", predicted, whatif_ns(analysis, n->range.most));
    whatif_print_number("unknown_ns", true, whatif_ns(analysis, n->unknown));
    struct table t = view_what_if_factors(analysis, ranks, count);
    fputs(",\n ", stdout);
    table_print_json_rows(&t, "rank", stdout);
    fputs("}\n", stdout);
    table_drop(&t);
}

static void whatif_print_csv(const struct analysis *analysis, const struct whatif_lengths *n)
{
    char predicted[24] = "";
    if (!whatif_is_range(n))
        snprintf(predicted, sizeof predicted, "%" PRIu64, whatif_ns(analysis, n->predicted));
    printf("recorded_ns,replayed_ns,predicted_ns,least_ns,most_ns,unknown_ns\r\n%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64
           ",%" PRIu64 ",%" PRIu64 "\r\n",
           whatif_ns(analysis, n->recorded), whatif_ns(analysis, n->replayed), predicted,
           whatif_ns(analysis, n->range.least), whatif_ns(analysis, n->range.most), whatif_ns(analysis, n->unknown));
}

static void whatif_print_rank(const struct whatif_settings *s, const struct analysis *analysis,
                              const struct what_if_rank *ranks, size_t count, const struct whatif_lengths *n)
{
    static const char with_limits[] = "function,time,gain_10,gain_50,most_50,gain_100";
    const bool text = s->shared.print == table_print_text, range = whatif_is_range(n);
    struct table t = view_what_if(analysis, ranks, count, n->unscaled, range);
    option_filter(&t, &s->shared.filters);
    const size_t limit = shared_is_set(&s->shared, SHARED_LIMIT) ? s->shared.limit : TEXT_ROWS;
    const char *columns = text && range ? with_limits : NULL;
    option_arrange_first(&t, s->shared.sort, text ? limit : 0, s->shared.columns ? s->shared.columns : columns);
    t.follows = t.own_summary = text;
    t.heading = need_text("%s", "what less of a function's own time would bring");
    s->shared.print(&t, stdout);
    table_drop(&t);
}

static void whatif_print(const struct whatif_settings *s, const struct analysis *analysis, struct what_if *w,
                         const struct whatif_lengths *n)
{
    size_t count = 0;
    const bool text = s->shared.print == table_print_text;
    struct what_if_rank *ranks = s->rank ? what_if_rank_functions(w, MAX_RANKED, whatif_is_range(n), &count) : NULL;
    if (s->shared.print == table_print_json) {
        whatif_print_json(s, analysis, n, ranks, count);
    } else {
        if (text)
            whatif_print_lengths(s, analysis, n);
        if (s->rank)
            whatif_print_rank(s, analysis, ranks, count, n);
        else if (!text)
            whatif_print_csv(analysis, n);
        if (text)
            text_print_facts(&analysis->summary, true, stdout);
    }
    free(ranks);
}

/* The replay as recorded has the recording's number of processors, if one is wanted and that number is known. */
static struct whatif_lengths whatif_predict(const struct whatif_settings *s, const struct analysis *analysis,
                                            struct what_if *w, const struct what_if_scale *scales, uint64_t recorded)
{
    struct whatif_lengths n = { .recorded = recorded };
    n.unknown = what_if_unknown(w);
    what_if_set_cpus(w, s->cpus ? analysis->file->host.processors : 0);
    n.replayed = what_if_predict(w, NULL, 0);
    what_if_set_cpus(w, s->cpus);
    n.unscaled = what_if_predict(w, NULL, 0);
    n.predicted = what_if_predict(w, scales, s->count);
    if (s->count || s->cpus)
        n.range = what_if_limit(w, scales, s->count);
    return n;
}

static void whatif_name_sleeps(struct analysis *analysis, const struct critical_part *part,
                               const struct wait_causes *causes)
{
    struct critical_path path = critical_path_walk(analysis, part, causes);
    const struct path_sleeps sleeps = path_sleeps_find(analysis, &path, causes);
    path_sleeps_remark(analysis, &sleeps, part);
    critical_path_drop(&path);
}

/* What a function's own code waits for, such as a bare system call, is not known to depend on its work. */
static void whatif_name_blocked(const struct whatif_settings *s, struct analysis *analysis, const struct what_if *w,
                                const struct what_if_scale *scales)
{
    for (size_t i = 0; i < s->count; i++) {
        char blocked[TIME_TEXT];
        const uint32_t function = scales[i].function;
        text_time(whatif_ns(analysis, what_if_blocked(w, function)), blocked);
        if (what_if_blocked(w, function))
            summary_remark(&analysis->summary, "blocked-in-own-code",
                           "%s was blocked for %s in its own code, by system calls that are no rows or page faults: "
                           "that time is not scaled",
                           analysis->names[function].name, blocked);
    }
}

static void whatif_add_remarks(const struct whatif_settings *s, struct analysis *analysis,
                               const struct whatif_lengths *n)
{
    static const double exact = 2;
    const double off = whatif_percent(n->recorded, n->replayed);
    if (whatif_is_range(n))
        summary_remark(&analysis->summary, "waits-without-cause",
                       "%.1f %% of the run's path are waits without a known cause, which may depend on any function: "
                       "a prediction is a range",
                       (double)n->unknown / (double)n->recorded * 100);
    if (!s->cpus)
        return;
    if (!analysis->file->host.processors)
        summary_remark(&analysis->summary, "processors-unknown",
                       "the recording's number of processors is unknown: it is not known how exact a "
                       "replay on processors is");
    else if (fabs(off) > exact)
        summary_remark(&analysis->summary, "replay-inexact",
                       "the replay on the recording's %s is %+.1f %% off: other programs took them, or "
                       "threads took turns otherwise. The prediction may be as far off",
                       COUNTED(analysis->file->host.processors, "processor"), off);
}

int whatif_command(int argc, char **argv)
{
    struct whatif_settings s = { .rank = false };
    struct what_if_scale scales[MAX_SCALES];
    struct critical_part part;
    struct analysis loaded;
    command_line_parse(&line, argc, argv, &s, &s.shared);
    whatif_load(&loaded, &s, &part);
    for (size_t i = 0; i < s.count; i++)
        scales[i] = (struct what_if_scale){ option_timed_function(&loaded, s.functions[i]), s.factors[i] };
    struct wait_causes causes = wait_causes_find_wakers(&loaded);
    whatif_name_sleeps(&loaded, &part, &causes);
    struct what_if *w = what_if_new(&loaded, &part, &causes, NULL);
    const struct whatif_lengths lengths = whatif_predict(&s, &loaded, w, scales, part.to - part.from);
    whatif_add_remarks(&s, &loaded, &lengths);
    whatif_name_blocked(&s, &loaded, w, scales);
    whatif_print(&s, &loaded, w, &lengths);
    what_if_free(w);
    analysis_drop(&loaded);
    for (size_t i = 0; i < s.count; i++)
        free(s.functions[i]);
    shared_options_drop(&s.shared);
    return finish_output();
}
