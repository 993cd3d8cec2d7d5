/* The environment variables that carry a recording into a program: `DWELL_...`, and this library's entry in LD_PRELOAD.
 * The program does not see them. The runtime removes them from the environment when it starts. interpose_exec.c puts
 * them into that of each executed program, where the runtime removes them again. */
#ifndef DWELL_ENVIRONMENT_H
#define DWELL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Returns false before libc has begun: in functions of .preinit_array and in resolvers of IFUNCs. */
bool environment_is_there(void);

/* Copies the variables, in place of earlier ones. Called before the other functions. */
void environment_adopt(void);

/* Removes the variables from the program's environment. */
void environment_conceal(void);

/* Returns the value of a DWELL_ variable, or NULL. */
const char *environment_get(const char *name);

/* Replaces a variable by NAME=value. The text is not copied and has to stay in place. One caller at a time. */
void environment_replace(char *setting);

/* Returns whether child processes are recorded, too. */
bool environment_follows(void);

/* Whether the program was started in this process. False in its children, even in those by vfork. */
bool environment_is_first_process(void);

/* Removes the variables from `list`, which ends with NULL. */
void environment_hide(char **list);

/* Makes a copy of `list` that contains the variables. environment_room returns the bytes it needs, or zero if no copy
 * is needed or allowed. environment_fill writes it to `room`, of that size, and returns it. `in_place`: the executed
 * program replaces this one. `preload`: with LD_PRELOAD, the same for both. Neither takes a lock or memory, so both may
 * be called in a child by vfork. */
size_t environment_room(char *const *list, bool in_place, bool preload);
char **environment_fill(char *const *list, void *room, bool preload);

#pragma GCC visibility pop

#endif
