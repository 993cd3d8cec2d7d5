/* Names of objects that have an address in a process, such as locks: those of the variables that hold them. */
#ifndef DWELL_CAUSES_OBJECT_NAMES_H
#define DWELL_CAUSES_OBJECT_NAMES_H

#include "trace/session_file.h"

struct object_names;

struct object_names *object_names_new(const struct session_file *file);
void object_names_free(struct object_names *names);

/* Such as "queue_lock", or "queues+88" within a larger variable. NULL if the address is in no variable of a binary on
 * this machine: on the heap or a stack. Valid as long as the names. */
const char *object_names_find(struct object_names *names, uint32_t process, uint64_t address, uint64_t time);

/* The name of a kind of object (enum dwell_object, from DWELL_OBJECT_MUTEX). */
const char *object_kind_name(unsigned kind);

#endif
