/* How much space events take in a session. */
#ifndef DWELL_TESTS_EVENT_BYTES_H
#define DWELL_TESTS_EVENT_BYTES_H

#include <stdint.h>

/* Of the records of events in a session of the test's folder. The file has prepared chunks as well, more of them on a
 * busy machine. */
uint64_t event_bytes(const char *name);

#endif
