// A test picture that tells which picture it is: a machine-readable counter above a test card and
// a moving band. The Wayland test client and the synthetic source draw it, tests read it back.
//
// In C because the client is C and reader and painters must agree on every edge.
//
//      0    W/24                                   W
//    0 +------+------+------- ... -------+------+------+
//      |  23  |  22  |                   |   1  |   0  |   the value's bits, white = 1
// H/12 +------+------+------- ... -------+------+------+
//      | ~23  | ~22  |                   |  ~1  |  ~0  |   their complement
//  H/6 +------+------+------- ... -------+------+------+
//      |  ramps       |  fine lines    |  colour bars  |   test card, always the same
//      |- - - - - - - - - - - - - - - - - - - - - - - -|
//      |  dark pseudo-text on a light page             |
// 2H/3 +-----------------------------------------------+
//      |  light pseudo-text on a dark page,            |   motion band, scrolls up by two
//      |  scrolling with the value                     |   text units a step
//    H +-----------------------------------------------+
//
// Edges are exact: column c begins at c * W / 24, row r at r * H / 12, in integers, so the picture
// has no gaps at odd sizes. The three painters together cover every pixel.
//
// Pixels are 4 bytes: blue, green, red, 255 (BGRx; XRGB8888 of Wayland and DRM). The counter's
// cells are grey, so they read the same in any channel order.
//
// A reader takes the mean luma of a patch at each cell's centre against 128, right for full and
// limited range, and demands that the rows be complements: a picture that is torn between two
// values, blank, or something else altogether is unreadable rather than a wrong number.

#ifndef COUNTER_PATTERN_H
#define COUNTER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNTER_PATTERN_BITS 24
#define COUNTER_PATTERN_ROWS 12
#define COUNTER_PATTERN_MASK 0xFFFFFF
#define COUNTER_PATTERN_UNREADABLE (-1)

// MARK: - Geometry and pixels

/// Returns the start of part `part` if `extent` is divided into `parts` equal parts.
static inline uint32_t counter_pattern_edge(uint32_t extent, uint32_t part, uint32_t parts) {
    return (uint32_t)((uint64_t)extent * part / parts);
}

static inline uint32_t counter_pattern_centre(uint32_t extent, uint32_t part, uint32_t parts) {
    return (counter_pattern_edge(extent, part, parts) + counter_pattern_edge(extent, part + 1, parts)) / 2;
}

/// Returns the thickness of a text stroke in pixels: 1/360 of the height, so that text survives scaling.
static inline uint32_t counter_pattern_text_unit(uint32_t height) {
    return height < 360 ? 1 : height / 360;
}

static inline void counter_pattern_set(uint8_t *pixel, uint32_t rgb) {
    pixel[0] = (uint8_t)rgb;
    pixel[1] = (uint8_t)(rgb >> 8);
    pixel[2] = (uint8_t)(rgb >> 16);
    pixel[3] = 255;
}

static inline void counter_pattern_fill(
    uint8_t *pixels, uint32_t stride, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom, uint32_t rgb
) {
    if (left >= right) return;
    size_t bytes = (size_t)(right - left) * 4;
    uint8_t *first = pixels + (size_t)top * stride + (size_t)left * 4;
    for (uint32_t y = top; y < bottom; y++) {
        uint8_t *row = pixels + (size_t)y * stride + (size_t)left * 4;
        if (row == first) {
            for (size_t offset = 0; offset < bytes; offset += 4) counter_pattern_set(row + offset, rgb);
        } else {
            memcpy(row, first, bytes);
        }
    }
}

// MARK: - Counter

/// Draws the two rows of cells. `value` is taken modulo 2^24.
static inline void counter_pattern_draw(
    uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height, uint32_t value
) {
    for (uint32_t row = 0; row < 2; row++) {
        uint32_t top = counter_pattern_edge(height, row, COUNTER_PATTERN_ROWS);
        uint32_t bottom = counter_pattern_edge(height, row + 1, COUNTER_PATTERN_ROWS);
        uint32_t bits = row == 0 ? value : ~value;
        for (uint32_t column = 0; column < COUNTER_PATTERN_BITS; column++) {
            uint32_t left = counter_pattern_edge(width, column, COUNTER_PATTERN_BITS);
            uint32_t right = counter_pattern_edge(width, column + 1, COUNTER_PATTERN_BITS);
            bool white = bits >> (COUNTER_PATTERN_BITS - 1 - column) & 1;
            counter_pattern_fill(pixels, stride, left, top, right, bottom, white ? 0xFFFFFF : 0);
        }
    }
}

