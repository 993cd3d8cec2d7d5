/* Files under temporary names, which are removed if the program ends before they are complete. */
#ifndef DWELL_BASE_LEFTOVERS_H
#define DWELL_BASE_LEFTOVERS_H

/* At exit, removes the file, unless it is forgotten before or the process is a forked child. `path` must stay until
 * then; mkstemp may change it. Call this before the file is made, so that nothing is left if memory is short. */
void leftover_add(const char *path);

/* The file is complete, removed, or was not made. `path` is the pointer that was added, or any other. */
void leftover_forget(const char *path);

#endif
