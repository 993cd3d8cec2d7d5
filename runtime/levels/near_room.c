/* libdwell.so needs none of it: it is too far away from most modules, and tells unwinders itself (near_frames.c). */
#include "levels/near_room.h"

#include <sys/mman.h>

#include "common.h"
#include "levels/call_stubs_machine.h"
#include "sys.h"

#if defined(DWELL_ARCHIVE)

enum { ROOM_BYTES = CALL_STUBS * NEAR_CODE_BYTES };

_Static_assert(ROOM_BYTES % PAGE == 0, "whole pages");

/* Near code needs the description that functions begin with. */
__asm__(".pushsection .text.dwell_near_room, \"ax\", %progbits\n"
        ".p2align 12\n"
        ".hidden near_room\n"
        ".globl near_room\n"
        ".type near_room, %function\n"
        "near_room:\n"
        ".cfi_startproc\n"
#if defined(__x86_64__)
        ".fill 4096 * 80, 1, 0xcc\n"
#else
        ".fill 4096 * 16, 1, 0\n"
#endif
        ".cfi_endproc\n"
        ".size near_room, . - near_room\n"
        ".popsection\n");

_Static_assert(CALL_STUBS == 4096, "the room");

extern char near_room[];
static struct near_ways near_room_ways[CALL_STUBS];
static bool near_room_taken;

char *near_room_open(const struct hook_places *places, uint32_t count, struct near_ways **ways)
{
    if (near_room_taken || count > CALL_STUBS || !hook_places_code(places, (uint64_t)near_room) ||
        SYS3(mprotect, near_room, ROOM_BYTES, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    near_room_taken = true;
    *ways = near_room_ways;
    return near_room;
}

bool near_room_close(void)
{
    return SYS3(mprotect, near_room, ROOM_BYTES, PROT_READ | PROT_EXEC) == 0;
}

void near_room_give_back(const char *at)
{
    near_room_taken &= at != near_room;
}

#else

char *near_room_open(const struct hook_places *places, uint32_t count, struct near_ways **ways)
{
    (void)places, (void)count, (void)ways;
    return NULL;
}

bool near_room_close(void)
{
    return true;
}

void near_room_give_back(const char *at)
{
    (void)at;
}

#endif
