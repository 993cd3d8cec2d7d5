/* The environment of a program that dwell starts: dwell's own, with changes. dwell's own stays as it is. */
#ifndef DWELL_BASE_CHILD_ENVIRONMENT_H
#define DWELL_BASE_CHILD_ENVIRONMENT_H

#include <stddef.h>

struct child_environment {
    char **list; /* "NAME=VALUE", ended by NULL, for execve */
    size_t count, room;
};

/* A copy of dwell's own. child_environment_drop frees it. */
struct child_environment child_environment_copy(void);
void child_environment_drop(struct child_environment *e);

/* Sets a variable. */
void child_environment_set(struct child_environment *e, const char *name, const char *value);
void child_environment_set_number(struct child_environment *e, const char *name, unsigned long number);

/* Appends to the value, after a colon. An empty value counts as none. */
void child_environment_append(struct child_environment *e, const char *name, const char *value);

#endif
