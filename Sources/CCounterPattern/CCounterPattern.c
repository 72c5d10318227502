#include "counter_pattern.h"
