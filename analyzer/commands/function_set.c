/* Modules have numbers, and a table has the functions by offset and module. */
#include "commands/function_set.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"

struct function_set {
    pthread_mutex_t lock;
    struct symbol_module *modules; /* with texts of their own */
    size_t count, room;
    struct number_index *functions;
};

struct function_set *function_set_new(void)
{
    struct function_set *s = need_memory(1, sizeof *s);
    *s = (struct function_set){ .functions = index_new() };
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void function_set_free(struct function_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free((char *)s->modules[i].path);
        free((uint8_t *)s->modules[i].build_id);
    }
    free(s->modules);
    index_free(s->functions);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static size_t function_set_find_module(const struct function_set *s, const struct symbol_module *m)
{
    size_t i = 0;
    while (i < s->count &&
           !(m->build_id_length ? symbol_module_has_id_of(&s->modules[i], m) : symbol_module_equals(&s->modules[i], m)))
        i++;
    return i;
}

static uint32_t function_set_module(struct function_set *s, const struct symbol_module *m)
{
    const size_t found = function_set_find_module(s, m);
    if (found < s->count)
        return (uint32_t)found;
    uint8_t *id = need_memory(m->build_id_length + 1, 1);
    if (m->build_id_length)
        memcpy(id, m->build_id, m->build_id_length);
    GROW(s->modules, s->count, s->room);
    s->modules[s->count] = (struct symbol_module){ need_copy(m->path, strlen(m->path)), id, m->build_id_length };
    return (uint32_t)s->count++;
}

void function_set_add(struct function_set *s, const struct symbol_module *module, uint64_t offset)
{
    pthread_mutex_lock(&s->lock);
    const uint32_t number = function_set_module(s, module);
    struct index_slot *slot = index_find(s->functions, offset, number);
    if (!slot->value_plus_1)
        index_set(s->functions, slot, offset, number, 0);
    pthread_mutex_unlock(&s->lock);
}

bool function_set_has(struct function_set *s, const struct symbol_module *module, uint64_t offset)
{
    pthread_mutex_lock(&s->lock);
    const size_t number = function_set_find_module(s, module);
    const bool has = number < s->count && index_find(s->functions, offset, (uint32_t)number)->value_plus_1;
    pthread_mutex_unlock(&s->lock);
    return has;
}
