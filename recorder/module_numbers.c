/* Keeps the modules in a list, of which a program has few. */
#include "recorder/module_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool module_numbers_same(const struct symbol_module *a, const struct symbol_module *b)
{
    return b->build_id_length ? symbol_module_has_id_of(a, b) : symbol_module_equals(a, b);
}

size_t module_numbers_find(const struct module_numbers *numbers, const struct symbol_module *m)
{
    size_t i = 0;
    while (i < numbers->count && !module_numbers_same(&numbers->list[i], m))
        i++;
    return i;
}

uint32_t module_numbers_add(struct module_numbers *numbers, const struct symbol_module *m)
{
    const size_t found = module_numbers_find(numbers, m);
    if (found < numbers->count)
        return (uint32_t)found;
    uint8_t *id = need_memory(m->build_id_length + 1, 1);
    if (m->build_id_length)
        memcpy(id, m->build_id, m->build_id_length);
    GROW(numbers->list, numbers->count, numbers->room);
    numbers->list[numbers->count] =
        (struct symbol_module){ need_copy(m->path, strlen(m->path)), id, m->build_id_length };
    return (uint32_t)numbers->count++;
}

void module_numbers_drop(struct module_numbers *numbers)
{
    for (size_t i = 0; i < numbers->count; i++) {
        free((char *)numbers->list[i].path);
        free((uint8_t *)numbers->list[i].build_id);
    }
    free(numbers->list);
}
