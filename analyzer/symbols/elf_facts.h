/* Facts about an ELF file from its headers. */
#ifndef DWELL_SYMBOLS_ELF_FACTS_H
#define DWELL_SYMBOLS_ELF_FACTS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool elf_has_segment(Elf *elf, uint32_t type);

/* Whether the file has a section of that name or, if `name` is NULL, of that type. */
bool elf_has_section(Elf *elf, const char *name, GElf_Word type);

/* The section of that type, of which a file has one: SHT_DYNAMIC, SHT_DYNSYM. NULL if there is none. */
Elf_Scn *elf_section_of(Elf *elf, GElf_Word type, GElf_Shdr *header);

/* The text of the dynamic table's entry number `index` with that tag: DT_SONAME, DT_NEEDED. NULL if there is none. */
const char *elf_dynamic_text(Elf *elf, int64_t tag, size_t index);

/* Whether the file is a loader, which may be started as a program and then loads another one. */
bool elf_is_loader(Elf *elf);

/* Whether the loader that the program names is that of musl. */
bool elf_needs_musl(Elf *elf);

/* Whether the file is libdwell.so or is linked with libdwell.a. The runtime has an ELF note that shows this. */
bool elf_has_runtime(Elf *elf);

/* Whether the file is libdwell.so. */
bool elf_is_runtime(Elf *elf);

/* Whether the file at `path` has a function of that name. */
bool elf_defines(const char *path, const char *name);

/* Whether callers of that function of the library get one of its versions, which is chosen when the program begins. */
bool elf_has_versions_of(Elf *elf, const char *name);

/* Copies the build-id of a file to `id` and returns its length; zero if the file has none, or a longer one. */
size_t elf_build_id_of(const char *path, uint8_t *id, size_t room);

/* Whether the file has that build-id; with a length of zero, whether it has none. */
bool elf_has_build_id(const char *path, const uint8_t *id, size_t length);

#endif
