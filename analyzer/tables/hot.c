/* Lists the measures of work, the best one first. */
#include "tables/hot.h"

static const struct hot_measure hot_measures[] = {
    { NEEDS_OFF_CPU, "cpu_exclusive", "calls,cpu_exclusive,cpu_inclusive,elapsed_exclusive,waiting_percent" },
    { NEEDS_APPLICATION, "application_exclusive",
      "calls,application_exclusive,application_exclusive_percent,application_inclusive,elapsed_exclusive" },
    { NEEDS_CALLS, "elapsed_exclusive",
      "calls,elapsed_exclusive,elapsed_exclusive_percent,elapsed_inclusive,elapsed_inclusive_percent" },
    { 0, "elapsed_exclusive",
      "elapsed_exclusive,elapsed_exclusive_percent,elapsed_inclusive,elapsed_inclusive_percent" },
};

const struct hot_measure *hot_measure_of(const struct summary *summary)
{
    size_t i = 0;
    while (hot_measures[i].needs & ~summary_knows(summary))
        i++;
    return &hot_measures[i];
}
