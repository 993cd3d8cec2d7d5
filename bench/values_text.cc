/*
 * values_text ROUNDS: the same as values.c for texts of C++. A text of 16 bytes is no part of its std::string, but
 * behind a pointer.
 */
#include "kinds.h"

#include <string>
#include <string_view>

static volatile unsigned long sum;
static std::string *text;

NOT_INLINED static void plain(const char *t, const std::string &s, std::string_view v)
{
    sum += static_cast<unsigned char>(*t) + s.size();
    sum ^= v.size() + static_cast<unsigned char>(*v.data());
}

NOT_INLINED static void chars(const char *t, const std::string &s, std::string_view v)
{
    sum += static_cast<unsigned char>(*t) + s.size();
    sum ^= v.size() + static_cast<unsigned char>(*v.data());
}

NOT_INLINED static void string(const char *t, const std::string &s, std::string_view v)
{
    sum += static_cast<unsigned char>(*t) + s.size();
    sum ^= v.size() + static_cast<unsigned char>(*v.data());
}

NOT_INLINED static void view(const char *t, const std::string &s, std::string_view v)
{
    sum += static_cast<unsigned char>(*t) + s.size();
    sum ^= v.size() + static_cast<unsigned char>(*v.data());
}

using watched = void(const char *t, const std::string &s, std::string_view v);

PLAIN static double ticks_of_a_call(int kind)
{
    static watched *const functions[KINDS] = { plain, chars, string, view };
    watched *const function = functions[kind];
    const std::string_view all(*text);
    const uint64_t begin = read_ticks();
    for (long i = 0; i < CALLS; i++)
        function(text->c_str(), *text, all);
    return static_cast<double>(read_ticks() - begin) / CALLS;
}

PLAIN int main(int argc, char **argv)
{
    static const char *const names[KINDS] = { "plain", "chars", "string", "view" };
    const int rounds = rounds_wanted(argc, argv);
    text = new std::string("a text of 16 byt");
    if (rounds < 1)
        return 1;
    print_kinds(names, rounds, ticks_of_a_call);
    delete text;
    return 0;
}
