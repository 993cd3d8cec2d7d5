/* Ways out of frames that run no exit probe: longjmp, and exceptions in code whose compiler (clang) adds none for them.
 * A later stack pointer above a frame's shows that the frame was left. The next call may have a larger frame and lie as
 * deep, which hides that. So the runtime interposes the functions that return up the stack. It marks all calls below
 * the place where the program continues as left. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>

#include "fault_signals.h"
#include "frames_left.h"
#include "interposed.h"
#include "thread.h"

/* The slot of a probe's return address is one word below the stack pointer of the frame that called it. */
static void unwind_left_below(uint64_t stack_pointer)
{
    struct thread *t = thread_self;
    if (t && t->wiped->alive && stack_pointer - t->stack.low < t->stack.span)
        frames_leave(t, (uint64_t)__builtin_frame_address(0), stack_pointer - sizeof(void *));
}

/* ---- longjmp ---- */

#if defined(__x86_64__)

enum { SAVED_STACK_POINTER = 6 }; /* in glibc's jmp_buf, rotated and mixed with a secret of the thread */

static uint64_t unwind_saved_stack_pointer(const uint64_t *buffer)
{
    uint64_t value = buffer[SAVED_STACK_POINTER];
    __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(value));
    return value;
}

#define BEFORE_JUMP(name)                                                                                              \
    INTERPOSED(name);                                                                                                  \
    DWELL_HIDDEN void *before_##name(const uint64_t *);                                                                \
    void *before_##name(const uint64_t *buffer)                                                                        \
    {                                                                                                                  \
        unwind_left_below(unwind_saved_stack_pointer(buffer));                                                         \
        if (((const struct __jmp_buf_tag *)buffer)->__mask_was_saved && fault_blocked())                               \
            fault_block(0); /* nothing is known of guarded signals in the saved mask */                                \
        return interpose_next(&next_##name, #name);                                                                    \
    }                                                                                                                  \
    ENTER_BY_JUMP(name);

BEFORE_JUMP(longjmp)
BEFORE_JUMP(_longjmp)
BEFORE_JUMP(siglongjmp)
BEFORE_JUMP(__longjmp_chk)

#endif

/* ---- exceptions ---- */

enum { URC_FATAL_PHASE1_ERROR = 3, URC_INSTALL_CONTEXT = 7 };

typedef int personality(int version, int actions, uint64_t class, void *exception, void *context);
typedef uint64_t get_cfa(void *context);

/* A library may have loaded the language's runtime for itself only. It is then not in the usual order of search. */
static void *unwind_find_anywhere(void **cache, const char *name)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1", "libgcc_s.so.1" };
    static void *open_cache;
    void *found = interpose_next(cache, name);
    void *(*open)(const char *, int) = (void *(*)(const char *, int))interpose_next(&open_cache, "dlopen");
    for (int i = 0; !found && i < 3; i++) {
        void *handle = open(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = handle ? dlsym(handle, name) : NULL;
    }
    __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    return found;
}

/* The unwinder asks the personality routine of the language about each frame. INSTALL_CONTEXT means to continue in
 * it. */
#define PERSONALITY(name)                                                                                              \
    DWELL_EXPORT int name(int version, int actions, uint64_t class, void *exception, void *context);                   \
    DWELL_EXPORT int name(int version, int actions, uint64_t class, void *exception, void *context)                    \
    {                                                                                                                  \
        static void *next, *cfa;                                                                                       \
        personality *real = (personality *)unwind_find_anywhere(&next, #name);                                         \
        if (!real)                                                                                                     \
            return URC_FATAL_PHASE1_ERROR;                                                                             \
        const int result = real(version, actions, class, exception, context);                                          \
        get_cfa *get = result == URC_INSTALL_CONTEXT ? (get_cfa *)unwind_find_anywhere(&cfa, "_Unwind_GetCFA") : NULL; \
        if (get)                                                                                                       \
            unwind_left_below(get(context));                                                                           \
        return result;                                                                                                 \
    }

PERSONALITY(__gxx_personality_v0)
PERSONALITY(__gcc_personality_v0)
