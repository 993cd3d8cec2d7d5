/* Parses the lines of a PerfLog log into records (docs/perflog.md). */
#include "perflog/perflog_parser.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "perflog/perflog_lines.h"

/* The rest of a line. */
struct perflog_rest {
    const char *at, *end;
};

static bool perflog_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether words can have the character, in any locale. */
static bool perflog_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void perflog_skip_blanks(struct perflog_rest *rest)
{
    while (rest->at < rest->end && perflog_is_blank(*rest->at))
        rest->at++;
}

static struct perflog_text perflog_trim_text(const char *from, const char *to)
{
    while (from < to && perflog_is_blank(*from))
        from++;
    while (from < to && perflog_is_blank(to[-1]))
        to--;
    return (struct perflog_text){ from, (size_t)(to - from) };
}

static struct perflog_text perflog_text_between(const char *from, const char *to)
{
    return (struct perflog_text){ from, (size_t)(to - from) };
}

/* Skips blanks and the character. Returns whether it was there. */
static bool perflog_read_character(struct perflog_rest *rest, char c)
{
    struct perflog_rest after = *rest;
    perflog_skip_blanks(&after);
    if (after.at == after.end || *after.at != c)
        return false;
    *rest = (struct perflog_rest){ after.at + 1, after.end };
    return true;
}

/* Reads the next word; it is empty if there is none. */
static struct perflog_text perflog_read_any_word(struct perflog_rest *rest)
{
    perflog_skip_blanks(rest);
    const char *from = rest->at;
    while (rest->at < rest->end && perflog_is_word(*rest->at))
        rest->at++;
    return perflog_text_between(from, rest->at);
}

static bool perflog_text_is(struct perflog_text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.at, word, text.length) == 0;
}

/* Skips the word, in upper or lower case. Returns whether it was there. */
static bool perflog_read_word(struct perflog_rest *rest, const char *word)
{
    struct perflog_rest after = *rest;
    if (!perflog_text_is(perflog_read_any_word(&after), word))
        return false;
    *rest = after;
    return true;
}

/* Reads "[text]" up to the first closing bracket. */
static bool perflog_read_brackets(struct perflog_rest *rest, struct perflog_text *text)
{
    struct perflog_rest after = *rest;
    if (!perflog_read_character(&after, '['))
        return false;
    const char *close = memchr(after.at, ']', (size_t)(after.end - after.at));
    if (!close)
        return false;
    *text = perflog_text_between(after.at, close);
    *rest = (struct perflog_rest){ close + 1, rest->end };
    return true;
}

