/*
 * Interposed calls of GCC's library for OpenMP, libgomp: a team's start and end, and barriers. libgomp's threads wait
 * by futex calls of their own, so libc's functions do not show what they wait for.
 *
 * The compiler makes a function of each parallel region, without probes. libgomp calls it on all threads of the team,
 * by gomp_run, which records it like an instrumented one if its caller is. So each thread's arrival at the region's end
 * is known, too. Rows are
 *
 *   GOMP_parallel      on the thread that makes the team: it starts the others. On these: they wait for that
 *   GOMP_parallel_end  on the former: it waits for the others. On these: they have arrived
 *   GOMP_barrier ...   inside the region
 *
 * The waits of the other threads lie between regions, where they have no open call. See oscalls.c.
 */
#include "oscalls.h"

#include <string.h>

#include "libc.h"
#include "loaded.h"
#include "loader.h"
#include "process.h"
#include "stacks.h"

/* ---- libgomp's functions ---- */

/* A library that was loaded later, such as a module of Python, may have a libgomp of its own, which no search from here
 * finds: it is among those that the caller's library needs. The loader's lock is not taken, as a library's constructor
 * may wait for a team. */
struct gomp_search {
    const char *name;
    uint64_t caller;
    ElfW(Addr) caller_base;
    const ElfW(Dyn) * caller_table; /* NULL until it is found */
    void *found;
    bool needed; /* the caller's library needs what was found */
};

static bool gomp_read(const struct dl_phdr_info *info, struct link_map *map, bool *has_caller, uint64_t caller)
{
    *map = (struct link_map){ .l_addr = info->dlpi_addr };
    *has_caller = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_DYNAMIC)
            map->l_ld = (ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && caller - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
            *has_caller = true;
    }
    return map->l_ld;
}

static int gomp_find_caller(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct gomp_search *s = data;
    struct link_map map;
    bool has_caller;
    if (!gomp_read(info, &map, &has_caller, s->caller) || !has_caller)
        return 0;
    s->caller_base = map.l_addr;
    s->caller_table = map.l_ld;
    return 1;
}

static bool gomp_is_needed(const struct gomp_search *s, const char *soname)
{
    const struct link_map map = { .l_addr = s->caller_base, .l_ld = (ElfW(Dyn) *)s->caller_table };
    const struct loaded l = s->caller_table ? loaded_read(&map) : (struct loaded){ .base = 0 };
    for (const ElfW(Dyn) *entry = s->caller_table; entry && l.names && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(l.names + entry->d_un.d_val, soname) == 0)
            return true;
    return false;
}

static int gomp_find_function(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct gomp_search *s = data;
    struct link_map map;
    bool is_own;
    if (!gomp_read(info, &map, &is_own, (uint64_t)gomp_find_function) || is_own)
        return 0;
    const struct loaded l = loaded_read(&map);
    void *found = loaded_function(&l, s->name);
    const bool needed = found && gomp_is_needed(s, l.soname);
    if (found && (!s->found || needed))
        s->found = found;
    s->needed = needed;
    return needed;
}

static void gomp_walk(loader_visitor *visit, struct gomp_search *s)
{
    if (!runtime.process || !loader_walk(visit, s, true))
        dl_iterate_phdr(visit, s);
}

/* What the callers' libraries call: libgomp is never unloaded. A place that is taken is not given to another caller. */
static struct gomp_place {
    uint64_t caller;  /* written last; 1: somebody is about to */
    const char *name; /* a jump at a function's end has its caller's return address, whatever it calls */
    void *function;
} gomp_places[256];

