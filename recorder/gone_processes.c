/* Notes which processes have ended, for the thread that gives their space to others. */
#include "recorder/gone_processes.h"

#include <stdlib.h>

#include "base/memory.h"

void gone_processes_begin(struct gone_processes *g, bool wanted)
{
    *g = (struct gone_processes){ .wanted = wanted };
    pthread_mutex_init(&g->lock, NULL);
}

void gone_processes_add(struct gone_processes *g, uint32_t serial)
{
    if (!g->wanted)
        return;
    pthread_mutex_lock(&g->lock);
    GROW(g->serials, g->count, g->room);
    g->serials[g->count++] = serial;
    pthread_mutex_unlock(&g->lock);
}

void gone_processes_take(struct gone_processes *g, uint32_t **list, size_t *count, size_t *room)
{
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < g->count; i++) {
        GROW(*list, *count, *room);
        (*list)[(*count)++] = g->serials[i];
    }
    g->count = 0;
    pthread_mutex_unlock(&g->lock);
}

void gone_processes_end(struct gone_processes *g)
{
    free(g->serials);
    pthread_mutex_destroy(&g->lock);
}
