/* Paths of parts of arguments, as typed. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#include "arguments/argument_path.h"

TestSuite(unit_argument_path, .timeout = 120);

static void expect_path(const char *text, const char *wanted)
{
    static const char kinds[] = { [STEP_MEMBER] = '.', [STEP_ARROW] = '>', [STEP_INDEX] = '[', [STEP_TARGET] = '*' };
    struct argument_path p;
    struct error error = { NULL };
    char parsed[200];
    cr_assert(argument_path_parse(&p, text, &error), "%s", error.text);
    int at = snprintf(parsed, sizeof parsed, "%s", p.name);
    for (size_t i = 0; i < p.count; i++)
        at += snprintf(parsed + at, sizeof parsed - (size_t)at, " %c%s", kinds[p.steps[i].kind],
                       p.steps[i].name ? p.steps[i].name : "");
    cr_expect(eq(str, parsed, (char *)wanted));
    argument_path_drop(&p);
}

Test(unit_argument_path, good_ones)
{
    expect_path("n", "n");
    expect_path("return", "return");
    expect_path("req->len", "req >len");
    expect_path("v.size", "v .size");
    expect_path("*p", "p *");
    expect_path("**p.x", "p .x * *");
    expect_path("name[0]", "name [");
    expect_path("a->b[12].c_3->d", "a >b [ .c_3 >d");
}

Test(unit_argument_path, bad_ones)
{
    static const char *const bad[] = { "",
                                       "*",
                                       "1n",
                                       "a.",
                                       "a->",
                                       "a-b",
                                       "a[",
                                       "a[]",
                                       "a[x]",
                                       "a[-1]",
                                       "a[1",
                                       "a b",
                                       "a.1",
                                       "a,b",
                                       "a::b",
                                       "a[99999999999999999999]",
                                       "a[1073741825]",
                                       "a+1",
                                       "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct argument_path p;
        struct error error = { NULL };
        char wanted[200];
        snprintf(wanted, sizeof wanted, "'%s' is not a value such as n, *p, req->len, v.size, name[0] or return",
                 bad[i]);
        cr_expect(not(argument_path_parse(&p, bad[i], &error)), "%s", bad[i]);
        cr_expect(eq(str, error.text, wanted));
        error_drop(&error);
        argument_path_drop(&p);
    }
}
