/* Shortens demangled names. Each pass copies a name once, keeps a stack of its open brackets, and replaces what a
 * bracket holds when that closes. Brackets that do not match are copied as they are. */
#include "symbols/display_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/short_name.h"

enum bracket_kind { ROUND, SQUARE, CURLY, ANGLE, BRACKET_KINDS };

static const struct {
    char opens, closes;
} brackets[BRACKET_KINDS] = {
    [ROUND] = { '(', ')' },
    [SQUARE] = { '[', ']' },
    [CURLY] = { '{', '}' },
    [ANGLE] = { '<', '>' },
};

struct display_bracket {
    enum bracket_kind kind;
    size_t inside;         /* offset in the output of what follows the bracket */
    size_t argument_count; /* of the enclosing brackets, in `arguments` */
};

/* The state of a pass. */
struct display_pass {
    const char *name, *at; /* the input, and the position in it */
    char *out;             /* as long as the name at most */
    size_t length;
    struct display_bracket *open;
    size_t depth, room;
    size_t count[BRACKET_KINDS]; /* of open brackets */
    size_t *arguments;           /* offsets in the output of the arguments of open templates, without the first ones */
    size_t argument_count, argument_room;
    const struct display_elision *elision; /* NULL in the pass that drops defaults */
};

/* ---- texts in the output ---- */

static bool display_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static bool display_begins_with(const char *text, size_t length, const char *prefix)
{
    const size_t wanted = strlen(prefix);
    return length >= wanted && memcmp(text, prefix, wanted) == 0;
}

static bool display_out_ends_with(const struct display_pass *p, const char *suffix)
{
    const size_t length = strlen(suffix);
    return p->length >= length && memcmp(p->out + p->length - length, suffix, length) == 0;
}

static void display_copy(struct display_pass *p, size_t count)
{
    memcpy(p->out + p->length, p->at, count);
    p->length += count;
    p->at += count;
}

static void display_append(struct display_pass *p, const char *text)
{
    const size_t length = strlen(text);
    memcpy(p->out + p->length, text, length);
    p->length += length;
}

/* ---- default arguments ---- */

/* Whether an argument after the first one is the default that the standard library gives it: an allocator, or a class
 * of the first argument. */
static bool display_is_default(const char *argument, size_t length, const char *first, size_t first_length)
{
    static const char *const classes[] = { "std::char_traits<", "std::default_delete<", "std::less<", "std::hash<",
                                           "std::equal_to<" };
    if (!length || argument[length - 1] != '>')
        return false;
    if (display_begins_with(argument, length, "std::allocator<"))
        return true;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const size_t begin = strlen(classes[i]);
        if (length == begin + first_length + 1 && memcmp(argument, classes[i], begin) == 0)
            return memcmp(argument + begin, first, first_length) == 0;
    }
    return false;
}

/* The offset in the output of the identifier that ends at `end`. */
static size_t display_identifier_begin(const struct display_pass *p, size_t end)
{
    while (end > 0 && display_is_letter(p->out[end - 1]))
        end--;
    return end;
}

/* In these templates all arguments matter. */
static bool display_has_no_defaults(const char *name, size_t length)
{
    static const char *const names[] = { "pair", "tuple", "_Tuple_impl", "variant" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    return false;
}

/* Drops default arguments from the end. The output ends with the last argument. */
static void display_drop_defaults(struct display_pass *p, const struct display_bracket *b)
{
    const size_t *others = p->arguments + b->argument_count;
    size_t count = p->argument_count - b->argument_count;
    const size_t name = display_identifier_begin(p, b->inside - 1);
    if (!count || display_has_no_defaults(p->out + name, b->inside - 1 - name))
        return;
    const char *first = p->out + b->inside;
    const size_t first_length = others[0] - 1 - b->inside;
    for (; count > 0; count--) {
        const char *argument = p->out + others[count - 1], *end = p->out + p->length;
        while (argument < end && *argument == ' ')
            argument++;
        while (end > argument && end[-1] == ' ')
            end--;
        if (!display_is_default(argument, (size_t)(end - argument), first, first_length))
            return;
        p->length = others[count - 1] - 1;
    }
}

static bool display_is_in_std(const struct display_pass *p, size_t identifier)
{
    static const char scope[] = "std::";
    const size_t length = sizeof scope - 1;
    return identifier >= length && memcmp(p->out + identifier - length, scope, length) == 0 &&
           (identifier == length || !display_is_letter(p->out[identifier - length - 1]));
}

/* Replaces "std::basic_string<char" and the like by "std::string". Returns false if the output does not end so. */
static bool display_rename_basic(struct display_pass *p, const struct display_bracket *b)
{
    static const struct {
        const char *type, *before;
        bool only_strings;
    } types[] = { { "char", "", false },
                  { "wchar_t", "w", false },
                  { "char8_t", "u8", true },
                  { "char16_t", "u16", true },
                  { "char32_t", "u32", true } };
    static const char basic[] = "basic_";
    const size_t name = display_identifier_begin(p, b->inside - 1), skipped = sizeof basic - 1;
    const size_t length = b->inside - 1 - name, argument = p->length - b->inside;
    if (!display_is_in_std(p, name) || !display_begins_with(p->out + name, length, basic))
        return false;
    const bool is_string = display_begins_with(p->out + name + skipped, length - skipped, "string");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].type) != argument || memcmp(p->out + b->inside, types[i].type, argument) != 0 ||
            (types[i].only_strings && !is_string))
            continue;
        const size_t before = strlen(types[i].before);
        memmove(p->out + name + before, p->out + name + skipped, length - skipped);
        memcpy(p->out + name, types[i].before, before);
        p->length = name + before + length - skipped;
        return true;
    }
    return false;
}

/* ---- brackets ---- */

