#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>
