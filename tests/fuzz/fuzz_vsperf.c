/*
 * The fuzzer's target for imports: reads bytes as VSPerfReport's files, separated by form feeds, and makes call trees.
 * A scaled tree must have each function's own time and calls from the report, completely and once.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "vsperf/vsperf_import.h"

static void check_sums(const struct vsperf *v, const struct vsperf_trees *t)
{
    struct vsperf_node *sums = calloc(v->row_count + 1, sizeof *sums);
    for (size_t i = 0; i < t->node_count; i++) {
        const struct vsperf_node *node = &t->nodes[i];
        sums[node->row].application += node->application;
        sums[node->row].flagged += node->flagged;
        sums[node->row].calls += node->calls;
    }
    for (size_t i = 0; t->scaled && i < v->row_count; i++) {
        const struct times *wanted = &v->rows[i].times;
        if (strcmp(v->functions[v->rows[i].function].name, "(not in the report)") == 0)
            continue;
        if (sums[i].application != wanted->application_exclusive || sums[i].calls != wanted->calls ||
            sums[i].application + sums[i].flagged != wanted->elapsed_exclusive)
            abort();
    }
    free(sums);
}

static void check_order(const struct vsperf *v, const struct vsperf_trees *t)
{
    for (size_t process = 0; process < v->process_count; process++)
        for (size_t i = t->first[process]; i < t->first[process + 1]; i++)
            if (t->nodes[i].parent > i - t->first[process] || v->rows[t->nodes[i].row].process != process)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = { NULL };
    struct vsperf *v = vsperf_new(&error);
    bool good = true;
    for (size_t at = 0; good && at <= size;) {
        const uint8_t *end = size > at ? memchr(data + at, '\f', size - at) : NULL;
        const size_t length = end ? (size_t)(end - data) - at : size - at;
        enum vsperf_kind kind;
        good = vsperf_read(v, "file", data + at, length, &kind);
        at += length + 1;
    }
    good = good && vsperf_complete(v, "file");
    if (!good && (!error.text || !error.text[0]))
        abort(); /* an error must have a message */
    if (good) {
        struct vsperf_trees trees = vsperf_make_trees(v);
        check_sums(v, &trees);
        check_order(v, &trees);
        vsperf_drop_trees(&trees);
    }
    vsperf_free(v);
    error_drop(&error);
    return 0;
}
