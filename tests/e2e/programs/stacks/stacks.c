/* stacks ucontext|hand|place|migrate|again|reused [fork]: several stacks on one thread. Each coroutine counts its
 * calls. */
#include <dwell/dwell.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

enum { FIBERS = 5, ROUNDS = 200, STACK = 64 << 10 };

struct fiber {
    char *stack;
    ucontext_t context;
    void *saved; /* stack pointer, of a hand-written switch */
    void *handle;
    int number;
    int done;
};

static struct fiber fibers[FIBERS];
static ucontext_t main_context;
static void *main_saved;
static struct fiber *current;
static long bodies, outers, inners, leaves, mains;
static void (*yield)(void);

KEPT static void leaf(void)
{
    leaves++;
}

KEPT static void inner(int i)
{
    inners++;
    leaf();
    if (i % 3 == 0)
        yield(); /* in the middle of a stack */
    leaf();
    __asm__ volatile("");
}

KEPT static void outer(int i)
{
    outers++;
    inner(i);
    if (i % 2 == 0)
        yield();
    __asm__ volatile("");
}

KEPT static void body(struct fiber *f)
{
    bodies++;
    for (int i = 0; i < ROUNDS + f->number; i++)
        outer(i);
    f->done = 1;
    __asm__ volatile("");
}

/* What the main stack does between two turns. */
KEPT static void schedule(void)
{
    mains++;
    leaf();
    __asm__ volatile("");
}

/* ---- by ucontext ---- */

QUIET static void yield_context(void)
{
    swapcontext(&current->context, &main_context);
}

QUIET static void start_context(unsigned low, unsigned high)
{
    body((struct fiber *)((uintptr_t)high << 32 | low));
    /* and back by uc_link, of which the runtime is not informed */
}

QUIET static void make_context(struct fiber *f)
{
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = &main_context;
    makecontext(&f->context, (void (*)(void))start_context, 2, (unsigned)(uintptr_t)f, (unsigned)((uintptr_t)f >> 32));
}

QUIET static void resume_context(struct fiber *f)
{
    swapcontext(&main_context, &f->context);
}

/* ---- by hand ---- */

#if defined(__x86_64__)
void swap_stacks(void **from, void *to);
__asm__(".text\n.type swap_stacks, @function\nswap_stacks:\n"
        "	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
        "	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n"
        "	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n	ret\n"
        ".size swap_stacks, . - swap_stacks\n");
#else
void swap_stacks(void **from, void *to);
__asm__(
    ".text\n.type swap_stacks, %function\nswap_stacks:\n"
    "	stp x29, x30, [sp, #-160]!\n	stp x19, x20, [sp, #16]\n	stp x21, x22, [sp, #32]\n"
    "	stp x23, x24, [sp, #48]\n	stp x25, x26, [sp, #64]\n	stp x27, x28, [sp, #80]\n"
    "	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n	stp d14, d15, [sp, #144]\n"
    "	mov x9, sp\n	str x9, [x0]\n	mov sp, x1\n"
    "	ldp d14, d15, [sp, #144]\n	ldp d12, d13, [sp, #128]\n	ldp d10, d11, [sp, #112]\n	ldp d8, d9, [sp, #96]\n"
    "	ldp x27, x28, [sp, #80]\n	ldp x25, x26, [sp, #64]\n	ldp x23, x24, [sp, #48]\n"
    "	ldp x21, x22, [sp, #32]\n	ldp x19, x20, [sp, #16]\n	ldp x29, x30, [sp], #160\n	ret\n"
    ".size swap_stacks, . - swap_stacks\n");
#endif

static int told; /* whether it calls dwell_fiber_switch */

QUIET static void yield_hand(void)
{
    if (told)
        dwell_fiber_switch(NULL);
    swap_stacks(&current->saved, main_saved);
}

QUIET static void start_hand(void)
{
    body(current);
    yield_hand();
    abort();
}

QUIET static void make_hand(struct fiber *f)
{
    memset(f->stack + STACK - 512, 0, 512);
#if defined(__x86_64__)
    uintptr_t *top = (uintptr_t *)(f->stack + STACK - 72); /* as a call would leave it */
    *--top = (uintptr_t)start_hand;
    f->saved = top - 6;
#else
    uintptr_t *top = (uintptr_t *)(f->stack + STACK - 64);
    f->saved = top - 20;
    top[-20 + 1] = (uintptr_t)start_hand;
#endif
    f->handle = told == 1 ? dwell_fiber_create(NULL, 0) : dwell_fiber_create(f->stack, STACK);
}

QUIET static void resume_hand(struct fiber *f)
{
    if (told)
        dwell_fiber_switch(f->handle);
    swap_stacks(&main_saved, f->saved);
}

/* ---- both ---- */

