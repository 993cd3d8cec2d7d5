/* A value's range is the tenth of all calls in which the first call of the value is. */
#include "tables/value_quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/value_ranges.h"

static bool quantile_takes(const struct valued_call *call, const struct recorded_value *value, unsigned argument)
{
    return !call->range[argument] && call->words[argument] &&
           !isnan(recorded_value_number(value, *call->words[argument]));
}

static uint64_t quantile_count(const struct valued_calls *v, const struct recorded_value *value, unsigned argument)
{
    uint64_t count = 0;
    for (size_t i = 0; i < v->count; i++)
        count += quantile_takes(&v->calls[i], value, argument) ? v->calls[i].calls : 0;
    return count;
}

/* `place`: how many calls have smaller values, of `all`. */
static void quantile_begin(struct value_quantiles *q, const uint64_t *words, uint64_t place, uint64_t all,
                           uint64_t *tenth)
{
    const uint64_t own = (uint64_t)((double)place / (double)all * VALUE_QUANTILES);
    if (!q->count || own != *tenth)
        q->from[q->count++] = words;
    *tenth = own;
}

void value_quantiles_divide(struct value_quantiles *q, struct valued_calls *v, const struct recorded_value *value,
                            unsigned argument)
{
    const uint64_t all = quantile_count(v, value, argument);
    const uint64_t *last = NULL;
    uint64_t place = 0, tenth = 0;
    q->count = 0;
    for (size_t i = 0; i < v->count; i++) {
        struct valued_call *call = &v->calls[i];
        const uint64_t *words = call->words[argument];
        if (!quantile_takes(call, value, argument)) {
            if (!call->range[argument])
                call->range[argument] = words ? RANGE_NAN : RANGE_UNREAD;
            continue;
        }
        if (!last || recorded_value_compare(value, last, words) != 0)
            quantile_begin(q, words, place, all, &tenth);
        last = q->to[q->count - 1] = words;
        call->range[argument] = (int32_t)q->count;
        place += call->calls;
    }
}

void value_quantile_ends(const struct value_quantiles *q, const struct recorded_value *value, int32_t range,
                         char **from, char **to)
{
    *from = recorded_value_data(value, q->from[range - 1]);
    *to = recorded_value_data(value, q->to[range - 1]);
}

char *value_quantile_text(const struct value_quantiles *q, const struct recorded_value *value, int32_t range)
{
    char *from, *to;
    value_quantile_ends(q, value, range, &from, &to);
    char *text = strcmp(from, to) == 0 ? need_text("%s", from) : need_text("%s to %s", from, to);
    free(from);
    free(to);
    return text;
}
