/* Brings together the calls of the probes, the functions around them, and their parameters. */
#include "arguments/arguments.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/argument_machine.h"
#include "arguments/argument_path.h"
#include "base/memory.h"
#include "symbols/binary_parts.h"
#include "symbols/scopes.h"

enum { MOST_PARAMETERS = 256, MOST_CHILDREN = 100000, MOST_ORIGINS = 8, IN_REGISTERS = 16 };

struct argument_reader {
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

/* ---- functions of the debug information ---- */

/* The function that a copy of its code is made from. */
static Dwarf_Die function_origin(const Dwarf_Die *function)
{
    Dwarf_Die die = *function, origin;
    Dwarf_Attribute attribute;
    for (int i = 0; i < MOST_ORIGINS && dwarf_attr(&die, DW_AT_abstract_origin, &attribute); i++) {
        if (!dwarf_formref_die(&attribute, &origin))
            break;
        die = origin;
    }
    return die;
}

/* Calls `take` for each parameter, until it returns false. */
static void function_each_parameter(const Dwarf_Die *function, bool (*take)(void *data, Dwarf_Die *parameter),
                                    void *data)
{
    Dwarf_Die die = *function, child;
    int taken = 0;
    if (dwarf_child(&die, &child) != 0)
        return;
    for (int i = 0; i < MOST_CHILDREN && taken < MOST_PARAMETERS; i++) {
        const bool is_parameter = dwarf_tag(&child) == DW_TAG_formal_parameter;
        taken += is_parameter;
        if ((is_parameter && !take(data, &child)) || dwarf_siblingof(&child, &child) != 0)
            return;
    }
}

static const char *parameter_name(Dwarf_Die *parameter)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(parameter, DW_AT_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

struct parameter_search {
    const char *name;
    Dwarf_Die found;
    bool has_found;
};

static bool parameter_is_other(void *data, Dwarf_Die *parameter)
{
    struct parameter_search *s = data;
    const char *name = parameter_name(parameter);
    s->has_found = name && strcmp(name, s->name) == 0;
    s->found = *parameter;
    return !s->has_found;
}

static bool function_find_parameter(const Dwarf_Die *function, const char *name, Dwarf_Die *parameter)
{
    struct parameter_search search = { .name = name };
    function_each_parameter(function, parameter_is_other, &search);
    *parameter = search.found;
    return search.has_found;
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
    const char *name = parameter_name(parameter);
    struct error ignored = { NULL };
    struct argument_search *s = data, quiet = *s;
    if (!name || !*name)
        return true;
    quiet.error = &ignored;
    const bool added = argument_add_path(&quiet, name);
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

static bool argument_describe(struct argument_search *s, const struct argument_path *path, struct argument *a)
{
    struct argument_part part;
    const char *wrong;
    *a = (struct argument){ .name = need_text("%s", path->text), .result = argument_is_result(path) };
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

/* A call of a probe, with the function around it. */
struct argument_moment {
    struct argument_search *search;
    struct scope_chain chain;
    int own; /* the function's place in the chain; -1 if it is not in it */
    struct place_at at;
    const struct hook_call *call;
};

/* Functions of several units can have the same code, which is of one of them. */
static bool moment_is_function(const struct argument_search *s, Dwarf_Die *candidate)
{
    const Dwarf_Die origin = function_origin(candidate);
    if (origin.addr == s->origin.addr)
        return true;
    const char *name = scopes_function_name(candidate), *wanted = s->name;
    return name && wanted && strcmp(name, wanted) == 0;
}

static void moment_find(struct argument_moment *m, struct argument_search *s, const struct hook_call *call)
{
    struct unit *unit = units_find(s->reader->parts.units, call->at);
    *m = (struct argument_moment){ .search = s, .own = -1, .call = call };
    if (!unit)
        return;
    m->chain = scopes_chain(unit, call->at);
    for (int i = m->chain.count - 1; i >= 0 && m->own < 0; i--)
        if (moment_is_function(s, &m->chain.functions[i]))
            m->own = i;
    m->at = (struct place_at){
        .machine = s->reader->machine,
        .function = &m->chain.functions[0],
        .pc = call->at - unit->bias,
        .bias = unit->bias,
        .frames = s->reader->frames,
        .frames_pc = call->at - s->reader->frames_bias,
    };
}

/* The word of the frame that a program begins with: its address, or what it holds, as the address of a large
 * parameter. */
static bool moment_frame_word(const struct argument_moment *m, const struct load_program *program,
                              struct frame_word *word)
{
    const struct argument_machine *machine = m->at.machine;
    const struct load *l = program->loads;
    if (l[0].op != LOAD_REGISTER || (l[0].operand != machine->frame && l[0].operand != machine->stack))
        return false;
    const bool moved = program->count > 1 && l[1].op == LOAD_ADD;
    *word = (struct frame_word){ l[0].operand == machine->stack, moved ? l[1].number : 0 };
    const unsigned next = moved ? 2 : 1;
    return program->count == next || l[next].op == LOAD_MEMORY;
}

/* Whether the register of the frame has it. */
static bool moment_has_frame(const struct argument_moment *m)
{
    struct load_program frame;
    struct frame_word word;
    return place_frame(&m->at, &frame) && moment_frame_word(m, &frame, &word) && !word.by_stack;
}

/* Whether the caller stores the word: it lies behind the frame's address. */
static bool moment_is_pushed(const struct argument_moment *m, const struct frame_word *word)
{
    struct load_program frame;
    struct frame_word top;
    return place_frame(&m->at, &frame) && moment_frame_word(m, &frame, &top) && top.by_stack == word->by_stack &&
           word->offset >= top.offset;
}

/* clang states where the address of a class is that the caller has pushed, as if the class itself were there. */
static bool moment_follow_address(const struct argument_moment *m, Dwarf_Die *parameter, struct place *place)
{
    struct place_piece *piece = &place->pieces[0];
    struct frame_word word;
    Dwarf_Die type;
    if (m->own != 0 || place->count != 1 || piece->is_value || !type_of(parameter, &type) || !type_strip(&type) ||
        !type_is_passed_by_address(&type) || !moment_frame_word(m, &piece->program, &word) ||
        piece->program.loads[piece->program.count - 1].op == LOAD_MEMORY || !moment_is_pushed(m, &word))
        return true;
    return load_add(&piece->program, LOAD_MEMORY, sizeof(uint64_t), 0);
}

/* Whether a place that is stated for the whole function has the parameter when the probe is called. */
static bool moment_is_stored(const struct argument_moment *m, const struct place *place)
{
    const struct place_piece *piece = &place->pieces[0];
    struct frame_word word;
    if (!place->everywhere || piece->is_value)
        return true;
    if (!moment_frame_word(m, &piece->program, &word))
        return false;
    return moment_is_pushed(m, &word) ||
           m->at.machine->stored_before(m->search->reader->parts.image, m->call->begin, m->call->at, word);
}

/* ---- parameters that are stored behind the probe's call ---- */

/* Goes through the parameters, and counts the registers that the caller passes them in. */
struct register_search {
    const char *name;
    unsigned generals, vectors;
    struct spilled_parameter found;
    bool has_found;
};

/* Structs can be passed in several ways, so what follows one is not known. */
static bool register_take(void *data, Dwarf_Die *parameter)
{
    struct register_search *s = data;
    const char *name = parameter_name(parameter);
    Dwarf_Die type;
    if (!type_of(parameter, &type) || !type_strip(&type) || type_is_class(&type))
        return false;
    const enum argument_kind kind = type_kind(&type);
    const uint64_t size = type_size(&type);
    if (kind == ARGUMENT_NONE || !size || size > sizeof(uint64_t))
        return false;
    s->found =
        (struct spilled_parameter){ .vector = kind == ARGUMENT_FLOAT, .is_bool = kind == ARGUMENT_BOOL, .size = size };
    s->found.number = s->found.vector ? s->vectors++ : s->generals++;
    s->has_found = name && strcmp(name, s->name) == 0;
    return !s->has_found;
}

/* The register of a parameter. A result in memory has its address in the first one; small classes are not known. */
static bool function_find_register(const Dwarf_Die *function, const char *name, struct spilled_parameter *found)
{
    static const uint8_t generals[] = { 7, 6, 2, 1, 8, 9 }; /* rdi, rsi, rdx, rcx, r8, r9 */
    enum { GENERALS = sizeof generals, VECTORS = 8 };
    struct register_search search = { .name = name };
    Dwarf_Die die = *function, type;
    if (type_of(&die, &type) && type_strip(&type) && type_is_class(&type)) {
        if (type_size(&type) <= IN_REGISTERS)
            return false;
        search.generals = 1;
    }
    function_each_parameter(function, register_take, &search);
    *found = search.found;
    if (!search.has_found || found->number >= (found->vector ? VECTORS : GENERALS))
        return false;
    if (!found->vector)
        found->number = generals[found->number];
    return true;
}

/* Takes the place that has the parameter until then. */
static bool moment_find_spilled(const struct argument_moment *m, const char *name, struct place *place)
{
    struct spilled_parameter parameter;
    struct frame_word word;
    struct load_program program = { .count = 0 };
    const struct argument_machine *machine = m->at.machine;
    if (!machine->find_spilled || m->own != 0 || place->count != 1 || m->call->begin != m->call->function ||
        !function_find_register(&m->chain.functions[0], name, &parameter) ||
        !moment_frame_word(m, &place->pieces[0].program, &parameter.home) ||
        !machine->find_spilled(m->search->reader->parts.image, m->call, &parameter, &word))
        return false;
    if (!load_add(&program, LOAD_REGISTER, word.by_stack ? machine->stack : machine->frame, 0) ||
        !load_add(&program, LOAD_ADD, 0, word.offset))
        return false;
    *place = place_of(&program, false);
    return true;
}

/* The function's code. False if it has too many parts. */
static bool moment_code(const struct argument_moment *m, struct function_code *code)
{
    Dwarf_Addr base, begin, end;
    Dwarf_Die function = m->chain.functions[m->own];
    *code = (struct function_code){ .entry = m->call->begin };
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&function, at, &base, &begin, &end)) > 0;) {
        if (code->count == MOST_CODE_RANGES)
            return false;
        code->ranges[code->count++] = (struct code_range){ begin + m->at.bias, end + m->at.bias };
    }
    return true;
}

/* The address of a result in memory, or the result itself. */
static bool moment_find_result(const struct argument_moment *m, bool in_memory, bool vector,
                               struct load_program *program)
{
    struct function_code code;
    if (in_memory && m->at.machine->find_address)
        return moment_code(m, &code) && m->at.machine->find_address(m->search->reader->parts.image, &code, program);
    return m->at.machine->find_result(m->search->reader->parts.image, m->call, vector, moment_has_frame(m), program);
}

/* Where the result waits. A large one is in memory, and what waits is its address. */
static enum missing moment_place_result(const struct argument_moment *m, struct argument_part *part)
{
    Dwarf_Die type = part->type;
    if (m->own > 0)
        return MISSING_INLINED;
    if (!type_strip(&type))
        return MISSING_DAMAGED;
    const bool is_class = type_is_class(&type), special = type_special(&type) != TYPE_USUAL;
    const uint64_t size = type_size(&type);
    const bool in_memory = is_class && (size > IN_REGISTERS || (special && type_special(&type) != TYPE_STRING_VIEW));
    if ((is_class && !in_memory) || size == 0)
        return MISSING_IN_PARTS;
    if (!is_class && size > sizeof(uint64_t))
        return MISSING_WIDE;
    struct load_program program;
    if (!moment_find_result(m, in_memory, type_kind(&type) == ARGUMENT_FLOAT, &program))
        return MISSING_RESULT_PLACE;
    part->place = place_of(&program, !in_memory);
    return MISSING_NOT;
}

static enum missing moment_place_parameter(struct argument_moment *m, const char *name, struct argument_part *part)
{
    Dwarf_Die parameter;
    if (!function_find_parameter(&m->chain.functions[m->own], name, &parameter))
        return MISSING_OPTIMISED_OUT;
    const enum missing missing = place_find(&part->place, &parameter, &m->at);
    if (!missing && !moment_follow_address(m, &parameter, &part->place))
        return MISSING_COMPUTED;
    if (missing || moment_is_stored(m, &part->place) || moment_find_spilled(m, name, &part->place))
        return missing;
    return MISSING_NOT_STORED;
}

static struct argument_use moment_read(struct argument_moment *m, const struct argument_path *path)
{
    struct argument_use use = { .missing = MISSING_SCOPE };
    struct argument_part part;
    const char *wrong;
    if (m->own < 0 || !argument_begin(m->search, path, &part))
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
    f->registers = s->reader->machine->names;
    f->sites = need_memory(end - first, sizeof *f->sites);
    for (size_t i = first; i < end; i++) {
        struct argument_moment moment;
        struct argument_site *site = &f->sites[f->site_count++];
        moment_find(&moment, s, &calls->list[i]);
        *site = (struct argument_site){ .call = calls->list[i], .inlined = moment.own > 0 };
        site->uses = need_memory(f->count, sizeof *site->uses);
        for (size_t j = 0; j < f->count; j++)
            if (f->list[j].result == site->call.exit && !site->call.unwinds)
                site->uses[j] = moment_read(&moment, &s->paths[j]);
    }
}

static bool arguments_find_function(struct argument_search *s)
{
    struct unit *unit = units_find(s->reader->parts.units, s->function);
    Dwarf_Die *die = unit ? unit_function_at(unit, s->function) : NULL;
    if (!die)
        return error_set(s->error, "the debug information does not have it: compile its file with -g");
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
