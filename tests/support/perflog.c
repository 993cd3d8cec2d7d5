/* Reads logs from texts and files for tests of the PerfLog reader. */
#include "support/perflog.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

void log_quietly(void)
{
    cr_assert(freopen("/dev/null", "w", stderr) != NULL);
}

static struct perflog *log_read(FILE *in, bool instances)
{
    struct perflog *log = perflog_new(instances);
    cr_assert(in != NULL);
    cr_assert(perflog_load(log, in, "test.log"));
    perflog_finish(log, 0);
    fclose(in);
    return log;
}

struct perflog *log_of_bytes(const void *bytes, size_t length, bool instances)
{
    return log_read(fmemopen((void *)bytes, length, "rb"), instances);
}

struct perflog *log_of(const char *text)
{
    return log_of_bytes(text, strlen(text), false);
}

struct perflog *log_of_file(const char *name, bool instances)
{
    char path[4096];
    snprintf(path, sizeof path, DWELL_GOLDEN "/perflog/%s", name);
    return log_read(fopen(path, "rb"), instances);
}

struct rows rows_of(const struct perflog *log, bool instances)
{
    struct rows rows;
    rows.list = perflog_rows(log, instances, &rows.count);
    return rows;
}

const struct perflog_row *row_of(const struct rows *rows, const char *app, const char *marker)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->list[i].app, app) == 0 && strcmp(rows->list[i].marker, marker) == 0)
            return &rows->list[i];
    cr_fatal("no row %s of %s", marker, app);
}
