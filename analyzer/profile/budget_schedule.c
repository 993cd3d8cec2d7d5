/* Looks are rarer when nothing changes. A look that takes long has a rest of the same length. */
#include "profile/budget_schedule.h"

enum {
    MS = 1000000,
    OFTEN = 10,  /* milliseconds between two looks after a change */
    SELDOM = 20, /* and when nothing has changed for a while */
    WHILE = 100, /* looks */
};

uint64_t budget_schedule_rest(struct budget_schedule *s, uint64_t took, bool changed)
{
    if (changed)
        s->calm = 0;
    else if (s->calm < WHILE)
        s->calm++;
    const uint64_t usual = (uint64_t)(s->calm < WHILE ? OFTEN : SELDOM) * MS;
    return took > usual ? took : usual;
}
