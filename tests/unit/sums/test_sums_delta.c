/* Deltas of a session that grows add up to the sums of the complete session, byte by byte. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/recorded_sessions.h"
#include "sums/sums_delta.h"
#include "support/scenario.h"
#include "support/session_writer.h"

TestSuite(unit_sums_delta, .timeout = 120);

enum { PROCESSES = 3, THREADS = 6, NODES = 20, STATES = 8, MODE = 96, SESSION_ID = 24, BEGIN = 1000 };

/* A session that grows. Each thread belongs to a process, and has a tree of nodes. */
struct growing {
    struct tree_node nodes[THREADS][NODES];
    uint32_t counts[THREADS];
    uint64_t counted[THREADS];
    unsigned threads, state;
    bool complete;
    unsigned hidden; /* the serial number of a thread that cannot be read yet; zero: none */
};

static uint32_t process_of(unsigned thread)
{
    return thread % PROCESSES + 1;
}

/* The runtime stores the parts of a time after the time itself, so readers may see more of the parts. */
static struct tree_node growing_seen(const struct growing *g, struct tree_node n)
{
    if (!g->complete && n.elapsed > 100 && rand() % 2)
        n.elapsed -= (uint64_t)rand() % 100;
    return n;
}

static void growing_save(const struct growing *g, const char *path)
{
    struct writer *w = writer_new();
    write_header(w, SESSION_ID, 77, 8);
    write_header(w, MODE, 1, 4);
    for (unsigned i = 0; i < g->threads; i++)
        if (i < PROCESSES)
            write_process(w, i + 1, 70 + i, "/bin/p");
    for (unsigned i = 0; i < g->threads; i++) {
        char name[40];
        struct tree_node seen[NODES];
        if (i + 1 == g->hidden)
            continue;
        snprintf(name, sizeof name, "thread %u.%u", i, g->state / 3);
        write_thread(w, process_of(i), i + 1, 100 + i, SOURCE_PERF, name);
        for (uint32_t j = 0; j < g->counts[i]; j++)
            seen[j] = growing_seen(g, g->nodes[i][j]);
        write_tree(w, process_of(i), i + 1, seen, g->counts[i]);
        const uint64_t pairs[][2] = { { 0x9000, g->counted[i] / 2 }, { 0x9000, g->counted[i] - g->counted[i] / 2 } };
        write_counts(w, process_of(i), i + 1, 0, pairs, 2);
    }
    writer_save(w, path);
    writer_free(w);
}

static void growing_grow(struct growing *g)
{
    g->state++;
    if (g->threads < THREADS)
        g->threads += (unsigned)rand() % 3;
    g->threads = g->threads > THREADS ? THREADS : g->threads;
    for (unsigned i = 0; i < g->threads; i++) {
        if (rand() % 3 == 0) /* nothing happens on the thread */
            continue;
        g->counted[i] += (uint64_t)rand() % 3;
        for (int more = rand() % 4; more > 0 && g->counts[i] < NODES; more--) {
            const uint32_t parent = (uint32_t)rand() % (g->counts[i] + 1);
            g->nodes[i][g->counts[i]++] =
                (struct tree_node){ .function = 0x400000 + 16 * (uint64_t)(g->counts[i] % 7), .parent = parent };
        }
        for (uint32_t j = 0; j < g->counts[i]; j++) {
            struct tree_node *n = &g->nodes[i][j];
            const uint64_t time = rand() % 2 ? (uint64_t)rand() % 1000 : 0;
            n->calls += (uint64_t)rand() % 3;
            n->elapsed += time;
            n->flagged += rand() % 2 ? time : 0;
            n->blocked += rand() % 3 ? 0 : time / 2;
            n->preempted += rand() % 3 ? 0 : time / 4;
        }
    }
}

static struct session_file *opened(const char *path)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s", error);
    return file;
}

static char *contents(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL, "%s", path);
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, length);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(out);
    fclose(in);
    return bytes;
}

