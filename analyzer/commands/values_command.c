/* dwell values: reads its options, and lists what can be read of the arguments and results of a program's functions. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/arguments.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/executable.h"
#include "symbols/elf_facts.h"
#include "symbols/function_pattern.h"

static const struct shared_use shared[] = {
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_END, NULL },
};

/* FUNCTION[:WHAT,...] as typed. */
struct wanted_values {
    struct function_pattern function;
    char *text, *parts; /* the latter has the words of `what` */
    char **what;
    size_t count, room;
    size_t matches;
};

struct values_settings {
    struct shared_options shared;
    const char *program;
    struct wanted_values *wanted;
    size_t count, room;
};

/* ---- options ---- */

/* The colon before WHAT; NULL if there is none. Those of A::B, FILE:LINE and re:REGEX are the function's. */
static char *values_find_colon(char *text)
{
    static const char *const words[] = { "re:", "file:", "module:" };
    char *from = text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            from = text + strlen(words[i]);
    for (char *colon = strrchr(from, ':'); colon;) {
        const bool doubled = colon > from && colon[-1] == ':';
        if (!doubled && (isalpha((unsigned char)colon[1]) || colon[1] == '_' || colon[1] == '*'))
            return colon;
        char *const end = doubled ? colon - 1 : colon;
        colon = memrchr(from, ':', (size_t)(end - from));
    }
    return NULL;
}

static void values_take(void *settings, const struct option_row *row, char *argument)
{
    struct values_settings *s = settings;
    struct wanted_values w = { .text = argument, .parts = need_copy(argument, strlen(argument)) };
    struct error error = { NULL };
    char *colon = values_find_colon(w.parts);
    (void)row;
    if (colon)
        *colon++ = '\0';
    for (char *part; (part = strsep(&colon, ","));) {
        GROW(w.what, w.count, w.room);
        w.what[w.count++] = part;
    }
    if (!function_pattern_parse(&w.function, w.parts, &error))
        die_of(&error);
    GROW(s->wanted, s->count, s->room);
    s->wanted[s->count++] = w;
}

static const struct option_row options[] = {
    { "list", "PROGRAM", "Say what can be read in PROGRAM, a program or a library, where not, and why",
      STORE_TEXT(struct values_settings, program) },
    { TAKE_BY(values_take) },
    { 0 },
};

static const struct command_line line = {
    .name = "values",
    .arguments = "--list PROGRAM FUNCTION[:WHAT,...]...",
    .text =
        "Says which arguments and results of a function can be read while its probes are called.\v"
        "With -g, the compiler writes where each parameter is in the code. A function has a PLACE for each call of its "
        "probe: in its own code, and in each inlined copy. READABLE counts those in which the value is in a register, "
        "in memory, or a constant. WHERE is that of the first one, and WHY NOT says what the others lack. Results are "
        "read at the probe of the exit.\n\n"
        "WHAT is a parameter (n), a part of one (req->len, v.size, *p, name[0], this->count), or the result (return). "
        "Without it, all parameters and the result are listed. Pointers to char, std::string and std::string_view are "
        "read as text, smart pointers as what they hold. FUNCTION is a name, or a pattern as in dwell record --only.\n\n"
        "The file of the debug information can be a separate one, as with dwell report. Arguments are read on x86-64."
        "\n\nExamples:\n"
        "  dwell values --list ./prog parse_line\n"
        "  dwell values --list ./prog 'handle:req->len,return'\n"
        "  dwell values --list ./prog 'Parser::*' --format json",
    .options = options,
    .shared = shared,
};

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

/* "optimised out at -O2; computed (3)": with a number if there are several reasons or readable places. */
static char *values_describe_missing(const struct function_arguments *f, const struct value_places *p)
{
    const char *between = "";
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (int m = MISSING_NOT + 1; m < MISSING_KINDS; m++) {
        if (!p->missing[m])
            continue;
        fprintf(out, "%s%s", between, missing_text((enum missing)m));
        if (m == MISSING_OPTIMISED_OUT && *f->optimisation)
            fprintf(out, " at %s", f->optimisation);
        if (p->missing[m] != p->all)
            fprintf(out, " (%zu)", p->missing[m]);
        between = "; ";
    }
    need_stream_end(out);
    return text;
}

