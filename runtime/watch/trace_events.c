/*
 * Trace events (dwell/event.h). Each thread has chunks of its own for them, in every mode, and while it is paused.
 *
 * An event is written with signals held back: neither another event nor a probe can interrupt it on the same thread.
 * Its size is stored last, so that a reader after a kill finds a whole event or none.
 *
 * The settings are one text, "NAME:LEVEL,GUID:LEVEL,*:off" and so on. The last setting that selects a class holds. The
 * text comes from DWELL_EVENTS, is handed on to the programs that this one executes, and changes by dwell control.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "call.h"
#include "chunk.h"
#include "clock.h"
#include "environment.h"
#include "event_check.h"
#include "event_control.h"
#include "guard.h"
#include "keep_activities.h"
#include "lock.h"
#include "losses.h"
#include "metadata_records.h"
#include "process.h"
#include "recorder.h"
#include "retired.h"
#include "ring.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"
#include "trace_events.h"

/* As that of a probe called there (hooks.c). */
#define CALLERS_STACK_POINTER ((uint64_t)__builtin_dwarf_cfa() - sizeof(void *))

enum {
    FIRST_CHUNK = 16 << 10, /* doubled for each further chunk of a thread */
    LARGEST_CHUNK = 256 << 10,
    GUID_TEXT = 36,
    LONGEST_SETTINGS = 8 << 10,
};

/* ---- settings ---- */

static const char setting_name[] = "DWELL_EVENTS=";

/* Two buffers: the unused one is filled, then used. They outlive a fork, as the classes do. */
static char settings[2][sizeof setting_name + LONGEST_SETTINGS];
static const char *wanted = "";
static struct dwell_event_class *classes;

static void trace_events_write_hexadecimal(char *at, uint64_t value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        at[i] = "0123456789abcdef"[value & 15];
}

static void trace_events_write_guid(char text[GUID_TEXT], const dwell_guid *guid)
{
    memset(text, '-', GUID_TEXT);
    trace_events_write_hexadecimal(text, guid->data1, 8);
    trace_events_write_hexadecimal(text + 9, guid->data2, 4);
    trace_events_write_hexadecimal(text + 14, guid->data3, 4);
    for (int i = 0; i < 8; i++)
        trace_events_write_hexadecimal(text + 19 + 2 * i + (i > 1), guid->data4[i], 2);
}

/* A setting: the classes that it selects, and after the colon its severity. */
struct setting {
    const char *subject;
    size_t length;
    uint32_t enabled; /* as in struct dwell_event_class */
};

/* Takes the first setting of *list. False if there is none. */
static bool trace_events_next_setting(const char **list, struct setting *s)
{
    if (!**list)
        return false;
    const size_t whole = strcspn(*list, ",");
    s->subject = *list;
    s->length = strcspn(*list, ":,");
    *list += whole + ((*list)[whole] == ',');
    s->enabled = 256;
    if (s->length < whole) {
        const char *severity = s->subject + s->length + 1;
        uint32_t number = 0;
        for (; *severity >= '0' && *severity <= '9' && number < 256; severity++)
            number = number * 10 + (uint32_t)(*severity - '0');
        if (strncmp(severity, "off", 3) == 0)
            s->enabled = 0;
        else
            s->enabled = number < 256 ? number + 1 : 256;
    }
    return true;
}

static bool trace_events_setting_is(const struct setting *s, const char *text, size_t length)
{
    return s->length == length && memcmp(s->subject, text, length) == 0;
}

static bool trace_events_setting_selects(const struct setting *s, const struct dwell_event_class *c)
{
    char guid[GUID_TEXT];
    trace_events_write_guid(guid, &c->guid);
    return trace_events_setting_is(s, "*", 1) || trace_events_setting_is(s, c->name, strlen(c->name)) ||
           trace_events_setting_is(s, guid, GUID_TEXT);
}

static void trace_events_apply_settings(struct dwell_event_class *c)
{
    static const uint8_t perflog[] = DWELL_PERFLOG_GUID;
    uint32_t enabled = memcmp(&c->guid, perflog, sizeof c->guid) == 0 ? 256 : 0;
    const char *list = wanted;
    for (struct setting s; trace_events_next_setting(&list, &s);)
        if (trace_events_setting_selects(&s, c))
            enabled = s.enabled;
    __atomic_store_n(&c->enabled, enabled, __ATOMIC_RELAXED);
}

