/* Translates location expressions of DWARF into programs of loads. */
#include "arguments/place.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/argument_type.h"

enum {
    MOST_OPERATIONS = 64,
    MOST_NESTED = 3, /* a frame base, and what that is relative to */
    WHOLE = 8,
};

/* An expression while it is translated. */
struct place_reader {
    const struct place_at *at;
    Dwarf_Attribute *attribute;
    struct load_program program;
    bool is_value, in_register;
    bool is_unsigned; /* a word was converted to an unsigned number of eight bytes */
    int nested;
};

static enum missing place_read_all(struct place_reader *r, const Dwarf_Op *ops, size_t count);

static enum missing place_add(struct place_reader *r, enum load_op op, unsigned operand, int64_t number)
{
    return load_add(&r->program, op, operand, number) ? MISSING_NOT : MISSING_COMPUTED;
}

static enum missing place_push_register(struct place_reader *r, uint64_t number)
{
    const struct argument_machine *machine = r->at->machine;
    if (number < machine->general)
        return machine->lost >> number & 1 ? MISSING_OPTIMISED_OUT : place_add(r, LOAD_REGISTER, (unsigned)number, 0);
    if (number >= machine->vector_first && number - machine->vector_first < machine->vectors)
        return place_add(r, LOAD_VECTOR, (unsigned)(number - machine->vector_first), 0);
    return MISSING_COMPUTED;
}

static enum missing place_push_base(struct place_reader *r, uint64_t number, int64_t offset)
{
    const enum missing missing = number < r->at->machine->general ? place_push_register(r, number) : MISSING_COMPUTED;
    return missing || !offset ? missing : place_add(r, LOAD_ADD, 0, offset);
}

/* The address of the frame, which is that of the caller's stack at the call. */
static enum missing place_push_frame(struct place_reader *r)
{
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *ops;
    size_t count;
    if (r->nested >= MOST_NESTED || !r->at->frames || dwarf_cfi_addrframe(r->at->frames, r->at->frames_pc, &frame) != 0)
        return MISSING_DAMAGED;
    enum missing missing = MISSING_DAMAGED;
    r->nested++;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count)
        missing = place_read_all(r, ops, count);
    r->nested--;
    free(frame);
    r->is_value = false;
    return missing;
}

