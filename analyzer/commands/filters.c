/* The patterns that select the recorded functions. They are read from options and files, matched with the symbols of
 * modules, and the matches are written into the session as chunks. */
#include "commands/filters.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/interrupted.h"
#include "base/memory.h"
#include "base/path_text.h"
#include "base/wide.h"
#include "commands/commands.h"
#include "commands/filter_chunk.h"
#include "symbols/elf_facts.h"
#include "symbols/function_pattern.h"
#include "symbols/os_calls.h"
#include "symbols/symbols.h"

/* Besides the actions of format.h. A timed function needs none, but a pattern can take an earlier level away. */
#define FILTER_ONLY (1u << 31)
#define FILTER_TIMED (1u << 30)
#define FILTER_EARLIER (1u << 29) /* the level is that of an earlier recording */
#define FILTER_NOT_TIMED ((uint32_t)(DWELL_FILTER_OUT | DWELL_FILTER_COUNTED))
#define FILTER_LEVEL (FILTER_NOT_TIMED | FILTER_TIMED)

struct filter_pattern {
    struct function_pattern of;
    char *place;         /* begins messages about it */
    uint64_t least_size; /* matches functions with less code; zero for any */
    uint32_t action;
    size_t matches;
};

/* ---- patterns ---- */

static const struct {
    const char *name;
    uint32_t action;
} actions[] = {
    { "only", FILTER_ONLY },
    { "suppress", DWELL_FILTER_SUPPRESS },
    { "ignore", DWELL_FILTER_IGNORE },
    { "start-on", DWELL_FILTER_START },
    { "stop-on", DWELL_FILTER_STOP },
    { "root", DWELL_FILTER_ROOT },
    { "callers-of", DWELL_FILTER_TARGET },
};

static void filters_add_pattern(struct filters *f, uint32_t action, const char *value, const char *place)
{
    struct filter_pattern p = { .place = need_text("%s", place), .action = action };
    struct error error = { NULL };
    if (!function_pattern_parse(&p.of, value, &error))
        die(STATUS_OWN_FAILURE, "%s: %s", place, error.text);
    GROW(f->patterns, f->pattern_count, f->pattern_room);
    f->patterns[f->pattern_count++] = p;
    f->actions |= p.action;
}

bool filters_add_selection(struct filters *f, const char *pattern)
{
    struct filter_pattern p = { .place = need_text("level"), .action = DWELL_FILTER_OUT };
    struct error error = { NULL };
    const bool parsed = function_pattern_parse(&p.of, pattern, &error);
    free(error.text);
    GROW(f->patterns, f->pattern_count, f->pattern_room);
    f->patterns[f->pattern_count++] = p;
    f->actions |= p.action;
    return parsed;
}

static uint32_t filters_parse_number(const char *value, const char *place, uint32_t least, uint32_t most)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    if (errno || end == value || *end || *value == '-' || number < least || number > most)
        die(STATUS_OWN_FAILURE, "%s: '%s' is not a number from %" PRIu32 " to %" PRIu32, place, value, least, most);
    return (uint32_t)number;
}

static uint64_t filters_parse_time(const char *value, const char *place)
{
    const uint64_t max = 1000000000000000; /* ns */
    uint64_t ns;
    if (duration_parse(value, &ns) && ns < max)
        return ns;
    if (*value && value[strlen(value) - 1] == '%')
        die(STATUS_OWN_FAILURE, "%s: '%s': no whole is known while recording; give a time such as 10us", place, value);
    die(STATUS_OWN_FAILURE, "%s: '%s' is not a time such as 500ns, 10us, 2.5ms or 1s", place, value);
}

/* Splits PATTERN=VALUE at the last sign. Returns the pattern, which the caller frees, and moves *value to VALUE. NULL
 * if there is no pattern. */
static char *filters_split(const char **value)
{
    const char *sign = strrchr(*value, '=');
    if (!sign)
        return NULL;
    char *pattern = need_copy(*value, (size_t)(sign - *value));
    *value = sign + 1;
    return pattern;
}

static void filters_add_depth(struct filters *f, const char *value, const char *place)
{
    enum { MAX_DEPTH = 8000, MAX_LEVELS = 250 };
    char *pattern = filters_split(&value);
    if (pattern)
        filters_add_pattern(f, (1 + filters_parse_number(value, place, 0, MAX_LEVELS)) << DWELL_FILTER_LEVELS_SHIFT,
                            pattern, place);
    else
        f->depth = filters_parse_number(value, place, 1, MAX_DEPTH);
    free(pattern);
}

