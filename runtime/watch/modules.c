/*
 * The module map: which file's code lies where, and since when. The thread that begins the process, or that calls
 * dlopen or dlclose, looks after it. Another thread might wait for the loader's lock while the loader waits for it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "binding.h"
#include "clock.h"
#include "filter.h"
#include "filter_ask.h"
#include "gate.h"
#include "kept_texts.h"
#include "levels/levels.h"
#include "library_calls.h"
#include "loader.h"
#include "metadata_records.h"
#include "module_identity.h"
#include "modules.h"
#include "process.h"
#include "program_path.h"
#include "recording.h"
#include "runtime.h"
#include "stacks.h"
#include "sys.h"
#include "thread.h"

enum {
    LONGEST_PATH = 4096,
    FIRST_ROOM = 64,
    PATIENCE = 2000 /* milliseconds */,
    NO_WAIT = 50000000 /* nanoseconds */
};

struct module {
    uint64_t bias, begin, end;
    uint32_t serial;
    uint32_t seen;   /* in the current walk */
    uint32_t filter; /* its number in the filters; zero if they do not name it */
    bool is_kernels; /* the vDSO: programs run its code, but it has no file, no probes and no calls of others */
    struct binding_state binding;
    struct text name, path, build_id; /* kept; `name` is the loader's */
};

/* The modules at the last look, for forked children. These must not ask the loader: another thread of their parent may
 * have held its lock, which is never released in the child. It is made anew at each change. */
struct known_modules {
    size_t size; /* of this block, in bytes */
    uint64_t unloads;
    uint32_t count;
    struct module modules[];
};

static struct known_modules *known_modules;

struct walk {
    struct process *process;
    uint64_t now;
    bool first;  /* the main program comes first */
    bool same;   /* nothing has changed since the last walk */
    bool others; /* the next visit is followed by those of modules in other namespaces */
    char path[LONGEST_PATH];
};

static void modules_find_code(const struct dl_phdr_info *info, struct module *module)
{
    module->bias = info->dlpi_addr;
    module->begin = UINT64_MAX;
    module->end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (begin < module->begin)
            module->begin = begin;
        if (begin + segment->p_memsz > module->end)
            module->end = begin + segment->p_memsz;
    }
    const uint64_t kernels = getauxval(AT_SYSINFO_EHDR);
    module->is_kernels = module->begin <= kernels && kernels < module->end;
}

static bool modules_are_same(const struct module *a, const struct module *b)
{
    return a->bias == b->bias && a->begin == b->begin && a->end == b->end && text_is_same(a->name, b->name) &&
           text_is_same(a->build_id, b->build_id);
}

/* The module as it was at the last look, or NULL. Without a build-id, it may be another file of the same name. */
static const struct module *modules_find_known(const struct module *module)
{
    for (uint32_t i = 0; known_modules && module->build_id.length && i < known_modules->count; i++)
        if (modules_are_same(&known_modules->modules[i], module))
            return &known_modules->modules[i];
    return NULL;
}

/* The main program has no name in the loader's list. Names relative to the working directory are made absolute, as the
 * analyzer has another directory. The program may have changed its directory since the library was loaded. */
static struct text modules_path(struct walk *walk, const struct module *module)
{
    const struct text given = module->name, name = program_path_below(given);
    long length = 0;
    if (module->is_kernels)
        return (struct text){ DWELL_KERNELS_MODULE, sizeof DWELL_KERNELS_MODULE - 1 };
    if (walk->first) {
        length = (long)program_path(walk->path, sizeof walk->path);
    } else if (given.length && *(const char *)given.at != '/' && memchr(given.at, '/', given.length)) {
        const struct module *known = modules_find_known(module);
        if (known)
            return known->path;
        length = SYS2(getcwd, walk->path, sizeof walk->path);
        if (length > 0 && (size_t)length + name.length < sizeof walk->path) {
            walk->path[length - 1] = '/';
            memcpy(walk->path + length, name.at, name.length);
            length += (long)name.length;
        }
    } else {
        return given;
    }
    return (struct text){ walk->path, length > 0 ? (size_t)length : 0 };
}

