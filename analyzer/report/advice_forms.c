/* Prints advice as flags of a compiler, as places in the source, or as filters of dwell record. */
#include "report/advice_forms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/exclusions.h"
#include "base/counted_text.h"
#include "base/index.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/path_text.h"
#include "base/visible.h"
#include "symbols/function_pattern.h"
#include "tables/advice_rows.h"

enum { MAX_NAMED = 10 /* in remarks */ };

/* What a form leaves out and what is left, on standard error or as comments. */
static void advice_tell(const struct analysis *analysis, const struct advice *a, const bool *left_out, bool counted,
                        const char *before, FILE *out)
{
    const struct advice_effect e = advice_predict(a, left_out, analysis->profile->function_count, counted);
    char *all = advice_describe(analysis, a, a->all_calls, budget_cost(a->all_calls, &a->look)),
         *left = advice_describe(analysis, a, e.calls_left, e.cost_left);
    print_text(out, "%sall functions: %s\n", before, all);
    print_text(out, "%swithout %zu of %zu: %s\n", before, e.functions, a->functions, left);
    free(all);
    free(left);
}

/* ---- compilers ---- */

static void advice_print_list(const char *option, char *const *texts, size_t count, FILE *out)
{
    if (count)
        fprintf(out, "-finstrument-functions-exclude-%s-list=", option);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? "," : "", texts[i]);
}

static void advice_tell_missed(const struct analysis *analysis, const struct exclusions *e)
{
    static const char *const reasons[] = {
        [EXCLUSION_HAS_NO_NAME] = "GCC's list cannot name it",
        [EXCLUSION_TAKES_OTHERS] = "its name is a part of ",
        [EXCLUSION_TOO_MANY] = "the list is full",
    };
    if (e->missed_count)
        say("not in the lists, use --attributes: %s", COUNTED(e->missed_count, "function"));
    for (size_t i = 0; i < e->missed_count && i < MAX_NAMED; i++) {
        const struct exclusion_missed *m = &e->missed[i];
        print_text(stderr, "  %s: %s%s\n", analysis->names[m->function].name, reasons[m->reason],
                   m->other == PROFILE_NONE ? "" : analysis->names[m->other].name);
    }
    if (e->missed_count > MAX_NAMED)
        fprintf(stderr, "  and %zu more\n", e->missed_count - MAX_NAMED);
}

static void advice_print_gcc(const struct analysis *analysis, const struct advice *a, FILE *out)
{
    uint32_t *list = need_memory(a->count, sizeof *list);
    for (size_t i = 0; i < a->count; i++)
        list[i] = a->list[i].function;
    struct exclusions e = exclusions_of(analysis, list, a->count, a->has);
    advice_print_list("function", e.functions, e.function_count, out);
    if (e.function_count && e.file_count)
        fputs(" ", out);
    advice_print_list("file", e.files, e.file_count, out);
    if (e.function_count || e.file_count)
        fputs("\n", out);
    advice_tell(analysis, a, e.left_out, false, "dwell: ", stderr);
    advice_tell_missed(analysis, &e);
    exclusions_drop(&e);
    free(list);
}

static void advice_print_clang(FILE *out)
{
    fputs("-finstrument-functions-after-inlining\n", out);
    say("clang cannot name functions to leave out: this flag leaves out those that it inlines, and nothing predicts "
        "which. --attributes lists all");
}

static void advice_print_attributes(const struct analysis *analysis, const struct advice *a, FILE *out)
{
    size_t unknown = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct function_name *name = &analysis->names[a->list[i].function];
        unknown += !name->file;
        if (name->file)
            print_text(out, "%s:%" PRIu32 ": %s\n", name->file, name->line, name->name);
    }
    advice_tell(analysis, a, a->has, false, "dwell: ", stderr);
    if (unknown)
        say("%s %s no known source line: compile with -g", COUNTED(unknown, "function"),
            counted_word(unknown, "has", "have"));
}

/* ---- filters of dwell record ---- */

/* A pattern cannot hold these names, so it has the linkage name. */
static bool advice_is_pattern(const char *name)
{
    static const char *const prefixes[] = { "re:", "file:", "module:" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return false;
    return !strpbrk(name, "!@\n\r");
}

/* How many of the functions that stay have a name, by the name's key. */
static struct number_index *advice_index_names(const struct analysis *analysis, const struct advice *a)
{
    struct number_index *names = index_new();
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        const char *name = analysis->names[i].name;
        const uint64_t key = index_bytes_key(name, strlen(name));
        struct index_slot *slot = index_find(names, key, 0);
        if (!a->has[i] && !slot->value_plus_1)
            index_set(names, slot, key, 0, i);
    }
    return names;
}

static void advice_print_pattern(const struct function_name *f, bool recurs, const char *filter, FILE *out)
{
    char *name = function_pattern_escape(advice_is_pattern(f->name) || !f->linkage_name ? f->name : f->linkage_name);
    if (recurs && f->file)
        print_text(out, "%s%s@%s:%" PRIu32 "\n", filter, name, path_file_name(f->file), f->line);
    else if (recurs)
        print_text(out, "%s%s@%s\n", filter, name, f->module);
    else
        print_text(out, "%s%s\n", filter, name);
    free(name);
}

static void advice_print_filters(const struct analysis *analysis, const struct advice *a, bool counted, FILE *out)
{
    struct number_index *names = advice_index_names(analysis, a);
    print_text(out, "# dwell record %s--filter-file with the functions of %s\n", counted ? "" : "--no-hidden-probes ",
               analysis->file->path);
    advice_tell(analysis, a, a->has, counted, "# ", out);
    for (size_t i = 0; i < a->count; i++) {
        const struct function_name *f = &analysis->names[a->list[i].function];
        const bool recurs = index_find(names, index_bytes_key(f->name, strlen(f->name)), 0)->value_plus_1;
        advice_print_pattern(f, recurs, counted ? "level counted=" : "suppress ", out);
    }
    index_free(names);
}

void advice_print_form(const struct analysis *analysis, const struct advice *a, enum advice_form form, FILE *out)
{
    if (!a->count) {
        say("%s: nothing is worth leaving out", analysis->file->path);
        return;
    }
    if (form == ADVICE_GCC)
        advice_print_gcc(analysis, a, out);
    else if (form == ADVICE_CLANG)
        advice_print_clang(out);
    else if (form == ADVICE_ATTRIBUTES)
        advice_print_attributes(analysis, a, out);
    else
        advice_print_filters(analysis, a, form == ADVICE_LEVELS, out);
}
