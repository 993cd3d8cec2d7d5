/*
 * Tests which lines separate the slow calls from the usual ones by more than chance: a permutation test. The calls keep
 * what they did, and which of them are slow is drawn anew. In each draw, the line that differs most counts. So the
 * chance that any line of a function is found without reason is that of one test.
 *
 * Slow calls take longer by choice, so each line of them may be longer, too. So a line must differ from what the usual
 * calls predict: those that take longer have a part of it in this line, its share. It is the slope of the line's time
 * over that of the call. It holds as far as the tail of the usual calls reaches. What a call takes beyond that tail is
 * predicted by nothing, so calls count there with the time where the tail ends. Usual calls beyond it predict nothing:
 * more calls may have the cause than are chosen as slow.
 *
 * No prediction is exact: a busy machine makes all of a call slower, and the slowest calls are those that noise has
 * made slow. So a line must also differ from it by a little of the difference of the sets, and by half of that beyond
 * chance.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "causes/why.h"
#include "causes/why_random.h"

/* The sums of a line over calls: of its time, of that time's square, and of its product with the calls' times. */
struct why_moments {
    double sum, squares, products;
};

/* The calls of a set, or of both. */
struct why_group {
    struct why_moments *lines;
    double count, sum, squares; /* the calls, their times, and the squares of these */
};

struct why_test {
    struct why *why;
    const uint32_t *lines; /* by row */
    size_t call_count;
    double *times;  /* by call, of all its lines, up to the tail's end */
    double *shares; /* by line */
    double *most;   /* likewise: of a slow call */
    double certain; /* what a distance is worth, as the shares are estimated */
    double little;  /* ticks: of the difference of the sets */
    double sign;
    struct why_group all, slow;
    struct why_group predicting; /* usual calls that end before the tail does */
    uint64_t state;              /* of the random numbers */
};

static void why_add_to_group(const struct why_test *t, struct why_group *group, size_t number)
{
    const struct why_sampled *call = &t->why->scan.sampled[number];
    const double time = t->times[number];
    for (size_t i = call->first; i < call->first + call->count; i++) {
        const struct why_value *value = &t->why->scan.values[i];
        const uint32_t line = t->lines[value->row];
        if (line == PROFILE_NONE)
            continue;
        struct why_moments *m = &group->lines[line];
        m->sum += value->ticks;
        m->squares += value->ticks * value->ticks;
        m->products += value->ticks * time;
    }
    group->count++;
    group->sum += time;
    group->squares += time * time;
}

static void why_clear_group(const struct why_test *t, struct why_group *group)
{
    for (size_t i = 0; i < t->why->line_count; i++)
        group->lines[i] = (struct why_moments){ 0 };
    group->count = group->sum = group->squares = 0;
}

/* What a line takes beyond its share: sum and squares over the calls of a group. */
static struct why_moments why_beyond_share(const struct why_group *group, size_t line, double share)
{
    const struct why_moments *m = &group->lines[line];
    return (struct why_moments){ .sum = m->sum - share * group->sum,
                                 .squares = m->squares - 2 * share * m->products + share * share * group->squares };
}

static double why_spread(const struct why_moments *m, double count)
{
    const double squares = m->squares - m->sum * m->sum / count;
    return squares > 1e-9 * m->squares ? squares : 0;
}

/* How far the line's means are apart beyond so many ticks, by the spread of all calls: a cause that only some of the
 * slow calls have makes their own spread large. */
static double why_distance(const struct why_test *t, size_t line, double beyond)
{
    const struct why_moments all = why_beyond_share(&t->all, line, t->shares[line]);
    const struct why_moments slow = why_beyond_share(&t->slow, line, t->shares[line]);
    const struct why_moments usual = { .sum = all.sum - slow.sum, .squares = all.squares - slow.squares };
    const double count = t->slow.count, others = t->all.count - t->slow.count;
    const double difference = t->sign * (slow.sum / count - usual.sum / others) - beyond;
    const double variance =
        (why_spread(&slow, count) + why_spread(&usual, others)) / (count + others - 2) * (1 / count + 1 / others);
    if (difference <= 1e-9 * fabs(all.sum) / t->all.count)
        return 0;
    return variance > 0 ? difference / sqrt(variance) : HUGE_VAL;
}

