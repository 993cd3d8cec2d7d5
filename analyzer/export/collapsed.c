/*
 * Collapsed stacks for flamegraph.pl and similar tools: a line for each call path with its frames, separated by
 * semicolons, and its exclusive time or calls. The first two frames are the process and the thread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "base/memory.h"
#include "export/export_text.h"
#include "export/formats.h"
#include "export/measures.h"
#include "export/stack_limit.h"

struct collapsed_writer {
    struct order_visitor visitor;
    const struct analysis *session;
    enum export_time time;
    char **names; /* by function */
    char *process, *thread;
    struct stack_limit limit;
    FILE *out;
};

/* Two numbers at a line's end mean a comparison of two recordings. So `_` joins a last number to its name. */
static void collapsed_join_last_number(char *frame)
{
    char *blank = strrchr(frame, ' ');
    if (blank && blank[1] && blank[1 + strspn(blank + 1, "0123456789.")] == '\0')
        *blank = '_';
}

static char *collapsed_new_frame(const char *name)
{
    char *frame = text_single_line(name);
    for (char *at = frame; *at; at++)
        if (*at == ';')
            *at = ':';
    collapsed_join_last_number(frame);
    return frame;
}

static void collapsed_write_path(struct order_visitor *visitor, uint32_t node)
{
    const struct collapsed_writer *w = (struct collapsed_writer *)visitor;
    const uint64_t value = measure_exclusive(w->session, node, w->time);
    if (!value)
        return;
    fprintf(w->out, "%s;%s", w->process, w->thread);
    for (size_t i = 0, next; i < visitor->depth; i = next) {
        next = stack_limit_next(&w->limit, i, visitor->depth);
        putc(';', w->out);
        fputs(w->names[w->session->profile->nodes[visitor->path[i]].function], w->out);
        if (next > i + 1)
            fputs(";" STACK_LIMIT_NAME, w->out);
    }
    fprintf(w->out, " %" PRIu64 "\n", value);
}

static void collapsed_write_thread(struct collapsed_writer *w, const struct order *order,
                                   const struct profile_thread *thread)
{
    const struct trace_process *p = session_file_process(w->session->file, thread->process);
    char *process = names_module(p ? p->path : "");
    w->process = collapsed_new_frame(process);
    w->thread = collapsed_new_frame(analysis_thread_name(w->session, thread->thread));
    order_walk(order, thread, &w->visitor);
    free(process);
    free(w->process);
    free(w->thread);
}

static struct stack_limit collapsed_choose_limit(const struct collapsed_writer *w, const struct order *order)
{
    const size_t count = w->session->profile->function_count;
    size_t *costs = need_memory(count, sizeof *costs);
    for (size_t i = 0; i < count; i++)
        costs[i] = strlen(w->names[i]) + 1;
    bool cuts;
    const struct stack_limit limit = stack_limit_choose(order, costs, &cuts);
    free(costs);
    return limit;
}

bool export_collapsed(const struct analysis *session, const struct export_options *options, FILE *out,
                      struct error *error)
{
    (void)error;
    const struct profile *p = session->profile;
    struct collapsed_writer w = {
        .visitor = { .enter = collapsed_write_path },
        .session = session,
        .time = options->time,
        .names = need_memory(p->function_count + 1, sizeof *w.names),
        .out = out,
    };
    for (size_t i = 0; i < p->function_count; i++)
        w.names[i] = collapsed_new_frame(session->names[i].name);
    struct order *order = order_new(session);
    w.limit = collapsed_choose_limit(&w, order);
    for (size_t i = 0; i < p->thread_count; i++)
        collapsed_write_thread(&w, order, &p->threads[order->threads[i]]);
    order_free(order);
    for (size_t i = 0; i < p->function_count; i++)
        free(w.names[i]);
    free(w.names);
    return true;
}