static bool perflog_parse_number(struct perflog_text text, uint64_t *number)
{
    text = perflog_trim_text(text.at, text.at + text.length);
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

/* Hexadecimal digits after 0x, or decimal digits. */
static bool perflog_parse_pid(struct perflog_text text, uint64_t *pid)
{
    text = perflog_trim_text(text.at, text.at + text.length);
    if (text.length < 3 || text.at[0] != '0' || (text.at[1] | 0x20) != 'x')
        return perflog_parse_number(text, pid);
    *pid = 0;
    for (size_t i = 2; i < text.length; i++) {
        const char c = text.at[i];
        if (!isxdigit((unsigned char)c) || *pid >> 60)
            return false;
        *pid = *pid << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
}

/* A decimal number with a point or a comma, in millionths. */
static bool perflog_parse_decimal(struct perflog_text text, int128 *millionths)
{
    text = perflog_trim_text(text.at, text.at + text.length);
    const bool negative = text.length && *text.at == '-';
    if (negative)
        text = perflog_text_between(text.at + 1, text.at + text.length);
    size_t whole = 0, places = 0;
    while (whole < text.length && text.at[whole] != '.' && text.at[whole] != ',')
        whole++;
    uint64_t number;
    if (!perflog_parse_number(perflog_text_between(text.at, text.at + whole), &number) ||
        perflog_is_blank(text.at[whole - 1]))
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

static void perflog_report_bad(struct perflog_record *record, const char *problem, struct perflog_text text,
                               perflog_taker *take, void *context)
{
    *record = (struct perflog_record){ .kind = PERFLOG_BAD, .line = record->line, .text = text, .problem = problem };
    take(record, context);
}

/* ---- parsers of one kind each: fill the record and return NULL, or return the problem and set `text` ---- */

/* Parses the name of an application at the end of a line. Names can hold brackets: if the line ends with a bracket, the
 * name ends there. Otherwise it ends at the first bracket, and the rest is another program's text. The opening bracket
 * is optional, since the description of the format omits it for monitors. */
static const char *perflog_parse_app(struct perflog_rest *rest, struct perflog_record *record)
{
    perflog_skip_blanks(rest);
    record->text = perflog_text_between(rest->at, rest->end);
    if (rest->at < rest->end && *rest->at == '[')
        rest->at++;
    const struct perflog_text all = perflog_trim_text(rest->at, rest->end);
    const char *close = memchr(rest->at, ']', (size_t)(rest->end - rest->at));
    if (!close)
        return "the application's name is not closed by ']'";
    if (all.at[all.length - 1] == ']')
        close = all.at + all.length - 1;
    record->app = perflog_text_between(rest->at, close);
    return NULL;
}

/* Finds `word` after a closing bracket and optional blanks: the first or the last place. Returns the bracket, or NULL.
 */
static const char *perflog_find_behind_bracket(struct perflog_rest rest, const char *word, bool last)
{
    const char *found = NULL;
    for (const char *at = rest.at; at < rest.end; at++) {
        if (*at != ']')
            continue;
        struct perflog_rest after = { at + 1, rest.end };
        if (!perflog_read_word(&after, word))
            continue;
        found = at;
        if (!last)
            break;
    }
    return found;
}

static const char *perflog_parse_registered_app(struct perflog_rest *rest, struct perflog_record *record)
{
    static const char *const words[] = { "PROCCESSID", "PROCESSID" };
    record->kind = PERFLOG_APP;
    record->text = perflog_text_between(rest->at, rest->end);
    if (!perflog_read_character(rest, '['))
        return "REGISTERED APP is not followed by [name]";
    const char *close = NULL;
    for (size_t i = 0; i < 2 && !close; i++)
        close = perflog_find_behind_bracket(*rest, words[i], false);
    if (!close)
        return perflog_parse_app(rest, record);
    record->app = perflog_text_between(rest->at, close);
    rest->at = close + 1;
    perflog_read_any_word(rest);
    record->text = perflog_text_between(rest->at, rest->end);
    struct perflog_text pid;
    if (!perflog_read_brackets(rest, &pid) || !perflog_parse_pid(pid, &record->number))
        return "PROCESSID is not followed by a number in brackets";
    record->known = true;
    return NULL;
}

static bool perflog_parse_id(struct perflog_text text, uint32_t *id)
{
    uint64_t number;
    if (!perflog_parse_number(text, &number) || number > UINT32_MAX)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* The string ends at the last "] AS [number]", since it can hold brackets. */
static const char *perflog_parse_marker(struct perflog_rest *rest, struct perflog_record *record)
{
    record->kind = PERFLOG_MARKER;
    record->text = perflog_text_between(rest->at, rest->end);
    if (!perflog_read_character(rest, '['))
        return "REGISTERED MARKER is not followed by [string]";
    struct perflog_text string = { NULL, 0 };
    struct perflog_rest behind = *rest;
    for (const char *at = rest->at; at < rest->end; at++) {
        struct perflog_rest after = { at + 1, rest->end };
        struct perflog_text id;
        if (*at == ']' && perflog_read_word(&after, "AS") && perflog_read_brackets(&after, &id) &&
            perflog_parse_id(id, &record->id)) {
            string = perflog_text_between(rest->at, at);
            behind = after;
        }
    }
    if (!string.at)
        return "REGISTERED MARKER is not followed by [string] AS [number]";
    record->text = perflog_text_between(behind.at, behind.end);
    if (!perflog_read_word(&behind, "BY") || !perflog_read_word(&behind, "APP"))
        return "the marker's number is not followed by BY APP";
    const char *problem = perflog_parse_app(&behind, record);
    if (!problem)
        record->text = string;
    return problem;
}

static const char *perflog_parse_resolution(struct perflog_rest *rest, struct perflog_record *record)
{
    struct perflog_text number;
    record->kind = PERFLOG_RESOLUTION;
    record->text = perflog_text_between(rest->at, rest->end);
    if (!perflog_read_brackets(rest, &number) || !perflog_parse_number(number, &record->number) || record->number == 0)
        return "RESOLUTION is not followed by a number of ticks per second in brackets";
    return NULL;
}

static const char *perflog_parse_other(struct perflog_text word, struct perflog_rest *rest,
                                       struct perflog_record *record)
{
    static const char *const known[] = { "DUR", "CPU", "MEM" };
    record->kind = PERFLOG_OTHER;
    record->name = word;
    record->text = perflog_trim_text(rest->at, rest->end);
    if (word.length == 0)
        return "EVT [number] is not followed by a kind of event";
    /* A prefix of a known kind was cut off: it is not an unknown kind. */
    for (size_t i = 0; i < 3 && record->text.length == 0; i++)
        if (word.length <= 3 && strncasecmp(word.at, known[i], word.length) == 0)
            return "the line is cut off after EVT [number]";
    if (perflog_read_character(rest, '[') && !memchr(rest->at, ']', (size_t)(rest->end - rest->at)))
        return "the event's value is not closed by ']'";
    return NULL;
}

/* Parses "[name] [value]". The name can hold closing brackets. */
static bool perflog_parse_attribute(struct perflog_rest rest, struct perflog_record *record)
{
    struct perflog_rest after = rest;
    if (!perflog_read_character(&after, '['))
        return false;
    for (const char *at = after.at; at < rest.end; at++) {
        struct perflog_rest behind = { at + 1, rest.end };
        if (*at != ']' || !perflog_read_character(&behind, '['))
            continue;
        const char *close = memchr(behind.at, ']', (size_t)(behind.end - behind.at));
        if (!close)
            return false;
        record->kind = PERFLOG_ATTRIBUTE;
        record->name = perflog_text_between(after.at, at);
        record->text = perflog_text_between(behind.at, close);
        return true;
    }
    return false;
}

static const char *perflog_parse_event(struct perflog_rest *rest, struct perflog_record *record)
{
    struct perflog_text id, value;
    record->text = perflog_text_between(rest->at, rest->end);
    if (!perflog_read_brackets(rest, &id) || !perflog_parse_id(id, &record->id))
        return "EVT is not followed by a marker's number in brackets";
    const struct perflog_text word = perflog_read_any_word(rest);
    const bool duration = perflog_text_is(word, "DUR"), cpu = perflog_text_is(word, "CPU"),
               memory = perflog_text_is(word, "MEM");
    if (perflog_text_is(word, "ERROR")) {
        record->kind = PERFLOG_ERROR;
        return NULL;
    }
    if (perflog_text_is(word, "ATTR") && perflog_parse_attribute(*rest, record))
        return NULL;
    if (!duration && !cpu && !memory)
        return perflog_parse_other(word, rest, record);
    record->kind = duration ? PERFLOG_DURATION : cpu ? PERFLOG_CPU : PERFLOG_MEMORY;
    record->text = perflog_trim_text(rest->at, rest->end);
    if (!perflog_read_brackets(rest, &value))
        return "the event's value is not in brackets";
    record->text = value;
    if (duration)
        return perflog_parse_number(value, &record->number) ? NULL : "not a number of ticks";
    return perflog_parse_decimal(value, &record->value) ? NULL : "not a number";
}

/* Parses "APP [name]", followed by an event or the library's calibration. */
static const char *perflog_parse_app_line(struct perflog_rest *rest, struct perflog_record *record)
{
    record->text = perflog_text_between(rest->at, rest->end);
    if (!perflog_read_character(rest, '['))
        return "APP is not followed by [name]";
    const char *event = perflog_find_behind_bracket(*rest, "EVT", false);
    if (event) {
        record->app = perflog_text_between(rest->at, event);
        rest->at = event + 1;
        perflog_read_any_word(rest);
        return perflog_parse_event(rest, record);
    }
    const char *calibration = perflog_find_behind_bracket(*rest, "CAL", false);
    if (!calibration)
        calibration = perflog_find_behind_bracket(*rest, "CPU", false);
    if (!calibration)
        return "APP [name] is not followed by EVT";
    struct perflog_text value;
    rest->at = calibration + 1;
    record->kind = PERFLOG_CALIBRATION;
    record->text = perflog_trim_text(rest->at, rest->end);
    const bool cpu = perflog_read_word(rest, "CPU");
    if (perflog_read_word(rest, "CAL") && perflog_read_brackets(rest, &value))
        return NULL;
    if (cpu && perflog_read_word(rest, "MON") && perflog_read_brackets(rest, &value) &&
        perflog_read_word(rest, "FREQ") && perflog_read_brackets(rest, &value))
        return NULL;
    return "neither an event nor the library's calibration";
}

/* The library's other form of a duration: [name] took [ticks] ticks. */
static const char *perflog_parse_took(struct perflog_rest *rest, struct perflog_record *record)
{
    struct perflog_text ticks;
    record->kind = PERFLOG_NAMED;
    record->text = perflog_text_between(rest->at, rest->end);
    rest->at++;
    const char *close = perflog_find_behind_bracket(*rest, "TOOK", true);
    if (!close)
        return "neither a header, a marker nor an event";
    const char *from = rest->at;
    rest->at = close + 1;
    perflog_read_any_word(rest);
    record->text = perflog_trim_text(rest->at, rest->end);
    if (!perflog_read_brackets(rest, &ticks) || !perflog_parse_number(ticks, &record->number))
        return "not a number of ticks";
    record->text = perflog_trim_text(from, close);
    return NULL;
}

/* ---- */

/* Parses the KEY=[value] pairs of a header; a line can hold several. Text after them is another program's, unless it
 * is a pair that was cut off. */
static void perflog_parse_fields(struct perflog_rest rest, struct perflog_record *record, perflog_taker *take,
                                 void *context)
{
    const struct perflog_rest whole = rest;
    for (bool any = false;; any = true) {
        struct perflog_rest pair = rest;
        record->kind = PERFLOG_FIELD;
        record->name = perflog_read_any_word(&pair);
        const bool named = record->name.length && perflog_read_character(&pair, '=');
        if (named && perflog_read_brackets(&pair, &record->text)) {
            take(record, context);
            rest = pair;
            continue;
        }
        if (named)
            perflog_report_bad(record, "a value of the header is not in brackets", perflog_trim_text(rest.at, rest.end),
                               take, context);
        else if (!any)
            perflog_report_bad(record, "neither a header, a marker nor an event",
                               perflog_trim_text(whole.at, whole.end), take, context);
        return;
    }
}

/* The text between a tag and the next tag or the line's end. */
static void perflog_parse_tagged(struct perflog_rest rest, uint64_t line, perflog_taker *take, void *context)
{
    struct perflog_record record = { .line = line };
    struct perflog_rest body = rest;
    const char *problem;
    perflog_skip_blanks(&body);
    if (body.at == body.end) {
        perflog_report_bad(&record, "nothing follows the tag", perflog_trim_text(body.at, body.end), take, context);
        return;
    }
    if (perflog_read_word(&body, "REGISTERED")) {
        record.text = perflog_text_between(body.at, body.end);
        problem = perflog_read_word(&body, "APP")      ? perflog_parse_registered_app(&body, &record)
                  : perflog_read_word(&body, "MARKER") ? perflog_parse_marker(&body, &record)
                                                       : "REGISTERED is followed by neither APP nor MARKER";
    } else if (perflog_read_word(&body, "RESOLUTION") ||
               (perflog_read_word(&body, "FREQUENCY") && perflog_read_word(&body, "IS"))) {
        problem = perflog_parse_resolution(&body, &record);
    } else if (perflog_read_word(&body, "APP")) {
        problem = perflog_parse_app_line(&body, &record);
    } else if (*body.at == '[') {
        problem = perflog_parse_took(&body, &record);
    } else {
        perflog_parse_fields(rest, &record, take, context);
        return;
    }
    if (problem)
        perflog_report_bad(&record, problem, perflog_trim_text(record.text.at, record.text.at + record.text.length),
                           take, context);
    else
        take(&record, context);
}

/* Whether a line without a tag has the parts of a tag in another order, as in a machine-translated page. Other lines
 * belong to other programs. */
static bool perflog_is_scrambled(const char *text, size_t length)
{
    if (!memchr(text, '[', length))
        return false;
    for (size_t at = 0; at + 4 < length; at++) {
        if ((text[at] | 0x20) != 'p' || strncasecmp(text + at, "PERF", 4) != 0 || (at && perflog_is_word(text[at - 1])))
            continue;
        struct perflog_rest behind = { text + at + 4, text + length };
        if (perflog_read_character(&behind, '#') && behind.at < behind.end && *behind.at == '#')
            return true;
    }
    return false;
}

static void perflog_parse_line(const char *text, size_t length, uint64_t line, perflog_taker *take, void *context)
{
    size_t end;
    size_t tag = perflog_find_tag(text, length, 0, &end);
    if (tag == length && perflog_is_scrambled(text, length)) {
        struct perflog_record record = { .line = line };
        perflog_report_bad(&record, "the parts of a PerfLog line in another order: \"## PERF ##\" must come first",
                           perflog_trim_text(text, text + length), take, context);
    }
    /* If a line was cut off, the next one follows on the same line: each tag begins a record. */
    while (tag < length) {
        const char *from = text + end;
        tag = perflog_find_tag(text, length, end, &end);
        perflog_parse_tagged((struct perflog_rest){ from, text + tag }, line, take, context);
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
        perflog_parse_line(text, length, lines.line, take, context);
    const int error = errno;
    perflog_lines_end(&lines);
    errno = error;
    return !ferror(in);
}
