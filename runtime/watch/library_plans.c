/* Plans stay in memory: a library may be loaded again. */
#include "library_plans.h"

#include "filter.h"
#include "filter_ask.h"
#include "metadata_records.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { LIBRARY_PLANS = 1024 };

static struct dwell_calls_plan *library_plans[LIBRARY_PLANS];
static uint32_t library_plan_count;

static const struct dwell_calls_module *library_next_module(const struct dwell_calls_module *m)
{
    return (const struct dwell_calls_module *)((const char *)m + m->size);
}

static size_t library_texts(const struct dwell_calls_module *m)
{
    return plan_texts_size(m->build_id_length, m->path_length);
}

const struct dwell_calls_slot *library_plans_slots(const struct dwell_calls_module *module)
{
    return (const struct dwell_calls_slot *)((const char *)(module + 1) + library_texts(module));
}

const struct dwell_calls_function *library_plans_functions(const struct dwell_calls_module *module)
{
    return (const struct dwell_calls_function *)(library_plans_slots(module) + module->slots);
}

const struct dwell_calls_site *library_plans_sites(const struct dwell_calls_module *module)
{
    return (const struct dwell_calls_site *)(library_plans_functions(module) + module->functions);
}

static bool library_is_whole(const struct dwell_calls_module *m)
{
    const uint64_t lists = (uint64_t)m->slots * sizeof(struct dwell_calls_slot) +
                           (uint64_t)m->functions * sizeof(struct dwell_calls_function) +
                           (uint64_t)m->sites * sizeof(struct dwell_calls_site);
    if (lists > m->size - sizeof *m - library_texts(m))
        return false;
    const struct dwell_calls_site *sites = library_plans_sites(m);
    for (uint32_t i = 0; i < m->sites; i++)
        if (sites[i].function >= m->functions)
            return false;
    return true;
}

/* Leaves out the modules from the first one on that is not whole. */
static void library_check(struct dwell_calls_plan *plan)
{
    const char *at = (const char *)(plan + 1), *const end = (const char *)plan + plan->chunk.size;
    for (uint32_t i = 0; i < plan->modules; i++) {
        const struct dwell_calls_module *m = (const struct dwell_calls_module *)at;
        const size_t rest = (size_t)(end - at);
        if (rest < sizeof *m || m->size > rest || m->size % 8 || m->size < sizeof *m + library_texts(m) ||
            !library_is_whole(m)) {
            plan->modules = i;
            return;
        }
        at += m->size;
    }
}

static struct dwell_calls_plan *library_read_plan(int fd, uint64_t offset)
{
    struct dwell_calls_plan *plan =
        library_plan_count < LIBRARY_PLANS
            ? (struct dwell_calls_plan *)filter_copy_chunk(fd, offset, DWELL_CHUNK_CALLS_PLAN, sizeof *plan)
            : NULL;
    if (plan) {
        library_check(plan);
        library_plans[library_plan_count++] = plan;
    }
    return plan;
}

/* Each chunk lies before the one that was written after it. */
bool library_plans_begin(int fd)
{
    uint64_t offset = __atomic_load_n(&session_more(&runtime.session)->calls, __ATOMIC_ACQUIRE), limit = INT64_MAX;
    const bool wanted = offset;
    while (offset && offset < limit) {
        const struct dwell_calls_plan *plan = library_read_plan(fd, offset);
        limit = offset;
        offset = plan ? plan->chunk.link : 0;
    }
    if (wanted && !library_plan_count)
        metadata_note("out of memory: calls into libraries are not recorded");
    return library_plan_count;
}

bool library_plans_exist(void)
{
    return library_plan_count;
}

static const struct dwell_calls_module *library_plan_module(const struct dwell_calls_plan *plan,
                                                            const struct plan_module *loaded)
{
    const struct dwell_calls_module *m = (const struct dwell_calls_module *)(plan + 1);
    for (uint32_t i = 0; i < plan->modules; i++, m = library_next_module(m))
        if (plan_texts_are_of((const char *)(m + 1), m->build_id_length, m->path_length, loaded))
            return m;
    return NULL;
}

const struct dwell_calls_module *library_plans_module(const struct plan_module *loaded)
{
    const struct dwell_calls_module *found = NULL;
    for (uint32_t i = 0; i < library_plan_count && !found; i++)
        found = library_plan_module(library_plans[i], loaded);
    return found;
}

struct call_stack library_plans_stack(const struct dwell_calls_stack *planned)
{
    return (struct call_stack){ .bytes = smaller_of(planned->bytes, DWELL_CALLS_STACK_MOST) & ~(uint32_t)15,
                                .frame_bytes = (uint16_t)smaller_of(planned->frame_bytes, planned->bytes) & 0xfff0,
                                .to_frame_pointer = planned->to_frame_pointer != 0 };
}

void library_plans_ask(const struct plan_module *loaded)
{
    const uint64_t offset = filter_ask_calls(loaded->build_id, loaded->path);
    const int fd = offset ? session_reopen(&runtime.session, runtime.path) : -1;
    const bool read = fd >= 0 && library_read_plan(fd, offset);
    if (fd >= 0)
        sys_close(fd);
    static bool noted;
    if (!read && !noted)
        metadata_note("calls into libraries are not recorded in all libraries that were loaded later");
    noted |= !read;
}
