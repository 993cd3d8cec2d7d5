/* Brings the calls of the probes in a module to the levels of its functions. A function that is not to be timed any
 * more is LEAVING first: its calls go to a check, which lets a call pass only while an earlier one is open on the
 * thread. When all threads have seen that, and no call is open, its probes go out of the code. A function that is to be
 * timed again gets its exits first, then its enters. So no timed enter is ever without its exit. */
#include "levels/level_module.h"

#include <string.h>

#include "filter.h"
#include "helper.h"
#include "levels/code_lock.h"
#include "levels/code_pages.h"
#include "levels/counts.h"
#include "levels/in_place.h"
#include "levels/level_check.h"
#include "levels/level_library.h"
#include "levels/level_nested.h"
#include "levels/level_places.h"
#include "levels/level_read.h"
#include "levels/level_records.h"
#include "levels/level_stubs.h"
#include "levels/level_unloads.h"
#include "levels/level_unseen.h"
#include "levels/level_watched.h"
#include "modules.h"
#include "probes.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

static const char *const level_not_writable =
    "code cannot be made writable: the probes of functions with the level out stay in it";
static const char *const level_not_rewritten =
    "some calls of probes cannot be rewritten: functions with the level out stay timed in their module";
static const char *const level_not_paused =
    "some calls of probes cannot be rewritten: the probes of their module stay in the code while the program is paused";
static const char *const level_not_synchronized =
    "the system cannot make all processors see changed code: levels cannot change while the program runs";

/* ---- functions ---- */

static bool level_module_make_room(struct level_module *m)
{
    uint64_t *functions = m->count < m->room ? m->functions : sys_grow(m->functions, &m->room, sizeof *functions, 64);
    if (functions)
        m->functions = functions;
    return functions;
}

bool level_module_is_reachable(const struct level_module *m)
{
    return m->loaded && (m->program || level_unloads_are_known());
}

static uint32_t level_identity(const struct level_module *m)
{
    return modules_identity(m->path, m->build_id);
}

/* The module lists the function from now on. False without memory. */
static bool level_module_list(struct level_module *m, struct level_slot *slot)
{
    if (slot->module == m->number)
        return true;
    if (!level_module_make_room(m))
        return false;
    m->functions[m->count++] = slot->function;
    slot->module = m->number;
    slot->hidden = false;
    level_watched_remove(slot->function);
    slot->watch = 0;
    slot->values = 0;
    if (slot->identity != level_identity(m))
        slot->seen = LEVEL_TIMED; /* of another module, which was here before */
    slot->identity = level_identity(m);
    return true;
}

bool level_module_watch(struct level_module *m, uint64_t function, uint32_t watch)
{
    struct level_slot *slot = level_table_need(function);
    if (!slot || !level_module_list(m, slot))
        return false;
    if (watch)
        level_module_want(m, function, LEVEL_TIMED);
    level_watched_remove(function);
    __atomic_store_n(&slot->watch, watch, __ATOMIC_RELEASE);
    level_library_watch(slot);
    m->changes = m->watch_changed = true;
    return true;
}

bool level_module_read_values(struct level_module *m, uint64_t function, enum value_plan_reads reads)
{
    static const uint8_t probes[] = { 0, 1 << HOOK_ENTER, 1 << HOOK_ENTER | 1 << HOOK_EXIT };
    const struct level_slot *known = levels_slot(function);
    if (!reads && (!known || known->module != m->number || !known->values))
        return true;
    struct level_slot *slot = level_table_need(function);
    if (!slot || !level_module_list(m, slot))
        return false;
    if (reads)
        level_module_want(m, function, LEVEL_TIMED);
    __atomic_store_n(&slot->values, probes[reads], __ATOMIC_RELEASE);
    m->changes = m->watch_changed = true;
    return true;
}

bool level_module_want(struct level_module *m, uint64_t function, enum level level)
{
    struct level_slot *slot = level_table_need(function);
    if (!slot)
        return false;
    if (slot->module != m->number && level == LEVEL_TIMED)
        return true;
    if (!level_module_list(m, slot))
        return false;
    if ((slot->watch || slot->values) && level != LEVEL_TIMED)
        return true; /* its calls would not be seen */
    if (level == LEVEL_COUNTED) {
        slot->number = counts_number(function, m->info.dlpi_addr, level_identity(m), m->program);
        if (slot->number == COUNTS_NONE)
            return false;
        m->tries = m->program && in_place_is_possible() ? MAX_TRIES_IN_PLACE : 0;
    }
    slot->wanted = level;
    if (level_library_use(slot))
        return true;
    m->changes |= (slot->state & LEVEL_MASK) != level;
    return !m->read || m->sites.count;
}

