#include "commands/die.h"

void die_of(const struct error *error)
{
    die(STATUS_ERROR, "%s", error->text);
}
