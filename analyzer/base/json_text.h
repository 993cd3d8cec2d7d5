/* Texts of any bytes as JSON, and fast writing of numbers. */
#ifndef DWELL_BASE_JSON_TEXT_H
#define DWELL_BASE_JSON_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* The text as a JSON string with quotes. The caller frees it. */
char *json_text(const char *text);

/* The text as a json-c string. Bytes that are not UTF-8 are replaced. The caller owns the reference. */
struct json_object;
struct json_object *json_new_text(const char *text);

void json_put_text(FILE *out, const char *text);

/* Prints the value on one line, and releases the caller's reference. */
void json_put_object(FILE *out, struct json_object *object);

/* Write a number without a zero byte after it, and return its end. */
enum { JSON_NUMBER = 24 }; /* room for the longest number */
char *json_put_number(char *to, uint64_t number);

/* A number of thousandths, with three decimals. */
char *json_put_thousandths(char *to, uint64_t number);

/* A number of millionths, with six decimals. */
char *json_put_millionths(char *to, uint64_t number);

#endif