static struct level_slot *level_module_slot(const struct level_module *m, uint32_t index)
{
    return level_table_find(levels_table, m->functions[index]);
}

static void level_set_state(struct level_slot *slot, uint32_t state)
{
    if (state != LEVEL_TIMED)
        level_watched_remove(slot->function);
    __atomic_store_n(&slot->state, state, __ATOMIC_RELEASE);
}

static bool level_has_left(const struct level_slot *slot, const struct level_look *look)
{
    return !look->blind && slot->open != look->number && (int32_t)(look->seen - slot->generation) >= 0;
}

/* The first step of each function's change. Returns whether there is any. */
static bool level_module_begin_changes(struct level_module *m, const struct level_look *look, uint32_t generation,
                                       bool alone)
{
    const bool nests = level_nested_find(m, look);
    bool any = false;
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_module_slot(m, i);
        const uint32_t level = slot->state & LEVEL_MASK, wanted = slot->wanted;
        uint32_t state = slot->state;
        if (level == wanted) {
            if (state & (LEVEL_LEAVING | LEVEL_NESTED) && (level_has_left(slot, look) || look->ends))
                state = level;
            else if (state & LEVEL_LEAVING && (state & LEVEL_NESTED || (nests && level_nested_may_be(slot, look))))
                state = level | LEVEL_NESTED;
        } else if (state & LEVEL_NESTED && !look->ends) {
            state = wanted | LEVEL_NESTED | (level == LEVEL_TIMED ? LEVEL_LEAVING | LEVEL_FRESH : 0);
        } else if (wanted == LEVEL_TIMED) {
            state |= LEVEL_RETURNING;
        } else if (level == LEVEL_TIMED) {
            state = wanted | (alone ? 0 : LEVEL_LEAVING | LEVEL_FRESH);
            slot->generation = generation;
        } else {
            state = wanted | (state & LEVEL_LEAVING);
        }
        if (state & LEVEL_NESTED && state != slot->state) {
            slot->generation = generation; /* calls that passed a check until now are recorded */
            m->changes = true;
        }
        any |= state != slot->state;
        level_set_state(slot, state);
    }
    return any;
}

/* Changes states where bits of `which` are set: to timed, or without these bits. Calls that were counted below recorded
 * ones stay apart from them. */
static void level_module_settle(struct level_module *m, uint32_t which, bool timed)
{
    m->leaving = m->reduced = m->watched = m->valued = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_module_slot(m, i);
        m->watched += slot->watch != 0;
        m->valued += slot->values != 0;
        if (slot->state & which) {
            level_set_state(slot, timed ? slot->state & LEVEL_NESTED : slot->state & ~which);
            if (timed)
                slot->wanted = LEVEL_TIMED;
        }
        m->leaving += (slot->state & (LEVEL_LEAVING | LEVEL_NESTED)) != 0;
        m->reduced += slot->state != LEVEL_TIMED;
        if (slot->module == m->number)
            level_watched_settle(slot);
    }
}

/* ---- calls ---- */

/* The form of a call of a function that is known, and of its slot. */
static enum call_form level_form(struct level_module *m, struct call_site *site, const struct level_slot *slot)
{
    const uint32_t state = level_state_of(slot);
    if (state == LEVEL_TIMED && slot && !site->jump && slot->values >> site->hook & 1)
        return CALL_VALUES;
    if (state == LEVEL_TIMED || (site->hook == HOOK_EXIT && state & LEVEL_RETURNING))
        return site->hook == HOOK_EXIT && slot && slot->watch ? CALL_CHECKED : CALL_ORIGINAL;
    if (state & LEVEL_LEAVING)
        return CALL_CHECKED;
    if (site->hook == HOOK_EXIT)
        return state & LEVEL_NESTED ? CALL_CHECKED : CALL_OUT;
    if ((state & LEVEL_MASK) != LEVEL_COUNTED)
        return (state & LEVEL_MASK) == LEVEL_OUT ? CALL_OUT : CALL_ORIGINAL;
    if (counts_is_open(slot->number) && machine_counts_in_place(site))
        return CALL_IN_PLACE;
    if (site->form != CALL_COUNTED)
        site->stub = level_stub_of(m, site, slot->number);
    return site->stub ? CALL_COUNTED : CALL_CHECKED;
}

/* What the functions may be that a site of an unknown function belongs to. */
struct level_code {
    const struct call_site *first; /* of the same code; NULL before it was looked at */
    bool timed, other;             /* levels */
    bool watched;                  /* exits */
    bool open;                     /* with open calls, while the program is paused */
};