/* Its texts are kept. The place of its code is known. */
static void modules_keep_texts(struct walk *walk, const struct dl_phdr_info *info, struct module *module)
{
    module->name = text_keep(module_name(info));
    module->build_id = text_keep(module_build_id(info));
    module->path = text_keep(modules_path(walk, module));
}

static bool modules_make_room(struct process *p)
{
    if (p->modules.count < p->modules.room)
        return true;
    struct module *modules = sys_grow(p->modules.list, &p->modules.room, sizeof *modules, FIRST_ROOM);
    if (modules)
        p->modules.list = modules;
    return modules;
}

static void modules_append_loaded(struct process *p, struct module module, uint64_t now)
{
    if (!modules_make_room(p))
        return;
    const struct text texts[] = { module.path, module.build_id };
    module.serial = ++p->modules.last_serial;
    module.seen = 1;
    p->modules.list[p->modules.count++] = module;
    struct dwell_rec_module record = {
        .record.type = DWELL_REC_MODULE,
        .module = module.serial,
        .bias = module.bias,
        .begin = module.begin,
        .end = module.end,
        .load_time = now,
    };
    metadata_append(&record.record, sizeof record, texts, 2);
    if (!module.is_kernels)
        filter_note_keep(module.build_id, module.path);
}

static void modules_append_unloaded(const struct module *module, uint64_t now)
{
    struct dwell_rec_module_unload record = {
        .record.type = DWELL_REC_MODULE_UNLOAD,
        .module = module->serial,
        .time = now,
    };
    metadata_append(&record.record, sizeof record, NULL, 0);
}

/* The loader's list stays as it is during a walk. So the time of the walk is one at which these modules were loaded,
 * and its counts of loads and unloads are theirs. After an unload, all modules but the main program are recorded anew:
 * another library may be at the same address. Returns whether anything has changed. */
static bool modules_begin_walk(struct walk *walk, const struct dl_phdr_info *info)
{
    struct process *p = walk->process;
    if (p->modules.count && info->dlpi_adds == p->modules.loader_loads && info->dlpi_subs == p->modules.loader_unloads)
        return false;
    walk->now = clock_now(runtime.clock);
    p->modules.loader_loads = info->dlpi_adds;
    for (uint32_t i = 0; i < p->modules.count; i++)
        p->modules.list[i].seen = 0;
    if (info->dlpi_subs == p->modules.loader_unloads)
        return true;
    for (uint32_t i = 1; i < p->modules.count; i++)
        modules_append_unloaded(&p->modules.list[i], walk->now);
    p->modules.count = p->modules.count ? 1 : 0;
    p->modules.loader_unloads = info->dlpi_subs;
    gate_notify(&p->modules.unloads);
    return true;
}

/* Does so once in a walk. */
static void modules_visit_others(loader_visitor *visit, struct walk *walk)
{
    const bool now = walk->others;
    walk->others = false;
    if (now)
        loader_visit_namespaces(visit, walk);
}

static int modules_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct walk *walk = data;
    struct module module = { .bias = 0 };
    walk->same = walk->first && !modules_begin_walk(walk, info);
    if (walk->same)
        return 1;
    modules_find_code(info, &module);
    if (module.begin < module.end) {
        struct process *p = walk->process;
        bool known = false;
        for (uint32_t i = 0; i < p->modules.count && !known; i++) {
            struct module *m = &p->modules.list[i];
            known = m->bias == module.bias && m->begin == module.begin && m->end == module.end;
            if (known)
                m->seen = 1;
        }
        if (!known) {
            modules_keep_texts(walk, info, &module);
            module.filter = module.is_kernels ? 0 : filter_of_module(module.build_id, module.path);
            modules_append_loaded(p, module, walk->now);
        }
    }
    walk->first = false;
    modules_visit_others(modules_visit, walk);
    return 0;
}

