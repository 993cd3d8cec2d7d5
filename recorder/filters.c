/* The patterns that select the recorded functions are matched with the symbols of modules, and the matches are written
 * into the session as chunks. */
#include "recorder/filters.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "base/wide.h"
#include "recorder/filter_chunk.h"
#include "recorder/filter_patterns.h"
#include "recorder/program_modules.h"
#include "symbols/elf_facts.h"
#include "symbols/function_pattern.h"
#include "symbols/os_calls.h"
#include "symbols/symbols.h"

bool filters_any(const struct filters *f)
{
    return filters_have_functions(f) || f->depth || f->shortest_ns;
}

bool filters_have_functions(const struct filters *f)
{
    return f->pattern_count || f->earlier;
}

static uint32_t filters_actions(const struct filters *f)
{
    return f->actions | (f->earlier ? FILTER_NOT_TIMED : 0);
}

bool filters_wait(const struct filters *f)
{
    return f->shortest_ns || f->time_count || filters_have_targets(f);
}

bool filters_have_levels(const struct filters *f)
{
    return filters_actions(f) & FILTER_NOT_TIMED;
}

bool filters_have_only_levels(const struct filters *f)
{
    return f->pattern_count && !(filters_actions(f) & ~FILTER_SELECTS_NOTHING) && !f->depth && !f->shortest_ns;
}

/* ---- matching ---- */

struct filter_names {
    const char *linkage;
    char *whole; /* demangled */
    uint64_t offset;
};

static bool filters_pattern_matches(const struct filter_pattern *p, const char *module, const struct symbol *symbol,
                                    const struct filter_names *n)
{
    if (p->least_size && (symbol->size == 0 || symbol->size >= p->least_size))
        return false;
    const struct named_function f = {
        .name = n->whole,
        .linkage_name = n->linkage,
        .module = path_file_name(module),
        .file = symbol->file,
        .line = symbol->line,
        .address = n->offset,
    };
    return function_pattern_matches(&p->of, module, &f);
}

/* Of two limits of depth, the lower one counts; of two times, watches and levels of probes, the second. */
static uint32_t filters_join(uint32_t before, uint32_t action)
{
    if (action & FILTER_LEVEL)
        before &= ~(FILTER_LEVEL | FILTER_EARLIER);
    if (action & DWELL_FILTER_KEEP)
        before &= ~(uint32_t)DWELL_FILTER_KEEP;
    const uint32_t special = DWELL_FILTER_DEPTH | DWELL_FILTER_TIME, depth = before & DWELL_FILTER_DEPTH,
                   other = action & DWELL_FILTER_DEPTH, time = action & DWELL_FILTER_TIME;
    return ((before | action) & ~special) | (depth && (!other || depth < other) ? depth : other) |
           (time ? time : before & DWELL_FILTER_TIME);
}

/* The actions of all patterns that match a function, which begins with `action`, and FILTER_TIMED if that is its level.
 * Sets *named if any matches. A level or a watch does not select a function. */
static uint32_t filters_judge_symbol(const struct filters *f, const char *module, const struct symbol *symbol,
                                     uint64_t offset, uint32_t action, bool *named)
{
    struct filter_names n = { .linkage = symbol->linkage_name ? symbol->linkage_name : "", .offset = offset };
    n.whole = symbol_demangle(n.linkage);
    bool selected = false;
    for (size_t i = 0; i < f->pattern_count; i++) {
        struct filter_pattern *p = &f->patterns[i];
        if (!filters_pattern_matches(p, module, symbol, &n)) {
            if (!p->matches)
                function_pattern_note_similar(&p->of, module, &(struct named_function){ .name = n.whole });
            continue;
        }
        p->matches++;
        *named = true;
        selected |= !(p->action & FILTER_SELECTS_NOTHING);
        action = filters_join(action, p->action);
    }
    free(n.whole);
    if (*named && !selected && filters_actions(f) & FILTER_ONLY)
        action |= DWELL_FILTER_SUPPRESS;
    if (action & DWELL_FILTER_SUPPRESS && action & DWELL_FILTER_COUNTED)
        action ^= DWELL_FILTER_COUNTED | DWELL_FILTER_OUT; /* hidden calls are not counted */
    return action & ~FILTER_ONLY;
}

/* ---- the program's modules ---- */

