/* Prints what stands above the tables of a session: its sums, and remarks about it. */
#include "report/text_summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/budget_reached.h"
#include "base/memory.h"
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

/* The length of the run, and the time of all its threads: a sum, which says so. */
static void text_print_lengths(const struct summary *s, bool brief, FILE *out)
{
    if (s->run && !brief)
        text_print_time(s, "ran ", s->run, out);
    text_print_time(s, s->run && !brief ? "; elapsed " : "elapsed ", s->elapsed_inclusive, out);
    if (s->threads > 1)
        fprintf(out, " summed over %" PRIu64 " threads", s->threads);
    else if (s->threads)
        fputs(" in 1 thread", out);
}

static void text_print_remarks(const struct summary *s, FILE *out)
{
    for (size_t i = 0; i < s->remark_count; i++)
        print_text(out, "! %s\n", s->remarks[i]);
    fputs("\n", out);
}

/* The rest of the facts of an imported session, which has neither events nor known threads. */
static void text_put_imported(const struct summary *s, FILE *out)
{
    if (s->application_known) {
        text_print_time(s, ", application ", s->application_inclusive, out);
    } else if (!s->samples) {
        fputs(", application unknown (not in the report)", out);
    }
    text_print_count(out, s->processes, "process", "processes");
    fputs(", imported", out);
}

/* The rest of the facts of a recorded session. */
static void text_put_recorded(const struct summary *s, bool brief, FILE *out)
{
    if (s->application_known)
        text_print_time(s, ", application ", s->application_inclusive, out);
    else
        fputs(", application unknown (no source of OS events)", out);
    if (!brief && s->application_known && !s->partial_paths)
        text_print_count(out, s->os_events, "OS event", "OS events");
    if (!brief)
        text_print_count(out, s->processes, "process", "processes");
    if (!brief && !s->partial_paths)
        text_print_count(out, s->events, "event", "events");
    if (s->stack_samples) {
        text_print_count(out, s->stack_samples, "sample", "samples");
        fprintf(out, " (%.1f %% in probes)", percent_of(s->samples_in_probes, s->stack_samples));
    }
    if (s->overhead_known) {
        text_print_time(s, "; ", s->overhead, out);
        fprintf(out, " of CPU time of probes left out%s", s->raw ? "" : " (--raw)");
    }
    char *reached = s->budget_acted ? budget_reached_text(s) : NULL;
    if (reached)
        fprintf(out, "; %s", reached);
    free(reached);
}

char *text_summary_facts(const struct summary *s, bool brief)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (s->samples)
        fprintf(out, "%" PRIu64 " samples", s->elapsed_inclusive);
    else if (s->imported)
        text_print_time(s, "elapsed ", s->elapsed_inclusive, out);
    else
        text_print_lengths(s, brief, out);
    if (s->imported)
        text_put_imported(s, out);
    else
        text_put_recorded(s, brief, out);
    need_stream_end(out);
    return text;
}

void text_print_summary(const struct summary *s, FILE *out)
{
    char *facts = text_summary_facts(s, false);
    print_text(out, "%s%s%s: %s\n", s->path, s->selection ? ", " : "", s->selection ? s->selection : "", facts);
    text_print_remarks(s, out);
    free(facts);
}
