/* Compares outputs with the files in tests/golden, or rewrites those files. */
#include "support/golden.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

static char *golden_read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return strdup("");
    char *text = NULL;
    size_t length, got;
    FILE *copy = open_memstream(&text, &length);
    char part[4096];
    while ((got = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, got, copy);
    fclose(in);
    fclose(copy);
    return text;
}

static void golden_write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    cr_assert(out != NULL, "%s", path);
    fputs(text, out);
    cr_assert(eq(int, fclose(out), 0));
}

void check_text(const char *text, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, DWELL_GOLDEN "/%s", name);
    if (getenv("DWELL_UPDATE_GOLDEN"))
        golden_write_file(path, text);
    char *wanted = golden_read_file(path);
    cr_assert(eq(str, (char *)text, wanted), "not as in tests/golden/%s", name);
    free(wanted);
}

void check_golden(const char *arguments, const char *name)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 0), "dwell %s", arguments);
    cr_assert(eq(str, r.err, ""));
    check_text(r.out, name);
    ran_drop(&r);
}