struct filter_module {
    char *path;
    const char *file; /* where it can be read, while it is judged */
    uint8_t build_id[64];
    size_t build_id_length;
    struct dwell_filter *functions;
    size_t count, room;
};

static void filters_add_module(void *context, const char *path)
{
    struct filters *f = context;
    char *whole = realpath(path, NULL);
    if (!whole)
        return;
    for (size_t i = 0; i < f->module_count; i++) {
        if (strcmp(f->modules[i].path, whole) == 0) {
            free(whole);
            return;
        }
    }
    GROW(f->modules, f->module_count, f->module_room);
    struct filter_module *m = &f->modules[f->module_count++];
    *m = (struct filter_module){ .path = whole, .file = whole };
    m->build_id_length = elf_build_id_of(whole, m->build_id, sizeof m->build_id);
}

/* The action for a level of an earlier recording, with a mark until a pattern gives the function a level. */
static uint32_t filters_earlier_action(enum dwell_level_of_probes level)
{
    return level == DWELL_PROBES_TIMED     ? 0
           : level == DWELL_PROBES_COUNTED ? FILTER_EARLIER | DWELL_FILTER_COUNTED
                                           : FILTER_EARLIER | DWELL_FILTER_OUT;
}

static void filters_judge_function(const struct filters *f, struct filter_module *m, const struct symbol *symbol,
                                   uint64_t offset, enum dwell_level_of_probes earlier)
{
    bool named = earlier != DWELL_PROBES_TIMED;
    const uint32_t action = filters_judge_symbol(f, m->path, symbol, offset, filters_earlier_action(earlier), &named);
    if (!named)
        return;
    const struct symbol_module as = { m->path, m->build_id, m->build_id_length };
    if (action & FILTER_EARLIER && action & DWELL_FILTER_COUNTED)
        earlier_levels_apply(f->earlier, &as, offset);
    if (f->leveled && action & FILTER_SELECTS_NOTHING && !(action & FILTER_EARLIER))
        function_set_add(f->leveled, &as, offset);
    GROW(m->functions, m->count, m->room);
    m->functions[m->count++] =
        (struct dwell_filter){ .offset = offset, .action = action & ~(FILTER_EARLIER | FILTER_TIMED) };
}

/* Functions with an earlier level, but without a symbol. */
static void filters_judge_unnamed(const struct filters *f, struct filter_module *m, const struct symbol_module *as)
{
    enum dwell_level_of_probes level;
    uint64_t offset;
    for (size_t place = 0; (level = earlier_levels_next(f->earlier, as, &place, &offset)) != DWELL_PROBES_TIMED;)
        filters_judge_function(f, m, &(struct symbol){ 0 }, offset, level);
}

/* Functions of a module without probes. */
struct filter_others {
    const struct filters *filters;
    struct filter_module *module;
    const struct os_call_symbol *os_calls;
    size_t os_call_count, os_calls_taken;
};

/* Calls of the operating system that lie before the offset, or at it. Returns whether one is at it. */
static bool filters_judge_os_calls(struct filter_others *o, uint64_t offset)
{
    bool here = false;
    for (; o->os_calls_taken < o->os_call_count && o->os_calls[o->os_calls_taken].offset <= offset;
         o->os_calls_taken++) {
        const struct os_call_symbol *call = &o->os_calls[o->os_calls_taken];
        filters_judge_function(o->filters, o->module, &(struct symbol){ .linkage_name = os_calls_name(call->number) },
                               call->offset, DWELL_PROBES_TIMED);
        here = call->offset == offset;
    }
    return here;
}

/* A function has several names, of which the first that a pattern matches counts. */
static void filters_take_library_function(void *context, const char *name, uint64_t offset)
{
    struct filter_others *o = context;
    const struct filter_module *m = o->module;
    const bool is_os_call = filters_judge_os_calls(o, offset);
    if (!is_os_call && (!m->count || m->functions[m->count - 1].offset != offset))
        filters_judge_function(o->filters, o->module, &(struct symbol){ .linkage_name = name }, offset,
                               DWELL_PROBES_TIMED);
}

static int filters_compare_os_calls(const void *a, const void *b)
{
    const struct os_call_symbol *x = a, *y = b;
    return ORDER_BY(x, y, offset);
}

