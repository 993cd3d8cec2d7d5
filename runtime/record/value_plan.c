/* The plan is copied, as somebody may overwrite the file, and checked once. The calls of loaded modules are in a table
 * that probes read without a lock. A plan that comes later adds sites behind those that there are, which stay in place:
 * so the numbers of sites, and what probes have found, stay valid. */
#include "value_plan.h"

#include <string.h>

#include "filter.h"
#include "plan_texts.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

/* A site of the plan. */
struct planned_site {
    const struct dwell_values_function *function;
    const struct dwell_values_site *at;
    bool off; /* its values are not read any more */
    struct value_reads reads;
};

static struct {
    uint32_t functions, sites; /* those that are whole */
    struct planned_site site[DWELL_VALUES_SITES];
} * value_plan;

const struct value_site *value_sites;
static uint32_t value_site_count;

/* ---- programs ---- */

bool value_plan_has_memory;
uint8_t value_plan_saves;

/* In the order of DWARF: rbx, rbp, rsp, and r12 to r15; or x19 to x29, and sp. */
static bool value_plan_is_preserved(uint32_t number)
{
#if defined(__x86_64__)
    return number == 3 || number == 6 || number == 7 || number >= 12;
#else
    return number >= 19 && number != 30;
#endif
}

/* What the stubs have to save for a program. */
static uint8_t value_plan_saves_for(const struct load_program *program)
{
    uint8_t saves = 0;
    for (uint32_t i = 0; i < program->count; i++) {
        const struct load *l = &program->loads[i];
        if (l->op == LOAD_VECTOR)
            saves |= VALUE_SAVES_OTHERS | VALUE_SAVES_VECTORS;
        else if (l->op == LOAD_REGISTER && !value_plan_is_preserved(l->operand))
            saves |= VALUE_SAVES_OTHERS;
    }
    return saves;
}

static void value_plan_note_memory(const struct load_program *program)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const uint8_t op = program->loads[i].op;
        value_plan_has_memory |= op == LOAD_MEMORY || (op >= LOAD_TEXT && op <= LOAD_LONG_DOUBLE);
    }
}

static uint32_t value_plan_text_bytes(const struct dwell_values_function *f)
{
    const uint32_t bytes = f->text_bytes & ~(uint32_t)DWELL_VALUES_FLAGS;
    return bytes && bytes <= DWELL_VALUES_TEXT_MOST ? bytes : DWELL_VALUES_TEXT;
}

/* Takes the value with that number. */
static void value_plan_take_program(struct value_reads *r, const struct load_program *program, uint32_t number)
{
    struct value_source source, length;
    if (!program->count) {
        r->unread |= 1u << number;
        return;
    }
    r->saves |= value_plan_saves_for(program);
    r->by_programs |= r->count == VALUE_SOURCES || !value_source_of(program, &source, &length);
    if (r->by_programs)
        return;
    source.value = (uint8_t)number;
    if (source.is_counted)
        r->lengths[r->count] = length;
    r->list[r->count++] = source;
    r->in_registers &= !source.loads && !source.is_text && !source.is_cpu;
}

/* How the values of a site are read. */
static void value_plan_make_reads(struct planned_site *planned, uint32_t site)
{
    struct value_reads *r = &planned->reads;
    const struct dwell_value_loads *loads = (const struct dwell_value_loads *)(planned->at + 1);
    r->in_registers = true;
    r->text_bytes = value_plan_text_bytes(planned->function);
    for (uint32_t i = 0; i < planned->function->values; i++, loads = value_plan_next(loads))
        value_plan_take_program(r, value_plan_program(loads), i);
    r->in_registers &= !r->by_programs;
    r->site = site;
    __atomic_fetch_or(&value_plan_saves, r->saves, __ATOMIC_RELEASE);
}

/* ---- reading ---- */

/* Programs that are not well are taken for values that cannot be read. False if they do not fill the site. */
static bool value_plan_check_site(struct dwell_values_site *site, uint32_t values)
{
    char *at = (char *)(site + 1), *const end = (char *)site + site->size;
    for (uint32_t i = 0; i < values; i++) {
        struct dwell_value_loads *loads = (struct dwell_value_loads *)at;
        if ((size_t)(end - at) < sizeof *loads || loads->count > LOAD_MOST ||
            (size_t)(end - at) - sizeof *loads < loads->count * sizeof(struct dwell_load))
            return false;
        if (loads->count && !(load_check(value_plan_program(loads)) && load_can_run(value_plan_program(loads))))
            return false;
        value_plan_note_memory(value_plan_program(loads));
        at += sizeof *loads + loads->count * sizeof(struct dwell_load);
    }
    return at == end;
}

