/* Brings together the calls of the probes, the functions around them, and their parameters. */
#include "arguments/arguments.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/argument_machine.h"
#include "arguments/argument_moment.h"
#include "arguments/argument_path.h"
#include "arguments/class_values.h"
#include "arguments/function_parameters.h"
#include "base/memory.h"
#include "symbols/binary_parts.h"
#include "symbols/scopes.h"

struct argument_reader {
    char *path;
    struct binary_parts parts;
    struct hook_calls calls;
    const struct argument_machine *machine;
    Dwarf_CFI *frames;
    Dwarf_Addr frames_bias;
};

/* ---- opening ---- */

static bool arguments_check_module(const struct symbol_module *module, const struct argument_reader *r,
                                   struct error *error)
{
    GElf_Addr bias;
    if (r->calls.other_machine)
        return error_set(error, "%s: is not for x86-64 or aarch64, the machines whose arguments dwell reads",
                         module->path);
    if (!r->calls.count && !r->calls.unknown)
        return error_set(error, "%s: no function of it calls a probe: compile and link it with -finstrument-functions",
                         module->path);
    if (!dwfl_module_getdwarf(r->parts.module, &bias))
        return error_set(error, "%s: has no debug information: compile with -g, or install its file of it",
                         module->path);
    return true;
}

struct argument_reader *arguments_open(struct binaries *b, const struct symbol_module *module, struct error *error)
{
    struct argument_reader *r = need_memory(1, sizeof *r);
    GElf_Addr bias;
    Elf *elf = binaries_parts(b, module, &r->parts) ? dwfl_module_getelf(r->parts.module, &bias) : NULL;
    if (!elf) {
        error_set(error, "%s: cannot be read as a program or library", module->path);
        free(r);
        return NULL;
    }
    r->path = need_text("%s", module->path);
    r->machine = argument_machine_of(elf);
    r->calls = hook_calls_find(elf, r->parts.image);
    r->frames = dwfl_module_eh_cfi(r->parts.module, &r->frames_bias);
    if (!arguments_check_module(module, r, error)) {
        arguments_close(r);
        return NULL;
    }
    return r;
}

void arguments_close(struct argument_reader *r)
{
    hook_calls_drop(&r->calls);
    free(r->path);
    free(r);
}

size_t arguments_unknown_calls(const struct argument_reader *r)
{
    return r->calls.unknown;
}

bool arguments_next_function(const struct argument_reader *r, size_t *place, uint64_t *function)
{
    const struct hook_calls *calls = &r->calls;
    if (*place >= calls->count)
        return false;
    *function = calls->list[*place].function;
    while (*place < calls->count && calls->list[*place].function == *function)
        ++*place;
    return true;
}

/* ---- what is wanted ---- */

/* A function while its arguments are found. */
struct argument_search {
    struct argument_reader *reader;
    uint64_t function;
    Dwarf_Die die, origin;
    const char *name;
    struct argument_path *paths;
    size_t count, room;
    struct error *error;
};

static bool argument_is_result(const struct argument_path *path)
{
    return strcmp(path->name, "return") == 0;
}

static bool argument_add_path(struct argument_search *s, const char *text)
{
    GROW(s->paths, s->count, s->room);
    return argument_path_parse(&s->paths[s->count++], text, s->error);
}

static bool argument_add_parameter(void *data, Dwarf_Die *parameter)
{
    struct error ignored = { NULL };
    struct argument_search *s = data, quiet = *s;
    if (parameter_is_hidden(parameter))
        return true;
    quiet.error = &ignored;
    const bool added = argument_add_path(&quiet, parameter_name(parameter));
    if (!added) /* a name of no program's source */
        argument_path_drop(&quiet.paths[--quiet.count]);
    error_drop(&ignored);
    quiet.error = s->error;
    *s = quiet;
    return true;
}

static bool argument_add_all(struct argument_search *s)
{
    Dwarf_Die type;
    function_each_parameter(&s->origin, argument_add_parameter, s);
    return !type_of(&s->die, &type) || argument_add_path(s, "return");
}

static bool argument_refuse_name(struct argument_search *s, const char *name)
{
    struct argument_search all = { .origin = s->origin, .error = s->error };
    char *list;
    size_t length;
    FILE *out = need_stream(&list, &length);
    function_each_parameter(&all.origin, argument_add_parameter, &all);
    for (size_t i = 0; i < all.count; i++) {
        fprintf(out, "%s%s", i ? ", " : "", all.paths[i].name);
        argument_path_drop(&all.paths[i]);
    }
    need_stream_end(out);
    error_set(s->error, "no parameter '%s'%s%s", name, all.count ? "; it has " : "", list);
    free(all.paths);
    free(list);
    return false;
}

