/* clock_gettime of the kernel's vDSO, found without libc. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "sys.h"

#if defined(__x86_64__)
static const char clock_name[] = "__vdso_clock_gettime";
#else
static const char clock_name[] = "__kernel_clock_gettime";
#endif

typedef int (*clock_function)(clockid_t clock, struct timespec *time);

static int vdso_ask_kernel(clockid_t clock, struct timespec *time)
{
    return (int)SYS2(clock_gettime, clock, time);
}

/* The vDSO is one small image: its tables are where its dynamic section says, moved by the distance of its segment. */
static clock_function vdso_find(void)
{
    const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        return vdso_ask_kernel;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)image;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(image + header->e_phoff);
    const ElfW(Dyn) *dynamic = NULL;
    const char *base = NULL;
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && !base)
            base = image + segments[i].p_offset - segments[i].p_vaddr;
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(image + segments[i].p_offset);
    }
    const char *names = NULL;
    const ElfW(Sym) *symbols = NULL;
    const Elf32_Word *hash = NULL; /* its second word is the number of symbols */
    for (; base && dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_STRTAB)
            names = base + dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)(base + dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_HASH)
            hash = (const Elf32_Word *)(base + dynamic->d_un.d_ptr);
    }
    for (Elf32_Word i = 0; names && symbols && hash && i < hash[1]; i++)
        if (symbols[i].st_shndx != SHN_UNDEF && strcmp(names + symbols[i].st_name, clock_name) == 0)
            return (clock_function)(uintptr_t)(base + symbols[i].st_value);
    return vdso_ask_kernel;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static clock_function found;
    clock_function function = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!function) {
        function = vdso_find();
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);
    }
    return function(clock, time);
}
