/* Commands for the processes of a session, and their questions to the recorder. Part of format.h. */
#ifndef DWELL_FORMAT_CONTROL_H
#define DWELL_FORMAT_CONTROL_H

#include <stddef.h>

#include "dwell/format.h"

/* How a process receives commands from other processes: one chunk of one unit for each process. */
struct dwell_control {
    struct dwell_chunk_header chunk; /* chunk.process is the process */
    uint64_t next;                   /* offset of the control chunk that was made before, or zero */
    uint32_t pid;
    uint32_t listening; /* not zero: the process answers commands */
    uint32_t work;      /* a futex, changed and woken with every command */
    uint32_t command;   /* enum dwell_command; reset to zero when it is done */
    int32_t result;     /* of the last command: zero or more, or a negative errno value */
    uint32_t ended;     /* not zero: the process has recorded its end, and adds nothing else */
    char text[1024];    /* dump: the path to write; event: "NAME:LEVEL", "GUID:LEVEL", "*:off" and so on; level, keep,
                         * values: an offset in the file, decimal */
    uint32_t asks;      /* enum dwell_question about the module below; reset to zero by the answer */
    uint32_t build_id_length;
    uint32_t path_length;
    uint32_t program;    /* dwell_program_key of its build-id, or zero; stored before it reads dwell_file_more.levels */
    uint64_t levels;     /* offset of the newest levels chunk with a pattern, or zero */
    uint64_t answer;     /* filters: offset of the plan of calls into libraries, or zero; levels: offset of the
                          * first levels chunk to apply, or zero; its chunk.link is the next one */
    uint32_t stay_timed; /* of the last level command: the functions that stay timed nevertheless, as their values or
                          * slow calls are recorded */
    char module[2476];   /* its build-id, then its path; keep: a list of modules */
};

enum dwell_question {
    DWELL_ASKS_NOTHING = 0,
    DWELL_ASKS_FILTERS = 1, /* what do the options say of it: its filters, its slots that lead to library functions? */
    DWELL_ASKS_LEVELS = 2,  /* which functions do the patterns of the chunks from `levels` on name? */
    DWELL_ASKS_KEEP = 3,    /* no question: the recorder keeps the files open, for their names */
};

/* Tells programs apart. Two may have the same key; none has zero. */
static inline uint32_t dwell_program_key(const void *build_id, size_t length)
{
    uint32_t key = 2166136261u;
    for (size_t i = 0; i < length; i++)
        key = (key ^ ((const uint8_t *)build_id)[i]) * 16777619u;
    return key ? key : 1;
}

/* DWELL_ASKS_KEEP: `module` has path_length bytes of these, each followed by its build-id and its path. */
struct dwell_kept_module {
    uint16_t build_id_length;
    uint16_t path_length;
};

enum dwell_command {
    DWELL_COMMAND_NONE = 0,
    DWELL_COMMAND_PAUSE = 1,
    DWELL_COMMAND_RESUME = 2,
    DWELL_COMMAND_STOP = 3,   /* permanently */
    DWELL_COMMAND_DUMP = 4,   /* writes the current contents of the session to the file `text` */
    DWELL_COMMAND_LOOK = 5,   /* read global_stopped and global_suspended again */
    DWELL_COMMAND_EVENT = 6,  /* enables or disables trace events as in `text`; result: the number of classes */
    DWELL_COMMAND_LEVEL = 7,  /* sets levels as the chunk at the offset `text` says; result: the number of
                               * functions */
    DWELL_COMMAND_KEEP = 8,   /* watches of the chunk (format_keep.h), as DWELL_FILTER_KEEP; result: the number of
                               * functions */
    DWELL_COMMAND_VALUES = 9, /* reads values as the plan chunk (format_values.h) at the offset `text` says */
};

_Static_assert(sizeof(struct dwell_control) <= DWELL_UNIT, "a control chunk is one unit");

#endif
