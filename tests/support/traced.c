/* Sets breakpoints at the calls of the probes. */
#include "support/traced.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments/arguments.h"
#include "base/memory.h"
#include "symbols/elf_facts.h"

enum { MOST_FUNCTIONS = 64, MOST_WHAT = 16, MOST_BREAKS = 512, TEXT = 64 };

struct traced_break {
    uint64_t address;
    long word; /* what stands there */
    const struct traced_function *function;
    const struct function_arguments *arguments;
    const struct argument_site *site;
};

struct traced {
    pid_t pid;
    uint64_t base;
    struct function_arguments arguments[MOST_FUNCTIONS];
    size_t function_count;
    struct traced_break breaks[MOST_BREAKS];
    size_t break_count;
    char *lines;
    size_t size;
    FILE *out;
};

/* ---- before it runs ---- */

static bool traced_is_named(const char *linkage_name, const char *name)
{
    char *whole = symbol_demangle(linkage_name);
    whole[strcspn(whole, "([")] = '\0';
    char *const bracket = strchr(whole, '<');
    if (bracket) /* a template, with its result's type before its name */
        *bracket = '\0';
    const char *last = whole;
    for (const char *at = whole; *at; at++)
        if (*at == ':' || *at == ' ')
            last = at + 1;
    const bool named = strcmp(last, name) == 0;
    free(whole);
    return named;
}

static void traced_add_function(struct traced *t, struct argument_reader *r, uint64_t address,
                                const struct traced_function *function)
{
    char *what[MOST_WHAT], *copy = need_text("%s", function->what), *rest = copy;
    size_t count = 0;
    struct error error = { NULL };
    for (char *part; (part = strsep(&rest, " "));)
        what[count++] = part;
    struct function_arguments *f = &t->arguments[t->function_count++];
    cr_assert(arguments_find(r, address, what, count, f, &error), "%s: %s", function->name, error.text);
    for (size_t i = 0; i < f->site_count; i++)
        t->breaks[t->break_count++] = (struct traced_break){ f->sites[i].call.at, 0, function, f, &f->sites[i] };
    free(copy);
}

static void traced_find(struct traced *t, const char *program, const struct traced_function *functions)
{
    uint8_t id[64];
    const struct symbol_module module = { program, id, elf_build_id_of(program, id, sizeof id) };
    struct binaries *b = binaries_new();
    struct error error = { NULL };
    struct argument_reader *r = arguments_open(b, &module, &error);
    uint64_t address;
    cr_assert(r != NULL, "%s", error.text);
    for (const struct traced_function *f = functions; f->name; f++) {
        const size_t before = t->function_count;
        for (size_t place = 0; arguments_next_function(r, &place, &address);) {
            const char *name = binaries_find(b, &module, address).linkage_name;
            if (name && traced_is_named(name, f->name))
                traced_add_function(t, r, address, f);
        }
        cr_assert(t->function_count > before, "%s", f->name);
    }
    arguments_close(r);
    binaries_free(b);
}

/* ---- while it runs ---- */

static bool traced_read(void *data, uint64_t address, void *into, size_t size)
{
    const struct traced *t = data;
    struct iovec local = { into, size }, remote = { (void *)address, size }; // NOLINT(performance-no-int-to-ptr)
    return process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static struct load_state traced_registers(struct traced *t, const struct user_regs_struct *r)
{
    struct user_fpregs_struct vectors;
    struct load_state s = {
        .general = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8, r->r9, r->r10, r->r11,
                     r->r12, r->r13, r->r14, r->r15 },
        .module = t->base,
        .read = traced_read,
        .data = t,
    };
    cr_assert(ptrace(PTRACE_GETFPREGS, t->pid, NULL, &vectors) == 0);
    for (size_t i = 0; i < LOAD_VECTORS; i++)
        memcpy(&s.vectors[i], &vectors.xmm_space[4 * i], sizeof s.vectors[i]);
    return s;
}

static void traced_print(struct traced *t, const struct argument *a, const struct load_result *r)
{
    float small;
    double number;
    if (a->kind == ARGUMENT_TEXT) {
        fprintf(t->out, "%.*s\n", (int)r->text_length, r->text);
    } else if (a->kind == ARGUMENT_FLOAT) {
        memcpy(&small, &r->word, sizeof small);
        memcpy(&number, &r->word, sizeof number);
        fprintf(t->out, "%.17g\n", a->size == sizeof small ? (double)small : number);
    } else if (a->kind == ARGUMENT_ADDRESS) {
        fprintf(t->out, "0x%" PRIx64 "\n", r->word);
    } else if (a->kind == ARGUMENT_UNSIGNED || a->kind == ARGUMENT_BOOL) {
        fprintf(t->out, "%" PRIu64 "\n", r->word);
    } else {
        fprintf(t->out, "%" PRId64 "\n", (int64_t)r->word);
    }
}

