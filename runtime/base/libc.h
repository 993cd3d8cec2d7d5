/* libc's own functions, whatever the program has under their names. */
#ifndef DWELL_LIBC_H
#define DWELL_LIBC_H

/* The default version of a function of the libc that the loader has loaded. NULL if that lacks it, and in a static
 * program. Takes no lock. */
__attribute__((visibility("hidden"))) void *libc_function(const char *name);

#endif