static void *gomp_look_up(const char *name, uint64_t caller)
{
    struct gomp_place *place = &gomp_places[(caller >> 2) * 0x9e3779b97f4a7c15 >> 56];
    if (__atomic_load_n(&place->caller, __ATOMIC_ACQUIRE) == caller && place->name == name)
        return place->function;
    struct gomp_search s = { .name = name, .caller = caller };
    gomp_walk(gomp_find_caller, &s);
    gomp_walk(gomp_find_function, &s);
    uint64_t nobody = 0;
    if (__atomic_compare_exchange_n(&place->caller, &nobody, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        place->name = name;
        place->function = s.found;
        __atomic_store_n(&place->caller, caller, __ATOMIC_RELEASE);
    }
    return s.found;
}

/* A failed dlsym allocates, and most programs have no libgomp. So these are not INTERPOSED: the runtime searches the
 * libraries itself, and only if one of them has teams. */
#define GOMP_INTERPOSED(name) INTERPOSED_IN("dwell_gomp", name)

extern const struct interposed __start_dwell_gomp[] __attribute__((visibility("hidden")));
extern const struct interposed __stop_dwell_gomp[] __attribute__((visibility("hidden")));

static void *gomp_find(const char *name)
{
    struct gomp_search s = { .name = name };
    gomp_walk(gomp_find_function, &s);
    return s.found;
}

__attribute__((constructor(103))) static void gomp_find_all(void)
{
    if (!gomp_find("GOMP_parallel"))
        return;
    for (const struct interposed *i = __start_dwell_gomp; i < __stop_dwell_gomp; i++)
        __atomic_store_n(i->cache, gomp_find(i->name), __ATOMIC_RELAXED);
}

/* ---- teams ---- */

/* A parallel region, on the stack of the thread that began it. */
struct gomp_team {
    void *first; /* a copy of the data's first word, as libgomp reads that of a region with reductions */
    void (*run)(void *);
    void *data;
    const struct gomp_team *const *owner; /* where the thread that began it keeps its team */
    uint64_t stack_pointer;               /* of that thread's rows */
    void *return_address;
    bool recorded; /* the region's function is */
    bool begun;    /* the row of the team's start is open */
    bool ends;     /* the row of its end is */
};

/* The region that the thread runs; NULL outside of regions. */
static __thread const struct gomp_team *gomp_self __attribute__((tls_model("initial-exec")));

/* A region's function ends by a jump to a barrier: its caller is gomp_run, and it is the caller. NULL if there is no
 * such function: then the caller is a team of its own. */
static void *gomp_next(void *const *cache, const char *name, const void *return_address)
{
    extern const char __ehdr_start[] __attribute__((visibility("hidden")));
    extern const char etext[] __attribute__((visibility("hidden")));
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (LIKELY(found))
        return found;
    const uint64_t caller = (uint64_t)return_address;
    const bool is_own = caller - (uint64_t)__ehdr_start < (uint64_t)etext - (uint64_t)__ehdr_start;
    return gomp_look_up(name, is_own && gomp_self ? (uint64_t)gomp_self->run : caller);
}

/* A team is known by its place in memory. */
static struct object gomp_team_object(const struct gomp_team *team)
{
    return (struct object){ .kind = team ? DWELL_OBJECT_BARRIER : 0, .id = (uint64_t)team };
}

/* What the other threads of a thread's teams wait at between regions. Only its owner acts on it, so it has the roles of
 * making room, apart from arrivals. */
static struct object gomp_dock_object(const struct gomp_team *team, enum dwell_object_role role)
{
    return (struct object){ .kind = DWELL_OBJECT_BARRIER, .role = role, .id = (uint64_t)team->owner };
}

/* ---- rows ---- */

/* A row that ends in another frame than it begins in has a stack pointer that both know. */
static bool gomp_begin_row(enum os_call call, uint64_t stack_pointer, void *return_address, bool outermost)
{
    if (LIKELY(!runtime.os_calls || !thread_self) || !os_call_is_row_at(call, stack_pointer, outermost))
        return false;
    probe_enter_at(os_call_rows[call], stack_pointer, (uint64_t)return_address);
    return true;
}

/* Whether an instrumented function has called, and not a library without probes that one has called. Its probes were
 * called with the same stack pointer, but for arguments on the stack, of so many bytes. A region's function is called
 * by gomp_run. */
static bool gomp_is_called_by_open(const struct gomp_team *team, unsigned arguments)
{
    const uint64_t distance = sizeof(void *); /* of probes and rows: PROBE_STACK_POINTER, GOMP_STACK_POINTER */
    struct thread *t = thread_self;
    if (!t || !t->wiped->alive)
        return false;
    if (team->stack_pointer - t->stack.low >= t->stack.span)
        stacks_find(t, team->stack_pointer);
    const struct call *top = thread_call(t, thread_state(t)) - 1;
    if (top == (const struct call *)t->shadow)
        return false;
    const uint64_t between = top->stack_pointer - team->stack_pointer;
    return between == distance || between == distance + arguments ||
           (gomp_self && top->function == (uint64_t)gomp_self->run && top->stack_pointer > team->stack_pointer);
}

static void gomp_begin_team(struct gomp_team *team, unsigned arguments)
{
    team->recorded = gomp_is_called_by_open(team, arguments);
    team->begun = gomp_begin_row(OS_GOMP_parallel, team->stack_pointer, team->return_address, false);
}

static void gomp_end_team(const struct gomp_team *team)
{
    const struct object object = gomp_team_object(team);
    if (team->ends)
        os_call_end_at(OS_GOMP_parallel_end, &object, team->stack_pointer);
}

/* Deep enough for calls that libgomp makes without probes not to lie below the row, which stays open between regions.
 * So any other call finds that it was left. */
enum { GOMP_DEPTH = 1024 };

#define GOMP_STACK_POINTER ((uint64_t)__builtin_dwarf_cfa() - 2 * sizeof(void *))

static bool gomp_is_idle(uint64_t stack_pointer)
{
    const struct thread *t = thread_self;
    if (!t || !t->wiped->alive || stack_pointer - t->stack.low >= t->stack.span)
        return false;
    const struct call *top = thread_call(t, thread_state(t)) - 1;
    return top != (const struct call *)t->shadow && top->stack_pointer == stack_pointer &&
           top->function == os_call_rows[OS_GOMP_parallel];
}

/* A thread of the team is about to run the region. */
static void gomp_begin_work(struct gomp_team *team, bool is_owner, uint64_t idle)
{
    if (is_owner && team->begun) {
        const struct object object = gomp_dock_object(team, DWELL_ROLE_MADE_ROOM);
        team->begun = false;
        os_call_end_at(OS_GOMP_parallel, &object, team->stack_pointer);
    } else if (!is_owner && gomp_is_idle(idle)) {
        const struct object object = gomp_dock_object(team, DWELL_ROLE_WAITED_FOR_ROOM);
        os_call_end_at(OS_GOMP_parallel, &object, idle);
    }
}

/* Another thread than the owner has run the region. */
static void gomp_arrive(const struct gomp_team *team, uint64_t idle, void *return_address)
{
    struct object object = gomp_team_object(team);
    object.role = DWELL_ROLE_ACTED;
    if (gomp_begin_row(OS_GOMP_parallel_end, idle, return_address, true))
        os_call_end_at(OS_GOMP_parallel_end, &object, idle);
}

/* The owner may not leave the region before all have arrived, so the team lives until then. */
static __attribute__((noinline)) void gomp_run(void *data)
{
    struct gomp_team *team = data;
    const struct gomp_team *outer = gomp_self;
    const bool is_owner = team->owner == &gomp_self;
    const uint64_t idle = GOMP_STACK_POINTER - GOMP_DEPTH;
    void *return_address = __builtin_return_address(0);
    gomp_begin_work(team, is_owner, idle);
    gomp_self = team;
    if (team->recorded)
        probe_enter((void *)team->run, return_address);
    team->run(team->data);
    if (!is_owner)
        gomp_arrive(team, idle, return_address);
    if (team->recorded)
        probe_exit((void *)team->run, return_address);
    gomp_self = outer;
    if (is_owner)
        team->ends = gomp_begin_row(OS_GOMP_parallel_end, team->stack_pointer, team->return_address, false);
    else
        gomp_begin_row(OS_GOMP_parallel, idle, return_address, true);
}

/* Programs may ask whether there is an OpenMP library by looking for these names. What they call then has one thread.
 */
#define GOMP_PARALLEL_AS(result, declare, keep, give, pushed, name, parameters, arguments)                             \
    GOMP_INTERPOSED(name);                                                                                             \
    result name parameters;                                                                                            \
    DWELL_EXPORT result name parameters                                                                                \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)gomp_next(&next_##name, #name, __builtin_return_address(0));  \
        struct gomp_team team = {                                                                                      \
            .run = run,                                                                                                \
            .data = data,                                                                                              \
            .owner = &gomp_self,                                                                                       \
            .stack_pointer = GOMP_STACK_POINTER,                                                                       \
            .return_address = __builtin_return_address(0),                                                             \
        };                                                                                                             \
        declare;                                                                                                       \
        gomp_begin_team(&team, pushed);                                                                                \
        run = gomp_run;                                                                                                \
        data = &team;                                                                                                  \
        if (LIKELY(real))                                                                                              \
            keep real arguments;                                                                                       \
        else                                                                                                           \
            gomp_run(&team);                                                                                           \
        gomp_end_team(&team);                                                                                          \
        give;                                                                                                          \
    }

