/* Finds the module whose data may contain an address, and the variable there. A module's data follows its code. */
#include "causes/object_names.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "symbols/symbols.h"

/* A module of a process. */
struct object_module {
    uint32_t process;
    const struct trace_module *module;
};

struct object_names {
    struct object_module *modules; /* by process and begin */
    size_t module_count;
    const struct session_file *file;
    struct binaries *binaries;
    struct number_index *known; /* address and process -> place in the list */
    char **list;                /* NULL: no name */
    size_t count, room;
};

static int object_module_compare(const void *a, const void *b)
{
    const struct object_module *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->module->begin != y->module->begin)
        return x->module->begin < y->module->begin ? -1 : 1;
    return (x->module->load_time > y->module->load_time) - (x->module->load_time < y->module->load_time);
}

struct object_names *object_names_new(const struct session_file *file)
{
    struct object_names *names = need_memory(1, sizeof *names);
    size_t count = 0;
    names->file = file;
    for (size_t i = 0; i < file->process_count; i++)
        count += file->processes[i].module_count;
    names->modules = need_memory(count + 1, sizeof *names->modules);
    for (size_t i = 0; i < file->process_count; i++)
        for (size_t m = 0; m < file->processes[i].module_count; m++)
            names->modules[names->module_count++] =
                (struct object_module){ file->processes[i].serial, &file->processes[i].modules[m] };
    if (count)
        qsort(names->modules, count, sizeof *names->modules, object_module_compare);
    names->binaries = binaries_new_quiet();
    names->known = index_new();
    return names;
}

void object_names_free(struct object_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    free(names->modules);
    index_free(names->known);
    binaries_free(names->binaries);
    free(names);
}

/* The last module of the process that begins before the address and was loaded before the time. */
static const struct trace_module *object_find_module(const struct object_names *names, uint32_t process,
                                                     uint64_t address, uint64_t time)
{
    const struct trace_module last = { .begin = address, .load_time = time };
    const struct object_module wanted = { process, &last };
    const size_t later =
        LOWER_BOUND(module, names->modules, names->module_count, object_module_compare(module, &wanted) <= 0);
    if (later == 0 || names->modules[later - 1].process != process)
        return NULL;
    const struct trace_module *found = names->modules[later - 1].module;
    return found->load_time <= time && time < found->unload_time ? found : NULL;
}

static char *object_make_name(const struct object_names *names, uint32_t process, uint64_t address, uint64_t time)
{
    const struct trace_module *m = object_find_module(names, process, address, time);
    if (!m)
        return NULL;
    const struct symbol_module binary = { m->path, m->build_id, m->build_id_length };
    uint64_t inside = 0;
    const char *symbol = binaries_variable(names->binaries, &binary, address - m->bias, &inside);
    if (!symbol)
        return NULL;
    char *name = symbol_demangle(symbol), *text = name;
    if (inside) {
        text = need_text("%s+%" PRIu64, name, inside);
        free(name);
    }
    return text;
}

const char *object_names_find(struct object_names *names, uint32_t process, uint64_t address, uint64_t time)
{
    const char *kept = session_file_object_name(names->file, process, address);
    if (kept)
        return kept;
    struct index_slot *slot = index_find(names->known, address, process);
    if (!slot->value_plus_1) {
        GROW(names->list, names->count, names->room);
        names->list[names->count] = object_make_name(names, process, address, time);
        index_set(names->known, slot, address, process, (uint32_t)names->count);
        return names->list[names->count++];
    }
    return names->list[slot->value_plus_1 - 1];
}

const char *object_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [DWELL_OBJECT_MUTEX] = "mutex",
        [DWELL_OBJECT_RWLOCK] = "rwlock",
        [DWELL_OBJECT_CONDITION] = "condition",
        [DWELL_OBJECT_SEMAPHORE] = "semaphore",
        [DWELL_OBJECT_BARRIER] = "barrier",
        [DWELL_OBJECT_THREAD] = "thread",
        [DWELL_OBJECT_CHILD] = "child",
        [DWELL_OBJECT_SLEEP] = "sleep",
        [DWELL_OBJECT_FILE] = "file",
        [DWELL_OBJECT_PIPE] = "pipe",
        [DWELL_OBJECT_SOCKET] = "socket",
        [DWELL_OBJECT_EVENTFD] = "eventfd",
        [DWELL_OBJECT_TIMERFD] = "timerfd",
        [DWELL_OBJECT_SIGNALFD] = "signalfd",
        [DWELL_OBJECT_TERMINAL] = "terminal",
        [DWELL_OBJECT_EPOLL] = "epoll",
        [DWELL_OBJECT_DESCRIPTOR] = "descriptor",
        [DWELL_OBJECT_SET] = "descriptors",
        [DWELL_OBJECT_FUTEX] = "futex",
        [DWELL_OBJECT_FILE_LOCK] = "file lock",
        [DWELL_OBJECT_QUEUE] = "message queue",
        [DWELL_OBJECT_SIGNAL] = "signal",
    };
    return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}
