/* A comparison as commands of a GitHub workflow: an error for each row that meets a condition, and a warning for each
 * other row that has significantly more of the value. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/visible.h"
#include "report/diff_formats.h"

enum { MAX_OF_A_KIND = 10 /* GitHub shows no more of a step */ };

/* Escapes what ends a command's properties or its message. */
static void github_put(const char *text, bool property, FILE *out)
{
    char *visible = visible_text(text);
    for (const char *at = visible; *at; at++) {
        if (*at == '%' || (property && (*at == ':' || *at == ',')))
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            fputc(*at, out);
    }
    free(visible);
}

static void github_print_row(const struct diff_output *o, const struct diff_row *row, enum diff_value value,
                             const char *kind, const char *title, FILE *out)
{
    const struct diff_source *source = diff_source_of(o->sources, o->diff, row);
    char *name = diff_row_name(o->diff, row), *change = NULL;
    size_t length;
    FILE *text = need_stream(&change, &length);
    diff_print_change(o->diff, row, value, text);
    need_stream_end(text);
    fprintf(out, "::%s ", kind);
    if (source) {
        fputs("file=", out);
        github_put(diff_source_relative(source->file), true, out);
        fprintf(out, ",line=%" PRIu32 ",", source->line);
    }
    fputs("title=", out);
    github_put(title, true, out);
    fputs("::", out);
    github_put(name, false, out);
    fprintf(out, ": %s ", diff_value_name(value));
    github_put(change, false, out);
    fputs("\n", out);
    free(change);
    free(name);
}

static bool github_fails(const struct diff_output *o, const struct diff_row *row)
{
    for (size_t i = 0; i < o->gate_count; i++)
        if (diff_gate_fails(&o->gates[i], o->diff, row))
            return true;
    return false;
}

static void github_print_more(size_t count, const char *of, FILE *out)
{
    if (count <= MAX_OF_A_KIND)
        return;
    fprintf(out, "::notice title=dwell diff::%zu more: ", count - MAX_OF_A_KIND);
    github_put(of, false, out);
    fputs("\n", out);
}

static void github_print_left_out(const struct diff *d, const struct gate *gate, const char *title, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < d->row_count; i++)
        count += diff_gate_leaves_out(gate, d, &d->rows[i]);
    if (!count)
        return;
    char *all = gate_for_all(gate);
    fputs("::notice title=", out);
    github_put(title, true, out);
    fprintf(out, "::left out %zu more, whose calls chance decides; '", count);
    github_put(all, false, out);
    fprintf(out, "' counts %s\n", count == 1 ? "it" : "them");
    free(all);
}

static size_t github_print_errors(const struct diff_output *o, const struct gate *gate, FILE *out)
{
    size_t count = 0;
    char *title = need_text("dwell diff --fail-if '%s'", gate->text);
    for (size_t i = 0; i < o->diff->row_count; i++)
        if (diff_gate_fails(gate, o->diff, &o->diff->rows[i]) && ++count <= MAX_OF_A_KIND)
            github_print_row(o, &o->diff->rows[i], gate->value, "error", title, out);
    github_print_more(count, gate->text, out);
    github_print_left_out(o->diff, gate, title, out);
    free(title);
    return count;
}

static size_t github_print_warnings(const struct diff_output *o, enum diff_value value, FILE *out)
{
    size_t count = 0;
    for (size_t i = 0; i < o->diff->row_count; i++) {
        const struct diff_row *row = &o->diff->rows[i];
        if (diff_has_regressed(row, value) && !github_fails(o, row) && ++count <= MAX_OF_A_KIND)
            github_print_row(o, row, value, "warning", "dwell diff", out);
    }
    github_print_more(count, diff_value_name(value), out);
    return count;
}

void diff_print_github(const struct diff_output *o, FILE *out)
{
    const enum diff_value value = diff_judged_value(o->diff, o->options);
    size_t count = 0;
    for (size_t i = 0; i < o->gate_count; i++)
        count += github_print_errors(o, &o->gates[i], out);
    count += github_print_warnings(o, value, out);
    if (value != DIFF_CALLS && !diff_is_tested(o->diff))
        fputs("::notice title=dwell diff::no time is significant with one session on a side; record each side several "
              "times\n",
              out);
    else if (!count)
        fprintf(out, "::notice title=dwell diff::no significant increase of %s in %s\n", diff_value_name(value),
                COUNTED(o->diff->row_count, "row"));
}
