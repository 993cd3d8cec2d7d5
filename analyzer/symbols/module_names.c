/* Goes through the functions of modules, a few at a time. */
#include "symbols/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/os_calls.h"

enum {
    AT_ONCE = 64,             /* functions of a step */
    MOST_FUNCTIONS = 300000u, /* of all modules whose lines are read ahead: that takes memory */
};

struct named_module {
    struct symbol_module module; /* its texts belong to it */
    bool opened, done;
    size_t count; /* functions, as in the file */
    size_t next;  /* the one to be looked at next */
    struct found_function *list;
    size_t length, room;
    struct os_call_symbol *os_calls;
    size_t os_call_count;
};

struct module_names {
    struct binaries *binaries;
    struct named_module *list;
    size_t count, room;
    struct intern numbers; /* path and build-id to place in the list */
    size_t first;          /* those before it are done */
    size_t functions;      /* of all opened modules */
};

struct module_names *module_names_new(void)
{
    struct module_names *n = need_memory(1, sizeof *n);
    n->binaries = binaries_new_quiet();
    return n;
}

void module_names_free(struct module_names *n)
{
    for (size_t i = 0; i < n->count; i++) {
        struct named_module *m = &n->list[i];
        free((char *)m->module.path);
        free((uint8_t *)m->module.build_id);
        free(m->list);
        free(m->os_calls);
    }
    binaries_free(n->binaries);
    intern_drop(&n->numbers);
    free(n->list);
    free(n);
}

struct binaries *module_names_binaries(struct module_names *n)
{
    binaries_be_quiet(n->binaries, false);
    return n->binaries;
}

static struct named_module *names_of(struct module_names *n, const struct symbol_module *m)
{
    const uint32_t number = intern_pair(&n->numbers, m->path, m->build_id, m->build_id_length);
    if (number < n->count)
        return &n->list[number];
    GROW(n->list, n->count, n->room);
    n->list[n->count] = (struct named_module){
        .module = { need_copy(m->path, strlen(m->path)),
                    (const uint8_t *)need_copy((const char *)m->build_id, m->build_id_length), m->build_id_length },
    };
    return &n->list[n->count++];
}

void module_names_add(struct module_names *n, const struct symbol_module *m)
{
    names_of(n, m);
}

/* Reads the symbols. */
static void names_open(struct module_names *n, struct named_module *m)
{
    if (m->opened)
        return;
    m->opened = true;
    m->count = binaries_count(n->binaries, &m->module);
    m->os_calls = os_calls_of(&m->module, &m->os_call_count);
    n->functions += m->count;
}

/* Several symbols may have one address. */
static void names_look_at_next(struct module_names *n, struct named_module *m)
{
    const size_t i = m->next++;
    const uint64_t offset = binaries_offset(n->binaries, &m->module, i);
    if (i && offset == binaries_offset(n->binaries, &m->module, i - 1))
        return;
    const struct symbol symbol = binaries_find(n->binaries, &m->module, offset);
    if (!symbol.linkage_name)
        return;
    GROW(m->list, m->length, m->room);
    m->list[m->length++] = (struct found_function){ offset, symbol };
}

bool module_names_step(struct module_names *n)
{
    while (n->first < n->count && n->list[n->first].done)
        n->first++;
    if (n->first == n->count)
        return false;
    struct named_module *m = &n->list[n->first];
    if (!m->opened) {
        uint64_t begin;
        names_open(n, m);
        binaries_function(n->binaries, &m->module, 0, &begin); /* what samples need is read, too */
    }
    for (int i = 0; i < AT_ONCE && m->next < m->count && n->functions <= MOST_FUNCTIONS; i++)
        names_look_at_next(n, m);
    m->done = m->next == m->count || n->functions > MOST_FUNCTIONS;
    return true;
}

size_t module_names_count(struct module_names *n, const struct symbol_module *module)
{
    struct named_module *m = names_of(n, module);
    names_open(n, m);
    return m->count;
}

const struct found_function *module_names_all(struct module_names *n, const struct symbol_module *module, size_t *count)
{
    struct named_module *m = names_of(n, module);
    names_open(n, m);
    while (m->next < m->count)
        names_look_at_next(n, m);
    *count = m->length;
    return m->list;
}

static int names_compare(const void *offset, const void *found)
{
    const uint64_t wanted = *(const uint64_t *)offset, here = ((const struct found_function *)found)->offset;
    return ORDER(wanted, here);
}

struct symbol module_names_find(struct module_names *n, const struct symbol_module *module, uint64_t offset)
{
    const struct named_module *m = names_of(n, module);
    const struct found_function *known =
        m->length ? bsearch(&offset, m->list, m->length, sizeof *m->list, names_compare) : NULL;
    return known ? known->symbol : binaries_find(n->binaries, module, offset);
}

const struct os_call_symbol *module_names_os_calls(struct module_names *n, const struct symbol_module *module,
                                                   size_t *count)
{
    struct named_module *m = names_of(n, module);
    names_open(n, m);
    *count = m->os_call_count;
    return m->os_calls;
}
