/* The protection of pages of code: a query of Linux 6.11, or the list of mappings as text. */
#include "levels/code_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <stddef.h>
#include <sys/mman.h>

#include "sys.h"

/* Of linux/fs.h. The bits of `flags` are those of mmap's protection, and one for shared mappings. */
struct code_query {
    uint64_t size, wanted, address, begin, end, flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};

enum { QUERY_THIS_OR_NEXT = 0x10, PROTECTION_BITS = PROT_READ | PROT_WRITE | PROT_EXEC, TEXT_AT_ONCE = 1024 };

#define CODE_QUERY _IOWR('f', 17, struct code_query)

bool code_pages_changed;

bool code_pages_begin(struct code_pages *pages)
{
    *pages = (struct code_pages){ .fd = sys_open("/proc/self/maps", O_RDONLY, 0) };
    return pages->fd >= 0;
}

void code_pages_end(struct code_pages *pages)
{
    if (pages->fd >= 0)
        sys_close(pages->fd);
    pages->fd = -1;
}

/* Returns zero, or an error. */
static long code_query(int fd, uint64_t address, struct code_range *range)
{
    struct code_query query = { .size = sizeof query, .wanted = QUERY_THIS_OR_NEXT, .address = address };
    const long result = SYS3(ioctl, fd, CODE_QUERY, &query);
    if (result == 0)
        *range = (struct code_range){ query.begin, query.end, (int)query.flags & PROTECTION_BITS };
    return result;
}

/* A line begins with "BEGIN-END rwx". */
struct code_text {
    struct code_range range;
    uint64_t number;
    int column; /* of the letters; negative before them */
    bool skips; /* the rest of the line */
};

static int code_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns whether the line's range is complete. */
static bool code_text_take(struct code_text *text, char c)
{
    static const char letters[] = "rwx";
    static const int bits[] = { PROT_READ, PROT_WRITE, PROT_EXEC };
    if (c == '\n') {
        *text = (struct code_text){ .column = -1 };
        return false;
    }
    if (text->skips)
        return false;
    if (text->column >= 0) {
        if (c == letters[text->column])
            text->range.protection |= bits[text->column];
        text->skips = ++text->column == 3;
        return text->skips;
    }
    if (code_digit(c) >= 0) {
        text->number = text->number << 4 | (uint64_t)code_digit(c);
        return false;
    }
    *(c == '-' ? &text->range.begin : &text->range.end) = text->number;
    text->number = 0;
    text->column = c == '-' ? -1 : 0;
    return false;
}

/* The first mapping that ends after the address. */
static bool code_read_text(int fd, uint64_t address, struct code_range *range)
{
    char buffer[TEXT_AT_ONCE];
    struct code_text text = { .column = -1 };
    long got;
    if (SYS3(lseek, fd, 0, 0) < 0)
        return false;
    while ((got = SYS3(read, fd, buffer, sizeof buffer)) > 0 || got == -EINTR)
        for (long i = 0; i < got; i++)
            // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the kernel has written these bytes
            if (code_text_take(&text, buffer[i]) && text.range.end > address) {
                *range = text.range;
                return true;
            }
    return false;
}

struct code_range code_pages_at(struct code_pages *pages, uint64_t address)
{
    struct code_range *last = &pages->last;
    if (address >= last->begin && address < last->end)
        return *last;
    const struct code_range nothing = { address, UINT64_MAX, 0 };
    const long error = code_query(pages->fd, address, last);
    if (error == -ENOENT || (error && !code_read_text(pages->fd, address, last)))
        *last = nothing;
    if (address < last->begin)
        *last = (struct code_range){ address, last->begin, 0 };
    return *last;
}

static bool code_is_readable(struct code_pages *pages, uint64_t begin, uint64_t end)
{
    if (pages->fd < 0)
        return !__atomic_load_n(&code_pages_changed, __ATOMIC_ACQUIRE);
    for (uint64_t at = begin; at < end; at = code_pages_at(pages, at).end)
        if (!(code_pages_at(pages, at).protection & PROT_READ))
            return false;
    return true;
}

bool code_pages_are_readable(const struct hook_places *places)
{
    struct code_pages pages;
    bool readable = true;
    code_pages_begin(&pages);
    for (uint32_t i = 0; i < places->code_count && readable; i++)
        readable = code_is_readable(&pages, places->code[i].begin, places->code[i].end);
    code_pages_end(&pages);
    return readable;
}