/// Returns whether the cell is white, by the mean luma around its centre, over a quarter of its shorter side.
static inline bool counter_pattern_cell(
    const uint8_t *luma, uint32_t stride, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
    uint32_t column, uint32_t row
) {
    uint32_t cell_width = width / COUNTER_PATTERN_BITS, cell_height = height / COUNTER_PATTERN_ROWS;
    uint32_t reach = (cell_width < cell_height ? cell_width : cell_height) / 8;
    uint32_t centre_x = x + counter_pattern_centre(width, column, COUNTER_PATTERN_BITS);
    uint32_t centre_y = y + counter_pattern_centre(height, row, COUNTER_PATTERN_ROWS);
    uint64_t sum = 0, count = 0;
    for (uint32_t py = centre_y - reach; py <= centre_y + reach; py++) {
        for (uint32_t px = centre_x - reach; px <= centre_x + reach; px++) {
            sum += luma[(size_t)py * stride + px];
            count++;
        }
    }
    return sum > 128 * count;
}

/// Reads the value from an 8-bit luma plane, or returns `COUNTER_PATTERN_UNREADABLE` if there is no such counter.
///
/// `x`, `y`, `width` and `height` are the picture's rectangle in the plane, which is smaller than the plane if the
/// picture is letterboxed.
static inline int64_t counter_pattern_read(
    const uint8_t *luma, uint32_t stride, uint32_t x, uint32_t y, uint32_t width, uint32_t height
) {
    if (width < COUNTER_PATTERN_BITS || height < COUNTER_PATTERN_ROWS) return COUNTER_PATTERN_UNREADABLE;
    uint32_t value = 0;
    for (uint32_t column = 0; column < COUNTER_PATTERN_BITS; column++) {
        bool bit = counter_pattern_cell(luma, stride, x, y, width, height, column, 0);
        bool complement = counter_pattern_cell(luma, stride, x, y, width, height, column, 1);
        if (bit == complement) return COUNTER_PATTERN_UNREADABLE;
        value = value << 1 | (bit ? 1 : 0);
    }
    return value;
}

// MARK: - Pseudo-text

static inline uint64_t counter_pattern_hash(uint64_t value) {
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDu;
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53u;
    return value ^ value >> 33;
}

/// Fills a rectangle with lines of random letters, 5 x 7 units in cells of 6 x 10, starting `scroll` pixels down an
/// endless page. The same arguments give the same pixels.
static inline void counter_pattern_draw_text(
    uint8_t *pixels, uint32_t stride, uint32_t left, uint32_t top, uint32_t right, uint32_t bottom,
    uint32_t unit, uint64_t scroll, const uint32_t inks[4], uint32_t paper
) {
    if (left >= right) return;
    uint64_t previous = UINT64_MAX;
    for (uint32_t y = top; y < bottom; y++) {
        uint8_t *row = pixels + (size_t)y * stride;
        uint64_t page_row = (scroll + (y - top)) / unit;
        if (page_row == previous) {  // The same row of units: only as tall as a unit is thick.
            memcpy(row + (size_t)left * 4, row + (size_t)left * 4 - stride, (size_t)(right - left) * 4);
            continue;
        }
        previous = page_row;
        counter_pattern_fill(pixels, stride, left, y, right, y + 1, paper);
        uint64_t line = page_row / 10, glyph_row = page_row % 10;
        if (glyph_row >= 7) continue;
        uint64_t line_hash = counter_pattern_hash(line + 1);
        uint32_t ink = inks[line_hash & 3];
        uint32_t columns = (right - left) / (6 * unit);
        columns -= (uint32_t)((line_hash >> 8) % (columns / 2 + 1));  // Lines end raggedly.
        for (uint32_t column = 1; column < columns; column++) {
            uint64_t glyph = counter_pattern_hash(line << 16 | column);
            if (glyph >> 61 == 0) continue;  // One cell in eight is a space.
            uint32_t strokes = (uint32_t)(glyph >> 5 * glyph_row) & 31;
            for (uint32_t stroke = 0; stroke < 5; stroke++) {
                if (!(strokes >> stroke & 1)) continue;
                uint8_t *pixel = row + (size_t)(left + (column * 6 + stroke) * unit) * 4;
                for (uint32_t i = 0; i < unit; i++) counter_pattern_set(pixel + i * 4, ink);
            }
        }
    }
}

