/* A comparison as a table in Markdown, for a comment on a change. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/visible.h"
#include "report/diff_formats.h"
#include "report/markdown.h"

enum diff_value diff_judged_value(const struct diff_options *options)
{
    return options->sort < DIFF_VALUES ? options->sort : DIFF_ELAPSED_EXCLUSIVE;
}

bool diff_has_regressed(const struct diff_row *row, enum diff_value value)
{
    const struct diff_pair *pair = &row->values[value];
    return pair->judged == JUDGED_SIGNIFICANT && pair->mean[DIFF_AFTER] >= pair->mean[DIFF_BEFORE];
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
    static const char *const marks[] = {
        [JUDGED_NOTHING] = "", [JUDGED_LARGE] = "large", [JUDGED_SIGNIFICANT] = "**significant**"
    };
    const struct diff_pair *pair = &row->values[value];
    char *name = diff_row_name(d, row);
    fputs("| ", out);
    markdown_put_code(name, out);
    if (value != DIFF_CALLS) {
        fputs(" | ", out);
        diff_print_change(d, row, DIFF_CALLS, out);
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

static size_t markdown_print_rows(const struct diff_output *o, FILE *out)
{
    static const char *const titles[] = {
        [DIFF_FUNCTIONS] = "Function", [DIFF_MODULES] = "Module", [DIFF_PATHS] = "Call path"
    };
    const enum diff_value value = diff_judged_value(o->options);
    size_t marked = 0, printed = 0;
    for (size_t i = 0; i < o->diff->row_count; i++) {
        const struct diff_row *row = &o->diff->rows[i];
        if (row->values[value].judged == JUDGED_NOTHING || ++marked > markdown_limit(o))
            continue;
        if (!printed++)
            fprintf(out, "| %s%s | %s | |\n| :--- |%s ---: | :--- |\n", titles[o->diff->by],
                    value == DIFF_CALLS ? "" : " | calls", diff_value_name(value),
                    value == DIFF_CALLS ? "" : " ---: |");
        markdown_print_row(o->diff, row, value, out);
    }
    if (marked > printed)
        fprintf(out, "\nand %zu more\n", marked - printed);
    return marked;
}

static void markdown_print_gate(const struct diff_output *o, const struct gate *gate, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < o->diff->row_count; i++)
        count += diff_gate_fails(gate, o->diff, &o->diff->rows[i]);
    fprintf(out, "\n%s ", count ? ":x:" : ":white_check_mark:");
    markdown_put_code(gate->text, out);
    fprintf(out, ": %zu of %zu rows\n", count, o->diff->row_count);
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
    fputs("### dwell diff\n\n", out);
    markdown_print_sessions(o->diff, out);
    if (!markdown_print_rows(o, out))
        fprintf(out, "No change of %s is marked, of %zu rows.\n", diff_value_name(diff_judged_value(o->options)),
                o->diff->row_count);
    for (size_t i = 0; i < o->gate_count; i++)
        markdown_print_gate(o, &o->gates[i], out);
    for (size_t i = 0; i < o->diff->remark_count; i++)
        print_text(out, "\n> %s\n", o->diff->remarks[i]);
    fprintf(out, "\n<sub>%s</sub>\n", judgement);
    free(judgement);
}
