/* The part of dwell doctor that examines a program's file: what there is to record in it. */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/counted_text.h"
#include "recorder/executable.h"
#include "recorder/findings.h"
#include "symbols/elf_facts.h"
#include "symbols/instrumentation.h"
#include "symbols/symbols.h"

static void doctor_examine_kind(struct findings *f, const struct executable *e, Elf *elf)
{
    GElf_Ehdr header;
    gelf_getehdr(elf, &header);
    if (e->status) {
        find_that(f, HEALTH_BAD, "program", "%s %s", e->path, e->wrong);
        return;
    }
    const char *place = header.e_type == ET_DYN ? "position-independent" : "at a fixed address";
    const char *link = elf_has_segment(elf, PT_INTERP) ? "dynamically linked" : "statically linked";
    find_that(f, HEALTH_OK, "program", "%s: %s, %s%s", e->path, link, place,
              e->has_runtime ? ", with the runtime in it" : "");
}

static void doctor_examine_privilege(struct findings *f, const struct executable *e)
{
    struct stat status;
    if (stat(e->path, &status) < 0)
        return;
    const bool user = status.st_mode & S_ISUID && status.st_uid != getuid();
    const bool group = status.st_mode & S_ISGID && status.st_gid != getgid();
    const bool capable = getuid() != 0 && getxattr(e->path, "security.capability", NULL, 0) > 0;
    if (!user && !group && !capable)
        return;
    find_that(f, e->has_runtime ? HEALTH_WARN : HEALTH_BAD, "privilege",
              "it is %s: the loader ignores LD_PRELOAD then; record a copy of it (cp), or as %s",
              user    ? "setuid"
              : group ? "setgid"
                      : "given capabilities by its file",
              user ? "its owner" : "root");
}

static void doctor_examine_probes(struct findings *f, const struct executable *e, const struct instrumentation *calls)
{
    static const char *const mend = "compile and link it with dwell cc, or with -g -finstrument-functions";
    if (!calls->mentioned && !e->has_runtime)
        find_that(f, HEALTH_BAD, "instrumented", "no function of it: %s (libraries that it loads may be)", mend);
    else if (executable_has_own_hooks(e, e->path))
        find_that(f, HEALTH_BAD, "instrumented",
                  "its functions call a __cyg_profile_func_enter of its own: link it without that one");
    else if (!calls->counted)
        find_that(f, HEALTH_OK, "instrumented", "yes (how many functions is not counted for this machine's code)");
    else if (!calls->calls)
        find_that(f, HEALTH_BAD, "instrumented", "the probe is named, but no function calls it: %s", mend);
    else if (!calls->functions)
        find_that(f, HEALTH_OK, "instrumented", "%s of the probe (functions, and copies where they were inlined)",
                  COUNTED(calls->calls, "call"));
    else
        find_that(f, HEALTH_OK, "instrumented", "%s; %s of the probe, as each function has one, and each inlined copy",
                  COUNTED(calls->functions, "function"), COUNTED(calls->calls, "call"));
}

/* Whether any function has a source line, in the program or in a file of debug information. */
static bool doctor_has_lines(const char *path)
{
    uint8_t id[64];
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct binaries *binaries = binaries_new();
    const size_t count = binaries_count(binaries, &module);
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = binaries_find(binaries, &module, binaries_offset(binaries, &module, i)).file != NULL;
    binaries_free(binaries);
    return found;
}

static bool doctor_has_names(const char *path)
{
    uint8_t id[64];
    const struct symbol_module module = { path, id, elf_build_id_of(path, id, sizeof id) };
    struct binaries *binaries = binaries_new();
    const size_t count = binaries_count(binaries, &module);
    binaries_free(binaries);
    return count > 0;
}

static void doctor_examine_symbols(struct findings *f, const struct executable *e, Elf *elf)
{
    const bool inside = elf_has_section(elf, ".debug_info", 0);
    /* No functions are listed of a static program, whose probe is libc's empty one. */
    const bool lines = doctor_has_lines(e->path) || (inside && !doctor_has_names(e->path));
    if (elf_has_section(elf, NULL, SHT_SYMTAB))
        find_that(f, HEALTH_OK, "symbols", "in the program");
    else if (lines)
        find_that(f, HEALTH_OK, "symbols", "in a file of debug information");
    else
        find_that(f, HEALTH_WARN, "symbols",
                  "%s: do not strip it, or install its file of debug information "
                  "(/usr/lib/debug/.build-id, beside it by .gnu_debuglink, or DEBUGINFOD_URLS)",
                  doctor_has_names(e->path) ? "stripped, but for exported functions; others are shown by address"
                                            : "stripped; functions are shown by address");
    if (lines)
        find_that(f, HEALTH_OK, "debug information", "%s", inside ? "in the program" : "in a file of its own");
    else
        find_that(f, HEALTH_WARN, "debug information", "%s, so source lines are unknown; compile with -g",
                  inside ? "in the program, but it has no lines" : "none");
}

static void doctor_examine_elf(struct findings *f, const struct executable *e, Elf *elf)
{
    doctor_examine_kind(f, e, elf);
    doctor_examine_privilege(f, e);
    const struct instrumentation calls = instrumentation_count(elf);
    doctor_examine_probes(f, e, &calls);
    if (calls.mentioned || e->has_runtime)
        doctor_examine_symbols(f, e, elf);
}

void examine_program(struct findings *f, const char *program)
{
    struct executable e = executable_examine(program);
    if (!e.path) {
        find_that(f, HEALTH_BAD, "program", "%s: %s", program, e.wrong);
        return;
    }
    int fd = open(e.path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (fd < 0)
        find_that(f, HEALTH_WARN, "program", "%s may be run, but not read: nothing is known of it", e.path);
    else if (!elf || elf_kind(elf) != ELF_K_ELF)
        find_that(f, HEALTH_WARN, "program", "%s is not a binary; the instrumented programs that it runs are recorded",
                  e.path);
    else
        doctor_examine_elf(f, &e, elf);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    free(e.path);
}