/* The variable itself: its type, nowhere. */
static bool argument_begin(struct argument_search *s, const struct argument_path *path, struct argument_part *part)
{
    Dwarf_Die parameter;
    *part = (struct argument_part){ .missing = MISSING_OPTIMISED_OUT };
    if (argument_is_result(path))
        return type_of(&s->die, &part->type) || error_set(s->error, "it returns nothing");
    if (!function_find_parameter(&s->origin, path->name, &parameter))
        return argument_refuse_name(s, path->name);
    return type_of(&parameter, &part->type) ||
           error_set(s->error, "the type of '%s' is not in the debug information", path->name);
}

/* ---- classes without a value of their own ---- */

enum { MOST_MEMBERS = 8 /* of a class that is named as a whole */, MOST_VALUES = 24 /* of a function in a session */ };

/* Paths, with members in place of classes. */
struct argument_expansion {
    struct argument_path *paths;
    size_t count, room;
};

static void argument_expand_path(void *data, const char *text)
{
    struct argument_expansion *e = data;
    struct error ignored = { NULL };
    GROW(e->paths, e->count, e->room);
    if (!argument_path_parse(&e->paths[e->count++], text, &ignored)) /* too many steps */
        argument_path_drop(&e->paths[--e->count]);
    error_drop(&ignored);
}

static void argument_expansion_drop(struct argument_expansion *e)
{
    while (e->count)
        argument_path_drop(&e->paths[--e->count]);
    free(e->paths);
}

/* What the paths of its members begin with. NULL if there is no such path. */
static char *argument_member_prefix(const char *text)
{
    if (text[0] != '*')
        return need_text("%s.", text);
    return text[1] == '*' ? NULL : need_text("%s->", text + 1);
}

/* Adds the path, or the members of the class that it names. */
static void argument_expand(struct argument_expansion *e, const struct argument_search *search,
                            const struct argument_path *path, unsigned most)
{
    struct error ignored = { NULL };
    struct argument_search quiet = *search;
    struct argument_part part;
    Dwarf_Die class;
    const char *wrong;
    quiet.error = &ignored;
    char *prefix = argument_member_prefix(path->text);
    const bool has_members = prefix && argument_begin(&quiet, path, &part) &&
                             argument_path_follow(path, &part, &wrong) && argument_part_class(&part, &class);
    if (!has_members || !class_list_members(&class, prefix, most, argument_expand_path, e))
        argument_expand_path(e, path->text);
    error_drop(&ignored);
    free(prefix);
}

/* If there are too many members for a function, fewer of each class are taken. */
static void argument_expand_all(struct argument_search *s)
{
    struct argument_expansion e = { .paths = NULL };
    for (unsigned most = MOST_MEMBERS; most; most /= 2) {
        argument_expansion_drop(&e);
        e = (struct argument_expansion){ .paths = NULL };
        for (size_t i = 0; i < s->count; i++)
            argument_expand(&e, s, &s->paths[i], most);
        if (e.count <= MOST_VALUES)
            break;
    }
    struct argument_expansion before = { s->paths, s->count, s->room };
    s->paths = e.paths;
    s->count = e.count;
    s->room = e.room;
    argument_expansion_drop(&before);
}

/* ---- the processor ---- */

/* Whether it is a fact of the call, for which no parameter has the name. */
static bool argument_is_cpu(const struct argument_search *s, const struct argument_path *path)
{
    Dwarf_Die parameter;
    return strcmp(path->text, "cpu") == 0 && !function_find_parameter(&s->origin, path->name, &parameter);
}

static bool argument_describe_cpu(struct argument *a)
{
    a->type = need_text("processor");
    a->kind = ARGUMENT_UNSIGNED;
    a->size = sizeof(uint32_t);
    return true;
}

/* ---- names and types ---- */

static bool argument_describe(struct argument_search *s, const struct argument_path *path, struct argument *a)
{
    struct argument_part part;
    const char *wrong;
    *a = (struct argument){ .name = need_text("%s", path->text), .result = argument_is_result(path) };
    if (argument_is_cpu(s, path))
        return argument_describe_cpu(a);
    if (!argument_begin(s, path, &part))
        return false;
    if (!argument_path_follow(path, &part, &wrong))
        return error_set(s->error, "'%s' cannot be read: %s", path->text, wrong);
    a->type = type_name(&part.type);
    a->kind = argument_part_kind(&part, &a->size);
    a->names = argument_part_names(&part);
    return true;
}

/* ---- at a call of a probe ---- */

