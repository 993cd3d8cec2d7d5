/* Finds the values of a function's source lines, and prints the source beside them. */
#include "report/annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/line_samples.h"
#include "analysis/lines.h"
#include "analysis/probe_share.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "base/time_unit.h"
#include "base/units.h"
#include "base/visible.h"
#include "base/wide.h"

static const double min_percent_of_hot = 10;

/* ---- the end of a function ---- */

enum scan_state { SCAN_CODE, SCAN_TEXT, SCAN_CHARACTER, SCAN_COMMENT };

struct annotate_scan {
    enum scan_state state;
    unsigned braces;
    bool begun, ended;
};

/* Returns how many characters belong together. */
static size_t annotate_scan_code(struct annotate_scan *s, const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return strlen(at);
    if (at[0] == '/' && at[1] == '*') {
        s->state = SCAN_COMMENT;
        return 2;
    }
    if (*at == '"' || *at == '\'')
        s->state = *at == '"' ? SCAN_TEXT : SCAN_CHARACTER;
    s->braces += *at == '{';
    s->begun |= *at == '{';
    s->braces -= *at == '}' && s->braces;
    s->ended |= (*at == '}' && s->begun && !s->braces) || (*at == ';' && !s->begun);
    return 1;
}

static void annotate_scan_line(struct annotate_scan *s, const char *at)
{
    while (*at && !s->ended) {
        if (s->state == SCAN_CODE) {
            at += annotate_scan_code(s, at);
        } else if (s->state == SCAN_COMMENT) {
            s->state = at[0] == '*' && at[1] == '/' ? SCAN_CODE : SCAN_COMMENT;
            at += s->state == SCAN_CODE ? 2 : 1;
        } else {
            const char end = s->state == SCAN_TEXT ? '"' : '\'';
            const bool escape = *at == '\\' && at[1];
            s->state = *at == end ? SCAN_CODE : s->state;
            at += escape ? 2 : 1;
        }
    }
    if (s->state == SCAN_TEXT || s->state == SCAN_CHARACTER) /* an apostrophe in a number, or the like */
        s->state = SCAN_CODE;
}

/* Scans from line `first` to the end of the function. Returns its line, and zero if there is none. */
static uint32_t annotate_scan_from(struct annotate_scan *s, const char *const *lines, uint32_t count, uint32_t first)
{
    for (uint32_t line = first; line >= 1 && line <= count; line++) {
        annotate_scan_line(s, lines[line - 1]);
        if (s->ended)
            return line;
    }
    return 0;
}

uint32_t annotate_find_end(const char *const *lines, uint32_t count, uint32_t first)
{
    return annotate_scan_from(&(struct annotate_scan){ .state = SCAN_CODE }, lines, count, first);
}

uint32_t annotate_find_end_of_body(const char *const *lines, uint32_t count, uint32_t line)
{
    return annotate_scan_from(&(struct annotate_scan){ .state = SCAN_CODE, .begun = true, .braces = 1 }, lines, count,
                              line);
}

/* Whether line `first` is a whole statement or declaration without a body. */
static bool annotate_has_no_body(const char *const *lines, uint32_t count, uint32_t first)
{
    struct annotate_scan s = { .state = SCAN_CODE };
    return annotate_scan_from(&s, lines, count, first) && !s.begun;
}

/* Whether the line may be a part of the declaration whose body begins in a later line. */
static bool annotate_is_declaration(const char *line)
{
    const size_t blanks = strspn(line, " \t\r");
    size_t length = strlen(line);
    while (length > blanks && strchr(" \t\r", line[length - 1]))
        length--;
    return length > blanks && !strchr("#/*{", line[blanks]) && !strchr(";}:/", line[length - 1]);
}

uint32_t annotate_find_begin(const char *const *lines, uint32_t first)
{
    enum { MAX_DECLARATION_LINES = 8 };
    if (lines[first - 1][strspn(lines[first - 1], " \t")] != '{')
        return first;
    uint32_t line = first;
    while (line > 1 && first - line < MAX_DECLARATION_LINES && annotate_is_declaration(lines[line - 2]))
        line--;
    return line;
}

