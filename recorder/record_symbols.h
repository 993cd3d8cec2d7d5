/* The symbols that a session contains, so that it can be read on another machine. */
#ifndef DWELL_RECORDER_RECORD_SYMBOLS_H
#define DWELL_RECORDER_RECORD_SYMBOLS_H

#include "session.h"
#include "trace/session_file.h"

struct module_names;

/* Appends the symbols of the recorded modules to the session: of all their instrumented functions, or of those seen
 * where there are many. `known` has those that were found while the program ran, and gets the others. Returns false if
 * a part could not be written. */
bool record_symbols(const struct session *session, int fd, const struct session_file *file, struct module_names *known);

#endif
