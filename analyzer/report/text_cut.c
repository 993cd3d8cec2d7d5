/* Cuts texts in the middle, sources in the file's name, and names where the least is lost. */
#include "report/text_cut.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "report/plot.h"
#include "symbols/display_name.h"
#include "symbols/short_name.h"

/* Parts of a cut name, in character cells. */
enum { MIN_HEAD = 4, LONGEST_WORD = 16, MIN_MAKER = 6, ADDRESS_END = 4 };

#define TEXT_MADE " made in "

size_t text_width(const char *text)
{
    const size_t length = strlen(text);
    wchar_t *wide = need_memory(length + 1, sizeof *wide);
    const size_t count = mbstowcs(wide, text, length + 1);
    const int width = count != (size_t)-1 ? wcswidth(wide, count) : -1;
    free(wide);
    return width >= 0 ? (size_t)width : length;
}

/* What stands for a part that was cut: one cell in UTF-8, else three. */
static const char *text_cut_dots(void)
{
    return plot_has_blocks() ? "…" : "...";
}

/* The length in bytes of the character at `at`. Sets its width. A byte that is no character is one cell. */
static size_t text_cut_character(const char *at, size_t *width)
{
    wchar_t c;
    mbstate_t state = { 0 };
    const size_t room = strnlen(at, MB_CUR_MAX), length = mbrtowc(&c, at, room, &state);
    const bool valid = length && length <= room;
    const int cells = valid ? wcwidth(c) : 1;
    *width = cells >= 0 ? (size_t)cells : 1;
    return valid ? length : 1;
}

/* The bytes of the longest beginning that is at most that wide. */
static size_t text_cut_head(const char *text, size_t width)
{
    size_t bytes = 0, cells;
    while (text[bytes]) {
        const size_t length = text_cut_character(text + bytes, &cells);
        if (cells > width)
            break;
        width -= cells;
        bytes += length;
    }
    return bytes;
}

/* The offset of the longest end that is at most that wide. */
static size_t text_cut_tail(const char *text, size_t width)
{
    size_t bytes = 0, left = text_width(text), cells;
    while (text[bytes] && left > width) {
        bytes += text_cut_character(text + bytes, &cells);
        left -= cells < left ? cells : left;
    }
    return bytes;
}

/* The beginning and the end of the text, of these widths, with dots between them. */
static char *text_cut_between(const char *text, size_t head, size_t tail)
{
    return need_text("%.*s%s%s", (int)text_cut_head(text, head), text, text_cut_dots(),
                     text + text_cut_tail(text, tail));
}

/* The same with a fraction of the room for the end. */
static char *text_cut_fraction(const char *text, size_t width, size_t parts, size_t of)
{
    const size_t dots = text_width(text_cut_dots());
    if (text_width(text) <= width)
        return need_copy(text, strlen(text));
    if (width <= dots)
        return need_copy(text, text_cut_head(text, width));
    const size_t room = width - dots, tail = (room * parts + of - 1) / of;
    return text_cut_between(text, room - tail, tail);
}

char *text_cut_middle(const char *text, size_t width)
{
    return text_cut_fraction(text, width, 1, 2);
}

/* ---- sources ---- */

/* Where the number of "file.c:12" or "library.so+0x12" begins, with the sign before it. The text's end if none. */
static size_t text_cut_number(const char *source)
{
    const size_t length = strlen(source);
    size_t at = length;
    while (at > 0 && strchr("0123456789abcdefx", source[at - 1]))
        at--;
    return at > 0 && at < length && strchr(":+", source[at - 1]) ? at - 1 : length;
}

char *text_cut_source(const char *source, size_t width)
{
    const size_t number = text_cut_number(source), digits = strlen(source + number);
    const size_t dots = text_width(text_cut_dots()), least = digits + dots;
    if (text_width(source) <= width)
        return need_copy(source, strlen(source));
    char *file = need_copy(source, number);
    const char *slash = strrchr(file, '/');
    char *cut;
    if (width <= least)
        cut = need_text("%s", text_cut_dots());
    else if (slash && text_width(slash) + least <= width)
        cut = need_text("%s%s", text_cut_dots(), slash);
    else
        cut = text_cut_middle(path_file_name(file), width - digits);
    char *whole = need_text("%s%s", cut, source + number);
    free(file);
    free(cut);
    return whole;
}

/* ---- threads ---- */

