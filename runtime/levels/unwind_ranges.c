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

/* Bytes that are read one after another. Where there are no more, zeros are read, and `good` becomes false. */
struct unwind_bytes {
    uint64_t at, end;
    bool good;
};

static bool unwind_take(struct unwind_bytes *b, void *into, size_t size)
{
    if (!b->good || b->end < b->at || b->end - b->at < size) {
        memset(into, 0, size);
        b->good = false;
        return false;
    }
    memcpy(into, (const void *)b->at, size);
    b->at += size;
    return true;
}

static uint8_t unwind_byte(struct unwind_bytes *b)
{
    uint8_t byte;
    unwind_take(b, &byte, 1);
    return byte;
}

static uint64_t unwind_uleb(struct unwind_bytes *b)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        const uint8_t byte = unwind_byte(b);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* Reads a number of this encoding, without its base. False if the encoding is not known, or there are no bytes. */
static bool unwind_number(struct unwind_bytes *b, uint8_t encoding, uint64_t *value)
{
    int32_t word;
    int16_t half;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        return unwind_take(b, value, 8);
    case 0x01:
        *value = unwind_uleb(b);
        return b->good;
    case 0x02:
    case 0x0a:
        unwind_take(b, &half, 2);
        *value = encoding & 0x08 ? (uint64_t)half : (uint16_t)half;
        return b->good;
    case 0x03:
    case 0x0b:
        unwind_take(b, &word, 4);
        *value = encoding & 0x08 ? (uint64_t)word : (uint32_t)word;
        return b->good;
    default:
        return false;
    }
}

/* As unwind_number, with its base. Zero stays zero. */
static bool unwind_pointer(struct unwind_bytes *b, uint8_t encoding, uint64_t *value)
{
    const uint64_t place = b->at;
    if (!unwind_number(b, encoding, value))
        return false;
    if (*value && (encoding & 0x70) == ENCODING_RELATIVE)
        *value += place;
    return !(encoding & ENCODING_INDIRECT) && ((encoding & 0x70) == 0 || (encoding & 0x70) == ENCODING_RELATIVE);
}

/* The readable segment that contains the address. */
static struct unwind_segment unwind_segment_of(const struct dl_phdr_info *info, uint64_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && address - begin < segment->p_filesz)
            return (struct unwind_segment){ begin, begin + segment->p_filesz };
    }
    return (struct unwind_segment){ 0, 0 };
}

bool unwind_ranges_begin(struct unwind_ranges *ranges, const struct dl_phdr_info *info)
{
    *ranges = (struct unwind_ranges){ .info = info };
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
            ranges->header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (!ranges->header)
        return false;
    ranges->segment = unwind_segment_of(info, ranges->header);
    struct unwind_bytes b = { ranges->header, ranges->segment.end, true };
    uint8_t head[4];
    uint64_t frames, count;
    if (!unwind_take(&b, head, sizeof head) || head[0] != 1 || head[2] != ENCODING_COUNT || head[3] != ENCODING_TABLE ||
        !unwind_pointer(&b, head[1], &frames) || !unwind_number(&b, ENCODING_COUNT, &count))
        return false;
    ranges->table = (const uint8_t *)b.at;
    const bool fits = count <= (b.end - b.at) / 8;
    ranges->count = fits ? (uint32_t)count : 0;
    return fits;
}

/* How the entries of one kind (a CIE) are encoded. */
struct unwind_kind {
    uint8_t pointers, handlers;
    bool sized; /* the augmentation data have a size */
};

enum { MAX_LETTERS = 16 };

/* Reads what the letters of an augmentation say. */
static bool unwind_read_letters(struct unwind_bytes *b, const char *letters, struct unwind_kind *kind)
{
    for (; *letters; letters++) {
        uint64_t ignored;
        switch (*letters) {
        case 'R':
            kind->pointers = unwind_byte(b);
            break;
        case 'L':
            kind->handlers = unwind_byte(b);
            break;
        case 'P':
            if (!unwind_number(b, unwind_byte(b), &ignored))
                return false;
            break;
        case 'S':
        case 'B':
            break;
        default:
            return false;
        }
    }
    return b->good;
}

