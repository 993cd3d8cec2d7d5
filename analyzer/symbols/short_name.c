/* Finds a function's own name in its demangled name, which templates begin with the return type. It reads the text and
 * not the linkage name, since imported sessions and rows of reports have nothing else. */
#include "symbols/short_name.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/display_name.h"

/* The state of one scan. `open` has room for one bracket a byte of the name. */
struct short_scan {
    const char *name;
    char *open;
    const char *begin, *last, *end;
    bool special; /* "thunk to" or the like: blanks end no return type */
};

static bool short_name_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static size_t short_name_prefix(const char *at, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(at, prefix, length) == 0 ? length : 0;
}

static size_t short_name_word(const struct short_scan *s, const char *at, const char *word)
{
    const size_t length = short_name_prefix(at, word);
    if (!length || (at > s->name && short_name_is_letter(at[-1])) || short_name_is_letter(at[length]))
        return 0;
    return length;
}

/* The length of an operator's sign; zero if there is none. Longer signs come first. */
static size_t short_name_sign(const char *at)
{
    static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=",
                                         ">=",  "==",  "!=",  "&&",  "||", "++", "--", "+=", "-=", "*=",
                                         "/=",  "%=",  "^=",  "&=",  "|=", "+",  "-",  "*",  "/",  "%",
                                         "^",   "&",   "|",   "~",   "!",  "=",  "<",  ">",  "," };
    size_t length = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !length; i++)
        length = short_name_prefix(at, signs[i]);
    return length;
}

size_t short_name_operator(const char *name, const char *at)
{
    static const char word[] = "operator";
    const size_t length = short_name_prefix(at, word);
    if (!length || (at > name && short_name_is_letter(at[-1])))
        return 0;
    const size_t sign = short_name_sign(at + length);
    return sign ? length + sign : 0;
}

/* Closes the innermost bracket of that kind and all within it. Returns false if none is open. */
static bool short_name_close(const char *open, size_t *depth, char bracket)
{
    while (*depth && open[*depth - 1] != bracket)
        (*depth)--;
    return *depth && (*depth)--;
}

