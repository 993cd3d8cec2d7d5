/* Finds how the chosen values are read, and writes that into the session for the runtime (docs/format.md). */
#include "recorder/planned_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments/arguments.h"
#include "base/memory.h"
#include "base/message.h"
#include "dwell/format.h"
#include "recorder/program_modules.h"
#include "symbols/elf_facts.h"

bool planned_values_add(struct planned_values *v, const char *text, struct error *error)
{
    GROW(v->choices, v->count, v->room);
    return value_choice_parse(&v->choices[v->count++], text, error);
}

void planned_values_drop(struct planned_values *v)
{
    for (size_t i = 0; i < v->count; i++)
        value_choice_drop(&v->choices[i]);
    free(v->choices);
    for (size_t i = 0; i < v->file_count; i++)
        free(v->files[i]);
    free(v->files);
    free(v->bytes);
    free(v->names);
    error_drop(&v->unread);
}

static const char *planned_origin(const struct planned_values *v)
{
    return v->origin ? v->origin : "--values";
}

/* ---- the plan's bytes ---- */

static const uint8_t planned_kinds[] = {
    [ARGUMENT_SIGNED] = DWELL_VALUE_SIGNED,   [ARGUMENT_UNSIGNED] = DWELL_VALUE_UNSIGNED,
    [ARGUMENT_BOOL] = DWELL_VALUE_BOOL,       [ARGUMENT_CHARACTER] = DWELL_VALUE_CHARACTER,
    [ARGUMENT_FLOAT] = DWELL_VALUE_FLOAT,     [ARGUMENT_ENUM] = DWELL_VALUE_ENUM,
    [ARGUMENT_ADDRESS] = DWELL_VALUE_ADDRESS, [ARGUMENT_TEXT] = DWELL_VALUE_TEXT,
};

static void planned_put_value(FILE *out, const struct argument *a)
{
    struct dwell_value value = { .kind = planned_kinds[a->kind],
                                 .bytes = a->kind == ARGUMENT_TEXT ? 0 : (uint8_t)a->size,
                                 .result = a->result };
    strncpy(value.name, a->name, sizeof value.name - 1);
    fwrite(&value, sizeof value, 1, out);
}

static void planned_put_names(FILE *out, uint32_t function, uint32_t value, const struct enum_names *names)
{
    static const char zeros[8];
    const struct dwell_values_names head = { function, value, (uint32_t)names->count, names->is_signed };
    fwrite(&head, sizeof head, 1, out);
    for (size_t i = 0; i < names->count; i++) {
        const size_t length = strlen(names->list[i].name);
        fwrite(&(struct dwell_value_name){ names->list[i].value, length }, sizeof(struct dwell_value_name), 1, out);
        fwrite(names->list[i].name, 1, length, out);
        fwrite(zeros, 1, -length % sizeof zeros, out);
    }
}

static void planned_put_use(FILE *out, const struct argument_use *use)
{
    const struct dwell_value_loads loads = { .count = use->missing ? 0 : use->program.count };
    fwrite(&loads, sizeof loads, 1, out);
    for (uint32_t i = 0; i < loads.count; i++) {
        const struct load *l = &use->program.loads[i];
        fwrite(&(struct dwell_load){ .op = l->op, .operand = l->operand, .number = l->number },
               sizeof(struct dwell_load), 1, out);
    }
}

/* Some of a function's arguments, by their indices. */
struct planned_list {
    size_t index[DWELL_VALUES_MOST];
    size_t count;
    bool more;    /* than there is room for */
    bool results; /* some are results */
};

/* Whether there are values to be read: results at exits, all others at enters. At a jump, the frame is gone. */
static bool planned_is_site(const struct argument_site *site, bool result)
{
    return site->call.exit == result && !site->call.jump && !site->call.unwinds;
}

static void planned_put_site(FILE *out, const struct argument_site *site, const struct planned_list *list)
{
    struct dwell_values_site head = { .address = site->call.next, .size = sizeof head, .exit = site->call.exit };
    for (size_t i = 0; i < list->count; i++) {
        const struct argument_use *use = &site->uses[list->index[i]];
        head.size += (uint32_t)(sizeof(struct dwell_value_loads) +
                                (use->missing ? 0 : use->program.count) * sizeof(struct dwell_load));
    }
    fwrite(&head, sizeof head, 1, out);
    for (size_t i = 0; i < list->count; i++)
        planned_put_use(out, &site->uses[list->index[i]]);
}

