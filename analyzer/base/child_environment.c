/* A list of environment variables for a program that dwell starts. It copies dwell's own, and sets, replaces or
 * appends values. */
#include "base/child_environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* The place of the variable, or of the NULL at the end. */
static char **child_environment_find(const struct child_environment *e, const char *name)
{
    const size_t length = strlen(name);
    char **at = e->list;
    while (*at && !(strncmp(*at, name, length) == 0 && (*at)[length] == '='))
        at++;
    return at;
}

static void child_environment_add(struct child_environment *e, char *variable)
{
    GROW(e->list, e->count, e->room);
    e->list[e->count++] = variable;
}

struct child_environment child_environment_copy(void)
{
    struct child_environment e = { 0 };
    for (char **at = environ; at && *at; at++)
        child_environment_add(&e, need_copy(*at, strlen(*at)));
    child_environment_add(&e, NULL);
    return e;
}

void child_environment_drop(struct child_environment *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->list[i]);
    free(e->list);
}

void child_environment_set(struct child_environment *e, const char *name, const char *value)
{
    char **place = child_environment_find(e, name), *variable = need_text("%s=%s", name, value);
    const bool is_new = !*place;
    free(*place);
    *place = variable;
    if (is_new)
        child_environment_add(e, NULL);
}

void child_environment_set_number(struct child_environment *e, const char *name, unsigned long number)
{
    char *text = need_text("%lu", number);
    child_environment_set(e, name, text);
    free(text);
}

void child_environment_append(struct child_environment *e, const char *name, const char *value)
{
    const char *variable = *child_environment_find(e, name);
    const char *before = variable ? variable + strlen(name) + 1 : "";
    char *both = need_text("%s%s%s", before, *before ? ":" : "", value);
    child_environment_set(e, name, both);
    free(both);
}
