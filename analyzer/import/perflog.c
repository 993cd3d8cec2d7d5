#include "import/perflog.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "import/perflog_lines.h"

/* What is left of a line. */
struct rest {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The characters of words, in every locale. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(struct rest *rest)
{
    while (rest->at < rest->end && is_blank(*rest->at))
        rest->at++;
}

static struct perflog_text trim(const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (from < to && is_blank(to[-1]))
        to--;
    return (struct perflog_text){ from, (size_t)(to - from) };
}

static struct perflog_text between(const char *from, const char *to)
{
    return (struct perflog_text){ from, (size_t)(to - from) };
}

/* Takes that character, with the blanks before it. */
static bool take_character(struct rest *rest, char c)
{
    struct rest after = *rest;
    skip_blanks(&after);
    if (after.at == after.end || *after.at != c)
        return false;
    *rest = (struct rest){ after.at + 1, after.end };
    return true;
}

/* Takes any word; empty: none is next. */
static struct perflog_text take_any_word(struct rest *rest)
{
    skip_blanks(rest);
    const char *from = rest->at;
    while (rest->at < rest->end && is_word(*rest->at))
        rest->at++;
    return between(from, rest->at);
}

static bool is(struct perflog_text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.at, word, text.length) == 0;
}

/* Takes that word, in capitals or not, and whole. */
static bool take_word(struct rest *rest, const char *word)
{
    struct rest after = *rest;
    if (!is(take_any_word(&after), word))
        return false;
    *rest = after;
    return true;
}

/* Takes "[text]", up to the first bracket. */
static bool take_brackets(struct rest *rest, struct perflog_text *text)
{
    struct rest after = *rest;
    if (!take_character(&after, '['))
        return false;
    const char *close = memchr(after.at, ']', (size_t)(after.end - after.at));
    if (!close)
        return false;
    *text = between(after.at, close);
    *rest = (struct rest){ close + 1, rest->end };
    return true;
}

static bool parse_number(struct perflog_text text, uint64_t *number)
{
    text = trim(text.at, text.at + text.length);
    *number = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        if (__builtin_mul_overflow(*number, 10u, number) ||
            __builtin_add_overflow(*number, (uint64_t)(text.at[i] - '0'), number))
            return false;
    }
    return text.length > 0;
}

