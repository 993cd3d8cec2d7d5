/* Takes the levels that an overhead budget has chosen to the recorded processes. */
#ifndef DWELL_RECORDER_BUDGET_SENDING_H
#define DWELL_RECORDER_BUDGET_SENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/budget_levels.h"
#include "profile/profile.h"
#include "recorder/budget_programs.h"
#include "session.h"

enum budget_answer { BUDGET_NOBODY, BUDGET_LATER, BUDGET_REFUSED, BUDGET_DONE };

/* Sorts numbers of functions by module and offset. */
void budget_sort(struct budget_function *functions, uint32_t *numbers, size_t count);

/* Writes the levels of sorted functions into the session. `names` has the modules. Returns the offset of the chunk, or
 * zero if there is no room. */
uint64_t budget_write_levels(const struct session *session, int fd, const struct profile *names,
                             const struct budget_function *functions, const uint32_t *numbers, size_t count);

/* The levels that processes begin with, in one of two chunks in turn. Zero at first. */
struct budget_publication {
    struct budget_slot {
        uint64_t offset;
        uint32_t size;
    } slots[2];
    uint32_t number;
};

/* Publishes the levels of sorted functions for processes of the programs that have spent their allowance. False if
 * there is no room: those of before stay valid. */
bool budget_publish(struct budget_publication *p, const struct session *session, int fd, const struct profile *names,
                    const struct budget_function *functions, const uint32_t *numbers, size_t count,
                    const struct budget_programs *programs);

/* Sends the chunk to the processes that `is_told` names. It is done if any has changed a function, or is still at it;
 * refused if those that have answered can change none; BUDGET_NOBODY if none of them takes commands. */
enum budget_answer budget_post(const struct session *session, int fd, uint64_t levels,
                               bool (*is_told)(const void *of, const struct dwell_control *control), const void *of);

#endif
