/* A table has the functions by offset and the module's number. */
#include "recorder/function_set.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "recorder/module_numbers.h"

struct function_set {
    pthread_mutex_t lock;
    struct module_numbers modules;
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
    module_numbers_drop(&s->modules);
    index_free(s->functions);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void function_set_add(struct function_set *s, const struct symbol_module *module, uint64_t offset)
{
    pthread_mutex_lock(&s->lock);
    const uint32_t number = module_numbers_add(&s->modules, module);
    struct index_slot *slot = index_find(s->functions, offset, number);
    if (!slot->value_plus_1)
        index_set(s->functions, slot, offset, number, 0);
    pthread_mutex_unlock(&s->lock);
}

bool function_set_has(struct function_set *s, const struct symbol_module *module, uint64_t offset)
{
    pthread_mutex_lock(&s->lock);
    const size_t number = module_numbers_find(&s->modules, module);
    const bool has = number < s->modules.count && index_find(s->functions, offset, (uint32_t)number)->value_plus_1;
    pthread_mutex_unlock(&s->lock);
    return has;
}
