/* Finds the slots of modules with probes that lead to chosen functions of modules without, and writes them into the
 * session for the runtime (docs/format.md). */
#include "recorder/planned_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/call_frames.h"
#include "arguments/stack_arguments.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/sorted.h"
#include "dwell/format.h"
#include "recorder/call_choice.h"
#include "recorder/own_functions.h"
#include "recorder/planned_sites.h"
#include "recorder/program_modules.h"
#include "recorder/runtime_library.h"
#include "symbols/call_slots.h"
#include "symbols/elf_facts.h"
#include "symbols/uncalled_functions.h"

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
    for (size_t i = 0; i < c->count; i++) {
        function_pattern_drop(&c->choices[i].of);
        free(c->choices[i].name);
    }
    free(c->choices);
    free(c->refused.name);
    free(c->bytes);
    for (size_t i = 0; i < c->answer_count; i++)
        free(c->answers[i].path);
    free(c->answers);
    calling_modules_drop(&c->found);
}

/* The modules are those of `calls`, in an order in which names are looked up. */
struct calls_search {
    struct planned_calls *calls;
    const uint32_t *order; /* NULL: as they were added */
    char *addressed;       /* a function that is left alone as other code reads its slot, too; NULL if there is none */
    size_t addressed_count;
};

static void calls_take_module(void *context, const char *path)
{
    calling_modules_add(context, path);
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
        say("--calls-to: calls of %s are not recorded, as the code takes its address from the same slot",
            search->addressed);
    else if (search->addressed_count)
        say("--calls-to: calls of %s and %s are not recorded, as the code takes their addresses from the "
            "same slots",
            search->addressed, COUNTED(search->addressed_count - 1, "other function"));
}

/* In one line, too. Nothing else tells of them, unless a pattern names no other functions. */
static void calls_say_refused(const struct planned_calls *c)
{
    if (c->refused.count == 1)
        say("--calls-to: calls of %s are left alone: %s", c->refused.name, c->refused.reason);
    else if (c->refused.count)
        say("--calls-to: calls of %s are left alone: %s; likewise those of %zu others", c->refused.name,
            c->refused.reason, c->refused.count - 1);
}

/* The slots of a module. */
struct calls_of_module {
    struct calls_search *search;
    const struct calling_module *module;
    const struct call_slots *slots;
    struct stack_arguments declared; /* read for the first slot that is chosen */
    struct call_frames frames;       /* read for the first one without a declaration */
    bool read, read_frames;
    struct own_functions own;
    FILE *out;
};

/* Arguments are no further from the stack pointer than the end of the caller's frame. */
static void calls_bound(struct calls_of_module *m, size_t slot, struct dwell_calls_slot *planned)
{
    if (!m->read_frames)
        m->frames = call_frames_find(m->module->parts.module, m->module->parts.image, m->slots);
    m->read_frames = true;
    const struct call_frame frame = call_frame_of(&m->frames, m->slots, slot);
    calls_bound_by(&planned->stack, &frame);
}

/* Returns why the slot is left alone; NULL if it is not. */
static const char *calls_put_slot(struct calls_of_module *m, size_t index, const struct calling_module *of)
{
    const struct call_slot *slot = &m->slots->list[index];
    bool exact;
    const char *reason = calls_reason(m->search->calls, slot->name);
    if (reason)
        return reason;
    if (slot->own_rules)
        return "it is called by rules of its own";
    if (m->search->calls->archived)
        return "the program contains libdwell.a; link it with libdwell.so (-ldwell)";
    if (!slot->only_calls) {
        calls_note_address(m->search, slot->name);
        return "the code takes its address from the same slot";
    }
    reason = of == m->module ? own_functions_reason(&m->own, m->module, slot) : NULL;
    if (reason)
        return reason;
    if (!m->read)
        m->declared = stack_arguments_find(m->module->parts.module);
    m->read = true;
    struct dwell_calls_slot planned = { .address = slot->address };
    planned.stack.own = of == m->module;
    planned.stack.bytes = calls_stack_bytes(&m->declared, of, slot->name, &exact);
    if (planned.stack.bytes == UINT32_MAX)
        return "their arguments may take too much of the stack";
    if (!exact)
        calls_bound(m, index, &planned);
    fwrite(&planned, sizeof planned, 1, m->out);
    return NULL;
}

