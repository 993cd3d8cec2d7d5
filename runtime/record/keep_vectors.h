/* Calls that change no vector register. */
#ifndef DWELL_KEEP_VECTORS_H
#define DWELL_KEEP_VECTORS_H

/* Defines the hidden function `name`, which does what `of` does, and changes no vector register on x86-64. The runtime
 * uses no more of them than their low halves. `of` is a hidden function whose arguments are in general registers. */
#define KEEPS_VECTORS(name, of)                                                                                        \
    __asm__(".pushsection .text\n"                                                                                     \
            ".hidden " #of "\n"                                                                                        \
            ".hidden " #name "\n"                                                                                      \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            ".cfi_startproc\n" KEEP_VECTORS_BODY(of) ".cfi_endproc\n"                                                  \
                                                     ".size " #name ", . - " #name "\n"                                \
                                                     ".popsection\n")

#if defined(__x86_64__)
#define KEEP_VECTORS_BODY(of)                                                                                          \
    "endbr64\n"                                                                                                        \
    "pushq %rbp\n"                                                                                                     \
    ".cfi_def_cfa_offset 16\n"                                                                                         \
    ".cfi_offset %rbp, -16\n"                                                                                          \
    "movq %rsp, %rbp\n"                                                                                                \
    ".cfi_def_cfa_register %rbp\n"                                                                                     \
    "leaq -256(%rsp), %rsp\n" KEEP_VECTORS_EACH(KEEP_VECTORS_SAVE) "call " #of "\n" KEEP_VECTORS_EACH(                 \
        KEEP_VECTORS_LOAD) "leave\n"                                                                                   \
                           ".cfi_def_cfa %rsp, 8\n"                                                                    \
                           "ret\n"

#define KEEP_VECTORS_SAVE(n, at) "movups %xmm" #n ", -" #at "(%rbp)\n"
#define KEEP_VECTORS_LOAD(n, at) "movups -" #at "(%rbp), %xmm" #n "\n"
#define KEEP_VECTORS_EACH(X)                                                                                           \
    X(0, 16)                                                                                                           \
    X(1, 32)                                                                                                           \
    X(2, 48)                                                                                                           \
    X(3, 64)                                                                                                           \
    X(4, 80)                                                                                                           \
    X(5, 96)                                                                                                           \
    X(6, 112)                                                                                                          \
    X(7, 128)                                                                                                          \
    X(8, 144)                                                                                                          \
    X(9, 160)                                                                                                          \
    X(10, 176)                                                                                                         \
    X(11, 192)                                                                                                         \
    X(12, 208)                                                                                                         \
    X(13, 224)                                                                                                         \
    X(14, 240)                                                                                                         \
    X(15, 256)
#else
#define KEEP_VECTORS_BODY(of)                                                                                          \
    "hint #34\n" /* bti c */                                                                                           \
    "b " #of "\n"
#endif

#endif
