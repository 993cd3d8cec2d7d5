/* Names without return types and parameters, from linkage names and from demangled ones. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/short_name.h"
#include "symbols/symbols.h"

struct short_case {
    const char *name, *wanted;
};

static void short_name_expect(const char *name, const char *wanted)
{
    char *whole = symbol_demangle(name), *found = short_name_of(whole);
    cr_assert(eq(str, found, (char *)wanted), "%s: %s", name, whole);
    free(whole);
    free(found);
}

static void short_name_expect_all(const struct short_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        short_name_expect(cases[i].name, cases[i].wanted);
}

#define EXPECT_ALL(...)                                                                                                \
    do {                                                                                                               \
        static const struct short_case cases[] = { __VA_ARGS__ };                                                      \
        short_name_expect_all(cases, sizeof cases / sizeof *cases);                                                    \
    } while (0)

Test(unit_short_name, names_without_types)
{
    EXPECT_ALL({ "main", "main" }, { "", "" }, { "helper.part.0", "helper.part.0" },
               { "libx.so+0x1f0", "libx.so+0x1f0" }, { "[unknown]+0x10", "[unknown]+0x10" },
               { "operator", "operator" });
}

Test(unit_short_name, functions)
{
    EXPECT_ALL({ "_ZN2ns3addEii", "ns::add" }, { "_ZN2ns1SC1Ei", "ns::S::S" }, { "_ZN2ns1SD2Ev", "ns::S::~S" },
               { "_ZN2ns1SC2IiEEPT_i", "ns::S::S<int>" }, { "_ZNK2ns1S1mEv", "ns::S::m" },
               { "_ZNO2ns1S1rEv", "ns::S::r" }, { "_ZN2ns3abiB5cxx11Ei", "ns::abi[abi:cxx11]" },
               { "_ZN12_GLOBAL__N_14anonEi", "(anonymous namespace)::anon" },
               { "_ZN12_GLOBAL__N_12apENS_1PE", "(anonymous namespace)::ap" },
               { "_ZN2ns12_GLOBAL__N_11P1qEv", "ns::(anonymous namespace)::P::q" });
}

Test(unit_short_name, templates)
{
    EXPECT_ALL({ "_ZN2ns5twiceIiEET_S1_", "ns::twice<int>" }, { "_ZN2ns3refIiEERKmRKT_", "ns::ref<int>" },
               { "_ZN12_GLOBAL__N_13aptIiEENS_1PET_", "(anonymous namespace)::apt<int>" },
               { "_Z2ntILin1ElET0_S0_", "nt<-1, long>" }, { "_Z2daIiEDcT_", "da<int>" }, { "_Z2auIiEDaT_", "au<int>" },
               { "_Z2trIiEDTplfp_Li1EET_", "tr<int>" }, { "_Z3vecIiEDv4_iT_", "vec<int>" },
               { "_Z2eiIiENSt9enable_ifIXgtstT_Li1EES1_E4typeES1_", "ei<int>" },
               { "_Z3ap2IXadL_ZN2ns5twiceIiEET_S2_EEEii", "ap2<&(int ns::twice<int>(int))>" },
               { "_Z3memIXadL_ZNK2ns1SltERKS1_EEEii", "mem<&(ns::S::operator<(ns::S const&) const)>" },
               { "int req<int>(int) requires C<int>", "req<int>" },
               { "std::vector<int, std::allocator<int> > make<int>()", "make<int>" });
}

Test(unit_short_name, pointers_returned)
{
    EXPECT_ALL({ "_ZN2ns2fpIiEEPFvcET_", "ns::fp<int>" }, { "_ZN2ns3fppIiEEPFPFvcElET_", "ns::fpp<int>" },
               { "_ZN2ns2mpIiEEMNS_1SEKFiiET_", "ns::mp<int>" }, { "_ZN2ns3arrIiEERA3_iT_", "ns::arr<int>" },
               { "void (*f<int>(int))(char)", "f<int>" });
}

Test(unit_short_name, operators)
{
    EXPECT_ALL({ "_ZN2ns1SclEi", "ns::S::operator()" }, { "_ZN2ns1SixEi", "ns::S::operator[]" },
               { "_ZN2ns1ScmEi", "ns::S::operator," }, { "_ZN2ns1SpmEi", "ns::S::operator->*" },
               { "_ZN2ns1SptEv", "ns::S::operator->" }, { "_ZNK2ns1SltERKS0_", "ns::S::operator<" },
               { "_ZNK2ns1SssERKS0_", "ns::S::operator<=>" }, { "_ZltRKN2ns1SEi", "operator<" },
               { "_ZN2ns1SnaEm", "ns::S::operator new[]" }, { "_ZN2ns1SdaEPv", "ns::S::operator delete[]" },
               { "_Znwm", "operator new" }, { "_ZdlPvm", "operator delete" },
               { "_ZN2nsli2_xEy", "ns::operator\"\" _x" });
}

Test(unit_short_name, operator_templates)
{
    EXPECT_ALL({ "_ZN2ns1SclIiEET_S2_", "ns::S::operator()<int>" }, { "_ZN2ns1SgtIiEET_S2_", "ns::S::operator><int>" },
               { "_ZN2ns1SltIiEEbT_", "ns::S::operator< <int>" }, { "_ZN2ns1SlsIiEET_S2_", "ns::S::operator<< <int>" },
               { "_ZN2ns1SmiIiEET_S2_", "ns::S::operator-<int>" }, { "_ZeqIiEbRKN2ns1SET_", "operator==<int>" });
}

Test(unit_short_name, conversions)
{
    EXPECT_ALL({ "_ZN2ns1ScviEv", "ns::S::operator int" }, { "_ZN2ns1ScvPT_IiEEv", "ns::S::operator int*<int>" },
               { "_ZN2ns1ScvPFicEEv", "ns::S::operator int (*)(char)" },
               { "_ZNK2ns1ScvSsEv", "ns::S::operator std::string" },
               { "S::operator unsigned long() const", "S::operator unsigned long" },
               { "S::operator (anonymous namespace)::T()", "S::operator (anonymous namespace)::T" },
               { "S::operator decltype ((x)+(1))()", "S::operator decltype ((x)+(1))" },
               { "S::operator newer()", "S::operator newer" });
}

Test(unit_short_name, inside_functions)
{
    EXPECT_ALL({ "_ZZNK2ns1S1mEvEN1L1gEc", "ns::S::m() const::L::g" },
               { "_ZZNK2ns1S1mEvENKUliE_clEi", "ns::S::m() const::{lambda(int)#1}::operator()" },
               { "_ZZ4mainENKUlDpT_E0_clIJicEEEDaS0_", "main::{lambda((auto:1)...)#2}::operator()<int, char>" },
               { "_ZZ2auIiEDaT_ENKUlS0_E_clIiEEDaS0_", "au<int>(int)::{lambda(auto:1)#1}::operator()<int>" },
               { "f() &&::{lambda(int)#1}::operator()(int) const", "f() &&::{lambda(int)#1}::operator()" });
}

Test(unit_short_name, suffixes_and_descriptions)
{
    EXPECT_ALL({ "_ZN2ns1fEi.part.0", "ns::f" }, { "_ZN2ns5twiceIiEET_S1_.isra.0.cold", "ns::twice<int>" },
               { "_ZN2ns1SclEi.constprop.1", "ns::S::operator()" }, { "_ZNK2ns1ScviEv.part.0", "ns::S::operator int" },
               { "_ZThn8_N1S1fEi", "non-virtual thunk to S::f" }, { "_ZTv0_n24_N1S1fEi", "virtual thunk to S::f" });
}

Test(unit_short_name, other_languages)
{
    EXPECT_ALL({ "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt" },
               { "foo::call::<fn(i32) -> i32>", "foo::call::<fn(i32) -> i32>" },
               { "core::ops::FnOnce::call_once{{vtable.shim}}", "core::ops::FnOnce::call_once{{vtable.shim}}" });
}

/* Brackets without a partner lead nowhere, and to no error. */
Test(unit_short_name, damaged_names)
{
    static const char *const names[] = { "f(",
                                         ")",
                                         "f<",
                                         "f>",
                                         "a(*",
                                         " ",
                                         "(",
                                         "operator(",
                                         "f)(",
                                         "f<(>",
                                         "[{(<",
                                         "operator ",
                                         "operator<",
                                         "::",
                                         "x y ",
                                         "decltype(",
                                         "(*f)",
                                         "f((",
                                         "*",
                                         "operator \"",
                                         "operator\"\"",
                                         "(anonymous namespace)" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct short_name s = short_name_find(names[i]);
        cr_assert(s.begin <= s.last && s.last <= s.end && s.end <= strlen(names[i]), "%s", names[i]);
        cr_assert(s.begin < s.end, "%s", names[i]);
    }
}