/* As the seed's header has it: 0x and hexadecimal digits; or decimal. */
static bool parse_pid(struct perflog_text text, uint64_t *pid)
{
    text = trim(text.at, text.at + text.length);
    if (text.length < 3 || text.at[0] != '0' || (text.at[1] | 0x20) != 'x')
        return parse_number(text, pid);
    *pid = 0;
    for (size_t i = 2; i < text.length; i++) {
        const char c = text.at[i];
        if (!isxdigit((unsigned char)c) || *pid >> 60)
            return false;
        *pid = *pid << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

/* A decimal, with a point or a comma, in millionths. */
static bool parse_decimal(struct perflog_text text, int128 *millionths)
{
    text = trim(text.at, text.at + text.length);
    const bool negative = text.length && *text.at == '-';
    if (negative)
        text = between(text.at + 1, text.at + text.length);
    size_t whole = 0, places = 0;
    while (whole < text.length && text.at[whole] != '.' && text.at[whole] != ',')
        whole++;
    uint64_t number;
    if (!parse_number(between(text.at, text.at + whole), &number) || is_blank(text.at[whole - 1]))
        return false;
    *millionths = (int128)number * 1000000;
    for (int weight = 100000; whole + 1 + places < text.length; places++, weight /= 10) {
        const char digit = text.at[whole + 1 + places];
        if (digit < '0' || digit > '9')
            return false;
        *millionths += weight ? (digit - '0') * weight : places == 6 && digit >= '5';
    }
    if (whole < text.length && places == 0)
        return false;
    if (negative)
        *millionths = -*millionths;
    return true;
}

static void give_bad(struct perflog_record *record, const char *problem, struct perflog_text text, perflog_taker *take,
                     void *context)
{
    *record = (struct perflog_record){ .kind = PERFLOG_BAD, .line = record->line, .text = text, .problem = problem };
    take(record, context);
}

/* ---- each fills the record and returns NULL, or returns what is wrong, with `text` being with what ---- */

/* The name of an application at the end of a line: to the line's last bracket if it ends by that, as names may hold
 * brackets; else to the first, and what follows is another program's. Of those of monitors, the opening one is missing
 * in the description of the format. */
static const char *take_app(struct rest *rest, struct perflog_record *record)
{
    skip_blanks(rest);
    record->text = between(rest->at, rest->end);
    if (rest->at < rest->end && *rest->at == '[')
        rest->at++;
    const struct perflog_text all = trim(rest->at, rest->end);
    const char *close = memchr(rest->at, ']', (size_t)(rest->end - rest->at));
    if (!close)
        return "the application's name is not closed by ']'";
    if (all.at[all.length - 1] == ']')
        close = all.at + all.length - 1;
    record->app = between(rest->at, close);
    return NULL;
}

/* The last one of `word` behind a closing bracket, with blanks between them or not: the bracket; NULL if there is none.
 */
static const char *find_behind_bracket(struct rest rest, const char *word, bool last)
{
    const char *found = NULL;
    for (const char *at = rest.at; at < rest.end; at++) {
        if (*at != ']')
            continue;
        struct rest after = { at + 1, rest.end };
        if (!take_word(&after, word))
            continue;
        found = at;
        if (!last)
            break;
    }
    return found;
}

static const char *parse_registered_app(struct rest *rest, struct perflog_record *record)
{
    static const char *const words[] = { "PROCCESSID", "PROCESSID" };
    record->kind = PERFLOG_APP;
    record->text = between(rest->at, rest->end);
    if (!take_character(rest, '['))
        return "REGISTERED APP is not followed by [name]";
    const char *close = NULL;
    for (size_t i = 0; i < 2 && !close; i++)
        close = find_behind_bracket(*rest, words[i], false);
    if (!close)
        return take_app(rest, record);
    record->app = between(rest->at, close);
    rest->at = close + 1;
    take_any_word(rest);
    record->text = between(rest->at, rest->end);
    struct perflog_text pid;
    if (!take_brackets(rest, &pid) || !parse_pid(pid, &record->number))
        return "PROCESSID is not followed by a number in brackets";
    record->known = true;
    return NULL;
}

static bool parse_id(struct perflog_text text, uint32_t *id)
{
    uint64_t number;
    if (!parse_number(text, &number) || number > UINT32_MAX)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* The string goes to the last "] AS [number]": it may hold brackets itself. */
static const char *parse_marker(struct rest *rest, struct perflog_record *record)
{
    record->kind = PERFLOG_MARKER;
    record->text = between(rest->at, rest->end);
    if (!take_character(rest, '['))
        return "REGISTERED MARKER is not followed by [string]";
    struct perflog_text string = { NULL, 0 };
    struct rest behind = *rest;
    for (const char *at = rest->at; at < rest->end; at++) {
        struct rest after = { at + 1, rest->end };
        struct perflog_text id;
        if (*at == ']' && take_word(&after, "AS") && take_brackets(&after, &id) && parse_id(id, &record->id)) {
            string = between(rest->at, at);
            behind = after;
        }
    }
    if (!string.at)
        return "REGISTERED MARKER is not followed by [string] AS [number]";
    record->text = between(behind.at, behind.end);
    if (!take_word(&behind, "BY") || !take_word(&behind, "APP"))
        return "the marker's number is not followed by BY APP";
    const char *problem = take_app(&behind, record);
    if (!problem)
        record->text = string;
    return problem;
}

static const char *parse_resolution(struct rest *rest, struct perflog_record *record)
{
    struct perflog_text number;
    record->kind = PERFLOG_RESOLUTION;
    record->text = between(rest->at, rest->end);
    if (!take_brackets(rest, &number) || !parse_number(number, &record->number) || record->number == 0)
        return "RESOLUTION is not followed by a number of ticks per second in brackets";
    return NULL;
}

static const char *parse_other(struct perflog_text word, struct rest *rest, struct perflog_record *record)
{
    static const char *const known[] = { "DUR", "CPU", "MEM" };
    record->kind = PERFLOG_OTHER;
    record->name = word;
    record->text = trim(rest->at, rest->end);
    if (word.length == 0)
        return "EVT [number] is not followed by a kind of event";
    /* One that was cut off is not an unknown one. */
    for (size_t i = 0; i < 3 && record->text.length == 0; i++)
        if (word.length <= 3 && strncasecmp(word.at, known[i], word.length) == 0)
            return "the line is cut off behind EVT [number]";
    if (take_character(rest, '[') && !memchr(rest->at, ']', (size_t)(rest->end - rest->at)))
        return "the event's value is not closed by ']'";
    return NULL;
}

/* [name] [value], of which the name may hold brackets that close. */
static bool parse_attribute(struct rest rest, struct perflog_record *record)
{
    struct rest after = rest;
    if (!take_character(&after, '['))
        return false;
    for (const char *at = after.at; at < rest.end; at++) {
        struct rest behind = { at + 1, rest.end };
        if (*at != ']' || !take_character(&behind, '['))
            continue;
        const char *close = memchr(behind.at, ']', (size_t)(behind.end - behind.at));
        if (!close)
            return false;
        record->kind = PERFLOG_ATTRIBUTE;
        record->name = between(after.at, at);
        record->text = between(behind.at, close);
        return true;
    }
    return false;
}

static const char *parse_event(struct rest *rest, struct perflog_record *record)
{
    struct perflog_text id, value;
    record->text = between(rest->at, rest->end);
    if (!take_brackets(rest, &id) || !parse_id(id, &record->id))
        return "EVT is not followed by a marker's number in brackets";
    const struct perflog_text word = take_any_word(rest);
    const bool duration = is(word, "DUR"), cpu = is(word, "CPU"), memory = is(word, "MEM");
    if (is(word, "ERROR")) {
        record->kind = PERFLOG_ERROR;
        return NULL;
    }
    if (is(word, "ATTR") && parse_attribute(*rest, record))
        return NULL;
    if (!duration && !cpu && !memory)
        return parse_other(word, rest, record);
    record->kind = duration ? PERFLOG_DURATION : cpu ? PERFLOG_CPU : PERFLOG_MEMORY;
    record->text = trim(rest->at, rest->end);
    if (!take_brackets(rest, &value))
        return "the event's value is not in brackets";
    record->text = value;
    if (duration)
        return parse_number(value, &record->number) ? NULL : "not a number of ticks";
    return parse_decimal(value, &record->value) ? NULL : "not a number";
}

/* APP [name], with an event or what the library says of its calibration. */
static const char *parse_app_line(struct rest *rest, struct perflog_record *record)
{
    record->text = between(rest->at, rest->end);
    if (!take_character(rest, '['))
        return "APP is not followed by [name]";
    const char *event = find_behind_bracket(*rest, "EVT", false);
    if (event) {
        record->app = between(rest->at, event);
        rest->at = event + 1;
        take_any_word(rest);
        return parse_event(rest, record);
    }
    const char *calibration = find_behind_bracket(*rest, "CAL", false);
    if (!calibration)
        calibration = find_behind_bracket(*rest, "CPU", false);
    if (!calibration)
        return "APP [name] is not followed by EVT";
    struct perflog_text value;
    rest->at = calibration + 1;
    record->kind = PERFLOG_CALIBRATION;
    record->text = trim(rest->at, rest->end);
    const bool cpu = take_word(rest, "CPU");
    if (take_word(rest, "CAL") && take_brackets(rest, &value))
        return NULL;
    if (cpu && take_word(rest, "MON") && take_brackets(rest, &value) && take_word(rest, "FREQ") &&
        take_brackets(rest, &value))
        return NULL;
    return "neither an event nor the library's calibration";
}

/* The other form of the library's lines: [name] took [ticks] ticks. */
static const char *parse_took(struct rest *rest, struct perflog_record *record)
{
    struct perflog_text ticks;
    record->kind = PERFLOG_NAMED;
    record->text = between(rest->at, rest->end);
    rest->at++;
    const char *close = find_behind_bracket(*rest, "TOOK", true);
    if (!close)
        return "neither a header, a marker nor an event";
    const char *from = rest->at;
    rest->at = close + 1;
    take_any_word(rest);
    record->text = trim(rest->at, rest->end);
    if (!take_brackets(rest, &ticks) || !parse_number(ticks, &record->number))
        return "not a number of ticks";
    record->text = trim(from, close);
    return NULL;
}

/* ---- */

/* KEY=[value] pairs of a header, of which a line may hold several. What follows them is another program's, unless it is
 * one that was cut off. */
static void parse_fields(struct rest rest, struct perflog_record *record, perflog_taker *take, void *context)
{
    const struct rest whole = rest;
    for (bool any = false;; any = true) {
        struct rest pair = rest;
        record->kind = PERFLOG_FIELD;
        record->name = take_any_word(&pair);
        const bool named = record->name.length && take_character(&pair, '=');
        if (named && take_brackets(&pair, &record->text)) {
            take(record, context);
            rest = pair;
            continue;
        }
        if (named)
            give_bad(record, "a value of the header is not in brackets", trim(rest.at, rest.end), take, context);
        else if (!any)
            give_bad(record, "neither a header, a marker nor an event", trim(whole.at, whole.end), take, context);
        return;
    }
}

/* What stands between a tag and the next one, or the line's end. */
static void parse_tagged(struct rest rest, uint64_t line, perflog_taker *take, void *context)
{
    struct perflog_record record = { .line = line };
    struct rest body = rest;
    const char *problem;
    skip_blanks(&body);
    if (body.at == body.end) {
        give_bad(&record, "nothing follows the tag", trim(body.at, body.end), take, context);
        return;
    }
    if (take_word(&body, "REGISTERED")) {
        record.text = between(body.at, body.end);
        problem = take_word(&body, "APP")      ? parse_registered_app(&body, &record)
                  : take_word(&body, "MARKER") ? parse_marker(&body, &record)
                                               : "REGISTERED is followed by neither APP nor MARKER";
    } else if (take_word(&body, "RESOLUTION") || (take_word(&body, "FREQUENCY") && take_word(&body, "IS"))) {
        problem = parse_resolution(&body, &record);
    } else if (take_word(&body, "APP")) {
        problem = parse_app_line(&body, &record);
    } else if (*body.at == '[') {
        problem = parse_took(&body, &record);
    } else {
        parse_fields(rest, &record, take, context);
        return;
    }
    if (problem)
        give_bad(&record, problem, trim(record.text.at, record.text.at + record.text.length), take, context);
    else
        take(&record, context);
}

/* Whether a line that has no tag has the parts of one in another order, as in a page that a machine translated. Other
 * lines are other programs'. */
static bool is_scrambled(const char *text, size_t length)
{
    if (!memchr(text, '[', length))
        return false;
    for (size_t at = 0; at + 4 < length; at++) {
        if ((text[at] | 0x20) != 'p' || strncasecmp(text + at, "PERF", 4) != 0 || (at && is_word(text[at - 1])))
            continue;
        struct rest behind = { text + at + 4, text + length };
        if (take_character(&behind, '#') && behind.at < behind.end && *behind.at == '#')
            return true;
    }
    return false;
}

static void parse_line(const char *text, size_t length, uint64_t line, perflog_taker *take, void *context)
{
    size_t end;
    size_t tag = perflog_find_tag(text, length, 0, &end);
    if (tag == length && is_scrambled(text, length)) {
        struct perflog_record record = { .line = line };
        give_bad(&record, "the parts of a PerfLog line in another order, \"## PERF ##\" not before them",
                 trim(text, text + length), take, context);
    }
    /* Where lines ran together because one was cut off, the others still count. */
    while (tag < length) {
        const char *from = text + end;
        tag = perflog_find_tag(text, length, end, &end);
        parse_tagged((struct rest){ from, text + tag }, line, take, context);
    }
}

bool perflog_read(FILE *in, perflog_taker *take, void *context)
{
    struct perflog_lines lines;
    const char *text;
    size_t length;
    errno = 0;
    perflog_lines_begin(&lines, in);
    while (perflog_next_line(&lines, &text, &length))
        parse_line(text, length, lines.line, take, context);
    const int error = errno;
    perflog_lines_end(&lines);
    errno = error;
    return !ferror(in);
}
