/*
 * Compares the interpreter of seccomp filters with the kernel. A forked child installs a filter and makes system calls.
 * The interpreter must predict the outcome of each. All filters allow every call except getppid.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf.h"

TestSuite(unit_bpf_kernel);

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LOAD_OF_CALL(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define LOAD(value) BPF_STMT(BPF_LD | BPF_IMM, value)
#define LOAD_X(value) BPF_STMT(BPF_LDX | BPF_IMM, value)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define FAIL(error) RETURN(SECCOMP_RET_ERRNO | (error))

/* The kernel's answers to a call, other than the error numbers of failed calls. */
enum { ALLOWED = -1, KILLED = -2 };

enum { MAX_CODE = 64, CALLS = 6 };

/* The arguments of getppid, which takes none. The last one is the shift, in bits, of the filters of VALUE. */
static const uint64_t calls[CALLS][6] = {
    { 0 },
    { 1, 2, 3, 4, 5, 10 },
    { 0x100000001, 5, 0, 0, 0, 20 },
    { 0xffffffff, 0xffffffff, 0, 0, 7, 30 },
    { 0x8000000000000000, 0x80000000, 31, 32, 33, 0 },
    { 42, 6, 0xdeadbeef, 0, 0, 0 },
};

struct outcomes {
    uint32_t count; /* of completed calls; the next one killed the child */
    int of[CALLS];
};

/* Puts `code` after the instructions that allow other calls. */
static struct sock_fprog bpf_filter_of(struct sock_filter *room, const struct sock_filter *code, size_t length)
{
    const struct sock_filter before[] = {
        LOAD_OF_CALL(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
        RETURN(SECCOMP_RET_ALLOW),
        LOAD(0),
    };
    cr_assert(le(sz, COUNT(before) + length, MAX_CODE));
    memcpy(room, before, sizeof before);
    memcpy(room + COUNT(before), code, length * sizeof *code);
    return (struct sock_fprog){ (unsigned short)(COUNT(before) + length), room };
}

static bool bpf_install(const struct sock_fprog *program)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program) == 0;
}

static void bpf_make_calls(struct outcomes *outcomes)
{
    for (; outcomes->count < CALLS; outcomes->count++) {
        const uint64_t *a = calls[outcomes->count];
        errno = 0;
        const long result = syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]);
        outcomes->of[outcomes->count] = result > 0 ? ALLOWED : errno;
    }
}

/* Runs the calls under the kernel, up to the one that kills. Returns false if the kernel refuses the filter. */
static bool bpf_ask_kernel(const struct sock_fprog *program, struct outcomes *outcomes)
{
    struct outcomes *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(ne(ptr, shared, MAP_FAILED));
    const pid_t child = fork();
    cr_assert(ge(i32, child, 0));
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(SIGSYS, SIG_DFL);
        if (!bpf_install(program))
            _exit(1);
        bpf_make_calls(shared);
        _exit(0);
    }
    int status;
    cr_assert(eq(i32, waitpid(child, &status, 0), child));
    *outcomes = *shared;
    munmap(shared, 4096);
    if (WIFSIGNALED(status)) {
        cr_assert(eq(i32, WTERMSIG(status), SIGSYS));
        outcomes->of[outcomes->count++] = KILLED;
    }
    return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
}

/* The kernel's action for a filter's answer, without a tracer or listener. */
static int bpf_outcome_of(uint32_t answer)
{
    const uint32_t data = answer & SECCOMP_RET_DATA;
    switch (answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return ALLOWED;
    case SECCOMP_RET_ERRNO:
        return data < 4095 ? (int)data : 4095;
    case SECCOMP_RET_TRACE:
        return ENOSYS;
    default:
        return KILLED;
    }
}

static uint32_t bpf_ask_interpreter(const struct sock_fprog *program, long number, const uint64_t *arguments)
{
    struct seccomp_data data = {
        .nr = (int)number,
#if defined(__x86_64__)
        .arch = AUDIT_ARCH_X86_64,
#else
        .arch = AUDIT_ARCH_AARCH64,
#endif
    };
    memcpy(data.args, arguments, sizeof data.args);
    return bpf_run(program->filter, program->len, &data);
}

