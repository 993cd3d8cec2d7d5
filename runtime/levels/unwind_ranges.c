/* The functions of a loaded module, from .eh_frame_hdr, .eh_frame and the tables of exception handlers that these lead
 * to. They are part of the module's mapped memory, and they are there without symbols. */
#include "levels/unwind_ranges.h"

#include <string.h>

/* How pointers are encoded (the names are those of the Linux Standard Base). */
enum {
    ENCODING_OMIT = 0xff,
    ENCODING_RELATIVE = 0x10, /* to the place of the pointer */
    ENCODING_INDIRECT = 0x80,
    ENCODING_TABLE = 0x3b, /* of the table: four bytes, relative to the header */
    ENCODING_COUNT = 0x03, /* four bytes */
};

static uint64_t unwind_uleb(const uint8_t **at)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* Reads a number of this encoding, without its base. False if the encoding is not known. */
static bool unwind_number(const uint8_t **at, uint8_t encoding, uint64_t *value)
{
    int32_t word;
    int16_t half;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        memcpy(value, *at, 8);
        *at += 8;
        return true;
    case 0x01:
        *value = unwind_uleb(at);
        return true;
    case 0x02:
    case 0x0a:
        memcpy(&half, *at, 2);
        *at += 2;
        *value = encoding & 0x08 ? (uint64_t)half : (uint16_t)half;
        return true;
    case 0x03:
    case 0x0b:
        memcpy(&word, *at, 4);
        *at += 4;
        *value = encoding & 0x08 ? (uint64_t)word : (uint32_t)word;
        return true;
    default:
        return false;
    }
}

/* As unwind_number, with its base. Zero stays zero. */
static bool unwind_pointer(const uint8_t **at, uint8_t encoding, uint64_t *value)
{
    const uint64_t place = (uint64_t)*at;
    if (!unwind_number(at, encoding, value))
        return false;
    if (*value && (encoding & 0x70) == ENCODING_RELATIVE)
        *value += place;
    return !(encoding & ENCODING_INDIRECT) && ((encoding & 0x70) == 0 || (encoding & 0x70) == ENCODING_RELATIVE);
}

static bool unwind_find_segment(struct unwind_ranges *ranges, const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && ranges->header - begin < segment->p_filesz) {
            ranges->segment_begin = begin;
            ranges->segment_end = begin + segment->p_filesz;
            return true;
        }
    }
    return false;
}

bool unwind_ranges_begin(struct unwind_ranges *ranges, const struct dl_phdr_info *info)
{
    *ranges = (struct unwind_ranges){ .header = 0 };
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            ranges->header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (!ranges->header || !unwind_find_segment(ranges, info))
        return false;
    const uint8_t *at = (const uint8_t *)ranges->header;
    uint64_t frames, count;
    if (ranges->segment_end - ranges->header < 16 || at[0] != 1 || at[2] != ENCODING_COUNT || at[3] != ENCODING_TABLE)
        return false;
    const uint8_t encoding = at[1];
    at += 4;
    if (!unwind_pointer(&at, encoding, &frames) || !unwind_number(&at, ENCODING_COUNT, &count))
        return false;
    ranges->table = at;
    ranges->count = (uint32_t)count;
    return count <= (ranges->segment_end - (uint64_t)at) / 8;
}

/* How the entries of one kind (a CIE) are encoded. */
struct unwind_kind {
    uint8_t pointers, handlers;
    bool sized; /* the augmentation data have a size */
};

static bool unwind_read_kind(const uint8_t *at, struct unwind_kind *kind)
{
    *kind = (struct unwind_kind){ 0, ENCODING_OMIT, false };
    const uint8_t version = at[8];
    const char *letters = (const char *)at + 9;
    at = (const uint8_t *)letters + strlen(letters) + 1;
    unwind_uleb(&at);
    unwind_uleb(&at); /* signed, but of the same length */
    if (version == 1)
        at++;
    else
        unwind_uleb(&at);
    if (*letters != 'z')
        return *letters == '\0' && version <= 3;
    kind->sized = true;
    unwind_uleb(&at);
    for (letters++; *letters; letters++) {
        uint64_t ignored;
        uint8_t encoding;
        switch (*letters) {
        case 'R':
            kind->pointers = *at++;
            break;
        case 'L':
            kind->handlers = *at++;
            break;
        case 'P':
            encoding = *at++;
            if (!unwind_number(&at, encoding, &ignored))
                return false;
            break;
        case 'S':
        case 'B':
            break;
        default:
            return false;
        }
    }
    return true;
}

bool unwind_range_at(const struct unwind_ranges *ranges, uint32_t index, struct unwind_range *range)
{
    int32_t entry[2];
    memcpy(entry, ranges->table + 8 * (uint64_t)index, sizeof entry);
    const uint64_t begin = ranges->header + (uint64_t)(int64_t)entry[0];
    const uint64_t place = ranges->header + (uint64_t)(int64_t)entry[1];
    if (place < ranges->segment_begin || place + 24 > ranges->segment_end)
        return false;
    const uint8_t *at = (const uint8_t *)place;
    uint32_t length, back;
    memcpy(&length, at, 4);
    memcpy(&back, at + 4, 4);
    struct unwind_kind kind;
    uint64_t first, size;
    const uint64_t of_kind = place + 4 - back;
    if (length < 12 || length > ranges->segment_end - place || back == 0 || of_kind < ranges->segment_begin ||
        of_kind + 16 > ranges->segment_end || !unwind_read_kind((const uint8_t *)of_kind, &kind))
        return false;
    at += 8;
    if (!unwind_pointer(&at, kind.pointers, &first) || !unwind_number(&at, kind.pointers & 0x0f, &size) ||
        first != begin)
        return false;
    *range = (struct unwind_range){ begin, begin + size, 0 };
    if (!kind.sized)
        return true;
    if (unwind_uleb(&at) && kind.handlers != ENCODING_OMIT)
        return unwind_pointer(&at, kind.handlers, &range->handlers);
    return true;
}

bool unwind_handlers(const struct unwind_range *range, void (*found)(void *data, uint64_t address), void *data)
{
    if (!range->handlers)
        return true;
    const uint8_t *at = (const uint8_t *)range->handlers;
    uint64_t base = range->begin;
    const uint8_t base_encoding = *at++;
    if (base_encoding != ENCODING_OMIT && !unwind_pointer(&at, base_encoding, &base))
        return false;
    if (*at++ != ENCODING_OMIT)
        unwind_uleb(&at); /* the table of types */
    const uint8_t encoding = *at++;
    const uint64_t size = unwind_uleb(&at);
    for (const uint8_t *end = at + size; at < end;) {
        uint64_t begin, length, handler;
        if (!unwind_number(&at, encoding, &begin) || !unwind_number(&at, encoding, &length) ||
            !unwind_number(&at, encoding, &handler))
            return false;
        unwind_uleb(&at); /* the action */
        if (handler)
            found(data, base + handler);
    }
    return true;
}