/* The functions of a module. */
struct planned_module {
    struct planned_values *values;
    const struct symbol_module *module;
    const char *path; /* as its processes name it */
    struct binaries *binaries;
    struct argument_reader *reader;
    struct error *error;
};

static void planned_put_texts(FILE *out, const struct planned_module *m)
{
    static const char zeros[8];
    const size_t path = strlen(m->path), texts = m->module->build_id_length + path;
    fwrite(m->module->build_id, 1, m->module->build_id_length, out);
    fwrite(m->path, 1, path, out);
    fwrite(zeros, 1, -texts % 8, out);
}

/* Appends what a stream has written, and frees it. */
static void planned_append(char **bytes, size_t *length, char *more, size_t more_length)
{
    if (more_length) {
        *bytes = need_more(*bytes, *length + more_length, 1);
        memcpy(*bytes + *length, more, more_length);
        *length += more_length;
    }
    free(more);
}

/* The names of the function's enumerations. It is the next one of the plan. */
static void planned_add_names(struct planned_values *v, const struct function_arguments *f,
                              const struct planned_list *list)
{
    char *bytes;
    size_t length;
    FILE *out = need_stream(&bytes, &length);
    for (size_t i = 0; i < list->count; i++)
        if (f->list[list->index[i]].names.count)
            planned_put_names(out, v->functions, (uint32_t)i, &f->list[list->index[i]].names);
    need_stream_end(out);
    planned_append(&v->names, &v->names_length, bytes, length);
}

static void planned_put_function(struct planned_module *m, uint64_t function, const struct function_arguments *f,
                                 const struct planned_list *list)
{
    struct planned_values *v = m->values;
    char *body;
    size_t length;
    FILE *out = need_stream(&body, &length);
    struct dwell_values_function head = {
        .build_id_length = (uint16_t)m->module->build_id_length,
        .path_length = (uint16_t)strlen(m->path),
        .values = (uint16_t)list->count,
        .text_bytes = v->text_bytes,
        .offset = function,
    };
    planned_put_texts(out, m);
    for (size_t i = 0; i < list->count; i++)
        planned_put_value(out, &f->list[list->index[i]]);
    for (size_t i = 0; i < f->site_count; i++) {
        const bool exit = f->sites[i].call.exit;
        if (!planned_is_site(&f->sites[i], exit) || (exit && !list->results))
            continue;
        if (v->sites + head.sites == DWELL_VALUES_SITES) {
            v->left_out = true;
            break;
        }
        planned_put_site(out, &f->sites[i], list);
        head.sites++;
    }
    need_stream_end(out);
    head.size = (uint32_t)(sizeof head + length);
    v->bytes = need_more(v->bytes, v->length + head.size, 1);
    memcpy(v->bytes + v->length, &head, sizeof head);
    v->length += sizeof head;
    planned_append(&v->bytes, &v->length, body, length);
    planned_add_names(v, f, list);
    v->functions++;
    v->sites += head.sites;
}

/* ---- functions ---- */

/* Why a value is never recorded, whatever the code is; NULL if it may be. */
static const char *planned_refuse(const struct planned_values *v, const struct argument *a)
{
    if (v->sums && a->result)
        return "mode profile adds calls up before their results are known; use --mode trace or ring";
    if (a->kind == ARGUMENT_NONE)
        return "it is no single value: name a part of it";
    return strlen(a->name) < DWELL_VALUES_NAME ? NULL : "its name is too long";
}

/* Says what was asked for and cannot be recorded. Without names, such values are left out. */
static bool planned_can_read(const struct planned_module *m, const struct function_arguments *f, size_t argument,
                             const char *name, bool named)
{
    enum missing why = MISSING_NOT;
    bool any = false;
    const char *refused = planned_refuse(m->values, &f->list[argument]);
    for (size_t i = 0; i < f->site_count; i++) {
        const struct argument_use *use = &f->sites[i].uses[argument];
        const bool site = planned_is_site(&f->sites[i], f->list[argument].result);
        any |= site && !use->missing;
        if (site && use->missing)
            why = use->missing;
    }
    if (!refused && !any)
        refused = why ? missing_text(why) : "no call of its probe is known";
    if (refused && named)
        say("%s: %s of %s cannot be recorded: %s", planned_origin(m->values), f->list[argument].name, name, refused);
    return !refused;
}

static struct planned_list planned_choose(const struct planned_module *m, const struct function_arguments *f,
                                          const char *name, bool named)
{
    struct planned_list list = { .count = 0 };
    for (size_t i = 0; i < f->count; i++) {
        if (!planned_can_read(m, f, i, name, named))
            continue;
        list.more |= list.count == DWELL_VALUES_MOST;
        if (list.more)
            continue;
        list.index[list.count++] = i;
        list.results |= f->list[i].result;
    }
    return list;
}

