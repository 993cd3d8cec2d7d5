/* Reads FUNCTION[:WHAT,...], and matches functions with it. */
#include "arguments/value_choice.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"

char *value_choice_colon(char *text)
{
    static const char *const words[] = { "re:", "file:", "module:" };
    char *from = text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            from = text + strlen(words[i]);
    for (char *colon = strrchr(from, ':'); colon;) {
        const bool doubled = colon > from && colon[-1] == ':';
        if (!doubled && (isalpha((unsigned char)colon[1]) || colon[1] == '_' || colon[1] == '*'))
            return colon;
        char *const end = doubled ? colon - 1 : colon;
        colon = memrchr(from, ':', (size_t)(end - from));
    }
    return NULL;
}

char *value_choice_take_what(char *text)
{
    char *colon = value_choice_colon(text);
    if (colon)
        *colon++ = '\0';
    return colon;
}

bool value_choice_parse(struct value_choice *c, const char *text, struct error *error)
{
    const size_t length = strlen(text);
    *c = (struct value_choice){ .text = need_copy(text, length), .parts = need_copy(text, length) };
    char *colon = value_choice_take_what(c->parts);
    for (char *part; (part = strsep(&colon, ","));) {
        GROW(c->what, c->count, c->room);
        c->what[c->count++] = part;
    }
    return function_pattern_parse(&c->function, c->parts, error);
}

void value_choice_drop(struct value_choice *c)
{
    function_pattern_drop(&c->function);
    free(c->what);
    free(c->parts);
    free(c->text);
}

char *value_choice_take(struct value_choice *c, struct binaries *b, const struct symbol_module *module,
                        uint64_t function)
{
    const struct symbol symbol = binaries_find(b, module, function);
    if (!symbol.linkage_name)
        return NULL;
    char *name = symbol_demangle_of_file(symbol.linkage_name, symbol.file);
    const struct named_function named = {
        .name = name,
        .linkage_name = symbol.linkage_name,
        .module = path_file_name(module->path),
        .file = symbol.file,
        .line = symbol.line,
        .address = function,
        .build_id = module->build_id,
        .build_id_length = module->build_id_length,
    };
    if (function_pattern_matches(&c->function, module->path, &named)) {
        c->matches++;
        return name;
    }
    if (!c->matches)
        function_pattern_note_similar(&c->function, module->path, &named);
    free(name);
    return NULL;
}

bool value_choice_is_name(const struct value_choice *c)
{
    return !strpbrk(c->text, "*?");
}
