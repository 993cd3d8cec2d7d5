/* What the code of the function says, and that of its callers. */
#include "arguments/direct_callee.h"

#include <string.h>

#include "symbols/code_machine.h"

enum { DISTANCE = 5, PREFIXED = 6 };

static bool callee_is_aarch64(const struct direct_calls *found)
{
    return found->targets.machine == &code_machine_aarch64;
}

/* bl, and b. */
static bool callee_calls_are_usual_aarch64(const struct direct_callee *callee)
{
    for (size_t i = 0; i < callee->count; i++)
        if (callee->calls[i].kind == DIRECT_BRANCH)
            return false;
    return true;
}

/* One that changes the registers of its own instruction would need another one. */
static bool callee_calls_are_usual(const struct direct_callee *callee, const struct direct_calls *found,
                                   const struct image *image)
{
    if (callee_is_aarch64(found))
        return callee_calls_are_usual_aarch64(callee);
    for (size_t i = 0; i < callee->count; i++) {
        const struct direct_call *call = &callee->calls[i];
        const size_t length = (size_t)(call->next - call->at);
        uint8_t code[PREFIXED];
        const bool known = length <= sizeof code && image_read(image, call->at, code, length);
        const uint8_t op = call->kind == DIRECT_CALL ? 0xe8 : 0xe9;
        const bool plain = known && length == DISTANCE && code[0] == op;
        if (!plain && !(known && length == PREFIXED && code[0] == 0x67 && code[1] == 0xe8))
            return false;
    }
    return true;
}

/* Flags, and registers of SVE. */
static bool callee_returns_more(const struct direct_callee *callee, const struct direct_calls *found,
                                const struct image *image)
{
    const bool aarch64 = callee_is_aarch64(found);
    for (size_t i = 0; i < callee->count; i++) {
        const struct direct_call *call = &callee->calls[i];
        const struct direct_range *range = direct_calls_range(found, call->at);
        if (range && call->kind == DIRECT_CALL &&
            (aarch64 ? callee_code_leaves_flags_aarch64 : callee_code_leaves_flags)(image, call->next, range->end))
            return true;
        if (range && aarch64 && callee_code_has_sve(image, range->begin, range->end))
            return true;
    }
    return false;
}

/* As its callers have set them. A stub changes flags before it calls the function. */
static bool callee_takes_flags(const struct image *image, bool aarch64, uint64_t function, uint64_t end)
{
    static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    uint8_t code[sizeof endbr64];
    if (aarch64)
        return callee_code_leaves_flags_aarch64(image, function, end);
    const bool skips = image_read(image, function, code, sizeof code) && memcmp(code, endbr64, sizeof code) == 0;
    return callee_code_leaves_flags(image, function + (skips ? sizeof endbr64 : 0), end);
}

const char *direct_callee_reason(struct direct_callee *callee, struct direct_calls *found, const struct image *image,
                                 Dwarf_CFI *cfi)
{
    if (direct_code_switches_stacks(found, image, callee->function))
        return "it changes the stack";
    const struct direct_range *range = direct_calls_range(found, callee->function);
    if (range)
        callee->code = (callee_is_aarch64(found) ? callee_code_read_aarch64
                                                 : callee_code_read)(image, cfi, callee->function, range->end);
    if (callee->code.looks_at_caller)
        return "it looks at its caller";
    if (callee->code.removes_arguments || callee->code.own_rules || callee_returns_more(callee, found, image) ||
        (range && callee_takes_flags(image, callee_is_aarch64(found), callee->function, range->end)))
        return "it is called by rules of its own";
    return callee_calls_are_usual(callee, found, image) ? NULL : "the code jumps there on a condition";
}