/* An exit belongs to a function whose enter is in the same code. */
static void level_look_at_code(const struct level_module *m, const struct call_site *first, struct level_code *code)
{
    const struct call_site *const end = m->sites.list + m->sites.count;
    const bool any = first->partial || m->sites.more_enters;
    *code = (struct level_code){ first, any, any && m->reduced, any && m->watched, any && level_open_any };
    for (const struct call_site *site = first; !any && site < end && (site == first || !site->first); site++) {
        if (site->hook != HOOK_ENTER)
            continue;
        const struct level_slot *slot = levels_slot(site->function);
        const uint32_t state = level_state_of(slot);
        const bool timed = state == LEVEL_TIMED || state & LEVEL_RETURNING;
        code->timed |= timed || state & (LEVEL_LEAVING | LEVEL_NESTED);
        code->other |= !timed;
        code->watched |= slot && slot->watch;
        code->open |= level_may_be_open(site->function);
    }
}

static enum call_form level_form_of_unknown(const struct call_site *site, const struct level_code *code)
{
    if (!code->other)
        return code->watched && site->hook == HOOK_EXIT ? CALL_CHECKED : CALL_ORIGINAL;
    return code->timed || site->hook == HOOK_ENTER ? CALL_CHECKED : CALL_OUT;
}

/* While the program is paused. A module whose functions are not known was never without a pause. */
static enum call_form level_paused_form(const struct level_module *m, enum call_form form, bool open)
{
    if (m->pause == PAUSE_CHECKS)
        return form == CALL_OUT ? CALL_OUT : CALL_CHECKED;
    return open && !m->sites.bare ? CALL_CHECKED : CALL_OUT;
}

/* A form follows from its function's state, whatever the other calls are by now. */
static void level_choose_forms(struct level_module *m)
{
    struct level_code code = { .first = NULL };
    const struct call_site *first = NULL;
    const struct level_slot *slot = NULL; /* of the function `last`, which mostly has the next site, too */
    uint64_t last = 0;
    for (uint32_t i = 0; i < m->sites.count; i++) {
        struct call_site *site = &m->sites.list[i];
        first = site->first ? site : first;
        if (!site->function && m->valued)
            site->function =
                value_plan_function_at(m->build_id, m->path, m->info.dlpi_addr, site->address + site->length);
        if (!site->function && code.first != first)
            level_look_at_code(m, first, &code);
        if (site->function && site->function != last)
            slot = levels_slot(last = site->function);
        const enum call_form form = site->function ? level_form(m, site, slot) : level_form_of_unknown(site, &code);
        const bool open = site->function ? level_may_be_open(site->function) : code.open;
        site->wanted = (uint8_t)(m->pause ? level_paused_form(m, form, open) : form);
    }
}

static bool level_apply_forms(struct level_module *m, enum hook hook)
{
    m->nests_known = false;
    code_lock_take();
    const bool done = rewriter_apply(&m->rewriter, &m->sites, hook);
    code_lock_release();
    return done;
}

/* Whether calls through the module's slots can be led to other functions. */
static bool level_has_slots(const struct level_module *m)
{
    return m->places.slot_count[HOOK_ENTER] > 0 && !hook_places_code(&m->places, m->places.probes[HOOK_ENTER]);
}

/* The call leads to the probe, though the function, or any, is not timed. */
static bool level_is_unchecked(const struct level_module *m, const struct call_site *site)
{
    const bool stays = site->form == site->wanted || (site->form != CALL_ORIGINAL && site->form != CALL_VALUES);
    if (stays || site->hook != HOOK_ENTER)
        return false;
    return m->pause || (site->function ? levels_state(site->function) & LEVEL_MASK : m->reduced > 0);
}

static bool level_has_unchecked(const struct level_module *m)
{
    const bool any = m->reduced || m->pause;
    if (m->sites.more_enters && any)
        return true;
    for (uint32_t i = 0; any && i < m->sites.count; i++)
        if (level_is_unchecked(m, &m->sites.list[i]))
            return true;
    return false;
}

/* A lazy slot may have been filled in by the loader since it was set. Returns whether the slots were as they should
 * be. */
static bool level_set_slots(struct level_module *m, bool check)
{
    const uint64_t target = check ? (uint64_t)level_checked_enter : m->places.probes[HOOK_ENTER];
    bool same = check == m->slots_check;
    for (uint32_t i = 0; i < m->places.slot_count[HOOK_ENTER] && (check || m->slots_check); i++) {
        const uint64_t slot = m->places.slots[HOOK_ENTER][i];
        if (*(const volatile uint64_t *)slot == target)
            continue;
        same = false;
        code_lock_take();
        const bool done = rewriter_set_slots(&m->rewriter, &(struct slot_change){ slot, target }, 1);
        code_lock_release();
        if (!done)
            return false;
    }
    m->slots_check = check;
    return same;
}

