/* Prints what a session's tables rest on: its sums, and remarks about it. */
#include "report/text_summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/bounds.h"
#include "analysis/budget_reached.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "base/units.h"
#include "report/text_lines.h"

static void text_print_time(const struct summary *summary, const char *before, uint64_t ticks, FILE *out)
{
    char text[TIME_TEXT];
    text_time(ticks_to_ns(ticks, summary->ticks_per_second), text);
    fprintf(out, "%s%s", before, text);
}

static void text_print_count(FILE *out, uint64_t count, const char *noun)
{
    fprintf(out, ", %s", COUNTED(count, noun));
}

/* The length of the run, and the time of all its threads: a sum, which says so. */
static void text_print_lengths(const struct summary *summary, bool brief, FILE *out)
{
    if (summary->run && !brief)
        text_print_time(summary, "ran ", summary->run, out);
    text_print_time(summary, summary->run && !brief ? "; elapsed " : "elapsed ", summary->elapsed_inclusive, out);
    if (summary->threads)
        fprintf(out, " %s %s", counted_word(summary->threads, "in", "summed over"),
                COUNTED(summary->threads, "thread"));
}

static void text_print_remarks(const struct summary *summary, size_t width, FILE *out)
{
    for (size_t i = 0; i < summary->remark_count; i++) {
        if (summary_is_caveat(summary, i))
            continue;
        char *line = need_text("! %s", summary->remarks[i]);
        text_put_lines(out, line, width);
        free(line);
    }
    char *legend = text_summary_legend(summary);
    if (legend)
        text_put_lines(out, legend, width);
    free(legend);
}

/* The rest of the facts of an imported session, which has neither events nor known threads. */
static void text_put_imported(const struct summary *summary, FILE *out)
{
    if (summary->application_known) {
        text_print_time(summary, ", application ", summary->application_inclusive, out);
    } else if (!summary->samples) {
        fputs(", application unknown (not in the report)", out);
    }
    text_print_count(out, summary->processes, "process");
    fputs(", imported", out);
}

/* The rest of the facts of a recorded session. */
static void text_put_recorded(const struct summary *summary, bool brief, FILE *out)
{
    if (summary->application_known)
        text_print_time(summary, ", application ", summary->application_inclusive, out);
    else
        fputs(", application unknown (no source of OS events)", out);
    if (brief && bounds_are_apart(summary))
        fputs(" (* is too low: read CPU time)", out);
    if (!brief && summary->application_known && !summary->partial_paths)
        text_print_count(out, summary->os_events, "OS event");
    if (!brief)
        text_print_count(out, summary->processes, "process");
    if (!brief && !summary->partial_paths)
        text_print_count(out, summary->events, "event");
    if (summary->stack_samples)
        text_print_count(out, summary->stack_samples, "sample");
    char *added = brief ? NULL : budget_added_text(summary);
    if (added)
        fprintf(out, "; %s", added);
    free(added);
}

char *text_summary_facts(const struct summary *summary, bool brief)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (summary->samples)
        fputs(COUNTED(summary->elapsed_inclusive, "sample"), out);
    else if (summary->imported)
        text_print_time(summary, "elapsed ", summary->elapsed_inclusive, out);
    else
        text_print_lengths(summary, brief, out);
    if (summary->imported)
        text_put_imported(summary, out);
    else
        text_put_recorded(summary, brief, out);
    need_stream_end(out);
    return text;
}

char *text_summary_legend(const struct summary *summary)
{
    if (!summary->counted)
        return NULL;
    return need_text("%s only counted: %s%s- unknown", COUNTED(summary->counted, "function"),
                     summary->stack_samples ? "~ times by samples, " : "",
                     !summary->partly_timed   ? ""
                     : summary->stack_samples ? "> of timed calls, "
                                              : "> times of timed calls, ");
}

void text_print_facts(const struct summary *summary, bool follows, FILE *out)
{
    char *facts = text_summary_facts(summary, false);
    char *line = need_text("%s%s%s: %s", summary->path, summary->selection ? ", " : "",
                           summary->selection ? summary->selection : "", facts);
    const size_t width = terminal_width(out);
    if (follows)
        fputs("\n", out);
    text_put_lines(out, line, width);
    free(line);
    text_print_remarks(summary, width, out);
    free(facts);
}

void text_print_summary(const struct summary *summary, FILE *out)
{
    text_print_facts(summary, false, out);
    fputs("\n", out);
}
