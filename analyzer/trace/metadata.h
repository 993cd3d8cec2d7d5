/* Reads the records of metadata and symbols chunks into a struct session_file. */
#ifndef DWELL_TRACE_METADATA_H
#define DWELL_TRACE_METADATA_H

#include "trace/session_file.h"

/* Reads all records. Processes and threads with chunks but without records get entries, too. */
void metadata_read(struct session_file *file);

#endif
