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
        ".size sets_flags, . - sets_flags\n");

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

int main(void)
{
    struct large l = { { 0 } };
    int (*volatile pointer)(int) = takes_small;
    switch_stacks();
    return saves_context() + takes_large(l) + takes_large_anywhere(l, 1999) + (asks_for_caller(main) & 0) +
           call_removes_arguments() + call_sets_flags(20) + takes_small(0) + pointer(0);
}
#endif
