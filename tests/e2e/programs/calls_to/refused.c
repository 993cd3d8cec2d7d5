/* Calls functions that are linked into the program, and that no stub may call in place of their caller. */
struct large {
    char bytes[2000];
};

#ifdef LIBRARY
__asm__(".globl switch_stacks\n"
        ".type switch_stacks, @function\n"
        "switch_stacks:\n"
        ".cfi_startproc\n"
        "movq %rsp, %rax\n"
        "movq %rax, %rsp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size switch_stacks, . - switch_stacks\n"
        ".globl getcontext\n"
        ".globl saves_context\n"
        ".type getcontext, @function\n"
        ".type saves_context, @function\n"
        "getcontext:\n"
        "saves_context:\n"
        ".cfi_startproc\n"
        "xorl %eax, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size getcontext, . - getcontext\n"
        ".size saves_context, . - saves_context\n"
        ".globl removes_arguments\n"
        ".type removes_arguments, @function\n"
        "removes_arguments:\n"
        ".cfi_startproc\n"
        "movq 8(%rsp), %rax\n"
        "ret $16\n"
        ".cfi_endproc\n"
        ".size removes_arguments, . - removes_arguments\n"
        ".globl sets_flags\n"
        ".type sets_flags, @function\n"
        "sets_flags:\n"
        ".cfi_startproc\n"
        "cmpl $10, %edi\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size sets_flags, . - sets_flags\n"
        ".globl takes_flags\n"
        ".type takes_flags, @function\n"
        "takes_flags:\n"
        ".cfi_startproc\n"
        "endbr64\n"
        "movl $0, %eax\n"
        "setc %al\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size takes_flags, . - takes_flags\n"
        ".globl looks_there\n"
        ".type looks_there, @function\n"
        "looks_there:\n"
        ".cfi_startproc\n"
        "leaq (%rsp), %rax\n"
        "movq (%rax), %rax\n"
        "xorl %eax, %eax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size looks_there, . - looks_there\n"
        /* Adds the bytes of an object that ends where the return address is. */
        ".globl ends_there\n"
        ".type ends_there, @function\n"
        "ends_there:\n"
        ".cfi_startproc\n"
        "subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "movq %rdi, (%rsp)\n"
        "xorl %eax, %eax\n"
        "movq %rsp, %rdx\n"
        "leaq 8(%rsp), %rcx\n"
        "1: movzbl (%rdx), %esi\n"
        "addq $1, %rdx\n"
        "addq %rsi, %rax\n"
        "cmpq %rdx, %rcx\n"
        "jne 1b\n"
        "addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size ends_there, . - ends_there\n"
        /* It also loads what is there, if its argument is no number below 9. */
        ".globl ends_or_looks\n"
        ".type ends_or_looks, @function\n"
        "ends_or_looks:\n"
        ".cfi_startproc\n"
        "leaq (%rsp), %rcx\n"
        "leaq -8(%rsp), %rdx\n"
        "1: addq $1, %rdx\n"
        "cmpq $9, %rdi\n"
        "ja 2f\n"
        "cmpq %rdx, %rcx\n"
        "jne 1b\n"
        "movq %rdi, %rax\n"
        "ret\n"
        "2: movq (%rcx), %rax\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size ends_or_looks, . - ends_or_looks\n");

int takes_large(struct large l)
{
    return l.bytes[0];
}

int takes_large_anywhere(struct large l, int n)
{
    return l.bytes[n];
}

int asks_for_caller(const void *own)
{
    return __builtin_return_address(0) < own;
}

/* An instruction that names the place of the return address. */
int takes_small(int n)
{
    __sync_synchronize();
    return n;
}
#else
long switch_stacks(void);
long looks_there(void);
long ends_there(long n);
long ends_or_looks(long n);
int saves_context(void);
int takes_large(struct large l);
int takes_large_anywhere(struct large l, int n);
int asks_for_caller(const void *own);
int takes_small(int n);

static int call_removes_arguments(void)
{
    long result;
    __asm__ volatile("subq $128, %%rsp\n"
                     "pushq $0\n"
                     "pushq $0\n"
                     "call removes_arguments\n"
                     "addq $128, %%rsp"
                     : "=a"(result)
                     :
                     : "memory", "cc");
    return (int)result;
}

static int call_sets_flags(int n)
{
    unsigned char less;
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n"
                     "call sets_flags\n"
                     "leaq 128(%%rsp), %%rsp\n"
                     "setl %0"
                     : "=r"(less)
                     : "D"(n)
                     : "memory", "cc");
    return less;
}

static int call_takes_flags(void)
{
    int result;
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n"
                     "stc\n"
                     "call takes_flags\n"
                     "leaq 128(%%rsp), %%rsp\n"
                     : "=a"(result)
                     :
                     : "memory", "cc");
    return result;
}

int main(void)
{
    struct large l = { { 0 } };
    int (*volatile pointer)(int) = takes_small;
    switch_stacks();
    if (looks_there() || ends_there(0x010203) != 6 || ends_or_looks(5) != 5 || !call_takes_flags())
        return 1;
    return saves_context() + takes_large(l) + takes_large_anywhere(l, 1999) + (asks_for_caller(main) & 0) +
           call_removes_arguments() + call_sets_flags(20) + takes_small(0) + pointer(0);
}
#endif