static void display_open(struct display_pass *p, enum bracket_kind kind)
{
    display_copy(p, 1);
    GROW(p->open, p->depth, p->room);
    p->open[p->depth++] = (struct display_bracket){ kind, p->length, p->argument_count };
    p->count[kind]++;
}

/* Whether the bracket holds a function's parameters. Other texts in parentheses follow a blank or begin the name. */
static bool display_holds_parameters(const struct display_pass *p, const struct display_bracket *b)
{
    return b->kind == ROUND && b->inside > 1 && !strchr(" (,<&*", p->out[b->inside - 2]);
}

static void display_elide_bracket(struct display_pass *p, const struct display_bracket *b)
{
    const struct display_elision *e = p->elision;
    if (p->length - b->inside <= strlen(e->dots))
        return;
    if ((b->kind == ANGLE && p->count[ANGLE] > e->template_levels) ||
        (e->parameters && display_holds_parameters(p, b))) {
        p->length = b->inside;
        display_append(p, e->dots);
    }
}

static void display_close(struct display_pass *p, enum bracket_kind kind)
{
    if (!p->open || !p->count[kind]) {
        display_copy(p, 1);
        return;
    }
    while (p->open[p->depth - 1].kind != kind)
        p->count[p->open[--p->depth].kind]--;
    const struct display_bracket b = p->open[--p->depth];
    bool renamed = false;
    if (kind == ANGLE && display_out_ends_with(p, " ")) /* "> >" */
        p->length--;
    if (p->elision)
        display_elide_bracket(p, &b);
    else if (kind == ANGLE)
        display_drop_defaults(p, &b);
    if (kind == ANGLE && !p->elision)
        renamed = display_rename_basic(p, &b);
    p->count[kind]--;
    p->argument_count = b.argument_count;
    if (renamed)
        p->at++;
    else
        display_copy(p, 1);
}

static enum bracket_kind display_innermost(const struct display_pass *p)
{
    return p->depth ? p->open[p->depth - 1].kind : BRACKET_KINDS;
}

/* The kind of bracket that a character opens or closes. */
static enum bracket_kind display_bracket_kind(char c)
{
    enum bracket_kind kind = 0;
    while (kind < BRACKET_KINDS && c != brackets[kind].opens && c != brackets[kind].closes)
        kind++;
    return kind;
}

static void display_pass_bracket(struct display_pass *p, enum bracket_kind kind)
{
    if (*p->at == brackets[kind].opens)
        display_open(p, kind);
    else if (kind == ANGLE && (display_innermost(p) != ANGLE || p->at[-1] == '-'))
        display_copy(p, 1); /* a comparison, or the end of an arrow */
    else
        display_close(p, kind);
}

/* ---- words ---- */

static size_t display_identifier_length(const char *at)
{
    size_t length = 0;
    while (display_is_letter(at[length]))
        length++;
    return length;
}

static bool display_is_inline_namespace(const char *word, size_t length)
{
    static const char *const names[] = { "__cxx11", "__1", "__2", "__8", "_V2", "__ndk1", "__fs" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return true;
    return false;
}

static void display_pass_word(struct display_pass *p)
{
    const size_t length = display_identifier_length(p->at);
    if (!p->elision && strncmp(p->at + length, "::", 2) == 0 && display_out_ends_with(p, "::") &&
        display_is_inline_namespace(p->at, length))
        p->at += length + 2;
    else
        display_copy(p, length);
}

/* The length of "[abi:cxx11]"; zero if there is none. */
static size_t display_tag_length(const char *at)
{
    static const char begin[] = "[abi:";
    if (strncmp(at, begin, sizeof begin - 1) != 0)
        return 0;
    const size_t length = sizeof begin - 1 + display_identifier_length(at + sizeof begin - 1);
    return at[length] == ']' ? length + 1 : 0;
}

static bool display_pass_anonymous(struct display_pass *p)
{
    static const char *const names[] = { "(anonymous namespace)", "(anonymous class)" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(p->at, names[i], length) != 0)
            continue;
        if (p->elision && p->elision->parameters) {
            display_append(p, "(anon)");
            p->at += length;
        } else {
            display_copy(p, length);
        }
        return true;
    }
    return false;
}

static void display_step(struct display_pass *p)
{
    const size_t operator_length = short_name_operator(p->name, p->at);
    const enum bracket_kind bracket = display_bracket_kind(*p->at);
    if (operator_length) {
        display_copy(p, operator_length);
        display_copy(p, strncmp(p->at, " <", 2) == 0); /* libiberty writes "operator< <int>" */
    } else if (display_is_letter(*p->at)) {
        display_pass_word(p);
    } else if (!p->elision && display_tag_length(p->at)) {
        p->at += display_tag_length(p->at);
    } else if (bracket < BRACKET_KINDS && !display_pass_anonymous(p)) {
        display_pass_bracket(p, bracket);
    } else if (bracket == BRACKET_KINDS) {
        const bool separates = *p->at == ',' && display_innermost(p) == ANGLE;
        display_copy(p, 1);
        if (separates && !p->elision) {
            GROW(p->arguments, p->argument_count, p->argument_room);
            p->arguments[p->argument_count++] = p->length;
        }
    }
}

static char *display_rewrite(const char *name, const struct display_elision *elision)
{
    struct display_pass p = { .name = name, .at = name, .elision = elision };
    p.out = need_memory(strlen(name) + 1, 1);
    while (*p.at)
        display_step(&p);
    p.out[p.length] = '\0';
    free(p.open);
    free(p.arguments);
    return p.out;
}

char *display_name(const char *name)
{
    return display_rewrite(name, NULL);
}

char *display_name_elide(const char *name, const struct display_elision *elision)
{
    return display_rewrite(name, elision);
}