static void check_same_file(const char *one, const char *other, unsigned seed)
{
    size_t a, b;
    char *x = contents(one, &a), *y = contents(other, &b);
    cr_assert(a == b && memcmp(x, y, a) == 0, "seed %u", seed);
    free(x);
    free(y);
}

static void delta_path(char *path, unsigned number)
{
    char name[40];
    snprintf(name, sizeof name, "delta%u", number);
    snprintf(path, 4096, "%s", test_path(name));
}

/* Returns the number of deltas, which it writes to files. */
static unsigned take_deltas(unsigned seed)
{
    struct growing g = { .threads = 1 };
    struct error error = { NULL };
    struct sums_deltas *deltas = sums_deltas_new(BEGIN);
    unsigned count = 0;
    srand(seed);
    for (unsigned state = 0; state < STATES; state++) {
        char path[4096];
        growing_grow(&g);
        g.complete = state + 1 == STATES;
        g.hidden = !g.complete && rand() % 3 == 0 && g.threads > 1 ? g.threads - 1 : 0;
        growing_save(&g, test_path("session"));
        struct sums *delta = sums_deltas_take(deltas, test_path("session"), BEGIN * (state + 2), g.complete, &error);
        cr_assert(error.text == NULL, "%s", error.text);
        cr_assert(delta || !g.complete);
        if (!delta)
            continue;
        delta_path(path, count++);
        cr_assert(sums_write(delta, path) == NULL);
        sums_free(delta);
        cr_assert(eq(u32, sums_deltas_count(deltas), count));
    }
    sums_deltas_free(deltas);
    return count;
}

static void merge_deltas(unsigned count, const char *path)
{
    struct error error = { NULL };
    struct sums *all = sums_new();
    bool added[STATES] = { false };
    for (unsigned left = count; left; left--) {
        char name[4096];
        unsigned next;
        do
            next = (unsigned)rand() % count;
        while (added[next]);
        added[next] = true;
        delta_path(name, next);
        struct session_file *file = opened(name);
        cr_assert(eq(sz, file->sums.summed_count, 1));
        cr_assert(eq(u32, recorded_sessions_last(&file->sums.summed[0]), next + 1));
        cr_assert(eq(u32, recorded_sessions_held(&file->sums.summed[0]), 1));
        cr_assert(eq(u32, file->sums.summed[0].record.deltas, next + 1 == count ? count : 0));
        cr_assert(sums_add(all, file, &error), "%s", error.text);
        session_file_close(file);
        if (left == count / 2 + 1 && left > 1) { /* the rest is added to a sum that was written */
            cr_assert(sums_write(all, test_path("half")) == NULL);
            sums_free(all);
            all = sums_new();
            file = opened(test_path("half"));
            cr_assert(sums_add(all, file, &error), "%s", error.text);
            session_file_close(file);
        }
    }
    cr_assert(sums_write(all, path) == NULL);
    sums_free(all);
}

Test(unit_sums_delta, deltas_of_random_sessions_add_up_to_the_bytes_of_the_whole)
{
    test_folder();
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct error error = { NULL };
        const unsigned count = take_deltas(seed);
        cr_assert(count >= 2);
        struct sums *whole = sums_new();
        cr_assert(sums_add_recorded(whole, test_path("session"), (struct sums_shard){ 0, 1 }, 1, &error), "%s",
                  error.text);
        cr_assert(sums_write(whole, test_path("whole")) == NULL);
        sums_free(whole);
        merge_deltas(count, test_path("merged"));
        check_same_file(test_path("whole"), test_path("merged"), seed);
    }
}

