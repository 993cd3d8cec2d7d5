#include "report/slices.h"

#include <stdio.h>

#include "base/message.h"

void slice_request_drop(struct slice_request *r)
{
    slice_free(&r->slice);
}

bool slice_is_asked_for(const struct slice_request *r)
{
    return r && (r->root || r->slice.threads.count || r->slice.processes.count);
}

void slice_find(struct slice_request *r, const struct session_file *file, unsigned jobs)
{
    (void)jobs;
    const char *what, *name = slice_unknown_name(&r->slice, file, &what);
    if (name)
        die(STATUS_ERROR, "%s: no %s '%s'; dwell report --by %s lists them", file->path, what, name, what);
}

static void describe_names(FILE *out, const char *what, const struct slice_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        fprintf(out, "%s%s", i ? " or " : what, names->list[i]);
}

/* Before each part but the first. */
static const char *comma(FILE *out)
{
    return ftell(out) > 0 ? ", " : "";
}

char *slice_describe(const struct slice_request *r)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        die(STATUS_ERROR, "out of memory");
    describe_names(out, "thread ", &r->slice.threads);
    if (r->slice.processes.count)
        fputs(comma(out), out);
    describe_names(out, "process ", &r->slice.processes);
    if (r->root)
        fprintf(out, "%sin calls of %s", comma(out), r->root);
    if (fclose(out) != 0)
        die(STATUS_ERROR, "out of memory");
    return text;
}