/* By address. */
static void filters_judge_others(const struct filters *f, struct filter_module *m, const struct symbol_module *as)
{
    struct filter_others others = { .filters = f, .module = m };
    struct os_call_symbol *os_calls = f->os_calls ? os_calls_of(as, &others.os_call_count) : NULL;
    if (others.os_call_count)
        qsort(os_calls, others.os_call_count, sizeof *os_calls, filters_compare_os_calls);
    others.os_calls = os_calls;
    if (f->calls)
        planned_calls_each(f->calls, as->path, filters_take_library_function, &others);
    filters_judge_os_calls(&others, UINT64_MAX);
    free(os_calls);
}

static void filters_judge_module(const struct filters *f, struct filter_module *m, struct binaries *binaries)
{
    const struct symbol_module as = { m->file, m->build_id, m->build_id_length };
    const size_t count = binaries_count(binaries, &as);
    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = binaries_offset(binaries, &as, i);
        const struct symbol symbol = binaries_find(binaries, &as, offset);
        if (i > 0 && offset == binaries_offset(binaries, &as, i - 1))
            continue;
        filters_judge_function(f, m, &symbol, offset,
                               f->earlier ? earlier_levels_find(f->earlier, &as, offset, symbol.linkage_name)
                                          : DWELL_PROBES_TIMED);
    }
    if (f->earlier)
        filters_judge_unnamed(f, m, &as);
    if (count == 0)
        filters_judge_others(f, m, &as);
}

bool filters_find(struct filters *f, const char *program, struct error *error)
{
    if (!program_modules_list(program, filters_add_module, f, error))
        return false;
    struct binaries *binaries = binaries_new();
    for (size_t i = 0; i < f->module_count; i++)
        filters_judge_module(f, &f->modules[i], binaries);
    binaries_free(binaries);
    for (size_t i = 0; i < f->pattern_count; i++)
        if (f->strict && f->patterns[i].matches == 0)
            return error_set(error, "%s: pattern '%s' matches no instrumented function of %s or its libraries",
                             f->patterns[i].place, f->patterns[i].of.text, program);
    return true;
}

static bool filters_is_module(const struct filter_module *m, const struct filter_loaded *loaded)
{
    if (m->build_id_length)
        return m->build_id_length == loaded->build_id_length &&
               memcmp(m->build_id, loaded->build_id, m->build_id_length) == 0;
    return strcmp(m->path, loaded->path) == 0;
}

bool filters_judge_loaded(struct filters *f, const struct filter_loaded *loaded)
{
    for (size_t i = 0; i < f->module_count; i++)
        if (filters_is_module(&f->modules[i], loaded))
            return false;
    GROW(f->modules, f->module_count, f->module_room);
    struct filter_module *m = &f->modules[f->module_count++];
    *m = (struct filter_module){
        .path = need_text("%s", loaded->path),
        .file = loaded->file,
        .build_id_length = loaded->build_id_length,
    };
    memcpy(m->build_id, loaded->build_id, sizeof m->build_id);
    if (m->file) {
        struct binaries *binaries = binaries_new();
        filters_judge_module(f, m, binaries);
        binaries_free(binaries);
    }
    m->file = NULL;
    return true;
}

size_t filters_function_count(const struct filters *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->module_count; i++)
        count += f->modules[i].count;
    return count;
}

/* A name of --keep may be that of an activity. */
static void filters_warn_of_watch(const struct filters *f, const struct filter_pattern *p)
{
    const uint32_t watch = (p->action & DWELL_FILTER_KEEP) >> DWELL_FILTER_KEEP_SHIFT;
    if (p->matches == 0 && !f->keep.list[watch - 1].named)
        say("%s: '%s' named neither an instrumented function nor an activity of a recorded program%s", p->place,
            p->of.text, function_pattern_hint(&p->of, ""));
}

static void filters_warn_of_activities(const struct filters *f)
{
    for (uint32_t i = 0; i < f->keep.count; i++) {
        const struct keep_watch *watch = &f->keep.list[i];
        if (keep_is_for_activities(watch->text) && !watch->named)
            say("--keep: '%.*s' named no activity of a recorded program%s",
                (int)(strrchr(watch->text, '>') - watch->text), watch->text,
                strncmp(watch->text, "activity:", strlen("activity:")) == 0 ? "; --event must select its class" : "");
    }
}

