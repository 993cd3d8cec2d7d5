/* Copies the kernel's code for programs, which lies in the memory of each process, into a file. */
#include "symbols/kernels_module.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/numbers.h"
#include "dwell/format.h"

bool kernels_module_is(const char *path)
{
    return strcmp(path, DWELL_KERNELS_MODULE) == 0;
}

/* How long the image is: its sections come last, or else its segments. */
static size_t kernels_module_size(const ElfW(Ehdr) * header)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((const char *)header + header->e_phoff);
    size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            size = larger(size, segments[i].p_offset + segments[i].p_filesz);
    return size;
}

int kernels_module_open(void)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    if (!header) {
        errno = ENOENT;
        return -1;
    }
    const size_t size = kernels_module_size(header);
    const int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, header, size) == (ssize_t)size) /* write fails where memory cannot be read */
        return fd;
    if (fd >= 0)
        close(fd);
    errno = EIO;
    return -1;
}
