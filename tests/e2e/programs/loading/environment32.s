# Prints its environment: a program of 32 bits, without libc.
        .globl _start
_start: movl (%esp), %ecx
        leal 8(%esp, %ecx, 4), %esi
next:   movl (%esi), %ecx
        testl %ecx, %ecx
        jz done
        xorl %edx, %edx
length: incl %edx
        cmpb $0, (%ecx, %edx)
        jne length
        movl $1, %ebx
        movl $4, %eax
        int $0x80
        movl $line, %ecx
        movl $1, %edx
        movl $4, %eax
        int $0x80
        addl $4, %esi
        jmp next
done:   xorl %ebx, %ebx
        movl $1, %eax
        int $0x80
line:   .byte 10
