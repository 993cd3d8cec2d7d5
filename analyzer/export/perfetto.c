/*
 * Perfetto's protobuf, packet by packet. Each thread has its own sequence of packets, which defines names at their
 * first use; the first sequence has what belongs to no thread. Times are those of CLOCK_MONOTONIC.
 *
 * Protobuf fields may come in any order. So the packet of a slice has three parts: its time, a part that is packed once
 * for each thread, and a part that is packed once for each function.
 */
#include "export/perfetto_writer.h"

#include <stdlib.h>

#include "analysis/order.h"
#include "base/memory.h"
#include "base/units.h"
#include "base/utf8.h"
#include "export/formats.h"
#include "tables/value_args.h"

enum { SESSION_SEQUENCE = 1, FIRST_THREAD_SEQUENCE };

#define RATE_PERIOD 10000000u /* nanoseconds: the period of the counter of calls */
#define RATES_PER_SECOND (1000000000u / RATE_PERIOD)

struct perfetto_thread {
    struct packet_stream stream;
    uint32_t serial;
    uint64_t track;
    bool *named; /* true if the sequence has defined the name; functions, then modules, then "continued" */
    bool has_off_cpu, has_faults, has_blocked, has_calls;
    uint64_t faults, blocked; /* sums so far; `blocked` in ticks */
    uint64_t period, calls;   /* the current period and its calls */
};

/* The slices of calls, and the counters of their threads. */
struct perfetto_slices {
    struct slices_visitor visitor;
    struct perfetto_writer common;
    const struct analysis *session;
    const struct order *order;
    struct packet_piece *begins; /* two for each function: for a call, and for a slice that continues one */
    struct packet_piece end;
    struct value_args values;
    struct perfetto_thread **threads; /* by number */
    size_t thread_count, thread_room;
};

/* ---- names ---- */

/* The numbers of interned texts, from 1: ranks in the order, then the unknown function or module. "continued" comes
 * after the modules. */
static uint32_t perfetto_function_id(const struct perfetto_slices *w, uint32_t function)
{
    return 1 + (function < w->session->profile->function_count ? w->order->ranks[function] : function);
}

static uint32_t perfetto_module_id(const struct perfetto_slices *w, uint32_t function)
{
    const struct profile *p = w->session->profile;
    return 1 + (function < p->function_count ? w->order->module_ranks[p->functions[function].module]
                                             : (uint32_t)p->module_count);
}

static void perfetto_name_function(const struct perfetto_slices *w, struct perfetto_thread *t, uint32_t function,
                                   bool continued)
{
    const struct profile *p = w->session->profile;
    const bool known = function < p->function_count;
    const struct function_name *name = known ? &w->session->names[function] : NULL;
    const uint32_t id = perfetto_function_id(w, function), module = perfetto_module_id(w, function);
    bool *function_named = &t->named[function], *module_named = &t->named[p->function_count + module];
    bool *continued_named = &t->named[p->function_count + 1 + p->module_count + 1];
    if (*function_named && *module_named && (!continued || *continued_named))
        return;
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Interned interned = PERFETTO__INTERNED__INIT;
    Perfetto__Interned__Text texts[3], *names[1] = { &texts[0] }, *categories[2];
    Perfetto__Interned__Location location = PERFETTO__INTERNED__LOCATION__INIT, *locations[1] = { &location };
    char *function_text = utf8_repair(known ? name->name : "[unknown]");
    char *module_text = utf8_repair(known ? name->module : "[unknown]"),
         *file = utf8_repair(known && name->file ? name->file : "");
    packet.interned = &interned;
    if (!*function_named) {
        packet_intern(&texts[0], id, function_text);
        interned.n_names = 1;
        interned.names = names;
        location.has_id = true;
        location.id = id;
        location.function = function_text;
        location.file = file;
        location.has_line = known && name->line;
        location.line = location.has_line ? name->line : 0;
        interned.n_locations = file[0] != '\0';
        interned.locations = locations;
    }
    if (!*module_named) {
        packet_intern(&texts[1], module, module_text);
        categories[interned.n_categories++] = &texts[1];
    }
    if (continued && !*continued_named) {
        packet_intern(&texts[2], p->module_count + 2, "continued");
        categories[interned.n_categories++] = &texts[2];
        *continued_named = true;
    }
    interned.categories = categories;
    packet_write(&t->stream, &packet);
    *function_named = *module_named = true;
    free(function_text);
    free(module_text);
    free(file);
}

/* Packs the beginning of a function's slices without the time. `annotated` can have annotations. */
static struct packet_piece perfetto_slice_begin(const struct perfetto_slices *w, uint32_t function, bool continued,
                                                const Perfetto__Event *annotated)
{
    const struct profile *p = w->session->profile;
    const bool known = function < p->function_count;
    uint64_t categories[2] = { perfetto_module_id(w, function), p->module_count + 2 };
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = *annotated;
    packet.event = &event;
    event.has_type = event.has_name = true;
    event.type = PACKET_BEGIN;
    event.name = perfetto_function_id(w, function);
    event.n_categories = continued ? 2 : 1;
    event.categories = categories;
    event.has_source_location = known && w->session->names[function].file;
    event.source_location = event.name;
    return packet_piece_of(&packet);
}