/* The bytes of more than six arguments. */
#if defined(__x86_64__)
#define GOMP_PUSHED 16
#else
#define GOMP_PUSHED 0
#endif

#define GOMP_PARALLEL(name, parameters, arguments)                                                                     \
    GOMP_PARALLEL_AS(void, NOTHING, , NOTHING, 0, name, parameters, arguments)

/* clang-format off */
#define GOMP_REGION void (*run)(void *), void *data, unsigned threads
#define GOMP_LOOP GOMP_REGION, long begin, long end, long step
/* clang-format on */

#define GOMP_PARALLEL_LOOP(name)                                                                                       \
    GOMP_PARALLEL_AS(void, NOTHING, , NOTHING, GOMP_PUSHED, name, (GOMP_LOOP, long chunk, unsigned flags),             \
                     (run, data, threads, begin, end, step, chunk, flags))
#define GOMP_PARALLEL_LOOP_AS_SET(name)                                                                                \
    GOMP_PARALLEL_AS(void, NOTHING, , NOTHING, GOMP_PUSHED, name, (GOMP_LOOP, unsigned flags),                         \
                     (run, data, threads, begin, end, step, flags))

GOMP_PARALLEL(GOMP_parallel, (GOMP_REGION, unsigned flags), (run, data, threads, flags))
GOMP_PARALLEL(GOMP_parallel_sections, (GOMP_REGION, unsigned count, unsigned flags), (run, data, threads, count, flags))
GOMP_PARALLEL_LOOP(GOMP_parallel_loop_static)
GOMP_PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
GOMP_PARALLEL_LOOP(GOMP_parallel_loop_guided)
GOMP_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
GOMP_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
GOMP_PARALLEL_LOOP_AS_SET(GOMP_parallel_loop_runtime)
GOMP_PARALLEL_LOOP_AS_SET(GOMP_parallel_loop_nonmonotonic_runtime)
GOMP_PARALLEL_LOOP_AS_SET(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
GOMP_PARALLEL_AS(unsigned, unsigned count = 1; team.first = *(void **)data, count =, return count, 0,
                                               GOMP_parallel_reductions, (GOMP_REGION, unsigned flags),
                                               (run, data, threads, flags))

/* ---- barriers ---- */

/* Each call both waits and acts. Tasks may run in it, whose calls of the OS are rows: so these functions are no
 * OS_CALL_CODE. */
#define GOMP_WAIT(result, declare, keep, give, about, name, parameters, arguments)                                     \
    GOMP_INTERPOSED(name);                                                                                             \
    result name parameters;                                                                                            \
    DWELL_EXPORT result name parameters                                                                                \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)gomp_next(&next_##name, #name, __builtin_return_address(0));  \
        declare;                                                                                                       \
        const bool row = os_call_begin(OS_##name, __builtin_return_address(0));                                        \
        if (LIKELY(real))                                                                                              \
            keep real arguments;                                                                                       \
        const struct object object = about;                                                                            \
        if (row)                                                                                                       \
            os_call_end_act(OS_##name, &object);                                                                       \
        give;                                                                                                          \
    }

#define GOMP_BARRIER(name) GOMP_WAIT(void, NOTHING, , NOTHING, gomp_team_object(gomp_self), name, (void), ())
#define GOMP_BARRIER_CANCEL(name)                                                                                      \
    GOMP_WAIT(bool, bool cancelled = false, cancelled =, return cancelled, gomp_team_object(gomp_self), name, (void),  \
              ())
#define GOMP_TASKS(name) GOMP_WAIT(void, NOTHING, , NOTHING, gomp_team_object(NULL), name, (void), ())

GOMP_BARRIER(GOMP_barrier)
GOMP_BARRIER(GOMP_loop_end)
GOMP_BARRIER(GOMP_sections_end)
GOMP_BARRIER_CANCEL(GOMP_barrier_cancel)
GOMP_BARRIER_CANCEL(GOMP_loop_end_cancel)
GOMP_BARRIER_CANCEL(GOMP_sections_end_cancel)
/* The thread that gets nothing copies for the others, and arrives when it has done that. */
GOMP_WAIT(void *, void *copied = NULL, copied =, return copied, gomp_team_object(copied ? gomp_self : NULL),
          GOMP_single_copy_start, (void), ())
GOMP_WAIT(void, NOTHING, , NOTHING, gomp_team_object(gomp_self), GOMP_single_copy_end, (void *copied), (copied))
/* It is not known which thread's task ended such a wait. */
GOMP_TASKS(GOMP_taskwait)
GOMP_TASKS(GOMP_taskgroup_end)
