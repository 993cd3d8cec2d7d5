/* A list of modules: a thread reads one after another, and the budget takes what it has found. */
#include "recorder/budget_short.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "recorder/service_thread.h"

struct short_module {
    uint32_t number;
    char *file;
    struct short_code found;
};

struct budget_short {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint32_t stop;                /* atomic */
    struct short_module *modules; /* in the order of the questions */
    size_t count, room;
    size_t read, taken; /* so many from the first one on */
};

static void *budget_short_run(void *argument)
{
    struct budget_short *s = argument;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (s->read == s->count) {
            pthread_cond_wait(&s->wake, &s->lock);
            continue;
        }
        const char *file = s->modules[s->read].file;
        pthread_mutex_unlock(&s->lock);
        const struct short_code found = short_code_find(file, &s->stop);
        pthread_mutex_lock(&s->lock);
        s->modules[s->read++].found = found;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

struct budget_short *budget_short_start(void)
{
    struct budget_short *s = need_memory(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    if (service_thread_start(&s->thread, budget_short_run, s))
        return s;
    free(s);
    return NULL;
}

void budget_short_ask(struct budget_short *s, uint32_t module, char *file)
{
    if (!s) {
        free(file);
        return;
    }
    pthread_mutex_lock(&s->lock);
    GROW(s->modules, s->count, s->room);
    s->modules[s->count++] = (struct short_module){ .number = module, .file = file };
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

bool budget_short_take(struct budget_short *s, uint32_t *module, struct short_code *found)
{
    if (!s)
        return false;
    pthread_mutex_lock(&s->lock);
    const bool any = s->taken < s->read;
    if (any) {
        *module = s->modules[s->taken].number;
        *found = s->modules[s->taken].found;
        s->modules[s->taken++].found = (struct short_code){ .functions = NULL };
    }
    pthread_mutex_unlock(&s->lock);
    return any;
}

void budget_short_stop(struct budget_short *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    for (size_t i = 0; i < s->count; i++) {
        free(s->modules[i].file);
        free(s->modules[i].found.functions);
    }
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s->modules);
    free(s);
}