static void bpf_compare_with_kernel(const char *name, const struct sock_filter *code, size_t length)
{
    struct sock_filter room[MAX_CODE];
    const struct sock_fprog program = bpf_filter_of(room, code, length);
    struct outcomes outcomes;
    cr_assert(bpf_ask_kernel(&program, &outcomes), "%s: the kernel refuses the filter", name);
    for (uint32_t i = 0; i < outcomes.count; i++)
        cr_assert(eq(i32, outcomes.of[i], bpf_outcome_of(bpf_ask_interpreter(&program, SYS_getppid, calls[i]))),
                  "%s, call %u", name, i);
    cr_assert(eq(u32, bpf_ask_interpreter(&program, SYS_read, calls[0]), SECCOMP_RET_ALLOW));
}

#define COMPARE(name, ...)                                                                                             \
    bpf_compare_with_kernel(name, (const struct sock_filter[]){ __VA_ARGS__ },                                         \
                            COUNT(((const struct sock_filter[]){ __VA_ARGS__ })))

/* Ends a filter so that the error number is ten bits of A. The call's last argument gives the first bit. */
#define VALUE                                                                                                          \
    BPF_STMT(BPF_ST, 0), LOAD_OF_CALL(args[5]), BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_MEM, 0),        \
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_X, 0), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3ff),                            \
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO), BPF_STMT(BPF_RET | BPF_A, 0)

static void bpf_need_seccomp(void)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0)
        cr_skip_test("the kernel has no seccomp");
}

Test(unit_bpf_kernel, answers, .init = bpf_need_seccomp)
{
    COMPARE("allow", RETURN(SECCOMP_RET_ALLOW));
    COMPARE("allow with data", RETURN(SECCOMP_RET_ALLOW | 0xffff));
    COMPARE("log", RETURN(SECCOMP_RET_LOG));
    COMPARE("no error", FAIL(0));
    COMPARE("EPERM", FAIL(EPERM));
    COMPARE("the largest error", FAIL(4095));
    COMPARE("more than the largest error", FAIL(0xffff));
    COMPARE("trace", RETURN(SECCOMP_RET_TRACE));
    COMPARE("trap", RETURN(SECCOMP_RET_TRAP));
    COMPARE("kill the thread", RETURN(SECCOMP_RET_KILL_THREAD));
    COMPARE("kill the process", RETURN(SECCOMP_RET_KILL_PROCESS));
    COMPARE("an unknown action", RETURN(0x12340000));
}

Test(unit_bpf_kernel, loads, .init = bpf_need_seccomp)
{
    COMPARE("number", LOAD_OF_CALL(nr), VALUE);
    COMPARE("architecture", LOAD_OF_CALL(arch), VALUE);
    for (uint32_t word = 0; word < 12; word++)
        COMPARE("argument", BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 4 * word), VALUE);
    COMPARE("length", BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), VALUE);
    COMPARE("length in x", BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0), VALUE);
    COMPARE("x at the beginning", BPF_STMT(BPF_MISC | BPF_TXA, 0), VALUE);
    COMPARE("memory", LOAD(0x12345678), BPF_STMT(BPF_ST, 15), LOAD_X(0x9abcdef0), BPF_STMT(BPF_STX, 14), LOAD(1),
            BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_LD | BPF_MEM, 14), BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
            VALUE);
}

Test(unit_bpf_kernel, arithmetic, .init = bpf_need_seccomp)
{
    const uint16_t codes[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH };
    const uint32_t constants[] = { 1, 7, 31, 0xdeadbeef };
    for (size_t i = 0; i < COUNT(codes); i++) {
        for (size_t j = 0; j < COUNT(constants); j++)
            if ((codes[i] != BPF_LSH && codes[i] != BPF_RSH) || constants[j] < 32)
                COMPARE("with a constant", LOAD_OF_CALL(args[0]), BPF_STMT(BPF_ALU | codes[i] | BPF_K, constants[j]),
                        VALUE);
        /* x is zero in one of the calls, and more than 31 in others. */
        COMPARE("with x", LOAD_OF_CALL(args[1]), BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD_OF_CALL(args[0]),
                BPF_STMT(BPF_ALU | codes[i] | BPF_X, 0), VALUE);
        COMPARE("with another x", LOAD_OF_CALL(args[4]), BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD(0x89abcdef),
                BPF_STMT(BPF_ALU | codes[i] | BPF_X, 0), VALUE);
    }
    COMPARE("negation", LOAD_OF_CALL(args[0]), BPF_STMT(BPF_ALU | BPF_NEG, 0), VALUE);
    COMPARE("a division by zero", LOAD_X(0), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN(SECCOMP_RET_ALLOW));
}

