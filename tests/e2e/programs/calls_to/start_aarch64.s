// The beginning of a program all of whose objects have landing pads (BTI), as the C library's own one may have none.
        .text
        .globl _start
        .type _start, %function
_start:
        .cfi_startproc
        .cfi_undefined x30
        hint #34
        mov x29, #0
        mov x5, x0
        ldr x1, [sp]
        add x2, sp, #8
        mov x6, sp
        adrp x0, main
        add x0, x0, :lo12:main
        mov x3, #0
        mov x4, #0
        bl __libc_start_main
        .cfi_endproc
        .size _start, . - _start
        .section .note.gnu.property, "a"
        .p2align 3
        .word 4, 16, 5
        .asciz "GNU"
        .word 0xc0000000, 4, 1, 0
