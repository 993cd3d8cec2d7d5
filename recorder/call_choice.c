/* Which functions the options name, and what their calls may have on the stack. */
#include "recorder/call_choice.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/path_text.h"
#include "dwell/format.h"
#include "symbols/os_calls.h"
#include "symbols/uncalled_functions.h"

/* Whether the pattern names the function. */
static bool calls_pattern_names(struct call_choice *choice, const struct calling_module *of, const char *name,
                                const char *demangled)
{
    const struct named_function named = {
        .name = demangled,
        .linkage_name = name,
        .module = path_file_name(of->path),
        .build_id = of->id,
        .build_id_length = of->symbols.build_id_length,
    };
    if (function_pattern_matches(&choice->of, of->path, &named))
        return true;
    if (!choice->matches)
        function_pattern_note_similar(&choice->of, of->path, &named);
    return false;
}

bool calls_are_named(struct planned_calls *c, const struct calling_module *of, const char *name)
{
    char *demangled = symbol_demangle(name);
    bool chosen = false;
    for (size_t i = 0; i < c->count; i++) {
        struct call_choice *choice = &c->choices[i];
        choice->names = calls_pattern_names(choice, of, name, demangled);
        chosen |= choice->names;
    }
    free(demangled);
    return chosen;
}

const char *calls_reason(struct planned_calls *c, const char *name)
{
    const char *reason = uncalled_reason(name);
    if (reason || !calling_modules_interpose(&c->found, name))
        return reason;
    if (os_calls_number(name) < 0)
        return "the recording takes their place itself";
    return c->no_os_calls ? "--no-os-calls leaves their rows out" : "they have rows as calls of the system already";
}

void calls_note(struct planned_calls *c, const char *name, const char *reason)
{
    for (size_t i = 0; i < c->count; i++) {
        struct call_choice *choice = &c->choices[i];
        if (!choice->names)
            continue;
        choice->matches += !reason;
        if (!reason)
            continue;
        choice->others |= choice->name && strcmp(choice->linkage_name, name) != 0;
        if (choice->name)
            continue;
        choice->name = symbol_demangle(name);
        choice->linkage_name = name;
        choice->reason = reason;
    }
}

bool calls_have_others(const struct planned_calls *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->choices[i].names && c->choices[i].matches)
            return true;
    return false;
}

bool calls_are_to_plain_library(const struct calling_module *of)
{
    static const char *const plain[] = { "libc.so*",  "libc-2*",   "libm.so*",      "libpthread*", "libz.so*",
                                         "libdl.so*", "librt.so*", "libstdc++.so*", "libgcc_s.so*" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (fnmatch(plain[i], path_file_name(of->path), 0) == 0)
            return true;
    return false;
}

uint32_t calls_stack_bytes(const struct stack_arguments *declared, const struct calling_module *module,
                           const char *name, bool *exact)
{
    const struct stack_arguments_of *of = stack_arguments_of(declared, name);
    *exact = of && of->bytes != STACK_ARGUMENTS_ANY && !uncalled_is_variadic(name);
    if (uncalled_is_variadic(name) || (of && of->bytes == STACK_ARGUMENTS_ANY))
        return DWELL_CALLS_STACK_MOST;
    if (!of)
        return calls_are_to_plain_library(module) ? DWELL_CALLS_STACK : DWELL_CALLS_STACK_MOST;
    return of->bytes <= DWELL_CALLS_STACK_MOST ? (uint32_t)of->bytes : UINT32_MAX;
}

void calls_bound_by(struct dwell_calls_stack *stack, const struct call_frame *frame)
{
    if (frame->bytes >= stack->bytes)
        return;
    const uint32_t bytes = (frame->bytes + 15) & ~(uint32_t)15;
    stack->to_frame_pointer = frame->frame_pointers;
    if (frame->frame_pointers)
        stack->frame_bytes = (uint16_t)bytes;
    else
        stack->bytes = bytes;
}
