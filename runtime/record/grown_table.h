/* What tables of a thread have in common that grow while its probes look into them. An older table stays mapped while
 * the thread lives: a probe that was interrupted may look into it. */
#ifndef DWELL_GROWN_TABLE_H
#define DWELL_GROWN_TABLE_H

#include "common.h"
#include "sys.h"

/* The slots follow. At most half of them are taken. */
struct grown_table {
    struct grown_table *older;
    uint64_t mask, taken;
};

static inline size_t grown_table_size(uint64_t slots, size_t slot_bytes)
{
    return sizeof(struct grown_table) + slots * slot_bytes;
}

/* An empty table, whose number of slots is a power of two; NULL without memory. */
static inline void *grown_table_make(struct grown_table *older, uint64_t slots, size_t slot_bytes)
{
    struct grown_table *table = sys_memory(grown_table_size(slots, slot_bytes));
    if (table) {
        table->older = older;
        table->mask = slots - 1;
    }
    return table;
}

/* The tables of a thread and those that were kept before: all of them stay mapped. Either may be NULL. */
static inline struct grown_table *grown_tables_keep(struct grown_table *table, struct grown_table *kept)
{
    struct grown_table *oldest = table;
    while (oldest && oldest->older)
        oldest = oldest->older;
    if (!oldest)
        return kept;
    oldest->older = kept;
    return table;
}

/* The table and all older ones. */
static inline void grown_tables_free(struct grown_table *table, size_t slot_bytes)
{
    while (table) {
        struct grown_table *const older = table->older;
        sys_unmap(table, grown_table_size(table->mask + 1, slot_bytes));
        table = older;
    }
}

#endif
