/* The settings and the state of the recording that outlive a fork. */
#include "runtime.h"

struct runtime runtime;
