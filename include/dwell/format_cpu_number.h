/* The CPU that a thread is on, as an extension of an event. Part of the session's layout, for what writes or reads it.
 */
#ifndef DWELL_FORMAT_CPU_NUMBER_H
#define DWELL_FORMAT_CPU_NUMBER_H

enum {
    DWELL_EXT_CPU = 21, /* 1 word: the number of the CPU that the thread is on after it was off its CPU. Without one, it
                         * is unknown after a BLOCKED or PREEMPTED. Goes on the numbers of enum dwell_extension */
};

#endif
