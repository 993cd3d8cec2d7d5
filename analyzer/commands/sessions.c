/* A list of session files without duplicates: expands globs and loads the listed files as one analysis. */
#include "commands/sessions.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "commands/shared_options.h"
#include "commands/within_values.h"
#include "tables/views.h"

static void sessions_add_file(struct session_list *list, const char *path)
{
    GROW(list->paths, list->count, list->room);
    list->paths[list->count++] = need_copy(path, strlen(path));
}

void session_list_add(struct session_list *list, const char *argument)
{
    struct stat status;
    glob_t found = { 0 };
    if (!strpbrk(argument, "*?[") || stat(argument, &status) == 0) {
        sessions_add_file(list, argument);
        return;
    }
    if (glob(argument, 0, NULL, &found) != 0)
        die(STATUS_ERROR, "%s: no file matches", argument);
    for (size_t i = 0; i < found.gl_pathc; i++)
        sessions_add_file(list, found.gl_pathv[i]);
    globfree(&found);
}

static bool sessions_is_same_path(const char *path, const char *other)
{
    struct stat x, y;
    return stat(path, &x) == 0 && stat(other, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void session_list_unique(struct session_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool known = false;
        for (size_t j = 0; j < kept && !known; j++)
            known = sessions_is_same_path(list->paths[i], list->paths[j]);
        if (known)
            free(list->paths[i]);
        else
            list->paths[kept++] = list->paths[i];
    }
    list->count = kept;
}

void session_list_drop(struct session_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
}

void session_list_need_one(const struct session_list *list, const char *columns)
{
    if (list->count > 1)
        die(STATUS_ERROR, "--columns: %s need a single session", columns);
}

void session_list_need_whole(const struct session_list *list, const struct shared_options *shared)
{
    if (list->count > 1 && selection_is_requested(&shared->load.selection))
        die(STATUS_ERROR, "--from, --to, --thread, --process and --root take one session at a time");
}

void session_list_load(struct session_list *list, struct analysis *analysis, const struct shared_options *shared)
{
    static const char *const usual[] = { DEFAULT_SESSION };
    struct error error = { NULL };
    session_list_unique(list);
    session_list_need_whole(list, shared);
    const char *const *paths = list->count ? (const char *const *)list->paths : usual;
    struct analysis_options load = shared_options_of_load(shared);
    if (list->count <= 1)
        within_values_find(*paths, &load);
    if (!analysis_load_several(analysis, paths, list->count ? list->count : 1, &load, &error))
        die_of(&error);
    die_enter(DIE_WORKS);
    option_check_times("--min", shared->min, analysis->summary.samples, paths[0]);
}
