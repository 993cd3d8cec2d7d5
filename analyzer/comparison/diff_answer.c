/* Says in one sentence how long the runs were, and how the CPU time and the calls have changed. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/statistics.h"
#include "base/text_options.h"
#include "comparison/diff.h"

static struct sample answer_side(const struct diff *d, enum diff_value value, enum diff_side side)
{
    double *values = need_memory(d->run_count, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < d->run_count; i++)
        if (d->runs[i].side == side)
            values[count++] = (double)d->runs[i].total.of[value];
    const struct sample sample = sample_of_times(values, count);
    free(values);
    return sample;
}

static void answer_put_percent(double before, double after, FILE *out)
{
    if (before > 0)
        fprintf(out, "%+.2f %%, ", 100 * (after - before) / before);
}

/* The mean length of a side's runs; zero if one is unknown. */
static double answer_length(const struct diff *d, enum diff_side side)
{
    double sum = 0;
    for (size_t i = 0; i < d->run_count; i++) {
        if (d->runs[i].side != side)
            continue;
        if (!d->runs[i].ran)
            return 0;
        sum += (double)d->runs[i].ran;
    }
    return sum / (double)d->side_count[side];
}

/* How long the runs were: other times are sums over threads. */
static void answer_put_lengths(const struct diff *d, FILE *out)
{
    const double before = answer_length(d, DIFF_BEFORE), after = answer_length(d, DIFF_AFTER);
    char from[TIME_TEXT], to[TIME_TEXT];
    if (before <= 0 || after <= 0)
        return;
    text_time((uint64_t)llround(before), from);
    text_time((uint64_t)llround(after), to);
    fprintf(out, "ran %s -> %s (%+.2f %%); ", from, to, 100 * (after - before) / before);
}

/* The CPU time of the sessions, or their elapsed time if that is unknown. */
static void answer_put_time(const struct diff *d, FILE *out)
{
    const bool cpu = d->known[DIFF_CPU_INCLUSIVE];
    const enum diff_value value = cpu ? DIFF_CPU_INCLUSIVE : DIFF_ELAPSED_INCLUSIVE;
    const struct sample before = answer_side(d, value, DIFF_BEFORE), after = answer_side(d, value, DIFF_AFTER);
    char from[TIME_TEXT], to[TIME_TEXT];
    text_time((uint64_t)llround(before.mean), from);
    text_time((uint64_t)llround(after.mean), to);
    fprintf(out, "%s %s -> %s (", cpu ? "CPU" : "elapsed", from, to);
    answer_put_percent(before.mean, after.mean, out);
    if (!diff_is_tested(d))
        fputs("not tested: one session on a side)", out);
    else
        fputs(is_significant(welch_test(&before, &after)) ? "significant)" : "within the noise)", out);
}

/* Calls as a mean over runs, which need not be whole. */
static void answer_put_calls(uint64_t sum, size_t runs, FILE *out)
{
    if (sum % runs)
        fprintf(out, "%.2f", (double)sum / (double)runs);
    else
        fprintf(out, "%" PRIu64, sum / runs);
}

/* The calls of rows that chance does not decide: those of the program's own functions. Those of other rows follow, so
 * that both are the calls of the sessions. */
static void answer_put_own_calls(const struct diff *d, FILE *out)
{
    static const char *const things[] = {
        [DIFF_FUNCTIONS] = "function", [DIFF_MODULES] = "module", [DIFF_PATHS] = "call path"
    };
    uint64_t sums[DIFF_SIDES] = { 0 }, chance[DIFF_SIDES] = { 0 };
    size_t certain = 0, changed = 0, left_out = 0;
    for (size_t i = 0; i < d->row_count; i++) {
        const struct diff_row *row = &d->rows[i];
        const struct diff_pair *pair = &row->values[DIFF_CALLS];
        const struct gate_sums both = diff_sums(d, pair);
        if (!diff_row_knows(d, row, DIFF_CALLS))
            continue;
        left_out += row->chance != CHANCE_NONE && gate_sums_differ(&both);
        changed += row->chance == CHANCE_NONE && gate_sums_differ(&both);
        certain += pair->judged == JUDGED_CERTAIN;
        for (int side = 0; side < DIFF_SIDES; side++) {
            uint64_t *sum = row->chance == CHANCE_NONE ? &sums[side] : &chance[side];
            *sum = add_saturated(*sum, pair->sum[side]);
        }
    }
    fputs("calls ", out);
    answer_put_calls(sums[DIFF_BEFORE], d->side_count[DIFF_BEFORE], out);
    if (certain) {
        fputs(" -> ", out);
        answer_put_calls(sums[DIFF_AFTER], d->side_count[DIFF_AFTER], out);
        fputs(" (", out);
        answer_put_percent((double)sums[DIFF_BEFORE] / (double)d->side_count[DIFF_BEFORE],
                           (double)sums[DIFF_AFTER] / (double)d->side_count[DIFF_AFTER], out);
        fprintf(out, "certain, of %s)", COUNTED(certain, things[d->by]));
    } else {
        fputs(changed ? " (no certain change)" : " (unchanged)", out);
    }
    if (left_out)
        fprintf(out, "; chance decides those of %zu more (", left_out);
    else if (chance[DIFF_BEFORE] || chance[DIFF_AFTER])
        fputs("; chance decides ", out);
    else
        return;
    answer_put_calls(chance[DIFF_BEFORE], d->side_count[DIFF_BEFORE], out);
    if (left_out) {
        fputs(" -> ", out);
        answer_put_calls(chance[DIFF_AFTER], d->side_count[DIFF_AFTER], out);
    }
    fputs(left_out ? ")" : " more", out);
}

char *diff_answer(const struct diff *d)
{
    char *text;
    size_t length;
    if (d->samples)
        return NULL;
    FILE *out = need_stream(&text, &length);
    answer_put_lengths(d, out);
    answer_put_time(d, out);
    fputs("; ", out);
    answer_put_own_calls(d, out);
    need_stream_end(out);
    return text;
}

bool diff_has_certain_calls(const struct diff *d)
{
    for (size_t i = 0; i < d->row_count; i++)
        if (d->rows[i].values[DIFF_CALLS].judged == JUDGED_CERTAIN)
            return true;
    return false;
}
