/* Finds out what each call of a comparison has, besides its time. */
#include "causes/why.h"
#include "causes/why_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "base/units.h"
#include "trace/event_fields.h"

/* So many calls of a bin, and so many bins, tell a bad time from others. */
enum { MOST_BINS = 20, MOST_TRAITS = 10000 };

/* More numbers of one mark tell calls apart, such as those of requests, and not kinds of calls. */
enum { MOST_NUMBERS = 100 };

/* That a call has a trait. */
struct trait_pair {
    uint32_t call, trait;
};

/* How many numbers the marks of a text have, in all sessions. */
struct trait_numbers {
    struct intern texts, pairs;
    uint32_t *distinct; /* by text */
    size_t count, room;
};

struct trait_pairs {
    struct why_traits *traits;
    struct trait_numbers numbers;
    const struct analysis *analysis; /* of the session whose calls get traits now */
    size_t first, end;               /* these calls */
    struct trait_pair *list;
    size_t count, room;
};

/* ---- pairs ---- */

static void trait_add(struct trait_pairs *p, size_t call, const char *name, const char *value)
{
    struct why_traits *t = p->traits;
    if (t->count == MOST_TRAITS && intern_find_pair(&t->known, name, value, strlen(value)) == INTERN_NONE)
        return;
    const uint32_t number = intern_pair(&t->known, name, value, strlen(value));
    if (number == t->count) {
        GROW(t->list, t->count, t->room);
        t->list[t->count++] = (struct why_trait){ .name = name, .value = need_text("%s", value) };
    }
    GROW(p->list, p->count, p->room);
    p->list[p->count++] = (struct trait_pair){ (uint32_t)call, number };
}

static int trait_compare_pairs(const void *a, const void *b)
{
    const struct trait_pair *x = a, *y = b;
    return x->call != y->call ? (x->call < y->call ? -1 : 1) : (x->trait > y->trait) - (x->trait < y->trait);
}

/* Lists the traits of each call, once each. */
static void trait_list_pairs(struct trait_pairs *p)
{
    struct why_traits *t = p->traits;
    size_t kept = 0;
    if (p->count)
        qsort(p->list, p->count, sizeof *p->list, trait_compare_pairs);
    t->first = need_memory(t->call_count + 1, sizeof *t->first);
    t->of_calls = need_memory(p->count + 1, sizeof *t->of_calls);
    for (size_t i = 0, call = 0; call <= t->call_count; call++) {
        t->first[call] = (uint32_t)kept;
        for (; i < p->count && p->list[i].call == call; i++) {
            if (i && trait_compare_pairs(&p->list[i], &p->list[i - 1]) == 0)
                continue;
            t->of_calls[kept++] = p->list[i].trait;
            t->list[p->list[i].trait].calls++;
        }
    }
    free(p->list);
}

/* ---- threads and processes ---- */

static void trait_add_thread(struct trait_pairs *p, size_t call)
{
    const uint32_t serial = p->traits->calls[call].thread;
    const struct trace_thread *thread = session_file_thread(p->analysis->file, serial);
    const char *title = analysis_thread_title(p->analysis, serial);
    if (!thread)
        return;
    char *text = title           ? need_text("%s", title)
                 : *thread->name ? need_text("%s", thread->name)
                                 : need_text("%" PRIu32, thread->tid);
    trait_add(p, call, "thread", text);
    free(text);
}

static const struct trace_process *trait_process(const struct trait_pairs *p, size_t call)
{
    const struct trace_thread *thread = session_file_thread(p->analysis->file, p->traits->calls[call].thread);
    return thread ? session_file_process(p->analysis->file, thread->process) : NULL;
}

static void trait_add_process(struct trait_pairs *p, size_t call)
{
    const struct trace_process *process = trait_process(p, call);
    if (!process)
        return;
    char *text = need_text("%s (%" PRIu32 ")", path_file_name(process->path), process->pid);
    trait_add(p, call, "process", text);
    free(text);
}

