/* Parses the patterns that select the recorded functions, from options and files. */
#include "recorder/filter_patterns.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/memory.h"
#include "base/suggest.h"

static const struct {
    const char *name;
    uint32_t action;
} actions[] = {
    { "only", FILTER_ONLY },
    { "suppress", DWELL_FILTER_SUPPRESS },
    { "ignore", DWELL_FILTER_IGNORE },
    { "start-on", DWELL_FILTER_START },
    { "stop-on", DWELL_FILTER_STOP },
    { "root", DWELL_FILTER_ROOT },
    { "callers-of", DWELL_FILTER_TARGET },
    { "histogram", DWELL_FILTER_HISTOGRAM },
};

/* Where a filter stands in the command line or a file, and what is wrong there. */
struct filter_place {
    const char *text;
    struct error *error;
};

/* Adds the pattern also if it is none, so that it is freed with the others. */
static bool filters_take_pattern(struct filters *f, uint32_t action, const char *value, const char *place,
                                 struct error *error)
{
    struct filter_pattern p = { .place = need_text("%s", place), .action = action };
    const bool parsed = function_pattern_parse(&p.of, value, error);
    GROW(f->patterns, f->pattern_count, f->pattern_room);
    f->patterns[f->pattern_count++] = p;
    f->actions |= p.action;
    return parsed;
}

static bool filters_add_pattern(struct filters *f, uint32_t action, const char *value, const struct filter_place *place)
{
    struct error error = { NULL };
    if (filters_take_pattern(f, action, value, place->text, &error))
        return true;
    error_set(place->error, "%s: %s", place->text, error.text);
    error_drop(&error);
    return false;
}

bool filters_add_selection(struct filters *f, const char *pattern)
{
    struct error error = { NULL };
    const bool parsed = filters_take_pattern(f, DWELL_FILTER_OUT, pattern, "level", &error);
    error_drop(&error);
    return parsed;
}

/* A range of numbers, both ends included. */
struct filter_range {
    uint32_t least, most;
};

static bool filters_parse_number(const char *value, const struct filter_place *place, struct filter_range range,
                                 uint32_t *number)
{
    char *end;
    errno = 0;
    const unsigned long parsed = strtoul(value, &end, 10);
    if (errno || end == value || *end || *value == '-' || parsed < range.least || parsed > range.most)
        return error_set(place->error, "%s: '%s' is not a number from %" PRIu32 " to %" PRIu32, place->text, value,
                         range.least, range.most);
    *number = (uint32_t)parsed;
    return true;
}

static bool filters_parse_time(const char *value, const struct filter_place *place, uint64_t *ns)
{
    const uint64_t max = 1000000000000000; /* ns */
    if (duration_parse(value, ns) && *ns < max)
        return true;
    if (*value && value[strlen(value) - 1] == '%')
        return error_set(place->error, "%s: '%s': no whole is known while recording; give a time such as 10us",
                         place->text, value);
    return error_set(place->error, "%s: '%s' is not a time such as 500ns, 10us, 2.5ms or 1s", place->text, value);
}

/* Splits PATTERN=VALUE at the last sign. Returns the pattern, which the caller frees, and moves *value to VALUE. NULL
 * if there is no pattern. */
static char *filters_split(const char **value)
{
    const char *sign = strrchr(*value, '=');
    if (!sign)
        return NULL;
    char *pattern = need_copy(*value, (size_t)(sign - *value));
    *value = sign + 1;
    return pattern;
}

static bool filters_add_depth(struct filters *f, const char *value, const struct filter_place *place)
{
    enum { MAX_DEPTH = 8000, MAX_BELOW = 250 };
    uint32_t depth = 0;
    char *pattern = filters_split(&value);
    if (!pattern)
        return filters_parse_number(value, place, (struct filter_range){ 1, MAX_DEPTH }, &f->depth);
    const bool added = filters_parse_number(value, place, (struct filter_range){ 0, MAX_BELOW }, &depth) &&
                       filters_add_pattern(f, (1 + depth) << DWELL_FILTER_DEPTH_SHIFT, pattern, place);
    free(pattern);
    return added;
}

/* The number of a time, from 1. Zero if there is none left. */
static uint32_t filters_number_of_time(struct filters *f, uint64_t ns, const struct filter_place *place)
{
    uint32_t i = 0;
    while (i < f->time_count && f->times_ns[i] != ns)
        i++;
    if (i == DWELL_FILTER_TIMES) {
        error_set(place->error, "%s: there can be %d different times for patterns", place->text, DWELL_FILTER_TIMES);
        return 0;
    }
    if (i == f->time_count)
        f->times_ns[f->time_count++] = ns;
    return i + 1;
}

