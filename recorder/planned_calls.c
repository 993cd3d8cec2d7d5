/* Finds the slots of modules with probes that lead to chosen functions of modules without, and writes them into the
 * session for the runtime (docs/format.md). */
#include "recorder/planned_calls.h"

#include <fnmatch.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/stack_arguments.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/path_text.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "recorder/program_modules.h"
#include "recorder/uncalled_functions.h"
#include "symbols/binary_parts.h"
#include "symbols/call_slots.h"
#include "symbols/elf_facts.h"
#include "symbols/probe_targets.h"

bool planned_calls_add(struct planned_calls *c, const char *text, struct error *error)
{
    GROW(c->choices, c->count, c->room);
    struct call_choice *choice = &c->choices[c->count++];
    *choice = (struct call_choice){ .matches = 0 };
    return function_pattern_parse(&choice->of, text, error);
}

bool planned_calls_any(const struct planned_calls *c)
{
    return c->count || c->all;
}

void planned_calls_drop(struct planned_calls *c)
{
    for (size_t i = 0; i < c->count; i++)
        function_pattern_drop(&c->choices[i].of);
    free(c->choices);
    free(c->bytes);
}

/* ---- the modules ---- */

/* A module of the program, in the order in which the loader looks for functions. */
struct calling_module {
    char *path;
    uint8_t id[64];
    struct symbol_module symbols;
    struct binaries *binaries;
    struct binary_parts parts;
    Elf *elf;    /* NULL if it cannot be read */
    bool probes; /* it has some */
};

/* A function that a module has. */
struct called_function {
    const char *name;
    uint32_t module;
};

struct calls_search {
    struct planned_calls *calls;
    struct calling_module **modules;
    size_t count, room;
    struct called_function *functions; /* by name; the loader takes the first one of a name */
    size_t function_count, function_room;
    char *addressed; /* a function that is left alone, as its slot is not only read by calls; NULL if there is none */
    size_t addressed_count;
};

static void calls_take_module(void *context, const char *path)
{
    struct calls_search *search = context;
    char *whole = realpath(path, NULL);
    if (!whole)
        return;
    struct calling_module *m = need_memory(1, sizeof *m);
    struct probe_targets targets = { 0 };
    GElf_Addr bias;
    m->path = whole;
    m->symbols = (struct symbol_module){ whole, m->id, elf_build_id_of(whole, m->id, sizeof m->id) };
    m->binaries = binaries_new_quiet();
    if (binaries_parts(m->binaries, &m->symbols, &m->parts))
        m->elf = dwfl_module_getelf(m->parts.module, &bias);
    /* libc has empty functions of the probes' names, which it does not call */
    m->probes =
        m->elf && probe_targets_find(&targets, m->elf) && (targets.slot_count[PROBE_ENTER] || elf_has_runtime(m->elf));
    GROW(search->modules, search->count, search->room);
    search->modules[search->count++] = m;
}

static void calls_take_functions(struct calls_search *search, Elf *elf, uint32_t module)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
            const int type = GELF_ST_TYPE(symbol.st_info);
            const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (symbol.st_shndx == SHN_UNDEF || !name || (type != STT_FUNC && type != STT_GNU_IFUNC))
                continue;
            GROW(search->functions, search->function_count, search->function_room);
            search->functions[search->function_count++] = (struct called_function){ name, module };
        }
    }
}

static int calls_compare(const void *a, const void *b)
{
    const struct called_function *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    return names ? names : ORDER_BY(x, y, module);
}

/* The module that has the function; NULL if none has it. */
static const struct calling_module *calls_module_of(const struct calls_search *search, const char *name)
{
    const size_t i = LOWER_BOUND(f, search->functions, search->function_count, strcmp(f->name, name) < 0);
    return i < search->function_count && strcmp(search->functions[i].name, name) == 0
               ? search->modules[search->functions[i].module]
               : NULL;
}

