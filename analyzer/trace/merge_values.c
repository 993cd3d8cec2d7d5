/* Joins plans of values: a function that several sessions have is there once. */
#include "trace/merge_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/recorded_values.h"

enum { MOST_SITES = UINT16_MAX };

static struct dwell_values_function merged_head(const uint8_t *entry)
{
    struct dwell_values_function f;
    memcpy(&f, entry, sizeof f);
    return f;
}

/* ---- functions ---- */

static bool merged_same_function(const uint8_t *a, const uint8_t *b)
{
    const struct dwell_values_function f = merged_head(a), g = merged_head(b);
    const size_t texts = (size_t)f.build_id_length + f.path_length;
    return f.offset == g.offset && f.build_id_length == g.build_id_length && f.path_length == g.path_length &&
           memcmp(a + sizeof f, b + sizeof g, texts) == 0;
}

size_t merged_values_find(const struct merged_values *m, const uint8_t *entry)
{
    size_t i = 0;
    while (i < m->function_count && !merged_same_function(m->functions[i].entry, entry))
        i++;
    return i;
}

/* Finds the function of the entry, or adds it. Returns false if it is there with other values, or has no room. */
static bool merged_add(struct merged_values *m, uint8_t *entry, size_t *at, const uint8_t **refused)
{
    struct dwell_values_function f = merged_head(entry);
    const uint32_t flags = f.text_bytes & DWELL_VALUES_FLAGS;
    f.text_bytes &= ~(uint32_t)DWELL_VALUES_FLAGS;
    memcpy(entry, &f, sizeof f);
    *at = merged_values_find(m, entry);
    if (*at < m->function_count) {
        const uint8_t *known = m->functions[*at].entry;
        if (merged_head(known).size == f.size && memcmp(known, entry, f.size) == 0)
            return true;
        *refused = entry;
        return false;
    }
    if (m->site_count + f.sites > MOST_SITES)
        return false;
    GROW(m->functions, m->function_count, m->function_room);
    m->functions[m->function_count++] = (struct merged_function){
        .entry = (uint8_t *)need_copy((const char *)entry, f.size), .first_site = m->site_count, .flags = flags
    };
    m->site_count += f.sites;
    return true;
}

/* How many sites of each function the reader takes: fewer than the plan says, if it is damaged. */
static size_t merged_whole_functions(const struct recorded_values *v, const uint8_t *data, size_t end, uint32_t count)
{
    size_t whole = 0, site = 0, at = sizeof(struct dwell_values_plan);
    for (; whole < count && whole < v->function_count && at + sizeof(struct dwell_values_function) <= end; whole++) {
        const struct dwell_values_function f = merged_head(data + at);
        for (uint32_t i = 0; i < f.sites; i++, site++)
            if (site >= v->site_count || v->sites[site].function != whole)
                return whole;
        at += f.size;
    }
    return whole;
}

static void merged_add_sites(struct merged_values *m, const struct merged_function *f)
{
    for (uint32_t i = 0; i < merged_head(f->entry).sites; i++) {
        GROW(m->sites, m->own_sites, m->sites_room);
        m->sites[m->own_sites++] = (uint16_t)(f->first_site + i);
    }
}

/* ---- names of enumerations ---- */

/* Returns the size of a value's names; zero if they are damaged. */
static size_t merged_names_size(const uint8_t *at, size_t room, struct dwell_values_names *head)
{
    if (room < sizeof *head)
        return 0;
    memcpy(head, at, sizeof *head);
    size_t size = sizeof *head;
    for (uint32_t i = 0; i < head->count; i++) {
        struct dwell_value_name name;
        if (room - size < sizeof name)
            return 0;
        memcpy(&name, at + size, sizeof name);
        size += sizeof name;
        if (name.length > room - size || (name.length + 7) / 8 * 8 > room - size)
            return 0;
        size += (name.length + 7) / 8 * 8;
    }
    return size;
}

/* `numbers`: of the session's functions in the merged plan. Those below `known` have their names. */
static void merged_add_names(struct merged_values *m, const uint8_t *at, size_t room, const size_t *numbers,
                             size_t functions, size_t known)
{
    struct dwell_values_names head;
    for (size_t size; (size = merged_names_size(at, room, &head)) > 0; at += size, room -= size) {
        if (head.function >= functions || numbers[head.function] < known)
            continue;
        head.function = (uint32_t)numbers[head.function];
        m->names = need_more(m->names, m->names_size + size, 1);
        memcpy(m->names + m->names_size, at, size);
        memcpy(m->names + m->names_size, &head, sizeof head);
        m->names_size += size;
    }
}

/* ---- sessions ---- */

