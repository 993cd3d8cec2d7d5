/* Frees a loaded session. */
#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/lines.h"
#include "analysis/loaded_values.h"
#include "analysis/names.h"
#include "analysis/thread_titles.h"
#include "profile/noted_calls.h"
#include "profile/rollup.h"
#include "profile/session_samples.h"

void analysis_drop(struct analysis *analysis)
{
    selection_free_found(&analysis->request.selection);
    loaded_values_drop(analysis->request.values);
    free(analysis->summary.selection);
    free(analysis->request.root_text);
    free((bool *)analysis->request.selection.roots);
    summary_drop_remarks(&analysis->summary);
    for (size_t i = 0; i < analysis->part_count; i++)
        free(analysis->parts[i].path);
    free(analysis->parts);
    if (analysis->recording_waits) {
        free(analysis->recording_waits->blocked);
        free(analysis->recording_waits->count);
        free(analysis->recording_waits);
    }
    thread_titles_free(analysis->thread_titles, analysis->file);
    if (analysis->profile) {
        if (analysis->names)
            names_free(analysis->names, analysis->profile->function_count);
        lines_free(analysis->lines, analysis->profile->site_count);
        profile_free(analysis->profile);
    }
    if (analysis->measured)
        profile_free(analysis->measured);
    if (analysis->rollup)
        rollup_free(analysis->rollup);
    noted_calls_free(analysis->noted);
    session_samples_free(analysis->samples);
    session_file_close(analysis->file);
}
