/* What each format's file offers to the table of them. */
#ifndef DWELL_EXPORT_FORMATS_H
#define DWELL_EXPORT_FORMATS_H

#include "export/exports.h"

#endif