/* The first names that fit, with `number` behind them. NULL if not even one does. */
static char *text_cut_list(const char *names, size_t length, const char *number, size_t width)
{
    for (size_t end = length; end > 0; end--) {
        if (end < length && strncmp(names + end, ", ", 2) != 0)
            continue;
        char *cut = need_text("%.*s%s%s%s", (int)end, names, end < length ? "," : "",
                              end < length ? text_cut_dots() : "", number);
        if (text_width(cut) <= width)
            return cut;
        free(cut);
    }
    return NULL;
}

char *text_cut_threads(const char *threads, size_t width)
{
    static const char unit[] = " threads)";
    const char *number = strrchr(threads, '(');
    const size_t length = strlen(threads), unit_length = sizeof unit - 1;
    if (text_width(threads) <= width)
        return need_copy(threads, length);
    if (!number || number == threads || length < unit_length || strcmp(threads + length - unit_length, unit) != 0)
        number = threads + length + 1;
    const size_t names = (size_t)(number - 1 - threads);
    char *suffix =
        names < length ? need_text(" %.*s)", (int)(threads + length - unit_length - number), number) : need_copy("", 0);
    char *cut = text_cut_list(threads, names, suffix, width);
    const size_t rest = text_width(suffix) + text_width(text_cut_dots());
    if (!cut && width > rest + MIN_HEAD)
        cut = need_text("%.*s%s%s", (int)text_cut_head(threads, width - rest), threads, text_cut_dots(), suffix);
    free(suffix);
    return cut ? cut : text_cut_middle(threads, width);
}

/* ---- names ---- */

/* Where the name begins without its return type. Only parameters prove that the words before the name are one. */
static size_t text_cut_return_type(const char *name)
{
    if (strchr(name, ';') || strstr(name, " > ")) /* a call path */
        return 0;
    const struct short_name s = short_name_find(name);
    return name[s.end] == '(' ? s.begin : 0;
}

/* Cuts a name whose arguments and parameters are elided. Its end stays: the last words of "a::b::c" if they fit. */
static char *text_cut_scopes(const char *name, size_t width)
{
    const size_t dots = text_width(text_cut_dots());
    if (width <= dots + 2 * MIN_HEAD)
        return text_cut_middle(name, width);
    const size_t most = width - dots - MIN_HEAD;
    const char *tail = strstr(name + text_cut_tail(name, most), "::");
    const size_t length = tail ? text_width(tail) : 0;
    if (length < width / 3)
        return text_cut_fraction(name, width, 2, 3);
    const size_t head = text_cut_head(name, width - dots - length);
    const char *open = memrchr(name, '(', head);
    if (open && !memchr(open, ')', (size_t)(name + head - open))) /* no half of "(anon)" */
        return need_text("%.*s%s%s", (int)(open - name), name, text_cut_dots(), tail);
    return text_cut_between(name, width - dots - length, length);
}

static char *text_cut_name(const char *name, size_t width)
{
    const struct display_elision elisions[] = { { 1, false, text_cut_dots() },
                                                { 0, false, text_cut_dots() },
                                                { 0, true, text_cut_dots() } };
    if (text_width(name) <= width)
        return need_copy(name, strlen(name));
    name += text_cut_return_type(name);
    char *cut = need_copy(name, strlen(name));
    for (size_t i = 0; i < sizeof elisions / sizeof *elisions && text_width(cut) > width; i++) {
        free(cut);
        cut = display_name_elide(name, &elisions[i]);
    }
    if (text_width(cut) <= width)
        return cut;
    char *shorter = text_cut_scopes(cut, width);
    free(cut);
    return shorter;
}

/* ---- objects ---- */

/* The kind and the maker, "mutex made in new_queue", or in less room "mutex of new_q…"; NULL if it has no room. */
static char *text_cut_made(const char *kind, const char *made, size_t width)
{
    char *name = display_name(made);
    const bool whole = text_width(kind) + strlen(TEXT_MADE) + text_width(name) <= width;
    const char *word = whole ? TEXT_MADE : " of ";
    const size_t rest = text_width(kind) + strlen(word);
    char *cut = text_cut_name(name, width > rest ? width - rest : 0);
    char *text = width < rest + MIN_MAKER ? NULL : need_text("%s%s%s", kind, word, cut);
    free(name);
    free(cut);
    return text;
}

/* The kind and the end of the name. */
static char *text_cut_named(const char *kind, const char *name, size_t width)
{
    const size_t rest = text_width(kind) + 1 + text_width(text_cut_dots());
    if (width < rest + MIN_HEAD)
        return NULL;
    return need_text("%s %s%s", kind, text_cut_dots(), name + text_cut_tail(name, width - rest));
}

