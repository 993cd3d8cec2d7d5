/* The server of dwell view --live where it cannot start. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/success.h"
#include "view/server.h"

TestSuite(unit_view_server);

Test(unit_view_server, a_port_that_is_in_use)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof here;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(eq(int, bind(fd, (const struct sockaddr *)&here, sizeof here), 0));
    cr_assert(eq(int, listen(fd, 1), 0));
    cr_assert(eq(int, getsockname(fd, (struct sockaddr *)&here, &length), 0));
    char *wanted = need_text("cannot listen on port %u of 127.0.0.1: Address already in use", ntohs(here.sin_port));
    EXPECT_ERROR(server_start(ntohs(here.sin_port), 1000, &error), wanted);
    free(wanted);
    close(fd);
}
