/* The plan is copied, as somebody may overwrite the file, and checked once. The calls of loaded modules are in a table
 * that probes read without a lock. */
#include "value_plan.h"

#include <string.h>

#include "filter.h"
#include "plan_texts.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { VALUE_SLOTS = 4 * DWELL_VALUES_SITES /* a power of two */ };

/* A site of the plan. */
struct planned_site {
    const struct dwell_values_function *function;
    const struct dwell_values_site *at;
};

static struct {
    const struct dwell_values_plan *copy; /* NULL if there is none */
    uint32_t functions, sites;            /* those that are whole */
    struct planned_site site[DWELL_VALUES_SITES];
} * value_plan;

static struct value_site *value_sites; /* VALUE_SLOTS; NULL if there are none */
static uint32_t value_site_count;

/* ---- programs ---- */

bool value_plan_has_vectors;

static bool value_plan_uses_vectors(const struct load_program *program)
{
    bool uses = false;
    for (uint32_t i = 0; i < program->count; i++)
        uses |= program->loads[i].op == LOAD_VECTOR;
    return uses;
}

/* Whether the program's value is in a register. */
static bool value_plan_is_register(const struct load_program *program, struct value_register *value)
{
    const struct load *l = program->loads;
    const bool extends = program->count == 2 && (l[1].op == LOAD_SIGNED || l[1].op == LOAD_UNSIGNED);
    if (!program->count || l->op != LOAD_REGISTER || (program->count > 1 && !extends))
        return false;
    *value = (struct value_register){ l->operand, extends ? (uint8_t)(64 - l[1].operand) : 0,
                                      extends && l[1].op == LOAD_SIGNED };
    return true;
}

/* How all values of a site are read if they are in registers. */
static struct value_registers value_plan_registers(const struct planned_site *planned)
{
    struct value_registers r = { .all = true };
    const struct dwell_value_loads *loads = (const struct dwell_value_loads *)(planned->at + 1);
    for (uint32_t i = 0; i < planned->function->values; i++, loads = value_plan_next(loads)) {
        if (!loads->count)
            r.unread |= 1u << i;
        else if (r.count < VALUE_REGISTERS && value_plan_is_register(value_plan_program(loads), &r.list[r.count]))
            r.count++;
        else
            return (struct value_registers){ .all = false };
    }
    return r;
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
        if (loads->count && !load_check(value_plan_program(loads)))
            return false;
        value_plan_has_vectors |= value_plan_uses_vectors(value_plan_program(loads));
        at += sizeof *loads + loads->count * sizeof(struct dwell_load);
    }
    return at == end;
}

/* Adds the sites of a function that is whole. */
static bool value_plan_add_function(struct dwell_values_function *f)
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
        value_plan->site[value_plan->sites + i] = (struct planned_site){ f, site };
        at += site->size;
    }
    value_plan->sites += f->sites;
    value_plan->functions++;
    return true;
}

static void value_plan_add_functions(struct dwell_values_plan *plan)
{
    char *at = (char *)(plan + 1), *const end = (char *)plan + plan->chunk.size;
    for (uint32_t i = 0; i < plan->functions; i++) {
        struct dwell_values_function *f = (struct dwell_values_function *)at;
        if ((size_t)(end - at) < sizeof *f || f->size < sizeof *f || f->size % 8 || f->size > (size_t)(end - at) ||
            !value_plan_add_function(f))
            return;
        at += f->size;
    }
}

void value_plan_begin(int fd)
{
    const uint64_t offset = session_more(&runtime.session)->values;
    if (!offset || value_plan || runtime.mode == DWELL_MODE_PROFILE)
        return;
    struct dwell_values_plan *plan =
        (struct dwell_values_plan *)filter_copy_chunk(fd, offset, DWELL_CHUNK_PLAN, sizeof(struct dwell_values_plan));
    value_plan = plan ? sys_memory(sizeof *value_plan) : NULL;
    value_sites = value_plan ? sys_memory(VALUE_SLOTS * sizeof *value_sites) : NULL;
    if (!value_sites)
        return;
    value_plan->copy = plan;
    value_plan_add_functions(plan);
}

/* ---- loaded modules ---- */

static uint32_t value_slot(uint64_t address)
{
    return (uint32_t)(address * 0x9e3779b97f4a7c15u >> 40) % VALUE_SLOTS;
}

static bool value_plan_insert(uint64_t bias, uint32_t number)
{
    const uint64_t address = bias + value_plan->site[number].at->address;
    uint32_t i = value_slot(address);
    while (value_sites[i].address && value_sites[i].address != address)
        i = (i + 1) % VALUE_SLOTS;
    struct value_site *site = &value_sites[i];
    if (!site->address && value_site_count == VALUE_SLOTS / 2)
        return false;
    value_site_count += !site->address;
    site->bias = bias;
    site->number = number;
    site->registers = value_plan_registers(&value_plan->site[number]);
    __atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
    return true;
}

const struct value_site *value_plan_find(uint64_t probe_return)
{
    for (uint32_t i = value_slot(probe_return); value_sites; i = (i + 1) % VALUE_SLOTS) {
        const uint64_t address = __atomic_load_n(&value_sites[i].address, __ATOMIC_ACQUIRE);
        if (address == probe_return)
            return &value_sites[i];
        if (!address)
            return NULL;
    }
    return NULL;
}

static bool value_plan_has_results(const struct dwell_values_function *f)
{
    const struct dwell_value *values =
        (const struct dwell_value *)((const char *)(f + 1) + plan_texts_size(f->build_id_length, f->path_length));
    bool any = false;
    for (uint32_t i = 0; i < f->values; i++)
        any |= values[i].result;
    return any;
}

bool value_plan_use_module(struct text build_id, struct text path, uint64_t bias, value_plan_taker *take, void *context)
{
    const struct dwell_values_function *last = NULL;
    bool good = true;
    for (uint32_t i = 0; value_sites && i < value_plan->sites; i++) {
        const struct planned_site *planned = &value_plan->site[i];
        if (!plan_texts_are_of((const char *)(planned->function + 1), planned->function->build_id_length,
                               planned->function->path_length, &(struct plan_module){ build_id, path }))
            continue;
        good &= value_plan_insert(bias, i);
        if (planned->function != last)
            good &= take(context, bias + planned->function->offset, value_plan_has_results(planned->function));
        last = planned->function;
    }
    return good;
}

uint32_t value_plan_loads(uint32_t site, const struct dwell_value_loads **first)
{
    const struct planned_site *planned = &value_plan->site[site];
    *first = (const struct dwell_value_loads *)(planned->at + 1);
    return planned->function->values;
}

uint32_t value_plan_text_bytes(uint32_t site)
{
    const uint32_t bytes = value_plan->site[site].function->text_bytes;
    return bytes && bytes <= DWELL_VALUES_TEXT_MOST ? bytes : DWELL_VALUES_TEXT;
}
