// Replaces operator new in this program.
#include "support/core_counted_new.h"