/* Functions of the module itself have to be named. */
static bool calls_want_slot(struct calls_of_module *m, const struct call_slot *slot, const struct calling_module *of)
{
    if (of == m->module)
        return slot->own && slot->any_use && calls_are_named(m->search->calls, of, slot->name) &&
               own_functions_have(&m->own, of, slot);
    return of && !of->probes && (calls_are_named(m->search->calls, of, slot->name) || m->search->calls->all);
}

/* Returns how many. */
static uint32_t calls_put_slots(struct calls_search *search, const struct calling_module *module, FILE *out)
{
    struct call_slots slots = call_slots_find(module->elf, module->parts.image);
    struct calls_of_module m = { .search = search, .module = module, .slots = &slots, .out = out };
    uint32_t count = 0;
    for (size_t i = 0; i < slots.count; i++) {
        const struct call_slot *slot = &slots.list[i];
        const struct calling_module *of = calling_modules_find(&search->calls->found, search->order, slot->name);
        if (!calls_want_slot(&m, slot, of))
            continue;
        const char *reason = calls_put_slot(&m, i, of);
        calls_note(search->calls, slot->name, reason);
        search->calls->left_alone += reason != NULL;
        count += !reason;
    }
    stack_arguments_drop(&m.declared);
    call_frames_drop(&m.frames);
    own_functions_drop(&m.own);
    free(slots.list);
    return count;
}

static int calls_compare_offsets(const void *a, const void *b)
{
    const struct called_function *x = a, *y = b;
    return ORDER_BY(x, y, offset);
}

void planned_calls_each(struct planned_calls *c, const char *file, planned_calls_taker *take, void *context)
{
    const uint32_t index = calling_modules_add(&c->found, file);
    if (index == CALLING_NONE || c->found.list[index]->probes)
        return;
    struct called_function *list = need_memory(c->found.function_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < c->found.function_count; i++) {
        const struct called_function *f = &c->found.functions[i];
        if (f->module == index && (calls_are_named(c, c->found.list[index], f->name) || c->all) &&
            !calls_reason(c, f->name))
            list[count++] = *f;
    }
    qsort(list, count, sizeof *list, calls_compare_offsets);
    for (size_t i = 0; i < count; i++)
        take(context, list[i].name, list[i].offset);
    free(list);
}

/* ---- the plan's bytes ---- */

/* What a plan knows a module by. */
struct calls_texts {
    const uint8_t *build_id;
    size_t build_id_length;
    const char *path;
};

/* `lists` are the bytes of what follows the texts. */
static void calls_put_entry(const struct calls_texts *texts, struct dwell_calls_module *head, const char *lists,
                            size_t length, FILE *out)
{
    static const char zeros[8];
    const size_t path = strlen(texts->path), used = texts->build_id_length + path, all = (used + 7) / 8 * 8;
    head->size = (uint32_t)(sizeof *head + all + length);
    head->build_id_length = (uint16_t)texts->build_id_length;
    head->path_length = (uint16_t)path;
    fwrite(head, sizeof *head, 1, out);
    fwrite(texts->build_id, 1, texts->build_id_length, out);
    fwrite(texts->path, 1, path, out);
    fwrite(zeros, 1, all - used, out);
    fwrite(lists, 1, length, out);
}

/* libdwell.a changes no slots, and only the program's own calls. */
static bool calls_have_sites(const struct planned_calls *c, const struct calling_module *m)
{
    return !c->archived || m == c->found.list[0];
}

/* Returns the number of functions. `m` is NULL if the module's file cannot be read: then it has none. */
static uint32_t calls_put_module(struct calls_search *search, const struct calling_module *m,
                                 const struct calls_texts *texts, FILE *out)
{
    struct dwell_calls_module head = { .size = 0 };
    char *lists;
    size_t length;
    FILE *of_lists = need_stream(&lists, &length);
    if (m && m->elf && m->probes) {
        head.slots = calls_put_slots(search, m, of_lists);
        if (calls_have_sites(search->calls, m))
            planned_sites_put(search->calls, search->order, m, &head, of_lists);
    }
    need_stream_end(of_lists);
    calls_put_entry(texts, &head, lists, length, out);
    free(lists);
    return head.slots + head.functions;
}

static void calls_put_first(struct calls_search *search, const struct calling_module *m, FILE *out)
{
    const struct calls_texts texts = { m->id, m->symbols.build_id_length, m->path };
    search->calls->functions += calls_put_module(search, m, &texts, out);
    search->calls->modules++;
}

