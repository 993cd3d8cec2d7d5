#include "value_source.h"

static bool source_extends(const struct load *l)
{
    return l->op == LOAD_SIGNED || l->op == LOAD_UNSIGNED;
}

/* Takes an addition if there is one. False if it does not fit. */
static bool source_take_addition(const struct load_program *program, uint32_t *at, int32_t *add)
{
    *add = 0;
    while (*at < program->count && source_extends(&program->loads[*at]) && program->loads[*at].operand == 64)
        ++*at; /* it changes nothing */
    if (*at == program->count || program->loads[*at].op != LOAD_ADD)
        return true;
    const int64_t number = program->loads[(*at)++].number;
    *add = (int32_t)number;
    return *add == number;
}

/* Takes additions and loads up to what ends the program. A load of less than 8 bytes is the last one. */
static bool source_take_loads(const struct load_program *program, uint32_t *at, struct value_source *source)
{
    while (source_take_addition(program, at, &source->add[source->loads])) {
        if (*at == program->count || program->loads[*at].op != LOAD_MEMORY)
            return true;
        if (source->loads == SOURCE_LOADS || source->bytes != 8)
            return false;
        source->loads++;
        source->bytes = program->loads[(*at)++].operand;
    }
    return false;
}

/* What is loaded has zeros above its bytes. */
static void source_set_shift(struct value_source *source, const struct load *extension)
{
    const uint8_t bits = (uint8_t)(8 * source->bytes);
    const bool narrows = extension && extension->operand <= bits;
    source->shift = (uint8_t)(64 - (narrows ? extension->operand : bits));
    source->is_signed = narrows && extension->op == LOAD_SIGNED;
}

/* Takes a register, and what follows it. */
static bool source_take(const struct load_program *program, uint32_t *at, struct value_source *source)
{
    const struct load *l = &program->loads[*at];
    *source = (struct value_source){ .number = l->operand, .bytes = 8 };
    if (*at == program->count || l->op != LOAD_REGISTER)
        return false;
    ++*at;
    return source_take_loads(program, at, source);
}

/* The address of a text is followed by its length: a word, as it is. */
static bool source_take_length(const struct load_program *program, uint32_t at, struct value_source *length)
{
    return source_take(program, &at, length) && program->count - at == 1 &&
           program->loads[at].op == LOAD_TEXT_COUNTED && length->bytes == 8 && length->add[length->loads] == 0;
}

bool value_source_of(const struct load_program *program, struct value_source *source, struct value_source *length)
{
    uint32_t at = 0;
    if (program->count == 1 && program->loads[0].op == LOAD_CPU) {
        *source = (struct value_source){ .is_cpu = true };
        return true;
    }
    if (!source_take(program, &at, source))
        return false;
    const uint32_t left = program->count - at;
    const struct load *l = program->loads + at;
    source->is_counted = left > 1 && source->bytes == 8 && source_take_length(program, at, length);
    source->is_text = source->is_counted || (left == 1 && l->op == LOAD_TEXT);
    if (source->is_text)
        return source->bytes == 8;
    const bool extends = left == 1 && source_extends(l);
    source_set_shift(source, extends ? l : NULL);
    return (!left || extends) && source->add[source->loads] == 0;
}