static void (*resume)(struct fiber *);

QUIET static int turn(void)
{
    int left = 0;
    for (int i = 0; i < FIBERS; i++) {
        if (fibers[i].done)
            continue;
        left++;
        current = &fibers[i];
        schedule();
        resume(current);
    }
    return left;
}

KEPT static void run_all(void)
{
    while (turn() > 0)
        ;
    __asm__ volatile("");
}

static struct counts {
    long bodies, outers, inners, leaves, mains;
} * childs; /* shared */

/* Forks while calls are open on each stack. Parent and child let them go on. */
KEPT static void run_in_both(void)
{
    turn();
    childs = mmap(NULL, sizeof *childs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct counts before = { bodies, outers, inners, leaves, mains };
    const pid_t child = fork();
    while (turn() > 0)
        ;
    if (child == 0) {
        for (int i = 0; i < FIBERS; i++)
            dwell_fiber_destroy(fibers[i].handle);
        *childs = (struct counts){ bodies - before.bodies, outers - before.outers, inners - before.inners,
                                   leaves - before.leaves, mains - before.mains };
        _exit(0);
    }
    waitpid(child, NULL, 0);
    bodies += childs->bodies;
    outers += childs->outers;
    inners += childs->inners;
    leaves += childs->leaves;
    mains += childs->mains;
}

/* Each turn on a thread of its own: stacks move from one to the next. */
static void *one_turn(void *left)
{
    *(int *)left = turn();
    return NULL;
}

KEPT static void run_on_threads(void)
{
    for (int left = 1; left > 0;) {
        pthread_t thread;
        pthread_create(&thread, NULL, one_turn, &left);
        pthread_join(thread, NULL);
    }
}

/* ---- a stack that a thread has left unnoticed ---- */

/* No call on the main stack shows that the context before has ended. */
QUIET static void run_again(struct fiber *f)
{
    for (int i = 0; i < 3; i++) {
        f->number = -ROUNDS;
        make_context(f);
        resume_context(f);
    }
}

static pthread_barrier_t both_threads;
static int left_unnoticed;

KEPT static void notice(void)
{
    left_unnoticed = 0;
    __asm__ volatile("");
}

/* Runs a context to its end. Its next call comes when another thread uses the same memory. */
QUIET static void *leave_unnoticed(void *f)
{
    ((struct fiber *)f)->number = -ROUNDS;
    make_context(f);
    resume_context(f);
    left_unnoticed = 1;
    pthread_barrier_wait(&both_threads);
    pthread_barrier_wait(&both_threads);
    notice();
    pthread_barrier_wait(&both_threads);
    return NULL;
}

QUIET static void run_reused(struct fiber *f)
{
    pthread_t first;
    pthread_barrier_init(&both_threads, NULL, 2);
    current = f;
    pthread_create(&first, NULL, leave_unnoticed, f);
    pthread_barrier_wait(&both_threads);
    f->number = 1 - ROUNDS;
    make_context(f);
    resume_context(f); /* until it yields in the middle of a stack */
    schedule();
    pthread_barrier_wait(&both_threads);
    pthread_barrier_wait(&both_threads);
    resume_context(f);
    schedule();
    resume_context(f);
    pthread_join(first, NULL);
}

QUIET static int run_left(const char *how)
{
    struct fiber *f = &fibers[0];
    f->stack = malloc(STACK);
    yield = yield_context;
    if (strcmp(how, "again") == 0)
        run_again(f);
    else
        run_reused(f);
    free(f->stack);
    printf("calls body %ld\ncalls outer %ld\ncalls schedule %ld\n", bodies, outers, mains);
    return 0;
}

QUIET int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "again") == 0 || strcmp(how, "reused") == 0)
        return run_left(how);
    const int by_context = strcmp(how, "ucontext") == 0;
    told = strcmp(how, "hand") == 0 || strcmp(how, "migrate") == 0 ? 1 : 0;
    yield = by_context ? yield_context : yield_hand;
    resume = by_context ? resume_context : resume_hand;
    char *stacks = malloc(FIBERS * STACK); /* one beside the other */
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < FIBERS; i++) {
            struct fiber *f = &fibers[i];
            f->number = i;
            f->done = 0;
            f->stack = stacks + i * STACK;
            (by_context ? make_context : make_hand)(f);
        }
        if (strcmp(how, "migrate") == 0)
            run_on_threads();
        else if (argc > 2)
            run_in_both();
        else
            run_all();
        for (int i = 0; i < FIBERS; i++)
            dwell_fiber_destroy(fibers[i].handle);
    }
    printf("calls body %ld\ncalls outer %ld\ncalls inner %ld\ncalls schedule %ld\ncalls leaf %ld\n", bodies, outers,
           inners, mains, leaves);
    free(stacks);
    return 0;
}
