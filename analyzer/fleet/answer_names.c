/* Asks for the names of modules and functions, and gives them to the functions of an analysis. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/answer_part.h"
#include "fleet/ids.h"

uint32_t answer_find(const struct number_index *index, uint64_t key)
{
    const struct index_slot *slot = index_find(index, key, 0);
    return slot->value_plus_1 ? slot->value_plus_1 - 1 : PROFILE_NONE;
}

void answer_keep(struct number_index *index, uint64_t key, uint32_t value)
{
    struct index_slot *slot = index_find(index, key, 0);
    if (!slot->value_plus_1)
        index_set(index, slot, key, 0, value);
}

/* ---- asking ---- */

void answer_want_all(struct answer *a)
{
    a->modules_named = need_text("GLOBAL IN (SELECT DISTINCT module FROM %s.sums_%d WHERE %s)", a->store->database,
                                 FLEET_TABLES, a->rows);
    a->functions_named = need_text("GLOBAL IN (SELECT DISTINCT function FROM %s.sums_%d WHERE %s)", a->store->database,
                                   FLEET_TABLES, a->rows);
}

/* Numbers that are wanted, as a list in SQL. */
struct answer_wanted {
    struct number_index *seen;
    FILE *list;
    char *text;
    size_t length;
};

static void answer_begin_wanted(struct answer_wanted *w)
{
    w->seen = index_new();
    w->list = need_stream(&w->text, &w->length);
    fputs("IN (0", w->list);
}

static void answer_want(struct answer_wanted *w, uint64_t number)
{
    struct index_slot *slot = index_find(w->seen, number, 0);
    if (!number || slot->value_plus_1)
        return;
    index_set(w->seen, slot, number, 0, 0);
    fprintf(w->list, ",%llu", (unsigned long long)number);
}

static char *answer_end_wanted(struct answer_wanted *w)
{
    fputs(")", w->list);
    need_stream_end(w->list);
    index_free(w->seen);
    return w->text;
}

void answer_want_rows(struct answer *a, FILE *answer, size_t before, size_t after)
{
    struct answer_wanted modules, functions;
    struct binary_reader r = { .in = answer };
    answer_begin_wanted(&modules);
    answer_begin_wanted(&functions);
    while (binary_has_row(&r)) {
        binary_skip(&r, before);
        answer_want(&modules, binary_get(&r, 8));
        answer_want(&functions, binary_get(&r, 8));
        binary_skip(&r, after);
    }
    a->modules_named = answer_end_wanted(&modules);
    a->functions_named = answer_end_wanted(&functions);
    rewind(answer);
}

/* ---- the store's names ---- */

/* Takes the texts. */
static uint32_t answer_add_module(struct answer *a, uint64_t number, char *path, char *build_id, size_t build_id_length)
{
    GROW(a->modules, a->module_count, a->module_room);
    a->modules[a->module_count] = (struct answer_module){ path, build_id, build_id_length, PROFILE_NONE };
    answer_keep(a->module_places, number, (uint32_t)a->module_count);
    return (uint32_t)a->module_count++;
}

bool answer_read_modules(struct answer *a)
{
    FILE *answer = fleet_ask(a->store, a->error,
                             "SELECT module, min(path), any(build_id) FROM %s.modules_%d WHERE module %s "
                             "GROUP BY module ORDER BY module FORMAT RowBinary",
                             a->store->database, FLEET_TABLES, a->modules_named);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r)) {
        size_t length;
        const uint64_t number = binary_get(&r, 8);
        char *path = binary_get_text(&r, NULL), *build = binary_get_text(&r, &length);
        answer_add_module(a, number, path, build, length);
    }
    return answer_end(a, &r);
}

static char *answer_text_or_null(char *text)
{
    if (*text)
        return text;
    free(text);
    return NULL;
}

/* The best name of an address comes first. */
static void answer_read_function(struct answer *a, struct binary_reader *r)
{
    struct answer_name n = { .module = binary_get(r, 8), .address = binary_get(r, 8) };
    const uint64_t function = binary_get(r, 8), place = fleet_id_of_two(n.module, n.address);
    n.name.name = binary_get_text(r, NULL);
    n.name.linkage_name = answer_text_or_null(binary_get_text(r, NULL));
    n.name.file = answer_text_or_null(binary_get_text(r, NULL));
    n.name.line = (uint32_t)binary_get(r, 4);
    if (answer_find(a->places, place) == PROFILE_NONE) {
        answer_keep(a->places, place, (uint32_t)a->name_count);
        GROW(a->names, a->name_count, a->name_room);
        a->names[a->name_count++] = n;
    } else {
        names_drop(&n.name);
    }
    answer_keep(a->functions, function, answer_find(a->places, place));
}

bool answer_read_functions(struct answer *a)
{
    FILE *answer = fleet_ask(a->store, a->error,
                             "SELECT module, address, function, name, linkage_name, file, line FROM %s.functions_%d "
                             "WHERE function %s ORDER BY "
                             "module, address, known DESC, name, file LIMIT 1 BY module, address, function "
                             "FORMAT RowBinary",
                             a->store->database, FLEET_TABLES, a->functions_named);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    while (binary_has_row(&r))
        answer_read_function(a, &r);
    return answer_end(a, &r);
}

/* ---- the names of an analysis ---- */

/* A module whose name the store lost still has functions. */
uint32_t answer_module(struct answer *a, uint64_t number)
{
    uint32_t known = answer_find(a->module_places, number);
    if (known == PROFILE_NONE)
        known = answer_add_module(a, number, need_text("[module %016llx]", (unsigned long long)number),
                                  need_copy("", 0), 0);
    struct answer_module *m = &a->modules[known];
    if (m->number == PROFILE_NONE)
        m->number = profile_module(a->analysis->profile, m->path, (const uint8_t *)m->build_id, m->build_id_length);
    return m->number;
}

static char *answer_copy_text(const char *text)
{
    return text ? need_copy(text, strlen(text)) : NULL;
}

static struct function_name answer_take_name(const struct answer *a, struct function_name *name)
{
    const struct function_name taken = *name;
    if (a->place)
        return (struct function_name){ .name = answer_copy_text(taken.name),
                                       .linkage_name = answer_copy_text(taken.linkage_name),
                                       .file = answer_copy_text(taken.file),
                                       .line = taken.line };
    *name = (struct function_name){ 0 };
    return taken;
}

uint32_t answer_function(struct answer *a, uint64_t module, uint64_t address)
{
    struct analysis *analysis = a->analysis;
    const size_t before = analysis->profile->function_count;
    const uint32_t function = profile_function(analysis->profile, answer_module(a, module), address);
    if (analysis->profile->function_count == before)
        return function;
    const uint32_t known = answer_find(a->places, fleet_id_of_two(module, address));
    analysis->names = need_more(analysis->names, analysis->profile->function_count, sizeof *analysis->names);
    struct function_name *name = &analysis->names[function];
    *name = (struct function_name){ 0 };
    if (known < a->name_count && a->names)
        *name = answer_take_name(a, &a->names[known].name);
    if (!name->name)
        name->name = need_text("[function %llx]", (unsigned long long)address);
    name->module = names_module(analysis->profile->modules[analysis->profile->functions[function].module].path);
    return function;
}

uint32_t answer_numbered(struct answer *a, uint64_t module, uint64_t number)
{
    const uint32_t known = answer_find(a->functions, number);
    if (known >= a->name_count || !a->names)
        return answer_function(a, module, number);
    return answer_function(a, a->names[known].module, a->names[known].address);
}
