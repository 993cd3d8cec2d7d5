/*
 * speedscope's own format: for each thread a profile of its call paths, each weighted by its exclusive time or calls.
 * The profile is written as it is read and is not held in memory.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/order.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "export/formats.h"
#include "export/measures.h"
#include "export/stack_limit.h"

struct speedscope_writer {
    struct order_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    enum export_time time;
    const char *comma; /* before the next element of the current list */
    uint64_t total;    /* of the current thread */
    struct stack_limit limit;
    FILE *out;
};

/* The last frame stands for those that are left out of long stacks. */
static void speedscope_write_frames(const struct speedscope_writer *w, bool cuts)
{
    const struct profile *p = w->session->profile;
    fputs("\"shared\":{\"frames\":[", w->out);
    for (size_t i = 0; i < p->function_count; i++) {
        const struct function_name *name = &w->session->names[w->order->functions[i]];
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", w->out);
        json_put_text(w->out, name->name);
        if (name->file) {
            fputs(",\"file\":", w->out);
            json_put_text(w->out, name->file);
        }
        if (name->line)
            fprintf(w->out, ",\"line\":%" PRIu32, name->line);
        putc('}', w->out);
    }
    if (cuts)
        fputs(",\n{\"name\":\"" STACK_LIMIT_NAME "\"}", w->out);
    fputs("]},\n", w->out);
}

/* ---- a thread ---- */

/* Deep stacks have tens of millions of frames, and fprintf takes most of the time of an export. Nobody else writes. */
static void speedscope_write_frame(FILE *out, char before, uint64_t frame)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + frame % 10);
    while (frame /= 10);
    putc_unlocked(before, out);
    while (count > 0)
        putc_unlocked(digits[--count], out);
}

static void speedscope_write_sample(struct order_visitor *visitor, uint32_t node)
{
    struct speedscope_writer *w = (struct speedscope_writer *)visitor;
    const uint64_t value = measure_exclusive(w->session, node, w->time);
    if (!value)
        return;
    w->total += value;
    fputs(w->comma, w->out);
    for (size_t i = 0, next; i < visitor->depth; i = next) {
        next = stack_limit_next(&w->limit, i, visitor->depth);
        speedscope_write_frame(w->out, i ? ',' : '[',
                               w->order->ranks[w->session->profile->nodes[visitor->path[i]].function]);
        if (next > i + 1)
            speedscope_write_frame(w->out, ',', w->session->profile->function_count);
    }
    putc(']', w->out);
    w->comma = ",\n";
}

static void speedscope_write_weight(struct order_visitor *visitor, uint32_t node)
{
    struct speedscope_writer *w = (struct speedscope_writer *)visitor;
    const uint64_t value = measure_exclusive(w->session, node, w->time);
    if (!value)
        return;
    fprintf(w->out, "%s%" PRIu64, w->comma, value);
    w->comma = ",";
}

static void speedscope_write_list(struct speedscope_writer *w, const char *key, const struct profile_thread *thread,
                                  void (*enter)(struct order_visitor *, uint32_t))
{
    fprintf(w->out, ",\n\"%s\":[", key);
    w->comma = "\n";
    w->visitor.enter = enter;
    order_walk(w->order, thread, &w->visitor);
    putc(']', w->out);
}

static void speedscope_write_thread(struct speedscope_writer *w, const struct profile_thread *thread)
{
    const struct trace_thread *t = session_file_thread(w->session->file, thread->thread);
    const struct trace_process *p = session_file_process(w->session->file, thread->process);
    char *process = names_module(p ? p->path : "");
    const char *name = analysis_thread_name(w->session, thread->thread);
    char *title = need_text("%s (%" PRIu32 ") %s (%" PRIu32 ")", process, p ? p->pid : 0, name, t ? t->tid : 0);
    fputs("{\"type\":\"sampled\",\"name\":", w->out);
    json_put_text(w->out, title);
    fprintf(w->out, ",\"unit\":\"%s\",\"startValue\":0", measure_is_time(w->session, w->time) ? "nanoseconds" : "none");
    w->total = 0;
    speedscope_write_list(w, "samples", thread, speedscope_write_sample);
    speedscope_write_list(w, "weights", thread, speedscope_write_weight);
    fprintf(w->out, ",\n\"endValue\":%" PRIu64 "}", w->total);
    free(title);
    free(process);
}

