/* CSV cells: quotes where needed, and formulas defused on request. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/csv_text.h"

TestSuite(unit_csv_text, .timeout = 300);

static void csv_text_expect(const char *text, const char *plain, const char *safe)
{
    for (int defuse = 0; defuse < 2; defuse++) {
        char *got = NULL;
        size_t length;
        FILE *out = open_memstream(&got, &length);
        csv_text_defuse(defuse);
        csv_print_text(text, out);
        fclose(out);
        cr_assert(eq(str, got, (char *)(defuse ? safe : plain)));
        free(got);
    }
    csv_text_defuse(false);
}

Test(unit_csv_text, plain_texts)
{
    csv_text_expect("", "", "");
    csv_text_expect("main", "main", "main");
    csv_text_expect("a=b", "a=b", "a=b");
    csv_text_expect("'=1", "'=1", "'=1");
    csv_text_expect("f(int, char)", "\"f(int, char)\"", "\"f(int, char)\"");
}

Test(unit_csv_text, formulas)
{
    csv_text_expect("=1", "=1", "'=1");
    csv_text_expect("+x", "+x", "'+x");
    csv_text_expect("-x", "-x", "'-x");
    csv_text_expect("@x", "@x", "'@x");
    csv_text_expect("\tx", "\tx", "'\tx");
    csv_text_expect("\r=1", "\"\r=1\"", "\"'\r=1\"");
    csv_text_expect("\n=1", "\"\n=1\"", "\"'\n=1\"");
    csv_text_expect("=\"x\"", "\"=\"\"x\"\"\"", "\"'=\"\"x\"\"\"");
    csv_text_expect("\uff1d1", "\uff1d1", "'\uff1d1");
    csv_text_expect("\uff0b1", "\uff0b1", "'\uff0b1");
    csv_text_expect("\uff0d1", "\uff0d1", "'\uff0d1");
    csv_text_expect("\uff201", "\uff201", "'\uff201");
}

Test(unit_csv_text, numbers_stay)
{
    csv_text_expect("-12.5", "-12.5", "-12.5");
    csv_text_expect("+1", "+1", "+1");
    csv_text_expect("-", "-", "'-");
    csv_text_expect("-.5", "-.5", "'-.5");
    csv_text_expect("-1.", "-1.", "'-1.");
    csv_text_expect("-1+2", "-1+2", "'-1+2");
    csv_text_expect("=1", "=1", "'=1");
}
