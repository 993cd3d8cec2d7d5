/* A binary as it is loaded into memory: bytes at virtual addresses, and the functions of its unwind table. */
#ifndef DWELL_SYMBOLS_IMAGE_H
#define DWELL_SYMBOLS_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_segment {
    uint64_t address, size;
    const uint8_t *bytes; /* of the file */
    bool code;            /* it can be executed */
};

struct image {
    struct image_segment *segments;
    size_t segment_count;
    uint64_t table_header; /* address of .eh_frame_hdr; zero if there is no table that can be searched */
    uint32_t table_count;  /* its functions */
    uint64_t stubs[8];     /* begins and ends of the sections of the linker's stubs */
    unsigned stub_count;
};

/* The image points into the ELF file, which must stay open. image_drop frees the rest. */
struct image image_of(Elf *elf);
void image_drop(struct image *image);

/* Copies bytes of the file. False if they are not all in one segment. */
bool image_read(const struct image *image, uint64_t address, void *into, size_t size);

/* The beginning of the function that is number `i` in the unwind table, by address. False if it cannot be read. */
bool image_table_entry(const struct image *image, uint32_t i, uint64_t *begin);

/* The beginning and the end of the last function of the unwind table that does not begin behind the address. The end is
 * UINT64_MAX if it is unknown. False if there is no such function. */
bool image_function(const struct image *image, uint64_t address, uint64_t *begin, uint64_t *end);

/* Whether the address is in a stub through which calls of other modules go. */
bool image_is_stub(const struct image *image, uint64_t address);

#endif