/* The number of a time, from 1. */
static uint32_t filters_number_of_time(struct filters *f, uint64_t ns, const char *place)
{
    uint32_t i = 0;
    while (i < f->time_count && f->times_ns[i] != ns)
        i++;
    if (i == DWELL_FILTER_TIMES)
        die(STATUS_OWN_FAILURE, "%s: there can be %d different times for patterns", place, DWELL_FILTER_TIMES);
    if (i == f->time_count)
        f->times_ns[f->time_count++] = ns;
    return i + 1;
}

static void filters_add_time(struct filters *f, const char *value, const char *place)
{
    char *pattern = filters_split(&value);
    const uint64_t ns = filters_parse_time(value, place);
    if (pattern)
        filters_add_pattern(f, filters_number_of_time(f, ns, place) << DWELL_FILTER_TIME_SHIFT, pattern, place);
    else
        f->shortest_ns = ns;
    free(pattern);
}

static void filters_add_level(struct filters *f, const char *value, const char *place)
{
    static const struct {
        const char *text;
        uint32_t action;
    } levels[] = { { "out=", DWELL_FILTER_OUT }, { "counted=", DWELL_FILTER_COUNTED }, { "timed=", FILTER_TIMED } };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const size_t length = strlen(levels[i].text);
        if (strncmp(value, levels[i].text, length) == 0) {
            filters_add_pattern(f, levels[i].action, value + length, place);
            return;
        }
    }
    die(STATUS_OWN_FAILURE, "%s: '%s' is not timed=PATTERN, counted=PATTERN or out=PATTERN", place, value);
}

static void filters_add_size(struct filters *f, const char *value, const char *place)
{
    filters_add_pattern(f, DWELL_FILTER_SUPPRESS, "*", place);
    f->patterns[f->pattern_count - 1].least_size = filters_parse_number(value, place, 1, INT32_MAX);
}

void filters_add(struct filters *f, const char *name, const char *value, const char *place)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(name, actions[i].name) == 0) {
            filters_add_pattern(f, actions[i].action, value, place);
            return;
        }
    }
    if (strcmp(name, "depth") == 0)
        filters_add_depth(f, value, place);
    else if (strcmp(name, "min") == 0 || strcmp(name, "min-duration") == 0)
        filters_add_time(f, value, place);
    else if (strcmp(name, "level") == 0)
        filters_add_level(f, value, place);
    else if (strcmp(name, "min-size") == 0)
        filters_add_size(f, value, place);
    else
        option_refuse(place, name,
                      "only, suppress, ignore, root, callers-of, start-on, stop-on, depth, min, min-size, level");
}

void filters_read(struct filters *f, const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in)
        die(STATUS_OWN_FAILURE, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, in) >= 0; number++) {
        char place[4200];
        line[strcspn(line, "\n")] = '\0';
        char *name = line + strspn(line, " \t");
        if (*name == '\0' || *name == '#')
            continue;
        char *value = name + strcspn(name, " \t");
        if (*value)
            *value++ = '\0';
        value += strspn(value, " \t");
        for (size_t length = strlen(value); length && isspace((unsigned char)value[length - 1]); length--)
            value[length - 1] = '\0';
        snprintf(place, sizeof place, "%.4096s:%d: %s", path, number, name);
        filters_add(f, name, value, place);
    }
    free(line);
    if (ferror(in))
        die(STATUS_OWN_FAILURE, "%s: cannot be read", path);
    fclose(in);
}

bool filters_any(const struct filters *f)
{
    return filters_have_functions(f) || f->depth || f->shortest_ns;
}

bool filters_have_functions(const struct filters *f)
{
    return f->pattern_count || f->earlier;
}

static uint32_t filters_actions(const struct filters *f)
{
    return f->actions | (f->earlier ? FILTER_NOT_TIMED : 0);
}

bool filters_wait(const struct filters *f)
{
    return f->shortest_ns || f->time_count || filters_have_targets(f);
}

bool filters_have_levels(const struct filters *f)
{
    return filters_actions(f) & FILTER_NOT_TIMED;
}

bool filters_have_only_levels(const struct filters *f)
{
    return f->pattern_count && !(filters_actions(f) & ~FILTER_LEVEL) && !f->depth && !f->shortest_ns;
}

/* ---- matching ---- */

struct filter_names {
    const char *linkage;
    char *whole; /* demangled */
    uint64_t offset;
};

