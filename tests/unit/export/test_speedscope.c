/* The speedscope format, read by json-c: one profile for each thread, with unchanged names in its frames. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/exported.h"

TestSuite(unit_speedscope);

static struct json_object *speedscope_parse(const struct analysis *analysis, enum export_time time)
{
    size_t length;
    char *text = exported(analysis, "speedscope", time, &length);
    struct json_object *file = json_tokener_parse(text);
    cr_assert(file != NULL, "%s", text);
    free(text);
    return file;
}

static struct json_object *speedscope_get(struct json_object *object, const char *key)
{
    struct json_object *value;
    cr_assert(json_object_object_get_ex(object, key, &value), "no %s", key);
    return value;
}

static struct json_object *speedscope_at(struct json_object *object, const char *key, size_t index)
{
    struct json_object *list = speedscope_get(object, key);
    cr_assert(lt(sz, index, json_object_array_length(list)));
    return json_object_array_get_idx(list, index);
}

static char *string_of(struct json_object *object, const char *key)
{
    return (char *)json_object_get_string(speedscope_get(object, key));
}

/* The frames of a sample as "main/handle 45000". */
static char *path_of(struct json_object *file, struct json_object *profile, size_t index)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    struct json_object *sample = speedscope_at(profile, "samples", index);
    for (size_t i = 0; i < json_object_array_length(sample); i++) {
        const size_t frame = (size_t)json_object_get_uint64(json_object_array_get_idx(sample, i));
        fprintf(out, "%s%s", i ? "/" : "",
                string_of(speedscope_at(speedscope_get(file, "shared"), "frames", frame), "name"));
    }
    fprintf(out, " %lu", json_object_get_uint64(speedscope_at(profile, "weights", index)));
    fclose(out);
    return text;
}

static void speedscope_expect_paths(struct json_object *file, size_t thread, const char *const *paths, size_t count)
{
    struct json_object *profile = speedscope_at(file, "profiles", thread);
    cr_assert(eq(sz, json_object_array_length(speedscope_get(profile, "samples")), count));
    cr_assert(eq(sz, json_object_array_length(speedscope_get(profile, "weights")), count));
    for (size_t i = 0; i < count; i++) {
        char *path = path_of(file, profile, i);
        cr_assert(eq(str, path, (char *)paths[i]));
        free(path);
    }
}

#define EXPECT_PATHS(file, thread, ...)                                                                                \
    speedscope_expect_paths(file, thread, (const char *const[]){ __VA_ARGS__ },                                        \
                            sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

#define PRICE "price_of(shop::Item const&, int)"

Test(unit_speedscope, each_thread_has_a_profile)
{
    struct analysis analysis = loaded_of(example_session(SOURCE_PERF));
    struct json_object *file = speedscope_parse(&analysis, EXPORT_ELAPSED);
    cr_assert(eq(sz, json_object_array_length(speedscope_get(file, "profiles")), 3));
    cr_assert(eq(str, string_of(speedscope_at(file, "profiles", 0), "name"), "shop (1000) shop (1000)"));
    cr_assert(eq(str, string_of(speedscope_at(file, "profiles", 1), "name"), "shop (1000) pricing (1002)"));
    cr_assert(eq(str, string_of(speedscope_at(file, "profiles", 2), "name"), "worker (1001) worker (1001)"));
    cr_assert(eq(u64, json_object_get_uint64(speedscope_get(file, "activeProfileIndex")), 0));
    cr_assert(eq(str, string_of(speedscope_at(file, "profiles", 0), "unit"), "nanoseconds"));
    cr_assert(eq(u64, json_object_get_uint64(speedscope_get(speedscope_at(file, "profiles", 0), "endValue")), 142000));
    /* The heaviest first, as in speedscope's view Left Heavy: handle has 60000, audit 40000. */
    EXPECT_PATHS(file, 0, "main 42000", "main/handle 45000", "main/handle/" PRICE " 6000",
                 "main/handle/" PRICE "/" PRICE " 8250", "main/handle/" PRICE "/" PRICE "/shop::round_up(double) 750",
                 "main/audit 2000", "main/audit/handle 1000", "main/audit/handle/[unknown]+0x7f0000dead00 37000");
    EXPECT_PATHS(file, 1, PRICE " 60500", PRICE "/shop::round_up(double) 11500");
    EXPECT_PATHS(file, 2, "main 45000", "main/" PRICE " 35000");
    json_object_put(file);
    analysis_drop(&analysis);
}

Test(unit_speedscope, by_the_other_times)
{
    struct analysis analysis = loaded_of(example_session(SOURCE_PERF));
    struct json_object *file = speedscope_parse(&analysis, EXPORT_BLOCKED);
    EXPECT_PATHS(file, 0, "main/handle 18000");
    cr_assert(eq(sz, json_object_array_length(speedscope_get(speedscope_at(file, "profiles", 1), "samples")), 0));
    json_object_put(file);
    file = speedscope_parse(&analysis, EXPORT_CALLS);
    EXPECT_PATHS(file, 1, PRICE " 8", PRICE "/shop::round_up(double) 8");
    cr_assert(eq(str, string_of(speedscope_at(file, "profiles", 1), "unit"), "none"));
    json_object_put(file);
    file = speedscope_parse(&analysis, EXPORT_APPLICATION);
    EXPECT_PATHS(file, 2, "main 5000", "main/" PRICE " 5000");
    json_object_put(file);
    analysis_drop(&analysis);
}

Test(unit_speedscope, names_of_all_kinds)
{
    struct analysis analysis = loaded_of(bad_session());
    struct json_object *file = speedscope_parse(&analysis, EXPORT_CALLS), *profile = speedscope_at(file, "profiles", 0);
    cr_assert(eq(str, string_of(profile, "name"), "a;b (100) th\nread (100)"));
    cr_assert(eq(sz, json_object_array_length(speedscope_get(profile, "samples")), 1 + BAD_NAMES));
    unsigned found = 0;
    for (unsigned i = 0; i < 1 + BAD_NAMES; i++) {
        struct json_object *sample = speedscope_at(profile, "samples", i);
        const size_t last = json_object_array_length(sample) - 1;
        const uint64_t frame = json_object_get_uint64(json_object_array_get_idx(sample, last));
        struct json_object *function = speedscope_at(speedscope_get(file, "shared"), "frames", frame);
        cr_assert(eq(str, string_of(function, "file"), "/src/a \"b\".c"));
        for (unsigned j = 0; j < BAD_NAMES; j++) {
            const char *name =
                j == BAD_BYTES ? "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd" : bad_names[j];
            if (strcmp(string_of(function, "name"), name) == 0) {
                cr_assert(eq(u64, json_object_get_uint64(speedscope_at(profile, "weights", i)), 1 + j));
                cr_assert(eq(u64, json_object_get_uint64(speedscope_get(function, "line")), 10 + j));
                found++;
            }
        }
    }
    cr_assert(eq(u32, found, BAD_NAMES));
    json_object_put(file);
    analysis_drop(&analysis);
}
