/* Puts the addresses of the probes into the slots of modules that would call libc's empty functions. */
#include "binding.h"

#include <string.h>

#include "interposed.h"
#include "levels/hook_places.h"
#include "levels/rewrite.h"
#include "metadata_records.h"
#include "modules.h"
#include "probes.h"

/* Forked children keep both. */
static bool binding_expected;  /* a library was loaded in a scope of its own */
static bool binding_foreign;   /* a search of all modules finds other functions than the probes */
static uint64_t binding_enter; /* the function that it finds for enters */

void binding_expect(void)
{
    __atomic_store_n(&binding_expected, true, __ATOMIC_RELAXED);
}

void binding_search(void)
{
    if (!&interpose_first)
        return;
    const void *enter = interpose_first("__cyg_profile_func_enter");
    binding_enter = (uint64_t)enter;
    binding_foreign = enter != (const void *)probe_enter;
}

bool binding_is_needed(void)
{
    /* libdwell.a does not see how libraries are loaded */
    return binding_foreign || __atomic_load_n(&binding_expected, __ATOMIC_RELAXED) || !&dwell_interposed;
}

struct binding {
    struct hook_places places;
    struct text path;
    struct text (*path_at)(uint64_t address);
    struct text other; /* the module whose functions it calls instead */
    uint64_t bias;
    bool needed;
    bool refused;
    bool unfilled;
};

static bool binding_is_libc(struct text path)
{
    static const char name[] = "libc.so.", old_name[] = "libc-2.";
    const char *begin = path.at, *end = begin + path.length, *at = end;
    while (at > begin && at[-1] != '/')
        at--;
    const size_t length = (size_t)(end - at);
    return (length >= sizeof name - 1 && memcmp(at, name, sizeof name - 1) == 0) ||
           (length >= sizeof old_name - 1 && memcmp(at, old_name, sizeof old_name - 1) == 0);
}

/* A slot that was not used yet holds the address of the module's own code. The loader would look the name up, and find
 * the module's own function if it has one. */
static bool binding_is_empty(const struct binding *b, uint64_t target, bool defined)
{
    return hook_places_code(&b->places, target) ? !defined && !binding_foreign : binding_is_libc(b->path_at(target));
}

/* The loader maps a library, and fills its slots later. Until then they hold zero, or the place of the module's code as
 * its file has it. */
static bool binding_is_unfilled(const struct binding *b, uint64_t target)
{
    return !b->path_at(target).length && (!target || hook_places_code(&b->places, target + b->bias));
}

static void binding_take_slot(void *to, int hook, uint64_t slot, bool defined)
{
    struct binding *b = to;
    const uint64_t target = *(const volatile uint64_t *)slot, probe = b->places.probes[hook];
    if (target == probe)
        return;
    if (binding_is_unfilled(b, target))
        b->unfilled = true;
    else if (!b->needed)
        return;
    else if (binding_is_empty(b, target, defined))
        b->refused |= !rewriter_set_slots(&(const struct rewriter){ .places = &b->places },
                                          &(struct slot_change){ slot, probe }, 1);
    else if (!hook_places_code(&b->places, target))
        b->other = b->path_at(target);
}

static char *binding_add(char *at, const char *end, const char *text, size_t length)
{
    const size_t room = (size_t)(end - at);
    return mempcpy(at, text, length < room ? length : room);
}

/* What a note says of a module, and of the one whose functions it calls. Each comes once in a process and its children.
 */
struct binding_remark {
    const char *text;
    bool said;
};

static void binding_say(const struct binding *b, struct binding_remark *remark)
{
    static char text[1024]; /* under the lock of the module map */
    const char *end = text + sizeof text - 1;
    if (remark->said)
        return;
    remark->said = true;
    char *at = binding_add(text, end, b->path.at, b->path.length);
    at = binding_add(at, end, remark->text, strlen(remark->text));
    at = binding_add(at, end, b->other.at, b->other.length);
    *at = '\0';
    metadata_note(text);
}

static void binding_remark(const struct binding *b)
{
    static struct binding_remark
        refused = { .text =
                        " calls empty functions of libc at enters and exits, and could not be changed, so its calls "
                        "are not recorded: link it with -ldwell" },
        own = { .text = " has functions of its own for enters and exits (__cyg_profile_func_enter), so calls of "
                        "functions that find them first are not recorded: link it without them" },
        others = { .text = " calls functions of another module at enters and exits, so its calls are not recorded: " };
    struct binding alone = *b;
    alone.other.length = 0;
    if (b->refused)
        binding_say(&alone, &refused);
    if (binding_foreign && hook_places_code(&b->places, binding_enter) && !binding_is_libc(b->path))
        binding_say(&alone, &own);
    if (b->other.length)
        binding_say(b, &others);
}

bool binding_look(struct binding_state *state, const struct dl_phdr_info *info, struct text path,
                  struct text (*path_at)(uint64_t address))
{
    const bool needed = binding_is_needed();
    if (state->filled && (state->bound || !needed))
        return true;
    struct binding b = { .places = { .probes = { (uint64_t)probe_enter, (uint64_t)probe_exit } },
                         .path = path,
                         .path_at = path_at,
                         .bias = info->dlpi_addr,
                         .needed = needed };
    hook_places_find_code(&b.places, info);
    hook_places_each_slot(info, binding_take_slot, &b);
    if (needed)
        binding_remark(&b);
    state->filled = !b.unfilled;
    state->bound = needed && !b.unfilled;
    return state->filled;
}