/* Whether modules that call libraries may come while the program runs: one of its modules loads others, which libc does
 * for its own purposes, too; or the program has no probes, and so is recorded for what it executes. */
static bool calls_may_come_later(const struct planned_calls *c)
{
    bool probes = false, opens = false;
    for (size_t i = 0; i < c->found.count; i++) {
        const struct calling_module *m = c->found.list[i];
        probes |= m->probes;
        opens |= m->opens && !m->is_runtime && !calls_are_to_plain_library(m);
    }
    return opens || !probes;
}

/* Why functions that are linked into a module are not known. */
static const char *calls_unknown(const struct planned_calls *c)
{
    return c->tableless  ? "; functions that are linked into it are not known, as it has no unwind table: link it with "
                           "-Wl,--eh-frame-hdr"
           : c->nameless ? "; functions that are linked into it have no names, as it has no symbols"
                         : "";
}

static bool calls_check_choice(const struct planned_calls *c, const struct call_choice *choice, const char *program,
                               struct error *error)
{
    if (choice->matches)
        return true;
    const char *never = choice->of.name ? uncalled_reason(choice->of.name) : NULL;
    if (choice->name || never)
        return error_set(error, "--calls-to '%s': calls of %s are left alone: %s%s", choice->of.text,
                         choice->name ? choice->name : choice->of.name, choice->name ? choice->reason : never,
                         choice->others ? "; likewise those of others" : "");
    if (calls_may_come_later(c)) {
        say("--calls-to '%s': no function that the program calls now is named so; libraries and programs that come later "
            "may have it",
            choice->of.text);
        return true;
    }
    return error_set(error,
                     "--calls-to: no function of a library that the instrumented code of %s calls is named '%s'%s",
                     program, choice->of.text, function_pattern_hint(&choice->of, calls_unknown(c)));
}

/* A static program has no slots. */
static bool calls_are_archived(const struct planned_calls *c)
{
    const struct calling_module *m = c->found.count ? c->found.list[0] : NULL;
    return m && m->has_runtime && elf_has_segment(m->elf, PT_INTERP);
}

static bool calls_check(const struct planned_calls *c, const char *program, struct error *error)
{
    if (c->archived && !c->count)
        return error_set(error,
                         "--calls-to-all: %s contains libdwell.a, which does not record calls into libraries; link it "
                         "with libdwell.so (-ldwell)",
                         program);
    for (size_t i = 0; i < c->count; i++)
        if (!calls_check_choice(c, &c->choices[i], program, error))
            return false;
    return c->functions || c->left_alone || calls_may_come_later(c) ||
           error_set(error, "--calls-to-all: the instrumented code of %s calls no library", program);
}

/* It is preloaded, unless the program is linked with it. */
static void calls_take_runtime(struct calling_modules *found)
{
    struct runtime_library library = runtime_library_find();
    if (library.path)
        calling_modules_add(found, library.path);
    free(library.path);
    free(library.wrong);
}

bool planned_calls_find(struct planned_calls *c, const char *program, struct error *error)
{
    struct calls_search search = { .calls = c };
    bool good = program_modules_list(program, calls_take_module, &c->found, error);
    calls_take_runtime(&c->found);
    c->archived = good && calls_are_archived(c);
    FILE *out = need_stream(&c->bytes, &c->length);
    for (size_t i = 0; i < c->found.count && good; i++)
        if (c->found.list[i]->probes)
            calls_put_first(&search, c->found.list[i], out);
    need_stream_end(out);
    good = good && calls_check(c, program, error);
    if (good) {
        calls_say_addressed(&search);
        calls_say_refused(c);
    }
    free(search.addressed);
    return good;
}

/* Returns the chunk's offset; zero if there is no room. */
static uint64_t calls_write_chunk(const struct planned_calls *c, const struct session *session, int fd, uint64_t before)
{
    const size_t used = sizeof(struct dwell_calls_plan) + c->length;
    const size_t size = (used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT;
    const struct dwell_calls_plan plan = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC,
                   .kind = DWELL_CHUNK_CALLS_PLAN,
                   .size = (uint32_t)size,
                   .used = (uint32_t)used,
                   .link = before },
        .modules = c->modules,
    };
    const uint64_t offset = size <= DWELL_CHUNK_LARGEST ? session_claim(session, fd, (uint32_t)size) : 0;
    if (!offset || pwrite(fd, c->bytes, c->length, (off_t)(offset + sizeof plan)) != (ssize_t)c->length ||
        pwrite(fd, &plan, sizeof plan, (off_t)offset) != (ssize_t)sizeof plan)
        return 0;
    __atomic_store_n(&session_more(session)->calls, offset, __ATOMIC_RELEASE);
    return offset;
}

