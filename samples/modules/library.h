/* The linked library of the modules sample: its function, and the count of the function's calls. */
#ifndef LIBRARY_H
#define LIBRARY_H

/* Exported explicitly, so that it is found even if a build hides other symbols. */
#define LIBRARY_EXPORT __attribute__((visibility("default")))

LIBRARY_EXPORT extern unsigned long library_twist_calls;

LIBRARY_EXPORT unsigned library_twist(unsigned value);

#endif
