/*
 * Filters: which functions are recorded. `dwell record` finds the functions that the user's patterns name, and puts
 * their addresses into the session file. Here they are looked up at every enter.
 */
#include <errno.h>
#include <string.h>

#include "calibrate.h"
#include "filter.h"
#include "pause.h"
#include "runtime.h"
#include "slow.h"
#include "sys.h"
#include "thread.h"
#include "upward.h"

struct filter_slot {
    uint64_t address;
    uint32_t action;
};

struct filter_table {
    uint64_t mask;
    struct filter_slot slots[];
};

struct filter_settings filter_settings = { .depth = UINT32_MAX };

enum { MAX_FILTER_CHUNKS = 1024 };

static const struct dwell_filters *filter_chunks[MAX_FILTER_CHUNKS];
static uint32_t filter_chunk_count;
static uint64_t filter_newest_chunk; /* offset of the newest chunk in the list */
static struct filter_table *filter_functions;
static uint64_t filter_functions_of; /* a sum over the modules whose functions are in the table */

static inline uint64_t filter_first_slot(const struct filter_table *in, uint64_t address)
{
    return (address * 0x9e3779b97f4a7c15u >> 40) & in->mask;
}

uint32_t filter_action(uint64_t function)
{
    const struct filter_table *in = __atomic_load_n(&filter_functions, __ATOMIC_ACQUIRE);
    if (in)
        for (uint64_t i = filter_first_slot(in, function); in->slots[i].address; i = (i + 1) & in->mask)
            if (in->slots[i].address == function)
                return in->slots[i].action;
    return filter_settings.only ? DWELL_FILTER_SUPPRESS : DWELL_FILTER_RECORD;
}

/* ---- the table; under the lock of the module map ---- */

static bool filter_module_fits(const struct dwell_filter_module *m, uint64_t room)
{
    if (room < sizeof *m || m->size < sizeof *m || m->size > room || m->size % 8 != 0)
        return false;
    const uint64_t rest = m->size - sizeof *m;
    return m->functions <= rest / sizeof(struct dwell_filter) &&
           (uint64_t)m->build_id_length + m->path_length <= rest - m->functions * sizeof(struct dwell_filter);
}

/* Leaves out the modules from the first one on that is not complete. */
static void filter_check_modules(struct dwell_filters *chunk)
{
    const struct dwell_filter_module *m = (const struct dwell_filter_module *)(chunk + 1);
    const char *end = (const char *)chunk + chunk->chunk.size;
    uint32_t count = 0;
    for (; count < chunk->modules && filter_module_fits(m, (uint64_t)(end - (const char *)m)); count++)
        m = filter_next_module(m);
    chunk->modules = count;
}

bool filter_copy(int fd, uint64_t offset, void *into, uint32_t size)
{
    for (uint32_t got = 0; got < size;) {
        const long more = SYS4(pread64, fd, (char *)into + got, size - got, offset + got);
        if (more == -EINTR)
            continue;
        if (more <= 0)
            return false;
        got += (uint32_t)more;
    }
    return true;
}

struct dwell_chunk_header *filter_copy_chunk(int fd, uint64_t offset, uint32_t kind, uint32_t least)
{
    struct dwell_chunk_header head;
    if (!filter_copy(fd, offset, &head, sizeof head) || head.magic != DWELL_CHUNK_MAGIC || head.kind != kind ||
        head.size < least || head.size > DWELL_CHUNK_LARGEST)
        return NULL;
    struct dwell_chunk_header *chunk = sys_memory(head.size);
    if (!chunk)
        return NULL;
    if (!filter_copy(fd, offset, chunk, head.size)) {
        sys_unmap(chunk, head.size);
        return NULL;
    }
    *chunk = head;
    return chunk;
}

const struct dwell_filters *filter_read_chunk(int fd, uint64_t offset, uint32_t kind)
{
    struct dwell_filters *chunk =
        (struct dwell_filters *)filter_copy_chunk(fd, offset, kind, sizeof(struct dwell_filters));
    if (chunk)
        filter_check_modules(chunk);
    return chunk;
}

/* Each chunk ends before the one that was written after it. */
bool filter_map(int fd)
{
    const uint64_t newest = __atomic_load_n(&runtime.session.header->first_filters, __ATOMIC_ACQUIRE);
    uint64_t limit = INT64_MAX;
    for (uint64_t offset = newest; offset && offset != filter_newest_chunk;) {
        const struct dwell_filters *chunk =
            filter_chunk_count < MAX_FILTER_CHUNKS ? filter_read_chunk(fd, offset, DWELL_CHUNK_FILTERS) : NULL;
        if (!chunk)
            return false;
        if (offset > limit || chunk->chunk.size > limit - offset) {
            sys_unmap((void *)chunk, chunk->chunk.size);
            return false;
        }
        filter_chunks[filter_chunk_count++] = chunk;
        limit = offset;
        offset = chunk->chunk.link;
    }
    filter_newest_chunk = newest;
    return true;
}

/* Whether the probes have to look functions up. */
static bool filter_asks(const struct dwell_filters *filters)
{
    const uint32_t others = FILTER_HIDES_NOTHING;
    return filters->only || filters->depth || filters->shortest || !(filters->actions & others) ||
           filters->actions & ~others;
}

bool filter_is_on(void)
{
    return filter_chunk_count > 0 && filter_asks(filter_chunks[0]);
}

static void filter_read_times(const struct dwell_filters *filters)
{
    const bool times = filters->actions & DWELL_FILTER_TIME, targets = filter_settings.targets;
    filter_settings.shortest[0] = targets ? UINT64_MAX : filters->shortest;
    filter_settings.waits = filter_settings.waits_partly = false;
    for (int i = 0; i <= DWELL_FILTER_TIMES; i++) {
        if (i > 0)
            filter_settings.shortest[i] = targets || !times ? filter_settings.shortest[0] : filters->shortest_in[i - 1];
        if (filter_settings.shortest[i])
            filter_settings.waits = true;
        else
            filter_settings.waits_partly = true;
    }
    filter_settings.waits_partly &= filter_settings.waits;
}

