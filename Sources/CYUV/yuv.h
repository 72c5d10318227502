#include <libyuv/convert_from.h>
#include <libyuv/scale.h>