static bool filters_add_time(struct filters *f, const char *value, const struct filter_place *place)
{
    uint64_t ns;
    char *pattern = filters_split(&value);
    bool added = filters_parse_time(value, place, &ns);
    if (added && pattern) {
        const uint32_t number = filters_number_of_time(f, ns, place);
        added = number && filters_add_pattern(f, number << DWELL_FILTER_TIME_SHIFT, pattern, place);
    } else if (added) {
        f->shortest_ns = ns;
    }
    free(pattern);
    return added;
}

/* Whether names are separated by commas. A name of C++ has commas only in parameters, and patterns in brackets. */
static bool filters_is_list(const char *pattern)
{
    const char *comma = strchr(pattern, ',');
    return comma && comma != pattern && comma[1] && !memchr(pattern, '(', (size_t)(comma - pattern)) &&
           !memchr(pattern, '<', (size_t)(comma - pattern)) && !memchr(pattern, '[', (size_t)(comma - pattern));
}

static bool filters_add_level(struct filters *f, const char *value, const struct filter_place *place)
{
    static const struct {
        const char *text;
        uint32_t action;
    } levels[] = { { "out=", DWELL_FILTER_OUT }, { "counted=", DWELL_FILTER_COUNTED }, { "timed=", FILTER_TIMED } };
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const size_t length = strlen(levels[i].text);
        if (strncmp(value, levels[i].text, length) != 0)
            continue;
        if (!filters_is_list(value + length))
            return filters_add_pattern(f, levels[i].action, value + length, place);
        return error_set(place->error, "%s: '%s' is a list: repeat it for each pattern, as %s%.*s", place->text,
                         value + length, levels[i].text, (int)strcspn(value + length, ","), value + length);
    }
    return error_set(place->error, "%s: '%s' is not timed=PATTERN, counted=PATTERN or out=PATTERN", place->text, value);
}

static bool filters_add_keep(struct filters *f, const char *value, const struct filter_place *place)
{
    uint32_t number;
    char *pattern = keep_watches_add(&f->keep, value, place->text, &number, place->error);
    const bool added = pattern && (keep_is_for_activities(pattern) ||
                                   filters_add_pattern(f, number << DWELL_FILTER_KEEP_SHIFT, pattern, place));
    free(pattern);
    return added;
}

static bool filters_add_size(struct filters *f, const char *value, const struct filter_place *place)
{
    uint32_t size = 0;
    if (!filters_add_pattern(f, DWELL_FILTER_SUPPRESS, "*", place) ||
        !filters_parse_number(value, place, (struct filter_range){ 1, INT32_MAX }, &size))
        return false;
    f->patterns[f->pattern_count - 1].least_size = size;
    return true;
}

bool filters_add(struct filters *f, const char *name, const char *value, const char *place_text, struct error *error)
{
    static const char names[] =
        "only, suppress, ignore, root, callers-of, start-on, stop-on, depth, min, min-size, level, keep, histogram";
    const struct filter_place place = { place_text, error };
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(name, actions[i].name) == 0)
            return filters_add_pattern(f, actions[i].action, value, &place);
    if (strcmp(name, "depth") == 0)
        return filters_add_depth(f, value, &place);
    if (strcmp(name, "min") == 0 || strcmp(name, "min-duration") == 0)
        return filters_add_time(f, value, &place);
    if (strcmp(name, "level") == 0)
        return filters_add_level(f, value, &place);
    if (strcmp(name, "keep") == 0)
        return filters_add_keep(f, value, &place);
    if (strcmp(name, "min-size") == 0)
        return filters_add_size(f, value, &place);
    return error_set(error, "%s: '%s' is none of %s%s", place_text, name, names, suggestion_of(name, names, ""));
}

/* Reads a line, which it changes. */
static bool filters_read_line(struct filters *f, char *line, const char *path, int number, struct error *error)
{
    char place[4200];
    line[strcspn(line, "\n")] = '\0';
    char *name = line + strspn(line, " \t");
    if (*name == '\0' || *name == '#')
        return true;
    char *value = name + strcspn(name, " \t");
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    for (size_t length = strlen(value); length && isspace((unsigned char)value[length - 1]); length--)
        value[length - 1] = '\0';
    snprintf(place, sizeof place, "%.4096s:%d: %s", path, number, name);
    return filters_add(f, name, value, place, error);
}

bool filters_read(struct filters *f, const char *path, struct error *error)
{
    FILE *in = fopen(path, "r");
    if (!in)
        return error_set(error, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    for (int number = 1; good && getline(&line, &room, in) >= 0; number++)
        good = filters_read_line(f, line, path, number, error);
    free(line);
    if (good && ferror(in))
        good = error_set(error, "%s: cannot be read", path);
    fclose(in);
    return good;
}
