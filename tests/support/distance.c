/* Compares the call paths of two sessions by their shares of elapsed time. */
#include "support/distance.h"
#include "support/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/rollup.h"
#include "tables/views.h"

struct path {
    char *names; /* from the root, separated by newlines */
    double exclusive, inclusive;
};

struct paths {
    struct path *list;
    size_t count;
};

static int distance_compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct path *)a)->names, ((const struct path *)b)->names);
}

/* Functions are identified by name and module here, because their numbers differ between sessions. */
static struct paths distance_read_paths(const char *session)
{
    struct analysis analysis;
    load_whole(&analysis, session, 1);
    struct profile *joined = rollup_join_threads(analysis.profile);
    struct rollup *r = rollup_new(joined);
    char **names = need_memory(joined->node_count, sizeof *names);
    struct paths paths = { need_memory(joined->node_count, sizeof *paths.list), 0 };
    const double whole = (double)r->session.elapsed_inclusive;
    for (size_t i = 0; i < joined->node_count; i++) {
        const struct profile_node *node = &joined->nodes[i];
        if (node->parent == PROFILE_NONE) {
            names[i] = need_copy("", 0);
            continue;
        }
        const struct profile_function *f = &joined->functions[node->function];
        const struct profile_module *m = &joined->modules[f->module];
        const uint32_t module = profile_module(analysis.profile, m->path, m->build_id, m->build_id_length);
        const struct function_name *name = &analysis.names[profile_function(analysis.profile, module, f->offset)];
        if (asprintf(&names[i], "%s%s@%s\n", names[node->parent], name->name, name->module) < 0)
            abort();
        const struct times *t = &r->nodes[i];
        paths.list[paths.count++] = (struct path){
            strdup(names[i]),
            (double)t->elapsed_exclusive / whole,
            (double)t->elapsed_inclusive / whole,
        };
    }
    for (size_t i = 0; i < joined->node_count; i++)
        free(names[i]);
    free(names);
    rollup_free(r);
    profile_free(joined);
    analysis_drop(&analysis);
    qsort(paths.list, paths.count, sizeof *paths.list, distance_compare_paths);
    return paths;
}

static void distance_drop_paths(struct paths *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->list[i].names);
    free(p->list);
}

struct distance distance_of(const char *one, const char *other)
{
    const struct path nothing = { NULL, 0, 0 };
    struct paths a = distance_read_paths(one), b = distance_read_paths(other);
    struct distance differences = { 0, 0 }, sums = { 0, 0 };
    for (size_t i = 0, j = 0; i < a.count || j < b.count;) {
        const int order = i == a.count ? 1 : j == b.count ? -1 : distance_compare_paths(&a.list[i], &b.list[j]);
        const struct path *x = order <= 0 ? &a.list[i] : &nothing, *y = order >= 0 ? &b.list[j] : &nothing;
        differences.exclusive += fabs(x->exclusive - y->exclusive);
        differences.inclusive += fabs(x->inclusive - y->inclusive);
        sums.exclusive += x->exclusive + y->exclusive;
        sums.inclusive += x->inclusive + y->inclusive;
        i += order <= 0;
        j += order >= 0;
    }
    distance_drop_paths(&a);
    distance_drop_paths(&b);
    return (struct distance){ differences.exclusive / sums.exclusive, differences.inclusive / sums.inclusive };
}
