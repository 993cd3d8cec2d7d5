/* Frees the settings of a recording. */
#include "recorder/record_settings.h"

#include <stdlib.h>

void record_settings_drop(struct record_settings *settings)
{
    filters_free(&settings->filters);
    planned_values_drop(&settings->values);
    planned_calls_drop(&settings->calls);
    for (size_t i = 0; i < settings->forwarded_count; i++)
        free(settings->forwarded[i]);
    free(settings->forwarded);
    fleet_labels_drop(&settings->labels);
    free(settings->events);
    free(settings->keep_free);
}
