/* Where the objects were made that threads waited for, as the session says it. */
#ifndef DWELL_TRACE_MAKER_LIST_H
#define DWELL_TRACE_MAKER_LIST_H

#include <stddef.h>
#include <stdint.h>

struct trace_maker {
    uint32_t process; /* serial number */
    uint32_t kind;    /* enum dwell_object */
    uint64_t id;
    uint64_t time, function; /* ticks; the function's address, or zero: unknown from then on */
};

struct maker_list {
    struct trace_maker *list;
    size_t count, room;
};

void maker_list_add(struct maker_list *m, const struct trace_maker *added);

/* After the last one was added. */
void maker_list_sort(struct maker_list *m);

/* The last object of this kind and number in the process that was made before the time. NULL if the session does not
 * say where it was made. */
const struct trace_maker *maker_list_find(const struct maker_list *m, uint32_t process, uint32_t kind, uint64_t id,
                                          uint64_t time);

void maker_list_drop(struct maker_list *m);

#endif