void trace_events_begin(void)
{
    const char *given = environment_get("DWELL_EVENTS");
    if (given)
        wanted = given;
}

/* Appends a setting to the settings, and drops those of the same subject. */
static bool trace_events_add_setting(const char *text)
{
    char *fresh = wanted == settings[0] + sizeof setting_name - 1 ? settings[1] : settings[0];
    char *at = stpcpy(fresh, setting_name), *const begin = at;
    const char *list = wanted, *added = text;
    struct setting is, old;
    if (!trace_events_next_setting(&added, &is) || *added)
        return false;
    const bool all = trace_events_setting_is(&is, "*", 1);
    for (const char *item = list; trace_events_next_setting(&list, &old); item = list) {
        const size_t length = strcspn(item, ",");
        if (all || trace_events_setting_is(&is, old.subject, old.length))
            continue;
        if ((size_t)(at - begin) + length + 1 > LONGEST_SETTINGS)
            return false;
        at = mempcpy(at, item, length);
        *at++ = ',';
    }
    if ((size_t)(at - begin) + strlen(text) > LONGEST_SETTINGS)
        return false;
    strcpy(at, text);
    __atomic_store_n(&wanted, begin, __ATOMIC_RELEASE);
    environment_replace(fresh);
    return true;
}

int trace_events_enable(const char *text)
{
    struct process *p = runtime.process;
    int count = 0;
    lock_take(&p->trace_events.lock);
    if (!trace_events_add_setting(text)) {
        lock_release(&p->trace_events.lock);
        return -ENOSPC;
    }
    const char *list = text;
    struct setting added;
    trace_events_next_setting(&list, &added);
    for (struct dwell_event_class *c = classes; c; c = c->next) {
        count += trace_events_setting_selects(&added, c);
        trace_events_apply_settings(c);
    }
    lock_release(&p->trace_events.lock);
    event_control_notify();
    return count;
}

/* ---- classes ---- */

static bool trace_events_is_name(const char *name)
{
    const size_t length = name ? strnlen(name, DWELL_EVENT_LONGEST_NAME + 1) : 0;
    if (length == 0 || length > DWELL_EVENT_LONGEST_NAME)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (i == 0 || !strchr("._-", c)))
            return false;
    }
    return true;
}

static bool trace_events_is_listed(const struct dwell_event_class *wanted_class)
{
    const struct dwell_event_class *c = classes;
    while (c && c != wanted_class)
        c = c->next;
    return c != NULL;
}

bool trace_events_is_registered(const struct dwell_event_class *c)
{
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return false;
    lock_take(&runtime.process->trace_events.lock);
    const bool listed = trace_events_is_listed(c);
    lock_release(&runtime.process->trace_events.lock);
    sys_restore_signals(mask);
    return listed;
}

static void trace_events_announce(const struct dwell_event_class *c)
{
    struct dwell_rec_event_class record = { .record.type = DWELL_REC_EVENT_CLASS };
    memcpy(record.guid, &c->guid, sizeof record.guid);
    metadata_append(&record.record, sizeof record, &(struct text){ c->name, strlen(c->name) }, 1);
}

DWELL_EXPORT int dwell_runtime_event_unregister(struct dwell_event_class *c);
DWELL_EXPORT int dwell_runtime_event_write_fields(const struct dwell_event_class *c, uint32_t version,
                                                  const MOF_FIELD *fields, size_t count);
DWELL_EXPORT int dwell_runtime_event_trace(const EVENT_TRACE_HEADER *header);

DWELL_EXPORT int dwell_runtime_event_register(struct dwell_event_class *c)
{
    const int error = errno;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    if (!trace_events_is_name(c->name))
        return DWELL_BAD_NAME;
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return DWELL_FAILED;
    lock_take(&runtime.process->trace_events.lock);
    const bool fresh = !trace_events_is_listed(c);
    if (fresh) {
        trace_events_apply_settings(c);
        c->next = classes;
        __atomic_store_n(&classes, c, __ATOMIC_RELEASE); /* in one step, as another thread may be forking */
    }
    lock_release(&runtime.process->trace_events.lock);
    if (fresh)
        trace_events_announce(c);
    sys_restore_signals(mask);
    event_control_registered();
    errno = error;
    return DWELL_OK;
}