/* Functions of which a call cannot be led to a check stay timed. Returns whether there are any. */
static bool level_module_refuse(struct level_module *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const struct call_site *site = &m->sites.list[i];
        if (!level_is_unchecked(m, site))
            continue;
        any = true;
        if (m->pause) {
            m->keeps_probes = true;
            m->pause = PAUSE_NONE;
            level_module_refuse(m);
            return true;
        }
        if (!site->function) {
            level_module_settle(m, ~0u, true);
            m->denied = true;
            return true;
        }
        struct level_slot *slot = level_table_find(levels_table, site->function);
        level_set_state(slot, slot->state & LEVEL_NESTED);
        slot->wanted = LEVEL_TIMED;
    }
    if (any)
        level_module_settle(m, 0, false);
    return any;
}

/* Functions whose exits are called again are timed again. Returns whether there are any. */
static bool level_module_return(struct level_module *m)
{
    bool any = false;
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_module_slot(m, i);
        if (!(slot->state & LEVEL_RETURNING))
            continue;
        any = true;
        level_set_state(slot, LEVEL_TIMED);
    }
    return any;
}

/* Makes the calls what the functions' states say: exits, then enters. Returns NULL, or a problem. */
static const char *level_module_rewrite(struct level_module *m)
{
    level_module_settle(m, 0, false);
    level_choose_forms(m);
    if (!level_apply_forms(m, HOOK_EXIT)) {
        level_module_settle(m, LEVEL_RETURNING, false);
        level_module_settle(m, LEVEL_FRESH, true);
        return level_not_writable;
    }
    if (level_module_return(m)) {
        level_module_settle(m, 0, false);
        level_choose_forms(m);
    }
    if (!level_apply_forms(m, HOOK_ENTER)) {
        level_module_settle(m, LEVEL_FRESH, true);
        return level_not_writable;
    }
    const char *problem = NULL;
    const bool unchecked = level_has_unchecked(m);
    if (level_has_slots(m))
        level_set_slots(m, unchecked);
    if (unchecked && !(level_has_slots(m) && m->slots_check) && level_module_refuse(m)) {
        problem = m->keeps_probes ? level_not_paused : level_not_rewritten;
        level_choose_forms(m);
        level_apply_forms(m, HOOK_ENTER);
    }
    level_module_settle(m, LEVEL_FRESH, false);
    if (!m->reduced || problem) {
        level_choose_forms(m);
        level_apply_forms(m, HOOK_EXIT);
    }
    return problem;
}

/* ---- filters ---- */

/* Functions that filters hide are out. Those that no site is known of keep their probes. */
static void level_module_add_hidden(struct level_module *m)
{
    m->hides = true;
    for (uint32_t i = 0; i < m->sites.count; i++) {
        const uint64_t function = m->sites.list[i].function;
        if (function - m->begin >= m->end - m->begin || !filter_hides(function))
            continue;
        const struct level_slot *slot = levels_slot(function);
        if ((slot && slot->module == m->number) || !level_module_want(m, function, LEVEL_OUT))
            continue;
        level_table_find(levels_table, function)->hidden = true;
    }
}

/* ---- pauses ---- */

bool level_module_lags(const struct level_module *m)
{
    if (level_pause == PAUSE_HOLDS)
        return !m->keeps_probes && (m->pause != PAUSE_HOLDS || (!m->sites.bare && level_open_any));
    return level_pause == PAUSE_CHECKS ? m->pause == PAUSE_HOLDS : m->pause != PAUSE_NONE;
}

bool level_module_is_quiet(struct level_module *m, const struct level_look *look, uint32_t generation)
{
    if (m->pause != PAUSE_CHECKS)
        return true;
    if (m->denied)
        return false;
    if (m->slots_check && !level_set_slots(m, true)) {
        m->pause_generation = generation;
        m->changes = true;
        return false;
    }
    return !look->blind && (int32_t)(look->seen - m->pause_generation) >= 0;
}

static uint32_t level_next_pause(struct level_module *m, const struct level_look *look, uint32_t generation, bool alone)
{
    if (level_pause == PAUSE_NONE || m->keeps_probes)
        return PAUSE_NONE;
    if (level_pause == PAUSE_CHECKS)
        return m->pause == PAUSE_NONE ? PAUSE_NONE : PAUSE_CHECKS;
    if (m->pause == PAUSE_CHECKS)
        return look->open_known ? PAUSE_HOLDS : PAUSE_CHECKS;
    if (m->pause == PAUSE_HOLDS || alone)
        return PAUSE_HOLDS;
    m->pause_generation = generation;
    level_open_forget();
    return PAUSE_CHECKS;
}

