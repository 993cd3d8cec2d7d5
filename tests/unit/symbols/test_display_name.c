/* Shorter forms of C++ names, and texts that only look like names. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "symbols/display_name.h"
#include "symbols/symbols.h"

struct display_case {
    const char *name, *wanted; /* a linkage name or a demangled one */
};

static void display_expect_all(const struct display_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *whole = symbol_demangle(cases[i].name), *shown = display_name(whole), *again = display_name(shown);
        cr_assert(eq(str, shown, (char *)cases[i].wanted), "%s", whole);
        cr_assert(eq(str, again, shown), "twice");
        free(whole);
        free(shown);
        free(again);
    }
}

#define EXPECT_DISPLAY(...)                                                                                            \
    do {                                                                                                               \
        static const struct display_case cases[] = { __VA_ARGS__ };                                                    \
        display_expect_all(cases, sizeof cases / sizeof *cases);                                                       \
    } while (0)

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

Test(unit_display_name, strings_and_streams)
{
    EXPECT_DISPLAY(
        { STRING, "std::string" }, { STRING "::append(char const*)", "std::string::append(char const*)" },
        { "std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, std::__1::allocator<wchar_t> >",
          "std::wstring" },
        { "std::basic_string<char16_t, std::char_traits<char16_t>, std::allocator<char16_t>>", "std::u16string" },
        { "std::basic_string<char,std::char_traits<char>,std::allocator<char> >::size", "std::string::size" },
        { "std::basic_string_view<char, std::char_traits<char> >::find(char) const",
          "std::string_view::find(char) const" },
        { "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
          "std::ostream& std::operator<< <std::char_traits<char>>(std::ostream&, char const*)" },
        { "std::basic_string<char, my_traits, std::allocator<char> >", "std::basic_string<char, my_traits>" },
        { "mystd::basic_string<char>", "mystd::basic_string<char>" },
        { "std::to_string[abi:cxx11](int)", "std::to_string(int)" },
        { "std::chrono::_V2::system_clock::now()", "std::chrono::system_clock::now()" },
        { "std::filesystem::__cxx11::path::~path()", "std::filesystem::path::~path()" });
}

Test(unit_display_name, containers)
{
    EXPECT_DISPLAY(
        { "std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<int>::push_back(int&&)" },
        { "std::map<" STRING ", std::vector<double, std::allocator<double> >, std::less<" STRING
          " >, std::allocator<std::pair<" STRING " const, std::vector<double, std::allocator<double> > > > >::begin()",
          "std::map<std::string, std::vector<double>>::begin()" },
        { "std::map<int, int, std::greater<int>, std::allocator<std::pair<int const, int> > >",
          "std::map<int, int, std::greater<int>>" },
        { "std::map<int, int, std::less<void>, std::allocator<int> >", "std::map<int, int, std::less<void>>" },
        { "std::unordered_map<int, long, std::hash<int>, std::equal_to<int>, "
          "std::allocator<std::pair<int const, long> > >",
          "std::unordered_map<int, long>" },
        { "std::unordered_map<int, long, std::hash<int>, my_equal, std::allocator<int> >",
          "std::unordered_map<int, long, std::hash<int>, my_equal>" },
        { "std::unique_ptr<Foo, std::default_delete<Foo> >::get() const", "std::unique_ptr<Foo>::get() const" },
        { "std::unique_ptr<Foo, std::default_delete<Bar> >", "std::unique_ptr<Foo, std::default_delete<Bar>>" },
        { "std::pair<int, std::allocator<int> >", "std::pair<int, std::allocator<int>>" },
        { "std::allocator<int>::allocate(unsigned long)", "std::allocator<int>::allocate(unsigned long)" });
}

Test(unit_display_name, operators_lambdas_and_pointers)
{
    EXPECT_DISPLAY(
        { "ns::S::operator<(ns::S const&) const", "ns::S::operator<(ns::S const&) const" },
        { "bool operator< <int>(A<int> const&)", "bool operator< <int>(A<int> const&)" },
        { "A<int>::operator->() const", "A<int>::operator->() const" },
        { "A<int>::operator->*(B) const", "A<int>::operator->*(B) const" },
        { "A<&B::operator>>(int)>::f()", "A<&B::operator>>(int)>::f()" },
        { "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()(int) const" },
        { "main::{lambda(" STRING " const&)#2}::operator()(" STRING ")",
          "main::{lambda(std::string const&)#2}::operator()(std::string)" },
        { "(anonymous namespace)::f(void (*)(int, std::vector<int, std::allocator<int> >))",
          "(anonymous namespace)::f(void (*)(int, std::vector<int>))" },
        { "S::operator " STRING "() const", "S::operator std::string() const" },
        { "std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()(int) const" },
        { "f<(1>0), std::allocator<int> >()", "f<(1>0)>()" }, { "decltype (x->y) g<A>()", "decltype (x->y) g<A>()" });
}

