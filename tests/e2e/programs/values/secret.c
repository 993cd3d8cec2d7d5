/* Calls a function with a text and a number from a file, as a password would be: secret FILE */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile uint64_t sink;

__attribute__((noinline, noclone)) static void login(const char *password, uint64_t pin)
{
    sink += strlen(password) + pin;
}

int main(int argc, char **argv)
{
    char password[32];
    uint64_t pin;
    FILE *in = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!in || fscanf(in, "%31s %" SCNu64, password, &pin) != 2)
        return 1;
    fclose(in);
    for (int i = 0; i < 1000; i++)
        login(password, pin);
    return 0;
}