/* A register as frame base means what it holds. */
static enum missing place_push_frame_base(struct place_reader *r, int64_t offset)
{
    Dwarf_Attribute attribute, *const outer = r->attribute;
    Dwarf_Op *ops;
    size_t count;
    if (r->nested >= MOST_NESTED || !dwarf_attr_integrate(r->at->function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation_addr(&attribute, r->at->pc, &ops, &count, 1) != 1)
        return MISSING_DAMAGED;
    r->attribute = &attribute;
    r->nested++;
    enum missing missing = place_read_all(r, ops, count);
    r->nested--;
    r->attribute = outer;
    r->is_value = r->in_register = false;
    return missing || !offset ? missing : place_add(r, LOAD_ADD, 0, offset);
}

static enum missing place_push_implicit(struct place_reader *r, const Dwarf_Op *op)
{
    Dwarf_Block block;
    int64_t number = 0;
    if (dwarf_getlocation_implicit_value(r->attribute, op, &block) != 0)
        return MISSING_DAMAGED;
    if (block.length > sizeof number)
        return MISSING_WIDE;
    memcpy(&number, block.data, block.length);
    r->is_value = true;
    return place_add(r, LOAD_NUMBER, 0, number);
}

/* An address in a table of them, as with -gsplit-dwarf. */
static enum missing place_push_indexed(struct place_reader *r, const Dwarf_Op *op)
{
    Dwarf_Attribute result;
    Dwarf_Addr address;
    Dwarf_Word number;
    if (dwarf_getlocation_attr(r->attribute, op, &result) != 0)
        return MISSING_DAMAGED;
    if (dwarf_formaddr(&result, &address) == 0)
        return place_add(r, LOAD_MODULE, 0, (int64_t)(address + r->at->bias));
    return dwarf_formudata(&result, &number) == 0 ? place_add(r, LOAD_NUMBER, 0, (int64_t)number) : MISSING_DAMAGED;
}

/* A conversion to another integer type; without a type, to the width of an address. */
static enum missing place_convert(struct place_reader *r, const Dwarf_Op *op)
{
    Dwarf_Die type;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    if (op->number == 0)
        return MISSING_NOT;
    if (dwarf_getlocation_die(r->attribute, op, &type) != 0 || !dwarf_attr(&type, DW_AT_encoding, &attribute) ||
        dwarf_formudata(&attribute, &encoding) != 0)
        return MISSING_DAMAGED;
    const int size = dwarf_bytesize(&type);
    const bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
    const bool is_unsigned =
        encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_boolean;
    if (size < 1 || size > WHOLE || !(is_signed || is_unsigned))
        return MISSING_COMPUTED;
    r->is_unsigned |= is_unsigned && size == WHOLE;
    return place_add(r, is_signed ? LOAD_SIGNED : LOAD_UNSIGNED, 8 * (unsigned)size, 0);
}

/* Operations that stand for one instruction. LOAD_OPS if it is none of them. */
static enum load_op place_simple(unsigned atom)
{
    static const struct {
        uint8_t atom, op;
    } simple[] = {
        { DW_OP_plus, LOAD_SUM },
        { DW_OP_minus, LOAD_DIFFERENCE },
        { DW_OP_mul, LOAD_PRODUCT },
        { DW_OP_and, LOAD_AND },
        { DW_OP_or, LOAD_OR },
        { DW_OP_xor, LOAD_XOR },
        { DW_OP_shl, LOAD_LEFT },
        { DW_OP_shr, LOAD_RIGHT },
        { DW_OP_shra, LOAD_RIGHT_SIGNED },
        { DW_OP_neg, LOAD_NEGATE },
        { DW_OP_not, LOAD_INVERT },
        { DW_OP_eq, LOAD_EQUAL },
        { DW_OP_ne, LOAD_NOT_EQUAL },
        { DW_OP_lt, LOAD_LESS },
        { DW_OP_le, LOAD_LESS_EQUAL },
    };
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (simple[i].atom == atom)
            return (enum load_op)simple[i].op;
    return LOAD_OPS;
}

static bool place_is_number(unsigned atom)
{
    return (atom >= DW_OP_const1u && atom <= DW_OP_consts) || (atom >= DW_OP_lit0 && atom <= DW_OP_lit31);
}

/* Operations that change the order of words, which become other instructions. False if it is none. */
static bool place_arrange(struct place_reader *r, const Dwarf_Op *op, enum missing *missing)
{
    struct load_program *p = &r->program;
    bool good;
    switch (op->atom) {
    case DW_OP_dup:
        good = load_add_copy(p, 0);
        break;
    case DW_OP_over:
        good = load_add_copy(p, 1);
        break;
    case DW_OP_pick:
        good = load_add_copy(p, (unsigned)op->number);
        break;
    case DW_OP_swap:
        good = load_swap(p);
        break;
    case DW_OP_drop:
        good = load_drop(p);
        break;
    case DW_OP_gt:
        good = load_swap(p) && load_add(p, LOAD_LESS, 0, 0);
        break;
    case DW_OP_ge:
        good = load_swap(p) && load_add(p, LOAD_LESS_EQUAL, 0, 0);
        break;
    default:
        return false;
    }
    *missing = good ? MISSING_NOT : MISSING_COMPUTED;
    return true;
}

/* How GCC chooses one of two words, such as the smaller one: a branch over a swap, and a drop. */
static bool place_is_choice(const Dwarf_Op *ops, size_t count)
{
    enum { BRANCH_BYTES = 3 };
    return count >= 3 && ops[0].atom == DW_OP_bra && ops[1].atom == DW_OP_swap && ops[2].atom == DW_OP_drop &&
           ops[0].offset + BRANCH_BYTES + ops[0].number == ops[2].offset;
}

/* Whether the operation names a floating-point type of that size. */
static bool place_is_float(const struct place_reader *r, const Dwarf_Op *op, int size)
{
    Dwarf_Die type;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    return dwarf_getlocation_die(r->attribute, op, &type) == 0 && dwarf_bytesize(&type) == size &&
           dwarf_attr(&type, DW_AT_encoding, &attribute) && dwarf_formudata(&attribute, &encoding) == 0 &&
           encoding == DW_ATE_float && !type_is_quad(&type);
}

/* A long double that is given as a double: it is loaded and converted. */
static bool place_is_narrowed(const struct place_reader *r, const Dwarf_Op *ops, size_t count)
{
    enum { LONG_DOUBLE = 16 };
    return count >= 2 && ops[0].atom == DW_OP_deref_type && ops[0].number == LONG_DOUBLE &&
           ops[1].atom == DW_OP_convert && place_is_float(r, &ops[0], LONG_DOUBLE) && place_is_float(r, &ops[1], WHOLE);
}

/* The operations with operands. */
static enum missing place_read_other(struct place_reader *r, const Dwarf_Op *op)
{
    switch (op->atom) {
    case DW_OP_addr:
        return place_add(r, LOAD_MODULE, 0, (int64_t)(op->number + r->at->bias));
    case DW_OP_addrx:
    case DW_OP_constx:
    case DW_OP_GNU_addr_index:
    case DW_OP_GNU_const_index:
        return place_push_indexed(r, op);
    case DW_OP_regx:
        r->is_value = r->in_register = true;
        return place_push_register(r, op->number);
    case DW_OP_bregx:
        return place_push_base(r, op->number, (int64_t)op->number2);
    case DW_OP_fbreg:
        return place_push_frame_base(r, (int64_t)op->number);
    case DW_OP_call_frame_cfa:
        return place_push_frame(r);
    case DW_OP_deref:
        return place_add(r, LOAD_MEMORY, WHOLE, 0);
    case DW_OP_deref_size:
        return op->number >= 1 && op->number <= WHOLE ? place_add(r, LOAD_MEMORY, (unsigned)op->number, 0)
                                                      : MISSING_DAMAGED;
    case DW_OP_div: /* with signs, but for such a type */
        return r->is_unsigned ? MISSING_COMPUTED : place_add(r, LOAD_DIVIDE, 0, 0);
    case DW_OP_plus_uconst:
        return place_add(r, LOAD_ADD, 0, (int64_t)op->number);
    case DW_OP_stack_value:
        r->is_value = true;
        return MISSING_NOT;
    case DW_OP_implicit_value:
        return place_push_implicit(r, op);
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
    case DW_OP_implicit_pointer:
    case DW_OP_GNU_implicit_pointer:
        return MISSING_OPTIMISED_OUT;
    case DW_OP_convert:
    case DW_OP_GNU_convert:
        return place_convert(r, op);
    case DW_OP_nop:
        return MISSING_NOT;
    default:
        return MISSING_COMPUTED;
    }
}

static enum missing place_read(struct place_reader *r, const Dwarf_Op *op)
{
    const unsigned atom = op->atom;
    const enum load_op simple = place_simple(atom);
    enum missing missing;
    if (simple != LOAD_OPS)
        return place_add(r, simple, 0, 0);
    if (place_arrange(r, op, &missing))
        return missing;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        return place_add(r, LOAD_NUMBER, 0, atom - DW_OP_lit0);
    if (place_is_number(atom))
        return place_add(r, LOAD_NUMBER, 0, (int64_t)op->number);
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return place_push_base(r, atom - DW_OP_breg0, (int64_t)op->number);
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        r->is_value = r->in_register = true;
        return place_push_register(r, atom - DW_OP_reg0);
    }
    return place_read_other(r, op);
}