/* The most that one slow call has of each line, beyond its share. */
static void why_find_most(struct why_test *t)
{
    for (size_t i = 0; i < t->call_count; i++) {
        const struct why_sampled *call = &t->why->scan.sampled[i];
        for (size_t j = call->first; call->set == WHY_SLOW && j < call->first + call->count; j++) {
            const uint32_t line = t->lines[t->why->scan.values[j].row];
            if (line != PROFILE_NONE)
                t->most[line] = fmax(t->most[line], t->why->scan.values[j].ticks - t->shares[line] * t->times[i]);
        }
    }
}

/* Whether a line has only a little beyond its share. Of several slow calls, one alone proves nothing: whatever happens
 * to a call makes it one of the slow ones. */
static bool why_is_little(const struct why_test *t, size_t line)
{
    enum { SEVERAL = 3 };
    const double count = t->slow.count, others = t->all.count - t->slow.count;
    const double all = why_beyond_share(&t->all, line, t->shares[line]).sum;
    const double slow = why_beyond_share(&t->slow, line, t->shares[line]).sum, usual = (all - slow) / others;
    const bool leaves_one_out = t->sign > 0 && count >= SEVERAL;
    return t->sign * (slow / count - usual) < t->little ||
           (leaves_one_out && (slow - t->most[line]) / (count - 1) - usual < t->little);
}

/* Draws as many calls as there are slow ones. `order` is a list of all calls. */
static void why_draw(struct why_test *t, size_t *order, size_t slow)
{
    why_clear_group(t, &t->slow);
    for (size_t i = 0; i < slow && i < t->call_count; i++)
        why_add_to_group(t, &t->slow, why_draw_call(&t->state, order, i, t->call_count));
}

static void why_count_draws(struct why_test *t, size_t slow)
{
    struct why *why = t->why;
    double *distances = need_memory(why->line_count + 1, sizeof *distances);
    size_t *order = need_memory(t->call_count + 1, sizeof *order);
    for (size_t i = 0; i < t->call_count; i++)
        order[i] = i;
    for (size_t i = 0; i < why->line_count; i++) {
        distances[i] = why_is_little(t, i) ? 0 : why_distance(t, i, t->little / 2) * t->certain;
        why->lines[i].probability = 1;
    }
    for (int draw = 0; draw < WHY_DRAWS; draw++) {
        double most = 0;
        why_draw(t, order, slow);
        for (size_t i = 0; i < why->line_count; i++)
            most = fmax(most, why_distance(t, i, 0));
        for (size_t i = 0; i < why->line_count; i++)
            why->lines[i].probability += most >= distances[i];
    }
    for (size_t i = 0; i < why->line_count; i++)
        why->lines[i].probability = distances[i] > 0 ? why->lines[i].probability / (WHY_DRAWS + 1) : 1;
    free(order);
    free(distances);
}

/* The error of a slope counts by how far the slow calls are away. A line that is shorter in longer calls has no share.
 */
static void why_find_shares(struct why_test *t)
{
    const double count = t->predicting.count, sum = t->predicting.sum;
    const double spread = count > 0 ? t->predicting.squares - sum * sum / count : 0;
    if (spread <= 0)
        return;
    for (size_t i = 0; i < t->why->line_count; i++) {
        const struct why_moments *usual = &t->predicting.lines[i];
        t->shares[i] = fmax((usual->products - usual->sum * sum / count) / spread, 0);
    }
    const double away = t->slow.sum / t->slow.count - sum / count;
    t->certain = 1 / sqrt(1 + t->slow.count * away * away / spread);
}

