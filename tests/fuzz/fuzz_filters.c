/*
 * The fuzzer's target for texts that select and configure: a file of filters, the configuration file, patterns of
 * functions and settings of trace events. What is refused must have a message of one line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "fuzz/filters_input.h"
#include "fuzz/fuzz.h"
#include "recorder/event_settings.h"
#include "recorder/filter_patterns.h"
#include "symbols/function_pattern.h"

#undef fopen
#undef fclose

static jmp_buf filters_end;

/* ---- instead of files, and of the end of the program ---- */

static const uint8_t *filters_data;
static size_t filters_size;
static FILE *filters_open;

FILE *filters_input(const char *path, const char *mode)
{
    (void)path, (void)mode;
    if (filters_open)
        fclose(filters_open);
    filters_open = filters_size ? fmemopen((void *)filters_data, filters_size, "r") : fopen("/dev/null", "r");
    return filters_open;
}

int filters_input_end(FILE *in)
{
    fuzz_require(in == filters_open);
    filters_open = NULL;
    return fclose(in);
}

void die(int status, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fuzz_require(status != STATUS_OK && text[0]);
    longjmp(filters_end, 1);
}

/* The program frees what it holds by its end in die(). Here it goes on. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

/* ---- the target ---- */

/* An expression with many counted repeats takes glibc minutes. Its user wrote it. */
static bool filters_is_costly(const uint8_t *data, size_t size)
{
    return memmem(data, size, "re:", 3) != NULL &&
           (memchr(data, '{', size) || memchr(data, '*', size) || memchr(data, '+', size) || size > 256);
}

static void filters_try_file(void)
{
    struct filters f = { .strict = true };
    struct error error = { NULL };
    fuzz_require(filters_read(&f, "filters", &error) == !error.text);
    fuzz_require(f.time_count <= DWELL_FILTER_TIMES);
    error_drop(&error);
    filters_free(&f);
}

static void filters_try_config(void)
{
    static const struct argp_option options[] = { { "columns", 'c', "LIST", 0, NULL, 0 },
                                                  { "raw", 'r', NULL, 0, NULL, 0 },
                                                  { "limit", 'l', "N", OPTION_ARG_OPTIONAL, NULL, 0 },
                                                  { "no-config", 'n', NULL, 0, NULL, 0 } };
    static char program[] = "dwell";
    char *arguments[] = { program, NULL };
    int count = 1;
    if (!setjmp(filters_end)) {
        char **all = config_prepend(&(struct option_list){ options, 4 }, "report", &count, arguments);
        fuzz_require(count >= 2 && all[0] == program);
        free(all);
    }
    config_forget();
}

static void filters_try_pattern(const char *text)
{
    static const struct named_function functions[] = {
        { "shop::load(int)", "_ZN4shop4loadEi", "shop", "/src/shop.cc", 12, 0x1000, NULL, 0 },
        { "main", "main", "shop", NULL, 0, 0x2000, NULL, 0 },
    };
    struct function_pattern p;
    struct error error = { NULL };
    if (function_pattern_parse(&p, text, &error)) {
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            if (!function_pattern_matches(&p, "/opt/shop", &functions[i]))
                function_pattern_note_similar(&p, "/opt/shop", &functions[i]);
        function_pattern_hint(&p, "");
    } else {
        fuzz_require(error.text && error.text[0]);
    }
    function_pattern_drop(&p);
    error_drop(&error);
}

static void filters_try_event(const char *text)
{
    struct error error = { NULL };
    char *setting = event_setting(text, "fuzz", &error);
    fuzz_require(!setting == (error.text != NULL));
    free(setting);
    error_drop(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    filters_data = data;
    filters_size = size;
    setenv("XDG_CONFIG_HOME", "/config", 1);
    if (!filters_is_costly(data, size)) {
        filters_try_file();
        char *text = need_copy((const char *)data, size);
        filters_try_pattern(text);
        filters_try_event(text);
        free(text);
    }
    filters_try_config();
    return 0;
}
