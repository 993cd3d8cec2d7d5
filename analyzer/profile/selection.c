/* A selected part of a session: which threads and processes its names match. */
#include "profile/selection.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"

void selection_add_name(struct selection_names *names, const char *name)
{
    GROW(names->list, names->count, names->room);
    names->list[names->count++] = need_copy(name, strlen(name));
}

void selection_names_free(struct selection_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

void selection_free_found(struct selection *s)
{
    if (s->within)
        thread_ranges_free(s->within);
    free(s->within);
    s->within = NULL;
    for (size_t i = 0; i < s->title_count; i++)
        free(s->titles[i]);
    free(s->titles);
    s->titles = NULL;
    s->title_count = 0;
}

void selection_free(struct selection *s)
{
    selection_free_found(s);
    selection_names_free(&s->threads);
    selection_names_free(&s->processes);
}

static bool selection_name_is_number(const char *text, uint32_t number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%" PRIu32, number);
    return strcmp(text, digits) == 0;
}

size_t thread_title_length(const char *title)
{
    const char *number = strrchr(title, '#');
    return number ? (size_t)(number - title) : strlen(title);
}

/* With its number, or without. */
static bool selection_name_matches_title(const char *text, const char *title)
{
    const size_t length = thread_title_length(title);
    return fnmatch(text, title, 0) == 0 || (strlen(text) == length && strncmp(text, title, length) == 0);
}

static bool selection_name_matches_thread(const char *text, const struct selection *s, const struct session_file *file,
                                          const struct trace_thread *t)
{
    const size_t index = (size_t)(t - file->threads);
    return selection_name_is_number(text, t->tid) || fnmatch(text, t->name, 0) == 0 ||
           (index < s->title_count && s->titles[index] && selection_name_matches_title(text, s->titles[index]));
}

/* Compares the name that the program gave the process, and the name of its executable. */
static bool selection_name_matches_process(const char *text, const struct trace_process *p)
{
    return selection_name_is_number(text, p->pid) || (p->name[0] && fnmatch(text, p->name, 0) == 0) ||
           fnmatch(text, path_file_name(p->path), 0) == 0;
}

bool selection_takes_process(const struct selection *s, const struct session_file *file, uint32_t process)
{
    if (!s || s->processes.count == 0)
        return true;
    const struct trace_process *p = session_file_process(file, process);
    for (size_t i = 0; p && i < s->processes.count; i++)
        if (selection_name_matches_process(s->processes.list[i], p))
            return true;
    return false;
}

static bool selection_has_thread(const struct selection_shard *shard, const struct session_file *file, uint32_t thread)
{
    return !shard->count || session_file_thread_index(file, thread) % shard->count == shard->number;
}

/* A shard has consecutive chunks of the file, so that it reads one part of it. The tree of a thread is in several
 * chunks that belong together. */
bool selection_takes_chunk(const struct selection *s, const struct session_file *file, const struct trace_chunk *chunk)
{
    if (!s || !s->chunks.count)
        return true;
    if (chunk->kind == DWELL_CHUNK_CALL_TREE)
        return selection_has_thread(&s->chunks, file, chunk->thread);
    const uint64_t place = (uint64_t)(chunk - file->chunks);
    return place * s->chunks.count / file->chunk_count == s->chunks.number;
}

bool selection_takes(const struct selection *s, const struct session_file *file, uint32_t process, uint32_t thread)
{
    if (!selection_takes_process(s, file, process) || (s && !selection_has_thread(&s->share, file, thread)))
        return false;
    if (!s || s->threads.count == 0)
        return true;
    const struct trace_thread *t = session_file_thread(file, thread);
    for (size_t i = 0; t && i < s->threads.count; i++)
        if (selection_name_matches_thread(s->threads.list[i], s, file, t))
            return true;
    return false;
}

static bool selection_is_known_thread(const char *text, const struct selection *s, const struct session_file *file)
{
    for (size_t i = 0; i < file->thread_count; i++)
        if (selection_name_matches_thread(text, s, file, &file->threads[i]))
            return true;
    return false;
}

static bool selection_is_known_process(const char *text, const struct session_file *file)
{
    for (size_t i = 0; i < file->process_count; i++)
        if (selection_name_matches_process(text, &file->processes[i]))
            return true;
    return false;
}

const char *selection_unknown_name(const struct selection *s, const struct session_file *file, const char **what)
{
    *what = "thread";
    for (size_t i = 0; i < s->threads.count; i++)
        if (!selection_is_known_thread(s->threads.list[i], s, file))
            return s->threads.list[i];
    *what = "process";
    for (size_t i = 0; i < s->processes.count; i++)
        if (!selection_is_known_process(s->processes.list[i], file))
            return s->processes.list[i];
    return NULL;
}