/* Of the difference of the sets, in the direction in which they differ. */
static double why_find_little(const struct why_test *t)
{
    const struct why_set *slow = &t->why->sets[WHY_SLOW], *usual = &t->why->sets[WHY_USUAL];
    const double difference = (double)slow->ticks / (double)slow->calls - (double)usual->ticks / (double)usual->calls;
    return t->sign * difference * WHY_LITTLE_PERCENT / 100 * (1 - 1e-9);
}

/*
 * Where the tail of the usual calls ends. The measure is work that may end at any moment with the same chance, however
 * long it took before. Half of such times lie within ln(3) of its mean, and the slowest share q of them takes
 * 1 + ln(1/q) of it. Times of random work end sooner than those. The middle half of the usual calls says how large that
 * mean is, so that a few slow ones among them do not matter. The number of slow calls makes their mean uncertain.
 */
static double why_find_tail(const struct why_test *t)
{
    const double slow = (double)t->why->sets[WHY_SLOW].calls, usual = (double)t->why->sets[WHY_USUAL].calls;
    const double limit = 1 + log((slow + usual) / slow) - log(2) + 2 * sqrt(2 / slow);
    double *times = need_memory(t->call_count + 1, sizeof *times);
    size_t count = 0;
    for (size_t i = 0; i < t->call_count; i++)
        if (t->why->scan.sampled[i].set == WHY_USUAL)
            times[count++] = t->times[i];
    if (count)
        qsort(times, count, sizeof *times, compare_doubles);
    const double end = times[count / 2] + limit * (times[count / 4 * 3] - times[count / 4]) / log(3);
    free(times);
    return end;
}

static void why_add_times(struct why_test *t)
{
    for (size_t i = 0; i < t->call_count; i++) {
        const struct why_sampled *call = &t->why->scan.sampled[i];
        for (size_t j = call->first; j < call->first + call->count; j++)
            t->times[i] += t->lines[t->why->scan.values[j].row] == PROFILE_NONE ? 0 : t->why->scan.values[j].ticks;
    }
}

/* Returns the number of slow calls. */
static size_t why_begin_test(struct why_test *t)
{
    struct why *why = t->why;
    size_t slow = 0;
    t->call_count = why->scan.sampled_count;
    t->times = need_memory(t->call_count + 1, sizeof *t->times);
    t->shares = need_memory(why->line_count + 1, sizeof *t->shares);
    t->most = need_memory(why->line_count + 1, sizeof *t->most);
    t->all.lines = need_memory(why->line_count + 1, sizeof *t->all.lines);
    t->slow.lines = need_memory(why->line_count + 1, sizeof *t->slow.lines);
    t->predicting.lines = need_memory(why->line_count + 1, sizeof *t->predicting.lines);
    why_add_times(t);
    const double tail = why_find_tail(t);
    for (size_t i = 0; i < t->call_count; i++) {
        const bool beyond = t->times[i] > tail, usual = why->scan.sampled[i].set == WHY_USUAL;
        t->times[i] = fmin(t->times[i], tail);
        why_add_to_group(t, &t->all, i);
        if (!usual)
            why_add_to_group(t, &t->slow, i);
        else if (!beyond)
            why_add_to_group(t, &t->predicting, i);
        slow += !usual;
    }
    t->certain = 1;
    return slow;
}

void why_find_chance(struct why *why, const uint32_t *lines_of_rows)
{
    struct why_test t = { .why = why, .lines = lines_of_rows, .sign = why_is_more(why) ? 1 : -1 };
    const size_t slow = why_begin_test(&t);
    if (slow && t.call_count > slow + 1) {
        why_find_shares(&t);
        why_find_most(&t);
        t.little = why_find_little(&t);
        why_count_draws(&t, slow);
    }
    free(t.times);
    free(t.shares);
    free(t.most);
    free(t.all.lines);
    free(t.slow.lines);
    free(t.predicting.lines);
}
