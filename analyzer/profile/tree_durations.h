/* Reads the durations of calls that a session of sums has (dwell/format_sums.h). */
#ifndef DWELL_PROFILE_TREE_DURATIONS_H
#define DWELL_PROFILE_TREE_DURATIONS_H

#include "profile/durations.h"
#include "profile/tree_sums.h"

/* Whether a writer makes such a row. */
bool tree_durations_can_be(const struct dwell_duration_row *row);

/* Adds a row to the durations of its node. False if it cannot be. */
bool tree_durations_add_row(struct durations **d, const struct dwell_duration_row *row);

/* The enum dwell_durations of a session of trees, or of the sums of one that has the process. */
enum dwell_durations tree_durations_kind(const struct session_file *file, uint32_t process);

/* The same as a bit, or those of all sessions of the file. */
unsigned tree_durations_kind_bit(enum dwell_durations kind);
unsigned tree_durations_kinds(const struct session_file *file);

/* Takes what the probes took, by the overhead that was subtracted from the paths, from the durations that have it in
 * them. That of a path without callees is the same for each call; others lose the same part of each duration. */
void tree_durations_subtract_probes(struct profile *p, const struct session_file *file);

/* Gives the only call of a path the duration that its limits say, with the time of the probes. */
void tree_durations_take_limits(struct profile *p);

/* Of the functions whose durations are counted in mode profile, by function of the profile. */
struct tree_counting {
    struct tree_counted {
        bool counted, missing; /* some path has counters; some completed call has none */
    } * functions;
    size_t count, room;
};

void tree_counting_add(struct tree_counting *c, uint32_t function, const struct dwell_tree_node *node);

/* Drops the durations of functions of which some are missing, and frees the list. Returns the number of calls of these
 * functions that were not counted, and sets *functions to how many they are. */
uint64_t tree_counting_end(struct tree_counting *c, struct profile *p, size_t *functions);

/* Adds the rows of a thread to the nodes of a profile. `nodes` has them by number in the file. False if any row or
 * chunk is damaged: what comes after it is left out. */
bool tree_durations_read(const struct tree_chunks *chunks, const struct session_file *file, uint32_t process,
                         uint32_t thread, struct profile *p, const uint32_t *nodes, size_t count);

#endif