static void traced_print_all(struct traced *t, const struct traced_break *b, const struct user_regs_struct *registers)
{
    const struct load_state state = traced_registers(t, registers);
    char text[TEXT];
    for (size_t i = 0; i < b->arguments->count; i++) {
        const struct argument *a = &b->arguments->list[i];
        const struct argument_use *use = &b->site->uses[i];
        struct load_result result = { .text = text, .text_room = sizeof text };
        if (a->result != b->site->call.exit || b->site->call.unwinds)
            continue;
        fprintf(t->out, "%s %s ", b->function->name, a->name);
        if (use->missing)
            fputs("?\n", t->out);
        else if (load_run(&use->program, &state, &result))
            traced_print(t, a, &result);
        else
            fputs("unreadable\n", t->out);
    }
}

static void traced_set(struct traced *t, struct traced_break *b)
{
    const uint64_t at = t->base + b->address;
    b->word = ptrace(PTRACE_PEEKTEXT, t->pid, at, NULL);
    const long broken = (long)(((uint64_t)b->word & ~UINT64_C(0xff)) | 0xcc);
    cr_assert(ptrace(PTRACE_POKETEXT, t->pid, at, broken) == 0);
}

/* Runs on until it stops for a signal. False at its end. */
static bool traced_go_on(struct traced *t, enum __ptrace_request how)
{
    int status;
    cr_assert(ptrace(how, t->pid, NULL, NULL) == 0);
    cr_assert(waitpid(t->pid, &status, 0) == t->pid);
    const bool usual = WIFEXITED(status) || (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    cr_assert(usual, "status %x", (unsigned)status);
    return !WIFEXITED(status);
}

static void traced_hit(struct traced *t)
{
    struct user_regs_struct registers;
    cr_assert(ptrace(PTRACE_GETREGS, t->pid, NULL, &registers) == 0);
    registers.rip--;
    for (size_t i = 0; i < t->break_count; i++) {
        struct traced_break *b = &t->breaks[i];
        if (t->base + b->address != registers.rip)
            continue;
        traced_print_all(t, b, &registers);
        ptrace(PTRACE_POKETEXT, t->pid, registers.rip, b->word);
        cr_assert(ptrace(PTRACE_SETREGS, t->pid, NULL, &registers) == 0);
        traced_go_on(t, PTRACE_SINGLESTEP);
        traced_set(t, b);
        return;
    }
    cr_assert(false, "stopped at %llx", registers.rip);
}

/* Zero for a program at a fixed address. */
static uint64_t traced_base(pid_t pid, const char *program)
{
    Elf64_Ehdr header = { .e_type = ET_NONE };
    FILE *file = fopen(program, "r");
    cr_assert(file != NULL && fread(&header, sizeof header, 1, file) == 1);
    fclose(file);
    if (header.e_type != ET_DYN)
        return 0;
    char path[64];
    unsigned long base = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    cr_assert(maps != NULL && fscanf(maps, "%lx", &base) == 1);
    fclose(maps);
    return base;
}

static void traced_start(struct traced *t, const char *program, const char *argument, const char *output)
{
    int status;
    t->pid = fork();
    if (t->pid == 0) {
        const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        dup2(fd, STDOUT_FILENO);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(program, program, argument, NULL);
        _exit(127);
    }
    cr_assert(t->pid > 0 && waitpid(t->pid, &status, 0) == t->pid && WIFSTOPPED(status));
    t->base = traced_base(t->pid, program);
    for (size_t i = 0; i < t->break_count; i++)
        traced_set(t, &t->breaks[i]);
}

char *traced_run(const char *program, const char *argument, const char *output, const struct traced_function *functions)
{
    struct traced *t = need_memory(1, sizeof *t);
    t->out = open_memstream(&t->lines, &t->size);
    traced_find(t, program, functions);
    traced_start(t, program, argument, output);
    while (traced_go_on(t, PTRACE_CONT))
        traced_hit(t);
    fclose(t->out);
    for (size_t i = 0; i < t->function_count; i++)
        function_arguments_drop(&t->arguments[i]);
    char *lines = t->lines;
    free(t);
    return lines;
}
