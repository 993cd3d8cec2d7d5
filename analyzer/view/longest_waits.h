/* Single waits as a table for the page, and their sums by thread, object and cause. */
#ifndef DWELL_VIEW_LONGEST_LONGEST_WAITS_H
#define DWELL_VIEW_LONGEST_LONGEST_WAITS_H

#include "analysis/order.h"
#include "causes/wait_causes.h"
#include "view/container.h"

enum { WAIT_COLUMNS = 8, WAIT_EDGE_COLUMNS = 7, MAX_PAGE_WAITS = 20000, MAX_WAIT_EDGES = 2000 };

/* What the page lists of each wait elsewhere: rows of its tables. Rows that it does not have are UINT32_MAX. */
struct wait_places {
    const uint32_t *by_path, *by_lock; /* by wait */
};

struct page_wait;
struct page_edge;
struct page_waits {
    struct page_wait *list; /* the longest ones, the longest first */
    size_t count;
    struct page_edge *edges; /* the largest ones, the largest first */
    size_t edge_count;
    size_t edges_left_out;
    struct container_column columns[WAIT_COLUMNS], edge_columns[WAIT_EDGE_COLUMNS];
};

/* Finds at most `most` waits. Times are ticks since the session began. */
void page_waits_find(struct page_waits *waits, const struct analysis *analysis, const struct order *order,
                     const struct wait_causes *causes, const struct wait_places *places, size_t most);
struct container_table page_waits_table(struct page_waits *waits);
struct container_table page_waits_edge_table(struct page_waits *waits);
void page_waits_drop(struct page_waits *waits);

#endif