static bool unwind_read_kind(struct unwind_bytes b, struct unwind_kind *kind)
{
    char letters[MAX_LETTERS] = "";
    uint8_t head[9]; /* length, zero, version */
    *kind = (struct unwind_kind){ 0, ENCODING_OMIT, false };
    unwind_take(&b, head, sizeof head);
    const uint8_t version = head[8];
    for (size_t i = 0; i < sizeof letters && (letters[i] = (char)unwind_byte(&b)); i++)
        if (i == sizeof letters - 1)
            return false;
    unwind_uleb(&b);
    unwind_uleb(&b); /* signed, but of the same length */
    if (version == 1)
        unwind_byte(&b);
    else
        unwind_uleb(&b);
    if (letters[0] != 'z')
        return b.good && letters[0] == '\0' && version <= 3;
    kind->sized = true;
    unwind_uleb(&b);
    return unwind_read_letters(&b, letters + 1, kind);
}

static bool unwind_read_handlers(const struct unwind_ranges *ranges, struct unwind_bytes *b, uint8_t encoding,
                                 struct unwind_range *range)
{
    if (!unwind_uleb(b) || encoding == ENCODING_OMIT)
        return b->good;
    if (!unwind_pointer(b, encoding, &range->handlers))
        return false;
    range->handlers_end = unwind_segment_of(ranges->info, range->handlers).end;
    return true;
}

bool unwind_range_at(const struct unwind_ranges *ranges, uint32_t index, struct unwind_range *range)
{
    int32_t entry[2];
    memcpy(entry, ranges->table + 8 * (uint64_t)index, sizeof entry);
    const uint64_t begin = ranges->header + (uint64_t)(int64_t)entry[0];
    const uint64_t place = ranges->header + (uint64_t)(int64_t)entry[1];
    const struct unwind_segment *segment = &ranges->segment;
    struct unwind_bytes b = { place, segment->end, place >= segment->begin };
    uint32_t length, back;
    unwind_take(&b, &length, 4);
    if (!unwind_take(&b, &back, 4) || length < 12 || length > segment->end - place || back == 0)
        return false;
    const uint64_t of_kind = place + 4 - back;
    struct unwind_kind kind;
    uint64_t first, size;
    if (!unwind_read_kind((struct unwind_bytes){ of_kind, segment->end, of_kind >= segment->begin }, &kind) ||
        !unwind_pointer(&b, kind.pointers, &first) || !unwind_number(&b, kind.pointers & 0x0f, &size) || first != begin)
        return false;
    *range = (struct unwind_range){ .begin = begin, .end = begin + size };
    return !kind.sized || unwind_read_handlers(ranges, &b, kind.handlers, range);
}

bool unwind_handlers(const struct unwind_range *range, void (*found)(void *data, uint64_t address), void *data)
{
    if (!range->handlers)
        return true;
    struct unwind_bytes b = { range->handlers, range->handlers_end, true };
    uint64_t base = range->begin;
    const uint8_t base_encoding = unwind_byte(&b);
    if (base_encoding != ENCODING_OMIT && !unwind_pointer(&b, base_encoding, &base))
        return false;
    if (unwind_byte(&b) != ENCODING_OMIT)
        unwind_uleb(&b); /* the table of types */
    const uint8_t encoding = unwind_byte(&b);
    const uint64_t size = unwind_uleb(&b);
    if (!b.good || size > b.end - b.at)
        return false;
    b.end = b.at + size;
    while (b.at < b.end) {
        uint64_t begin, length, handler;
        if (!unwind_number(&b, encoding, &begin) || !unwind_number(&b, encoding, &length) ||
            !unwind_number(&b, encoding, &handler))
            return false;
        unwind_uleb(&b); /* the action */
        if (handler)
            found(data, base + handler);
    }
    return b.good;
}
