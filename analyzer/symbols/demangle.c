/*
 * Demangles linkage names of C++ and Rust, within limits. A short hostile name can stand for gigabytes of text, since a
 * part of it can refer twice to the part before. A name beyond the limits stays as it is.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/symbols.h"

enum {
    MAX_EXPANSION = 128,  /* bytes of demangled text for each byte of the linkage name */
    MAX_CONVERSIONS = 12, /* each one can double the steps of the parser, which the text does not show */
    LONG_NAME = 4096,     /* libiberty takes half a megabyte of stack for such a name; its own limit is a quarter */
};

struct demangling {
    char *text;
    size_t length, room; /* the room is the limit, and one byte */
    jmp_buf too_long;
};

/* Leaves the demangler, which keeps its own state on the stack. */
static void demangle_add_piece(const char *piece, size_t length, void *context)
{
    struct demangling *d = context;
    if (length >= d->room - d->length)
        longjmp(d->too_long, 1);
    memcpy(d->text + d->length, piece, length);
    d->length += length;
}

/* libiberty parses a template parameter's arguments, "T_I", twice if they are within a conversion operator, "cv". */
static bool demangle_is_cheap(const char *name)
{
    size_t count = 0;
    if (!strstr(name, "cv"))
        return true;
    for (const char *at = name; (at = strchr(at, 'T')) != NULL;) {
        at += 1 + strspn(at + 1, "0123456789");
        count += strncmp(at, "_I", 2) == 0;
    }
    return count <= MAX_CONVERSIONS;
}

static bool demangle_name(struct demangling *d, const char *name)
{
    const int usual = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;
    const int options = strlen(name) <= LONG_NAME ? usual | DMGL_NO_RECURSE_LIMIT : usual;
    if (setjmp(d->too_long))
        return false;
    if (rust_demangle_callback(name, options, demangle_add_piece, d))
        return true;
    d->length = 0;
    return cplus_demangle_v3_callback(name, options, demangle_add_piece, d);
}

char *symbol_demangle(const char *linkage_name)
{
    const size_t length = strlen(linkage_name);
    if (linkage_name[0] != '_' || !demangle_is_cheap(linkage_name))
        return need_copy(linkage_name, length);
    struct demangling d = { .room = MAX_EXPANSION * length + 1 };
    d.text = need_more(NULL, d.room, 1);
    const bool known = demangle_name(&d, linkage_name);
    char *name = known ? need_copy(d.text, d.length) : need_copy(linkage_name, length);
    free(d.text);
    return name;
}
