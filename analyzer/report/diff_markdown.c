/* A comparison as a table in Markdown, for a comment on a change. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/visible.h"
#include "report/diff_formats.h"
#include "report/markdown.h"

typedef bool gate_of_row(const struct gate *gate, const struct diff *d, const struct diff_row *row);

bool diff_has_regressed(const struct diff_row *row, enum diff_value value)
{
    const struct diff_pair *pair = &row->values[value];
    return pair->judged >= JUDGED_SIGNIFICANT && pair->mean[DIFF_AFTER] >= pair->mean[DIFF_BEFORE];
}

static void markdown_print_sessions(const struct diff *d, FILE *out)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        fputs(side == DIFF_BEFORE ? "Before: " : "; after: ", out);
        const char *separator = "";
        for (size_t i = 0; i < d->run_count; i++) {
            if (d->runs[i].side != (enum diff_side)side)
                continue;
            fputs(separator, out);
            markdown_put_code(d->runs[i].path, out);
            separator = ", ";
        }
    }
    fputs("\n\n", out);
}

static void markdown_print_row(const struct diff *d, const struct diff_row *row, enum diff_value value, FILE *out)
{
    static const char *const marks[] = { [JUDGED_NOTHING] = "",
                                         [JUDGED_LARGE] = "large",
                                         [JUDGED_SIGNIFICANT] = "**significant**",
                                         [JUDGED_CERTAIN] = "**certain**" };
    const struct diff_pair *pair = &row->values[value];
    char *name = diff_row_name(d, row);
    fputs("| ", out);
    markdown_put_code(name, out);
    if (value != DIFF_CALLS) {
        fputs(" | ", out);
        diff_print_change(d, row, DIFF_CALLS, out);
        fputs(row->values[DIFF_CALLS].judged == JUDGED_CERTAIN ? ", certain" : "", out);
    }
    fputs(" | ", out);
    diff_print_change(d, row, value, out);
    fprintf(out, " | %s |\n", marks[pair->judged]);
    free(name);
}

static size_t markdown_limit(const struct diff_output *o)
{
    return o->options->limit ? o->options->limit : SIZE_MAX;
}

/* Names of values without their underscores, such as "CPU exclusive". */
static void markdown_print_value(enum diff_value value, FILE *out)
{
    const char *name = diff_value_name(value);
    const size_t upper = strncmp(name, "cpu", 3) == 0 ? 3 : 1;
    for (size_t i = 0; name[i]; i++)
        fputc(i < upper ? toupper((unsigned char)name[i]) : name[i] == '_' ? ' ' : name[i], out);
}

static void markdown_print_head(const char *title, enum diff_value value, FILE *out)
{
    const bool calls = value == DIFF_CALLS;
    fprintf(out, "| %s%s | ", title, calls ? "" : " | Calls");
    markdown_print_value(value, out);
    fprintf(out, " | |\n| :--- |%s ---: | :--- |\n", calls ? "" : " ---: |");
}

static size_t markdown_print_rows(const struct diff_output *o, FILE *out)
{
    static const char *const titles[] = {
        [DIFF_FUNCTIONS] = "Function", [DIFF_MODULES] = "Module", [DIFF_PATHS] = "Call path"
    };
    const enum diff_value value = diff_judged_value(o->diff, o->options);
    size_t marked = 0, printed = 0;
    for (size_t i = 0; i < o->diff->row_count; i++) {
        const struct diff_row *row = &o->diff->rows[i];
        const bool is_marked =
            row->values[value].judged != JUDGED_NOTHING || row->values[DIFF_CALLS].judged == JUDGED_CERTAIN;
        if (!is_marked || ++marked > markdown_limit(o))
            continue;
        if (!printed++)
            markdown_print_head(titles[o->diff->by], value, out);
        markdown_print_row(o->diff, row, value, out);
    }
    if (marked > printed)
        fprintf(out, "\nand %zu more\n", marked - printed);
    return marked;
}

static size_t markdown_count(const struct diff *d, const struct gate *gate, gate_of_row *test)
{
    size_t count = 0;
    for (size_t i = 0; i < d->row_count; i++)
        count += test(gate, d, &d->rows[i]);
    return count;
}

static void markdown_print_gate(const struct diff_output *o, const struct gate *gate, FILE *out)
{
    const size_t count = markdown_count(o->diff, gate, diff_gate_fails);
    const size_t left_out = markdown_count(o->diff, gate, diff_gate_leaves_out);
    fprintf(out, "\n%s ", count ? ":x:" : ":white_check_mark:");
    markdown_put_code(gate->text, out);
    fprintf(out, ": %zu of %s", count, COUNTED(o->diff->row_count, "row"));
    if (left_out) {
        char *all = gate_for_all(gate);
        fprintf(out, "; %zu more whose calls chance decides, which ", left_out);
        markdown_put_code(all, out);
        fputs(" counts", out);
        free(all);
    }
    fputs("\n", out);
    for (size_t i = 0, printed = 0; i < o->diff->row_count && printed < markdown_limit(o); i++) {
        const struct diff_row *row = &o->diff->rows[i];
        if (!diff_gate_fails(gate, o->diff, row))
            continue;
        char *name = diff_row_name(o->diff, row);
        fputs(printed++ ? "* " : "\n* ", out);
        markdown_put_code(name, out);
        fputs(": ", out);
        diff_print_change(o->diff, row, gate->value, out);
        fputs("\n", out);
        free(name);
    }
}

void diff_print_markdown(const struct diff_output *o, FILE *out)
{
    char *judgement = diff_judgement(o->diff, o->options);
    char *answer = diff_answer(o->diff);
    fputs("### dwell diff\n\n", out);
    if (answer)
        fprintf(out, "%s\n\n", answer);
    free(answer);
    markdown_print_sessions(o->diff, out);
    if (!markdown_print_rows(o, out))
        fprintf(out, "No change of %s is marked, of %s.\n", diff_value_name(diff_judged_value(o->diff, o->options)),
                COUNTED(o->diff->row_count, "row"));
    for (size_t i = 0; i < o->gate_count; i++)
        markdown_print_gate(o, &o->gates[i], out);
    for (size_t i = 0; i < o->diff->remark_count; i++)
        if (!remark_is_caveat(o->diff->remark_codes[i]))
            print_text(out, "\n> %s\n", o->diff->remarks[i]);
    if (diff_has_caveats(o->diff))
        print_text(out, "\n%s\n", DIFF_CAVEAT);
    fprintf(out, "\n<sub>%s</sub>\n", judgement);
    free(judgement);
}
