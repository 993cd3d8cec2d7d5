/*
 * Demangles linkage names of C++, Rust, D, Fortran and Ada, within limits. A short hostile name can stand for gigabytes
 * of text, since a part of it can refer twice to the part before. A name beyond the limits stays as it is.
 */
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbols/symbols.h"

enum {
    MAX_EXPANSION = 128,    /* bytes of demangled text for each byte of the linkage name */
    FEW_LONG = 1 << 19,     /* bytes that any name may have, as long as there are few such names: */
    ALL_LONG = 1 << 24,     /* bytes beyond MAX_EXPANSION, of all names together */
    MAX_CONVERSIONS = 12,   /* each one can double the steps of the parser, which the text does not show */
    USUAL_NAME = 4096,      /* libiberty takes half a megabyte of stack for such a name; its own limit is a quarter */
    LONGEST_NAME = 1 << 16, /* longer ones are demangled if libiberty does so without recursion */
    LONGEST_D = 1024,
    MAX_REFERENCES = 10,     /* in a name of D */
    STACK_FOR_A_BYTE = 1024, /* for longer names than the usual ones; 160 is the most that was seen */
    STACK_BESIDES = 1 << 18,
};

/* What is left of ALL_LONG. */
static atomic_long demangle_spare = ALL_LONG;

struct demangling {
    const char *name;
    int options;
    bool known;
    char *text;
    size_t length, room, limit;
    jmp_buf too_long;
};

/* Leaves the demangler, which keeps its own state on the stack. */
static void demangle_add_piece(const char *piece, size_t length, void *context)
{
    struct demangling *d = context;
    if (length > d->limit - d->length)
        longjmp(d->too_long, 1);
    GROW_BY(d->text, d->length, length, d->room);
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

static void *demangle_run(void *context)
{
    struct demangling *d = context;
    if (setjmp(d->too_long))
        return NULL;
    d->known = rust_demangle_callback(d->name, d->options, demangle_add_piece, d);
    if (!d->known) {
        d->length = 0;
        d->known = cplus_demangle_v3_callback(d->name, d->options, demangle_add_piece, d);
    }
    return NULL;
}

/* On a stack that suffices. */
static bool demangle_run_long(struct demangling *d, size_t length)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    const bool good = pthread_attr_setstacksize(&attributes, length * STACK_FOR_A_BYTE + STACK_BESIDES) == 0 &&
                      pthread_create(&thread, &attributes, demangle_run, d) == 0;
    pthread_attr_destroy(&attributes);
    return good && pthread_join(thread, NULL) == 0;
}

static void demangle_name(struct demangling *d, size_t length)
{
    const int usual = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;
    d->options = usual | DMGL_NO_RECURSE_LIMIT;
    if (length > USUAL_NAME && length <= LONGEST_NAME && demangle_run_long(d, length))
        return;
    if (length > USUAL_NAME)
        d->options = usual;
    demangle_run(d);
}

/* gfortran's names of a module's procedures: "__shapes_MOD_area" is shapes::area. NULL if it is none. No letter of such
 * a name is large but those in the middle. */
static char *demangle_fortran(const char *name)
{
    static const char middle[] = "_MOD_", letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    if (name[0] != '_' || name[1] != '_')
        return NULL;
    const char *module = name + 2, *end = strstr(module, middle);
    const char *procedure = end ? end + sizeof middle - 1 : module;
    if (!end || end == module || strspn(module, letters) != (size_t)(end - module) + 1 || !*procedure ||
        procedure[strspn(procedure, letters)])
        return NULL;
    return need_text("%.*s::%s", (int)(end - module), module, procedure);
}

/* libiberty writes a name of D without limits. Each reference of it to a part before can double the text. */
static char *demangle_d(const char *name, size_t length)
{
    size_t references = 0;
    if (name[1] != 'D' || length > LONGEST_D)
        return NULL;
    for (const char *at = name; (at = strchr(at, 'Q')) != NULL; at++)
        references++;
    char *text = references <= MAX_REFERENCES ? dlang_demangle(name, 0) : NULL;
    if (!text || strlen(text) > MAX_EXPANSION * length) {
        free(text);
        return NULL;
    }
    char *found = need_copy(text, strlen(text));
    free(text);
    return found;
}

static bool demangle_file_is_ada(const char *file)
{
    const char *end = file ? strrchr(file, '.') : NULL;
    return end && (strcmp(end, ".adb") == 0 || strcmp(end, ".ads") == 0);
}

char *symbol_demangle_of_file(const char *linkage_name, const char *file)
{
    const size_t length = strlen(linkage_name);
    char *text = demangle_file_is_ada(file) && length <= LONGEST_NAME ? ada_demangle(linkage_name, 0) : NULL;
    if (!text || text[0] == '<') { /* no name of Ada */
        free(text);
        return symbol_demangle(linkage_name);
    }
    char *found = need_copy(text, strlen(text));
    free(text);
    return found;
}

char *symbol_demangle(const char *linkage_name)
{
    const size_t length = strlen(linkage_name), usual = MAX_EXPANSION * length;
    char *other = linkage_name[0] == '_' ? demangle_fortran(linkage_name) : NULL;
    if (!other && linkage_name[0] == '_')
        other = demangle_d(linkage_name, length);
    if (other)
        return other;
    if (linkage_name[0] != '_' || !demangle_is_cheap(linkage_name))
        return need_copy(linkage_name, length);
    struct demangling d = { .name = linkage_name, .limit = usual };
    if (usual < FEW_LONG && atomic_load(&demangle_spare) >= FEW_LONG)
        d.limit = FEW_LONG;
    demangle_name(&d, length);
    if (d.length > usual)
        atomic_fetch_sub(&demangle_spare, (long)(d.length - usual));
    char *name = d.known ? need_copy(d.text, d.length) : need_copy(linkage_name, length);
    free(d.text);
    return name;
}
