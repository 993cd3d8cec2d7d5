/*
 * Calls of the operating system as rows. Without them, a read that waits would be time of its caller, and the caller's
 * whole interval would be flagged. So the runtime interposes the functions of libc that enter the kernel
 * (oscalls_names.h). Each call, by the program or a library, is recorded as if libc's function were instrumented. The
 * interval inside is flagged.
 *
 * A call is recorded if its thread is being recorded and is inside an instrumented function. Otherwise it is only
 * passed on. Calls that libc makes itself are not rows. Nor are calls within a row, for example when a sanitizer's read
 * calls the real one.
 */
#include "oscalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>

#include "call_tree.h"
#include "filter.h"
#include "makers.h"
#include "sites.h"
#include "slow.h"
#include "stacks.h"

static const char *const names[OS_CALL_COUNT] = {
#define OS_CALL_NAME(name) #name,
    OS_CALLS(OS_CALL_NAME)
#undef OS_CALL_NAME
};

uint64_t os_call_rows[OS_CALL_COUNT];

/* ---- finding libc's functions ---- */

/* The executable segment that holds an address. */
struct place {
    uint64_t of, begin, end;
};

static int os_call_find_code(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct place *place = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && place->of - begin < segment->p_memsz) {
            place->begin = begin;
            place->end = begin + segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

static bool os_call_is_in(const struct place *place, const void *at)
{
    return (uint64_t)at >= place->begin && (uint64_t)at < place->end;
}

/* A sanitizer's library may stand between the runtime and libc. The row is that of libc's function in any case. After
 * interposed.c: a dlsym that fails may free memory, and so call a function that is looked up there. */
__attribute__((constructor(103))) static void os_call_find_rows(void)
{
    const int error = errno;
    static void *open_cache;
    struct place libc = { (uint64_t)dlsym(RTLD_NEXT, "gnu_get_libc_version"), 0, 0 };
    dl_iterate_phdr(os_call_find_code, &libc);
    void *handle = NULL;
    for (int i = 0; i < OS_CALL_COUNT; i++) {
        void *found = dlsym(RTLD_NEXT, names[i]);
        if (found && !os_call_is_in(&libc, found)) {
            void *(*open)(const char *, int) = (void *(*)(const char *, int))interpose_next(&open_cache, "dlopen");
            if (!handle)
                handle = open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
            void *own = handle ? dlsym(handle, names[i]) : NULL;
            found = own ? own : found;
        }
        os_call_rows[i] = (uint64_t)found;
    }
    errno = error;
}

static long os_call_no_such_function(void)
{
    errno = ENOSYS;
    return -1;
}

void *os_call_look_up(void **cache, const char *name)
{
    const int error = errno;
    void *found = interpose_next(cache, name);
    errno = error;
    return found ? found : (void *)os_call_no_such_function;
}

/* ---- rows ---- */

extern const char __start_dwell_os_calls[] __attribute__((visibility("hidden")));
extern const char __stop_dwell_os_calls[] __attribute__((visibility("hidden")));

bool os_call_is_open_row(const struct call *call)
{
    return (uint32_t)call->frame_id - (uint32_t)(uint64_t)__start_dwell_os_calls <
           (uint32_t)(__stop_dwell_os_calls - __start_dwell_os_calls);
}

static bool os_call_starts_recording(enum os_call call)
{
    return filter_settings.starts && filter_action(os_call_rows[call]) & DWELL_FILTER_START;
}

/* A call below an open row lies deeper in the stack. If the row was left without its end, it does not. */
bool os_call_is_row_at(enum os_call call, uint64_t stack_pointer, bool outermost)
{
    struct thread *t = thread_self;
    if (!t->wiped->alive || !os_call_rows[call] || (t->pause.active && !os_call_starts_recording(call)))
        return false;
    if (UNLIKELY(stack_pointer - t->stack.low >= t->stack.span))
        stacks_find(t, stack_pointer);
    const uint64_t state = thread_state(t);
    const struct call *top = thread_call(t, state) - 1;
    if (top == (const struct call *)t->shadow)
        return outermost;
    return !os_call_is_open_row(top) || stack_pointer > top->stack_pointer;
}

bool os_call_is_row(enum os_call call)
{
    return os_call_is_row_at(call, (uint64_t)__builtin_dwarf_cfa(), false);
}

/* Does nothing in a child that a signal handler forked meanwhile and that has recorded nothing yet. */
static ALWAYS_INLINE void os_call_end_row(enum os_call call, const struct object *object, uint64_t stack_pointer)
{
    struct thread *t = thread_self;
    if (!t || !t->wiped->alive)
        return;
    if (!probe_exit_flagged(t, os_call_rows[call], stack_pointer, object))
        slow_exit_os_call(os_call_rows[call], stack_pointer, object, true);
}

void os_call_end(enum os_call call)
{
    os_call_end_row(call, NULL, (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}

static bool os_call_has_waited(const struct thread *t)
{
    return runtime.os_calls && t && *t->os.word != t->os.seen;
}

bool os_call_may_have_waited(void)
{
    return os_call_has_waited(thread_self);
}

/* Without an OS event, the call has not waited. `object` may be NULL. */
static const struct object *os_call_waited_for(const struct thread *t, const struct object *object)
{
    if (!object || !os_call_has_waited(t))
        return NULL;
    const bool acted = object->role == DWELL_ROLE_ACTED || object->role == DWELL_ROLE_ACTED_ON_ALL ||
                       object->role == DWELL_ROLE_MADE_ROOM;
    if (object->kind && object->kind <= DWELL_OBJECT_BARRIER && !acted && !(object->id & DWELL_OBJECT_SHARED) &&
        t->wiped->alive)
        makers_record(object->kind, object->id);
    return object;
}

void os_call_end_wait(enum os_call call, const struct object *object)
{
    os_call_end_row(call, os_call_waited_for(thread_self, object), (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}

void os_call_end_of_lock(enum os_call call, const struct object *object)
{
    const uint64_t stack_pointer = (uint64_t)__builtin_dwarf_cfa() - sizeof(void *);
    struct thread *t = thread_self;
    if (!t || !t->wiped->alive)
        return;
    const struct object *waited_for = os_call_waited_for(t, object);
    if (waited_for)
        slow_exit_os_call(os_call_rows[call], stack_pointer, waited_for, false);
    else
        probe_exit((void *)os_call_rows[call], NULL);
}

void os_call_end_act(enum os_call call, const struct object *object)
{
    os_call_end_at(call, object, (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}

void os_call_end_at(enum os_call call, const struct object *object, uint64_t stack_pointer)
{
    const struct thread *t = thread_self;
    const struct object *waited_for = os_call_waited_for(t, object);
    os_call_end_row(call, runtime.acts ? object : waited_for, stack_pointer);
}

/* `fd` is negative if the number is another descriptor's by now. */
static void os_call_end_on(enum os_call call, int fd, struct object *object, uint64_t stack_pointer)
{
    const bool waited = object->kind && os_call_has_waited(thread_self);
    if (!waited)
        object->role = OBJECT_NOT_WAITED;
    else if (fd >= 0)
        descriptor_check(fd, object);
    os_call_end_row(call, waited || object->acts || object->released ? object : NULL, stack_pointer);
}

void os_call_end_descriptor(enum os_call call, int fd, struct object *object, bool acted)
{
    if (!acted) {
        object_settle(object, errno);
        object->acts = 0;
    }
    os_call_end_on(call, fd, object, (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}

void os_call_end_close(enum os_call call, struct object *object, int result)
{
    if (result < 0)
        object->acts = 0, object->released = 0;
    os_call_end_on(call, -1, object, (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}

/* A call that opens a FIFO waits for its other end. */
void os_call_end_open(enum os_call call, int fd)
{
    struct object object = { 0 };
    descriptor_forget(fd);
    if (fd >= 0 && os_call_has_waited(thread_self))
        object = descriptor_waited(fd);
    os_call_end_on(call, fd, &object, (uint64_t)__builtin_dwarf_cfa() - sizeof(void *));
}
