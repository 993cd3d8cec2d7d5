/* What the parts of `every` share: counted calls of libc's functions, and their printed results. */
#ifndef EVERY_H
#define EVERY_H

#include <errno.h>

#define NOT_INSTRUMENTED __attribute__((no_instrument_function))

NOT_INSTRUMENTED void counted(const char *name);
NOT_INSTRUMENTED long told(const char *name, long result);
NOT_INSTRUMENTED void need(int condition, const char *what);

/* Makes a call that is shown under the name `row`, and prints its value or only returns it. */
#define CALL_AS(row, name, ...) (counted(#row), told(#name, (long)name(__VA_ARGS__)))
#define CALL(name, ...) CALL_AS(name, name, __VA_ARGS__)
#define SILENT(name, ...) (counted(#name), name(__VA_ARGS__))

void on_files(void);
void on_names(void);
void on_streams(void);
void on_sockets(void);
void on_memory(void);
void sleeping(void);
void waiting_for_signals(void);
void with_processes(void);
void with_threads(void);

#endif
