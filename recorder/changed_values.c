/* A session has one plan of values, so that rows say by one number what they are about. A plan that is changed begins
 * with all functions of the one before, in their order. The processes of the session go on with the plans that they
 * have: only the one that gets the command reads the new one. Programs that begin later read the last one. */
#include "recorder/changed_values.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "dwell/format.h"
#include "trace/merge_values.h"

static const char *const changed_origin = "control: values";

bool changed_values_parse(struct planned_values *v, const char *setting, struct error *error)
{
    static const char off[] = ">off";
    const size_t length = strlen(setting), rest = length < strlen(off) ? 0 : length - strlen(off);
    v->origin = changed_origin;
    v->off = rest && strcmp(setting + rest, off) == 0;
    char *text = need_copy(setting, v->off ? rest : length);
    const bool good = *text ? planned_values_add(v, text, error)
                            : error_set(error, "%s: give FUNCTION[:WHAT,...] or 'FUNCTION>off'", changed_origin);
    free(text);
    if (good && v->off && v->choices[0].count)
        return error_set(error, "%s: '%s' ends all values of a function: give 'FUNCTION>off'", changed_origin, setting);
    return good;
}

/* ---- the session's plan ---- */

static bool changed_is_plan(const struct dwell_chunk_header *head)
{
    return head->magic == DWELL_CHUNK_MAGIC && head->kind == DWELL_CHUNK_PLAN &&
           head->used >= sizeof(struct dwell_values_plan) && head->used <= head->size &&
           head->size <= DWELL_CHUNK_LARGEST;
}

/* Returns the plan's bytes, or NULL. */
static uint8_t *changed_read_plan(int fd, uint64_t offset, size_t *used)
{
    struct dwell_chunk_header head;
    if (pread(fd, &head, sizeof head, (off_t)offset) != sizeof head || !changed_is_plan(&head))
        return NULL;
    uint8_t *plan = need_memory(head.used, 1);
    *used = head.used;
    if (pread(fd, plan, head.used, (off_t)offset) == (ssize_t)head.used)
        return plan;
    free(plan);
    return NULL;
}

/* Functions stay off; who was sent the plan before does not matter. */
static bool changed_add_present(struct merged_values *m, int fd, uint64_t offset, struct error *error)
{
    struct merged_plan p = { .data = offset ? changed_read_plan(fd, offset, &p.end) : NULL };
    struct dwell_values_plan head = { .functions = 0 };
    bool good = !offset || p.data;
    if (p.data) {
        memcpy(&head, p.data, sizeof head);
        good = merged_values_add_plan(m, &p) && m->function_count == head.functions;
    }
    for (size_t i = 0; i < m->function_count; i++)
        m->functions[i].flags &= DWELL_VALUES_OFF;
    free(p.numbers);
    free(p.data);
    return good || error_set(error, "%s: the session's plan of values is damaged", changed_origin);
}

/* ---- changes ---- */

static uint32_t changed_text_bytes(const struct merged_values *m)
{
    struct dwell_values_function f = { .text_bytes = 0 };
    if (m->function_count)
        memcpy(&f, m->functions[0].entry, sizeof f);
    return f.text_bytes;
}

/* Calls `take` for each entry of the plan. */
static void changed_each(const struct merged_values *m, const struct planned_values *v, uint8_t *at,
                         void (*take)(const struct merged_values *m, uint8_t *entry))
{
    struct dwell_values_function f;
    for (uint32_t i = 0; i < v->functions; i++, at += f.size) {
        memcpy(&f, at, sizeof f);
        take(m, at);
    }
}

/* Texts are cut as those of the recording are. */
static void changed_cut_texts(const struct merged_values *m, uint8_t *entry)
{
    struct dwell_values_function f;
    memcpy(&f, entry, sizeof f);
    f.text_bytes = changed_text_bytes(m);
    memcpy(entry, &f, sizeof f);
}

static bool changed_refuse(const struct planned_values *v, const struct merged_plan *p, struct error *error)
{
    if (!p->refused)
        return error_set(error, "%s: the session has no room for more calls of probes", changed_origin);
    return error_set(error, "%s: other values of a function that '%s' names are in the session: name the same ones",
                     changed_origin, v->choices[0].text);
}

static bool changed_add(struct merged_values *m, const struct planned_values *v, struct error *error)
{
    struct merged_plan p = { .data = planned_values_plan(v, &p.end) };
    changed_each(m, v, p.data + sizeof(struct dwell_values_plan), changed_cut_texts);
    bool good = merged_values_add_plan(m, &p) && m->site_count <= DWELL_VALUES_SITES;
    if (!good)
        changed_refuse(v, &p, error);
    for (size_t i = 0; i < p.count && good; i++)
        m->functions[p.numbers[i]].flags = DWELL_VALUES_CHANGED;
    free(p.numbers);
    free(p.data);
    return good;
}

static void changed_end_one(const struct merged_values *m, uint8_t *entry)
{
    const size_t i = merged_values_find(m, entry);
    if (i < m->function_count)
        m->functions[i].flags = DWELL_VALUES_OFF | DWELL_VALUES_CHANGED;
}

static bool changed_end(struct merged_values *m, const struct planned_values *v, struct error *error)
{
    bool any = false;
    changed_each(m, v, (uint8_t *)v->bytes, changed_end_one);
    for (size_t i = 0; i < m->function_count; i++)
        any |= (m->functions[i].flags & DWELL_VALUES_CHANGED) != 0;
    return any || error_set(error, "%s: no function that '%s' names has values in the session", changed_origin,
                            v->choices[0].text);
}

static uint64_t changed_put(const struct merged_values *m, const struct session *session, int fd, struct error *error)
{
    size_t used;
    uint8_t *plan = merged_values_plan(m, &used);
    const uint64_t offset = plan ? planned_values_put(plan, used, session, fd) : 0;
    free(plan);
    if (!offset)
        error_set(error, "%s: the session file has no room for the command", changed_origin);
    return offset;
}

/* Another command can be faster: then its plan is the one to extend. */
uint64_t changed_values_write(const struct planned_values *v, const struct session *session, int fd,
                              struct error *error)
{
    uint64_t *newest = &session_more(session)->values, before = __atomic_load_n(newest, __ATOMIC_ACQUIRE), offset;
    do {
        struct merged_values m = { .functions = NULL };
        offset = 0;
        if (changed_add_present(&m, fd, before, error) && (v->off ? changed_end : changed_add)(&m, v, error))
            offset = changed_put(&m, session, fd, error);
        merged_values_drop(&m);
    } while (offset &&
             !__atomic_compare_exchange_n(newest, &before, offset, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    return offset;
}