/* Two calls of a thread, then none, then one more on a path of its own. */
Test(unit_sums_delta, a_delta_has_only_the_paths_that_changed)
{
    struct growing g = { .threads = 2, .counts = { 3, 1 } };
    struct error error = { NULL };
    struct sums_deltas *deltas = sums_deltas_new(BEGIN);
    g.nodes[0][0] = (struct tree_node){ .function = 0x400100, .calls = 1, .elapsed = 100, .flagged = 40 };
    g.nodes[0][1] = (struct tree_node){ .function = 0x400200, .parent = 1, .calls = 2, .elapsed = 50 };
    g.nodes[0][2] = (struct tree_node){ .function = 0x400300, .parent = 1, .calls = 4, .elapsed = 60 };
    g.nodes[1][0] = (struct tree_node){ .function = 0x400100, .calls = 1, .elapsed = 7 };
    g.complete = true; /* nothing is torn */
    growing_save(&g, test_path("grows"));
    struct sums *first = sums_deltas_take(deltas, test_path("grows"), 2 * BEGIN, false, &error);
    cr_assert(first != NULL, "%s", error.text);
    cr_assert(eq(sz, first->profile->node_count, 6), "two threads and four paths");
    cr_assert(eq(u64, first->sessions[0].summed.record.begin, BEGIN));
    cr_assert(sums_deltas_take(deltas, test_path("grows"), 3 * BEGIN, false, &error) == NULL);
    cr_assert(error.text == NULL);
    g.nodes[0][2].calls = 5;
    g.nodes[0][2].elapsed = 75;
    growing_save(&g, test_path("grows"));
    struct sums *second = sums_deltas_take(deltas, test_path("grows"), 4 * BEGIN, false, &error);
    cr_assert(second != NULL);
    const struct profile *p = second->profile;
    cr_assert(eq(sz, p->node_count, 3), "the thread, the caller and the path");
    cr_assert(eq(u64, p->nodes[1].calls, 0));
    cr_assert(eq(u64, p->nodes[1].elapsed, 0));
    cr_assert(eq(u64, p->nodes[2].calls, 1));
    cr_assert(eq(u64, p->nodes[2].elapsed, 15));
    cr_assert(eq(u64, second->sessions[0].summed.record.begin, 2 * BEGIN), "the end of the one before");
    cr_assert(eq(u64, second->sessions[0].summed.record.counts[0], 1), "enters");
    sums_free(first);
    sums_free(second);
    sums_deltas_free(deltas);
}

/* A call's time is seen before the parts of it, which are stored later. A delta has no more of them than time. */
Test(unit_sums_delta, parts_of_a_time_wait_for_more_time)
{
    struct growing g = { .threads = 1, .counts = { 1 }, .complete = true };
    struct error error = { NULL };
    struct sums_deltas *deltas = sums_deltas_new(BEGIN);
    const struct tree_node seen[] = { { .elapsed = 1000, .flagged = 20 },
                                      { .elapsed = 1010, .flagged = 905, .blocked = 7, .preempted = 600 },
                                      { .elapsed = 2010, .flagged = 905, .blocked = 7, .preempted = 600 } },
                           wanted[] = { { .elapsed = 1000, .flagged = 20 },
                                        { .elapsed = 10, .flagged = 10, .blocked = 7, .preempted = 3 },
                                        { .elapsed = 1000, .flagged = 875, .preempted = 597 } };
    for (unsigned i = 0; i < 3; i++) {
        g.nodes[0][0] = seen[i];
        g.nodes[0][0].function = 0x400100;
        g.nodes[0][0].calls = 1;
        growing_save(&g, test_path("torn"));
        struct sums *delta = sums_deltas_take(deltas, test_path("torn"), (i + 2) * BEGIN, false, &error);
        cr_assert(delta != NULL, "%s", error.text);
        const struct profile_node *node = &delta->profile->nodes[1];
        cr_assert(eq(u64, node->elapsed, wanted[i].elapsed));
        cr_assert(eq(u64, node->flagged, wanted[i].flagged));
        cr_assert(eq(u64, node->blocked, wanted[i].blocked));
        cr_assert(eq(u64, node->preempted, wanted[i].preempted));
        sums_free(delta);
    }
    sums_deltas_free(deltas);
}
