/* The stubs of the probes that read values, on x86-64. */
#if defined(__x86_64__)

#include "value_plan.h"
#include "value_probe.h"
#include "value_stubs.h"

_Static_assert(offsetof(struct load_state, vectors) == 128, "the stub's offsets");
_Static_assert(sizeof(struct load_state) <= 288 && VALUE_STUB_FRAME == 296, "the stub's offsets");
_Static_assert(VALUE_SAVES_OTHERS == 1 && VALUE_SAVES_VECTORS == 2, "the stub's tests");

/* At its first instruction, the stack has the return address, and rsp was 8 more at the call instruction. The frame is
 * 296 bytes: with the return address a multiple of 16. */
#define VALUE_STUB(name, probe)                                                                                        \
    __asm__(".pushsection .text\n"                                                                                     \
            ".type " name ", @function\n"                                                                              \
            "" name ":\n"                                                                                              \
            ".cfi_startproc\n"                                                                                         \
            "endbr64\n"                                                                                                \
            "leaq -296(%rsp), %rsp\n"                                                                                  \
            ".cfi_adjust_cfa_offset 296\n"                                                                             \
            "movq %rbx, 24(%rsp)\n"                                                                                    \
            ".cfi_offset %rbx, -280\n"                                                                                 \
            "movq %rbp, 48(%rsp)\n"                                                                                    \
            "movq %r12, 96(%rsp)\n"                                                                                    \
            "movq %r13, 104(%rsp)\n"                                                                                   \
            "movq %r14, 112(%rsp)\n"                                                                                   \
            "movq %r15, 120(%rsp)\n"                                                                                   \
            "cmpb $0, value_plan_saves(%rip)\n"                                                                        \
            "jne 2f\n"                                                                                                 \
            "xorl %r8d, %r8d\n"                                                                                        \
            "1:\n"                                                                                                     \
            "movq 296(%rsp), %rdx\n"                                                                                   \
            "leaq 304(%rsp), %rcx\n"                                                                                   \
            "movq %rcx, 56(%rsp)\n"                                                                                    \
            "movq %rsp, %rcx\n"                                                                                        \
            "movq %rsp, %rbx\n"                                                                                        \
            ".cfi_remember_state\n"                                                                                    \
            ".cfi_def_cfa_register %rbx\n"                                                                             \
            "andq $-16, %rsp\n" /* code may keep its stack at multiples of 8 only */                                   \
            "call " probe "\n"                                                                                         \
            "movq %rbx, %rsp\n"                                                                                        \
            ".cfi_def_cfa_register %rsp\n"                                                                             \
            "movq 24(%rsp), %rbx\n"                                                                                    \
            ".cfi_restore %rbx\n"                                                                                      \
            "leaq 296(%rsp), %rsp\n"                                                                                   \
            ".cfi_adjust_cfa_offset -296\n"                                                                            \
            "ret\n"                                                                                                    \
            ".cfi_restore_state\n"                                                                                     \
            "2:\n"                                                                                                     \
            "movq %rax, 0(%rsp)\n"                                                                                     \
            "movzbl value_plan_saves(%rip), %eax\n"                                                                    \
            "movq %rdx, 8(%rsp)\n"                                                                                     \
            "movq %rcx, 16(%rsp)\n"                                                                                    \
            "movq %rsi, 32(%rsp)\n"                                                                                    \
            "movq %rdi, 40(%rsp)\n"                                                                                    \
            "movq %r8, 64(%rsp)\n"                                                                                     \
            "movq %r9, 72(%rsp)\n"                                                                                     \
            "movq %r10, 80(%rsp)\n"                                                                                    \
            "movq %r11, 88(%rsp)\n"                                                                                    \
            "movl %eax, %r8d\n"                                                                                        \
            "testb $2, %al\n"                                                                                          \
            "je 1b\n"                                                                                                  \
            "movq %xmm0, 128(%rsp)\n"                                                                                  \
            "movq %xmm1, 136(%rsp)\n"                                                                                  \
            "movq %xmm2, 144(%rsp)\n"                                                                                  \
            "movq %xmm3, 152(%rsp)\n"                                                                                  \
            "movq %xmm4, 160(%rsp)\n"                                                                                  \
            "movq %xmm5, 168(%rsp)\n"                                                                                  \
            "movq %xmm6, 176(%rsp)\n"                                                                                  \
            "movq %xmm7, 184(%rsp)\n"                                                                                  \
            "movq %xmm8, 192(%rsp)\n"                                                                                  \
            "movq %xmm9, 200(%rsp)\n"                                                                                  \
            "movq %xmm10, 208(%rsp)\n"                                                                                 \
            "movq %xmm11, 216(%rsp)\n"                                                                                 \
            "movq %xmm12, 224(%rsp)\n"                                                                                 \
            "movq %xmm13, 232(%rsp)\n"                                                                                 \
            "movq %xmm14, 240(%rsp)\n"                                                                                 \
            "movq %xmm15, 248(%rsp)\n"                                                                                 \
            "jmp 1b\n"                                                                                                 \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", . - " name "\n"                                                                           \
            ".popsection\n")

VALUE_STUB("value_enter_stub", "value_enter");
VALUE_STUB("value_exit_stub", "value_exit");

extern const char value_enter_stub[] __attribute__((visibility("hidden")));
extern const char value_exit_stub[] __attribute__((visibility("hidden")));

struct value_probes value_probes(void)
{
    return (struct value_probes){ (uint64_t)value_enter_stub, (uint64_t)value_exit_stub };
}

#endif
