/* What became of an attempt to apply an event to a thread. */
#ifndef DWELL_ATTEMPT_H
#define DWELL_ATTEMPT_H

enum attempt_outcome {
    ATTEMPT_DONE,
    ATTEMPT_AGAIN,   /* the thread's state has changed meanwhile, or it needed room first */
    ATTEMPT_GUARDED, /* to be tried again with signals held back, as it writes what a handler's probes rely on */
};

#endif
