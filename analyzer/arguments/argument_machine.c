/* The machines whose arguments are read. */
#include "arguments/argument_machine.h"

#include "symbols/code_machine.h"

static const struct argument_machine argument_machine_x86 = {
    .general = 16,
    .vector_first = 17,
    .vectors = 16,
    .frame = 6,
    .stack = 7,
    .long_double = 10,
    .kept = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12, /* rbx, rbp, rsp, r12 to r15 */
    .names = &load_names_x86,
    .find_result = result_find_x86,
    .stored_before = stored_before_x86,
    .find_spilled = spilled_find_x86,
    .find_entered = spilled_find_entered_x86,
};

/* The linker's stubs use x16 and x17, and the call x30. */
static const struct argument_machine argument_machine_aarch64 = {
    .general = 32,
    .vector_first = 64,
    .vectors = 32,
    .frame = 29,
    .stack = 31,
    .long_double = 16,
    .kept = 0x7ffu << 19 | 1u << 31, /* x19 to x29, sp */
    .lost = 1u << 16 | 1u << 17 | 1u << 30,
    .names = &load_names_aarch64,
    .find_result = result_find_aarch64,
    .find_address = result_address_aarch64,
    .stored_before = stored_before_aarch64,
};

const struct argument_machine *argument_machine_of(Elf *elf)
{
    return code_machine_of(elf) == &code_machine_aarch64 ? &argument_machine_aarch64 : &argument_machine_x86;
}