/* What several choices ask for of one function. */
struct planned_wanted {
    char **what; /* none: all values */
    size_t count, room;
    bool strict; /* a function without one of these is an error */
};

/* Values add up. A choice without WHAT asks for all, and takes the place of earlier ones, as later ones take its place.
 */
static void planned_want(struct planned_wanted *w, const struct value_choice *c)
{
    if (!c->count)
        w->count = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t at = 0;
        while (at < w->count && strcmp(w->what[at], c->what[i]) != 0)
            at++;
        if (at < w->count)
            continue;
        GROW(w->what, w->count, w->room);
        w->what[w->count++] = c->what[i];
    }
    w->strict = value_choice_is_name(c);
}

/* A pattern leaves out functions that do not have what was asked for. */
static bool planned_add_function(struct planned_module *m, const struct planned_wanted *w, uint64_t function,
                                 const char *name)
{
    struct function_arguments f;
    struct error error = { NULL };
    bool good = arguments_find(m->reader, function, w->what, w->count, &f, &error);
    if (good && f.sites) {
        const struct planned_list list = planned_choose(m, &f, name, w->count > 0);
        if (list.count)
            planned_put_function(m, function, &f, &list);
        if (list.more)
            say("%s: %s: only the first %d values are recorded", planned_origin(m->values), name, DWELL_VALUES_MOST);
    }
    if (!good && w->strict)
        error_set(m->error, "%s: %s: %s", planned_origin(m->values), name, error.text);
    else
        good = true;
    error_drop(&error);
    function_arguments_drop(&f);
    return good;
}

/* Whether the pattern may name one more function. */
static bool planned_may_match(const struct planned_module *m, const struct value_choice *c)
{
    return m->values->off || m->values->many || c->matches <= PLANNED_FUNCTIONS ||
           error_set(m->error, "%s '%s' names more than %d functions, and values are secrets: name fewer%s",
                     planned_origin(m->values), c->text, PLANNED_FUNCTIONS,
                     m->values->origin ? "" : ", or add --values-many");
}

/* All choices that name the function count. */
static bool planned_look_at(struct planned_module *m, uint64_t function)
{
    struct planned_wanted wanted = { .count = 0 };
    char *name = NULL;
    bool good = true;
    for (size_t i = 0; i < m->values->count && good; i++) {
        struct value_choice *c = &m->values->choices[i];
        char *found = value_choice_take(c, m->binaries, m->module, function);
        if (!found)
            continue;
        planned_want(&wanted, c);
        good = planned_may_match(m, c);
        free(name);
        name = found;
    }
    if (good && name && m->values->off)
        planned_put_function(m, function, &(struct function_arguments){ .count = 0 },
                             &(struct planned_list){ .count = 0 });
    else if (good && name)
        good = planned_add_function(m, &wanted, function, name);
    free(wanted.what);
    free(name);
    return good;
}

static void planned_find_in_module(struct planned_module *m)
{
    uint64_t function;
    for (size_t place = 0; arguments_next_function(m->reader, &place, &function);)
        if (!planned_look_at(m, function))
            break;
}

void planned_values_find_in(struct planned_values *v, const struct symbol_module *loaded, const char *file,
                            struct error *error)
{
    const struct symbol_module module = { file, loaded->build_id, loaded->build_id_length };
    struct planned_module m = { v, &module, loaded->path, binaries_new(), NULL, error };
    struct error unread = { NULL };
    m.reader = arguments_open(m.binaries, &module, &unread);
    if (m.reader) {
        planned_find_in_module(&m);
        arguments_close(m.reader);
    }
    if (!v->read && unread.text)
        error_set(&v->unread, "%s", unread.text);
    v->read = true;
    error_drop(&unread);
    binaries_free(m.binaries);
}

/* What program_modules_list takes. */
struct planned_search {
    struct planned_values *values;
    struct error *error;
    char **seen; /* paths of modules that were looked at */
    size_t count, room;
};

static bool planned_has_seen(const struct planned_search *s, const char *whole)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->seen[i], whole) == 0)
            return true;
    return false;
}

