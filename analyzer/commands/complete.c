/* dwell complete: prints what a shell offers while a line is typed. Only the completions of shells call it, so it is in
 * no list of commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/analysis.h"
#include "base/memory.h"
#include "base/visible.h"
#include "commands/commands.h"
#include "symbols/display_name.h"
#include "symbols/short_name.h"
#include "symbols/symbols.h"
#include "trace/session_file.h"
#include "trace/symbol_table.h"

static int complete_compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct complete_names {
    const char *prefix;
    char **list;
    size_t count, room;
};

/* Adds it as views show it, but without return type and parameters, if it begins with the prefix and can be shown by a
 * terminal. */
static void complete_add(struct complete_names *names, const char *whole)
{
    char *displayed = display_name(whole), *name = short_name_of(displayed), *shown = visible_text(name);
    const bool fits = *name && strncmp(name, names->prefix, strlen(names->prefix)) == 0 && strcmp(name, shown) == 0;
    free(shown);
    free(displayed);
    if (!fits) {
        free(name);
        return;
    }
    GROW(names->list, names->count, names->room);
    names->list[names->count++] = name;
}

static bool complete_is_small(const char *path)
{
    enum { QUICKLY_READ = 64 << 20 };
    struct stat status;
    return stat(path, &status) == 0 && status.st_size <= QUICKLY_READ;
}

/* All functions that have rows. */
static void complete_add_functions(struct complete_names *names, const char *path)
{
    struct error error = { NULL };
    struct analysis analysis;
    if (!analysis_load(&analysis, path, &(struct analysis_options){ 0 }, &error)) {
        error_drop(&error);
        return;
    }
    for (uint32_t i = 0; i < analysis.profile->function_count; i++)
        complete_add(names, analysis.names[i].name);
    analysis_drop(&analysis);
}

/* All functions that the session has names of. Some of them may have no calls, but no event is read. */
static void complete_add_symbols(struct complete_names *names, const char *path)
{
    const char *wrong;
    struct session_file *file = session_file_open_late(path, &wrong);
    if (!file)
        return;
    for (size_t i = 0; i < file->code.symbol_count; i++) {
        const struct trace_symbol *symbol = &file->code.symbols[i];
        char *whole = symbol_demangle_of_file(symbol->name, symbol_table_path(file, symbol->file));
        complete_add(names, whole);
        free(whole);
    }
    session_file_close(file);
}

/* Prints each name once. */
static void complete_functions(const char *path, const char *prefix)
{
    struct complete_names names = { .prefix = prefix };
    if (complete_is_small(path))
        complete_add_functions(&names, path);
    else
        complete_add_symbols(&names, path);
    if (names.count)
        qsort(names.list, names.count, sizeof *names.list, complete_compare_names);
    for (size_t i = 0; i < names.count; i++) {
        if (i + 1 == names.count || strcmp(names.list[i], names.list[i + 1]) != 0)
            puts(names.list[i]);
    }
    for (size_t i = 0; i < names.count; i++)
        free(names.list[i]);
    free(names.list);
}

int command_complete(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "functions") != 0 || argc > 4)
        die(STATUS_ERROR, "complete: give functions [FILE [PREFIX]]");
    complete_functions(argc > 2 && *argv[2] ? argv[2] : DEFAULT_SESSION, argc > 3 ? argv[3] : "");
    return finish_output();
}