/* The module in the map that has code at the address; NULL if there is none. */
static const struct module *modules_at(uint64_t address)
{
    const struct process *p = runtime.process;
    for (uint32_t i = 0; i < p->modules.count; i++)
        if (address >= p->modules.list[i].begin && address < p->modules.list[i].end)
            return &p->modules.list[i];
    return NULL;
}

static struct text modules_path_at(uint64_t address)
{
    const struct module *m = modules_at(address);
    return m ? m->path : (struct text){ "", 0 };
}

uint32_t modules_identity_of(uint64_t address)
{
    const struct module *m = modules_at(address);
    return m ? modules_identity(m->path, m->build_id) : 0;
}

struct text modules_path_of(uint64_t bias, struct text name)
{
    const struct process *p = runtime.process;
    for (uint32_t i = 0; i < p->modules.count; i++)
        if (p->modules.list[i].bias == bias && text_is_same(p->modules.list[i].name, name))
            return p->modules.list[i].path;
    return (struct text){ "", 0 };
}

static void modules_use_filters(const struct process *p)
{
    enum { MAX = 256 };
    static struct filter_use uses[MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->modules.count && count < MAX; i++)
        if (p->modules.list[i].filter)
            uses[count++] = (struct filter_use){ p->modules.list[i].bias, p->modules.list[i].filter };
    filter_use_modules(uses, count);
}

/* In a walk of the loader's list, as no other thread can unmap a module meanwhile. But since the look, another library
 * may have come to the same address: it is left to the next look. */
static int modules_visit_levels(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct walk *walk = data;
    const struct process *p = walk->process;
    struct module module = { .name = module_name(info), .build_id = module_build_id(info) };
    modules_find_code(info, &module);
    for (uint32_t i = 0; i < p->modules.count; i++) {
        struct module *m = &p->modules.list[i];
        if (!modules_are_same(m, &module))
            continue;
        if (m->is_kernels)
            break;
        if (binding_look(&m->binding, info, m->path, modules_path_at))
            levels_visit(
                &(struct level_visit){ info, module.begin, module.end, m->build_id, m->path, m->filter, i == 0 });
        else
            walk->process->modules.loader_loads = UINT64_MAX; /* no count: look again */
        break;
    }
    modules_visit_others(modules_visit_levels, walk);
    return 0;
}

static void modules_publish(const struct process *p)
{
    struct known_modules *old = known_modules;
    const size_t size = sizeof *old + p->modules.count * sizeof *p->modules.list;
    struct known_modules *made = sys_memory(size);
    if (made) {
        made->size = size;
        made->unloads = p->modules.loader_unloads;
        made->count = p->modules.count;
        memcpy(made->modules, p->modules.list, p->modules.count * sizeof *p->modules.list);
        __atomic_store_n(&known_modules, made, __ATOMIC_RELEASE);
        if (old)
            sys_unmap(old, old->size);
    }
}

/* Removes the modules that overlap with this one. False if the module itself is known. The main program stays. */
static bool modules_replace_others(struct process *p, const struct module *module, uint64_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->modules.count; i++) {
        const struct module *m = &p->modules.list[i];
        if (i == 0 || m->end <= module->begin || module->end <= m->begin) {
            p->modules.list[kept++] = *m;
            continue;
        }
        if (modules_are_same(m, module))
            return false; /* modules do not overlap: none was removed before */
        modules_append_unloaded(m, now);
    }
    const bool any = kept < p->modules.count;
    p->modules.count = kept;
    if (any)
        gate_notify(&p->modules.unloads);
    return true;
}

/* Finds the library of a function that runs, and so stays mapped, without taking a lock. Its texts are kept. */
static bool modules_find_one(struct walk *walk, uint64_t function, struct module *module)
{
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)function, &found) != 0) /* an older libc lacks it: that is -1 (libc.c) */
        return false;
    const struct link_map *map = found.dlfo_link_map;
    const ElfW(Ehdr) *header = found.dlfo_map_start;
    if (!map->l_name[0] || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    struct dl_phdr_info info = {
        .dlpi_addr = map->l_addr,
        .dlpi_name = map->l_name,
        .dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
        .dlpi_phnum = header->e_phnum,
    };
    walk->first = false;
    modules_find_code(&info, module);
    modules_keep_texts(walk, &info, module);
    return module->begin < module->end;
#else
    (void)walk, (void)function, (void)module;
    return false;
#endif
}