/* ---- lines ---- */

static void annotate_split(struct annotation *a)
{
    size_t room = 0, count = 0;
    for (char *at = a->text; *at;) {
        GROW(a->lines, count, room);
        a->lines[count++] = (struct annotated_line){ .text = at };
        at += strcspn(at, "\n");
        if (*at)
            *at++ = '\0';
    }
    a->count = (uint32_t)count;
}

struct annotate_samples {
    struct annotation *annotation;
    const bool *functions;
};

/* Widens the range of lines to that of a sample. */
static void annotate_widen(void *context, uint32_t function, const char *file, uint32_t line,
                           const struct sample_sum *samples)
{
    (void)samples;
    const struct annotate_samples *s = context;
    struct annotation *a = s->annotation;
    if (!s->functions[function] || !file || strcmp(file, a->file) != 0 || line < 1 || line > a->count)
        return;
    a->first = line < a->first ? line : a->first;
    a->last = line > a->last ? line : a->last;
}

/* Compilers leave out the line of a function's begin where they merge it with that of the first statement, such as a
 * loop. Then the range goes from the brace above to the end of the body that has all samples. */
static void annotate_find_body(struct annotation *a, const char *const *texts, const bool *functions)
{
    const uint32_t statement = a->first;
    line_samples_find(a->analysis, annotate_widen, &(struct annotate_samples){ a, functions });
    if (a->first == statement && a->last == statement)
        return;
    const uint32_t end = annotate_find_end_of_body(texts, a->count, a->first);
    a->last = end > a->last ? end : a->last;
    if (a->first > 1 && texts[a->first - 2][strspn(texts[a->first - 2], " \t")] == '{')
        a->first--;
}

static void annotate_find_lines(struct annotation *a, const bool *functions)
{
    enum { UNKNOWN_LENGTH = 50 };
    const char **texts = need_memory(a->count, sizeof *texts);
    for (uint32_t i = 0; i < a->count; i++)
        texts[i] = a->lines[i].text;
    a->last = annotate_find_end(texts, a->count, a->first);
    if (!a->last)
        a->last = a->count - a->first < UNKNOWN_LENGTH ? a->count : a->first + UNKNOWN_LENGTH;
    else if (a->has_samples && annotate_has_no_body(texts, a->count, a->first))
        annotate_find_body(a, texts, functions);
    a->first = annotate_find_begin(texts, a->first);
    free(texts);
}

static bool annotation_has(const struct annotation *a, uint32_t line)
{
    return line >= a->first && line <= a->last;
}

/* The line of a call from the function. A call from an inlined function without probes belongs to the line that calls
 * that one. */
static uint32_t annotate_line_of_call(const struct annotation *a, const struct line_name *line)
{
    if (line->outer_file && strcmp(line->outer_file, a->file) == 0 && annotation_has(a, line->outer_line))
        return line->outer_line;
    return line->file && strcmp(line->file, a->file) == 0 ? line->line : 0;
}

/* Adds a call to its line. The time of calls within another call from the same line is part of that one's. */
static uint32_t annotate_add_call(struct annotation *a, uint32_t node, const unsigned *open)
{
    const struct analysis *analysis = a->analysis;
    const struct line_name *name = lines_of_node(analysis, &analysis->profile->nodes[node]);
    const uint64_t calls = analysis->profile->nodes[node].calls;
    const uint32_t line = name ? annotate_line_of_call(a, name) : 0;
    if (!annotation_has(a, line)) {
        *(name ? &a->elsewhere : &a->unknown) += calls;
        return 0;
    }
    a->lines[line - 1].calls += calls;
    if (!open[line])
        a->lines[line - 1].time += analysis->rollup->nodes[node].elapsed_inclusive;
    return line;
}

