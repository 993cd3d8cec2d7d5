/* The records of metadata and symbols chunks, taken into a struct session_file. */
#ifndef DWELL_TRACE_METADATA_H
#define DWELL_TRACE_METADATA_H

#include "trace/session_file.h"

/* Reads all of them, and makes entries for processes and threads that have chunks but no records. */
void metadata_read(struct session_file *file);

#endif
