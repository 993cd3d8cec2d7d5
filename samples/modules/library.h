#ifndef LIBRARY_H
#define LIBRARY_H

/* Marked as exported, so that it is found even where a build hides what is not marked. */
#define LIBRARY_EXPORT __attribute__((visibility("default")))

LIBRARY_EXPORT extern unsigned long library_twist_calls;

LIBRARY_EXPORT unsigned library_twist(unsigned value);

#endif