/* Returns the end of the brackets that begin here, or NULL if they have none. '>' in parentheses is an operator. */
static const char *short_name_skip_brackets(const struct short_scan *s, const char *at)
{
    size_t depth = 0;
    for (; *at; at++) {
        const size_t operator_length = short_name_operator(s->name, at);
        if (operator_length) {
            at += operator_length - 1;
            continue;
        }
        if (strchr("([{<", *at))
            s->open[depth++] = *at;
        else if (*at == '>' && (s->open[depth - 1] != '<' || at[-1] == '-'))
            continue;
        else if (strchr(")]}>", *at) && !short_name_close(s->open, &depth, "([{<"[strchr(")]}>", *at) - ")]}>"]))
            return NULL;
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static const char *short_name_skip_or_end(const struct short_scan *s, const char *at)
{
    const char *after = short_name_skip_brackets(s, at);
    return after ? after : at + strlen(at);
}

/* Skips words whose parentheses are no parameters. Returns `at` if there are none here. */
static const char *short_name_skip_fixed(const struct short_scan *s, const char *at)
{
    static const char *const words[] = { "decltype", "__vector", "_BitInt", "noexcept" };
    if (short_name_prefix(at, "(anonymous namespace)") || short_name_prefix(at, "(anonymous class)"))
        return short_name_skip_or_end(s, at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = short_name_word(s, at, words[i]);
        const char *bracket = at + length + (at[length] == ' ');
        if (length && *bracket == '(')
            return short_name_skip_or_end(s, bracket);
    }
    return at;
}

/* True for the parentheses of "(*name)", "(&name)" and "(Class::*name)". */
static bool short_name_is_declarator(const char *at)
{
    if (at[0] != '(')
        return false;
    if (at[1] == '*' || at[1] == '&')
        return true;
    const char *star = strstr(at, "::*"), *end = at + 1 + strcspn(at + 1, "()");
    return star && star < end;
}

/* Skips the type of a conversion operator. */
static const char *short_name_skip_conversion(const struct short_scan *s, const char *at)
{
    while (*at && *at != ')' && !short_name_prefix(at, " [clone ")) {
        const char *after = short_name_skip_fixed(s, at);
        if (after == at && *at == '(') {
            if (at[-1] != ' ' || !short_name_is_declarator(at))
                return at;
            after = short_name_skip_or_end(s, at);
            after = *after == '(' || *after == '[' ? short_name_skip_or_end(s, after) : after;
        } else if (after == at) {
            after = strchr("<[{", *at) ? short_name_skip_or_end(s, at) : at + 1;
        }
        at = after;
    }
    return at;
}

/* `at` is after the word "operator". */
static const char *short_name_skip_operator(const struct short_scan *s, const char *at)
{
    static const char *const words[] = { " new", " delete", " co_await" };
    const size_t sign = short_name_sign(at);
    if (sign) /* libiberty writes "operator< <int>" */
        return at + sign + (short_name_prefix(at + sign, " <") ? 1 : 0);
    if (short_name_prefix(at, "\"\"")) {
        for (at += 2; *at == ' ' || short_name_is_letter(*at);)
            at++;
        return at;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = short_name_prefix(at, words[i]);
        if (length && !short_name_is_letter(at[length]) && at[length] != ':')
            return at + length + short_name_prefix(at + length, "[]");
    }
    return *at == ' ' ? short_name_skip_conversion(s, at + 1) : at;
}

/* A blank ends a part of the return type, or a description such as "non-virtual thunk to". */
static void short_name_pass_blank(struct short_scan *s, const char *at)
{
    const size_t length = (size_t)(at - s->begin);
    const bool describes = s->begin > s->name && ((length == 2 && strncmp(s->begin, "to", 2) == 0) ||
                                                  (length == 3 && strncmp(s->begin, "for", 3) == 0));
    s->special |= describes;
    s->begin = s->special ? s->name : at + 1;
}

/* The parameters of a function that encloses the named one are a part of the name: "f(int)::{lambda()#1}". Returns
 * where the name continues, or NULL if these are the parameters of the named function itself. */
static const char *short_name_continue(const struct short_scan *s, const char *at)
{
    static const char *const qualifiers[] = { " const", " volatile", " &&", " &", "[abi:" };
    at = short_name_skip_brackets(s, at);
    for (size_t i = 0; at && i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (short_name_prefix(at, qualifiers[i]))
            at = *at == '[' ? short_name_skip_brackets(s, at) : at + strlen(qualifiers[i]);
    return at && short_name_prefix(at, "::") ? at : NULL;
}

/* Returns where the scan goes on, or NULL at the end of the name. */
static const char *short_name_step(struct short_scan *s, const char *at)
{
    const char *after = short_name_skip_fixed(s, at);
    const size_t operator_length = short_name_word(s, at, "operator");
    if (after != at)
        return after;
    if (operator_length)
        return short_name_skip_operator(s, at + operator_length);
    if (*at == '\0' || *at == ')' || short_name_prefix(at, " [clone "))
        return NULL;
    if (strchr("<[{", *at))
        return short_name_skip_or_end(s, at);
    if (*at == '(' && at == s->begin && short_name_is_declarator(at)) {
        s->begin = at + 1; /* a function that returns a pointer or reference to a function or array */
        return at + 1;
    }
    if (*at == '(')
        return short_name_continue(s, at);
    if (short_name_prefix(at, "::"))
        s->last = at + 2;
    else if (*at == ' ')
        short_name_pass_blank(s, at);
    else if (*at == '*' || *at == '&')
        s->begin = at + 1;
    return at + 1;
}

struct short_name short_name_find(const char *name)
{
    const size_t length = strlen(name);
    struct short_scan s = { .name = name, .open = need_memory(length + 1, 1), .begin = name, .end = name };
    for (const char *at = name; at; at = short_name_step(&s, at))
        s.end = at;
    free(s.open);
    if (s.end <= s.begin)
        return (struct short_name){ 0, length, 0 };
    const char *last = s.last > s.begin && s.last < s.end ? s.last : s.begin;
    return (struct short_name){ (size_t)(s.begin - name), (size_t)(s.end - name), (size_t)(last - name) };
}

char *short_name_of(const char *name)
{
    const struct short_name s = short_name_find(name);
    return need_copy(name + s.begin, s.end - s.begin);
}

static bool short_name_has_form(const char *name, short_name_test *test, const void *wanted)
{
    if (test(name, wanted))
        return true;
    const struct short_name s = short_name_find(name);
    if (s.begin && test(name + s.begin, wanted))
        return true;
    if (name[s.end] == '\0')
        return false;
    char *without = need_copy(name, s.end); /* parameters */
    const bool same = test(without, wanted) || (s.begin && test(without + s.begin, wanted));
    free(without);
    return same;
}

bool short_name_matches(const char *name, short_name_test *test, const void *wanted)
{
    if (short_name_has_form(name, test, wanted))
        return true;
    if (!strstr(name, "[abi:") && !strstr(name, "std::"))
        return false; /* it is shown as it is */
    char *shown = display_name(name);
    const bool same = strcmp(shown, name) != 0 && short_name_has_form(shown, test, wanted);
    free(shown);
    return same;
}

bool short_name_is_text(const char *form, const void *wanted)
{
    return strcmp(form, wanted) == 0;
}

/* The next place where a shown name leaves something out: dots, or the end of "(anon". `length` is that of the dots. */
static const char *short_name_elision(const char *text, size_t *length)
{
    for (; *text; text++) {
        *length = short_name_prefix(text, "…") ? strlen("…") : short_name_prefix(text, "...") ? strlen("...") : 0;
        if (*length)
            return text;
        if (short_name_prefix(text, "(anon)"))
            return text + strlen("(anon");
    }
    return NULL;
}

bool short_name_is_elided(const char *form, const void *wanted)
{
    size_t dots;
    const char *piece = wanted, *end = short_name_elision(piece, &dots);
    if (!end || strncmp(form, piece, (size_t)(end - piece)) != 0)
        return false;
    while (end) {
        form += end - piece;
        piece = end + dots;
        end = short_name_elision(piece, &dots);
        form = end ? memmem(form, strlen(form), piece, (size_t)(end - piece)) : form;
        if (!form)
            return false;
    }
    const size_t length = strlen(form), last = strlen(piece);
    return length >= last && strcmp(form + length - last, piece) == 0;
}

bool short_name_is_glob(const char *form, const void *wanted)
{
    return strcmp(form, wanted) == 0 || fnmatch(wanted, form, 0) == 0 ||
           (strstr(wanted, "…") && short_name_is_elided(form, wanted));
}
