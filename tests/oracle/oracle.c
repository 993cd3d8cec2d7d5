/*
 * The stack oracle: a preloaded library that unwinds the stack at every function enter and writes the result. It shares
 * nothing with dwell's runtime: libunwind and the compiler's unwind tables give the stack.
 *
 * ORACLE_OUTPUT names the file. A record is a count and that many addresses, all 64 bits wide. For each frame,
 * innermost first, it has an address inside the frame's call. Addresses of the executable are relative to its load
 * address. Frames of other modules are left out.
 */
#define _GNU_SOURCE 1
#define UNW_LOCAL_ONLY 1
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FRAMES = 1024, BUFFER_WORDS = 1 << 16 };

static uint64_t program_begin, program_end, program_bias;
static uint64_t buffer[BUFFER_WORDS];
static volatile size_t buffer_used;
static int output = -1;

#define NO_PROBES __attribute__((no_instrument_function))

static NO_PROBES int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    program_bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD)
            continue;
        const uint64_t begin = info->dlpi_addr + header->p_vaddr;
        const uint64_t end = begin + header->p_memsz;
        if (!program_begin || begin < program_begin)
            program_begin = begin;
        if (end > program_end)
            program_end = end;
    }
    return 1; /* the first one is the executable */
}

static NO_PROBES void write_buffer(void)
{
    const char *at = (const char *)buffer;
    size_t left = buffer_used * sizeof *buffer;
    while (left > 0) {
        const ssize_t written = write(output, at, left);
        if (written <= 0)
            _exit(111);
        at += written;
        left -= (size_t)written;
    }
    buffer_used = 0;
}

static NO_PROBES void begin(void)
{
    const char *path = getenv("ORACLE_OUTPUT");
    output = open(path ? path : "oracle.out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0)
        _exit(111);
    dl_iterate_phdr(find_program, NULL);
}

static NO_PROBES __attribute__((destructor)) void end(void)
{
    if (output >= 0)
        write_buffer();
}

void __cyg_profile_func_enter(void *function, void *call_site) NO_PROBES;
void __cyg_profile_func_exit(void *function, void *call_site) NO_PROBES;

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
    if (output < 0)
        begin();
    uint64_t frames[MAX_FRAMES];
    size_t count = 0;
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    int exact = 0; /* a signal interrupted the frame, so its address is not after a call */
    while (count < MAX_FRAMES && unw_step(&cursor) > 0) {
        unw_word_t address;
        unw_get_reg(&cursor, UNW_REG_IP, &address);
        if (address >= program_begin && address < program_end)
            frames[count++] = address - program_bias - !exact;
        exact = unw_is_signal_frame(&cursor) > 0;
    }
    if (buffer_used + count + 1 > BUFFER_WORDS)
        write_buffer();
    buffer[buffer_used] = count;
    memcpy(&buffer[buffer_used + 1], frames, count * sizeof *frames);
    buffer_used += count + 1;
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
}