/* The next step of a pause. Returns whether calls may have to change. */
static bool level_module_step_pause(struct level_module *m, const struct level_look *look, uint32_t generation,
                                    bool alone)
{
    const uint32_t next = level_next_pause(m, look, generation, alone);
    const bool any = m->pause_changed || next != m->pause || (next == PAUSE_HOLDS && look->open_fewer);
    m->pause = next;
    m->pause_changed = false;
    return any;
}

/* ---- the module ---- */

static bool level_has_other_calls(const struct level_module *m)
{
    for (uint32_t i = 0; i < m->sites.count; i++)
        if (m->sites.list[i].form != CALL_ORIGINAL)
            return true;
    return false;
}

/* A program that begins paused may never be resumed: then functions are not looked for. Later they are, when all calls
 * have their original bytes. Returns whether they are known. */
static bool level_module_know_functions(struct level_module *m)
{
    if (!m->sites.bare)
        return true;
    if (level_has_other_calls(m))
        return false;
    call_sites_drop(&m->sites);
    m->denied = !level_read_sites(m, false);
    return true;
}

/* Whether its functions have to be told apart: not if it begins paused, as they have no open calls then. */
static bool level_module_needs_functions(const struct level_module *m, bool alone)
{
    return m->count > 0 || filter_settings.hidden_out ||
           (level_pause == PAUSE_HOLDS && m->pause == PAUSE_NONE && !alone);
}

const char *level_module_work(struct level_module *m, const struct level_look *look, uint32_t generation, bool alone)
{
    if (m->denied || (!m->changes && !m->leaving && !m->tries && !level_module_lags(m) && !m->pause_changed))
        return NULL;
    m->changes = false;
    const bool needs = level_module_needs_functions(m, alone);
    const char *problem = m->read ? m->problem : level_read_module(m, !needs, look->in_parts);
    m->problem = NULL;
    if (!m->read) {
        m->changes = true;
        return NULL;
    }
    const bool known = problem || !needs || level_module_know_functions(m);
    if (!problem && !alone && !m->denied && !m->rewriter.synchronizes)
        problem = level_not_synchronized;
    m->denied |= problem != NULL;
    if (m->denied)
        return problem;
    struct level_look now = *look;
    if (known && filter_settings.hidden_out && !m->hides)
        level_module_add_hidden(m);
    level_stubs_make(m);
    const bool moves = level_places_open(m);
    m->rewriter.alone = alone && level_is_alone();
    if (m->leaving && m->slots_check && !level_set_slots(m, true)) {
        for (uint32_t i = 0; i < m->count; i++)
            level_module_slot(m, i)->generation = generation;
        now.blind = true;
    }
    bool any = known && level_module_begin_changes(m, &now, generation, alone);
    any |= level_module_step_pause(m, look, generation, alone);
    any |= known && m->watch_changed;
    m->watch_changed &= !known;
    if (any || moves) {
        const uint64_t begin = level_cost_begins();
        problem = level_module_rewrite(m);
        level_cost_ends(begin);
    }
    m->rewriter.alone = false;
    problem = known && any && !problem ? level_unseen(m) : problem;
    m->changes |= !known;
    if (problem == level_not_writable) {
        m->denied = true;
        m->pause = level_has_other_calls(m) ? PAUSE_CHECKS : PAUSE_NONE;
    }
    return problem;
}

/* No state changes, so other calls keep their forms. */
void level_module_leave_places(struct level_module *m)
{
    level_stubs_make(m);
    level_choose_forms(m);
    level_apply_forms(m, HOOK_ENTER);
}

void level_module_forget(struct level_module *m)
{
    call_sites_drop(&m->sites);
    if (m->read)
        rewriter_end(&m->rewriter);
    level_stubs_drop(m);
    for (uint32_t i = 0; i < m->count; i++) {
        struct level_slot *slot = level_module_slot(m, i);
        if (slot->module != m->number)
            continue;
        level_watched_remove(slot->function);
        level_set_state(slot, LEVEL_TIMED);
    }
    m->hides = m->reading = m->read = m->denied = m->slots_check = m->keeps_probes = m->pause_changed =
        m->watch_changed = m->nests_known = false;
    m->problem = NULL;
    m->pause = PAUSE_NONE;
    m->changes = m->count > 0;
    m->leaving = m->reduced = m->watched = m->valued = m->tries = 0;
}
