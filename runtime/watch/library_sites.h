/* Calls of functions without probes in the module that calls them: a library that is linked into a program, or into
 * another library. The recorder's plan says which instructions lead to stubs. */
#ifndef DWELL_WATCH_LIBRARY_SITES_H
#define DWELL_WATCH_LIBRARY_SITES_H

#include <link.h>
#include <stdbool.h>

#include "dwell/format.h"

#pragma GCC visibility push(hidden)

/* Lets the calls of a loaded module lead to stubs, unless they do. Under the lock of the module map, or before the
 * program has threads. */
void library_sites_change(const struct dl_phdr_info *info, const struct dwell_calls_module *module);

/* Reads the plans in the session `fd`, and changes the calls of the program, which contains libdwell.a. When the
 * process is set up. */
void library_sites_begin(int fd);

/* Frees what unloaded modules have left. */
typedef bool library_site_is_unloaded(uint64_t address);
void library_sites_give_back(library_site_is_unloaded *is_unloaded);

#pragma GCC visibility pop

#endif