/* A library that cannot be read has no function that is found. */
static void planned_take_module(void *context, const char *path)
{
    struct planned_search *search = context;
    char *whole = search->error->text ? NULL : realpath(path, NULL);
    if (!whole || planned_has_seen(search, whole)) {
        free(whole);
        return;
    }
    GROW(search->seen, search->count, search->room);
    search->seen[search->count++] = whole;
    uint8_t id[64];
    const struct symbol_module module = { whole, id, elf_build_id_of(whole, id, sizeof id) };
    planned_values_find_in(search->values, &module, whole, search->error);
}

/* A choice can name the file of its module, such as a plugin that the program loads later. The pattern has its whole
 * path from then on. */
static bool planned_name_files(struct planned_values *v, struct error *error)
{
    for (size_t i = 0; i < v->count; i++) {
        struct function_pattern *p = &v->choices[i].function;
        if (!p->module || !strchr(p->module, '/') || strpbrk(p->module, "*?["))
            continue;
        char *whole = realpath(p->module, NULL);
        if (!whole)
            return error_set(error, "--values '%s': %s: %s", v->choices[i].text, p->module, strerror(errno));
        free(p->module);
        p->module = function_pattern_escape(whole);
        GROW(v->files, v->file_count, v->file_room);
        v->files[v->file_count++] = whole;
    }
    return true;
}

/* The program and what it is linked with come first. */
static bool planned_take_modules(struct planned_search *search, const char *program)
{
    const bool good = planned_name_files(search->values, search->error) &&
                      program_modules_list(program, planned_take_module, search, search->error);
    for (size_t i = 0; good && i < search->values->file_count; i++)
        planned_take_module(search, search->values->files[i]);
    while (search->count)
        free(search->seen[--search->count]);
    free(search->seen);
    return good && !search->error->text;
}

bool planned_values_say_unread(const struct planned_values *v, struct error *error)
{
    return v->unread.text && !error_set(error, "%s: %s", planned_origin(v), v->unread.text);
}

bool planned_values_find(struct planned_values *v, const char *program, struct error *error)
{
    struct planned_search search = { .values = v, .error = error };
    if (!planned_take_modules(&search, program))
        return false;
    for (size_t i = 0; i < v->count; i++)
        if (!v->choices[i].matches)
            return !planned_values_say_unread(v, error) &&
                   error_set(error, "--values: no function of %s that calls a probe is named '%s'%s", program,
                             v->choices[i].text, function_pattern_hint(&v->choices[i].function, ""));
    if (v->left_out)
        say("--values: only %d calls of probes are recorded; name fewer functions", DWELL_VALUES_SITES);
    if (!v->functions)
        return error_set(error, "--values: nothing of that can be read; dwell values --list says why");
    return true;
}

/* ---- writing ---- */

/* Names that make the chunk too large are left out: then values are numbers. */
uint8_t *planned_values_plan(const struct planned_values *v, size_t *used)
{
    const size_t end = sizeof(struct dwell_values_plan) + v->length;
    const size_t names = end + v->names_length <= DWELL_CHUNK_LARGEST - DWELL_UNIT ? v->names_length : 0;
    const struct dwell_values_plan plan = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC, .kind = DWELL_CHUNK_PLAN },
        .functions = v->functions,
        .names = names ? (uint32_t)end : 0,
    };
    uint8_t *bytes = need_memory(end + names, 1);
    *used = end + names;
    memcpy(bytes, &plan, sizeof plan);
    if (v->length)
        memcpy(bytes + sizeof plan, v->bytes, v->length);
    if (names)
        memcpy(bytes + end, v->names, names);
    return bytes;
}

/* The header comes last: then the chunk is whole. */
uint64_t planned_values_put(uint8_t *plan, size_t used, const struct session *session, int fd)
{
    const size_t size = (used + DWELL_UNIT - 1) / DWELL_UNIT * DWELL_UNIT, head = sizeof(struct dwell_chunk_header);
    struct dwell_chunk_header *chunk = (struct dwell_chunk_header *)(void *)plan;
    chunk->size = (uint32_t)size;
    chunk->used = (uint32_t)used;
    const uint64_t offset = size <= DWELL_CHUNK_LARGEST ? session_claim(session, fd, (uint32_t)size) : 0;
    const bool good = offset &&
                      pwrite(fd, plan + head, used - head, (off_t)(offset + head)) == (ssize_t)(used - head) &&
                      pwrite(fd, plan, head, (off_t)offset) == (ssize_t)head;
    return good ? offset : 0;
}

bool planned_values_write(const struct planned_values *v, const struct session *session, int fd)
{
    size_t used;
    uint8_t *plan = planned_values_plan(v, &used);
    session_more(session)->values = planned_values_put(plan, used, session, fd);
    free(plan);
    return session_more(session)->values;
}
