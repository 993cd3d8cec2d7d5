/* What can be told of an ELF file from its program headers. */
#ifndef DWELL_SYMBOLS_ELF_FACTS_H
#define DWELL_SYMBOLS_ELF_FACTS_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool elf_has_segment(Elf *elf, uint32_t type);

/* Whether the file is libdwell.so, or has libdwell.a in it: the runtime marks it by a note of its own. */
bool elf_has_runtime(Elf *elf);

/* The build-id of a file: how many bytes of it are in `id`; zero where it has none, or one that is longer. */
size_t elf_build_id_of(const char *path, uint8_t *id, size_t room);

#endif
