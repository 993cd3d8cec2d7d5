/* Asks which names of a session's modules the store has, and sends the others. */
#include "fleet/push_names.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "fleet/binary.h"
#include "fleet/ids.h"
#include "fleet/schema.h"

enum { BYTES_AT_ONCE = 4 << 20 };

static char *push_names_list_modules(const struct fleet_numbers *numbers, size_t count)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)numbers->modules[i]);
    need_stream_end(out);
    return text;
}

/* The functions of the modules whose source the store has. */
static struct number_index *push_names_ask(const struct fleet_store *store, const char *modules, struct error *error)
{
    FILE *answer = fleet_ask(store, error,
                             "SELECT module, address, max(known) FROM %s.functions_%d WHERE module IN (%s) "
                             "GROUP BY module, address FORMAT RowBinary",
                             store->database, FLEET_TABLES, modules);
    if (!answer)
        return NULL;
    struct binary_reader r = { .in = answer };
    struct number_index *known = index_new();
    while (binary_has_row(&r)) {
        const uint64_t module = binary_get(&r, 8), address = binary_get(&r, 8);
        const uint64_t key = fleet_id_of_two(module, address);
        struct index_slot *slot = index_find(known, key, 0);
        const uint32_t how = (uint32_t)binary_get(&r, 1);
        if (!slot->value_plus_1)
            index_set(known, slot, key, 0, how);
    }
    if (fleet_end_answer(store, &r, error))
        return known;
    index_free(known);
    return NULL;
}

static void push_names_put_function(struct binary_rows *rows, const struct fleet_session *session, size_t i,
                                    unsigned how)
{
    const struct profile_function *f = &session->analysis.profile->functions[i];
    const struct function_name *name = &session->analysis.names[i];
    binary_put(rows, session->numbers.modules[f->module], 8);
    binary_put(rows, f->offset, 8);
    binary_put(rows, session->numbers.functions[i], 8);
    binary_put_text(rows, name->name);
    binary_put_text(rows, name->linkage_name);
    binary_put_text(rows, name->file);
    binary_put(rows, name->line, 4);
    binary_put(rows, how, 1);
}

static bool push_names_send(const struct fleet_store *store, const char *name, struct binary_rows *rows,
                            struct error *error)
{
    char table[32];
    snprintf(table, sizeof table, "%s_%d", name, FLEET_TABLES);
    const bool good = !rows->length || fleet_insert(store, table, rows->bytes, rows->length, NULL, NULL, error);
    rows->length = 0;
    return good;
}

static bool push_names_of_modules(const struct fleet_store *store, const struct fleet_session *session,
                                  struct error *error)
{
    struct binary_rows rows = { 0 };
    for (size_t i = 0; i < session->analysis.profile->module_count; i++) {
        const struct profile_module *m = &session->analysis.profile->modules[i];
        binary_put(&rows, session->numbers.modules[i], 8);
        binary_put_text(&rows, m->path);
        binary_put_length(&rows, m->build_id_length);
        binary_put_bytes(&rows, m->build_id, m->build_id_length);
    }
    const bool good = push_names_send(store, "modules", &rows, error);
    binary_drop(&rows);
    return good;
}

/* How much is known of a name: more replaces less. */
static unsigned push_names_quality(const struct function_name *name)
{
    return (name->linkage_name != NULL) + (name->file != NULL);
}

bool fleet_push_names(const struct fleet_store *store, const struct fleet_session *session, uint64_t *sent,
                      struct error *error)
{
    const struct profile *p = session->analysis.profile;
    *sent = 0;
    if (!p->module_count)
        return true;
    char *modules = push_names_list_modules(&session->numbers, p->module_count);
    struct number_index *known = push_names_ask(store, modules, error);
    free(modules);
    if (!known)
        return false;
    struct binary_rows rows = { 0 };
    bool good = true;
    for (size_t i = 0; good && i < p->function_count; i++) {
        const struct profile_function *f = &p->functions[i];
        const unsigned how = push_names_quality(&session->analysis.names[i]);
        const struct index_slot *slot =
            index_find(known, fleet_id_of_two(session->numbers.modules[f->module], f->offset), 0);
        if (slot->value_plus_1 > how)
            continue;
        push_names_put_function(&rows, session, i, how);
        *sent += 1;
        if (rows.length > BYTES_AT_ONCE)
            good = push_names_send(store, "functions", &rows, error);
    }
    good = good && push_names_send(store, "functions", &rows, error);
    if (good && *sent)
        good = push_names_of_modules(store, session, error);
    binary_drop(&rows);
    index_free(known);
    return good;
}