/* Adds the sites of a function that is whole. */
static bool value_plan_add_function(struct dwell_values_function *f, bool off)
{
    size_t at =
        sizeof *f + plan_texts_size(f->build_id_length, f->path_length) + f->values * sizeof(struct dwell_value);
    if (f->values > DWELL_VALUES_MOST || at > f->size || f->sites > DWELL_VALUES_SITES - value_plan->sites)
        return false;
    for (uint32_t i = 0; i < f->sites; i++) {
        struct dwell_values_site *site = (struct dwell_values_site *)((char *)f + at);
        if (f->size - at < sizeof *site || site->size < sizeof *site || site->size > f->size - at || site->size % 8 ||
            !value_plan_check_site(site, f->values))
            return false;
        struct planned_site *planned = &value_plan->site[value_plan->sites + i];
        *planned = (struct planned_site){ .function = f, .at = site, .off = off };
        value_plan_make_reads(planned, value_plan->sites + i);
        at += site->size;
    }
    value_plan->sites += f->sites;
    value_plan->functions++;
    return true;
}

/* The next function of a chunk; NULL if it does not end before `end`. */
static struct dwell_values_function *value_plan_function(char *at, const char *end)
{
    struct dwell_values_function *f = (struct dwell_values_function *)at;
    const bool whole =
        (size_t)(end - at) >= sizeof *f && f->size >= sizeof *f && f->size % 8 == 0 && f->size <= (size_t)(end - at);
    return whole ? f : NULL;
}

/* A program that begins reads the values of all functions but those that are off. One that is sent a plan reads those
 * of new functions only if the plan was made for them. */
static bool value_plan_is_off(const struct dwell_values_function *f, bool sent)
{
    return f->text_bytes & DWELL_VALUES_OFF || (sent && !(f->text_bytes & DWELL_VALUES_CHANGED));
}

/* Adds functions until one is not whole. Returns whether all are. */
static bool value_plan_add_functions(char *at, const char *end, uint32_t count, bool sent)
{
    for (uint32_t i = 0; i < count; i++) {
        struct dwell_values_function *f = value_plan_function(at, end);
        if (!f || !value_plan_add_function(f, value_plan_is_off(f, sent)))
            return false;
        at += f->size;
    }
    return true;
}

static bool value_plan_make(void)
{
    if (value_sites)
        return true;
    value_plan = value_plan ? value_plan : sys_memory(sizeof *value_plan);
    struct value_site *sites = value_plan ? sys_memory(VALUE_SLOTS * sizeof *sites) : NULL;
    __atomic_store_n(&value_sites, sites, __ATOMIC_RELEASE);
    return sites;
}

static struct dwell_values_plan *value_plan_copy(int fd, uint64_t offset)
{
    return (struct dwell_values_plan *)filter_copy_chunk(fd, offset, DWELL_CHUNK_PLAN,
                                                         sizeof(struct dwell_values_plan));
}

void value_plan_begin(int fd)
{
    const uint64_t offset = __atomic_load_n(&session_more(&runtime.session)->values, __ATOMIC_ACQUIRE);
    if (!offset || value_plan)
        return;
    struct dwell_values_plan *plan = value_plan_copy(fd, offset);
    if (plan && value_plan_make())
        value_plan_add_functions((char *)(plan + 1), (char *)plan + plan->chunk.size, plan->functions, false);
}

/* ---- plans that are sent ---- */

static bool value_plan_same_function(const struct dwell_values_function *a, const struct dwell_values_function *b)
{
    const char *rest_of_a = (const char *)&a->text_bytes + sizeof a->text_bytes;
    const char *rest_of_b = (const char *)&b->text_bytes + sizeof b->text_bytes;
    return a->size == b->size && memcmp(a, b, offsetof(struct dwell_values_function, text_bytes)) == 0 &&
           memcmp(rest_of_a, rest_of_b, a->size - (size_t)(rest_of_a - (const char *)a)) == 0;
}

/* Takes over what the chunk says of a function that has its sites from *site on. False if it is another one. */
static bool value_plan_change_function(const struct dwell_values_function *f, uint32_t *site)
{
    struct planned_site *planned = &value_plan->site[*site];
    const uint32_t sites = f->sites;
    if (sites > value_plan->sites - *site || (sites && !value_plan_same_function(planned->function, f)))
        return false;
    for (uint32_t i = 0; i < sites && f->text_bytes & DWELL_VALUES_CHANGED; i++)
        planned[i].off = f->text_bytes & DWELL_VALUES_OFF;
    *site += sites;
    return true;
}

