/* Room for near code (near_code.h) in a program that contains the runtime: in the program's own code, so that all
 * unwinders and debuggers find how to go on above it. */
#ifndef DWELL_LEVELS_NEAR_ROOM_H
#define DWELL_LEVELS_NEAR_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "levels/hook_places.h"
#include "levels/near_code.h"

#pragma GCC visibility push(hidden)

/* Room for the code of so many functions, and what the code reads. It may be written until near_room_close, which also
 * says whether the code may run now. NULL if there is none, or if the module's code is another one's. One thread at a
 * time, before any call leads there. */
char *near_room_open(const struct hook_places *places, uint32_t count, struct near_ways **ways);
bool near_room_close(void);

/* The room may be opened again. */
void near_room_give_back(const char *at);

#pragma GCC visibility pop

#endif
