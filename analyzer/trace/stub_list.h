/* Where the runtime wrote code for calls to go through, outside of all modules, as the session says it. */
#ifndef DWELL_TRACE_STUB_LIST_H
#define DWELL_TRACE_STUB_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_stubs {
    uint32_t process; /* serial number */
    uint64_t begin, end;
};

/* Earlier versions have not recorded them: their lists are empty. */
struct stub_list {
    struct trace_stubs *list;
    size_t count, room;
};

void stub_list_add(struct stub_list *s, const struct trace_stubs *added);

/* After the last one was added. */
void stub_list_sort(struct stub_list *s);

/* Whether the process itself has written code at that address. Forked children have that of their parents, too. */
bool stub_list_has(const struct stub_list *s, uint32_t process, uint64_t address);

void stub_list_drop(struct stub_list *s);

#endif