/* Reads the first operations, and sets *used to their number. */
static enum missing place_read_next(struct place_reader *r, const Dwarf_Op *ops, size_t count, size_t *used)
{
    const bool is_choice = place_is_choice(ops, count), is_narrowed = place_is_narrowed(r, ops, count);
    *used = is_choice ? 3 : is_narrowed ? 2 : 1;
    if (is_narrowed)
        return place_add(r, LOAD_LONG_DOUBLE, r->at->machine->long_double, 0);
    return is_choice ? place_add(r, LOAD_SELECT, 0, 0) : place_read(r, ops);
}

static enum missing place_read_all(struct place_reader *r, const Dwarf_Op *ops, size_t count)
{
    size_t used;
    if (count > MOST_OPERATIONS)
        return MISSING_COMPUTED;
    for (size_t i = 0; i < count; i += used) {
        const enum missing missing = place_read_next(r, &ops[i], count - i, &used);
        if (missing)
            return missing;
    }
    return MISSING_NOT;
}

/* ---- pieces ---- */

static bool place_loads_memory(const struct load_program *program)
{
    bool loads = false;
    for (unsigned i = 0; i < program->count; i++)
        loads |= program->loads[i].op == LOAD_MEMORY;
    return loads;
}

/* Whether a program begins with an address in the frame. Code can use the register of the frame for others. */
static bool place_is_of_frame(const struct place_at *at, const struct load_program *program)
{
    struct load_program frame;
    const struct load *first = program->loads;
    if (program->count == 0 || first->op != LOAD_REGISTER || place_loads_memory(program))
        return false;
    return first->operand == at->machine->stack ||
           (first->operand == at->machine->frame && place_frame(at, &frame) && frame.loads[0].op == LOAD_REGISTER &&
            frame.loads[0].operand == first->operand);
}