/* Walks a thread's calls without recursion. */
static void annotate_walk(struct annotation *a, const bool *functions, uint32_t root, unsigned *open, uint32_t *line_of)
{
    const struct rollup *r = a->analysis->rollup;
    const struct profile_node *nodes = a->analysis->profile->nodes;
    for (uint32_t node = root; node != PROFILE_NONE;) {
        const uint32_t parent = nodes[node].parent;
        const uint32_t caller = node == root ? PROFILE_NONE : nodes[parent].function;
        line_of[node] = caller != PROFILE_NONE && functions[caller] ? annotate_add_call(a, node, open) : 0;
        open[line_of[node]]++;
        if (r->first_child[node] != PROFILE_NONE) {
            node = r->first_child[node];
            continue;
        }
        while (node != PROFILE_NONE) {
            open[line_of[node]]--;
            if (node != root && r->sibling[node] != PROFILE_NONE) {
                node = r->sibling[node];
                break;
            }
            node = node == root ? PROFILE_NONE : nodes[node].parent;
        }
    }
}

static void annotate_add_calls(struct annotation *a, const bool *functions)
{
    const struct profile *p = a->analysis->profile;
    unsigned *open = need_memory(a->count + 1, sizeof *open); /* by line; 0: calls of others */
    uint32_t *line_of = need_memory(p->node_count, sizeof *line_of);
    for (size_t i = 0; i < p->thread_count; i++)
        annotate_walk(a, functions, p->threads[i].root, open, line_of);
    free(line_of);
    free(open);
}

static void annotate_take_samples(void *context, uint32_t function, const char *file, uint32_t line,
                                  const struct sample_sum *samples)
{
    const struct annotate_samples *s = context;
    struct annotation *a = s->annotation;
    if (!s->functions[function])
        return;
    sample_sum_join(&a->sampled, samples);
    if (file && strcmp(file, a->file) == 0 && annotation_has(a, line))
        sample_sum_join(&a->lines[line - 1].sampled, samples);
}

static void annotate_add_sums(struct annotation *a, const bool *functions)
{
    struct times *sums = rollup_groups(a->analysis->rollup, BY_FUNCTION);
    a->sums = times_of_nothing();
    for (size_t i = 0; i < a->analysis->profile->function_count; i++)
        if (functions[i])
            times_add(&a->sums, &sums[i]);
    free(sums);
}

/* A line is hot if its calls, or the function itself there, took a tenth of the function's time. */
static void annotate_finish(struct annotation *a)
{
    const uint64_t own = times_value(&a->sums, probe_share_rest(&a->analysis->summary), EXCLUSIVE);
    for (uint32_t i = a->first; i <= a->last; i++) {
        struct annotated_line *line = &a->lines[i - 1];
        line->self = sample_sum_divide(own, &line->sampled, &a->sampled);
        const uint64_t most = line->time > line->self ? line->time : line->self;
        line->hot = most && percent_of(most, a->sums.elapsed_inclusive) >= min_percent_of_hot;
    }
}

struct annotation annotate(const struct analysis *analysis, const bool *functions, const char *file, uint32_t first,
                           struct source_text *source)
{
    struct annotation a = { .analysis = analysis, .file = file, .first = first, .text = source->text };
    source->text = NULL;
    annotate_split(&a);
    a.has_sites = analysis->lines && analysis->profile->site_count;
    a.has_samples = analysis->summary.stack_samples > 0;
    if (first < 1 || first > a.count)
        a.first = a.last = 0;
    else
        annotate_find_lines(&a, functions);
    annotate_add_sums(&a, functions);
    if (!a.first)
        return a;
    annotate_add_calls(&a, functions);
    if (a.has_samples)
        line_samples_find(analysis, annotate_take_samples, &(struct annotate_samples){ &a, functions });
    annotate_finish(&a);
    return a;
}

void annotation_drop(struct annotation *a)
{
    free(a->lines);
    free(a->text);
}

/* ---- output ---- */