bool planned_calls_write(const struct planned_calls *c, const struct session *session, int fd)
{
    return calls_write_chunk(c, session, fd, 0);
}

/* ---- modules that are loaded later ---- */

/* Adds the files of a process' code, its program first. Returns their indices in `order`, all of them unordered. */
static uint32_t calls_take_process(struct calling_modules *found, uint32_t pid)
{
    char *path = need_text("/proc/%u/exe", pid);
    const uint32_t program = calling_modules_add(found, path);
    free(path);
    path = need_text("/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    free(path);
    char *line = NULL;
    size_t room = 0;
    while (maps && getline(&line, &room, maps) >= 0) {
        char protection[8], *file = strchr(line, '/');
        if (!file || sscanf(line, "%*s %7s", protection) != 1 || protection[2] != 'x')
            continue;
        file[strcspn(file, "\n")] = '\0';
        calling_modules_add(found, file);
    }
    free(line);
    if (maps)
        fclose(maps);
    return program;
}

/* Modules that are neither the program's nor the module's come last. */
static uint32_t *calls_order(const struct calling_modules *found, uint32_t program, uint32_t module)
{
    uint32_t *order = need_memory(found->count, sizeof *order), next = 0;
    for (size_t i = 0; i < found->count; i++)
        order[i] = CALLING_NONE;
    if (program != CALLING_NONE)
        next = calling_modules_order(found, program, order, next);
    next = calling_modules_order(found, module, order, next);
    for (size_t i = 0; i < found->count; i++)
        if (order[i] == CALLING_NONE)
            order[i] = next++;
    return order;
}

/* A plan that was written for a process holds for others, too. */
static struct call_answer *calls_answered(const struct planned_calls *c, const struct planned_calls_module *module)
{
    for (size_t i = 0; i < c->answer_count; i++) {
        struct call_answer *a = &c->answers[i];
        if (strcmp(a->path, module->path) == 0 && a->build_id_length == module->build_id_length &&
            memcmp(a->build_id, module->build_id, module->build_id_length) == 0)
            return a;
    }
    return NULL;
}

static void calls_note_answer(struct planned_calls *c, const struct planned_calls_module *module, uint64_t offset)
{
    GROW(c->answers, c->answer_count, c->answer_room);
    struct call_answer *a = &c->answers[c->answer_count++];
    *a = (struct call_answer){ .path = need_text("%s", module->path),
                               .build_id_length = module->build_id_length,
                               .offset = offset };
    memcpy(a->build_id, module->build_id, module->build_id_length);
}

static uint64_t calls_write_later(struct planned_calls *c, const struct planned_calls_module *module,
                                  const struct session *session, int fd)
{
    const uint32_t program = calls_take_process(&c->found, module->pid);
    const uint32_t index = module->file ? calling_modules_add(&c->found, module->file) : CALLING_NONE;
    const struct calls_texts texts = { module->build_id, module->build_id_length, module->path };
    uint32_t *order = index == CALLING_NONE ? NULL : calls_order(&c->found, program, index);
    struct planned_calls later = { .modules = 1 };
    struct calls_search search = { .calls = c, .order = order };
    FILE *out = need_stream(&later.bytes, &later.length);
    calls_put_module(&search, index == CALLING_NONE ? NULL : c->found.list[index], &texts, out);
    need_stream_end(out);
    const uint64_t offset = calls_write_chunk(&later, session, fd, session_more(session)->calls);
    free(later.bytes);
    free(order);
    free(search.addressed);
    return offset;
}

uint64_t planned_calls_later(struct planned_calls *c, const struct planned_calls_module *module,
                             const struct session *session, int fd)
{
    const struct call_answer *answer = calls_answered(c, module);
    if (answer)
        return answer->offset;
    const uint64_t offset = calls_write_later(c, module, session, fd);
    calls_note_answer(c, module, offset);
    return offset;
}
