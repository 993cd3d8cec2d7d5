/* The names of functions as GCC's list of excluded functions takes them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "analysis/exclusions.h"

Test(unit_exclusions, names)
{
    static const struct {
        const char *name, *text;
    } cases[] = {
        { "hash", "hash" },
        { "hash.constprop.0", "hash" },
        { "ns::Shop::price(int) const", "ns::Shop::price" },
        { "int ns::twice<int>(int)", "ns::twice" },
        { "ns::Shop::~Shop()", "ns::Shop::~Shop" },
        { "ns::(anonymous namespace)::odd(int)", "odd" },
        { "name[abi:cxx11](int)", "name" },
        { "std::vector<int>::size() const", NULL },
        { "$(rm)", NULL },
        { "a b;c", NULL },
        { "-flag", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = exclusion_name(cases[i].name);
        cr_assert(eq(str, text ? text : (char *)"none", (char *)(cases[i].text ? cases[i].text : "none")), "%s",
                  cases[i].name);
        free(text);
    }
}
