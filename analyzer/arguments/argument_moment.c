/* Finds the function around a call of a probe, and places in its frame and code. */
#include "arguments/argument_moment.h"

#include <dwarf.h>
#include <string.h>

#include "arguments/caller_registers.h"
#include "arguments/function_parameters.h"
#include "arguments/passing.h"

enum { MOST_ORIGINS = 8 };

Dwarf_Die function_origin(const Dwarf_Die *function)
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

/* Whether a linkage name goes on with the kind of a constructor or destructor, such as C2 or D4, and the end of the
 * name. */
static bool moment_is_structor(const char *name)
{
    return (name[0] == 'C' || name[0] == 'D') && name[1] >= '0' && name[1] <= '5' && name[2] == 'E';
}

/* The debug information of a constructor and those of its copies have names of different kinds. */
static bool moment_is_name(const char *name, const char *wanted)
{
    while (*name && *name == *wanted) {
        const bool structor = moment_is_structor(name) && moment_is_structor(wanted);
        name += structor ? 2 : 1;
        wanted += structor ? 2 : 1;
    }
    return *name == *wanted;
}

/* Functions of several units can have the same code, which is of one of them. */
static bool moment_is_function(const struct moment_function *f, Dwarf_Die *candidate)
{
    const Dwarf_Die origin = function_origin(candidate);
    if (origin.addr == f->origin.addr)
        return true;
    const char *name = scopes_function_name(candidate), *wanted = f->name;
    return name && wanted && moment_is_name(name, wanted);
}

