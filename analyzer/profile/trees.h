/* Reads the call trees of a session that was recorded in mode profile, and the rows of an imported report. */
#ifndef DWELL_PROFILE_TREES_H
#define DWELL_PROFILE_TREES_H

#include "profile/profile.h"
#include "profile/selection.h"
#include "profile/tree_waits.h"
#include "trace/recorded_values.h"
#include "trace/session_file.h"

/* A profile of all trees in the file that are part of the selection; empty if there are none. With `sites`, calls from
 * different call sites are on different paths. */
struct profile *trees_profile(const struct session_file *file, const struct selection *selection, bool sites);

/* The same without call sites, and how long calls took where that is known as wanted: `kinds` are bits of
 * tree_durations_kind_bit. */
struct profile *trees_profile_with_durations(const struct session_file *file, const struct selection *selection,
                                             unsigned kinds);

/* The same, and calls with different values are on different paths (dwell record --mode profile --values). */
struct profile *trees_profile_by_values(const struct session_file *file, const struct selection *selection,
                                        unsigned kinds, const struct recorded_values *values);

/* The values of the calls of such a path; NULL if they have none. */
const struct recorded_row *trees_values_of(const struct profile *p, uint32_t node,
                                           const struct recorded_values *values);

/* The same without call sites, and the waits of these threads. */
struct profile *trees_profile_with_waits(const struct session_file *file, const struct selection *selection,
                                         struct tree_waits *waits);

/* Adds all trees of a session to a profile in which its threads have other serial numbers. `root` finds a thread's root
 * there, or makes it. The nodes of the waits are those of this profile. With the durations of calls: false if any are
 * damaged. */
typedef uint32_t trees_root(void *context, struct profile *p, uint32_t process, uint32_t thread);
bool trees_add_with_waits(struct profile *into, const struct session_file *file, struct tree_waits *waits,
                          trees_root *root, void *context);

/* Adds the amounts of a node of the file to a call path. `row` is its row in a session of sums, or NULL. */
void trees_take_node(struct profile_node *node, const struct dwell_tree_node *from, const struct dwell_sum_row *row);

#endif
