/*
 * Divides CPU time by stack samples. Time of calls that were only counted, or of functions without probes, is in the
 * line of the call above them. It is divided in proportion to what the samples in that call stand for, in each set by
 * itself. Parts are whole ticks, so all sums stay as they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "causes/why.h"

enum { ENOUGH = 30 }; /* samples of a line and a set, as elsewhere */

/* The shares of one line. */
struct why_split {
    struct why *why;
    const struct why_line *measured; /* as it was before lines were divided */
    const struct why_share *shares;
    size_t count;
    struct sample_sum all[WHY_SETS];
    int by[WHY_SETS];          /* the set whose samples divide the time of the set */
    uint64_t *parts[WHY_SETS]; /* by share: ticks */
    double *errors[WHY_SETS];  /* ns: of the mean of a call */
};

static double why_split_ns(const struct why *why, int set, double ticks)
{
    return ticks * 1e9 / (double)why->rate / (double)why->sets[set].calls;
}

/* A set with too few samples is divided as the other one, if that cannot matter: it has little time beside it. */
static bool why_split_choose(struct why_split *s)
{
    bool enough[WHY_SETS];
    double mean[WHY_SETS];
    for (int set = 0; set < WHY_SETS; set++) {
        enough[set] = s->all[set].samples >= ENOUGH;
        mean[set] = why_split_ns(s->why, set, (double)s->measured->ticks[set]);
    }
    for (int set = 0; set < WHY_SETS; set++) {
        const int other = WHY_SETS - 1 - set;
        const bool little = enough[other] && mean[set] <= mean[other] * WHY_LITTLE_PERCENT / 100;
        if (!enough[set] && !little)
            return false;
        s->by[set] = enough[set] ? set : other;
    }
    return true;
}

/* Each part ends where the next one begins, so that they add up. */
static void why_split_divide(struct why_split *s, int set)
{
    const int by = s->by[set];
    const uint64_t ticks = s->measured->ticks[set];
    struct sample_sum before = { 0 };
    uint64_t begin = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct sample_sum *own = &s->shares[i].sets[by];
        sample_sum_join(&before, own);
        const uint64_t end = sample_sum_divide(ticks, &before, &s->all[by]);
        const double known = by == set ? sample_sum_half_width(own, &s->all[by]) : 1;
        s->parts[set][i] = end - begin;
        s->errors[set][i] = why_split_ns(s->why, set, known * (double)ticks);
        begin = end;
    }
}

/* The direction in which the sets differ. */
static double why_split_sign(const struct why *why)
{
    return why_is_more(why) ? 1 : -1;
}

static double why_split_little(const struct why *why)
{
    const double difference = (double)why->sets[WHY_SLOW].ns - (double)why->sets[WHY_USUAL].ns;
    return fabs(difference) * WHY_LITTLE_PERCENT / 100;
}

static bool why_split_differs(const struct why *why, double difference, double error)
{
    const double more = why_split_sign(why) * difference, little = why_split_little(why);
    return more >= little && more - error >= little / 2;
}

bool why_split_is_certain(const struct why *why, const struct why_line *line)
{
    return !line->estimated || why_split_differs(why, (double)line->ns[WHY_SLOW] - (double)line->ns[WHY_USUAL],
                                                 hypot(line->error[WHY_SLOW], line->error[WHY_USUAL]));
}

/* A line that separates the sets stays whole if none of its parts would. */
static bool why_split_keeps_cause(const struct why_split *s)
{
    if (!why_is_significant(s->measured->probability))
        return true;
    for (size_t i = 0; i < s->count; i++) {
        const double difference = why_split_ns(s->why, WHY_SLOW, (double)s->parts[WHY_SLOW][i]) -
                                  why_split_ns(s->why, WHY_USUAL, (double)s->parts[WHY_USUAL][i]);
        if (why_split_differs(s->why, difference, hypot(s->errors[WHY_SLOW][i], s->errors[WHY_USUAL][i])))
            return true;
    }
    return false;
}

/* Calls are taken to vary in all parts as they do in the whole. */
static void why_split_give(const struct why_split *s, size_t share)
{
    struct why_line *to = &s->why->lines[s->shares[share].to];
    const double probability = s->measured->probability;
    if (!s->parts[WHY_SLOW][share] && !s->parts[WHY_USUAL][share])
        return;
    for (int set = 0; set < WHY_SETS; set++) {
        const uint64_t ticks = s->parts[set][share];
        const double part = ticks ? (double)ticks / (double)s->measured->ticks[set] : 0;
        to->ticks[set] += ticks;
        to->variance[set] += s->measured->variance[set] * part * part;
        to->error[set] = hypot(to->error[set], s->errors[set][share]);
    }
    to->estimated = true;
    to->uncounted |= s->shares[share].to != s->shares[share].from && to->kind == WHY_CPU;
    to->probability = isnan(to->probability) ? probability : fmin(to->probability, probability);
}

static void why_split_apply(const struct why_split *s)
{
    struct why_line *from = &s->why->lines[s->shares->from];
    for (int set = 0; set < WHY_SETS; set++) {
        from->ticks[set] -= s->measured->ticks[set];
        from->variance[set] -= s->measured->variance[set];
    }
    for (size_t i = 0; i < s->count; i++)
        why_split_give(s, i);
}

static void why_split_line(struct why_split *s)
{
    bool divides = false;
    for (size_t i = 0; i < s->count; i++) {
        divides |= s->shares[i].to != s->shares[i].from;
        for (int set = 0; set < WHY_SETS; set++)
            sample_sum_join(&s->all[set], &s->shares[i].sets[set]);
    }
    if (!divides || !why_split_choose(s))
        return;
    for (int set = 0; set < WHY_SETS; set++) {
        s->parts[set] = need_memory(s->count, sizeof *s->parts[set]);
        s->errors[set] = need_memory(s->count, sizeof *s->errors[set]);
        why_split_divide(s, set);
    }
    if (why_split_keeps_cause(s))
        why_split_apply(s);
    for (int set = 0; set < WHY_SETS; set++) {
        free(s->parts[set]);
        free(s->errors[set]);
    }
}

/* By path, as the numbers of lines depend on how the threads were divided. */
static int why_split_compare(const void *a, const void *b, void *context)
{
    const struct why_line *lines = context;
    const struct why_share *x = a, *y = b;
    const int from = x->from == y->from ? 0 : strcmp(lines[x->from].path, lines[y->from].path);
    const int to = strcmp(lines[x->to].path, lines[y->to].path);
    if (from)
        return from;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return to ? to : (int)lines[x->to].kind - (int)lines[y->to].kind;
}

void why_split_lines(struct why *why, struct why_share *shares, size_t count)
{
    if (!count)
        return;
    struct why_line *measured = need_memory(why->line_count, sizeof *measured);
    memcpy(measured, why->lines, why->line_count * sizeof *measured);
    qsort_r(shares, count, sizeof *shares, why_split_compare, why->lines);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && shares[end].from == shares[i].from;)
            end++;
        struct why_split split = {
            .why = why, .measured = &measured[shares[i].from], .shares = shares + i, .count = end - i
        };
        why_split_line(&split);
    }
    free(measured);
}
