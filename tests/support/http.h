/* A minimal HTTP client for servers on this machine. */
#ifndef DWELL_TESTS_HTTP_H
#define DWELL_TESTS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
    int status; /* HTTP status; zero if the connection failed */
    char *head; /* all header lines */
    char *body;
    size_t length;
};

/* Sends `method` `target` to `address` (such as 127.0.0.1) with that Host header, or the usual one if `host` is
 * NULL. */
struct answer ask(const char *address, uint16_t port, const char *method, const char *target, const char *host);
void answer_drop(struct answer *a);

/* Fails the test unless the answer has each header of the live server, with the policy of the page or of other answers.
 */
void check_headers(const struct answer *a);

/* Returns how many addresses of this machine other than 127.0.0.1 accept connections to the port. *tried is the number
 * of addresses tried. */
unsigned reachable_elsewhere(uint16_t port, unsigned *tried);

#endif