DWELL_EXPORT int dwell_runtime_event_unregister(struct dwell_event_class *c)
{
    const int error = errno;
    int status = DWELL_EVENT_NO_CLASS;
    if (!thread_of_caller())
        return DWELL_NOT_RECORDED;
    event_control_remove_class(c);
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return DWELL_FAILED;
    lock_take(&runtime.process->trace_events.lock);
    struct dwell_event_class **at = &classes;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at) {
        __atomic_store_n(&c->enabled, 0, __ATOMIC_RELAXED);
        __atomic_store_n(at, c->next, __ATOMIC_RELEASE);
        status = DWELL_OK;
    }
    lock_release(&runtime.process->trace_events.lock);
    sys_restore_signals(mask);
    errno = error;
    return status;
}

/* ---- chunks ---- */

void trace_events_begin_thread(struct thread *t)
{
    t->trace_events.chunk = NULL;
    t->trace_events.used = t->trace_events.begun = 0;
    t->trace_events.ring = (struct ring){ .first = NULL };
    t->activities.count = 0;
}

static void trace_events_finish_chunk(struct thread *t)
{
    struct dwell_chunk_header *chunk = t->trace_events.chunk;
    t->trace_events.chunk = NULL;
    __atomic_store_n(&chunk->used, t->trace_events.used, __ATOMIC_RELEASE);
    if (guard_trouble())
        losses_of_trace_events(chunk, t->trace_events.used);
    if (!ring_keep(&t->trace_events.ring, chunk))
        retired_add(chunk);
}

static bool trace_events_next_chunk(struct thread *t, uint32_t room, uint64_t now)
{
    if (t->trace_events.chunk)
        trace_events_finish_chunk(t);
    if (__atomic_load_n(&runtime.process->stopped, __ATOMIC_RELAXED))
        return false;
    const uint32_t ring_size = ring_chunk_size();
    uint32_t size = FIRST_CHUNK;
    for (uint32_t i = 0; i < t->trace_events.begun && size < LARGEST_CHUNK; i++)
        size *= 2;
    if (ring_size)
        size = ring_size;
    while (size < sizeof(struct dwell_chunk_header) + room)
        size *= 2;
    const uint32_t least = !t->trace_events.begun && size == FIRST_CHUNK && room < size / 4 ? size / 4 : size;
    struct area area = ring_take_chunk(&t->trace_events.ring, least, size);
    if (!area.at)
        return false;
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)area.at;
    chunk->process = runtime.process->serial;
    chunk->thread = t->serial;
    chunk->sequence = t->trace_events.begun++;
    chunk->start_time = now;
    __atomic_store_n(&chunk->kind, DWELL_CHUNK_TRACE_EVENTS, __ATOMIC_RELEASE);
    t->trace_events.chunk = chunk;
    t->trace_events.used = sizeof *chunk;
    t->trace_events.size = area.size;
    return true;
}

void trace_events_end_thread(struct thread *t)
{
    struct dwell_chunk_header *chunk = t->trace_events.chunk;
    if (chunk) {
        struct area area = { (char *)chunk, t->trace_events.size };
        chunk_cut(&area, t->trace_events.used);
        trace_events_finish_chunk(t);
    }
    ring_end(&t->trace_events.ring, &runtime.process->trace_events.ended_ring, t->last);
}

/* ---- events ---- */

/* Whether the call's frame was left since the last probe. `here`: the event comes from the stack that the shadow stack
 * belongs to. */
static bool trace_events_frame_left(const struct thread *t, const struct call *call, uint64_t stack_pointer, bool here)
{
    if (call->stack_pointer == 0)
        return true; /* marked by frames_leave */
    return here && call->stack_pointer - t->stack.low < t->stack.span && call->stack_pointer < stack_pointer;
}

/* Counts the open calls of the thread's stack, without those that were left since its last probe and those that
 * filters hide. The innermost addresses go to `frames`. */
static uint32_t trace_events_open_calls(const struct thread *t, uint64_t stack_pointer,
                                        uint64_t frames[DWELL_TRACE_EVENT_FRAMES])
{
    const struct call *first = (const struct call *)t->shadow;
    const bool here = stack_pointer - t->stack.low < t->stack.span;
    const bool hides = !recorder_shows_all();
    const struct call *call = thread_call(t, t->state) - 1;
    while (call > first && trace_events_frame_left(t, call, stack_pointer, here))
        call--;
    uint32_t count = 0;
    for (; call > first; call--) {
        if (hides && call->kind == CALL_HIDDEN)
            continue;
        if (count < DWELL_TRACE_EVENT_FRAMES)
            frames[count] = call->function;
        count++;
    }
    return count;
}