/* ---- values of arguments ---- */

static void perfetto_annotate(Perfetto__Annotation *annotation, const struct value_arg *arg)
{
    perfetto__annotation__init(annotation);
    annotation->name = (char *)arg->name;
    annotation->has_truth = arg->kind == VALUE_ARG_BOOL;
    annotation->truth = arg->word != 0;
    annotation->has_number = arg->kind == VALUE_ARG_UNSIGNED;
    annotation->number = arg->word;
    annotation->has_signed_number = arg->kind == VALUE_ARG_SIGNED;
    annotation->signed_number = (int64_t)arg->word;
    annotation->has_real = arg->kind == VALUE_ARG_REAL;
    annotation->real = arg->real;
    annotation->text = arg->kind <= VALUE_ARG_TEXT ? utf8_repair(arg->text) : NULL;
}

/* The beginning of a call's slice with its values. */
static void perfetto_write_valued(const struct perfetto_slices *w, const struct perfetto_thread *t, uint32_t function,
                                  uint64_t time, const struct recorded_row *row)
{
    Perfetto__Annotation annotations[DWELL_VALUES_MOST], *list[DWELL_VALUES_MOST];
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    event.n_annotations = value_args_count(&w->values, row);
    event.annotations = list;
    for (uint32_t i = 0; i < event.n_annotations; i++) {
        const struct value_arg arg = value_args_get(&w->values, row, i);
        list[i] = &annotations[i];
        perfetto_annotate(list[i], &arg);
        free(arg.text);
    }
    const struct packet_piece piece = perfetto_slice_begin(w, function, false, &event);
    packet_write_piece(&t->stream, time, &piece);
    free(piece.at);
    for (uint32_t i = 0; i < event.n_annotations; i++)
        free(annotations[i].text);
}

/* ---- slices ---- */

static void perfetto_begin_thread(struct slices_visitor *visitor, struct slices_thread *thread)
{
    struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    const struct profile *p = w->session->profile;
    struct perfetto_thread *t = need_memory(1, sizeof *t);
    perfetto_announce_thread(&w->common, thread->process, thread->thread);
    t->serial = thread->thread;
    t->track = perfetto_track_id(&w->common, OF_THREAD, thread->thread);
    t->named = need_memory(p->function_count + p->module_count + 3, sizeof *t->named);
    t->stream = packet_stream_begin(w->common.stream.out, FIRST_THREAD_SEQUENCE + thread->number, t->track, NULL);
    GROW(w->threads, w->thread_count, w->thread_room);
    w->threads[w->thread_count++] = t;
}

/* Writes the number of calls in the period that has passed. `goes_on` means that the next period has calls, too. */
static void perfetto_write_rate(const struct perfetto_slices *w, uint32_t thread, struct perfetto_thread *t,
                                bool goes_on)
{
    const uint64_t track = perfetto_track_id(&w->common, OF_CALLS, thread);
    if (!t->has_calls)
        perfetto_announce_track(&t->stream, t->track, track, "calls", UNIT_OTHER, "calls/s");
    t->has_calls = true;
    perfetto_write_counter(&t->stream, track, t->period * RATE_PERIOD, t->calls * RATES_PER_SECOND);
    if (!goes_on)
        perfetto_write_counter(&t->stream, track, (t->period + 1) * RATE_PERIOD, 0);
    t->calls = 0;
}

static void perfetto_count_call(const struct perfetto_slices *w, const struct slices_thread *thread,
                                struct perfetto_thread *t, uint64_t time)
{
    const uint64_t period = time / RATE_PERIOD;
    if (period != t->period && t->calls)
        perfetto_write_rate(w, thread->thread, t, period == t->period + 1);
    t->period = period;
    t->calls++;
}

static void perfetto_begin_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice)
{
    static const Perfetto__Event plain = PERFETTO__EVENT__INIT;
    const struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    const size_t which = 2 * (size_t)slice->function + !slice->is_call;
    const uint64_t time = perfetto_time(&w->common, slice->begin);
    perfetto_name_function(w, t, slice->function, !slice->is_call);
    const struct recorded_row *row =
        slice->is_call ? value_args_of(&w->values, slice->function, thread->thread, slice->begin) : NULL;
    if (!w->begins[which].length)
        w->begins[which] = perfetto_slice_begin(w, slice->function, !slice->is_call, &plain);
    if (row)
        perfetto_write_valued(w, t, slice->function, time, row);
    else
        packet_write_piece(&t->stream, time, &w->begins[which]);
    if (slice->is_call)
        perfetto_count_call(w, thread, t, time);
}

