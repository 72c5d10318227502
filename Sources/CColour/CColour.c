#include "CColour.h"

// BT.709-6 section 3: Kr 0.2126, Kb 0.0722; luma scaled by 219/255, chroma by 224/255, in units of 1/32768.
enum { YR = 5983, YG = 20127, YB = 2032 };
enum { UR = -3298, UG = -11094, UB = 14392 };
enum { VR = 14392, VG = -13073, VB = -1319 };

enum { LUMA_SHIFT = 15, LUMA_BIAS = (16 << LUMA_SHIFT) + (1 << (LUMA_SHIFT - 1)) };
// Chroma sums four pixels, so it needs two more bits.
enum { CHROMA_SHIFT = 17, CHROMA_BIAS = (128 << CHROMA_SHIFT) + (1 << (CHROMA_SHIFT - 1)) };

struct coefficients {
    int16_t y[4], u[4], v[4];  // by byte position in a pixel; the fourth byte is ignored
};

static const struct coefficients bgrx = {{YB, YG, YR, 0}, {UB, UG, UR, 0}, {VB, VG, VR, 0}};
static const struct coefficients rgbx = {{YR, YG, YB, 0}, {UR, UG, UB, 0}, {VR, VG, VB, 0}};

static void luma_row(const uint8_t *row, size_t from, size_t width, const struct coefficients *c, uint8_t *y) {
    for (size_t x = from; x < width; x++) {
        const uint8_t *p = row + 4 * x;
        y[x] = (uint8_t)((p[0] * c->y[0] + p[1] * c->y[1] + p[2] * c->y[2] + LUMA_BIAS) >> LUMA_SHIFT);
    }
}

static void chroma_row(const uint8_t *row, const uint8_t *below, size_t from, size_t width, const struct coefficients *c,
                       uint8_t *u, uint8_t *v) {
    for (size_t x = from; x + 1 < width; x += 2) {
        const uint8_t *p = row + 4 * x, *q = below + 4 * x;
        int sum[3];
        for (int i = 0; i < 3; i++) sum[i] = p[i] + p[4 + i] + q[i] + q[4 + i];
        u[x / 2] = (uint8_t)((sum[0] * c->u[0] + sum[1] * c->u[1] + sum[2] * c->u[2] + CHROMA_BIAS) >> CHROMA_SHIFT);
        v[x / 2] = (uint8_t)((sum[0] * c->v[0] + sum[1] * c->v[1] + sum[2] * c->v[2] + CHROMA_BIAS) >> CHROMA_SHIFT);
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
static AVX2 size_t luma_row_avx2(const uint8_t *row, size_t width, const struct coefficients *c, uint8_t *y) {
    const __m256i zero = _mm256_setzero_si256(), weights = repeated(c->y), bias = _mm256_set1_epi32(LUMA_BIAS);
    size_t x = 0;
    for (; x + 16 <= width; x += 16) {
        __m256i sums[2];
        for (int half = 0; half < 2; half++) {
            __m256i pixels = _mm256_loadu_si256((const __m256i *)(row + 4 * (x + 8 * (size_t)half)));
            __m256i sum = weigh(_mm256_unpacklo_epi8(pixels, zero), _mm256_unpackhi_epi8(pixels, zero), weights);
            sums[half] = _mm256_srai_epi32(_mm256_add_epi32(sum, bias), LUMA_SHIFT);
        }
        // sums[h] holds pixels 8h+0..3 | 8h+4..7; packing interleaves the halves: 0..3 8..11 | 4..7 12..15.
        __m256i words = _mm256_packus_epi32(sums[0], sums[1]);
        words = _mm256_permute4x64_epi64(words, _MM_SHUFFLE(3, 1, 2, 0));
        __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(y + x), bytes);
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
static AVX2 size_t chroma_row_avx2(const uint8_t *row, const uint8_t *below, size_t width, const struct coefficients *c,
                                   uint8_t *u, uint8_t *v) {
    const __m256i bias = _mm256_set1_epi32(CHROMA_BIAS);
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
            sample = _mm256_permute4x64_epi64(_mm256_srai_epi32(sample, CHROMA_SHIFT), _MM_SHUFFLE(3, 1, 2, 0));
            __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(sample), _mm256_extracti128_si256(sample, 1));
            _mm_storel_epi64((__m128i *)(planes[plane] + x / 2), _mm_packus_epi16(words, words));
        }
    }
    return x;
}
#endif

typedef size_t (*luma_function)(const uint8_t *, size_t, const struct coefficients *, uint8_t *);
typedef size_t (*chroma_function)(const uint8_t *, const uint8_t *, size_t, const struct coefficients *, uint8_t *,
                                  uint8_t *);

static void convert(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                    struct ccolour_planes planes, luma_function fast_luma, chroma_function fast_chroma) {
    const struct coefficients *c = blue_first ? &bgrx : &rgbx;
    for (size_t line = 0; line + 1 < height; line += 2) {
        const uint8_t *rows[2] = {pixels + line * stride, pixels + (line + 1) * stride};
        for (size_t i = 0; i < 2; i++) {
            uint8_t *y = planes.y + (line + i) * planes.y_stride;
            luma_row(rows[i], fast_luma ? fast_luma(rows[i], width, c, y) : 0, width, c, y);
        }
        uint8_t *u = planes.u + line / 2 * planes.chroma_stride, *v = planes.v + line / 2 * planes.chroma_stride;
        chroma_row(rows[0], rows[1], fast_chroma ? fast_chroma(rows[0], rows[1], width, c, u, v) : 0, width, c, u, v);
    }
}

void ccolour_rgb_to_i420_portable(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                                  struct ccolour_planes planes) {
    convert(pixels, stride, width, height, blue_first, planes, NULL, NULL);
}

void ccolour_rgb_to_i420(const uint8_t *pixels, size_t stride, size_t width, size_t height, bool blue_first,
                         struct ccolour_planes planes) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        convert(pixels, stride, width, height, blue_first, planes, luma_row_avx2, chroma_row_avx2);
        return;
    }
#endif
    ccolour_rgb_to_i420_portable(pixels, stride, width, height, blue_first, planes);
}
