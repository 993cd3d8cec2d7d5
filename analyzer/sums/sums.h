/*
 * The sums of recorded sessions in memory: `dwell profile` makes them, `dwell merge` adds them, and both write them.
 *
 * Adding is associative and commutative. All times are ticks of the session that they come from, so nothing is rounded.
 * Sessions, processes and threads keep their identity: the shards of a session have the same ones. What is written
 * depends only on what was added: sums_write sorts everything.
 */
#ifndef DWELL_SUMS_SUMS_H
#define DWELL_SUMS_SUMS_H

#include "base/error.h"
#include "base/intern.h"
#include "causes/wait_causes.h"
#include "profile/profile.h"
#include "trace/session_file.h"

/* A session, and its processes and threads as places in the lists, in its own order. */
struct sums_session {
    struct trace_summed summed; /* its host's texts belong to it */
    uint32_t *processes, *threads;
    size_t process_count, process_room, thread_count, thread_room;
};

/* A row of waits. Nodes are those of the profile, and threads places in the list; PROFILE_NONE if unknown. */
struct sums_cause {
    uint32_t node, cause_thread, cause_node;
    uint8_t kind, cause, set;
    uint64_t id, made_time, waits, blocked, longest, first_time;
};

/* A function's name. Texts are numbers of the interned texts, or INTERN_NONE. */
struct sums_name {
    uint32_t name, file, line;
    uint32_t session; /* the last one that was recorded with the function: 1 + its place; zero if there is none */
};
/* A change of a function's level, the decision for it, or an object that was made in it. */
enum sums_fact_kind { FACT_LEVEL, FACT_DECISION, FACT_MADE };
struct sums_fact {
    enum sums_fact_kind fact;
    uint32_t process, function; /* places */
    uint32_t level;             /* of FACT_MADE: the object's kind */
    uint64_t time, calls, mean; /* of FACT_MADE, `calls` is the object's number */
};

/* The name of an object that a process waited for. */
struct sums_object {
    uint32_t process, name; /* place of the process, number of the text */
    uint64_t id;
};

struct sums {
    struct profile *profile; /* the serial numbers of processes and threads are 1 + their places */
    struct sums_session *sessions;
    size_t session_count, session_room;
    struct trace_process *processes;
    size_t process_count, process_room;
    struct trace_thread *threads;
    size_t thread_count, thread_room;
    struct sums_cause *causes;
    size_t cause_count, cause_room;
    struct intern cause_keys, session_keys;
    struct intern texts, notes;
    struct sums_name *names; /* by function */
    size_t name_count;
    struct sums_fact *facts; /* may be repeated */
    size_t fact_count, fact_room;
    struct sums_object *objects; /* may be repeated */
    size_t object_count, object_room;
    struct descriptor_list descriptors; /* may be repeated */
    const struct trace_label *labels;   /* of the file that is written; adding keeps none. The owner has them */
    size_t label_count;
    int unread; /* the errno of the first read of a session that failed; zero if none did */
};

struct sums *sums_new(void);
void sums_free(struct sums *sums);

/* One of the parts of a session, from 0; `count` is 1 if there are no others. */
struct sums_shard {
    uint32_t number, count;
};

/* Adds a shard of a recorded session. */
bool sums_add_recorded(struct sums *sums, const char *path, struct sums_shard shard, unsigned jobs,
                       struct error *error);

/*
 * Adds the part of a session of mode profile that is known while it is recorded. That is the time of each call path up
 * to the last event of its thread, and never more than the session will have when it is complete. Who made threads
 * wait, samples and the names of functions are not added.
 *
 * Processes and threads are the first ones of the session. One whose predecessor cannot be read yet is left out.
 */
bool sums_add_running(struct sums *sums, const struct session_file *file, struct error *error);

/* Adds an opened session of sums. */
bool sums_add(struct sums *sums, const struct session_file *file, struct error *error);

/* Writes a session. An older session at `path` becomes `path`.old. Returns NULL or an error message. */
const char *sums_write(struct sums *sums, const char *path);

/* ---- for the files that make sums ---- */

/* From serial numbers of a file to places. Serial numbers that the file lacks have none. */
struct sums_map {
    const struct session_file *file;
    uint32_t *processes, *threads; /* by place in the file: PROFILE_NONE if there is none */
};

struct sums_map sums_map_new(const struct session_file *file);
void sums_map_drop(struct sums_map *map);
uint32_t sums_process(const struct sums_map *map, uint32_t serial);
uint32_t sums_thread(const struct sums_map *map, uint32_t serial);

/* A session's processes and threads: from a place in the file to before another one. */
struct sums_range {
    size_t process, process_end, thread, thread_end;
};

/* What a session says it has lost. */
struct sums_losses {
    uint64_t events, threads, trace_events, replaced, samples;
};
struct sums_losses sums_losses_of(const struct dwell_file_header *h);
void sums_losses_add(struct dwell_file_header *h, const struct sums_losses *losses);

void sums_free_sessions(struct sums *sums);

/* What could not be read of the session is missing in the sums. */
void sums_take_error(struct sums *sums, const struct session_file *file);

/* Adds a session. False if the sums have these shards already, or if other shards of it had other processes. */
bool sums_add_session(struct sums *sums, struct sums_map *map, const struct trace_summed *summed,
                      const struct sums_range *range, struct error *error);

/* Adds a profile of the file, which it frees or keeps. Returns the new numbers of its nodes; the caller frees them. */
uint32_t *sums_take_profile(struct sums *sums, const struct sums_map *map, struct profile *p);

/* Adds the nodes of such a profile without their amounts. Returns their numbers in the same way. */
uint32_t *sums_add_nodes(struct sums *sums, const struct sums_map *map, const struct profile *p);

/* 0, 1, 2 ...; the caller frees it. */
uint32_t *sums_list(size_t count);

void sums_add_cause(struct sums *sums, const struct sums_cause *cause);
void sums_name_function(struct sums *sums, uint32_t function, const char *name, const char *file, uint32_t line);
/* `id` is that of the object in the sums. */
void sums_add_maker(struct sums *sums, const struct sums_map *map, const struct trace_maker *maker, uint64_t id);

void sums_add_object(struct sums *sums, uint32_t process, uint64_t id, const char *name);

/* Adds what else the file says: levels and notes. The profile has its functions. */
void sums_add_facts(struct sums *sums, const struct sums_map *map);

#endif