/* Pointers can be addresses in the frame. clang 14 states that of other values that it has moved there and converts,
 * such as truths: it leaves out the load. */
static bool place_is_doubtful(const struct place_piece *piece, uint64_t size)
{
    bool computed = size < WHOLE;
    for (unsigned i = 1; i < piece->program.count; i++)
        computed |= piece->program.loads[i].op != LOAD_ADD;
    return piece->is_value && piece->of_frame && computed;
}

/* Ends a piece. One without operations is nowhere. */
static enum missing place_end_piece(struct place *place, struct place_reader *r, uint64_t size)
{
    const struct place_piece *before = place->count ? &place->pieces[place->count - 1] : NULL;
    if (place->count == PLACE_PIECES)
        return MISSING_IN_PARTS;
    if (r->program.count && !load_check(&r->program))
        return MISSING_DAMAGED;
    place->pieces[place->count++] = (struct place_piece){
        .begin = before ? before->begin + before->size : 0,
        .size = size,
        .known = r->program.count > 0,
        .is_value = r->is_value,
        .of_frame = r->is_value && place_is_of_frame(r->at, &r->program),
        .program = r->program,
    };
    r->program.count = 0;
    r->is_value = r->in_register = false;
    return MISSING_NOT;
}

static enum missing place_read_pieces(struct place *place, struct place_reader *r, const Dwarf_Op *ops, size_t count)
{
    enum missing missing = MISSING_NOT;
    bool pieces = false;
    for (size_t i = 0, used = 1; i < count && !missing; i += used) {
        pieces |= ops[i].atom == DW_OP_piece;
        if (ops[i].atom == DW_OP_piece) {
            missing = place_end_piece(place, r, ops[i].number);
            used = 1;
        } else {
            missing = place_read_next(r, &ops[i], count - i, &used);
        }
    }
    return missing || pieces ? missing : place_end_piece(place, r, UINT64_MAX);
}

static enum missing place_of_constant(struct place *place, Dwarf_Attribute *attribute)
{
    struct load_program program = { .count = 0 };
    Dwarf_Sword number;
    Dwarf_Block block;
    if (dwarf_formsdata(attribute, &number) != 0) {
        if (dwarf_formblock(attribute, &block) != 0 || block.length > sizeof number)
            return MISSING_COMPUTED;
        number = 0;
        memcpy(&number, block.data, block.length);
    }
    load_add(&program, LOAD_NUMBER, 0, number);
    *place = place_of(&program, true);
    return MISSING_NOT;
}

