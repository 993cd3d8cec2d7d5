/* Preloaded into a program: counts its calls of functions of libraries, and prints them into the file COUNTS at the
 * end. The functions take and return numbers and addresses, in registers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
    X(malloc) X(free) X(qsort) X(compress2) X(uncompress) X(crc32) X(adler32) X(SHA256) X(_Znwm) X(_ZdlPvm)            \
    X(_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm)                                             \
    X(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_)                                               \
    X(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base) X(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base)
/* clang-format on */

typedef long any(long, long, long, long, long, long);

/* The program's code: at most 8 parts. */
static struct {
    uintptr_t begin, end;
} parts[8];
static unsigned part_count;

static int note_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum && part_count < 8; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            parts[part_count].begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            parts[part_count].end = parts[part_count].begin + info->dlpi_phdr[i].p_memsz;
            part_count++;
        }
    return 1;
}

static int is_program(const void *at)
{
    for (unsigned i = 0; i < part_count; i++)
        if ((uintptr_t)at >= parts[i].begin && (uintptr_t)at < parts[i].end)
            return 1;
    return 0;
}

#define COUNTED(name)                                                                                                  \
    static any *real_##name;                                                                                           \
    static unsigned long count_##name;                                                                                 \
    any counted_##name __asm__(#name);                                                                                 \
    long counted_##name(long a, long b, long c, long d, long e, long f)                                                \
    {                                                                                                                  \
        any *real = __atomic_load_n(&real_##name, __ATOMIC_RELAXED);                                                   \
        if (!real)                                                                                                     \
            __atomic_store_n(&real_##name, real = (any *)dlsym(RTLD_NEXT, #name), __ATOMIC_RELAXED);                   \
        if (is_program(__builtin_return_address(0)))                                                                   \
            __atomic_fetch_add(&count_##name, 1, __ATOMIC_RELAXED);                                                    \
        return real(a, b, c, d, e, f);                                                                                 \
    }
FUNCTIONS(COUNTED)
COUNTED(_ZdlPv) /* libstdc++ jumps to it, and it jumps to free */

static void __attribute__((constructor)) begin(void)
{
    dl_iterate_phdr(note_program, NULL);
}

static void __attribute__((destructor)) end(void)
{
    const char *path = getenv("COUNTS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
#define PRINT(name)                                                                                                    \
    if (count_##name)                                                                                                  \
        fprintf(out, "%lu %s\n", count_##name, #name);
    FUNCTIONS(PRINT)
    fclose(out);
}
