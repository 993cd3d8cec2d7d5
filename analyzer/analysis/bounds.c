/* Tells if a session's application time is far below its CPU time. */
#include "analysis/bounds.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"

static const double max_percent_apart = 10;

/* In percent of the CPU time. */
static double bounds_distance(const struct summary *summary)
{
    const uint64_t application = times_value(&summary->sums, VALUE_APPLICATION, INCLUSIVE);
    const uint64_t cpu = times_value(&summary->sums, VALUE_CPU, INCLUSIVE);
    return percent_of(less(cpu, application), cpu);
}

bool bounds_are_apart(const struct summary *summary)
{
    return summary->application_known && summary->off_cpu_known && !summary->imported &&
           bounds_distance(summary) > max_percent_apart;
}

char *bounds_remark(const struct summary *summary)
{
    if (!bounds_are_apart(summary))
        return NULL;
    return need_text("%.0f %% below CPU time. It leaves out the whole interval between two calls if "
                     "the operating system intervened in it, even once. Long intervals then lose everything; read CPU "
                     "time instead",
                     bounds_distance(summary));
}
