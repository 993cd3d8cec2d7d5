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

bool value_source_of(const struct load_program *program, struct value_source *source)
{
    const struct load *l = program->loads;
    uint32_t at = 1;
    *source = (struct value_source){ .number = l->operand, .bytes = 8 };
    if (!program->count || l->op != LOAD_REGISTER || !source_take_loads(program, &at, source))
        return false;
    const uint32_t left = program->count - at;
    l += at;
    source->is_text = left == 1 && l->op == LOAD_TEXT;
    if (source->is_text)
        return source->bytes == 8;
    const bool extends = left == 1 && source_extends(l);
    source_set_shift(source, extends ? l : NULL);
    return (!left || extends) && source->add[source->loads] == 0;
}