// MARK: - Test card and motion

/// Returns four horizontal ramps (grey, red, green, blue), which show banding and a wrong range.
static inline uint32_t counter_pattern_ramp(uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    static const uint32_t masks[4] = {0xFFFFFF, 0xFF0000, 0x00FF00, 0x0000FF};
    uint32_t level = (uint32_t)((uint64_t)x * 256 / width);
    return level * 0x010101 & masks[(uint64_t)y * 4 / height];
}

/// Returns lines and checks of one and two pixels, which a scaler or a chroma filter blurs.
static inline uint32_t counter_pattern_line(uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    uint32_t quarter = (uint32_t)((uint64_t)x * 2 / width + (uint64_t)y * 2 / height * 2);
    uint32_t phase = quarter == 0 ? x : quarter == 1 ? y / 2 : quarter == 2 ? (x + y) / 2 : x / 2 + y / 2;
    return phase % 2 ? 0xFFFFFF : quarter == 3 ? 0xC00000 : 0;
}

/// Returns eight bars of primary and mixed colours, at full level above and three quarters below.
static inline uint32_t counter_pattern_bar(uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    static const uint32_t bars[8] = {
        0xFFFFFF, 0xFFFF00, 0x00FFFF, 0x00FF00, 0xFF00FF, 0xFF0000, 0x0000FF, 0x000000,
    };
    uint32_t full = bars[(uint64_t)x * 8 / width];
    return y < height / 2 ? full : full & 0xBFBFBF;
}

/// Draws the test card between the counter and the motion band.
static inline void counter_pattern_draw_background(uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height) {
    static const uint32_t inks[4] = {0x202020, 0x202020, 0x1A4B8C, 0x8C1A1A};
    uint32_t top = counter_pattern_edge(height, 2, COUNTER_PATTERN_ROWS);
    uint32_t bottom = counter_pattern_edge(height, 8, COUNTER_PATTERN_ROWS);
    uint32_t middle = counter_pattern_edge(height, 5, COUNTER_PATTERN_ROWS);
    uint32_t (*const painters[3])(uint32_t, uint32_t, uint32_t, uint32_t) = {
        counter_pattern_ramp, counter_pattern_line, counter_pattern_bar,
    };
    for (uint32_t third = 0; third < 3; third++) {
        uint32_t left = counter_pattern_edge(width, third, 3), right = counter_pattern_edge(width, third + 1, 3);
        for (uint32_t y = top; y < middle; y++) {
            for (uint32_t x = left; x < right; x++) {
                uint32_t rgb = painters[third](x - left, y - top, right - left, middle - top);
                counter_pattern_set(pixels + (size_t)y * stride + (size_t)x * 4, rgb);
            }
        }
    }
    uint32_t unit = counter_pattern_text_unit(height);
    counter_pattern_draw_text(pixels, stride, 0, middle, width, bottom, unit, 0, inks, 0xF4F1EA);
}

/// Draws the motion band as it is at `value`.
static inline void counter_pattern_draw_motion(
    uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height, uint32_t value
) {
    static const uint32_t inks[4] = {0xD8DEE9, 0xA3BE8C, 0x88C0D0, 0xEBCB8B};
    uint32_t top = counter_pattern_edge(height, 8, COUNTER_PATTERN_ROWS);
    uint32_t unit = counter_pattern_text_unit(height);
    uint64_t scroll = (uint64_t)(value & COUNTER_PATTERN_MASK) * 2 * unit;
    counter_pattern_draw_text(pixels, stride, 0, top, width, height, unit, scroll, inks, 0x14181F);
}

#endif