/* ---- CPUs ---- */

static void trait_add_cpu(struct trait_pairs *p, size_t call)
{
    const struct why_sampled *c = &p->traits->calls[call];
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, c->cpus.now - 1);
    if (c->cpus.now)
        trait_add(p, call, "cpu", number);
    if (c->cpus.moved)
        trait_add(p, call, "migration", "to another cpu");
}

/* ---- first calls ---- */

static int trait_compare_firsts(const void *a, const void *b)
{
    const struct why_first *x = a, *y = b;
    return ORDER_BY(x, y, process, begin, thread);
}

/* The session's last call that has begun then, or its end. */
static size_t trait_find_call(const struct trait_pairs *p, uint32_t thread, uint64_t time)
{
    const struct why_sampled *calls = &p->traits->calls[p->first];
    const size_t later = LOWER_BOUND(call, calls, p->end - p->first,
                                     call->thread < thread || (call->thread == thread && call->begin <= time));
    return later && calls[later - 1].thread == thread ? p->first + later - 1 : p->end;
}

static void trait_add_firsts(struct trait_pairs *p, const struct why_found *scan, unsigned session)
{
    struct why_first *firsts = need_memory(scan->first_count + 1, sizeof *firsts);
    size_t count = 0;
    for (size_t i = 0; i < scan->first_count; i++)
        if (scan->firsts[i].session == session)
            firsts[count++] = scan->firsts[i];
    if (count)
        qsort(firsts, count, sizeof *firsts, trait_compare_firsts);
    for (size_t i = 0; i < count; i++) {
        const size_t call = trait_find_call(p, firsts[i].thread, firsts[i].begin);
        if (call == p->end || p->traits->calls[call].begin != firsts[i].begin)
            continue;
        trait_add(p, call, "first call", "of a thread");
        if (!i || firsts[i - 1].process != firsts[i].process)
            trait_add(p, call, "first call", "of a process");
    }
    free(firsts);
}

/* ---- marks ---- */

/* A mark by the serial number of its thread, or of its process. */
struct trait_mark {
    uint32_t owner;
    uint64_t time, order;
    const struct profile_mark *mark;
};

static int trait_compare_marks(const void *a, const void *b)
{
    const struct trait_mark *x = a, *y = b;
    return ORDER_BY(x, y, owner, time, order);
}

/* The caller frees them. */
static struct trait_mark *trait_sort_marks(const struct profile *p, bool by_thread)
{
    struct trait_mark *marks = need_memory(p->mark_count + 1, sizeof *marks);
    for (size_t i = 0; i < p->mark_count; i++) {
        const struct profile_mark *mark = &p->marks[i];
        marks[i] =
            (struct trait_mark){ by_thread ? mark->thread : mark->process, mark->time, mark->order, &p->marks[i] };
    }
    if (p->mark_count)
        qsort(marks, p->mark_count, sizeof *marks, trait_compare_marks);
    return marks;
}

/* The owner's last mark before that time, or NULL. */
static const struct profile_mark *trait_last_mark(const struct trait_mark *marks, size_t count, uint32_t owner,
                                                  uint64_t time)
{
    const size_t later =
        LOWER_BOUND(mark, marks, count, mark->owner < owner || (mark->owner == owner && mark->time < time));
    return later && marks[later - 1].owner == owner ? marks[later - 1].mark : NULL;
}

static void trait_note_numbers(struct trait_numbers *n, const struct profile *p)
{
    for (size_t i = 0; i < p->mark_count; i++) {
        const struct profile_mark *mark = &p->marks[i];
        const uint32_t text = intern(&n->texts, mark->text, strlen(mark->text));
        if (text == n->count) {
            GROW(n->distinct, n->count, n->room);
            n->distinct[n->count++] = 0;
        }
        if (n->distinct[text] > MOST_NUMBERS)
            continue;
        const size_t before = n->pairs.count;
        intern_pair(&n->pairs, mark->text, &mark->number, sizeof mark->number);
        n->distinct[text] += n->pairs.count > before;
    }
}

