/* Waits in a program's own code, and those of them in which recording changed that code. */
#ifndef DWELL_TABLES_OWN_WAITS_H
#define DWELL_TABLES_OWN_WAITS_H

#include "analysis/analysis.h"
#include "profile/waits.h"

enum own_wait {
    OWN_NOT,       /* an object was recorded, or a call of the operating system was open */
    OWN_OTHER,     /* the program called the system by itself, or by a library */
    OWN_FAULT,     /* nothing but a page fault is known */
    OWN_RECORDING, /* recording changed the code of functions at that time */
};

extern const char *const own_wait_kinds[], *const own_wait_texts[]; /* for data, and for people */

/* When levels of functions have changed. */
struct code_changes;

struct code_changes *code_changes_new(const struct session_file *file);
void code_changes_free(struct code_changes *changes);

/* What a wait was for which no object and no call of the operating system is known. */
enum own_wait own_wait_of(const struct code_changes *changes, const struct profile_wait *wait);

/* How long recording kept the threads of each path waiting. Who asks first reads the events once more. So only one
 * thread may ask. The analysis owns the lists. Its profile need not have all paths (--root): others are left out. */
struct recording_waits recording_waits_find(const struct analysis *analysis);

#endif