bool merged_values_add_plan(struct merged_values *m, struct merged_plan *p)
{
    struct dwell_values_plan plan;
    memcpy(&plan, p->data, sizeof plan);
    struct recorded_values v = recorded_values_of_plan(p->data, p->end);
    const size_t known = m->function_count;
    size_t at = sizeof plan;
    bool good = true;
    p->count = merged_whole_functions(&v, p->data, p->end, plan.functions);
    p->numbers = need_memory(p->count + 1, sizeof *p->numbers);
    for (size_t i = 0; i < p->count && good; i++, at += merged_head(p->data + at).size)
        good = merged_add(m, p->data + at, &p->numbers[i], &p->refused);
    if (good && plan.names >= at && plan.names <= p->end)
        merged_add_names(m, p->data + plan.names, p->end - plan.names, p->numbers, p->count, known);
    recorded_values_free(&v);
    return good;
}

/* The name of a function's first value. */
static struct dwell_value merged_first_value(const uint8_t *entry)
{
    const struct dwell_values_function f = merged_head(entry);
    struct dwell_value value = { .name = "" };
    const size_t texts = ((size_t)f.build_id_length + f.path_length + 7) & ~(size_t)7;
    if (f.values)
        memcpy(&value, entry + sizeof f + texts, sizeof value);
    return value;
}

static bool merged_refuse(const struct session_file *file, const uint8_t *entry, struct error *error)
{
    if (!entry)
        return error_set(error, "%s: more places where values are read than one session can hold", file->path);
    return error_set(error,
                     "%s: holds other values of a function (%.*s and so on) than a session before it; record the same "
                     "ones, or leave out --with-values",
                     file->path, DWELL_VALUES_NAME - 1, merged_first_value(entry).name);
}

static void merged_take_sites(struct merged_values *m, const struct merged_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        m->functions[p->numbers[i]].flags = 0; /* they are for programs that run */
        merged_add_sites(m, &m->functions[p->numbers[i]]);
    }
}

bool merged_values_add(struct merged_values *m, const struct session_file *file, struct error *error)
{
    const struct trace_chunk *chunk = session_file_chunk(file, DWELL_CHUNK_PLAN, file->more.values);
    m->own_sites = 0;
    if (!chunk || trace_chunk_end(chunk) < sizeof(struct dwell_values_plan))
        return true;
    struct merged_plan p = { .data = need_memory((size_t)chunk->size + TRACE_PADDING, 1),
                             .end = trace_chunk_end(chunk) };
    const bool read = session_file_read_chunk(file, chunk, p.data);
    bool good = !read || merged_values_add_plan(m, &p);
    if (!good)
        merged_refuse(file, p.refused, error);
    else if (read)
        merged_take_sites(m, &p);
    free(p.numbers);
    free(p.data);
    return good;
}

uint32_t merged_values_renumber(const struct merged_values *m, uint8_t *chunk, uint32_t end)
{
    uint32_t at = sizeof(struct dwell_chunk_header);
    for (uint32_t size; at + sizeof(uint64_t) <= end; at += size) {
        struct dwell_values_row row;
        uint64_t first;
        memcpy(&first, chunk + at, sizeof first);
        size = sizeof first;
        if (!first)
            continue;
        if (end - at < sizeof row)
            return at;
        memcpy(&row, chunk + at, sizeof row);
        size = (uint32_t)(sizeof row + row.words * sizeof(uint64_t));
        if (size > end - at || row.site >= m->own_sites)
            return at;
        row.site = m->sites[row.site];
        memcpy(chunk + at, &row, sizeof row);
    }
    return at;
}

uint8_t *merged_values_plan(const struct merged_values *m, size_t *size)
{
    struct dwell_values_plan plan = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC, .kind = DWELL_CHUNK_PLAN },
        .functions = (uint32_t)m->function_count,
    };
    *size = sizeof plan;
    for (size_t i = 0; i < m->function_count; i++)
        *size += merged_head(m->functions[i].entry).size;
    plan.names = m->names_size ? (uint32_t)*size : 0;
    *size += m->names_size;
    if (!m->function_count)
        return NULL;
    uint8_t *bytes = need_memory(*size, 1), *to = bytes + sizeof plan;
    memcpy(bytes, &plan, sizeof plan);
    for (size_t i = 0; i < m->function_count; i++) {
        struct dwell_values_function f = merged_head(m->functions[i].entry);
        memcpy(to, m->functions[i].entry, f.size);
        f.text_bytes |= m->functions[i].flags;
        memcpy(to, &f, sizeof f);
        to += f.size;
    }
    if (m->names_size)
        memcpy(to, m->names, m->names_size);
    return bytes;
}

void merged_values_drop(struct merged_values *m)
{
    for (size_t i = 0; i < m->function_count; i++)
        free(m->functions[i].entry);
    free(m->functions);
    free(m->names);
    free(m->sites);
}
