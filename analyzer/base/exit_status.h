/* The exit statuses of all commands; `record` ends with the status of the program that it runs. */
#ifndef DWELL_BASE_EXIT_STATUS_H
#define DWELL_BASE_EXIT_STATUS_H

enum {
    STATUS_OK = 0,
    STATUS_FINDING = 1,
    STATUS_ERROR = 2,         /* bad usage, or input that cannot be read */
    STATUS_OWN_FAILURE = 125, /* record: before the program started */
    STATUS_NOT_EXECUTABLE = 126,
    STATUS_NOT_FOUND = 127,
};

#endif
