/* Warns if a session's application time is far below its CPU time. */
#include "analysis/bounds.h"

#include "base/memory.h"
#include "base/numbers.h"
#include "base/units.h"

static const double max_percent_apart = 10;

char *bounds_remark(const struct summary *s)
{
    const uint64_t application = times_value(&s->sums, VALUE_APPLICATION, INCLUSIVE);
    const uint64_t cpu = times_value(&s->sums, VALUE_CPU, INCLUSIVE);
    const double apart = percent_of(less(cpu, application), cpu);
    if (!s->application_known || !s->off_cpu_known || s->imported || apart <= max_percent_apart)
        return NULL;
    return need_text(
        "application time is %.0f %% below CPU time. It leaves out the whole interval between two calls if "
        "the operating system intervened in it, even once. Long intervals then lose everything; read CPU "
        "time instead",
        apart);
}
