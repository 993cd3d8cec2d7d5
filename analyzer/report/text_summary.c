/* Prints what stands above the tables of a session: its sums, and remarks about it. */
#include "report/text_summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/bounds.h"
#include "analysis/budget_reached.h"
#include "base/units.h"
#include "base/visible.h"
#include "report/text_options.h"

static void text_print_time(const struct summary *s, const char *before, uint64_t ticks, FILE *out)
{
    char text[TIME_TEXT];
    text_time(ticks_to_ns(ticks, s->ticks_per_second), text);
    fprintf(out, "%s%s", before, text);
}

static void text_print_count(FILE *out, uint64_t count, const char *one, const char *many)
{
    fprintf(out, ", %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void text_print_remarks(const struct summary *s, FILE *out)
{
    for (size_t i = 0; i < s->remark_count; i++)
        print_text(out, "! %s\n", s->remarks[i]);
    char *bounds = bounds_remark(s);
    if (bounds)
        print_text(out, "! %s\n", bounds);
    free(bounds);
    fputs("\n", out);
}

/* Prints the rest of the summary of an imported session, which has neither events nor known threads. */
static void text_print_imported(const struct summary *s, FILE *out)
{
    if (s->application_known) {
        text_print_time(s, ", application ", s->application_inclusive, out);
    } else if (!s->samples) {
        fputs(", application unknown (not in the report)", out);
    }
    text_print_count(out, s->processes, "process", "processes");
    fputs(", imported\n", out);
    text_print_remarks(s, out);
}

void text_print_summary(const struct summary *s, FILE *out)
{
    print_text(out, "%s%s%s: ", s->path, s->selection ? ", " : "", s->selection ? s->selection : "");
    if (s->samples)
        fprintf(out, "%" PRIu64 " samples", s->elapsed_inclusive);
    else
        text_print_time(s, "elapsed ", s->elapsed_inclusive, out);
    if (s->imported) {
        text_print_imported(s, out);
        return;
    }
    if (s->application_known) {
        text_print_time(s, ", application ", s->application_inclusive, out);
        if (!s->partial_paths)
            text_print_count(out, s->os_events, "OS event", "OS events");
    } else {
        fputs(", application unknown (no source of OS events)", out);
    }
    text_print_count(out, s->threads, "thread", "threads");
    text_print_count(out, s->processes, "process", "processes");
    if (!s->partial_paths)
        text_print_count(out, s->events, "event", "events");
    if (s->stack_samples) {
        text_print_count(out, s->stack_samples, "sample", "samples");
        fprintf(out, " (%.1f %% in probes)", percent_of(s->samples_in_probes, s->stack_samples));
    }
    if (s->overhead_known) {
        text_print_time(s, "; ", s->overhead, out);
        fputs(" of probes left out (--raw)", out);
    }
    char *reached = s->budget_acted ? budget_reached_text(s) : NULL;
    if (reached)
        fprintf(out, "; %s", reached);
    free(reached);
    fputs("\n", out);
    text_print_remarks(s, out);
}
