/*
 * Attributes the samples of a thread to call paths while its events are followed. The innermost open call is known from
 * the events, and the functions below it from the sample. These become paths of their own, which have samples and no
 * calls. Their site is PROFILE_SAMPLED.
 */
#ifndef DWELL_PROFILE_SAMPLED_PATHS_H
#define DWELL_PROFILE_SAMPLED_PATHS_H

#include "profile/profile.h"
#include "profile/session_samples.h"
#include "trace/thread_ranges.h"

struct period_sums;

struct sampled_paths {
    const struct session_samples *samples; /* NULL if there are none */
    struct period_sums *periods;           /* if set, nodes that get samples are registered there */
    const struct sample_point *next, *end; /* of the thread */
    uint64_t next_time;                    /* of `next`; UINT64_MAX if there is none */
};

/* The node of the frame's function below this node. The runtime has none: it is the node itself. */
uint32_t sampled_frame_child(struct profile *p, uint32_t node, const struct sampled_frame *frame);

/* How many of a stack's innermost functions are below the open call of this node: none in a call of the operating
 * system. Sets whose code the sample is in. */
uint32_t sampled_paths_below(const struct session_samples *s, const struct profile *p, uint32_t node,
                             const struct sampled_chain *chain, enum sampled_code *code);

/* The function of a frame. PROFILE_NONE if the profile does not have it. */
uint32_t sampled_frame_find(const struct profile *p, const struct sampled_frame *frame);

/* Begins with the thread's samples from `time` on. */
void sampled_paths_begin(struct sampled_paths *s, uint32_t thread, uint64_t time);

/* Adds the samples before `end` to the path of `node`, or to paths below it. They are discarded if it is the thread's
 * root. */
void sampled_paths_add(struct sampled_paths *s, struct profile *p, uint32_t node, uint64_t end);

/* The same for samples in the ranges. Others before `end` are discarded. */
void sampled_paths_add_within(struct sampled_paths *s, struct profile *p, uint32_t node, uint64_t end,
                              const struct thread_range *ranges, size_t count);

/* Discards the samples before `end`. */
void sampled_paths_skip(struct sampled_paths *s, uint64_t end);

#endif
