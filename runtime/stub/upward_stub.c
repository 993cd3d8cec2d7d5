/* Stands for the table of calls upwards where the build links a floor of the runtime with those below it alone. */
#include "upward.h"

const struct upward upward = { 0 };