static char *values_list_reasons(const struct value_places *p)
{
    const char *between = "";
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (int m = MISSING_NOT + 1; m < MISSING_KINDS; m++) {
        if (!p->missing[m])
            continue;
        fprintf(out, "%s%s", between, missing_key((enum missing)m));
        between = ";";
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
    values_set_text(&row[ROW_WHERE], p.first ? load_describe(p.first) : need_text("%s", ""));
    values_set_text(&row[ROW_WHY], values_describe_missing(f, &p));
    values_set_text(&row[ROW_REASONS], values_list_reasons(&p));
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
static void values_add_function(struct values_program *p, struct wanted_values *w, uint64_t function, const char *name)
{
    struct function_arguments f;
    struct error error = { NULL };
    if (!arguments_find(p->reader, function, w->what, w->count, &f, &error)) {
        if (!strpbrk(w->text, "*?"))
            die(STATUS_ERROR, "%s: %s", name, error.text);
        error_drop(&error);
        p->without++;
    }
    for (size_t i = 0; i < f.count && f.sites; i++)
        values_add_row(&p->table, name, &f, i);
    function_arguments_drop(&f);
}

static void values_look_at(struct values_program *p, struct wanted_values *w, uint64_t function)
{
    const struct symbol symbol = binaries_find(p->binaries, p->module, function);
    if (!symbol.linkage_name)
        return;
    char *name = symbol_demangle_of_file(symbol.linkage_name, symbol.file);
    const struct named_function named = {
        .name = name,
        .linkage_name = symbol.linkage_name,
        .module = path_file_name(p->module->path),
        .file = symbol.file,
        .line = symbol.line,
        .address = function,
        .build_id = p->module->build_id,
        .build_id_length = p->module->build_id_length,
    };
    if (function_pattern_matches(&w->function, p->module->path, &named)) {
        w->matches++;
        values_add_function(p, w, function, name);
    } else if (!w->matches) {
        function_pattern_note_similar(&w->function, name);
    }
    free(name);
}

static void values_find(struct values_program *p, struct wanted_values *w)
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
        say("%zu function%s left out, as the debug information does not have %s or what was asked for", p->without,
            p->without == 1 ? " is" : "s are", p->without == 1 ? "it" : "them");
    if (unknown)
        say("%zu call%s of the probe %s left out: of functions of other modules, or the code does not show of which",
            unknown, unknown == 1 ? "" : "s", unknown == 1 ? "is" : "are");
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

int command_values(int argc, char **argv)
{
    struct values_settings s = { .program = NULL };
    struct error error = { NULL };
    uint8_t id[64];
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (!s.program || !s.count)
        die(STATUS_ERROR, "values: needs --list PROGRAM and a FUNCTION; dwell values --help");
    char *path = values_find_program(s.program);
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct values_program p = { .module = &module, .binaries = binaries_new() };
    p.reader = arguments_open(p.binaries, &module, &error);
    if (!p.reader)
        die_of(&error);
    json_name_schema("arguments");
    p.table = table_make(columns, sizeof columns / sizeof *columns, NULL);
    p.table.first_value = ROW_TYPE;
    for (size_t i = 0; i < s.count; i++)
        values_find(&p, &s.wanted[i]);
    s.shared.print(&p.table, stdout);
    fflush(stdout);
    values_print_remarks(&p);
    table_drop(&p.table);
    arguments_close(p.reader);
    binaries_free(p.binaries);
    for (size_t i = 0; i < s.count; i++) {
        function_pattern_drop(&s.wanted[i].function);
        free(s.wanted[i].what);
        free(s.wanted[i].parts);
    }
    free(s.wanted);
    free(path);
    shared_options_drop(&s.shared);
    return finish_output();
}