/* ---- the choice ---- */

/* Whether the pattern names the function. */
static bool calls_pattern_names(struct call_choice *choice, const struct calling_module *of, const char *name,
                                const char *demangled)
{
    const struct named_function named = {
        .name = demangled,
        .linkage_name = name,
        .module = path_file_name(of->path),
        .build_id = of->id,
        .build_id_length = of->symbols.build_id_length,
    };
    if (function_pattern_matches(&choice->of, of->path, &named))
        return true;
    if (!choice->matches)
        function_pattern_note_similar(&choice->of, demangled);
    return false;
}

static bool calls_are_chosen(struct planned_calls *c, const struct calling_module *of, const char *name)
{
    const char *reason = uncalled_reason(name);
    char *demangled = symbol_demangle(name);
    bool chosen = c->all;
    for (size_t i = 0; i < c->count; i++) {
        struct call_choice *choice = &c->choices[i];
        if (!calls_pattern_names(choice, of, name, demangled))
            continue;
        choice->matches += !reason;
        choice->reason = reason ? reason : choice->reason;
        chosen = true;
    }
    free(demangled);
    return chosen && !reason;
}

/* Libraries whose functions take few arguments, all of which are numbers and addresses, unless they take any number. */
static bool calls_are_to_plain_library(const struct calling_module *of)
{
    static const char *const plain[] = { "libc.so*",  "libc-2*",   "libm.so*",      "libpthread*", "libz.so*",
                                         "libdl.so*", "librt.so*", "libstdc++.so*", "libgcc_s.so*" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (fnmatch(plain[i], path_file_name(of->path), 0) == 0)
            return true;
    return false;
}

/* Zero is a size, too: UINT32_MAX for a function that may take more than a stub copies. */
static uint32_t calls_stack_bytes(const struct stack_arguments *declared, const struct calling_module *module,
                                  const char *name)
{
    const struct stack_arguments_of *of = stack_arguments_of(declared, name);
    if (uncalled_is_variadic(name) || (of && of->bytes == STACK_ARGUMENTS_ANY))
        return DWELL_CALLS_STACK_MOST;
    if (!of)
        return calls_are_to_plain_library(module) ? DWELL_CALLS_STACK : DWELL_CALLS_STACK_MOST;
    return of->bytes <= DWELL_CALLS_STACK_MOST ? (uint32_t)of->bytes : UINT32_MAX;
}

static void calls_note_address(struct calls_search *search, const char *name)
{
    if (!search->addressed)
        search->addressed = symbol_demangle(name);
    search->addressed_count++;
}

/* In one line: there can be many. */
static void calls_say_addressed(const struct calls_search *search)
{
    if (search->addressed_count == 1)
        say("--calls-to: calls of %s are not recorded, as the code also takes its address; build without -fno-plt",
            search->addressed);
    else if (search->addressed_count)
        say("--calls-to: calls of %s and %zu other functions are not recorded, as the code also takes their addresses; "
            "build without -fno-plt",
            search->addressed, search->addressed_count - 1);
}

static uint32_t calls_put_slots(struct calls_search *search, const struct calling_module *m, FILE *out)
{
    struct call_slots slots = call_slots_find(m->elf, m->parts.image);
    struct stack_arguments declared = { .list = NULL };
    uint32_t count = 0;
    for (size_t i = 0; i < slots.count; i++) {
        const struct call_slot *slot = &slots.list[i];
        const struct calling_module *of = calls_module_of(search, slot->name);
        if (!of || of->probes || !calls_are_chosen(search->calls, of, slot->name))
            continue;
        if (!slot->only_calls) {
            calls_note_address(search, slot->name);
            continue;
        }
        if (!count)
            declared = stack_arguments_find(m->parts.module);
        const uint32_t bytes = calls_stack_bytes(&declared, of, slot->name);
        if (bytes == UINT32_MAX)
            continue;
        fwrite(&(struct dwell_calls_slot){ .address = slot->address, .stack_bytes = bytes },
               sizeof(struct dwell_calls_slot), 1, out);
        count++;
    }
    stack_arguments_drop(&declared);
    free(slots.list);
    return count;
}

/* ---- the plan's bytes ---- */

static void calls_put_module(struct calls_search *search, const struct calling_module *m, FILE *out)
{
    static const char zeros[8];
    const size_t path = strlen(m->path), texts = (m->symbols.build_id_length + path + 7) / 8 * 8;
    char *slots;
    size_t length;
    FILE *of_slots = need_stream(&slots, &length);
    struct dwell_calls_module head = { .build_id_length = (uint16_t)m->symbols.build_id_length,
                                       .path_length = (uint16_t)path };
    head.slots = calls_put_slots(search, m, of_slots);
    need_stream_end(of_slots);
    head.size = (uint32_t)(sizeof head + texts + length);
    fwrite(&head, sizeof head, 1, out);
    fwrite(m->id, 1, m->symbols.build_id_length, out);
    fwrite(m->path, 1, path, out);
    fwrite(zeros, 1, texts - m->symbols.build_id_length - path, out);
    fwrite(slots, 1, length, out);
    free(slots);
    search->calls->modules++;
    search->calls->slots += head.slots;
}

static void calls_search_drop(struct calls_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        binaries_free(search->modules[i]->binaries);
        free(search->modules[i]->path);
        free(search->modules[i]);
    }
    free(search->modules);
    free(search->functions);
    free(search->addressed);
}

