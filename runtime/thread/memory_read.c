/* The pages that could be read are in a table. It may be out of date: then the reading faults. */
#include "memory_read.h"

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

uint64_t memory_pages[MEMORY_PAGES];

static void memory_page_set(uint64_t address, bool known)
{
    __atomic_store_n(memory_page(address), known ? address / PAGE : 0, __ATOMIC_RELAXED);
}

void memory_note(uint64_t address, uint64_t size)
{
    if (size) {
        memory_page_set(address, true);
        memory_page_set(address + size - 1, true);
    }
}

/* Whether it was copied. */
bool memory_copy(void *into, uint64_t from, size_t size);

/* Only these instructions read the program's memory. The last one is where the functions go on if one of them fails:
 * they return zeros. */
extern const char memory_copy_word[], memory_copy_byte[], memory_load_word[], memory_copy_block[], memory_failed[];

#define MEMORY_FUNCTION(name, code)                                                                                    \
    ".hidden " name "\n"                                                                                               \
    ".globl " name "\n"                                                                                                \
    ".type " name ", @function\n" name ":\n"                                                                           \
    ".cfi_startproc\n" code ".cfi_endproc\n"                                                                           \
    ".size " name ", . - " name "\n"

__asm__(
    ".pushsection .text\n"
    ".hidden memory_copy_word, memory_copy_byte, memory_load_word, memory_copy_block, memory_failed\n"
    ".globl memory_copy_word, memory_copy_byte, memory_load_word, memory_copy_block, memory_failed\n" MEMORY_FUNCTION(
        "memory_copy", "movl %edx, %ecx\n"
                       "andl $7, %ecx\n"
                       "shrq $3, %rdx\n"
                       "jz 1f\n"
                       "memory_copy_word:\n"
                       "movq (%rsi), %rax\n"
                       "movq %rax, (%rdi)\n"
                       "addq $8, %rsi\n"
                       "addq $8, %rdi\n"
                       "decq %rdx\n"
                       "jnz memory_copy_word\n"
                       "1:\n"
                       "testl %ecx, %ecx\n"
                       "jz 2f\n"
                       "memory_copy_byte:\n"
                       "movb (%rsi), %al\n"
                       "movb %al, (%rdi)\n"
                       "incq %rsi\n"
                       "incq %rdi\n"
                       "decl %ecx\n"
                       "jnz memory_copy_byte\n"
                       "2:\n"
                       "movl $1, %eax\n"
                       "ret\n") MEMORY_FUNCTION("memory_load", "movl $1, %edx\n"
                                                               "memory_load_word:\n"
                                                               "movq (%rdi), %rax\n"
                                                               "ret\n")
        MEMORY_FUNCTION("memory_copy_text", "xorl %eax, %eax\n"
                                            "pxor %xmm1, %xmm1\n"
                                            "memory_copy_block:\n"
                                            "movdqu (%rsi,%rax), %xmm0\n"
                                            "movdqu %xmm0, (%rdi,%rax)\n"
                                            "pcmpeqb %xmm1, %xmm0\n"
                                            "pmovmskb %xmm0, %ecx\n"
                                            "testl %ecx, %ecx\n"
                                            "jnz 1f\n"
                                            "addq $16, %rax\n"
                                            "decq %rdx\n"
                                            "jnz memory_copy_block\n"
                                            "ret\n"
                                            "1:\n"
                                            "bsfl %ecx, %ecx\n"
                                            "addq %rcx, %rax\n"
                                            "movl $1, %edx\n"
                                            "ret\n"
                                            "memory_failed:\n"
                                            "xorl %eax, %eax\n"
                                            "xorl %edx, %edx\n"
                                            "ret\n") ".popsection\n");

bool memory_read(uint32_t pid, uint64_t address, void *into, size_t size)
{
    const uint64_t last = address + size - 1;
    if (size && memory_is_known(address) && memory_is_known(last)) {
        if (memory_copy(into, address, size))
            return true;
        memory_page_set(address, false);
        memory_page_set(last, false);
    }
    const bool read = memory_read_safely(pid, address, into, size);
    if (read)
        memory_note(address, size);
    return read;
}

bool memory_read_has_failed(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const greg_t at = registers[REG_RIP];
    if (at != (greg_t)memory_copy_word && at != (greg_t)memory_copy_byte && at != (greg_t)memory_load_word &&
        at != (greg_t)memory_copy_block)
        return false;
    registers[REG_RIP] = (greg_t)memory_failed;
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
