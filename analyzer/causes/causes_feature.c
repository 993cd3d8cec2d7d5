/* What the causes of waits add to dwell: four commands. */
#include "causes/causes_feature.h"

static const struct named_command commands[] = {
    { "waits", waits_command, "what threads waited for, and who made them wait", NULL, true, "annotate" },
    { "critical", critical_command, "what the length of a run consisted of, across threads", NULL, true, "annotate" },
    { "whatif", whatif_command, "what a run would take if functions were faster", NULL, true, "annotate" },
    { "why", why_command, "what the slow calls of a function do more of than the usual ones", NULL, true, "slowest" },
    { 0 },
};

const struct feature feature_causes = { .name = "causes", .commands = commands };