static char *text_cut_parted(const char *kind, const char *name, const char *made, size_t width)
{
    const bool address = strncmp(name, "0x", 2) == 0;
    if (!address && made) {
        char *whole = need_text("%s %s", kind, name);
        if (text_width(whole) <= width)
            return whole;
        free(whole);
    }
    if (!address || !made)
        return text_cut_named(kind, name, width);
    char *shorter = text_cut_named(kind, name, text_width(kind) + 1 + text_width(text_cut_dots()) + ADDRESS_END);
    char *text = need_text("%s" TEXT_MADE "%s", shorter, made);
    free(shorter);
    if (text_width(text) <= width)
        return text;
    free(text);
    return text_cut_made(kind, made, width);
}

char *text_cut_object(const char *object, size_t width)
{
    if (text_width(object) <= width)
        return need_copy(object, strlen(object));
    const char *maker = strstr(object, TEXT_MADE), *made = maker ? maker + strlen(TEXT_MADE) : NULL;
    char *thing = need_copy(object, maker ? (size_t)(maker - object) : strlen(object)), *cut = NULL;
    char *name = strchr(thing, ' ');
    if (name)
        *name++ = '\0';
    if (name)
        cut = text_cut_parted(thing, name, made, width);
    else if (made)
        cut = text_cut_made(thing, made, width);
    free(thing);
    return cut ? cut : text_cut_middle(object, width);
}

/* ---- names that stay different ---- */

/* A name and its shorter forms. */
struct text_cut_form {
    char *whole, *display, *cut;
    size_t width;
    size_t common; /* bytes that the display form shares with the most similar other name */
};

static int text_cut_compare_displays(const void *a, const void *b)
{
    const struct text_cut_form *x = *(struct text_cut_form *const *)a, *y = *(struct text_cut_form *const *)b;
    const int order = strcmp(x->display, y->display);
    return order ? order : strcmp(x->whole, y->whole);
}

static int text_cut_compare_cuts(const void *a, const void *b)
{
    const struct text_cut_form *x = *(struct text_cut_form *const *)a, *y = *(struct text_cut_form *const *)b;
    const int order = strcmp(x->cut, y->cut);
    return order ? order : text_cut_compare_displays(a, b);
}

static size_t text_cut_common(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

/* Removes the " const" of a method if the name is too wide with it. */
static void text_cut_qualifier(char *name, size_t width)
{
    static const char qualifier[] = ") const";
    const size_t length = strlen(name), end = sizeof qualifier - 1;
    if (length >= end && text_width(name) > width && strcmp(name + length - end, qualifier) == 0)
        name[length - end + 1] = '\0';
}

/* Cuts the beginning, so that the end of the name stays. */
static char *text_cut_beginning(const char *name, size_t width)
{
    char *elided = display_name_elide(name, &(struct display_elision){ 0, true, text_cut_dots() });
    const size_t dots = text_width(text_cut_dots());
    text_cut_qualifier(elided, width);
    char *cut = text_width(elided) <= width || width <= dots
                    ? text_cut_middle(elided, width)
                    : need_text("%s%s", text_cut_dots(), elided + text_cut_tail(elided, width - dots));
    free(elided);
    return cut;
}

/* Where the word begins that contains the byte `at`. In parameters, scopes are a part of it. */
static size_t text_cut_word(const char *name, size_t at, bool parameter)
{
    size_t begin = at;
    while (begin > 0 && at - begin < LONGEST_WORD && !strchr(parameter ? " ,(<" : " ,(<:", name[begin - 1]))
        begin--;
    while (begin > 0 && ((unsigned char)name[begin] & 0xc0) == 0x80) /* no half of a character */
        begin--;
    return begin;
}

/* Shows two parts of a text. The first one has at least a third of the room. */
static char *text_cut_parts(const char *first, size_t length, const char *second, size_t width)
{
    const size_t room = width - text_width(text_cut_dots()), least = room / 3, rest = text_width(second);
    const size_t given = room > rest ? room - rest : 0;
    size_t head = text_cut_head(first, given > least ? given : least);
    head = head < length ? head : length;
    char *shown = need_copy(first, head);
    const size_t tail = text_cut_head(second, room - text_width(shown));
    char *cut = need_text("%s%s%.*s", shown, text_cut_dots(), (int)tail, second);
    free(shown);
    return cut;
}

/* Shows the beginning of the name, and its text from the word on in which it differs from others. If parameters differ,
 * scopes and the parameters before are left out. */
static char *text_cut_difference(const char *name, size_t differs, size_t width)
{
    const size_t dots = text_width(text_cut_dots());
    const struct short_name s = short_name_find(name);
    const bool parameter = differs >= s.end && !strchr(name, ';');
    const char *shown = name + (parameter ? s.last : text_cut_return_type(name));
    const char *end = name + text_cut_word(name, differs, parameter);
    if (end < shown || width <= dots + 2 * MIN_HEAD)
        return text_cut_name(name, width);
    if (text_cut_head(shown, width - dots - MIN_HEAD) > (size_t)(end - shown))
        return text_width(shown) <= width
                   ? need_copy(shown, strlen(shown))
                   : need_text("%.*s%s", (int)text_cut_head(shown, width - dots), shown, text_cut_dots());
    return text_cut_parts(shown, parameter ? s.end + 1 - s.last : strlen(shown), end, width);
}

/* Different names with one display form are shown whole. */
static void text_cut_keep_whole(struct text_cut_form **sorted, size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && strcmp(sorted[next]->display, sorted[i]->display) == 0;)
            next++;
        const bool differ = strcmp(sorted[i]->whole, sorted[next - 1]->whole) != 0;
        for (size_t k = i; differ && k < next; k++) {
            free(sorted[k]->display);
            sorted[k]->display = need_copy(sorted[k]->whole, strlen(sorted[k]->whole));
        }
    }
}

