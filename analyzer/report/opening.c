/* Writes what stands above and below the tables of a report in text. */
#include "report/opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/budget_reached.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "report/answer.h"
#include "report/text_lines.h"
#include "report/text_summary.h"

enum { FUNCTIONS = 3, OPENING_LINES = 2, USUAL_WIDTH = 80 };

/* ---- lines ---- */

size_t text_lines(const char *text)
{
    size_t count = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

/* ---- above ---- */

static char *opening_line_with(const struct analysis *analysis, size_t functions)
{
    const struct summary *summary = &analysis->summary;
    char *answer = answer_sentence_with(analysis, functions);
    if (!answer)
        answer = text_summary_facts(summary, false);
    char *line = need_text("%s%s%s: %s", summary->path, summary->selection ? ", " : "",
                           summary->selection ? summary->selection : "", answer);
    free(answer);
    return line;
}

char *opening_line(const struct analysis *analysis)
{
    return opening_line_with(analysis, FUNCTIONS);
}

static char *opening_text_with(const struct analysis *analysis, size_t functions, size_t width)
{
    char *text, *line = opening_line_with(analysis, functions);
    size_t length;
    FILE *out = need_stream(&text, &length);
    text_put_lines(out, line, width);
    need_stream_end(out);
    free(line);
    return text;
}

char *opening_text(const struct analysis *analysis, size_t width)
{
    char *text = opening_text_with(analysis, FUNCTIONS, width);
    for (size_t functions = FUNCTIONS - 1; functions && width >= USUAL_WIDTH && text_lines(text) > OPENING_LINES;
         functions--) {
        free(text);
        text = opening_text_with(analysis, functions, width);
    }
    return text;
}

/* ---- below ---- */

/* The first lines of a text of whole lines. */
static void closing_put_first(FILE *out, const char *text, size_t lines)
{
    const char *end = text;
    for (size_t i = 0; i < lines && *end; i++)
        end += strcspn(end, "\n") + 1;
    if (*end)
        fprintf(out, "%.*s...\n", (int)(end - 1 - text), text);
    else
        fputs(text, out);
}

/* Whole remarks, but for the first one, whose lines may be too many. */
static void closing_put_remarks(FILE *out, const struct summary *summary, size_t width, size_t most)
{
    size_t used = 0;
    for (size_t i = 0; i < summary->remark_count && used < most; i++) {
        if (summary_is_caveat(summary, i))
            continue;
        char *text, *line = need_text("! %s", summary->remarks[i]);
        size_t length;
        FILE *lines = need_stream(&text, &length);
        text_put_lines(lines, line, width);
        need_stream_end(lines);
        const size_t needs = text_lines(text);
        if (used == 0 || used + needs <= most)
            closing_put_first(out, text, most);
        used += needs;
        free(text);
        free(line);
    }
}

static void closing_put_counted(FILE *out, size_t count, const char *hint, size_t width)
{
    char *line = need_text("%s: dwell info%s%s", COUNTED(count, "remark"), hint ? "; " : "", hint ? hint : "");
    if (count || hint)
        text_put_lines(out, count ? line : hint, width);
    free(line);
}

char *closing_text(const struct summary *summary, const char *hint, size_t width, size_t remark_lines)
{
    const bool has_sums = !summary->imported && !summary->samples && (summary->threads || summary->elapsed_inclusive);
    char *text, *facts = has_sums ? text_summary_facts(summary, true) : NULL;
    char *legend = text_summary_legend(summary), *added = facts ? budget_added_text(summary) : NULL;
    const size_t count = summary_count_special(summary);
    size_t length;
    FILE *out = need_stream(&text, &length);
    if (facts || legend || count || hint)
        fputs("\n", out);
    char *sums = need_text("%s%s%s", added ? added : "", added && facts ? "; " : "", facts ? facts : "");
    if (facts)
        text_put_lines(out, sums, width);
    if (legend)
        text_put_lines(out, legend, width);
    closing_put_remarks(out, summary, width, remark_lines);
    closing_put_counted(out, count, hint, width);
    need_stream_end(out);
    free(sums);
    free(legend);
    free(added);
    free(facts);
    return text;
}