const struct column view_annotation_columns[] = {
    { "line", "LINE", CELL_COUNT, USE_ALWAYS, false },    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "time", "TIME", CELL_TICKS, USE_ALWAYS, false },    { "samples", "SAMPLES", CELL_COUNT, USE_ALWAYS, false },
    { "self", "SELF", CELL_TICKS, USE_ALWAYS, false },    { "hot", "HOT", CELL_TEXT, USE_ALWAYS, false },
    { "source", "SOURCE", CELL_TEXT, USE_ALWAYS, false },
};
const size_t view_annotation_column_count = sizeof view_annotation_columns / sizeof *view_annotation_columns;

struct table view_annotation(const struct annotation *a)
{
    struct table t = table_make(view_annotation_columns, view_annotation_column_count, &a->analysis->summary);
    for (uint32_t i = a->first; i && i <= a->last; i++) {
        const struct annotated_line *line = &a->lines[i - 1];
        struct cell *cells = table_row(&t);
        cell_number(&cells[0], i);
        if (a->has_sites) {
            cell_number(&cells[1], line->calls);
            cell_number(&cells[2], line->time);
        }
        if (a->has_samples) {
            cell_number(&cells[3], line->sampled.samples);
            cell_number(&cells[4], line->self);
        }
        cell_text(&cells[5], line->hot ? "*" : "");
        cell_text(&cells[6], line->text);
    }
    return t;
}

static uint64_t annotation_ns(const struct annotation *a, uint64_t ticks)
{
    return ticks_to_ns(ticks, a->analysis->summary.ticks_per_second);
}

/* The line with blanks instead of tabs. The caller frees it. */
static char *annotation_expand(const char *text)
{
    enum { TAB = 8 };
    size_t length, column = 0;
    char *expanded = NULL;
    FILE *out = need_stream(&expanded, &length);
    for (; *text; text++) {
        const size_t blanks = *text == '\t' ? TAB - column % TAB : 1;
        if (*text == '\t')
            fprintf(out, "%*s", (int)blanks, "");
        else if (*text != '\r' || text[1])
            fputc(*text, out);
        column += blanks;
    }
    need_stream_end(out);
    return expanded;
}

static const struct time_unit *annotation_unit(const struct annotation *a)
{
    uint64_t longest = 0;
    for (uint32_t i = a->first; i && i <= a->last; i++) {
        const struct annotated_line *line = &a->lines[i - 1];
        const uint64_t most = line->time > line->self ? line->time : line->self;
        longest = most > longest ? most : longest;
    }
    return text_options()->unit ? text_options()->unit : time_unit_for_all(annotation_ns(a, longest));
}

static void annotation_print_time(const struct annotation *a, uint64_t ticks, const char *mark,
                                  const struct time_unit *unit, FILE *out)
{
    char text[TIME_TEXT], marked[TIME_TEXT + 1];
    time_text(annotation_ns(a, ticks), unit, text);
    snprintf(marked, sizeof marked, "%s%s", mark, text);
    fprintf(out, " %12s", ticks ? marked : "");
}

static void annotation_print_line(const struct annotation *a, uint32_t number, const struct time_unit *unit, FILE *out)
{
    const struct annotated_line *line = &a->lines[number - 1];
    char *text = annotation_expand(line->text), calls[24] = "";
    if (line->calls)
        snprintf(calls, sizeof calls, "%" PRIu64, line->calls);
    fprintf(out, "%6" PRIu32, number);
    if (a->has_sites) {
        fprintf(out, " %11s", calls);
        annotation_print_time(a, line->time, "", unit, out);
    }
    if (a->has_samples)
        annotation_print_time(a, line->self, "~", unit, out);
    fputs(line->hot ? " * " : *text ? "   " : "", out);
    put_visible(text, out);
    fputs("\n", out);
    free(text);
}

void annotation_print(const struct annotation *a, FILE *out)
{
    const struct time_unit *unit = annotation_unit(a);
    fputs("  LINE", out);
    if (a->has_sites)
        fprintf(out, "       CALLS      TIME %2s", unit->name);
    if (a->has_samples)
        fprintf(out, "      SELF %2s", unit->name);
    fputs("   SOURCE\n", out);
    for (uint32_t i = a->first; i && i <= a->last; i++)
        annotation_print_line(a, i, unit, out);
}