void filters_warn(const struct filters *f)
{
    filters_warn_of_activities(f);
    const size_t all = f->earlier ? earlier_levels_count(f->earlier) : 0,
                 missing = f->earlier ? earlier_levels_missing(f->earlier) : 0;
    if (missing)
        say("--levels-from: %zu of %s that %s not timed %s not found", missing, COUNTED(all, "function"),
            counted_word(all, "was", "were"), counted_word(missing, "was", "were"));
    for (size_t i = 0; i < f->pattern_count; i++) {
        const struct filter_pattern *p = &f->patterns[i];
        if (p->action & DWELL_FILTER_KEEP)
            filters_warn_of_watch(f, p);
        else if (p->matches == 0)
            say("%s: pattern '%s' matched no instrumented function of a recorded program%s", p->place, p->of.text,
                function_pattern_hint(&p->of, ""));
    }
}

/* ---- writing ---- */

/* After so many chunks, all modules are written again into one, so that a process has few to read. */
enum { MAX_CHUNKS = 64 };

static uint64_t filters_ticks(const struct session *session, uint64_t ns)
{
    return multiply_divide(ns, session->header->ticks_per_second, 1000000000);
}

/* Writes a chunk with the modules from `first` on. Returns its offset, or zero if there is no room. */
static uint64_t filters_write_chunk(const struct filters *f, struct dwell_filters *head, size_t first,
                                    const char *pattern, const struct session *session, int fd)
{
    const size_t count = f->module_count - first;
    struct filter_chunk_module *modules = need_memory(count, sizeof *modules);
    for (size_t i = 0; i < count; i++) {
        const struct filter_module *m = &f->modules[first + i];
        modules[i] = (struct filter_chunk_module){ m->path, m->build_id, m->build_id_length, m->functions, m->count };
    }
    const uint64_t offset = filter_chunk_write(head, modules, count, pattern, session, fd);
    free(modules);
    return offset;
}

uint64_t filters_write_levels(const struct filters *f, const struct filters_levels *levels,
                              const struct session *session, int fd)
{
    for (size_t i = 0; i < f->module_count; i++)
        for (size_t j = 0; j < f->modules[i].count; j++)
            f->modules[i].functions[j].action = levels->level;
    struct dwell_filters head = {
        .chunk.kind = DWELL_CHUNK_LEVELS,
        .chunk.link = levels->link,
        .actions = levels->level,
    };
    return filters_write_chunk(f, &head, 0, levels->pattern, session, fd);
}

bool filters_write(struct filters *f, const struct session *session, int fd)
{
    const uint32_t actions = filters_actions(f), levels = actions & FILTER_LEVEL ? FILTER_NOT_TIMED : 0;
    const bool again = f->chunks == MAX_CHUNKS, hides = actions & (FILTER_ONLY | DWELL_FILTER_SUPPRESS);
    const size_t first = again ? 0 : f->modules_written;
    struct dwell_filters filters = {
        .chunk.kind = DWELL_CHUNK_FILTERS,
        .chunk.link = again ? 0 : session->header->first_filters,
        .only = (actions & FILTER_ONLY) != 0,
        .depth = f->depth,
        .starts = (actions & DWELL_FILTER_START) != 0,
        .shortest = filters_ticks(session, f->shortest_ns),
        .actions =
            (actions & ~(FILTER_ONLY | FILTER_TIMED)) | levels | (hides && f->hidden_out ? DWELL_FILTER_HIDDEN_OUT : 0),
    };
    for (uint32_t i = 0; i < f->time_count; i++)
        filters.shortest_in[i] = filters_ticks(session, f->times_ns[i]);
    const uint64_t offset = filters_write_chunk(f, &filters, first, NULL, session, fd);
    if (!offset)
        return false;
    __atomic_store_n(&session->header->first_filters, offset, __ATOMIC_RELEASE);
    f->modules_written = f->module_count;
    f->chunks = again ? 1 : f->chunks + 1;
    return true;
}

void filters_free(struct filters *f)
{
    for (size_t i = 0; i < f->pattern_count; i++) {
        struct filter_pattern *p = &f->patterns[i];
        function_pattern_drop(&p->of);
        free(p->place);
    }
    free(f->patterns);
    for (size_t i = 0; i < f->module_count; i++) {
        free(f->modules[i].path);
        free(f->modules[i].functions);
    }
    free(f->modules);
    earlier_levels_free(f->earlier);
    function_set_free(f->leveled);
    keep_watches_drop(&f->keep);
}