void moment_find(struct argument_moment *m, const struct moment_function *f, const struct hook_call *call)
{
    struct unit *unit = units_find(f->units, call->at);
    *m = (struct argument_moment){ .function = f, .own = -1, .call = call };
    if (!unit)
        return;
    m->chain = scopes_chain(unit, call->at);
    for (int i = m->chain.count - 1; i >= 0 && m->own < 0; i--)
        if (moment_is_function(f, &m->chain.functions[i]))
            m->own = i;
    m->at = (struct place_at){
        .machine = f->machine,
        .function = &m->chain.functions[0],
        .pc = call->at - unit->bias,
        .bias = unit->bias,
        .frames = f->frames,
        .frames_pc = call->at - f->frames_bias,
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

/* Whether the compiler is GCC, which states places from the store on if they are not those of the whole function. */
static bool moment_is_of_gcc(const struct argument_moment *m)
{
    Dwarf_Die unit, function = m->chain.functions[0];
    Dwarf_Attribute attribute;
    const char *producer = dwarf_diecu(&function, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &attribute)
                               ? dwarf_formstring(&attribute)
                               : NULL;
    return producer && strncmp(producer, "GNU ", 4) == 0;
}

/* Where the code begins that stores parameters: that of the function or of the inlined copy. */
static uint64_t moment_begin(const struct argument_moment *m, bool everywhere)
{
    Dwarf_Die function = m->chain.functions[m->own];
    Dwarf_Addr begin;
    return m->own > 0 && !everywhere && dwarf_entrypc(&function, &begin) == 0 ? begin + m->at.bias : m->call->begin;
}

static bool moment_is_piece_stored(const struct argument_moment *m, const struct place_piece *piece, bool everywhere)
{
    struct frame_word word;
    if (!piece->known || piece->is_value)
        return true;
    if (!moment_frame_word(m, &piece->program, &word)) /* GCC sets registers before the call */
        return !everywhere || moment_is_of_gcc(m);
    return moment_is_pushed(m, &word) ||
           m->at.machine->stored_before(m->function->image, moment_begin(m, everywhere), m->call->at, word);
}

/* Whether a place in the frame has the parameter when the probe is called. clang states such places also before the
 * store. */
static bool moment_is_stored(const struct argument_moment *m, const struct place *place)
{
    if (!place->everywhere && moment_is_of_gcc(m))
        return true;
    for (unsigned i = 0; i < place->count; i++)
        if (!moment_is_piece_stored(m, &place->pieces[i], place->everywhere))
            return false;
    return true;
}

/* ---- parameters that are stored behind the probe's call ---- */

/* What has a part of the parameter until then. */
static bool moment_find_word(const struct argument_moment *m, const struct spilled_parameter *word,
                             struct load_program *program, bool *is_value)
{
    const struct argument_machine *machine = m->at.machine;
    struct spilled_place found;
    program->count = 0;
    if (!machine->find_spilled(m->function->image, m->call, word, &found))
        return false;
    *is_value = found.in_register;
    if (found.in_register)
        return load_add(program, LOAD_REGISTER, found.number, 0);
    return load_add(program, LOAD_REGISTER, found.word.by_stack ? machine->stack : machine->frame, 0) &&
           load_add(program, LOAD_ADD, 0, found.word.offset);
}

/* Takes the place that has the parameter until then. The words of a class can lie apart. */
static bool moment_find_spilled(const struct argument_moment *m, const char *name, struct place *place)
{
    struct caller_registers parameter;
    struct frame_word home;
    struct place found = { .count = 0 };
    if (!m->at.machine->find_spilled || m->own != 0 || place->count != 1 || m->call->begin != m->call->function ||
        !caller_registers_find(&m->chain.functions[0], name, &parameter) || parameter.is_address ||
        !moment_frame_word(m, &place->pieces[0].program, &home))
        return false;
    for (unsigned i = 0; i < parameter.count; i++) {
        struct spilled_parameter *word = &parameter.words[i];
        struct load_program program;
        bool is_value;
        word->home = (struct frame_word){ home.by_stack, home.offset + (int64_t)(i * sizeof(uint64_t)) };
        if (!moment_find_word(m, word, &program, &is_value))
            return false;
        place_add_piece(&found, word->size, &program, is_value);
    }
    *place = found;
    return true;
}

/* ---- parameters that have no place any more ---- */

/* Adds the piece to the place. False if the code from the function's begin on does not keep the register anywhere. */
static bool moment_follow_piece(const struct argument_moment *m, const struct place_piece *piece, uint64_t size,
                                struct place *place)
{
    const struct load *load = piece->program.loads;
    struct spilled_parameter register_ = { .size = size };
    struct spilled_place found;
    struct load_program program = { .count = 0 };
    if (!piece->known || !piece->is_value || piece->program.count != 1 ||
        (load->op != LOAD_REGISTER && load->op != LOAD_VECTOR))
        return false;
    register_.number = load->operand;
    register_.vector = load->op == LOAD_VECTOR;
    if (!m->at.machine->find_entered(m->function->image, m->call, &register_, &found))
        return false;
    bool added = found.in_register ? load_add(&program, found.vector ? LOAD_VECTOR : LOAD_REGISTER, found.number, 0)
                                   : load_add(&program, LOAD_REGISTER, m->at.machine->stack, 0) &&
                                         load_add(&program, LOAD_ADD, 0, found.word.offset) &&
                                         (!found.undo.count || load_add(&program, LOAD_MEMORY, found.bytes, 0));
    for (unsigned i = 0; i < found.undo.count; i++) {
        const struct load *undo = &found.undo.loads[i];
        added = added && load_add(&program, (enum load_op)undo->op, undo->operand, undo->number);
    }
    if (added)
        place_add_piece(place, size, &program, found.in_register || found.undo.count);
    return added;
}

/* What has the parameter at the call, of which the debug information only states where it was at first. */
static bool moment_find_entered(const struct argument_moment *m, Dwarf_Die *parameter, struct place *place)
{
    struct place_at begin = m->at;
    struct place entered, found = { .count = 0 };
    Dwarf_Die type;
    begin.pc = m->call->begin - m->at.bias;
    begin.frames_pc = m->call->begin - m->function->frames_bias;
    if (!m->at.machine->find_entered || m->own != 0 || m->call->begin != m->call->function ||
        place_find(&entered, parameter, &begin) || !type_of(parameter, &type) || !type_strip(&type))
        return false;
    const uint64_t size = type_size(&type);
    const struct load_program nothing = { .count = 0 };
    bool any = false;
    for (unsigned i = 0; i < entered.count; i++) {
        const struct place_piece *piece = &entered.pieces[i];
        const uint64_t bytes = entered.count == 1 && piece->size > size ? size : piece->size;
        if (moment_follow_piece(m, piece, bytes, &found))
            any = true;
        else
            place_add_piece(&found, bytes, &nothing, false);
    }
    *place = found;
    return any;
}

/* ---- results ---- */

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

/* What a register of results will hold. */
static bool moment_find_register(const struct argument_moment *m, struct result_register wanted,
                                 struct load_program *program)
{
    return m->at.machine->find_result(m->function->image, m->call, wanted, moment_has_frame(m), program);
}

/* The address of a result in memory. */
static bool moment_find_address(const struct argument_moment *m, struct load_program *program)
{
    struct function_code code;
    if (m->at.machine->find_address)
        return moment_code(m, &code) && m->at.machine->find_address(m->function->image, &code, program);
    return moment_find_register(m, (struct result_register){ .number = 0 }, program);
}

/* A class in registers, of which each has up to eight bytes. On aarch64, those of floats have others. */
static enum missing moment_place_words(const struct argument_moment *m, const struct passing *passing, uint64_t size,
                                       struct place *place)
{
    const bool mixed = m->at.machine->find_address; /* all words are in general registers */
    struct result_register next[] = { { .vector = false }, { .vector = true } };
    *place = (struct place){ .count = 0 };
    for (unsigned i = 0; i < PASSING_WORDS && i * sizeof(uint64_t) < size; i++) {
        struct result_register *wanted = &next[passing->words[i] == PASSING_VECTOR && !mixed];
        struct load_program program;
        if (passing->words[i] == PASSING_NOTHING)
            return i ? MISSING_NOT : MISSING_IN_PARTS;
        if (!moment_find_register(m, *wanted, &program))
            return MISSING_RESULT_PLACE;
        wanted->number++;
        place_add_piece(place, sizeof(uint64_t), &program, true);
    }
    return MISSING_NOT;
}

/* Where the result waits. A large one is in memory, and what waits is its address. */
enum missing moment_place_result(const struct argument_moment *m, struct argument_part *part)
{
    Dwarf_Die type = part->type;
    if (m->own > 0)
        return MISSING_INLINED;
    if (!type_strip(&type))
        return MISSING_DAMAGED;
    const uint64_t size = type_size(&type);
    const bool is_class = type_is_class(&type);
    const struct passing passing = is_class ? passing_of_class(&type) : (struct passing){ .known = size > 0 };
    struct load_program program;
    if (!passing.known || (is_class && passing.floats && m->at.machine->find_address && !passing.by_address))
        return MISSING_IN_PARTS;
    const bool is_float = type_kind(&type) == ARGUMENT_FLOAT, is_long_double = is_float && type_is_long_double(&type);
    if (!is_class && size > sizeof(uint64_t) && !is_long_double)
        return MISSING_WIDE;
    if (is_class && !passing.by_address && !passing.in_memory)
        return moment_place_words(m, &passing, size, &part->place);
    if (!(is_class ? moment_find_address(m, &program)
                   : moment_find_register(m, (struct result_register){ .vector = is_float, .wide = is_long_double },
                                          &program)))
        return MISSING_RESULT_PLACE;
    part->place = place_of(&program, !is_class && !is_long_double);
    return MISSING_NOT;
}

/* ---- parameters that a copy of the function does not have ---- */

/* What a place needs: registers in general, and those that no call keeps. */
static bool moment_needs_registers(const struct argument_moment *m, const struct place *place, bool *lost)
{
    bool any = false;
    for (unsigned i = 0; i < place->count; i++)
        for (unsigned j = 0; j < place->pieces[i].program.count; j++) {
            const struct load *l = &place->pieces[i].program.loads[j];
            any |= l->op == LOAD_REGISTER || l->op == LOAD_VECTOR;
            *lost |= l->op == LOAD_VECTOR || (l->op == LOAD_REGISTER && !(m->at.machine->kept >> l->operand & 1));
        }
    return any;
}

/* Whether the caller pushes it. */
static bool moment_is_place_pushed(const struct argument_moment *m, const struct place *place)
{
    struct frame_word word;
    return place->count && !place->pieces[0].is_value && place->pieces[0].program.count &&
           moment_frame_word(m, &place->pieces[0].program, &word) && moment_is_pushed(m, &word);
}

/* A search for a parameter that is listed before another one, and has the same place. */
struct moment_same {
    const struct argument_moment *m;
    const struct place *place;
    const void *parameter;
    bool found;
};

static bool moment_is_same(const struct load_program *a, const struct load_program *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; same && i < a->count; i++)
        same = a->loads[i].op == b->loads[i].op && a->loads[i].operand == b->loads[i].operand &&
               a->loads[i].number == b->loads[i].number;
    return same;
}

static bool moment_find_same(void *data, Dwarf_Die *parameter)
{
    struct moment_same *s = data;
    struct place place;
    if (parameter->addr == s->parameter)
        return false;
    s->found |= !place_find(&place, parameter, &s->m->at) && place.count && s->place->count &&
                moment_is_same(&place.pieces[0].program, &s->place->pieces[0].program);
    return true;
}

/* GCC leaves parameters out of a copy of a function that needs fewer. It lists them behind the others, and can state
 * the registers and words in which they come to the function itself. In the copy, these have others, or anything. */
static bool moment_is_left_out(const struct argument_moment *m, Dwarf_Die *parameter, const struct place *place)
{
    struct moment_same same = { .m = m, .place = place, .parameter = parameter->addr };
    const Dwarf_Die *function = &m->chain.functions[m->own];
    bool lost = false;
    if ((m->own == 0 && m->call->begin == m->call->function) || !moment_is_of_gcc(m) ||
        !moment_needs_registers(m, place, &lost))
        return false;
    if (parameter_is_listed_late(function, parameter))
        return true;
    function_each_parameter(function, moment_find_same, &same);
    return m->own == 0 && (lost || same.found || moment_is_place_pushed(m, place));
}

enum missing moment_place_parameter(const struct argument_moment *m, const char *name, struct argument_part *part)
{
    Dwarf_Die parameter;
    if (!function_find_parameter(&m->chain.functions[m->own], name, &parameter))
        return MISSING_OPTIMISED_OUT;
    enum missing missing = place_find(&part->place, &parameter, &m->at);
    if (missing == MISSING_OPTIMISED_OUT && moment_find_entered(m, &parameter, &part->place))
        return MISSING_NOT;
    if (!missing && moment_is_left_out(m, &parameter, &part->place))
        return MISSING_OPTIMISED_OUT;
    if (!missing && !moment_follow_address(m, &parameter, &part->place))
        return MISSING_COMPUTED;
    if (missing || moment_is_stored(m, &part->place) || moment_find_spilled(m, name, &part->place))
        return missing;
    return MISSING_NOT_STORED;
}
