/* Descriptions of descriptors: one for each object, whatever their order in the session. */
#include "trace/descriptor_list.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/session_writer.h"

static void add_descriptor(struct descriptor_list *d, uint64_t id, uint64_t peer, uint32_t kind, const char *name)
{
    descriptor_list_add(d, &(struct trace_descriptor){ .id = id, .peer = peer, .kind = kind, .name = strdup(name) });
}

/* A known peer precedes, then the smaller kind, then the smaller name. The second one of each pair is kept. */
Test(unit_descriptors, one_is_kept_for_each_object)
{
    static const struct {
        uint64_t peer;
        uint32_t kind;
        const char *name;
    } pairs[][2] = {
        { { 0, OBJECT_FILE, "a" }, { 5, OBJECT_PIPE, "b" } },
        { { 0, OBJECT_PIPE, "a" }, { 0, OBJECT_FILE, "b" } },
        { { 5, OBJECT_PIPE, "b" }, { 5, OBJECT_PIPE, "a" } },
    };
    enum { COUNT = sizeof pairs / sizeof *pairs };
    for (int reversed = 0; reversed < 2; reversed++) {
        struct descriptor_list d = { NULL, 0, 0 };
        for (uint64_t i = 0; i < 2 * COUNT; i++) {
            const size_t of = i % COUNT, which = i / COUNT != (size_t)reversed;
            add_descriptor(&d, 100 + of, pairs[of][which].peer, pairs[of][which].kind, pairs[of][which].name);
        }
        descriptor_list_sort(&d);
        cr_assert(eq(sz, d.count, COUNT));
        for (uint64_t i = 0; i < COUNT; i++) {
            const struct trace_descriptor *found = descriptor_list_find(&d, 100 + i);
            cr_assert(found != NULL);
            cr_assert(eq(u64, found->peer, pairs[i][1].peer));
            cr_assert(eq(u32, found->kind, pairs[i][1].kind));
            cr_assert(eq(str, found->name, (char *)pairs[i][1].name));
        }
        cr_assert(descriptor_list_find(&d, 99) == NULL);
        cr_assert(descriptor_list_find(&d, 100 + COUNT) == NULL);
        descriptor_list_drop(&d);
    }
}
