/* The recorder's plans of calls into libraries: one that the process begins with, others for modules that are loaded
 * later (format_calls.h). */
#ifndef DWELL_WATCH_LIBRARY_PLANS_H
#define DWELL_WATCH_LIBRARY_PLANS_H

#include "common.h"
#include "dwell/format.h"
#include "levels/call_stubs.h"
#include "plan_texts.h"

#pragma GCC visibility push(hidden)

/* Reads all plans of the session `fd`. False if it has none: nobody wants such calls. */
bool library_plans_begin(int fd);

/* Whether the process has plans. */
bool library_plans_exist(void);

/* The entry of a module, NULL if no plan has it. */
const struct dwell_calls_module *library_plans_module(const struct plan_module *loaded);

/* The slots of a module, by address. */
const struct dwell_calls_slot *library_plans_slots(const struct dwell_calls_module *module);

/* Its functions; its sites, by address, each with a function that exists. */
const struct dwell_calls_function *library_plans_functions(const struct dwell_calls_module *module);
const struct dwell_calls_site *library_plans_sites(const struct dwell_calls_module *module);

/* What a stub copies. */
struct call_stack library_plans_stack(const struct dwell_calls_stack *planned);

/* Asks the recorder for the plan of a module that none has, and reads it. Signals are held back. */
void library_plans_ask(const struct plan_module *loaded);

#pragma GCC visibility pop

#endif
