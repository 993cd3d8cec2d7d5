/* The critical path of a session, and what less time of its functions would bring, as tables for the page. */
#ifndef DWELL_VIEW_CRITICAL_PATH_H
#define DWELL_VIEW_CRITICAL_PATH_H

#include "analysis/order.h"
#include "causes/critical.h"
#include "causes/what_if.h"
#include "view/container.h"

enum { CRITICAL_TABLES = 4, CRITICAL_COLUMNS = 6, MAX_PAGE_SEGMENTS = 20000, MAX_PAGE_RANKED = 30 };

struct page_critical {
    bool known;
    struct critical_part part;
    size_t all_segments, unknown_origins;
    struct what_if_rank *ranks;
    size_t rank_count;
    uint64_t recorded, replayed; /* length of the part, and of its replay with nothing changed */
    uint64_t unknown;            /* waits without a known cause on the path */
    bool ranged;                 /* so much of it that predictions are ranges */
    struct page_critical_row *rows;
    size_t row_count;
    struct page_segment *segments; /* the longest ones, in order of time */
    size_t segment_count;
    struct page_slack *slack;
    size_t slack_count;
    struct page_rank *page_ranks;
    struct container_column columns[CRITICAL_TABLES][CRITICAL_COLUMNS];
};

/* Finds the path of the whole run. The analysis is one of a whole session; of others, the path is not known. Frees the
 * causes of its waits. */
void page_critical_find(struct page_critical *c, const struct analysis *analysis, const struct order *order,
                        struct wait_causes *causes);

/* Returns the number of tables, at most CRITICAL_TABLES. */
size_t page_critical_tables(struct page_critical *c, struct container_table *tables);

/* The facts about the path for the header: null if it is not known. */
struct json_object *page_critical_facts(const struct page_critical *c, const struct analysis *analysis,
                                        const struct order *order);
void page_critical_drop(struct page_critical *c);

#endif