Test(unit_bpf_kernel, jumps, .init = bpf_need_seccomp)
{
    const uint16_t codes[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
    const uint32_t constants[] = { 0, 1, 42, 0x80000000, 0xffffffff };
    for (size_t i = 0; i < COUNT(codes); i++) {
        for (size_t j = 0; j < COUNT(constants); j++)
            COMPARE("with a constant", LOAD_OF_CALL(args[0]), BPF_JUMP(BPF_JMP | codes[i] | BPF_K, constants[j], 2, 1),
                    FAIL(11), FAIL(12), FAIL(13));
        COMPARE("with x", LOAD_OF_CALL(args[1]), BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD_OF_CALL(args[0]),
                BPF_JUMP(BPF_JMP | codes[i] | BPF_X, 0, 0, 2), FAIL(11), FAIL(12), FAIL(13));
    }
    COMPARE("always", BPF_STMT(BPF_JMP | BPF_JA, 1), FAIL(11), FAIL(12));
}

/* Malformed programs: where the kernel refuses a program, the interpreter answers with the end of the process. */
Test(unit_bpf_kernel, refusals, .init = bpf_need_seccomp)
{
    const struct sock_filter bad[][3] = {
        { LOAD(0), LOAD(0), LOAD(0) },
        { BPF_STMT(BPF_JMP | BPF_JA, 2), LOAD(0), RETURN(0) },
        { BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), LOAD(0), RETURN(0) },
        { BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0), LOAD(0), RETURN(0) },
        { BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 2), LOAD(0), RETURN(0) },
        { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), LOAD(0), RETURN(0) },
        { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)), LOAD(0), RETURN(0) },
        { BPF_STMT(BPF_ST, BPF_MEMWORDS), LOAD(0), RETURN(0) },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sock_filter room[MAX_CODE];
        const struct sock_fprog program = bpf_filter_of(room, bad[i], 3);
        struct outcomes outcomes;
        cr_assert(not(bpf_ask_kernel(&program, &outcomes)), "program %zu", i);
        cr_assert(eq(u32, bpf_ask_interpreter(&program, SYS_getppid, calls[0]), SECCOMP_RET_KILL_PROCESS),
                  "program %zu", i);
    }
}

/* Counts, in a child, the codes that the kernel and the interpreter judge differently. */
static int bpf_count_differences(void)
{
    int differences = 0;
    for (uint32_t code = 0; code <= UINT16_MAX; code++) {
        /* Skipped, so the kernel checks it, and it has no effect on this process. */
        struct sock_filter skipped[] = {
            LOAD(1),
            BPF_STMT(BPF_ST, 4),
            BPF_STMT(BPF_JMP | BPF_JA, 1),
            BPF_STMT((uint16_t)code, 4),
            RETURN(SECCOMP_RET_ALLOW),
            RETURN(SECCOMP_RET_ALLOW),
            RETURN(SECCOMP_RET_ALLOW),
            RETURN(SECCOMP_RET_ALLOW),
            RETURN(SECCOMP_RET_ALLOW),
        };
        const bool taken = bpf_install(&(struct sock_fprog){ COUNT(skipped), skipped });
        skipped[2] = (struct sock_filter)LOAD(1);
        const struct sock_fprog run = { COUNT(skipped), skipped };
        const bool known = bpf_ask_interpreter(&run, SYS_getppid, calls[0]) != SECCOMP_RET_KILL_PROCESS;
        differences += taken != known;
    }
    return differences;
}

Test(unit_bpf_kernel, knows_the_same_instructions, .init = bpf_need_seccomp)
{
    const pid_t child = fork();
    cr_assert(ge(i32, child, 0));
    if (child == 0)
        _exit(bpf_count_differences() > 0);
    int status;
    cr_assert(eq(i32, waitpid(child, &status, 0), child));
    cr_assert(eq(i32, status, 0));
}
