/*
 * What counts is near the module and not a part of the runtime's code. The way there and back takes a nanosecond more
 * than the count, as processors predict far jumps more slowly. It keeps r11 below the stack pointer, where signals
 * leave it: frames are found as at the beginning of any function (near_frames.c).
 */
#include "levels/near_code.h"

#include <string.h>

#include "common.h"

#if defined(__x86_64__)

#include "levels/code_put.h"
#include "levels/counts.h"

enum { NEAR_COUNTER = 16 };

/* The zero flag says that there is no page: a counter is not zero after it was added to. */
static void near_write_counter(char *at, const struct near_ways *ways, uint64_t function)
{
    at = CODE_PUT(at, "\xf3\x0f\x1e\xfa");     /* endbr64 */
    at = CODE_PUT(at, "\x4c\x89\x5c\x24\xf8"); /* mov %r11, -8(%rsp) */
    at = CODE_PUT(at, "\x64\x4c\x8b\x1c\x25"); /* mov %fs:OFFSET, %r11 */
    at = code_put_word(at, counts_self_offset());
    at = CODE_PUT(at, "\x4c\x03\x1d"); /* add PAGE, %r11 */
    at = code_put_distance(at, (uint64_t)&ways->page);
    at = CODE_PUT(at, "\x4d\x8b\x1b\x4d\x85\xdb\x74\x0a"); /* mov (%r11), %r11; test %r11, %r11; jz 1f */
    at = CODE_PUT(at, "\x4c\x03\x1d");                     /* add COUNT, %r11 */
    at = code_put_distance(at, (uint64_t)&ways->count);
    at = CODE_PUT(at, "\x49\xff\x03");                 /* incq (%r11) */
    at = CODE_PUT(at, "\x4c\x8b\x5c\x24\xf8\x74\x05"); /* 1: mov -8(%rsp), %r11; jz 2f */
    at = CODE_PUT(at, "\xe9");                         /* jmp FUNCTION */
    at = code_put_distance(at, function);
    at = CODE_PUT(at, "\xff\x25"); /* 2: jmp *STUB */
    code_put_distance(at, (uint64_t)&ways->stub);
}

void near_code_write(char *at, const struct near_ways *ways, uint64_t function)
{
    memset(at, 0xcc, NEAR_CODE_BYTES);
    code_put_distance(CODE_PUT(at, "\xff\x25"), (uint64_t)&ways->way); /* jmp *WAY */
    near_write_counter(at + NEAR_COUNTER, ways, function);
}

uint64_t near_code_counter(const char *at)
{
    return (uint64_t)at + NEAR_COUNTER;
}

uint64_t near_code_function(const char *at, uint64_t function)
{
    (void)at;
    return function;
}

#else

enum { WORD = 4, NEAR_FUNCTION = 3 * WORD };

/* Both are within reach, as for the module's calls. A function that is only called directly has no landing pad (BTI).
 * So what calls it is a direct jump, in memory where none is needed. */
void near_code_write(char *at, const struct near_ways *ways, uint64_t function)
{
    const uint64_t way = (uint64_t)&ways->way, pages = way / PAGE - (uint64_t)at / PAGE;
    const uint32_t to_function = (uint32_t)((int64_t)(function - ((uint64_t)at + NEAR_FUNCTION)) / WORD);
    const uint32_t words[NEAR_CODE_BYTES / WORD] = {
        0x90000010u | (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5, /* adrp x16, WAY */
        0xf9400210u | (uint32_t)(way % PAGE / sizeof way) << 10,                           /* ldr x16, [x16, WAY] */
        0xd61f0200u,                                                                       /* br x16 */
        0x14000000u | (to_function & 0x3ffffffu),
    };
    memcpy(at, words, sizeof words);
    __builtin___clear_cache(at, at + sizeof words);
}

/* That takes more registers than code near a module may change. */
uint64_t near_code_counter(const char *at)
{
    (void)at;
    return 0;
}

uint64_t near_code_function(const char *at, uint64_t function)
{
    (void)function;
    return (uint64_t)at + NEAR_FUNCTION;
}

#endif
