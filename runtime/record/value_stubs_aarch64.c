/* The stubs of the probes that read values, on aarch64. */
#if defined(__aarch64__)

#include "value_plan.h"
#include "value_probe.h"
#include "value_stubs.h"

_Static_assert(offsetof(struct load_state, vectors) == 256, "the stub's offsets");
_Static_assert(sizeof(struct load_state) <= 544 && VALUE_STUB_FRAME == 544 - 8, "the stub's offsets");
_Static_assert(VALUE_SAVES_OTHERS == 1 && VALUE_SAVES_VECTORS == 2, "the stub's tests");

/* At its first instruction, x30 has the return address, and sp is as at the call instruction. All general registers are
 * saved but x16 and x17, which the way to the stub has changed. */
#define VALUE_STUB(name, probe)                                                                                        \
    __asm__(".pushsection .text\n"                                                                                     \
            ".p2align 4\n"                                                                                             \
            ".type " name ", %function\n"                                                                              \
            "" name ":\n"                                                                                              \
            ".cfi_startproc\n"                                                                                         \
            "hint #34\n" /* bti c */                                                                                   \
            "sub sp, sp, #544\n"                                                                                       \
            ".cfi_adjust_cfa_offset 544\n"                                                                             \
            "stp x29, x30, [sp, #232]\n"                                                                               \
            ".cfi_offset x29, -312\n"                                                                                  \
            ".cfi_offset x30, -304\n"                                                                                  \
            "stp x0, x1, [sp, #0]\n"                                                                                   \
            "stp x2, x3, [sp, #16]\n"                                                                                  \
            "stp x4, x5, [sp, #32]\n"                                                                                  \
            "stp x6, x7, [sp, #48]\n"                                                                                  \
            "stp x8, x9, [sp, #64]\n"                                                                                  \
            "stp x10, x11, [sp, #80]\n"                                                                                \
            "stp x12, x13, [sp, #96]\n"                                                                                \
            "stp x14, x15, [sp, #112]\n"                                                                               \
            "stp x18, x19, [sp, #144]\n"                                                                               \
            "stp x20, x21, [sp, #160]\n"                                                                               \
            "stp x22, x23, [sp, #176]\n"                                                                               \
            "stp x24, x25, [sp, #192]\n"                                                                               \
            "stp x26, x27, [sp, #208]\n"                                                                               \
            "str x28, [sp, #224]\n"                                                                                    \
            "add x29, sp, #232\n"                                                                                      \
            "add x2, sp, #544\n"                                                                                       \
            "str x2, [sp, #248]\n"                                                                                     \
            "adrp x3, value_plan_saves\n"                                                                              \
            "ldrb w4, [x3, :lo12:value_plan_saves]\n"                                                                  \
            "tbnz w4, #1, 2f\n"                                                                                        \
            "1:\n"                                                                                                     \
            "orr w4, w4, #1\n"                                                                                         \
            "mov x2, x30\n"                                                                                            \
            "mov x3, sp\n"                                                                                             \
            "bl " probe "\n"                                                                                           \
            ".cfi_remember_state\n"                                                                                    \
            "ldp x29, x30, [sp, #232]\n"                                                                               \
            ".cfi_restore x29\n"                                                                                       \
            ".cfi_restore x30\n"                                                                                       \
            "add sp, sp, #544\n"                                                                                       \
            ".cfi_adjust_cfa_offset -544\n"                                                                            \
            "ret\n"                                                                                                    \
            ".cfi_restore_state\n"                                                                                     \
            "2:\n"                                                                                                     \
            "stp d0, d1, [sp, #256]\n"                                                                                 \
            "stp d2, d3, [sp, #272]\n"                                                                                 \
            "stp d4, d5, [sp, #288]\n"                                                                                 \
            "stp d6, d7, [sp, #304]\n"                                                                                 \
            "stp d8, d9, [sp, #320]\n"                                                                                 \
            "stp d10, d11, [sp, #336]\n"                                                                               \
            "stp d12, d13, [sp, #352]\n"                                                                               \
            "stp d14, d15, [sp, #368]\n"                                                                               \
            "stp d16, d17, [sp, #384]\n"                                                                               \
            "stp d18, d19, [sp, #400]\n"                                                                               \
            "stp d20, d21, [sp, #416]\n"                                                                               \
            "stp d22, d23, [sp, #432]\n"                                                                               \
            "stp d24, d25, [sp, #448]\n"                                                                               \
            "stp d26, d27, [sp, #464]\n"                                                                               \
            "stp d28, d29, [sp, #480]\n"                                                                               \
            "stp d30, d31, [sp, #496]\n"                                                                               \
            "b 1b\n"                                                                                                   \
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
