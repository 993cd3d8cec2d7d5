/* The names of a profile's functions: the same in all reports and exports. */
#ifndef DWELL_ANALYSIS_NAMES_H
#define DWELL_ANALYSIS_NAMES_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct function_name {
    char *name;         /* demangled, or module+address */
    char *linkage_name; /* from the symbol table; NULL if there is none */
    char *module;       /* file name without folders; "[unknown]" if the file is unknown */
    char *file;         /* source file; NULL if unknown */
    uint32_t line;
};

/* The names of all functions of the profile, in the order of the functions. names_free frees them. */
struct function_name *names_find(const struct session_file *file, const struct profile *profile);

/* The same for a growing profile: *names already has *count names. */
struct binaries;
void names_extend(struct function_name **names, size_t *count, const struct session_file *file,
                  const struct profile *profile, struct binaries *binaries);
void names_free(struct function_name *names, size_t count);
void names_drop(struct function_name *name); /* one of them */

/* Whether nothing but an address of an unknown module is known, which differs in each session. */
bool names_is_nameless(const struct function_name *name);

/* Names of single addresses, such as those of the calls that were open at a trace event. */
struct namer;
struct namer *namer_new(const struct session_file *file);
void namer_free(struct namer *namer);

/* The function that begins at `address` in the process (serial number) at that time. Valid as long as the
 * namer. */
const char *namer_find(struct namer *namer, uint32_t process, uint64_t address, uint64_t time);

/* The same with the function's module and source line. */
const struct function_name *namer_find_function(struct namer *namer, uint32_t process, uint64_t address, uint64_t time);

/* A module's name as names_find returns it. The caller frees it. */
char *names_module(const char *path);

#endif
