/* The values of a row: every time of the time model, in the columns that all views of times share. */
#include "base/units.h"
#include "report/views.h"

static void time_columns_fill_pair(struct cell *cells, uint64_t ticks, uint64_t whole)
{
    cell_number(&cells[0], ticks);
    cell_percent(&cells[1], percent_of(ticks, whole));
}

static void time_columns_fill_off_cpu(struct cell *cells, const struct times *t)
{
    cell_percent(&cells[TIME_WAITING], percent_of(t->blocked_exclusive, t->elapsed_exclusive));
    cell_number(&cells[TIME_BLOCKED_INCLUSIVE], t->blocked_inclusive);
    cell_number(&cells[TIME_BLOCKED_EXCLUSIVE], t->blocked_exclusive);
    cell_number(&cells[TIME_PREEMPTED_INCLUSIVE], t->preempted_inclusive);
    cell_number(&cells[TIME_PREEMPTED_EXCLUSIVE], t->preempted_exclusive);
    cell_number(&cells[TIME_CPU_INCLUSIVE], times_cpu_inclusive(t));
    cell_number(&cells[TIME_CPU_EXCLUSIVE], times_cpu_exclusive(t));
    cell_number(&cells[TIME_PAGE_FAULTS], t->page_faults_inclusive);
    cell_number(&cells[TIME_PAGE_FAULTS_EXCLUSIVE], t->page_faults_exclusive);
}

void fill_times(struct table *table, const struct times *t)
{
    const struct summary *s = table->session;
    struct cell *cells = &table->cells[(table->row_count - 1) * table->column_count + table->first_value];
    table->dim_column = table->first_value + TIME_WAITING;
    if (s->overhead_known) {
        cell_number(&cells[TIME_OVERHEAD_INCLUSIVE], t->overhead_inclusive);
        cell_number(&cells[TIME_OVERHEAD_EXCLUSIVE], t->overhead_exclusive);
    }
    if (!s->samples)
        cell_number(&cells[TIME_CALLS], t->calls);
    time_columns_fill_pair(&cells[TIME_ELAPSED_INCLUSIVE], t->elapsed_inclusive, s->elapsed_inclusive);
    time_columns_fill_pair(&cells[TIME_ELAPSED_EXCLUSIVE], t->elapsed_exclusive, s->elapsed_inclusive);
    if (s->application_known) {
        time_columns_fill_pair(&cells[TIME_APPLICATION_INCLUSIVE], t->application_inclusive, s->application_inclusive);
        time_columns_fill_pair(&cells[TIME_APPLICATION_EXCLUSIVE], t->application_exclusive, s->application_inclusive);
    }
    if (t->shortest <= t->longest) {
        cell_number(&cells[TIME_MIN], t->shortest);
        cell_number(&cells[TIME_MAX], t->longest);
    }
    if (s->away_known)
        time_columns_fill_off_cpu(cells, t);
}
