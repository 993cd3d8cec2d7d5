/* The times at which the modules of a process change so that an address can mean another function. */
#ifndef DWELL_TRACE_MODULE_CHANGES_H
#define DWELL_TRACE_MODULE_CHANGES_H

#include "trace/session_file.h"

/* The times, ascending. The modules must be sorted by load time. The caller frees the list. */
uint64_t *module_changes(const struct trace_module *modules, size_t count, size_t *change_count);

#endif