static void perfetto_end_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice,
                               uint64_t time, enum slice_end how)
{
    const struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    (void)slice;
    (void)how;
    packet_write_piece(&w->threads[thread->number]->stream, perfetto_time(&w->common, time), &w->end);
}

/* ---- off-CPU times, page faults and marks ---- */

static void perfetto_write_off_cpu(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                   uint64_t end, bool preempted)
{
    const struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    const uint64_t track = perfetto_track_id(&w->common, OFF_CPU, thread->thread);
    if (!t->has_off_cpu)
        perfetto_announce_track(&t->stream, t->track, track, "off CPU", UNIT_OTHER, NULL);
    t->has_off_cpu = true;
    perfetto_write_interval(&t->stream, track, perfetto_time(&w->common, begin), perfetto_time(&w->common, end),
                            preempted ? "preempted" : "blocked");
}

static void perfetto_count_interval(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                    uint64_t end, const struct decoded_extras *extras)
{
    const struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    (void)begin;
    if (extras->page_faults) {
        const uint64_t track = perfetto_track_id(&w->common, OF_FAULTS, thread->thread);
        if (!t->has_faults)
            perfetto_announce_track(&t->stream, t->track, track, "page faults", UNIT_COUNT, "");
        t->has_faults = true;
        perfetto_write_counter(&t->stream, track, perfetto_time(&w->common, end), t->faults += extras->page_faults);
    }
    if (extras->blocked) {
        const uint64_t track = perfetto_track_id(&w->common, OF_BLOCKED, thread->thread);
        if (!t->has_blocked)
            perfetto_announce_track(&t->stream, t->track, track, "blocked", UNIT_NS, "");
        t->has_blocked = true;
        t->blocked += extras->blocked;
        perfetto_write_counter(&t->stream, track, perfetto_time(&w->common, end),
                               ticks_to_ns(t->blocked, w->session->file->header.ticks_per_second));
    }
}

static void perfetto_write_mark(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time,
                                uint32_t number, const char *text)
{
    const struct perfetto_slices *w = (struct perfetto_slices *)visitor;
    struct perfetto_thread *t = w->threads[thread->number];
    Perfetto__Annotation annotation, *annotations = &annotation;
    packet_annotate_number(&annotation, "mark", number);
    perfetto_write_instant(&t->stream, t->track, perfetto_time(&w->common, time), text[0] ? text : "mark", &annotations,
                           1);
}

/* ---- start and end ---- */

static void perfetto_free_writer(struct perfetto_slices *w)
{
    for (size_t i = 0; i < 2 * (w->session->profile->function_count + 1); i++)
        free(w->begins[i].at);
    for (size_t i = 0; i < w->thread_count; i++) {
        packet_stream_end(&w->threads[i]->stream);
        free(w->threads[i]->named);
        free(w->threads[i]);
    }
    packet_stream_end(&w->common.stream);
    value_args_end(&w->values);
    free(w->begins);
    free(w->end.at);
    free(w->threads);
    free(w->common.announced);
    free(w->common.threads_announced);
}

static struct packet_piece perfetto_slice_end(void)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    event.has_type = true;
    event.type = PACKET_END;
    return packet_piece_of(&packet);
}

bool export_perfetto(const struct analysis *session, const struct export_options *options, FILE *out,
                     struct error *error)
{
    (void)error;
    const struct session_file *file = session->file;
    struct order *order = order_new(session);
    struct perfetto_slices w = {
        .visitor = { .thread = perfetto_begin_thread,
                     .begin = perfetto_begin_slice,
                     .end = perfetto_end_slice,
                     .interval = perfetto_count_interval,
                     .off_cpu = perfetto_write_off_cpu,
                     .mark = perfetto_write_mark },
        .common = { .session = session,
                    .announced = need_memory(file->process_count + 1, sizeof *w.common.announced),
                    .threads_announced = need_memory(file->thread_count + 1, sizeof *w.common.threads_announced) },
        .session = session,
        .order = order,
        .begins = need_memory(2 * (session->profile->function_count + 1), sizeof *w.begins),
        .end = perfetto_slice_end(),
        .values = value_args_begin(session, options->values),
    };
    w.common.stream = packet_stream_begin(out, SESSION_SEQUENCE, 0, &file->header);
    perfetto_write_flows(&w.common);
    slices_run(session, &w.visitor);
    for (size_t i = 0; i < w.thread_count; i++)
        if (w.threads[i]->calls)
            perfetto_write_rate(&w, w.threads[i]->serial, w.threads[i], false);
    perfetto_write_waits(&w.common);
    perfetto_write_events(&w.common);
    perfetto_write_samples(&w.common);
    perfetto_free_writer(&w);
    order_free(order);
    return true;
}