static bool filters_pattern_matches(const struct filter_pattern *p, const char *module, const struct symbol *symbol,
                                    const struct filter_names *n)
{
    if (p->least_size && (symbol->size == 0 || symbol->size >= p->least_size))
        return false;
    const struct named_function f = {
        .name = n->whole,
        .linkage_name = n->linkage,
        .module = path_file_name(module),
        .file = symbol->file,
        .line = symbol->line,
        .address = n->offset,
    };
    return function_pattern_matches(&p->of, module, &f);
}

/* Of two limits of levels, the lower one counts; of two times and two levels of probes, the second. */
static uint32_t filters_join(uint32_t before, uint32_t action)
{
    if (action & FILTER_LEVEL)
        before &= ~(FILTER_LEVEL | FILTER_EARLIER);
    const uint32_t special = DWELL_FILTER_LEVELS | DWELL_FILTER_TIME, levels = before & DWELL_FILTER_LEVELS,
                   other = action & DWELL_FILTER_LEVELS, time = action & DWELL_FILTER_TIME;
    return ((before | action) & ~special) | (levels && (!other || levels < other) ? levels : other) |
           (time ? time : before & DWELL_FILTER_TIME);
}

/* The actions of all patterns that match a function, which begins with `action`, and FILTER_TIMED if that is its level.
 * Sets *named if any matches. A level does not select a function. */
static uint32_t filters_judge_symbol(const struct filters *f, const char *module, const struct symbol *symbol,
                                     uint64_t offset, uint32_t action, bool *named)
{
    struct filter_names n = { .linkage = symbol->linkage_name ? symbol->linkage_name : "", .offset = offset };
    n.whole = symbol_demangle(n.linkage);
    bool selected = false;
    for (size_t i = 0; i < f->pattern_count; i++) {
        struct filter_pattern *p = &f->patterns[i];
        if (!filters_pattern_matches(p, module, symbol, &n)) {
            if (!p->matches)
                function_pattern_note_similar(&p->of, n.whole);
            continue;
        }
        p->matches++;
        *named = true;
        selected |= !(p->action & FILTER_LEVEL);
        action = filters_join(action, p->action);
    }
    free(n.whole);
    if (*named && !selected && filters_actions(f) & FILTER_ONLY)
        action |= DWELL_FILTER_SUPPRESS;
    if (action & DWELL_FILTER_SUPPRESS && action & DWELL_FILTER_COUNTED)
        action ^= DWELL_FILTER_COUNTED | DWELL_FILTER_OUT; /* hidden calls are not counted */
    return action & ~FILTER_ONLY;
}

/* ---- the program's modules ---- */

struct filter_module {
    char *path;
    const char *file; /* where it can be read, while it is judged */
    uint8_t build_id[64];
    size_t build_id_length;
    struct dwell_filter *functions;
    size_t count, room;
};

static void filters_add_module(struct filters *f, const char *path)
{
    char *whole = realpath(path, NULL);
    if (!whole)
        return;
    for (size_t i = 0; i < f->module_count; i++) {
        if (strcmp(f->modules[i].path, whole) == 0) {
            free(whole);
            return;
        }
    }
    GROW(f->modules, f->module_count, f->module_room);
    struct filter_module *m = &f->modules[f->module_count++];
    *m = (struct filter_module){ .path = whole, .file = whole };
    m->build_id_length = elf_build_id_of(whole, m->build_id, sizeof m->build_id);
}

/* With LD_TRACE_LOADED_OBJECTS, the loader lists the libraries and does not run the program. */
static void filters_add_libraries(struct filters *f, const char *path)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        die(STATUS_OWN_FAILURE, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = pid < 0 ? NULL : fdopen(ends[0], "r");
    char *line = NULL;
    size_t room = 0;
    while (in && getline(&line, &room, in) >= 0) {
        char *begin = strchr(line, '/'), *end = begin ? strstr(begin, " (0x") : NULL;
        if (!end)
            continue;
        *end = '\0';
        char *arrow = strstr(line, "=> ");
        filters_add_module(f, arrow && arrow[3] == '/' ? arrow + 3 : begin);
    }
    free(line);
    if (in)
        fclose(in);
    int status;
    struct interruptions interruptions = { 0 };
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && interrupted(&interruptions))
        ;
}

/* Adds the program if it is a binary, and its libraries. A static program has no loader that could list them: it would
 * run. The interpreter of a script asks later. */
static void filters_add_program(struct filters *f, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    const bool binary = elf && elf_kind(elf) == ELF_K_ELF, loaded = binary && elf_has_segment(elf, PT_INTERP);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    if (binary)
        filters_add_module(f, path);
    if (loaded)
        filters_add_libraries(f, path);
}

