/* What the code of the function says, and that of its callers. */
#include "arguments/direct_callee.h"

enum { DISTANCE = 5, PREFIXED = 6 };

/* One that changes the registers of its own instruction would need another one. */
static bool callee_calls_are_usual(const struct direct_callee *callee, const struct image *image)
{
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

static bool callee_returns_flags(const struct direct_callee *callee, const struct direct_calls *found,
                                 const struct image *image)
{
    for (size_t i = 0; i < callee->count; i++) {
        const struct direct_range *range = direct_calls_range(found, callee->calls[i].at);
        if (range && callee->calls[i].kind == DIRECT_CALL &&
            callee_code_leaves_flags(image, callee->calls[i].next, range->end))
            return true;
    }
    return false;
}

const char *direct_callee_reason(struct direct_callee *callee, struct direct_calls *found, const struct image *image,
                                 Dwarf_CFI *cfi)
{
    if (direct_code_switches_stacks(found, image, callee->function))
        return "it changes the stack";
    const struct direct_range *range = direct_calls_range(found, callee->function);
    if (range)
        callee->code = callee_code_read(image, cfi, callee->function, range->end);
    if (callee->code.looks_at_caller)
        return "it looks at its caller";
    if (callee->code.removes_arguments || callee_returns_flags(callee, found, image))
        return "it is called by rules of its own";
    return callee_calls_are_usual(callee, image) ? NULL : "the code jumps there on a condition";
}
