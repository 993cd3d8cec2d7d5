/* Takes the address of a library's function. */
#include <stdlib.h>
int main(void)
{
    int (*volatile of)(int) = abs;
    return of(0) + abs(0);
}