/* Records the library of that function. */
static void modules_note_one(struct process *p, struct walk *walk, uint64_t function)
{
    struct module module = { .bias = 0 };
    if (!p->modules.count || !modules_find_one(walk, function, &module))
        return;
    const uint64_t now = clock_now(runtime.clock);
    if (!modules_replace_others(p, &module, now))
        return;
    module.filter = filter_of_module(module.build_id, module.path);
    modules_append_loaded(p, module, now);
    modules_use_filters(p);
    modules_publish(p);
}

/* Whether this thread may wait for another one. After a wait in vain, it does not wait again soon. */
static bool modules_may_wait(void)
{
    return !thread_self || clock_monotonic() >= thread_self->modules.next_wait;
}

static void modules_waited_in_vain(void)
{
    if (thread_self)
        thread_self->modules.next_wait = clock_monotonic() + NO_WAIT;
}

/* False if it is to be done again: another thread forks. Then only that function's library is recorded. */
static bool modules_look(struct process *p, struct walk *walk, uint64_t function)
{
    const bool may_wait = modules_may_wait();
    const uint32_t unloads = level_unloads();
    walk->process = p;
    walk->first = true;
    walk->same = false;
    walk->others = true;
    if (!loader_walk(modules_visit, walk, may_wait)) {
        if (may_wait)
            modules_waited_in_vain();
        modules_note_one(p, walk, function);
        return false;
    }
    if (walk->same) {
        level_unloads_confirm(unloads);
        return true;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->modules.count; i++) {
        if (p->modules.list[i].seen)
            p->modules.list[kept++] = p->modules.list[i];
        else
            modules_append_unloaded(&p->modules.list[i], walk->now);
    }
    p->modules.count = kept;
    modules_use_filters(p);
    modules_publish(p);
    filter_ask_keep();
    if (!levels_begin()) {
        p->modules.loader_loads = UINT64_MAX; /* no count: look again */
        return false;
    }
    walk->others = true;
    dl_iterate_phdr(modules_visit_levels, walk); /* a fork waits for levels_end */
    if (&library_calls_look)
        library_calls_look();
    levels_end();
    return true;
}

void modules_begin(void)
{
    struct process *p = runtime.process;
    const struct known_modules *known = __atomic_load_n(&known_modules, __ATOMIC_ACQUIRE);
    if (!known) {
        modules_update(false, 0);
        return;
    }
    p->modules.inherited = 1;
    p->modules.loader_unloads = known->unloads;
    const uint64_t now = runtime.forked_at ? runtime.forked_at : clock_now(runtime.clock);
    for (uint32_t i = 0; i < known->count; i++)
        modules_append_loaded(p, known->modules[i], now);
}

/* The thread that holds the lock may wait for a lock of the loader. This thread holds that one inside dlopen, as in a
 * library's constructor, or in a handler that has interrupted dlclose or fork. Then it does not wait long. But an
 * event that is recorded before its library is known may be taken for one of the library that was there before. If
 * handlers came one after another and each waited in vain, the interrupted code, which holds the loader's lock, would
 * never run. */
static bool modules_take_lock(struct process *p, bool inside)
{
    const bool may_wait = !inside || modules_may_wait();
    for (int i = 0; i < (inside ? 2 : PATIENCE); i++) {
        if (!__atomic_exchange_n(&p->modules.lock, 1, __ATOMIC_ACQUIRE))
            return true;
        if (!may_wait)
            return false;
        sys_futex_wait(&p->modules.lock, 1, 1);
    }
    if (inside)
        modules_waited_in_vain();
    return false;
}