bool filter_begin(int fd)
{
    filter_chunk_count = 0;
    filter_newest_chunk = 0;
    if (!filter_map(fd) || filter_chunk_count == 0)
        return false;
    const struct dwell_filters *filters = filter_chunks[0];
    filter_settings.only = filters->only != 0;
    filter_settings.depth = filters->depth ? filters->depth : UINT32_MAX;
    filter_settings.starts = filters->starts != 0;
    filter_settings.roots = filters->actions & DWELL_FILTER_ROOT;
    filter_settings.depths = filters->actions & DWELL_FILTER_DEPTH;
    filter_settings.targets = filters->actions & DWELL_FILTER_TARGET;
    filter_settings.histograms = filters->actions & DWELL_FILTER_HISTOGRAM && runtime.mode == DWELL_MODE_PROFILE;
    filter_settings.hidden_out = filters->actions & DWELL_FILTER_HIDDEN_OUT && !runtime.call_sites;
    filter_read_times(filters);
    if (filter_settings.starts)
        runtime.activation.stopped = 1;
    filter_use_modules(NULL, 0);
    return filter_asks(filters);
}

static bool filter_is_module(const struct dwell_filter_module *m, struct text build_id, struct text path)
{
    const char *id = (const char *)(m + 1), *name = id + m->build_id_length;
    return m->build_id_length ? m->build_id_length == build_id.length && memcmp(id, build_id.at, build_id.length) == 0
                              : m->path_length == path.length && memcmp(name, path.at, path.length) == 0;
}

/* Modules are numbered from 1 through all chunks, in the order of the list. */
uint32_t filter_module(struct text build_id, struct text path)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < filter_chunk_count; i++) {
        const struct dwell_filter_module *m = (const struct dwell_filter_module *)(filter_chunks[i] + 1);
        for (uint32_t j = 0; j < filter_chunks[i]->modules; j++, m = filter_next_module(m)) {
            number++;
            if (filter_is_module(m, build_id, path))
                return number;
        }
    }
    return 0;
}

static const struct dwell_filter_module *filter_module_numbered(uint32_t number)
{
    uint32_t chunk = 0;
    for (; number > filter_chunks[chunk]->modules; chunk++)
        number -= filter_chunks[chunk]->modules;
    const struct dwell_filter_module *m = (const struct dwell_filter_module *)(filter_chunks[chunk] + 1);
    while (--number > 0)
        m = filter_next_module(m);
    return m;
}

uint32_t filter_levels_of_module(uint32_t module, uint64_t bias, struct leveled_function *functions, uint32_t room)
{
    const struct dwell_filter_module *m = filter_module_numbered(module);
    const struct dwell_filter *f = filter_functions_of_module(m);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->functions; i++) {
        const uint32_t action = f[i].action;
        if (!(action & (DWELL_FILTER_OUT | DWELL_FILTER_COUNTED | DWELL_FILTER_KEEP)))
            continue;
        if (count < room)
            functions[count] = (struct leveled_function){
                .function = bias + f[i].offset,
                .level = action & DWELL_FILTER_OUT       ? LEVEL_OUT
                         : action & DWELL_FILTER_COUNTED ? LEVEL_COUNTED
                                                         : LEVEL_TIMED,
                .watch = (action & DWELL_FILTER_KEEP) >> DWELL_FILTER_KEEP_SHIFT,
            };
        count++;
    }
    return count;
}

static void filter_insert(struct filter_table *into, uint64_t address, uint32_t action)
{
    uint64_t i = filter_first_slot(into, address);
    while (into->slots[i].address && into->slots[i].address != address)
        i = (i + 1) & into->mask;
    into->slots[i] = (struct filter_slot){ address, action };
}

/* The old table stays mapped: a probe may be reading it. */
void filter_use_modules(const struct filter_use *uses, uint32_t count)
{
    uint64_t sum = 0, functions = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (uses[i].bias + uses[i].module) * 0x9e3779b97f4a7c15u;
        functions += filter_module_numbered(uses[i].module)->functions;
    }
    if (filter_functions && sum == filter_functions_of)
        return;
    uint64_t slots = 64;
    while (slots < functions * 2)
        slots *= 2;
    struct filter_table *made = sys_memory(sizeof *made + slots * sizeof *made->slots);
    if (!made)
        return;
    made->mask = slots - 1;
    for (uint32_t i = 0; i < CALIBRATED_FUNCTIONS; i++)
        filter_insert(made, (uint64_t)calibrated_functions[i].function, calibrated_functions[i].action);
    for (uint32_t i = 0; i < count; i++) {
        const struct dwell_filter_module *m = filter_module_numbered(uses[i].module);
        const struct dwell_filter *f = filter_functions_of_module(m);
        for (uint32_t j = 0; j < m->functions; j++)
            filter_insert(made, uses[i].bias + f[j].offset, f[j].action);
    }
    __atomic_store_n(&filter_functions, made, __ATOMIC_RELEASE);
    filter_functions_of = sum;
}

void filter_ignore(struct thread *t, uint32_t depth, uint64_t now)
{
    pause_begin(t, now);
    t->filter.ignored_depth = depth;
}

/* The function that is entered may start or stop the recording. */
void filter_trigger(const struct event *event)
{
    const uint32_t action = filter_action(event->function);
    if (action & (DWELL_FILTER_START | DWELL_FILTER_STOP))
        upward.switch_recording(action & DWELL_FILTER_START);
}
