/* Takes the levels that an overhead budget has chosen to the recorded processes. */
#ifndef DWELL_COMMANDS_BUDGET_SENDING_H
#define DWELL_COMMANDS_BUDGET_SENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/budget_levels.h"
#include "profile/profile.h"
#include "session.h"

enum budget_answer { BUDGET_LATER, BUDGET_REFUSED, BUDGET_DONE };

/* Sorts numbers of functions by module and offset. */
void budget_sort(struct budget_function *functions, uint32_t *numbers, size_t count);

/* Writes the levels of sorted functions into the session. `names` has the modules. Returns the offset of the chunk, or
 * zero if there is no room. */
uint64_t budget_write_levels(const struct session *session, int fd, const struct profile *names,
                             const struct budget_function *functions, const uint32_t *numbers, size_t count);

/* Sends the chunk to the processes that `is_told` names by their serial numbers. It is done if any has changed a
 * function, or is still at it; refused if those that have answered can change none. */
enum budget_answer budget_post(const struct session *session, int fd, uint64_t levels,
                               bool (*is_told)(const void *of, uint32_t process), const void *of);

#endif
