/* The errors of all open sessions are in a list; of closed ones, the first is kept. */
#include "trace/read_error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"

struct read_error {
    int value;
    struct read_error *next;
};

static pthread_mutex_t read_errors_lock = PTHREAD_MUTEX_INITIALIZER;
static struct read_error *read_errors; /* the newest first */
static int read_error_left;            /* of a session that is closed */

struct read_error *read_error_new(void)
{
    struct read_error *e = need_memory(1, sizeof *e);
    pthread_mutex_lock(&read_errors_lock);
    e->next = read_errors;
    read_errors = e;
    pthread_mutex_unlock(&read_errors_lock);
    return e;
}

void read_error_free(struct read_error *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&read_errors_lock);
    struct read_error **place = &read_errors;
    while (*place != e)
        place = &(*place)->next;
    *place = e->next;
    read_error_left = read_error_left ? read_error_left : e->value;
    pthread_mutex_unlock(&read_errors_lock);
    free(e);
}

void read_error_note(struct read_error *e, int value)
{
    int none = 0;
    if (e)
        __atomic_compare_exchange_n(&e->value, &none, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int read_error_take(struct read_error *e)
{
    return e ? __atomic_exchange_n(&e->value, 0, __ATOMIC_RELAXED) : 0;
}

int read_error_take_any(void)
{
    pthread_mutex_lock(&read_errors_lock);
    int oldest = 0;
    for (struct read_error *e = read_errors; e; e = e->next) {
        const int value = read_error_take(e);
        oldest = value ? value : oldest;
    }
    const int first = read_error_left ? read_error_left : oldest;
    read_error_left = 0;
    pthread_mutex_unlock(&read_errors_lock);
    return first;
}
