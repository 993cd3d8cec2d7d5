/* Prints the answer, a table of work and one of waits, the sums and the first remarks, in Markdown. */
#include "report/summary_markdown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget_reached.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "report/markdown.h"
#include "report/opening.h"
#include "report/text_cut.h"
#include "report/text_summary.h"

enum { NAME_ROOM = 80, MOST_REMARKS = 2 };

static const struct cell *summary_cell(const struct table *t, size_t row, const char *key)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].key, key) == 0)
            return &t->cells[row * t->column_count + i];
    return NULL;
}

static void summary_put_name(const struct table *t, size_t row, const char *key, FILE *out)
{
    const struct cell *cell = summary_cell(t, row, key);
    char *name = need_text("%s", cell && cell->known ? cell->text : "");
    const size_t room = NAME_ROOM;
    text_cut_display(&name, 1);
    if (!text_options()->full_names)
        text_cut_names(&name, &room, 1);
    fputs("| ", out);
    markdown_put_code(name, out);
    free(name);
}

/* A time, its share, and the number of calls. */
static void summary_put_values(const struct table *t, size_t row, const char *key, FILE *out)
{
    char *percent_key = need_text("%s_percent", key), time[TIME_TEXT];
    const struct cell *value = summary_cell(t, row, key), *percent = summary_cell(t, row, percent_key),
                      *calls = summary_cell(t, row, "calls");
    const char *mark = value && value->estimated ? "~" : value && value->partial ? "&gt;" : "";
    if (value && value->known && t->session->samples)
        fprintf(out, " | %" PRIu64, value->number);
    else if (value && value->known) {
        text_time(cell_ns(t, value), time);
        fprintf(out, " | %s%s", mark, time);
    } else {
        fputs(" | -", out);
    }
    if (percent && percent->known)
        fprintf(out, " | %.1f %%", percent->percent);
    else
        fputs(" | -", out);
    if (calls && calls->known)
        fprintf(out, " | %" PRIu64 " |\n", calls->number);
    else
        fputs(" | - |\n", out);
    free(percent_key);
}

/* Rows without any of the time do not matter. */
static void summary_print_work(const struct table *t, const char *key, FILE *out)
{
    const char *title = t->session->samples ? "Samples" : strcmp(key, "cpu_exclusive") == 0 ? "CPU" : "Elapsed";
    size_t printed = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        const struct cell *value = summary_cell(t, row, key);
        if (!value || !value->known || !value->number)
            continue;
        if (!printed++)
            fprintf(out, "\n| Function | %s, exclusive | %% | Calls |\n| :--- | ---: | ---: | ---: |\n", title);
        summary_put_name(t, row, "function", out);
        summary_put_values(t, row, key, out);
    }
}

static void summary_print_waits(const struct table *t, FILE *out)
{
    if (t->row_count)
        fputs("\n| Waits in | Called by | Blocked | % | Calls |\n| :--- | :--- | ---: | ---: | ---: |\n", out);
    for (size_t row = 0; row < t->row_count; row++) {
        summary_put_name(t, row, "function", out);
        fputs(" ", out);
        summary_put_name(t, row, "caller", out);
        summary_put_values(t, row, "blocked_exclusive", out);
    }
}

static void summary_print_end(const struct summary *summary, FILE *out)
{
    char *facts = text_summary_facts(summary, true), *legend = text_summary_legend(summary),
         *added = budget_added_text(summary);
    const size_t count = summary_count_special(summary);
    fputs("\n", out);
    markdown_put_text(facts, out);
    if (added) {
        fputs("; ", out);
        markdown_put_text(added, out);
    }
    fputs("\n", out);
    if (legend) {
        fputs("\n", out);
        markdown_put_text(legend, out);
        fputs("\n", out);
    }
    for (size_t i = 0, put = 0; i < summary->remark_count && put < MOST_REMARKS; i++) {
        if (summary_is_caveat(summary, i))
            continue;
        fputs(put++ ? ">\n> " : "\n> ", out);
        markdown_put_text(summary->remarks[i], out);
        fputs("\n", out);
    }
    if (count > MOST_REMARKS)
        fprintf(out, "\n%s: `dwell info`\n", COUNTED(count, "remark"));
    free(legend);
    free(added);
    free(facts);
}

void summary_print_markdown(const struct analysis *analysis, const struct table *work, const char *key,
                            const struct table *waits, FILE *out)
{
    char *answer = opening_line(analysis);
    fputs("### dwell report\n\n", out);
    markdown_put_text(answer, out);
    fputs("\n", out);
    summary_print_work(work, key, out);
    if (waits)
        summary_print_waits(waits, out);
    summary_print_end(&analysis->summary, out);
    free(answer);
}