static void trait_drop_numbers(struct trait_numbers *n)
{
    intern_drop(&n->texts);
    intern_drop(&n->pairs);
    free(n->distinct);
}

/* The mark's text, or its number if it has none. If marks of the text have several numbers, text and number as well. */
static void trait_add_mark(struct trait_pairs *p, size_t call, const struct profile_mark *mark)
{
    char *number = need_text("%s%s%" PRIu32, mark->text, *mark->text ? "=" : "", mark->number);
    trait_add(p, call, "mark", *mark->text ? mark->text : number);
    const uint32_t distinct = p->numbers.distinct[intern_find(&p->numbers.texts, mark->text, strlen(mark->text))];
    if (*mark->text && distinct > 1 && distinct <= MOST_NUMBERS)
        trait_add(p, call, "mark", number);
    free(number);
}

/* The last mark of the thread before the call ends. If it has none, the last one of its process before the call begins.
 */
static void trait_add_marks(struct trait_pairs *p)
{
    const struct profile *profile = p->analysis->profile;
    struct trait_mark *of_threads = trait_sort_marks(profile, true), *of_processes = trait_sort_marks(profile, false);
    for (size_t i = p->first; i < p->end && profile->mark_count; i++) {
        const struct why_sampled *call = &p->traits->calls[i];
        const struct trace_process *process = trait_process(p, i);
        const struct profile_mark *mark = trait_last_mark(of_threads, profile->mark_count, call->thread, call->end);
        if (!mark && process)
            mark = trait_last_mark(of_processes, profile->mark_count, process->serial, call->begin);
        if (mark)
            trait_add_mark(p, i, mark);
    }
    free(of_threads);
    free(of_processes);
}

/* ---- trace events ---- */

/* Each field is a trait: "request.kind=2". Data that no field has is none. */
static void trait_add_fields(struct trait_pairs *p, size_t call, const char *class, char *fields)
{
    for (char *field = fields, *next; field; field = next) {
        next = strstr(field, ", ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        if (!strchr(field, '='))
            continue;
        char *text = need_text("%s.%s", class, field);
        trait_add(p, call, "event", text);
        free(text);
    }
}

/* An event of the call's thread while the call was open. */
static bool trait_take_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct trait_pairs *p = context;
    const size_t call = trait_find_call(p, event->thread, event->time);
    char guid[GUID_TEXT];
    if (call == p->end || event->time >= p->traits->calls[call].end)
        return true;
    guid_text(class->guid, guid);
    const char *name = *class->name ? class->name : guid;
    const struct trace_event_layout *layout =
        event_fields_layout(p->analysis->file, class->guid, event->type, event->version);
    char *fields = event_fields_text(layout, event->data, event->data_size);
    trait_add(p, call, "event", name);
    if (fields)
        trait_add_fields(p, call, name, fields);
    free(fields);
    return true;
}

/* ---- axes ---- */

struct trait_place {
    uint64_t begin, end;
    uint32_t call;
};

static int trait_compare_places(const void *a, const void *b)
{
    const struct trait_place *x = a, *y = b;
    return ORDER_BY(x, y, begin, call);
}

/* `places`: of all calls, by call; nanoseconds. */
static void trait_add_axis(struct why_traits *t, const char *name, bool ages, struct trait_place *places)
{
    struct why_axis *a = &t->axes[t->axis_count++];
    *a = (struct why_axis){ .name = name, .ages = ages, .bins = smaller(MOST_BINS, t->call_count) };
    a->of_calls = need_memory(t->call_count + 1, sizeof *a->of_calls);
    a->begins = need_memory(a->bins + 1, sizeof *a->begins);
    a->end = need_memory(a->bins + 1, sizeof *a->end);
    if (t->call_count)
        qsort(places, t->call_count, sizeof *places, trait_compare_places);
    for (size_t i = t->call_count; i-- > 0;) {
        const size_t bin = i * a->bins / t->call_count;
        a->of_calls[places[i].call] = (uint32_t)bin;
        a->begins[bin] = places[i].begin;
        a->end[bin] = larger(a->end[bin], places[i].end);
    }
}

