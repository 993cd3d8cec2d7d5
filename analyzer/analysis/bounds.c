/* Tells if a session's application time is far below its CPU time. */
#include "analysis/bounds.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"

static const double max_percent_apart = 10;

/* In percent of the CPU time. */
static double bounds_distance(const struct summary *s)
{
    const uint64_t application = times_value(&s->sums, VALUE_APPLICATION, INCLUSIVE);
    const uint64_t cpu = times_value(&s->sums, VALUE_CPU, INCLUSIVE);
    return percent_of(less(cpu, application), cpu);
}

bool bounds_are_apart(const struct summary *s)
{
    return s->application_known && s->off_cpu_known && !s->imported && bounds_distance(s) > max_percent_apart;
}

char *bounds_remark(const struct summary *s)
{
    if (!bounds_are_apart(s))
        return NULL;
    return need_text("%.0f %% below CPU time. It leaves out the whole interval between two calls if "
                     "the operating system intervened in it, even once. Long intervals then lose everything; read CPU "
                     "time instead",
                     bounds_distance(s));
}
