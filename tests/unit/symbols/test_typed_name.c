/* Texts that name functions: names, and names with a place. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "symbols/typed_name.h"

TestSuite(unit_typed_name, .timeout = 300);

static const struct named_function length = {
    "sdslen(char const*)",
    "_Z6sdslenPKc",
    "redis-server",
    "/src/redis/sds.h",
    87,
    0x1234,
    (const uint8_t *)"\x0a\x1b\x2c\x3d\x4e\x5f\x60",
    7,
};

static void typed_expect(const char *text, bool matches)
{
    cr_assert(eq(int, typed_name_matches(&length, short_name_is_glob, text), matches), "%s", text);
}

Test(unit_typed_name, names_and_places)
{
    typed_expect("sdslen", true);
    typed_expect("sdslen(char const*)", true);
    typed_expect("_Z6sdslenPKc", true);
    typed_expect("sdslen@redis-server", true);
    typed_expect("sdslen@sds.h", true);
    typed_expect("sdslen@sds.h:87", true);
    typed_expect("sdslen@redis/sds.h", true);
    typed_expect("sdslen@/src/redis/sds.h:87", true);
    typed_expect("sdslen@0x1234", true);
    typed_expect("sdslen@0x1234:0a1b2c3d4e5f", true);
    typed_expect("_Z6sdslenPKc@sds.h:87", true);
    typed_expect("sds*@*.h", true);
    typed_expect("*@redis-*", true);
}

Test(unit_typed_name, other_names_and_places)
{
    typed_expect("sdslen@sds.h:88", false);
    typed_expect("sdslen@ds.h", false);
    typed_expect("sdslen@sds.h:", false);
    typed_expect("sdslen@sds.h:8", false);
    typed_expect("sdslen@0x12345", false);
    typed_expect("sdslen@0x12345:0a1b2c3d4e5f", false);
    typed_expect("sdslen@0x1234:0a1b2c3d4e5e", false);
    typed_expect("sdslen@0x1234:0a1b2c3d4e5f60", false);
    typed_expect("sdslen@0x1234:0a1b2c3d4e", false);
    typed_expect("sdslen@0x1234:", false);
    typed_expect("sdslen@", false);
    typed_expect("@sds.h", false);
    typed_expect("sdscat@sds.h:87", false);
    typed_expect("sdslen@redis", false);
}

Test(unit_typed_name, unknown_places)
{
    const struct named_function bare = { .name = "f@GLIBC_2.2" };
    cr_assert(typed_name_matches(&bare, short_name_is_text, "f@GLIBC_2.2"));
    cr_assert(not(typed_name_matches(&bare, short_name_is_text, "f@libc.so.6")));
    cr_assert(not(typed_name_matches(&bare, short_name_is_text, "f@0x0")));
}
