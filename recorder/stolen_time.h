/* The time that the host of a virtual machine took from its processors. */
#ifndef DWELL_RECORDER_STOLEN_TIME_H
#define DWELL_RECORDER_STOLEN_TIME_H

#include <stdint.h>
#include <stdio.h>

/* Nanoseconds since the machine was started, of all processors, in steps of 10 ms; zero if the kernel does not say. */
uint64_t stolen_time_now(void);

/* The same from a text in the form of /proc/stat. Each tick of it is 1/`rate` seconds. */
uint64_t stolen_time_read(FILE *stat, uint64_t rate);

#endif