Test(unit_display_name, other_texts_stay)
{
    EXPECT_DISPLAY({ "", "" }, { "main", "main" }, { "(start of thread)", "(start of thread)" }, { "a < b", "a < b" },
                   { "a > b > c", "a > b > c" }, { "f<", "f<" }, { "f>", "f>" }, { "g<a, b(c>", "g<a, b(c>" },
                   { ">)]}<([{", ">)]}<([{" }, { "thread shop (1000)", "thread shop (1000)" },
                   { "operator", "operator" }, { "[unknown]+0x1f", "[unknown]+0x1f" },
                   { "Gr\u00f6\u00dfe<int>", "Gr\u00f6\u00dfe<int>" },
                   { "core::fmt::Formatter<'a>::pad", "core::fmt::Formatter<'a>::pad" });
}

static void display_expect_elided(const char *name, unsigned levels, bool parameters, const char *wanted)
{
    char *shown = display_name_elide(name, &(struct display_elision){ levels, parameters, "..." });
    cr_assert(eq(str, shown, (char *)wanted), "%s", name);
    free(shown);
}

Test(unit_display_name, elided)
{
    display_expect_elided("std::map<std::string, std::vector<double>>::begin()", 1, false,
                          "std::map<std::string, std::vector<...>>::begin()");
    display_expect_elided("std::map<std::string, std::vector<double>>::begin()", 0, true, "std::map<...>::begin()");
    display_expect_elided("a::f(long, int) const", 0, true, "a::f(...) const");
    display_expect_elided("(anonymous namespace)::f(long)", 0, true, "(anon)::f(...)");
    display_expect_elided("main::{lambda(std::string)#1}::operator()(std::string)", 0, true,
                          "main::{lambda(...)#1}::operator()(...)");
    display_expect_elided("operator< <Foo, Bar>(Foo)", 0, false, "operator< <...>(Foo)");
    display_expect_elided("A<Foo>::operator->()", 0, false, "A<Foo>::operator->()");
    display_expect_elided("thread worker (1001)", 0, true, "thread worker (1001)");
    display_expect_elided("(12 smaller)", 0, true, "(12 smaller)");
    display_expect_elided("f<Foo, Bar(int>", 0, true, "f<Foo, Bar(int>");
    display_expect_elided("main > f<Item, Item>(Item) > g(Item)", 0, true, "main > f<...>(...) > g(...)");
}

static char *display_repeat(const char *piece, size_t bytes)
{
    char *text = need_memory(bytes + strlen(piece) + 1, 1), *to = text;
    while (to < text + bytes)
        to = stpcpy(to, piece);
    return text;
}

/* Names of 64 KiB take no more time a byte than short ones. */
Test(unit_display_name, long_and_hostile_names, .timeout = 300)
{
    static const char *const pieces[] = {
        "a<",  "a<b,",    "(",   "<(", "a<b, std::less<", ")",     ">",      "operator<",
        "a::", "a<b>::c", "(*(", "{[", "std::allocator<", "a<(x>", "[abi:x", "basic_string<"
    };
    const clock_t begin = clock();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char *name = display_repeat(pieces[i], 65536), *shown = display_name(name);
        char *elided = display_name_elide(name, &(struct display_elision){ 0, true, "..." });
        cr_assert(le(sz, strlen(shown), strlen(name)));
        cr_assert(le(sz, strlen(elided), strlen(name)));
        free(elided);
        free(shown);
        free(name);
    }
    cr_assert(lt(dbl, (double)(clock() - begin) / CLOCKS_PER_SEC, 5));
}

static bool display_is_utf8(const char *text)
{
    while (*text) {
        const size_t length = utf8_character_length(text);
        if (!length)
            return false;
        text += length;
    }
    return true;
}

/* Random texts of the pieces of names. */
Test(unit_display_name, random_names_stay_characters)
{
    static const char *const pieces[] = { "<",
                                          ">",
                                          "(",
                                          ")",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          " ",
                                          "::",
                                          "->",
                                          "operator",
                                          "*",
                                          "&",
                                          "a",
                                          "std",
                                          "\u00f6",
                                          "\u4e2d",
                                          "__cxx11::",
                                          "> ",
                                          ", std::allocator<",
                                          "basic_string<char",
                                          "-",
                                          "[abi:",
                                          "(anonymous namespace)" };
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 20000; round++) {
        char name[1024] = "";
        for (unsigned i = 0; i < 30; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            strcat(name, pieces[random % (sizeof pieces / sizeof *pieces)]);
        }
        char *shown = display_name(name);
        char *elided = display_name_elide(name, &(struct display_elision){ round % 3u, round % 2, "\u2026" });
        cr_assert(display_is_utf8(shown) && strlen(shown) <= strlen(name), "%s", name);
        cr_assert(display_is_utf8(elided) && strlen(elided) <= strlen(name), "%s", name);
        free(elided);
        free(shown);
    }
}
