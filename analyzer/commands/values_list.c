/* dwell values --list: reads the debug information of a program, and lists what can be read while it runs. */
#include "commands/values_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/arguments.h"
#include "arguments/value_choice.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/die.h"
#include "recorder/executable.h"
#include "symbols/elf_facts.h"

/* ---- rows ---- */

enum {
    ROW_FUNCTION,
    ROW_VALUE,
    ROW_TYPE,
    ROW_KIND,
    ROW_BYTES,
    ROW_READABLE,
    ROW_PLACES,
    ROW_WHERE,
    ROW_WHY,
    ROW_REASONS
};

static const struct column columns[] = {
    [ROW_FUNCTION] = { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    [ROW_VALUE] = { "value", "VALUE", CELL_TEXT, USE_ALWAYS, false },
    [ROW_TYPE] = { "type", "TYPE", CELL_TEXT, USE_ALWAYS, false },
    [ROW_KIND] = { "kind", "KIND", CELL_TEXT, USE_DATA, false },
    [ROW_BYTES] = { "bytes", "BYTES", CELL_COUNT, USE_DATA, false },
    [ROW_READABLE] = { "readable", "READABLE", CELL_COUNT, USE_ALWAYS, false },
    [ROW_PLACES] = { "places", "PLACES", CELL_COUNT, USE_ALWAYS, false },
    [ROW_WHERE] = { "where", "WHERE", CELL_TEXT, USE_ALWAYS, false },
    [ROW_WHY] = { "why_not", "WHY NOT", CELL_TEXT, USE_ALWAYS, false },
    [ROW_REASONS] = { "reasons", "REASONS", CELL_PATH, USE_DATA, false },
};

/* The places of an argument. */
struct value_places {
    size_t all, readable, missing[MISSING_KINDS];
    const struct load_program *first; /* of the readable ones, those in the function's own code before others */
    bool first_inlined;
};

static struct value_places values_count_places(const struct function_arguments *f, size_t argument)
{
    struct value_places p = { .all = 0 };
    for (size_t i = 0; i < f->site_count; i++) {
        const struct argument_site *site = &f->sites[i];
        const struct argument_use *use = &site->uses[argument];
        if (f->list[argument].result != site->call.exit || site->call.unwinds)
            continue;
        p.all++;
        p.missing[use->missing]++;
        if (use->missing || (p.first && !(p.first_inlined && !site->inlined)))
            continue;
        p.first = &use->program;
        p.first_inlined = site->inlined;
    }
    p.readable = p.missing[MISSING_NOT];
    return p;
}

/* "optimised out at -O2; computed (3)": with a number if there are several reasons or readable places. As keys, for
 * programs: "optimised_out;computed". */
static char *values_list_missing(const struct function_arguments *f, const struct value_places *p, bool keys)
{
    const char *between = "";
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (enum missing m = MISSING_NOT + 1; m < MISSING_KINDS; m++) {
        if (!p->missing[m])
            continue;
        fprintf(out, "%s%s", between, keys ? missing_key(m) : missing_text(m));
        if (!keys && m == MISSING_OPTIMISED_OUT && *f->optimisation)
            fprintf(out, " at %s", f->optimisation);
        if (!keys && p->missing[m] != p->all)
            fprintf(out, " (%zu)", p->missing[m]);
        between = keys ? ";" : "; ";
    }
    need_stream_end(out);
    return text;
}

static void values_set_text(struct cell *cell, char *text)
{
    cell_text(cell, text);
    free(text);
}

static void values_add_row(struct table *t, const char *function, const struct function_arguments *f, size_t i)
{
    const struct argument *a = &f->list[i];
    const struct value_places p = values_count_places(f, i);
    struct cell *row = table_row(t);
    cell_text(&row[ROW_FUNCTION], function);
    cell_text(&row[ROW_VALUE], a->name);
    cell_text(&row[ROW_TYPE], a->type);
    cell_text(&row[ROW_KIND], argument_kind_name(a->kind));
    if (a->size)
        cell_number(&row[ROW_BYTES], a->size);
    cell_number(&row[ROW_READABLE], p.readable);
    cell_number(&row[ROW_PLACES], p.all);
    values_set_text(&row[ROW_WHERE], p.first ? load_describe(p.first, f->registers) : need_text("%s", ""));
    values_set_text(&row[ROW_WHY], values_list_missing(f, &p, false));
    values_set_text(&row[ROW_REASONS], values_list_missing(f, &p, true));
}

/* ---- functions ---- */

/* A program whose functions are looked at. */
struct values_program {
    const struct symbol_module *module;
    struct binaries *binaries;
    struct argument_reader *reader;
    struct table table;
    size_t without; /* functions that the debug information does not have */
};

/* A pattern takes what can be read, and leaves out functions without debug information. */
static void values_add_function(struct values_program *p, struct value_choice *w, uint64_t function, const char *name)
{
    struct function_arguments f;
    struct error error = { NULL };
    if (!arguments_find(p->reader, function, w->what, w->count, &f, &error)) {
        if (value_choice_is_name(w))
            die(STATUS_ERROR, "%s: %s", name, error.text);
        error_drop(&error);
        p->without++;
    }
    for (size_t i = 0; i < f.count && f.sites; i++)
        values_add_row(&p->table, name, &f, i);
    function_arguments_drop(&f);
}

static void values_look_at(struct values_program *p, struct value_choice *w, uint64_t function)
{
    char *name = value_choice_take(w, p->binaries, p->module, function);
    if (name)
        values_add_function(p, w, function, name);
    free(name);
}

static void values_find(struct values_program *p, struct value_choice *w)
{
    uint64_t function;
    for (size_t place = 0; arguments_next_function(p->reader, &place, &function);)
        values_look_at(p, w, function);
    if (!w->matches)
        die(STATUS_ERROR, "%s: no function that calls a probe is named '%s'%s", p->module->path, w->function.text,
            function_pattern_hint(&w->function, ""));
}

static void values_print_remarks(const struct values_program *p)
{
    const size_t unknown = arguments_unknown_calls(p->reader);
    if (p->without)
        say("%s %s left out, as the debug information does not have %s or what was asked for",
            COUNTED(p->without, "function"), counted_word(p->without, "is", "are"),
            counted_word(p->without, "it", "them"));
    if (unknown)
        say("%s of the probe %s left out: of functions of other modules, or the code does not show of which",
            COUNTED(unknown, "call"), counted_word(unknown, "is", "are"));
}

static char *values_find_program(const char *program)
{
    if (strchr(program, '/') && access(program, R_OK) == 0)
        return need_copy(program, strlen(program));
    struct executable e = executable_examine(program);
    if (!e.path)
        die(STATUS_ERROR, "%s: %s", program, e.wrong);
    return e.path;
}

static void values_list_choice(struct values_program *p, const char *text)
{
    struct value_choice choice;
    struct error error = { NULL };
    if (!value_choice_parse(&choice, text, &error))
        die_of(&error);
    values_find(p, &choice);
    value_choice_drop(&choice);
}

void values_list(const char *program, const char *const *functions, size_t count, const struct shared_options *shared)
{
    struct error error = { NULL };
    uint8_t id[64];
    char *path = values_find_program(program);
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct values_program p = { .module = &module, .binaries = binaries_new() };
    p.reader = arguments_open(p.binaries, &module, &error);
    if (!p.reader)
        die_of(&error);
    json_name_schema("arguments");
    p.table = table_make(columns, sizeof columns / sizeof *columns, NULL);
    p.table.first_value = ROW_TYPE;
    for (size_t i = 0; i < count; i++)
        values_list_choice(&p, functions[i]);
    shared->print(&p.table, stdout);
    fflush(stdout);
    values_print_remarks(&p);
    table_drop(&p.table);
    arguments_close(p.reader);
    binaries_free(p.binaries);
    free(path);
}
