/* Whether objects of a class are copied by the compiler alone, byte by byte. Others are passed by their address. */
#ifndef DWELL_ARGUMENTS_COPIED_CLASS_H
#define DWELL_ARGUMENTS_COPIED_CLASS_H

#include <elfutils/libdw.h>

enum copied_class { COPIED_UNKNOWN, COPIED_AS_BYTES, COPIED_BY_CODE };

enum copied_class copied_class_of(Dwarf_Die *stripped);

#endif
