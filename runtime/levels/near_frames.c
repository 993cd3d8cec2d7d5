/*
 * All near code leaves the stack pointer, the return address and what calls keep as they were at its beginning. So one
 * description fits at each of its instructions.
 *
 * libgcc has functions that take descriptions (__register_frame). They are not used: up to GCC 12, each unwinding takes
 * a lock from then on, and waits forever in a signal handler that has interrupted another one.
 */
#include "levels/near_frames.h"

#include <stddef.h>

#include "common.h"

enum { MOST_PIECES = 8192 };

static struct near_piece {
    uint64_t begin, end; /* a beginning of zero: none; an end of zero: free */
} near_pieces[MOST_PIECES];
static uint32_t near_piece_count; /* with free ones between them */

/* The names are those of the Linux Standard Base. */
static const struct near_description {
    uint32_t cie_length, cie_id;
    uint8_t cie[16];
    uint32_t length, to_cie;
    int32_t begin, size; /* nobody reads them */
    uint8_t augmentation[4];
    uint32_t terminator;
} near_description = {
    .cie_length = sizeof(uint32_t) + sizeof near_description.cie,
#if defined(__x86_64__)
    /* version, augmentation, alignments, register of the return address; DW_CFA_def_cfa %rsp 8; DW_CFA_offset %rip 8 */
    .cie = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1 },
#else
    /* DW_CFA_def_cfa sp 0; the return address is in its register */
    .cie = { 1, 'z', 'R', 0, 1, 0x78, 30, 1, 0x1b, 0x0c, 31, 0 },
#endif
    .length = offsetof(struct near_description, terminator) - offsetof(struct near_description, to_cie),
    .to_cie = offsetof(struct near_description, to_cie),
};

void near_frames_add(uint64_t begin, uint64_t size)
{
    for (uint32_t i = 0; i < MOST_PIECES; i++) {
        uint64_t none = 0;
        if (!__atomic_compare_exchange_n(&near_pieces[i].end, &none, begin + size, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&near_pieces[i].begin, begin, __ATOMIC_RELEASE);
        uint32_t count = __atomic_load_n(&near_piece_count, __ATOMIC_RELAXED);
        while (count <= i && !__atomic_compare_exchange_n(&near_piece_count, &count, i + 1, false, __ATOMIC_RELEASE,
                                                          __ATOMIC_RELAXED))
            ;
        return;
    }
}

static struct near_piece *near_frames_piece(uint64_t address, uint64_t *begin)
{
    const uint32_t count = __atomic_load_n(&near_piece_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        *begin = __atomic_load_n(&near_pieces[i].begin, __ATOMIC_ACQUIRE);
        const uint64_t end = __atomic_load_n(&near_pieces[i].end, __ATOMIC_RELAXED);
        if (*begin && address >= *begin && address < end)
            return &near_pieces[i];
    }
    return NULL;
}

void near_frames_remove(uint64_t begin)
{
    uint64_t found;
    struct near_piece *piece = near_frames_piece(begin, &found);
    if (!piece || found != begin)
        return;
    __atomic_store_n(&piece->begin, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&piece->end, 0, __ATOMIC_RELEASE);
}

const void *near_frames_find(uint64_t address, uint64_t *begin)
{
    return near_frames_piece(address, begin) ? &near_description.length : NULL;
}
