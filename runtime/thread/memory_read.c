/* The pages that could be read are in a table. It may be out of date: then the reading faults. */
#include "memory_read.h"

#include <errno.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "fault_signals.h"
#include "sys.h"

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

static bool memory_read_safely(uint32_t pid, uint64_t address, void *into, size_t size)
{
    const struct iovec here = { into, size }, there = { (void *)address, size };
    const long read = SYS6(process_vm_readv, pid, &here, 1, &there, 1, 0);
    return read == -ENOSYS && memory_is_guarded() ? memory_copy(into, address, size) : read == (long)size;
}

/* Only these instructions read the program's memory. The last one is where the functions go on if one of them fails:
 * they return zeros. */
extern const char memory_copy_word[], memory_copy_byte[], memory_load_word[], memory_copy_block[], memory_failed[];

#define MEMORY_FUNCTION(name, code)                                                                                    \
    ".hidden " name "\n"                                                                                               \
    ".globl " name "\n"                                                                                                \
    ".type " name ", %function\n" name ":\n"                                                                           \
    ".cfi_startproc\n" code ".cfi_endproc\n"                                                                           \
    ".size " name ", . - " name "\n"

#if defined(__x86_64__)

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

#else

__asm__(".pushsection .text\n"
        ".hidden memory_copy_word, memory_copy_byte, memory_load_word, memory_copy_block, memory_failed\n"
        ".globl memory_copy_word, memory_copy_byte, memory_load_word, memory_copy_block, memory_failed\n"
        /* of memory_copy */
        MEMORY_FUNCTION("memory_copy", "and x3, x2, #7\n"
                                       "lsr x2, x2, #3\n"
                                       "cbz x2, 1f\n"
                                       "memory_copy_word:\n"
                                       "ldr x4, [x1], #8\n"
                                       "str x4, [x0], #8\n"
                                       "subs x2, x2, #1\n"
                                       "b.ne memory_copy_word\n"
                                       "1:\n"
                                       "cbz x3, 2f\n"
                                       "memory_copy_byte:\n"
                                       "ldrb w4, [x1], #1\n"
                                       "strb w4, [x0], #1\n"
                                       "subs x3, x3, #1\n"
                                       "b.ne memory_copy_byte\n"
                                       "2:\n"
                                       "mov w0, #1\n"
                                       "ret\n") MEMORY_FUNCTION("memory_load", "mov x1, #1\n"
                                                                               "memory_load_word:\n"
                                                                               "ldr x0, [x0]\n"
                                                                               "ret\n")
            MEMORY_FUNCTION("memory_copy_text", "mov x3, x0\n"
                                                "mov x0, #0\n"
                                                "memory_copy_block:\n"
                                                "ldr q0, [x1, x0]\n"
                                                "str q0, [x3, x0]\n"
                                                "cmeq v0.16b, v0.16b, #0\n"
                                                "shrn v0.8b, v0.8h, #4\n" /* four bits for each byte */
                                                "fmov x4, d0\n"
                                                "cbnz x4, 1f\n"
                                                "add x0, x0, #16\n"
                                                "subs x2, x2, #1\n"
                                                "b.ne memory_copy_block\n"
                                                "mov x1, #0\n"
                                                "ret\n"
                                                "1:\n"
                                                "rbit x4, x4\n"
                                                "clz x4, x4\n"
                                                "add x0, x0, x4, lsr #2\n"
                                                "mov x1, #1\n"
                                                "ret\n"
                                                "memory_failed:\n"
                                                "mov x0, #0\n"
                                                "mov x1, #0\n"
                                                "ret\n") ".popsection\n");

#endif

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

static uint64_t *memory_instruction(void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (uint64_t *)&machine->gregs[REG_RIP];
#else
    return (uint64_t *)&machine->pc;
#endif
}

bool memory_read_has_failed(void *context)
{
    uint64_t *at = memory_instruction(context);
    if (*at != (uint64_t)memory_copy_word && *at != (uint64_t)memory_copy_byte && *at != (uint64_t)memory_load_word &&
        *at != (uint64_t)memory_copy_block)
        return false;
    *at = (uint64_t)memory_failed;
    return true;
}
