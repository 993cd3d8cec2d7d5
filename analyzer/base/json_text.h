/* Texts of any bytes in JSON, and numbers that are written often. */
#ifndef DWELL_BASE_JSON_TEXT_H
#define DWELL_BASE_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* With its quotes; to be freed by the caller. */
char *json_text(const char *text);

/* A json-c string: bytes that are not UTF-8 are replaced. The caller owns the reference. */
struct json_object;
struct json_object *json_new_text(const char *text);

void json_put_text(FILE *out, const char *text);

/* Without a zero byte behind them; return where they end. */
enum { JSON_NUMBER = 24 }; /* as long as they get */
char *json_put_number(char *to, uint64_t number);

/* Thousandths: a number with three decimals. */
char *json_put_thousandths(char *to, uint64_t number);

/* Millionths, with six. */
char *json_put_millionths(char *to, uint64_t number);

#endif