/* The action for a level of an earlier recording, with a mark until a pattern gives the function a level. */
static uint32_t filters_earlier_action(enum dwell_level_of_probes level)
{
    return level == DWELL_PROBES_TIMED     ? 0
           : level == DWELL_PROBES_COUNTED ? FILTER_EARLIER | DWELL_FILTER_COUNTED
                                           : FILTER_EARLIER | DWELL_FILTER_OUT;
}

static void filters_judge_function(const struct filters *f, struct filter_module *m, const struct symbol *symbol,
                                   uint64_t offset, enum dwell_level_of_probes earlier)
{
    bool named = earlier != DWELL_PROBES_TIMED;
    const uint32_t action = filters_judge_symbol(f, m->path, symbol, offset, filters_earlier_action(earlier), &named);
    if (!named)
        return;
    const struct symbol_module as = { m->path, m->build_id, m->build_id_length };
    if (action & FILTER_EARLIER && action & DWELL_FILTER_COUNTED)
        earlier_levels_apply(f->earlier, &as, offset);
    if (f->leveled && action & FILTER_LEVEL && !(action & FILTER_EARLIER))
        function_set_add(f->leveled, &as, offset);
    GROW(m->functions, m->count, m->room);
    m->functions[m->count++] =
        (struct dwell_filter){ .offset = offset, .action = action & ~(FILTER_EARLIER | FILTER_TIMED) };
}

/* Functions with an earlier level, but without a symbol. */
static void filters_judge_unnamed(const struct filters *f, struct filter_module *m, const struct symbol_module *as)
{
    enum dwell_level_of_probes level;
    uint64_t offset;
    for (size_t place = 0; (level = earlier_levels_next(f->earlier, as, &place, &offset)) != DWELL_PROBES_TIMED;)
        filters_judge_function(f, m, &(struct symbol){ 0 }, offset, level);
}

static void filters_judge_module(const struct filters *f, struct filter_module *m, struct binaries *binaries)
{
    const struct symbol_module as = { m->file, m->build_id, m->build_id_length };
    const size_t count = binaries_count(binaries, &as);
    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = binaries_offset(binaries, &as, i);
        const struct symbol symbol = binaries_find(binaries, &as, offset);
        if (i > 0 && offset == binaries_offset(binaries, &as, i - 1))
            continue;
        filters_judge_function(f, m, &symbol, offset,
                               f->earlier ? earlier_levels_find(f->earlier, &as, offset, symbol.linkage_name)
                                          : DWELL_PROBES_TIMED);
    }
    if (f->earlier)
        filters_judge_unnamed(f, m, &as);
    size_t os_call_count = 0;
    struct os_call_symbol *os_calls = count == 0 && f->os_calls ? os_calls_of(&as, &os_call_count) : NULL;
    for (size_t i = 0; i < os_call_count; i++)
        filters_judge_function(f, m, &(struct symbol){ .linkage_name = os_calls_name(os_calls[i].number) },
                               os_calls[i].offset, DWELL_PROBES_TIMED);
    free(os_calls);
}

void filters_find(struct filters *f, const char *program)
{
    struct binaries *binaries = binaries_new();
    filters_add_program(f, program);
    for (size_t i = 0; i < f->module_count; i++)
        filters_judge_module(f, &f->modules[i], binaries);
    binaries_free(binaries);
    for (size_t i = 0; i < f->pattern_count; i++)
        if (f->strict && f->patterns[i].matches == 0)
            die(STATUS_OWN_FAILURE, "%s: pattern '%s' matches no instrumented function of %s or its libraries",
                f->patterns[i].place, f->patterns[i].of.text, program);
}

static bool filters_is_module(const struct filter_module *m, const struct filter_loaded *loaded)
{
    if (m->build_id_length)
        return m->build_id_length == loaded->build_id_length &&
               memcmp(m->build_id, loaded->build_id, m->build_id_length) == 0;
    return strcmp(m->path, loaded->path) == 0;
}

bool filters_judge_loaded(struct filters *f, const struct filter_loaded *loaded)
{
    for (size_t i = 0; i < f->module_count; i++)
        if (filters_is_module(&f->modules[i], loaded))
            return false;
    GROW(f->modules, f->module_count, f->module_room);
    struct filter_module *m = &f->modules[f->module_count++];
    *m = (struct filter_module){
        .path = need_text("%s", loaded->path),
        .file = loaded->file,
        .build_id_length = loaded->build_id_length,
    };
    memcpy(m->build_id, loaded->build_id, sizeof m->build_id);
    if (m->file) {
        struct binaries *binaries = binaries_new();
        filters_judge_module(f, m, binaries);
        binaries_free(binaries);
    }
    m->file = NULL;
    return true;
}

