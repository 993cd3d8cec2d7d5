/*
 * Calls of libc's own functions. A program may have functions under these names, and they may be instrumented: caches
 * of dl_iterate_phdr are an example. The loader would bind the runtime's calls to them. So each call goes by a jump
 * through a slot, and the slots are filled from the tables of libc itself at the first call.
 *
 * In libdwell.a, a slot has what the linker found if there is no libc to look into: in static programs.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "common.h"
#include "libc.h"
#include "libc_names.h"
#include "loaded.h"

/* ---- the slots ---- */

#if defined(__x86_64__)
/* Any function with up to six arguments and eight floating-point ones, and their number for `...`. */
__asm__(
    ".pushsection .text\n"
    ".type libc_first, @function\nlibc_first:\n"
    "	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n	push %rax\n"
    "	sub $136, %rsp\n"
    "	movups %xmm0, (%rsp)\n	movups %xmm1, 16(%rsp)\n	movups %xmm2, 32(%rsp)\n	movups %xmm3, 48(%rsp)\n"
    "	movups %xmm4, 64(%rsp)\n	movups %xmm5, 80(%rsp)\n	movups %xmm6, 96(%rsp)\n	movups %xmm7, 112(%rsp)\n"
    "	call dwell_libc_find\n"
    "	movups (%rsp), %xmm0\n	movups 16(%rsp), %xmm1\n	movups 32(%rsp), %xmm2\n	movups 48(%rsp), %xmm3\n"
    "	movups 64(%rsp), %xmm4\n	movups 80(%rsp), %xmm5\n	movups 96(%rsp), %xmm6\n	movups 112(%rsp), %xmm7\n"
    "	add $136, %rsp\n"
    "	pop %rax\n	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n	ret\n"
    ".size libc_first, . - libc_first\n.popsection\n");
#define LIBC_JUMP(name)                                                                                                \
    __asm__(".pushsection .text\n"                                                                                     \
            ".globl dwell_libc_" #name "\n.hidden dwell_libc_" #name "\n.type dwell_libc_" #name ", @function\n"       \
            "dwell_libc_" #name ":\n	endbr64\n	jmp *libc_slot_" #name "(%rip)\n"                              \
            "libc_first_" #name ":\n	endbr64\n	call libc_first\n	jmp *libc_slot_" #name "(%rip)\n"      \
            ".size dwell_libc_" #name ", . - dwell_libc_" #name "\n.popsection\n"                                      \
            ".pushsection .data\n.balign 8\n"                                                                          \
            ".globl libc_slot_" #name "\n.hidden libc_slot_" #name "\nlibc_slot_" #name ":\n"                          \
            "	.quad libc_first_" #name "\n.popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".type libc_first, %function\nlibc_first:\n"
    "	stp x29, x30, [sp, #-224]!\n"
    "	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n"
    "	str x8, [sp, #80]\n"
    "	stp q0, q1, [sp, #96]\n	stp q2, q3, [sp, #128]\n	stp q4, q5, [sp, #160]\n	stp q6, q7, [sp, #192]\n"
    "	bl dwell_libc_find\n"
    "	ldp q0, q1, [sp, #96]\n	ldp q2, q3, [sp, #128]\n	ldp q4, q5, [sp, #160]\n	ldp q6, q7, [sp, #192]\n"
    "	ldr x8, [sp, #80]\n"
    "	ldp x0, x1, [sp, #16]\n	ldp x2, x3, [sp, #32]\n	ldp x4, x5, [sp, #48]\n	ldp x6, x7, [sp, #64]\n"
    "	ldp x29, x30, [sp], #224\n	ret\n"
    ".size libc_first, . - libc_first\n.popsection\n");
