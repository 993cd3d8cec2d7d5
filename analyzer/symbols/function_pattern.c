/* Parses patterns of functions, and compares functions with them. */
#include "symbols/function_pattern.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"
#include "base/suggest.h"

static char *function_pattern_copy(const char *text)
{
    return need_copy(text, strlen(text));
}

static bool function_pattern_compile(struct function_pattern *p, const char *regex, struct error *error)
{
    const int wrong = regcomp(&p->regex, regex, REG_EXTENDED | REG_NOSUB);
    char text[200];
    p->by_regex = wrong == 0;
    if (wrong == 0)
        return true;
    regerror(wrong, &p->regex, text, sizeof text);
    return error_set(error, "'%s': %s", p->text, text);
}

bool function_pattern_parse(struct function_pattern *p, const char *text, struct error *error)
{
    *p = (struct function_pattern){ .text = function_pattern_copy(text) };
    const char *value = text, *mark = strchr(text, '!');
    if (strncmp(value, "re:", 3) != 0 && mark) {
        p->module = need_copy(value, (size_t)(mark - value));
        value = mark + 1;
    }
    if (!*value)
        return error_set(error, "'%s' names no function", text);
    if (strncmp(value, "re:", 3) == 0)
        return function_pattern_compile(p, value + 3, error);
    if (strncmp(value, "file:", 5) == 0) {
        p->file = function_pattern_copy(value + 5);
    } else if (strncmp(value, "module:", 7) == 0) {
        free(p->module);
        p->module = function_pattern_copy(value + 7);
    } else {
        p->name = function_pattern_copy(value);
    }
    return true;
}

void function_pattern_drop(struct function_pattern *p)
{
    if (p->by_regex)
        regfree(&p->regex);
    free(p->text);
    free(p->module);
    free(p->file);
    free(p->name);
    free(p->nearest);
    free(p->nearest_module);
}

static bool function_pattern_path_matches(const char *glob, const char *path)
{
    return fnmatch(glob, strchr(glob, '/') ? path : path_file_name(path), 0) == 0;
}

static bool function_pattern_regex_matches(const char *name, const void *pattern)
{
    const struct function_pattern *p = pattern;
    return regexec(&p->regex, name, 0, NULL, 0) == 0;
}

bool function_pattern_matches(const struct function_pattern *p, const char *path, const struct named_function *f)
{
    if (p->module && !function_pattern_path_matches(p->module, path))
        return false;
    if (p->file)
        return f->file && function_pattern_path_matches(p->file, f->file);
    if (p->by_regex)
        return (f->linkage_name && function_pattern_regex_matches(f->linkage_name, p)) ||
               short_name_matches(f->name, function_pattern_regex_matches, p);
    return !p->name || typed_name_matches(f, short_name_is_glob, p->name);
}

static void function_pattern_note_module(struct function_pattern *p, const char *path, const struct named_function *f)
{
    const char *file = path_file_name(path), *const names[] = { file };
    if (p->nearest_module || !typed_name_matches(f, short_name_is_glob, p->name) ||
        (strncmp(file, p->module, strlen(p->module)) != 0 && !suggest(p->module, names, 1)))
        return;
    p->nearest_module = function_pattern_copy(file);
}

void function_pattern_note_similar(struct function_pattern *p, const char *path, const struct named_function *f)
{
    if (!p->name)
        return;
    if (p->module && !function_pattern_path_matches(p->module, path)) {
        function_pattern_note_module(p, path, f);
        return;
    }
    char *own = short_name_of(f->name);
    const char *const names[] = { p->nearest ? p->nearest : own, own };
    if (suggest(p->name, names, 2) != own) {
        free(own);
        return;
    }
    free(p->nearest);
    p->nearest = own;
}

const char *function_pattern_hint(const struct function_pattern *p, const char *otherwise)
{
    if (!p->nearest_module && !p->nearest)
        return otherwise;
    const char *module = p->nearest_module ? p->nearest_module : p->module;
    static _Thread_local char text[400];
    snprintf(text, sizeof text, "; did you mean '%s%s%s'?", module ? module : "", module ? "!" : "",
             p->nearest_module ? p->name : p->nearest);
    return text;
}

char *function_pattern_escape(const char *name)
{
    size_t length;
    char *text = NULL;
    FILE *out = need_stream(&text, &length);
    for (; *name; name++)
        fprintf(out, "%s%c", strchr("*?[\\", *name) ? "\\" : "", *name);
    need_stream_end(out);
    return text;
}