static uint64_t trace_events_nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void trace_events_read_cpu_times(struct dwell_trace_event *event)
{
    struct rusage usage;
    if (SYS2(getrusage, RUSAGE_THREAD, &usage) == 0) {
        event->kernel_time = trace_events_nanoseconds(usage.ru_stime);
        event->user_time = trace_events_nanoseconds(usage.ru_utime);
        event->flags |= DWELL_TRACE_EVENT_TIMES;
    }
    struct timespec cpu;
    if (SYS2(clock_gettime, CLOCK_THREAD_CPUTIME_ID, &cpu) == 0) {
        event->cpu_time = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
        event->flags |= DWELL_TRACE_EVENT_CPU;
    }
}

static void trace_events_copy_data(char *at, const struct event_data *data)
{
    if (!data->fields) {
        if (data->size)
            memcpy(at, data->at, data->size);
        return;
    }
    for (uint32_t i = 0; i < data->count; i++) {
        if (data->fields[i].Length)
            memcpy(at, (const void *)data->fields[i].DataPtr, data->fields[i].Length);
        at += data->fields[i].Length;
    }
}

static void trace_events_count_lost(void)
{
    __atomic_fetch_add(&runtime.session.header->lost_trace_events, 1, __ATOMIC_RELAXED);
}

static int trace_events_append(struct thread *t, struct dwell_trace_event *event, const struct event_data *data,
                               uint64_t stack_pointer)
{
    uint64_t frames[DWELL_TRACE_EVENT_FRAMES];
    event->depth = trace_events_open_calls(t, stack_pointer, frames);
    event->frames = (uint16_t)(event->depth < DWELL_TRACE_EVENT_FRAMES ? event->depth : DWELL_TRACE_EVENT_FRAMES);
    event->data_size = (uint32_t)data->size;
    event->time = clock_now(runtime.clock);
    if (event->time < t->trace_events.last)
        event->time = t->trace_events.last; /* the counters of two CPUs may differ by a few ticks */
    trace_events_read_cpu_times(event);

    const uint32_t frame_bytes = (uint32_t)event->frames * 8;
    const uint32_t size = ((uint32_t)sizeof *event + frame_bytes + event->data_size + (uint32_t)sizeof size + 7) & ~7u;
    if ((!t->trace_events.chunk || t->trace_events.used + size > t->trace_events.size) &&
        !trace_events_next_chunk(t, size, event->time)) {
        trace_events_count_lost();
        return DWELL_EVENT_LOST;
    }
    char *at = (char *)t->trace_events.chunk + t->trace_events.used;
    memcpy(at + sizeof event->size, (const char *)event + sizeof event->size, sizeof *event - sizeof event->size);
    memcpy(at + sizeof *event, frames, frame_bytes);
    trace_events_copy_data(at + sizeof *event + frame_bytes, data);
    memcpy(at + size - sizeof size, &size, sizeof size);
    __atomic_store_n((uint32_t *)at, size, __ATOMIC_RELEASE);
    t->trace_events.used += size;
    t->trace_events.last = event->time;
    return DWELL_OK;
}

/* The name of a class. Empty if it is not registered any more. */
static struct text trace_events_name(const uint8_t guid[16], char name[DWELL_EVENT_LONGEST_NAME + 1])
{
    size_t length = 0;
    lock_take(&runtime.process->trace_events.lock);
    for (const struct dwell_event_class *c = classes; c && !length; c = c->next)
        if (memcmp(&c->guid, guid, sizeof c->guid) == 0) {
            length = strnlen(c->name, DWELL_EVENT_LONGEST_NAME);
            memcpy(name, c->name, length);
        }
    lock_release(&runtime.process->trace_events.lock);
    return (struct text){ name, length };
}