enum missing place_find(struct place *place, Dwarf_Die *variable, const struct place_at *at)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    *place = (struct place){ .count = 0 };
    if (dwarf_attr(variable, DW_AT_const_value, &attribute))
        return place_of_constant(place, &attribute);
    if (!dwarf_attr(variable, DW_AT_location, &attribute))
        return MISSING_OPTIMISED_OUT;
    const int found = dwarf_getlocation_addr(&attribute, at->pc, &ops, &count, 1);
    if (found < 0)
        return MISSING_DAMAGED;
    if (found == 0 || count == 0)
        return MISSING_OPTIMISED_OUT;
    if (count > MOST_OPERATIONS)
        return MISSING_COMPUTED;
    struct place_reader r = { .at = at, .attribute = &attribute };
    place->everywhere = dwarf_whatform(&attribute) == DW_FORM_exprloc || dwarf_whatform(&attribute) == DW_FORM_block1;
    return place_read_pieces(place, &r, ops, count);
}

bool place_frame(const struct place_at *at, struct load_program *program)
{
    struct place_reader r = { .at = at };
    if (place_push_frame(&r) || !load_check(&r.program))
        return false;
    *program = r.program;
    return true;
}

struct place place_of(const struct load_program *program, bool is_value)
{
    struct place place = { .count = 1 };
    place.pieces[0] =
        (struct place_piece){ .size = UINT64_MAX, .known = true, .is_value = is_value, .program = *program };
    return place;
}

void place_add_piece(struct place *place, uint64_t size, const struct load_program *program, bool is_value)
{
    const struct place_piece *before = place->count ? &place->pieces[place->count - 1] : NULL;
    if (place->count == PLACE_PIECES)
        return;
    place->pieces[place->count++] = (struct place_piece){
        .begin = before ? before->begin + before->size : 0,
        .size = size,
        .known = program->count > 0,
        .is_value = is_value,
        .program = *program,
    };
}

/* The piece that has all these bytes. NULL if none has. */
static const struct place_piece *place_piece_of(const struct place *place, uint64_t size)
{
    for (unsigned i = 0; i < place->count; i++) {
        const struct place_piece *piece = &place->pieces[i];
        if (place->offset >= piece->begin && place->offset - piece->begin < piece->size &&
            size <= piece->size - (place->offset - piece->begin))
            return piece;
    }
    return NULL;
}

bool place_address(const struct place *place, uint64_t size, struct load_program *program)
{
    const struct place_piece *piece = place_piece_of(place, size);
    if (!piece || !piece->known || piece->is_value)
        return false;
    const uint64_t inside = place->offset - piece->begin;
    *program = piece->program;
    return (!inside || load_add(program, LOAD_ADD, 0, (int64_t)inside)) && load_check(program);
}

enum missing place_load(const struct place *place, uint64_t size, struct load_program *program)
{
    if (size == 0 || size > WHOLE)
        return MISSING_WIDE;
    const struct place_piece *piece = place_piece_of(place, size);
    if (!piece || !piece->known)
        return piece ? MISSING_OPTIMISED_OUT : MISSING_IN_PARTS;
    if (place_is_doubtful(piece, size))
        return MISSING_COMPUTED;
    const uint64_t inside = place->offset - piece->begin;
    bool added = true;
    *program = piece->program;
    if (!piece->is_value) {
        added = (!inside || load_add(program, LOAD_ADD, 0, (int64_t)inside)) &&
                load_add(program, LOAD_MEMORY, (unsigned)size, 0);
    } else if (inside >= WHOLE || size > WHOLE - inside) {
        return MISSING_WIDE;
    } else {
        added = (!inside ||
                 (load_add(program, LOAD_NUMBER, 0, (int64_t)(8 * inside)) && load_add(program, LOAD_RIGHT, 0, 0))) &&
                load_add(program, LOAD_UNSIGNED, 8 * (unsigned)size, 0);
    }
    if (!added)
        return MISSING_COMPUTED;
    return load_check(program) ? MISSING_NOT : MISSING_DAMAGED;
}