static struct argument_use argument_read(struct argument_search *s, const struct argument_moment *m,
                                         const struct argument_path *path)
{
    struct argument_use use = { .missing = MISSING_SCOPE };
    struct argument_part part;
    const char *wrong;
    if (argument_is_cpu(s, path)) {
        use.missing = load_add(&use.program, LOAD_CPU, 0, 0) ? MISSING_NOT : MISSING_COMPUTED;
        return use;
    }
    if (m->own < 0 || !argument_begin(s, path, &part))
        return use;
    part.missing =
        argument_is_result(path) ? moment_place_result(m, &part) : moment_place_parameter(m, path->name, &part);
    use.missing = argument_path_follow(path, &part, &wrong) ? argument_part_load(&part, &use.program) : MISSING_DAMAGED;
    return use;
}

/* The last option for optimisation of the compiler's command. clang does not write it. */
static void function_find_optimisation(struct argument_search *s, struct function_arguments *f)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    const char *producer = dwarf_diecu(&s->die, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &attribute)
                               ? dwarf_formstring(&attribute)
                               : NULL;
    for (const char *at = producer; at && (at = strstr(at, " -O")); at++) {
        const size_t length = strcspn(at + 1, " ");
        if (length >= sizeof f->optimisation)
            continue;
        memcpy(f->optimisation, at + 1, length);
        f->optimisation[length] = '\0';
    }
}

static void arguments_read_sites(struct argument_search *s, struct function_arguments *f)
{
    const struct hook_calls *calls = &s->reader->calls;
    const size_t first = hook_calls_first(calls, s->function);
    size_t end = first;
    while (end < calls->count && calls->list[end].function == s->function)
        end++;
    const struct moment_function function = {
        .units = s->reader->parts.units,
        .image = s->reader->parts.image,
        .machine = s->reader->machine,
        .frames = s->reader->frames,
        .frames_bias = s->reader->frames_bias,
        .origin = s->origin,
        .name = s->name,
    };
    f->registers = s->reader->machine->names;
    f->sites = need_memory(end - first, sizeof *f->sites);
    for (size_t i = first; i < end; i++) {
        struct argument_moment moment;
        struct argument_site *site = &f->sites[f->site_count++];
        moment_find(&moment, &function, &calls->list[i]);
        *site = (struct argument_site){ .call = calls->list[i], .inlined = moment.own > 0 };
        site->uses = need_memory(f->count, sizeof *site->uses);
        for (size_t j = 0; j < f->count; j++)
            if (f->list[j].result == site->call.exit && !site->call.unwinds)
                site->uses[j] = argument_read(s, &moment, &s->paths[j]);
    }
}

/* A package has the files of all units. libdw reads it since 0.191. */
static bool arguments_lack_file(struct argument_search *s, const char *file)
{
    char *package = need_text("%s.dwp", s->reader->path);
    if (access(package, F_OK) == 0)
        error_set(s->error,
                  "its debug information is in the package %s, which libdw %s does not read: keep %s, or build dwell "
                  "with libdw 0.191 or later",
                  package, dwfl_version(NULL), file);
    else
        error_set(s->error, "its debug information is in %s, which is not there", file);
    free(package);
    return false;
}

static bool arguments_lack_function(struct argument_search *s, const struct unit *unit)
{
    const char *file = unit ? unit_missing_file(unit) : NULL;
    if (file)
        return arguments_lack_file(s, file);
    return error_set(s->error, "the debug information does not have it: compile its file with -g");
}

static bool arguments_find_function(struct argument_search *s)
{
    struct unit *unit = units_find(s->reader->parts.units, s->function);
    Dwarf_Die *die = unit ? unit_function_at(unit, s->function) : NULL;
    if (!die)
        return arguments_lack_function(s, unit);
    s->die = *die;
    s->origin = function_origin(die);
    s->name = scopes_function_name(&s->die);
    return s->name || error_set(s->error, "the debug information does not name it");
}

bool arguments_find(struct argument_reader *r, uint64_t function, char *const *what, size_t what_count,
                    struct function_arguments *f, struct error *error)
{
    struct argument_search s = { .reader = r, .function = function, .error = error };
    *f = (struct function_arguments){ .list = NULL };
    bool good = arguments_find_function(&s);
    for (size_t i = 0; good && i < what_count; i++)
        good = argument_add_path(&s, what[i]);
    good = good && (what_count || argument_add_all(&s));
    if (good)
        argument_expand_all(&s);
    for (size_t i = 0; good && i < s.count; i++) {
        GROW(f->list, f->count, f->room);
        good = argument_describe(&s, &s.paths[i], &f->list[f->count++]);
    }
    if (good) {
        function_find_optimisation(&s, f);
        arguments_read_sites(&s, f);
    }
    for (size_t i = 0; i < s.count; i++)
        argument_path_drop(&s.paths[i]);
    free(s.paths);
    return good;
}

void function_arguments_drop(struct function_arguments *f)
{
    for (size_t i = 0; i < f->site_count; i++)
        free(f->sites[i].uses);
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].name);
        free(f->list[i].type);
        enum_names_drop(&f->list[i].names);
    }
    free(f->sites);
    free(f->list);
}