/* The event may begin or end an activity that is watched. */
static void trace_events_watch(struct thread *t, const struct dwell_trace_event *event, const struct event_data *data)
{
    static const uint8_t perflog[] = DWELL_PERFLOG_GUID;
    char name[DWELL_EVENT_LONGEST_NAME + 1];
    struct activity_names names = { .marker = memcmp(event->guid, perflog, sizeof event->guid) == 0 };
    if (names.marker && (data->fields || data->size < DWELL_PERFLOG_KEY))
        return;
    if (names.marker) {
        memcpy(&names.number, data->at, DWELL_PERFLOG_KEY);
        names.text = (struct text){ (const char *)data->at + DWELL_PERFLOG_KEY, data->size - DWELL_PERFLOG_KEY };
    } else {
        names.text = trace_events_name(event->guid, name);
    }
    keep_activity_event(t, event, &names);
}

static int trace_events_write(const dwell_guid *guid, uint32_t version, const struct event_data *data,
                              uint64_t stack_pointer)
{
    struct dwell_trace_event event = {
        .type = (uint8_t)version,
        .severity = (uint8_t)(version >> 8),
        .version = (uint16_t)(version >> 16),
    };
    memcpy(event.guid, guid, sizeof event.guid);
    for (;;) {
        struct thread *t = thread_of_caller();
        if (!t || runtime.closed)
            return DWELL_NOT_RECORDED;
        uint64_t mask = sys_block_signals();
        if (mask == SYS_NOT_BLOCKED) {
            trace_events_count_lost();
            return DWELL_EVENT_LOST;
        }
        int status = -1;
        if (t->wiped->alive) { /* else a handler has forked, and this is the child */
            if (!t->stopped)
                stacks_find(t, stack_pointer);
            status = trace_events_append(t, &event, data, stack_pointer);
            if (keep_settings.on && status == DWELL_OK && keep_is_of_activity(event.type))
                trace_events_watch(t, &event, data);
        }
        sys_restore_signals(mask);
        if (status >= 0)
            return status;
    }
}

DWELL_EXPORT int dwell_runtime_event_write(const struct dwell_event_class *c, uint32_t version, const void *data,
                                           size_t size)
{
    const int error = errno;
    if (size && !data)
        return DWELL_EVENT_BAD_SIZE;
    int status = event_check_size(size);
    if (status == DWELL_OK)
        status = trace_events_write(&c->guid, version, &(struct event_data){ .at = data, .size = size },
                                    CALLERS_STACK_POINTER);
    errno = error;
    return status;
}

DWELL_EXPORT int dwell_runtime_event_write_fields(const struct dwell_event_class *c, uint32_t version,
                                                  const MOF_FIELD *fields, size_t count)
{
    const int error = errno;
    struct event_data data;
    int status = event_check_fields(fields, count, &data);
    if (status == DWELL_OK)
        status = trace_events_write(&c->guid, version, &data, CALLERS_STACK_POINTER);
    errno = error;
    return status;
}

/* Several classes may have that GUID; one that lets the event pass is enough. Classes may come and go at any time, so
 * signals are held back and the lock is taken. */
static int trace_events_find_class(const dwell_guid *guid, uint8_t severity)
{
    int status = DWELL_EVENT_NO_CLASS;
    uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED) {
        trace_events_count_lost();
        return DWELL_EVENT_LOST;
    }
    lock_take(&runtime.process->trace_events.lock);
    for (const struct dwell_event_class *c = classes; c && status != DWELL_OK; c = c->next)
        if (memcmp(&c->guid, guid, sizeof *guid) == 0)
            status = dwell_event_enabled(c, severity) ? DWELL_OK : DWELL_EVENT_DISABLED;
    lock_release(&runtime.process->trace_events.lock);
    sys_restore_signals(mask);
    return status;
}

DWELL_EXPORT int dwell_runtime_event_trace(const EVENT_TRACE_HEADER *header)
{
    const int error = errno;
    struct event_data data;
    int status = thread_of_caller() ? event_check_header(header, &data) : DWELL_NOT_RECORDED;
    if (status == DWELL_OK) {
        dwell_guid guid = header->Guid;
        if (header->Flags & WNODE_FLAG_USE_GUID_PTR)
            memcpy(&guid, (const void *)header->GuidPtr, sizeof guid);
        status = trace_events_find_class(&guid, header->Class.Level);
        if (status == DWELL_OK)
            status = trace_events_write(&guid, header->Version, &data, CALLERS_STACK_POINTER);
    }
    errno = error;
    return status;
}
