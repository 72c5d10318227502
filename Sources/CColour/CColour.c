#include "CColour.h"

// BT.709-6 section 3: Kr 0.2126, Kb 0.0722; luma scaled by 219/255, chroma by 224/255, in units of 1/32768.
enum { YR = 5983, YG = 20127, YB = 2032 };
enum { UR = -3298, UG = -11094, UB = 14392 };
enum { VR = 14392, VG = -13073, VB = -1319 };

// For one pixel per sample: the black of luma, or the grey of chroma, and a half to round.
enum { SHIFT = 15, LUMA_BIAS = (16 << SHIFT) + (1 << (SHIFT - 1)), CHROMA_BIAS = (128 << SHIFT) + (1 << (SHIFT - 1)) };
// A sum of four pixels needs two more bits.
enum { SUM_SHIFT = SHIFT + 2, SUM_BIAS = (128 << SUM_SHIFT) + (1 << (SUM_SHIFT - 1)) };

struct coefficients {
    int16_t y[4], u[4], v[4];  // by byte position in a pixel; the fourth byte is ignored
};

static const struct coefficients bgrx = {{YB, YG, YR, 0}, {UB, UG, UR, 0}, {VB, VG, VR, 0}};
static const struct coefficients rgbx = {{YR, YG, YB, 0}, {UR, UG, UB, 0}, {VR, VG, VB, 0}};

/// Converts a row into one plane with a sample per pixel.
static void row_of_pixels(const uint8_t *row, size_t from, size_t width, const int16_t c[4], int bias, uint8_t *plane) {
    for (size_t x = from; x < width; x++) {
        const uint8_t *p = row + 4 * x;
        plane[x] = (uint8_t)((p[0] * c[0] + p[1] * c[1] + p[2] * c[2] + bias) >> SHIFT);
    }
}

/// Converts two rows into the chroma planes with a sample per four pixels.
static void row_of_sums(const uint8_t *row, const uint8_t *below, size_t from, size_t width, const struct coefficients *c,
                        uint8_t *u, uint8_t *v) {
    for (size_t x = from; x + 1 < width; x += 2) {
        const uint8_t *p = row + 4 * x, *q = below + 4 * x;
        int sum[3];
        for (int i = 0; i < 3; i++) sum[i] = p[i] + p[4 + i] + q[i] + q[4 + i];
        u[x / 2] = (uint8_t)((sum[0] * c->u[0] + sum[1] * c->u[1] + sum[2] * c->u[2] + SUM_BIAS) >> SUM_SHIFT);
        v[x / 2] = (uint8_t)((sum[0] * c->v[0] + sum[1] * c->v[1] + sum[2] * c->v[2] + SUM_BIAS) >> SUM_SHIFT);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

static AVX2 __m256i repeated(const int16_t c[4]) {
    return _mm256_set1_epi64x((long long)(((uint64_t)(uint16_t)c[3] << 48) | ((uint64_t)(uint16_t)c[2] << 32) |
                                          ((uint64_t)(uint16_t)c[1] << 16) | (uint16_t)c[0]));
}

/// Returns the weighted sums of eight pixels as eight 32-bit integers. Each input vector has four pixels with 16-bit
/// components. Each 128-bit half keeps its own order: the low vector's two pixels, then the high vector's two.
static AVX2 __m256i weigh(__m256i low, __m256i high, __m256i weights) {
    return _mm256_hadd_epi32(_mm256_madd_epi16(low, weights), _mm256_madd_epi16(high, weights));
}

/// Returns the number of pixels that were converted.
static AVX2 size_t row_of_pixels_avx2(const uint8_t *row, size_t width, const int16_t c[4], int bias, uint8_t *plane) {
    const __m256i zero = _mm256_setzero_si256(), weights = repeated(c), biases = _mm256_set1_epi32(bias);
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m256i sums[2];
        for (int half = 0; half < 2; half++) {
            __m256i pixels = _mm256_loadu_si256((const __m256i *)(row + 4 * (x + 8 * (size_t)half)));
            __m256i sum = weigh(_mm256_unpacklo_epi8(pixels, zero), _mm256_unpackhi_epi8(pixels, zero), weights);
            sums[half] = _mm256_srai_epi32(_mm256_add_epi32(sum, biases), SHIFT);
        }
        // sums[h] holds pixels 8h+0..3 | 8h+4..7; packing interleaves the halves: 0..3 8..11 | 4..7 12..15.
        __m256i words = _mm256_packus_epi32(sums[0], sums[1]);
        words = _mm256_permute4x64_epi64(words, _MM_SHUFFLE(3, 1, 2, 0));
        __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(plane + x), bytes);
    }
    return x;
}

/// Returns the component sums of the two 2x2 blocks in each 128-bit half of two rows of eight pixels: four 16-bit sums
/// per block.
static AVX2 __m256i block_sums(__m256i row, __m256i below) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = _mm256_add_epi16(_mm256_unpacklo_epi8(row, zero), _mm256_unpacklo_epi8(below, zero));
    __m256i high = _mm256_add_epi16(_mm256_unpackhi_epi8(row, zero), _mm256_unpackhi_epi8(below, zero));
    return _mm256_add_epi16(_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
}