#define LIBC_JUMP(name)                                                                                                \
    __asm__(".pushsection .text\n"                                                                                     \
            ".globl dwell_libc_" #name "\n.hidden dwell_libc_" #name "\n.type dwell_libc_" #name ", %function\n"       \
            "dwell_libc_" #name ":\n"                                                                                  \
            "	adrp x16, libc_slot_" #name "\n	ldr x16, [x16, #:lo12:libc_slot_" #name "]\n	br x16\n"                 \
            "libc_first_" #name ":\n"                                                                                  \
            "	stp x29, x30, [sp, #-16]!\n	bl libc_first\n	ldp x29, x30, [sp], #16\n"                                   \
            "	adrp x16, libc_slot_" #name "\n	ldr x16, [x16, #:lo12:libc_slot_" #name "]\n	br x16\n"                 \
            ".size dwell_libc_" #name ", . - dwell_libc_" #name "\n.popsection\n"                                      \
            ".pushsection .data\n.balign 8\n"                                                                          \
            ".globl libc_slot_" #name "\n.hidden libc_slot_" #name "\nlibc_slot_" #name ":\n"                          \
            "	.quad libc_first_" #name "\n.popsection\n");
#endif

LIBC_FUNCTIONS(LIBC_JUMP)

#define LIBC_SLOT(name) extern DWELL_HIDDEN void *libc_slot_##name;
LIBC_FUNCTIONS(LIBC_SLOT)

#if defined(DWELL_ARCHIVE)
#define LIBC_LINKED(name) extern const char libc_linked_##name[] __asm__(#name);
LIBC_COMMON(LIBC_LINKED)
LIBC_ONE_SIDED(LIBC_LINKED)
#define LIBC_LINKED_MAYBE(name) extern const char libc_linked_##name[] __asm__(#name) __attribute__((weak));
LIBC_OPTIONAL(LIBC_LINKED_MAYBE)

/* In a static program, libc's dl_iterate_phdr has this name, too. If the program has one of its own, libc's is mostly
 * absent. */
extern const char libc_linked_walk[] __asm__("__dl_iterate_phdr") __attribute__((weak));

static int libc_walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
    struct dl_phdr_info info = {
        .dlpi_name = "",
        .dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR),
        .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM),
    };
    for (int i = 0; i < info.dlpi_phnum; i++)
        if (info.dlpi_phdr[i].p_type == PT_PHDR)
            info.dlpi_addr = (ElfW(Addr))info.dlpi_phdr - info.dlpi_phdr[i].p_vaddr;
    return visit(&info, sizeof info, data);
}
#endif

static const struct libc_function {
    const char *name;
    void **slot;
#if defined(DWELL_ARCHIVE)
    const void *linked;
#endif
} functions[] = {
#if defined(DWELL_ARCHIVE)
#define LIBC_FUNCTION(name) { #name, &libc_slot_##name, libc_linked_##name },
#else
#define LIBC_FUNCTION(name) { #name, &libc_slot_##name },
#endif
    LIBC_FUNCTIONS(LIBC_FUNCTION)
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- libc's tables ---- */

/* Older versions have a part of it in libraries of their own. `_dl_find_object` is the loader's. */
static bool libc_is_part(const struct loaded *l)
{
    static const char *const parts[] = { "libc.so.6", "libpthread.so.0", "libdl.so.2" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(l->soname, parts[i]) == 0)
            return true;
    return strncmp(l->soname, "ld-linux", 8) == 0;
}

void *libc_function(const char *name)
{
    void *found = NULL;
    for (const struct link_map *map = loaded_maps(); map && !found; map = map->l_next) {
        const struct loaded l = loaded_read(map);
        if (libc_is_part(&l))
            found = loaded_function(&l, name);
    }
    return found;
}

static long libc_lacks_it(void)
{
    return -1;
}

/* Safe in signal handlers, and at the same time in several threads, which all find the same. */
DWELL_HIDDEN void dwell_libc_find(void);
void dwell_libc_find(void)
{
    void *found[FUNCTIONS] = { NULL };
    for (const struct link_map *map = loaded_maps(); map; map = map->l_next) {
        const struct loaded l = loaded_read(map);
        for (int i = 0; i < FUNCTIONS && libc_is_part(&l); i++)
            if (!found[i])
                found[i] = loaded_function(&l, functions[i].name);
    }
    for (int i = 0; i < FUNCTIONS; i++) {
#if defined(DWELL_ARCHIVE)
        if (!found[i] && functions[i].slot == &libc_slot_dl_iterate_phdr)
            found[i] = libc_linked_walk ? (void *)libc_linked_walk : (void *)libc_walk;
        if (!found[i])
            found[i] = (void *)functions[i].linked;
#endif
        __atomic_store_n(functions[i].slot, found[i] ? found[i] : (void *)libc_lacks_it, __ATOMIC_RELEASE);
    }
}

/* ---- what libc has in a part that is linked into each library ---- */

extern void *__dso_handle __attribute__((visibility("hidden")));
int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *library);
int __cxa_at_quick_exit(void (*function)(void *), void *library);

int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    return __register_atfork(before, parent, child, __dso_handle);
}

int at_quick_exit(void (*function)(void))
{
    return __cxa_at_quick_exit((void (*)(void *))(void *)function, __dso_handle);
}
