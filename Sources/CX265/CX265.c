#include "CX265.h"

const x265_api *cx265_api(void) {
    return x265_api_get(8);
}
