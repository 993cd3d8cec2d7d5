/* Prints an error as one line on standard error and ends the program. */
#include "commands/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "report/table_formats.h"
#include "trace/session_file.h"

static bool as_json;
static enum die_stage die_stage = DIE_WORKS;

void die_with_json(bool json)
{
    as_json = json;
}

void die_find_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--format=json") == 0 ||
            (strcmp(argv[i], "--format") == 0 && i + 1 < argc && strcmp(argv[i + 1], "json") == 0))
            die_with_json(true);
}

void die_enter(enum die_stage stage)
{
    die_stage = stage;
}

/* The lines of an error's list, without their indentation. */
static void die_print_details(const char *list)
{
    fputs(", \"details\": [", stdout);
    for (const char *line = list, *end; (end = strchr(line, '\n')); line = end + 1) {
        const char *from = line + strspn(line, " ");
        char *detail = need_copy(from, (size_t)(end - from));
        fputs(line == list ? "" : ", ", stdout);
        json_put_text(stdout, detail);
        free(detail);
    }
    fputs("]", stdout);
}

/* What was printed before is left alone: nothing was if no byte was written or waits in the buffer. `list` may be NULL.
 */
static void die_print_json(const char *text, const char *list, bool of_line)
{
    static const char missing[] = ": No such file or directory";
    const size_t length = strlen(text), end = sizeof missing - 1;
    const char *code = of_line                                                      ? "usage"
                       : length >= end && strcmp(text + length - end, missing) == 0 ? "no-session"
                                                                                    : "failed";
    if (!as_json || json_has_begun())
        return;
    printf("{\"schema\": \"dwell-error-1\",\n \"error\": {\"code\": \"%s\", \"message\": ", code);
    json_put_text(stdout, text);
    if (list)
        die_print_details(list);
    fputs("}}\n", stdout);
    fflush(stdout);
}

/* Adds a hint if there is no default session. */
static void die_say(const char *text, const char *list, bool of_line)
{
    const bool none = strcmp(text, DWELL_USUAL_FILE ": No such file or directory") == 0;
    die_print_json(text, list, of_line);
    say("%s%s", text, none ? "; record a program first: dwell record ./prog" : "");
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    die_say(text, NULL, die_stage != DIE_WORKS);
    free(text);
    exit(status);
}

static void die_of_error(const struct error *error, bool of_line) __attribute__((noreturn));
static void die_of_error(const struct error *error, bool of_line)
{
    die_say(error->text, error->list, of_line);
    fputs(error->list ? error->list : "", stderr);
    exit(STATUS_ERROR);
}

void die_of(const struct error *error)
{
    die_of_error(error, die_stage == DIE_READS_LINE);
}

void die_of_line(const struct error *error)
{
    die_of_error(error, true);
}