static void modules_release_lock(struct process *p)
{
    __atomic_store_n(&p->modules.lock, 0, __ATOMIC_RELEASE);
    sys_futex_wake(&p->modules.lock, INT32_MAX);
}

static struct walk modules_walk; /* static, as it is too large for a small stack; under the lock */

static bool modules_update_when(bool loading, bool may_wait, uint64_t function)
{
    struct process *p = runtime.process;
    const bool kept = thread_self && thread_self->modules.inside_loader;
    if (!modules_take_lock(p, loading || kept))
        return false;
    /* Another thread may have looked at a library before the loader had filled its slots. */
    if (may_wait && &library_calls_are_wanted && library_calls_are_wanted())
        p->modules.loader_loads = UINT64_MAX;
    bool all = !kept && (may_wait || !loader_is_busy());
    if (all)
        all = modules_look(p, &modules_walk, function);
    else
        modules_note_one(p, &modules_walk, function);
    modules_release_lock(p);
    return all;
}

bool modules_update(bool loading, uint64_t function)
{
    return modules_update_when(loading, false, function);
}

uint32_t modules_identity_at(uint64_t function)
{
    struct process *p = runtime.process;
    struct module module = { .bias = 0 };
    uint32_t identity = 0;
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED && modules_take_lock(p, true)) {
        if (modules_find_one(&modules_walk, function, &module))
            identity = modules_identity(module.path, module.build_id);
        modules_release_lock(p);
    }
    sys_restore_signals(mask);
    return identity;
}

bool modules_is_program(uint64_t address)
{
    const struct process *p = runtime.process;
    return p->modules.count && address >= p->modules.list[0].begin && address < p->modules.list[0].end;
}

/* As dlopen is entered by a jump, its end is not seen. But once its caller has called another function, the return
 * address is not in its place any more. */
bool modules_is_loading(const struct thread *t, uint64_t stack_pointer)
{
    if (!t->modules.loading_slot || *t->modules.loading_slot != t->modules.loading_return)
        return false;
    return stack_pointer < (uint64_t)t->modules.loading_slot || stacks_is_handlers(stack_pointer);
}

void modules_loading(const volatile uint64_t *slot)
{
    struct thread *t = thread_self;
    if (t) {
        t->modules.loading_slot = NULL;
        t->modules.loading_return = slot ? *slot : 0;
        t->modules.loading_slot = slot;
    }
    modules_changed();
}

/* During dlclose, the loader's list holds libraries that are unmapped: a handler's probe must not look. */
void modules_unloading(bool now)
{
    struct thread *t = thread_self;
    if (t)
        t->modules.inside_loader += now ? 1u : -1u;
    if (!now)
        modules_changed();
}

void modules_changed(void)
{
    struct thread *t = thread_self;
    if (!t || !t->wiped->alive)
        return;
    t->modules.stale = 1;
    t->wiped->limit = 0;
}

static void modules_look_when(bool may_wait)
{
    struct thread *t = thread_self;
    const uint64_t here = (uint64_t)__builtin_frame_address(0);
    if (!t || !t->wiped->alive || t->modules.inside_loader || modules_is_loading(t, here))
        return;
    const uint64_t mask = sys_block_signals();
    if (mask != SYS_NOT_BLOCKED) {
        t->modules.stale = !modules_update_when(false, may_wait, 0);
        thread_set_limit(t);
    }
    sys_restore_signals(mask);
}

void modules_look_now(void)
{
    modules_look_when(false);
}

/* This thread has just waited for the loader itself: so it may wait for other threads that load libraries. */
void modules_loaded(void)
{
    const int error = errno;
    modules_loading(NULL);
    if (thread_self && thread_self->wiped->alive) {
        modules_look_when(true);
    } else if (process_is_recorded()) {
        const uint64_t mask = sys_block_signals();
        if (mask != SYS_NOT_BLOCKED)
            modules_update_when(false, true, 0);
        sys_restore_signals(mask);
    }
    errno = error;
}
