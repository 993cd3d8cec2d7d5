/*
 * The environment variables by which a recording reaches a program: `DWELL_...`, and this library's entry in
 * LD_PRELOAD. The program does not see them: they are taken out of its environment when the runtime starts, and put
 * into that of each program it executes (interpose_exec.c), where the runtime takes them out again.
 */
#ifndef DWELL_ENVIRONMENT_H
#define DWELL_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* False before libc has begun: in functions of .preinit_array, and in resolvers of IFUNCs. */
bool environment_is_there(void);

/* Remembers their values. Once, before anything else asks for them. */
void environment_adopt(void);

/* Takes them out of what the program sees. */
void environment_conceal(void);

/* The value of a DWELL_ variable, or NULL. */
const char *environment_get(const char *name);

/* From now on NAME=value is as given, which has to stay where it is. One caller at a time. */
void environment_replace(char *setting);

/* Whether other processes that this one begins are to be recorded. */
bool environment_follows(void);

/* Takes them out of `list`, which ends with NULL. */
void environment_hide(char **list);

/* In a forked child: takes them out again where other threads of its parent were in system or popen. */
void environment_forked(void);

/* A copy of `list` with them put in: environment_room tells how many bytes it needs, zero if it needs no copy, or is to
 * have none. `in_place`: for a program that takes this one's place. Neither takes a lock nor memory: they may be called
 * in a child by vfork. */
size_t environment_room(char *const *list, bool in_place);
char **environment_fill(char *const *list, void *room);

#pragma GCC visibility pop

#endif