static bool calls_check(const struct planned_calls *c, const char *program, struct error *error)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct call_choice *choice = &c->choices[i];
        if (choice->matches)
            continue;
        return choice->reason
                   ? error_set(error, "--calls-to '%s': calls of this function are left alone: %s", choice->of.text,
                               choice->reason)
                   : error_set(error,
                               "--calls-to: no function of a library that the instrumented code of %s calls is named "
                               "'%s'%s",
                               program, choice->of.text, function_pattern_hint(&choice->of, ""));
    }
    return c->slots || error_set(error, "--calls-to-all: the instrumented code of %s calls no library", program);
}

bool planned_calls_find(struct planned_calls *c, const char *program, struct error *error)
{
    struct calls_search search = { .calls = c };
    bool good = program_modules_list(program, calls_take_module, &search, error);
    for (uint32_t i = 0; i < search.count; i++)
        if (search.modules[i]->elf)
            calls_take_functions(&search, search.modules[i]->elf, i);
    if (search.function_count)
        qsort(search.functions, search.function_count, sizeof *search.functions, calls_compare);
    FILE *out = need_stream(&c->bytes, &c->length);
    for (size_t i = 0; i < search.count && good; i++)
        if (search.modules[i]->probes)
            calls_put_module(&search, search.modules[i], out);
    need_stream_end(out);
    good = good && calls_check(c, program, error);
    if (good)
        calls_say_addressed(&search);
    calls_search_drop(&search);
    return good;
}

bool planned_calls_write(const struct planned_calls *c, const struct session *session, int fd)
{
    const size_t used = sizeof(struct dwell_calls_plan) + c->length;
    const size_t size = (used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    const struct dwell_calls_plan plan = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC,
                   .kind = DWELL_CHUNK_CALLS_PLAN,
                   .size = (uint32_t)size,
                   .used = (uint32_t)used },
        .modules = c->modules,
    };
    const uint64_t offset = size <= DWELL_CHUNK_LARGEST ? session_claim(session, fd, (uint32_t)size) : 0;
    if (!offset || pwrite(fd, c->bytes, c->length, (off_t)(offset + sizeof plan)) != (ssize_t)c->length ||
        pwrite(fd, &plan, sizeof plan, (off_t)offset) != (ssize_t)sizeof plan)
        return false;
    session_more(session)->calls = offset;
    return true;
}
