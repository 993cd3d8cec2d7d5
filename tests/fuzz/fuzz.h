/* What the fuzzer's targets share. Each target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput. */
#ifndef DWELL_TESTS_FUZZ_H
#define DWELL_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, which the fuzzer reports as a fault, unless `holds`. */
void fuzz_require(bool holds);

enum { FUZZ_PATH = 64 };

/* A file in memory with these bytes. Sets `path`, under which it can be opened until the descriptor is closed. */
int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH]);

/* Takes a number from the beginning of the input. Zero where that is too short. */
uint8_t fuzz_byte(const uint8_t **data, size_t *size);
uint32_t fuzz_word(const uint8_t **data, size_t *size);

#endif
