/*
 * The fuzzer's target for the stacks of samples: registers and words of a stack are unwound by the unwind tables of
 * this program. The input: a byte and four bytes a word. The byte says whether the word is a number, an address of
 * code, or one of the stack. The first eight words are the registers.
 */
#include <link.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "symbols/elf_facts.h"
#include "symbols/unwind.h"

enum { FRAMES = 128, REGISTERS = 14, MAX_WORDS = 1024, MAX_ID = 64 };

static const uint64_t stack_top = 0x7fff00001000;

static struct unwind_module stack_self;
static uint8_t stack_id[MAX_ID];

static int stack_find_self(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    uint64_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    static const char path[] = "/proc/self/exe";
    stack_self = (struct unwind_module){ { path, stack_id, elf_build_id_of(path, stack_id, sizeof stack_id) },
                                         info->dlpi_addr,
                                         info->dlpi_addr,
                                         info->dlpi_addr + end };
    return 1; /* the first module is the program */
}

static bool stack_find(const void *context, uint64_t address, struct unwind_module *module)
{
    (void)context;
    *module = stack_self;
    return address >= stack_self.begin && address < stack_self.end;
}

static uint64_t stack_word(const void *context, uint32_t number)
{
    return ((const uint64_t *)context)[number];
}

static uint64_t stack_take(const uint8_t **data, size_t *size)
{
    const uint8_t kind = fuzz_byte(data, size);
    const uint32_t number = fuzz_word(data, size);
    if (kind % 4 == 0)
        return number;
    return kind % 4 == 1 ? stack_top + number % (2 * MAX_WORDS) * 8
                         : stack_self.begin + number % (stack_self.end - stack_self.begin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct binaries *binaries;
    static struct unwinder *unwinder;
    uint64_t registers[REGISTERS] = { 0 }, words[MAX_WORDS], frames[FRAMES];
    if (!binaries) {
        dl_iterate_phdr(stack_find_self, NULL);
        binaries = binaries_new_quiet();
        unwinder = unwinder_new(binaries);
    }
    for (int i = 0; i < REGISTERS; i++)
        registers[i] = i == 1 ? stack_top : stack_take(&data, &size);
    uint32_t count = 0;
    while (size && count < MAX_WORDS)
        words[count++] = stack_take(&data, &size);
    const struct unwind_copy copy = { registers, REGISTERS, count, stack_word, stack_find, words };
    const size_t found = unwinder ? unwinder_run(unwinder, &copy, frames, FRAMES) : 1;
    fuzz_require(found >= 1 && found <= FRAMES);
    return 0;
}
