/*
 * Space of the session file that is used again, in mode ring: chunks that nothing has mapped. Either they are free, or
 * they hold events of windows (keep_calls.h). The latter are used again if there is no other room, and the program's
 * user wants that: `--max-size SIZE,ring`. Any thread, with signals held back.
 */
#ifndef DWELL_SPARE_H
#define DWELL_SPARE_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Chunks, oldest first. */
struct spare_list {
    struct spare_chunk {
        uint64_t offset, until; /* `until`: ticks; its events end there */
        uint32_t size;
    } * chunks;
    uint32_t first, end, room; /* from `first` up to, not including, `end` */
    uint32_t largest;          /* no chunk has ever been larger */
};

/* In the process' block. */
struct process_spare {
    uint32_t lock;
    struct spare_list free, windows;
    uint64_t released; /* ticks: windows up to then were given up */
};

/* Unmaps a free chunk. */
void spare_unmap_free(char *at);

/* Unmaps a finished chunk of windows, with events up to `until`. */
void spare_unmap_window(char *at, uint64_t until);

/* Maps a chunk of at least `size` bytes that is free. `at` is NULL if there is none. Its contents are anything. */
struct area spare_take_free(int fd, uint32_t size);

/* The same for the oldest chunk of windows, which are dropped. */
struct area spare_take_window(int fd, uint32_t size);

/* Gives up the chunks of all windows up to the time that the recorder has stored in page 0: nobody has them then. */
void spare_release_windows(int fd);

/* Whether any chunk of windows has that size. */
bool spare_has_window(uint32_t size);

#pragma GCC visibility pop

#endif
