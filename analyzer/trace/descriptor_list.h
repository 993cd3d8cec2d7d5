/* What the session says of the descriptors that threads waited for: their names, and the other ends of connections. */
#ifndef DWELL_TRACE_DESCRIPTOR_LIST_H
#define DWELL_TRACE_DESCRIPTOR_LIST_H

#include <stddef.h>
#include <stdint.h>

struct trace_descriptor {
    uint64_t id, peer; /* peer: as in struct dwell_rec_descriptor */
    uint32_t kind;     /* enum dwell_object */
    char *name;
};

struct descriptor_list {
    struct trace_descriptor *list;
    size_t count, room;
};

/* Takes over the name. */
void descriptor_list_add(struct descriptor_list *d, const struct trace_descriptor *added);

/* After the last one was added. Of several for one object, one whose peer is known is kept. */
void descriptor_list_sort(struct descriptor_list *d);

/* NULL if the session does not describe it. */
const struct trace_descriptor *descriptor_list_find(const struct descriptor_list *d, uint64_t id);

void descriptor_list_drop(struct descriptor_list *d);

#endif