/// Returns the number of pixels (not chroma samples) that were converted.
static AVX2 size_t row_of_sums_avx2(const uint8_t *row, const uint8_t *below, size_t width, const struct coefficients *c,
                                    uint8_t *u, uint8_t *v) {
    const __m256i bias = _mm256_set1_epi32(SUM_BIAS);
    const __m256i weights[2] = {repeated(c->u), repeated(c->v)};
    uint8_t *planes[2] = {u, v};
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m256i sums[2];
        for (int half = 0; half < 2; half++) {
            const size_t offset = 4 * (x + 8 * (size_t)half);
            sums[half] = block_sums(_mm256_loadu_si256((const __m256i *)(row + offset)),
                                    _mm256_loadu_si256((const __m256i *)(below + offset)));
        }
        for (int plane = 0; plane < 2; plane++) {
            // Samples 0 1 4 5 | 2 3 6 7 after weighing.
            __m256i sample = _mm256_add_epi32(weigh(sums[0], sums[1], weights[plane]), bias);
            sample = _mm256_permute4x64_epi64(_mm256_srai_epi32(sample, SUM_SHIFT), _MM_SHUFFLE(3, 1, 2, 0));
            __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(sample), _mm256_extracti128_si256(sample, 1));
            _mm_storel_epi64((__m128i *)(planes[plane] + x / 2), _mm_packus_epi16(words, words));
        }
    }
    return x;
}
#endif

typedef size_t (*pixels_function)(const uint8_t *, size_t, const int16_t *, int, uint8_t *);
typedef size_t (*sums_function)(const uint8_t *, const uint8_t *, size_t, const struct coefficients *, uint8_t *,
                                uint8_t *);

/// How rows are converted. A function returns the number of pixels that it has converted; the rest is done in plain C.
struct conversion {
    pixels_function pixels;
    sums_function sums;
};

static size_t no_pixels(const uint8_t *row, size_t width, const int16_t c[4], int bias, uint8_t *plane) {
    (void)row, (void)width, (void)c, (void)bias, (void)plane;
    return 0;
}

static size_t no_sums(const uint8_t *row, const uint8_t *below, size_t width, const struct coefficients *c, uint8_t *u,
                      uint8_t *v) {
    (void)row, (void)below, (void)width, (void)c, (void)u, (void)v;
    return 0;
}

static const struct conversion portable = {no_pixels, no_sums};

static struct conversion fastest(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return (struct conversion){row_of_pixels_avx2, row_of_sums_avx2};
#endif
    return portable;
}

static void convert_row(struct conversion by, const uint8_t *row, size_t width, const int16_t c[4], int bias,
                        uint8_t *plane) {
    row_of_pixels(row, by.pixels(row, width, c, bias, plane), width, c, bias, plane);
}

static void to_i420(struct conversion by, struct ccolour_picture picture, struct ccolour_planes planes) {
    const struct coefficients *c = picture.blue_first ? &bgrx : &rgbx;
    for (size_t line = 0; line + 1 < picture.height; line += 2) {
        const uint8_t *row = picture.pixels + line * picture.stride, *below = row + picture.stride;
        uint8_t *y = planes.y + line * planes.y_stride;
        convert_row(by, row, picture.width, c->y, LUMA_BIAS, y);
        convert_row(by, below, picture.width, c->y, LUMA_BIAS, y + planes.y_stride);
        uint8_t *u = planes.u + line / 2 * planes.chroma_stride, *v = planes.v + line / 2 * planes.chroma_stride;
        row_of_sums(row, below, by.sums(row, below, picture.width, c, u, v), picture.width, c, u, v);
    }
}

static void to_i444(struct conversion by, struct ccolour_picture picture, struct ccolour_planes planes) {
    const struct coefficients *c = picture.blue_first ? &bgrx : &rgbx;
    for (size_t line = 0; line < picture.height; line++) {
        const uint8_t *row = picture.pixels + line * picture.stride;
        convert_row(by, row, picture.width, c->y, LUMA_BIAS, planes.y + line * planes.y_stride);
        convert_row(by, row, picture.width, c->u, CHROMA_BIAS, planes.u + line * planes.chroma_stride);
        convert_row(by, row, picture.width, c->v, CHROMA_BIAS, planes.v + line * planes.chroma_stride);
    }
}

void ccolour_rgb_to_i420(struct ccolour_picture picture, struct ccolour_planes planes) {
    to_i420(fastest(), picture, planes);
}

void ccolour_rgb_to_i444(struct ccolour_picture picture, struct ccolour_planes planes) {
    to_i444(fastest(), picture, planes);
}

void ccolour_rgb_to_i420_portable(struct ccolour_picture picture, struct ccolour_planes planes) {
    to_i420(portable, picture, planes);
}

void ccolour_rgb_to_i444_portable(struct ccolour_picture picture, struct ccolour_planes planes) {
    to_i444(portable, picture, planes);
}