Test(unit_short_name, last_component)
{
    static const struct short_case cases[] = {
        { "int ns::twice<a::b>(c::d)", "twice<a::b>" },
        { "ns::S::operator std::string()", "operator std::string" },
        { "ns::f(int)::{lambda(int)#1}::operator()(int) const", "operator()" },
        { "main", "main" },
        { "a::b d<int>(int)", "d<int>" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct short_name s = short_name_find(cases[i].name);
        cr_assert(eq(sz, s.end - s.last, strlen(cases[i].wanted)), "%s", cases[i].name);
        cr_assert(strncmp(cases[i].name + s.last, cases[i].wanted, s.end - s.last) == 0, "%s", cases[i].name);
    }
}

Test(unit_short_name, all_forms_match)
{
    static const char name[] = "int ns::twice<int>(int)";
    static const char *const forms[] = { "int ns::twice<int>(int)", "int ns::twice<int>", "ns::twice<int>(int)",
                                         "ns::twice<int>" };
    for (int i = 0; i < 4; i++)
        cr_assert(short_name_matches(name, short_name_is_text, forms[i]), "%s", forms[i]);
    cr_assert(short_name_matches(name, short_name_is_glob, "ns::*"));
    cr_assert(short_name_matches(name, short_name_is_glob, "ns::twice<*>"));
    cr_assert(not(short_name_matches(name, short_name_is_text, "ns::twice")));
    cr_assert(not(short_name_matches(name, short_name_is_glob, "twice*")));
    cr_assert(not(short_name_matches(name, short_name_is_glob, "int")));
}

/* As the views show it: without ABI tags and inline namespaces. */
Test(unit_short_name, the_shown_form_matches)
{
    const char *const tagged = "count_words[abi:cxx11](std::istream&)";
    cr_assert(short_name_matches(tagged, short_name_is_text, "count_words(std::istream&)"));
    cr_assert(short_name_matches(tagged, short_name_is_text, "count_words"));
    cr_assert(short_name_matches(tagged, short_name_is_text, "count_words[abi:cxx11]"));
    cr_assert(short_name_matches(tagged, short_name_is_glob, "count_w*(std::istream&)"));
    cr_assert(not(short_name_matches(tagged, short_name_is_text, "count")));
    const char *const text =
        "text::size(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)";
    cr_assert(short_name_matches(text, short_name_is_text, "text::size(std::string)"));
}

/* As narrow tables show it: without what has become dots, and with a short word for unnamed namespaces. */
Test(unit_short_name, the_elided_form_matches)
{
    const char *const name = "db::(anonymous namespace)::File::read(std::__cxx11::basic_string<char, "
                             "std::char_traits<char>, std::allocator<char> > const&, ...) const";
    static const char *const forms[] = {
        "db::(anon)::File::read(…) const",
        "db::(anon)…::read(...) const",
        "…::File::read",
        "db…read(std::string const&, ...) const",
        "db::(anon)::File::read",
        "db::(anonymous namespace)::File::read(…) const",
    };
    static const char *const others[] = { "db::(anon)::File::write(…) const",
                                          "db::(anon)::File::read(…)",
                                          "db::(anon)::File::read(…) const&",
                                          "File::read(…) const",
                                          "db…read…read(…) const",
                                          "db::(anon)::File" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        cr_assert(short_name_matches(name, short_name_is_elided, forms[i]), "%s", forms[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_assert(not(short_name_matches(name, short_name_is_elided, others[i])), "%s", others[i]);
    cr_assert(short_name_matches(name, short_name_is_glob, forms[2]));
    cr_assert(not(short_name_matches(name, short_name_is_glob, forms[4])));
}