/* Where the session's calls are on the axes: since it began, and since their processes did. */
static void trait_place_calls(const struct trait_pairs *p, struct trait_place *times, struct trait_place *ages)
{
    const uint64_t start = p->analysis->file->header.start_ticks, rate = p->analysis->summary.ticks_per_second;
    for (size_t i = p->first; i < p->end; i++) {
        const struct why_sampled *call = &p->traits->calls[i];
        const struct trace_process *process = trait_process(p, i);
        const uint64_t born = process ? process->start_time : start;
        times[i] = (struct trait_place){ ticks_to_ns(less(call->begin, start), rate),
                                         ticks_to_ns(less(call->end, start), rate), (uint32_t)i };
        ages[i] = (struct trait_place){ ticks_to_ns(less(call->begin, born), rate),
                                        ticks_to_ns(less(call->end, born), rate), (uint32_t)i };
    }
}

/* ---- all ---- */

static void trait_add_session(struct trait_pairs *p, const struct why_found *scan, unsigned session, bool several)
{
    for (size_t i = p->first; i < p->end; i++) {
        trait_add_thread(p, i);
        trait_add_process(p, i);
        trait_add_cpu(p, i);
        if (several)
            trait_add(p, i, "session", p->analysis->file->path);
    }
    trait_add_firsts(p, scan, session);
    trait_add_marks(p);
    trace_events_follow(p->analysis->file, 0, trait_take_event, p);
}

static void trait_add_argument(void *context, size_t call, const char *text)
{
    trait_add(context, call, "argument", text);
}

/* The axis of ages is for several processes. */
struct why_traits why_traits_find(const struct why_part *parts, size_t count, const struct why_found *scan, bool values)
{
    struct why_arguments arguments = { .count = 0 };
    struct why_traits t = { .calls = scan->sampled, .call_count = scan->sampled_count };
    struct trait_pairs pairs = { .traits = &t };
    struct trait_place *times = need_memory(t.call_count + 1, sizeof *times);
    struct trait_place *ages = need_memory(t.call_count + 1, sizeof *ages);
    size_t processes = 0;
    for (size_t i = 0; i < count; i++)
        trait_note_numbers(&pairs.numbers, parts[i].session.analysis->profile);
    for (size_t i = 0; i < count; i++) {
        pairs.analysis = parts[i].session.analysis;
        pairs.first = parts[i].first_sample;
        pairs.end = pairs.first + parts[i].sample_count;
        processes += pairs.analysis->file->process_count;
        trait_add_session(&pairs, scan, (unsigned)i, count > 1);
        trait_place_calls(&pairs, times, ages);
        if (values)
            why_arguments_read(&arguments, &parts[i], t.calls);
    }
    why_arguments_end(&arguments, &t, trait_add_argument, &pairs);
    trait_list_pairs(&pairs);
    trait_add_axis(&t, "time", false, times);
    if (processes > 1)
        trait_add_axis(&t, "process age", true, ages);
    trait_drop_numbers(&pairs.numbers);
    free(times);
    free(ages);
    return t;
}

void why_traits_drop(struct why_traits *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->list[i].value);
    for (size_t i = 0; i < t->axis_count; i++) {
        free(t->axes[i].of_calls);
        free(t->axes[i].begins);
        free(t->axes[i].end);
    }
    free(t->list);
    free(t->first);
    free(t->of_calls);
    intern_drop(&t->known);
}