/* ---- the order of paths ---- */

struct speedscope_weights {
    struct order_visitor visitor;
    const struct analysis *session;
    enum export_time time;
    uint64_t *inclusive; /* by node */
};

static void speedscope_pass(struct order_visitor *visitor, uint32_t node)
{
    (void)visitor;
    (void)node;
}

static void speedscope_add_weight(struct order_visitor *visitor, uint32_t node)
{
    struct speedscope_weights *w = (struct speedscope_weights *)visitor;
    w->inclusive[node] += measure_exclusive(w->session, node, w->time);
    if (visitor->depth > 1)
        w->inclusive[visitor->path[visitor->depth - 2]] += w->inclusive[node];
}

/* The format has no field for the view, and speedscope shows the order of the file. There are no times of day, so the
 * heaviest paths come first, as in its view Left Heavy. */
static void speedscope_order(struct order *order, const struct analysis *session, enum export_time time)
{
    const struct profile *p = session->profile;
    struct speedscope_weights w = { .visitor = { .enter = speedscope_pass, .leave = speedscope_add_weight },
                                    .session = session,
                                    .time = time,
                                    .inclusive = need_memory(p->node_count + 1, sizeof *w.inclusive) };
    for (size_t i = 0; i < p->thread_count; i++)
        order_walk(order, &p->threads[i], &w.visitor);
    order_put_heaviest_first(order, w.inclusive);
    free(w.inclusive);
}

/* A frame takes as many bytes as its number and a comma. */
static bool speedscope_choose_limit(struct speedscope_writer *w)
{
    const size_t count = w->session->profile->function_count;
    size_t *costs = need_memory(count, sizeof *costs);
    for (size_t i = 0; i < count; i++)
        costs[i] = 1 + (size_t)snprintf(NULL, 0, "%" PRIu32, w->order->ranks[i]);
    bool cuts;
    w->limit = stack_limit_choose(w->order, costs, &cuts);
    free(costs);
    return cuts;
}

/* The thread with the largest value, which viewers show first. */
static size_t speedscope_largest_thread(const struct speedscope_writer *w)
{
    const struct profile *p = w->session->profile;
    size_t largest = 0;
    for (size_t i = 1; i < p->thread_count; i++) {
        const struct profile_thread *best = &p->threads[w->order->threads[largest]];
        const struct profile_thread *next = &p->threads[w->order->threads[i]];
        if (w->session->rollup->nodes[next->root].elapsed_inclusive >
            w->session->rollup->nodes[best->root].elapsed_inclusive)
            largest = i;
    }
    return largest;
}

bool export_speedscope(const struct analysis *session, const struct export_options *options, FILE *out,
                       struct error *error)
{
    (void)error;
    struct order *order = order_new(session);
    speedscope_order(order, session, options->time);
    struct speedscope_writer w = { .session = session, .order = order, .time = options->time, .out = out };
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"dwell " DWELL_VERSION_TEXT "\",\"name\":",
          out);
    json_put_text(out, session->summary.path);
    fprintf(out, ",\"activeProfileIndex\":%zu,\n", speedscope_largest_thread(&w));
    speedscope_write_frames(&w, speedscope_choose_limit(&w));
    fputs("\"profiles\":[", out);
    for (size_t i = 0; i < session->profile->thread_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        speedscope_write_thread(&w, &session->profile->threads[order->threads[i]]);
    }
    fputs("]}\n", out);
    order_free(order);
    return true;
}
