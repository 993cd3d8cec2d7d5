/* The reasons why arguments cannot be read. */
#include "arguments/missing.h"

static const struct {
    const char *key, *text;
} missing_table[MISSING_KINDS] = {
    [MISSING_NOT] = { "", "" },
    [MISSING_OPTIMISED_OUT] = { "optimised-out", "optimised out" },
    [MISSING_COMPUTED] = { "computed", "the debug information computes it in a way that dwell does not read" },
    [MISSING_NOT_STORED] = { "not-stored", "is stored only after the probe is called" },
    [MISSING_IN_PARTS] = { "in-parts", "its bytes are in several places" },
    [MISSING_EMPTY] = { "empty", "its type has no members" },
    [MISSING_TYPE] = { "type", "has no single value: name a member of it" },
    [MISSING_WIDE] = { "wide", "has more than 8 bytes" },
    [MISSING_INLINED] = { "inlined", "the result of an inlined copy has no place of its own" },
    [MISSING_RESULT_PLACE] = { "result-place", "the code does not show where the result waits" },
    [MISSING_SCOPE] = { "scope", "the debug information does not know the function there" },
    [MISSING_DAMAGED] = { "damaged", "the debug information is damaged" },
};

const char *missing_key(enum missing missing)
{
    return missing_table[missing].key;
}

const char *missing_text(enum missing missing)
{
    return missing_table[missing].text;
}