/* Sets what each name of a group shares with its neighbours. The group is sorted by display forms. */
static void text_cut_find_common(struct text_cut_form **group, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const bool same = strcmp(group[i - 1]->display, group[i]->display) == 0;
        group[i]->common = same ? group[i - 1]->common : text_cut_common(group[i - 1]->display, group[i]->display);
    }
    size_t after = 0;
    for (size_t i = count - 1; i-- > 0;) {
        if (strcmp(group[i]->display, group[i + 1]->display) != 0)
            after = text_cut_common(group[i]->display, group[i + 1]->display);
        group[i]->common = after > group[i]->common ? after : group[i]->common;
    }
}

/* Calls `separate` for each group of different names that were cut to the same text. The list is sorted by cuts. */
static void text_cut_each_group(struct text_cut_form **sorted, size_t count,
                                void (*separate)(struct text_cut_form **group, size_t count))
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && strcmp(sorted[next]->cut, sorted[i]->cut) == 0;)
            next++;
        if (strcmp(sorted[i]->display, sorted[next - 1]->display) != 0)
            separate(sorted + i, next - i);
    }
}

static void text_cut_show_differences(struct text_cut_form **group, size_t count)
{
    text_cut_find_common(group, count);
    for (size_t i = 0; i < count; i++) {
        free(group[i]->cut);
        group[i]->cut = text_cut_difference(group[i]->display, group[i]->common, group[i]->width);
    }
}

/* First tries the ends of the names, as functions of different classes differ before their own names. */
static void text_cut_separate(struct text_cut_form **group, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(group[i]->cut);
        group[i]->cut = text_cut_beginning(group[i]->display, group[i]->width);
    }
    qsort(group, count, sizeof *group, text_cut_compare_cuts);
    text_cut_each_group(group, count, text_cut_show_differences);
}

static struct text_cut_form *text_cut_new_forms(char **names, size_t count, struct text_cut_form ***sorted)
{
    struct text_cut_form *forms = need_memory(count + 1, sizeof *forms);
    *sorted = need_memory(count + 1, sizeof **sorted);
    for (size_t i = 0; i < count; i++) {
        forms[i].whole = forms[i].display = names[i];
        (*sorted)[i] = &forms[i];
    }
    return forms;
}

void text_cut_display(char **names, size_t count)
{
    struct text_cut_form **sorted, *forms = text_cut_new_forms(names, count, &sorted);
    for (size_t i = 0; i < count; i++)
        forms[i].display = display_name(names[i]);
    qsort(sorted, count, sizeof *sorted, text_cut_compare_displays);
    text_cut_keep_whole(sorted, count);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
        names[i] = forms[i].display;
    }
    free(sorted);
    free(forms);
}

void text_cut_names(char **names, const size_t *widths, size_t count)
{
    struct text_cut_form **sorted, *forms = text_cut_new_forms(names, count, &sorted);
    for (size_t i = 0; i < count; i++) {
        forms[i].width = widths[i];
        forms[i].cut = text_cut_name(names[i], widths[i]);
    }
    qsort(sorted, count, sizeof *sorted, text_cut_compare_cuts);
    text_cut_each_group(sorted, count, text_cut_separate);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
        names[i] = forms[i].cut;
    }
    free(sorted);
    free(forms);
}
