/* Compares two profiles by sorted descriptions of their nodes. */
#include "support/same_profile.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/collect.h"

/* One line for each node with values: its thread, its path and its values. */
static void profile_print_node(FILE *out, const struct profile *p, uint32_t node)
{
    const struct profile_node *n = &p->nodes[node];
    if (n->parent == PROFILE_NONE) {
        for (size_t i = 0; i < p->thread_count; i++)
            if (p->threads[i].root == node)
                fprintf(out, "%u.%u", p->threads[i].process, p->threads[i].thread);
        return;
    }
    profile_print_node(out, p, n->parent);
    const struct profile_function *f = &p->functions[n->function];
    fprintf(out, "/%s+%" PRIx64, p->modules[f->module].path, f->offset);
}

static int profile_compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *profile_describe(const struct profile *p)
{
    char **lines = calloc(p->node_count + 1, sizeof *lines), *text = NULL;
    size_t count = 0, length;
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct profile_node *n = &p->nodes[i];
        FILE *out = open_memstream(&lines[count], &length);
        profile_print_node(out, p, i);
        fprintf(out,
                " %" PRIu64 " calls, %" PRIu64 " elapsed, %" PRIu64 " flagged, %" PRIu64 " blocked, %" PRIu64
                " preempted, %" PRIu64 " faults, %" PRIu64 " shortest, %" PRIu64 " longest\n",
                n->calls, n->elapsed, n->flagged, n->blocked, n->preempted, n->page_faults, n->shortest, n->longest);
        fclose(out);
        count++;
    }
    qsort(lines, count, sizeof *lines, profile_compare_lines);
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < count; i++) {
        fputs(lines[i], out);
        free(lines[i]);
    }
    fprintf(out, "%" PRIu64 " enters, %" PRIu64 " exits, %" PRIu64 " left, %" PRIu64 " marks\n", p->counts.enters,
            p->counts.exits, p->counts.unwound, (uint64_t)p->mark_count);
    fprintf(out, "%" PRIu64 " pauses, %" PRIu64 " paused\n", p->counts.pauses, p->counts.paused);
    fclose(out);
    free(lines);
    return text;
}

void check_same_profile(const struct profile *p, const char *path)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s", error);
    struct profile *wanted = collect_profile(file, 1);
    char *a = profile_describe(p), *b = profile_describe(wanted);
    cr_assert(eq(str, a, b));
    free(a);
    free(b);
    profile_free(wanted);
    session_file_close(file);
}
