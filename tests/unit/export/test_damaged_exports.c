/* Hostile input: the readable part of a damaged session is exported, and the result is valid in its format. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <ftw.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/features.h"
#include "support/example.h"
#include "support/exported.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/success.h"
#include "support/viewed.h"
#include "view/page_session.h"

TestSuite(unit_damaged_exports, .init = cr_redirect_stderr, .timeout = 300);

static uint64_t damage_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static bool can_be_opened(const char *path)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    if (file)
        session_file_close(file);
    return file != NULL;
}

/* Compressed output can be read, and timelines stay within their limits. */
static void view_all(struct analysis *analysis)
{
    enum { ROOM = 100000 };
    struct view_session *view;
    EXPECT_SUCCESS(view = view_session_new(&(struct view_inputs){ .session = analysis },
                                           &(struct view_options){ .detail = ROOM }, &error));
    size_t bytes = 0;
    struct viewed v = viewed_packed(view->main.bytes, view->main.length);
    viewed_drop(&v);
    for (size_t i = 0; i < view->block_count; i++) {
        v = viewed_packed(view->blocks[i].bytes, view->blocks[i].length);
        viewed_drop(&v);
        bytes += view->blocks[i].length;
    }
    cr_assert(lt(sz, bytes, ROOM));
    view_session_free(view);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void export_all(struct analysis *analysis)
{
    const struct export_options options = { 0 };
    size_t length;
    for (const struct export_format *const *each = all_exports(); *each; each++) {
        const struct export_format *format = *each;
        if (!format->write)
            continue; /* see below */
        char *text = exported(analysis, format->name, EXPORT_ELAPSED, &length);
        if (strcmp(format->name, "speedscope") == 0 || strcmp(format->name, "chrome") == 0 ||
            strcmp(format->name, "firefox") == 0) {
            struct json_object *file = json_tokener_parse(text);
            cr_assert(file != NULL, "%s", text);
            json_object_put(file);
        }
        free(text);
    }
    EXPECT_SUCCESS(find_export("sqlite")->write_files(analysis, &options, test_path("damaged.db"), &error));
    view_all(analysis);
    EXPECT_SUCCESS(find_export("ctf")->write_files(analysis, &options, test_path("damaged.ctf"), &error));
    nftw(test_path("damaged.ctf"), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A random place, usually of a nonzero byte: most bytes of the file's units are zero. */
static size_t next_place(const struct bytes *whole, uint64_t *random)
{
    size_t place = damage_random(random) % whole->length;
    for (int tries = 0; tries < 200 && !whole->at[place]; tries++)
        place = damage_random(random) % whole->length;
    return place;
}

static void damage_session(struct writer *w, uint64_t seed, unsigned times)
{
    uint64_t random = seed;
    unsigned opened = 0;
    writer_save(w, test_path("damaged.dwell"));
    struct bytes whole = { malloc(w->file.length), w->file.length, w->file.length };
    memcpy(whole.at, w->file.at, whole.length);
    for (unsigned i = 0; i < times; i++) {
        memcpy(w->file.at, whole.at, whole.length);
        for (uint64_t changes = 1 + damage_random(&random) % 6; changes > 0; changes--)
            w->file.at[next_place(&whole, &random)] = (uint8_t)damage_random(&random);
        FILE *out = fopen(test_path("damaged.dwell"), "wb");
        cr_assert(eq(sz, fwrite(w->file.at, 1, whole.length, out), whole.length));
        cr_assert(eq(int, fclose(out), 0));
        if (!can_be_opened(test_path("damaged.dwell")))
            continue;
        struct analysis analysis;
        load_whole(&analysis, test_path("damaged.dwell"), 1);
        export_all(&analysis);
        analysis_drop(&analysis);
        opened++;
    }
    cr_assert(gt(u32, opened, times / 2));
    free(whole.at);
    writer_free(w);
}

Test(unit_damaged_exports, the_example_session)
{
    damage_session(example_session(SOURCE_PERF), 1, 150);
}

Test(unit_damaged_exports, a_small_session)
{
    damage_session(example_small(), 2, 150);
}

Test(unit_damaged_exports, names_of_all_kinds)
{
    damage_session(bad_session(), 3, 50);
}
