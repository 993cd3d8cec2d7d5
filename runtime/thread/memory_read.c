/* The pages that could be read are in a table. It may be out of date: then the reading faults. */
#include "memory_read.h"

#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "fault_signals.h"
#include "sys.h"

static bool memory_read_safely(uint32_t pid, uint64_t address, void *into, size_t size)
{
    const struct iovec here = { into, size }, there = { (void *)address, size };
    return SYS6(process_vm_readv, pid, &here, 1, &there, 1, 0) == (long)size;
}

#if defined(__x86_64__)

enum { PAGE_BITS = 12, PAGES = 4096 };

static uint64_t memory_pages[PAGES]; /* page numbers, each in its place; page 0 is none */

static uint64_t *memory_page(uint64_t address)
{
    return &memory_pages[(address >> PAGE_BITS) % PAGES];
}

static bool memory_page_is_known(uint64_t address)
{
    const uint64_t number = address >> PAGE_BITS;
    return number && __atomic_load_n(memory_page(address), __ATOMIC_RELAXED) == number;
}

static void memory_page_set(uint64_t address, bool known)
{
    __atomic_store_n(memory_page(address), known ? address >> PAGE_BITS : 0, __ATOMIC_RELAXED);
}

/* Whether it was copied. Only the two instructions with names read the program's memory. */
bool memory_copy(void *into, uint64_t from, size_t size);
extern const char memory_copy_word[], memory_copy_bytes[], memory_copy_failed[];

__asm__(".pushsection .text\n"
        ".hidden memory_copy, memory_copy_word, memory_copy_bytes, memory_copy_failed\n"
        ".globl memory_copy, memory_copy_word, memory_copy_bytes, memory_copy_failed\n"
        ".type memory_copy, @function\n"
        "memory_copy:\n"
        ".cfi_startproc\n"
        "movq %rdx, %rcx\n"
        "shrq $3, %rcx\n"
        "jz 1f\n"
        "memory_copy_word:\n"
        "movq (%rsi), %rax\n"
        "movq %rax, (%rdi)\n"
        "addq $8, %rsi\n"
        "addq $8, %rdi\n"
        "decq %rcx\n"
        "jnz memory_copy_word\n"
        "1:\n"
        "movl %edx, %ecx\n"
        "andl $7, %ecx\n"
        "jz 2f\n"
        "memory_copy_bytes:\n"
        "rep movsb\n"
        "2:\n"
        "movl $1, %eax\n"
        "ret\n"
        "memory_copy_failed:\n"
        "xorl %eax, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size memory_copy, . - memory_copy\n"
        ".popsection\n");

bool memory_read(uint32_t pid, uint64_t address, void *into, size_t size)
{
    const uint64_t last = address + size - 1, guards = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    const bool known = size && memory_page_is_known(address) && memory_page_is_known(last);
    if (known && (fault_guarded() & guards) == guards) {
        if (memory_copy(into, address, size))
            return true;
        memory_page_set(address, false);
        memory_page_set(last, false);
    }
    const bool read = memory_read_safely(pid, address, into, size);
    if (read && size) {
        memory_page_set(address, true);
        memory_page_set(last, true);
    }
    return read;
}

bool memory_read_has_failed(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const greg_t at = registers[REG_RIP];
    if (at != (greg_t)memory_copy_word && at != (greg_t)memory_copy_bytes)
        return false;
    registers[REG_RIP] = (greg_t)memory_copy_failed;
    return true;
}

#else

bool memory_read(uint32_t pid, uint64_t address, void *into, size_t size)
{
    return memory_read_safely(pid, address, into, size);
}

bool memory_read_has_failed(void *context)
{
    (void)context;
    return false;
}

#endif
