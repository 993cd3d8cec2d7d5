/* Finds the recorded values of the calls of a comparison. Numbers become axes, so that the slow calls can have the
 * largest ones, or those of a range. All others are traits: also what is no number, or could not be read. */
#include "causes/why_arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/loaded_values.h"
#include "base/memory.h"
#include "causes/why.h"
#include "tables/recorded_argument.h"
#include "tables/value_ranges.h"

/* So many numbers have a bin each. More texts tell calls apart, such as those of requests, and not kinds of calls. */
enum { MOST_BINS = 20, MOST_TEXTS = 100 };

/* ---- reading ---- */

/* The argument of that name in all sessions; NULL if there are too many. */
static struct why_argument *argument_of(struct why_arguments *a, const struct recorded_value *value)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->list[i].value.name, value->name) == 0 && a->list[i].value.kind == value->kind &&
            a->list[i].value.bytes == value->bytes)
            return &a->list[i];
    if (a->count == WHY_MOST_ARGUMENTS)
        return NULL;
    struct why_argument *argument = &a->list[a->count++];
    *argument = (struct why_argument){ .value = *value };
    argument->value.names = NULL;
    argument->value.name_count = 0;
    return argument;
}

static void argument_add(struct why_argument *a, size_t call, const struct recorded_value *value, const uint64_t *words)
{
    struct why_argument_value entry = { .call = (uint32_t)call };
    if (words && recorded_value_is_number(value) && !isnan(recorded_value_number(value, *words))) {
        entry.word = *words;
        GROW(a->list, a->count, a->room);
        a->list[a->count++] = entry;
        return;
    }
    char *text = recorded_value_text(value, words);
    entry.text = intern(&a->texts, text, strlen(text));
    free(text);
    GROW(a->words, a->word_count, a->word_room);
    a->words[a->word_count++] = entry;
}

void why_arguments_read(struct why_arguments *a, const struct why_part *part, const struct why_sampled *calls)
{
    const struct recorded_values *values = loaded_values(part->session.analysis);
    struct recorded_argument found = { .values = values, .function = part->session.function };
    const struct recorded_function *function = recorded_argument_function(&found, part->session.analysis);
    for (uint32_t i = 0; function && i < function->value_count; i++) {
        struct why_argument *argument = argument_of(a, &function->values[i]);
        for (size_t j = part->first_sample; argument && j < part->first_sample + part->sample_count; j++) {
            const struct recorded_row *row = recorded_argument_row(&found, calls[j].thread, calls[j].begin);
            if (row)
                argument_add(argument, j, &function->values[i], recorded_value_words(values, row, i));
        }
    }
}

/* ---- numbers ---- */

static int argument_compare(const void *a, const void *b, void *context)
{
    const struct why_argument_value *x = a, *y = b;
    return recorded_value_compare(context, &x->word, &y->word);
}

static bool argument_is_new(struct why_argument *a, size_t i)
{
    return i == 0 || argument_compare(&a->list[i - 1], &a->list[i], &a->value) != 0;
}

static size_t argument_count_distinct(struct why_argument *a)
{
    size_t distinct = 0;
    for (size_t i = 0; i < a->count; i++)
        distinct += argument_is_new(a, i);
    return distinct;
}

/* Bins have as many calls each, but equal numbers are in one bin. If there are few numbers, each has its bin. */
static void argument_add_axis(struct why_argument *a, struct why_traits *t)
{
    qsort_r(a->list, a->count, sizeof *a->list, argument_compare, &a->value);
    const size_t distinct = argument_count_distinct(a);
    if (distinct < 2)
        return;
    struct why_axis *axis = &t->axes[t->axis_count++];
    *axis = (struct why_axis){ .name = "argument", .is_argument = true, .argument = a->value };
    axis->of_calls = need_memory(t->call_count + 1, sizeof *axis->of_calls);
    axis->begins = need_memory(MOST_BINS + 1, sizeof *axis->begins);
    axis->end = need_memory(MOST_BINS + 1, sizeof *axis->end);
    size_t last = 0;
    for (size_t i = 0; i < a->count; i++) {
        const size_t part = i * MOST_BINS / a->count;
        if (argument_is_new(a, i) && (i == 0 || distinct <= MOST_BINS || part > last)) {
            axis->begins[axis->bins++] = a->list[i].word;
            last = part;
        }
        axis->end[axis->bins - 1] = a->list[i].word;
        axis->of_calls[a->list[i].call] = (uint32_t)axis->bins;
    }
    for (size_t i = 0; i < t->call_count; i++) /* those without a number are in no bin */
        axis->of_calls[i] = axis->of_calls[i] ? axis->of_calls[i] - 1 : (uint32_t)axis->bins;
}

/* ---- texts ---- */

static void argument_add_texts(const struct why_argument *a, void (*add)(void *context, size_t call, const char *text),
                               void *context)
{
    for (size_t i = 0; i < a->word_count && a->texts.count <= MOST_TEXTS; i++) {
        char *text = need_text("%s=%s", a->value.name, a->texts.pieces[a->words[i].text].bytes);
        add(context, a->words[i].call, text);
        free(text);
    }
}

void why_arguments_end(struct why_arguments *a, struct why_traits *traits,
                       void (*add)(void *context, size_t call, const char *text), void *context)
{
    for (size_t i = 0; i < a->count; i++) {
        struct why_argument *argument = &a->list[i];
        argument_add_texts(argument, add, context);
        if (argument->count)
            argument_add_axis(argument, traits);
        intern_drop(&argument->texts);
        free(argument->list);
        free(argument->words);
    }
}
