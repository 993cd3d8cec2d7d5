/* What follows the header in page 0 of a session file. Part of format.h. */
#ifndef DWELL_FORMAT_MORE_H
#define DWELL_FORMAT_MORE_H

#include <stdint.h>

/*
 * Free chunks. One that a process has prepared has its number in `process`. One that nobody has has zero there. The
 * recorder offers these in page 0, and a writer that takes an offer stores its number. An offer that is being taken has
 * DWELL_OFFERED there.
 */
enum { DWELL_OFFERS = 256, DWELL_OFFER_UNITS = 4095 /* the most */ };
#define DWELL_OFFERED UINT32_MAX

/* Windows of slow calls that all processes keep, one after another, and in turn when there are more. */
enum { DWELL_SHARED_WINDOWS = 64 };
struct dwell_shared_window {
    uint64_t begin, end; /* ticks; begin is UINT64_MAX while it is written */
};

/* Behind the header in page 0. Members are added at its end: they are zero in older files. */
struct dwell_file_more {
    uint64_t hole_searches; /* how often a thread searched its chunk for records that were not stored */
    uint64_t code_changes;  /* how often the calls of probes in a module were changed, for levels and pauses */
    uint64_t change_time;   /* nanoseconds of CPU time that this took */
    uint32_t look_asks;     /* a futex, changed and woken by threads that ask a budget to look at what they recorded */
    uint32_t overhead;      /* the budget, in thousandths of the program's own time; zero: none */
    uint64_t stolen_time;   /* nanoseconds that the host of a virtual machine took from its processors meanwhile */
    uint64_t levels; /* offset of the levels chunk that processes begin with, plus its number modulo DWELL_UNIT */
    uint64_t sites;  /* offset of the newest sites chunk, or zero */
    uint64_t filled; /* the file has been that long: claims up to here were filled with zeros. Zero in older files */
    uint64_t keep;   /* offset of the keep chunk (format_keep.h): only windows of slow calls are kept; or zero */
    uint64_t kept_calls, usual_calls; /* whose windows were kept: slow ones, and others to compare */
    uint64_t limited_calls;           /* slow calls that were more than the number for a period */
    uint64_t unkept_calls;            /* slow calls for which there was no room */
    uint64_t keep_period; /* private to the processes: the number of the period << 24, and of its windows so far */
    uint64_t values;      /* offset of the plan chunk (format_values.h): values are recorded; or zero */
    uint64_t lost_values; /* enters and exits whose values were lost */
    uint64_t calls;       /* offset of the plan chunk (format_calls.h): calls into libraries are recorded; or zero */
    uint64_t dropped_calls, dropped_usual; /* whose windows made room: kept_calls, usual_calls have them no more */
    uint64_t forgotten; /* watched activities of trace events that were open when too many others were */
    uint64_t unstored_values, late_values; /* of lost_values: in pages that were not stored; of ending threads */
    uint64_t dropped_processes; /* that had ended, and of which nothing was kept: the session has no chunk of them */
    uint64_t room_until;        /* ticks: all windows that begin up to then make room, whichever process they are of */
    uint64_t free_bytes; /* private to the writers: of free chunks that any of them may take, when that was counted */
    uint64_t offers[DWELL_OFFERS]; /* private to the writers: such chunks, as offset | units; or zero */
    uint64_t shared_count;         /* private to the processes, as all from here on: of shared windows so far */
    uint64_t shared_forgotten;     /* ticks: the latest end of those that are not in the list any more */
    struct dwell_shared_window shared[DWELL_SHARED_WINDOWS];
    uint64_t kept_until; /* ticks: the exit of the last call that was kept */
    uint32_t asker;      /* number, plus 1, of the processor of the thread that changed look_asks last */
};

#endif
