/* The command of --on-keep as text. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "recorder/keep_hook.h"

static void keep_hook_expect(const char *command, const char *file, const char *expected)
{
    char *text = keep_hook_text(command, file);
    cr_assert(eq(str, text, (char *)expected));
    free(text);
}

Test(unit_keep_hook, name_is_one_word)
{
    keep_hook_expect("mv {} slow/", "/tmp/a.data.window-1", "mv '/tmp/a.data.window-1' slow/");
    keep_hook_expect("{}{}", "a b", "'a b''a b'");
    keep_hook_expect("cat {}; x", "it's $(x) \"y\" {}", "cat 'it'\\''s $(x) \"y\" {}'; x");
    keep_hook_expect("{ echo; }", "a", "{ echo; }");
}
