// The part of x265 that Swift cannot import.
#ifndef CX265_H
#define CX265_H

#include <stdint.h>
#include <stdio.h>
#include <x265.h>

/// Returns the library's functions for 8-bit pictures. `x265_api_get` is a macro that appends the library's build
/// number.
const x265_api *cx265_api(void);

#endif
