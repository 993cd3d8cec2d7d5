/* As little of HTTP as a test needs to ask a server on this machine. */
#ifndef DWELL_TESTS_HTTP_H
#define DWELL_TESTS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
    int status; /* of HTTP; zero: nobody is there */
    char *head; /* all header lines */
    char *body;
    size_t length;
};

/* `method` `target` of `address` (such as 127.0.0.1), with that Host header (NULL: the usual one). */
struct answer ask(const char *address, uint16_t port, const char *method, const char *target, const char *host);
void answer_drop(struct answer *a);

/* Addresses of this machine that are not 127.0.0.1: how many of them let one connect to the port. *tried: how many
 * there were. */
unsigned reachable_elsewhere(uint16_t port, unsigned *tried);

#endif