size_t filters_function_count(const struct filters *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->module_count; i++)
        count += f->modules[i].count;
    return count;
}

void filters_warn(const struct filters *f)
{
    const size_t all = f->earlier ? earlier_levels_count(f->earlier) : 0,
                 missing = f->earlier ? earlier_levels_missing(f->earlier) : 0;
    if (missing)
        say("--levels-from: %zu of %zu function%s that %s not timed %s not found", missing, all, all == 1 ? "" : "s",
            all == 1 ? "was" : "were", missing == 1 ? "was" : "were");
    for (size_t i = 0; i < f->pattern_count; i++) {
        const struct filter_pattern *p = &f->patterns[i];
        if (p->matches == 0)
            say("%s: pattern '%s' matched no instrumented function of a recorded program%s", p->place, p->of.text,
                function_pattern_hint(&p->of, ""));
    }
}

/* ---- writing ---- */

/* After so many chunks, all modules are written again into one, so that a process has few to read. */
enum { MAX_CHUNKS = 64 };

static uint64_t filters_ticks(const struct session *session, uint64_t ns)
{
    return multiply_divide(ns, session->header->ticks_per_second, 1000000000);
}

/* Writes a chunk with the modules from `first` on. Returns its offset, or zero if there is no room. */
static uint64_t filters_write_chunk(const struct filters *f, struct dwell_filters *head, size_t first,
                                    const char *pattern, const struct session *session, int fd)
{
    const size_t count = f->module_count - first;
    struct filter_chunk_module *modules = need_memory(count, sizeof *modules);
    for (size_t i = 0; i < count; i++) {
        const struct filter_module *m = &f->modules[first + i];
        modules[i] = (struct filter_chunk_module){ m->path, m->build_id, m->build_id_length, m->functions, m->count };
    }
    const uint64_t offset = filter_chunk_write(head, modules, count, pattern, session, fd);
    free(modules);
    return offset;
}

uint64_t filters_write_levels(const struct filters *f, const struct filters_levels *levels,
                              const struct session *session, int fd)
{
    for (size_t i = 0; i < f->module_count; i++)
        for (size_t j = 0; j < f->modules[i].count; j++)
            f->modules[i].functions[j].action = levels->level;
    struct dwell_filters head = {
        .chunk.kind = DWELL_CHUNK_LEVELS,
        .chunk.link = levels->link,
        .actions = levels->level,
    };
    return filters_write_chunk(f, &head, 0, levels->pattern, session, fd);
}

bool filters_write(struct filters *f, const struct session *session, int fd)
{
    const uint32_t actions = filters_actions(f), levels = actions & FILTER_LEVEL ? FILTER_NOT_TIMED : 0;
    const bool again = f->chunks == MAX_CHUNKS, hides = actions & (FILTER_ONLY | DWELL_FILTER_SUPPRESS);
    const size_t first = again ? 0 : f->modules_written;
    struct dwell_filters filters = {
        .chunk.kind = DWELL_CHUNK_FILTERS,
        .chunk.link = again ? 0 : session->header->first_filters,
        .only = (actions & FILTER_ONLY) != 0,
        .depth = f->depth,
        .starts = (actions & DWELL_FILTER_START) != 0,
        .shortest = filters_ticks(session, f->shortest_ns),
        .actions =
            (actions & ~(FILTER_ONLY | FILTER_TIMED)) | levels | (hides && f->hidden_out ? DWELL_FILTER_HIDDEN_OUT : 0),
    };
    for (uint32_t i = 0; i < f->time_count; i++)
        filters.shortest_in[i] = filters_ticks(session, f->times_ns[i]);
    const uint64_t offset = filters_write_chunk(f, &filters, first, NULL, session, fd);
    if (!offset)
        return false;
    __atomic_store_n(&session->header->first_filters, offset, __ATOMIC_RELEASE);
    f->modules_written = f->module_count;
    f->chunks = again ? 1 : f->chunks + 1;
    return true;
}

void filters_free(struct filters *f)
{
    for (size_t i = 0; i < f->pattern_count; i++) {
        struct filter_pattern *p = &f->patterns[i];
        function_pattern_drop(&p->of);
        free(p->place);
    }
    free(f->patterns);
    for (size_t i = 0; i < f->module_count; i++) {
        free(f->modules[i].path);
        free(f->modules[i].functions);
    }
    free(f->modules);
    earlier_levels_free(f->earlier);
    function_set_free(f->leveled);
}