/* The functions behind those that are known stay in memory. */
static bool value_plan_add_rest(const char *at, const char *end, uint32_t count)
{
    char *copy = count ? sys_memory((size_t)(end - at)) : NULL;
    if (copy)
        memcpy(copy, at, (size_t)(end - at));
    return !count || (copy && value_plan_add_functions(copy, copy + (end - at), count, true));
}

static bool value_plan_take_over(struct dwell_values_plan *plan)
{
    char *at = (char *)(plan + 1), *const end = (char *)plan + plan->chunk.size;
    uint32_t i = 0;
    for (uint32_t site = 0; i < plan->functions && i < value_plan->functions; i++) {
        const struct dwell_values_function *f = value_plan_function(at, end);
        if (!f || !value_plan_change_function(f, &site))
            return false;
        at += f->size;
    }
    return value_plan_add_rest(at, end, plan->functions - i);
}

bool value_plan_add(int fd, uint64_t offset)
{
    struct dwell_values_plan *plan = value_plan_copy(fd, offset);
    if (!plan)
        return false;
    const bool good = value_plan_make() && value_plan_take_over(plan);
    sys_unmap(plan, plan->chunk.size);
    return good;
}

/* ---- loaded modules ---- */

/* Probes may be reading it. */
static bool value_plan_insert(uint64_t bias, uint32_t number)
{
    const uint64_t address = bias + value_plan->site[number].at->address;
    struct value_site *sites = (struct value_site *)value_sites, *site;
    uint32_t i = value_slot(address);
    while (sites[i].address && sites[i].address != address)
        i = (i + 1) % VALUE_SLOTS;
    site = &sites[i];
    if (!site->address && value_site_count == VALUE_SLOTS / 2)
        return false;
    value_site_count += !site->address;
    __atomic_store_n(&site->bias, bias, __ATOMIC_RELAXED);
    __atomic_store_n(&site->reads, &value_plan->site[number].reads, __ATOMIC_RELEASE);
    __atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
    return true;
}

static enum value_plan_reads value_plan_reads_of(const struct planned_site *planned)
{
    const struct dwell_values_function *f = planned->function;
    const struct dwell_value *values =
        (const struct dwell_value *)((const char *)(f + 1) + plan_texts_size(f->build_id_length, f->path_length));
    bool any = false;
    for (uint32_t i = 0; i < f->values; i++)
        any |= values[i].result;
    return planned->off ? VALUES_NONE : any ? VALUES_ENTERS_AND_RESULTS : VALUES_ENTERS;
}

static bool value_plan_is_of(const struct planned_site *planned, struct text build_id, struct text path)
{
    const struct dwell_values_function *f = planned->function;
    return plan_texts_are_of((const char *)(f + 1), f->build_id_length, f->path_length,
                             &(struct plan_module){ build_id, path });
}

bool value_plan_use_module(struct text build_id, struct text path, uint64_t bias, value_plan_taker *take, void *context)
{
    const struct dwell_values_function *last = NULL;
    bool good = true;
    for (uint32_t i = 0; value_sites && i < value_plan->sites; i++) {
        const struct planned_site *planned = &value_plan->site[i];
        if (!value_plan_is_of(planned, build_id, path))
            continue;
        if (!planned->off)
            good &= value_plan_insert(bias, i);
        if (planned->function != last)
            good &= take(context, bias + planned->function->offset, value_plan_reads_of(planned));
        last = planned->function;
    }
    return good;
}

uint64_t value_plan_function_at(struct text build_id, struct text path, uint64_t bias, uint64_t probe_return)
{
    const struct value_site *site = value_plan_find(probe_return);
    const struct value_reads *reads = site && site->bias == bias ? value_plan_reads(site) : NULL;
    const struct planned_site *planned = reads ? &value_plan->site[reads->site] : NULL;
    return planned && value_plan_is_of(planned, build_id, path) ? bias + planned->function->offset : 0;
}

uint32_t value_plan_loads(uint32_t site, const struct dwell_value_loads **first)
{
    const struct planned_site *planned = &value_plan->site[site];
    *first = (const struct dwell_value_loads *)(planned->at + 1);
    return planned->function->values;
}
