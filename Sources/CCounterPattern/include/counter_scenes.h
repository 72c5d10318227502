// What moves below the counter: the counter pattern, whose band scrolls, and three scenes for measurements.
//
//     band    the counter pattern's own: a third of the picture is text that scrolls
//     typing  the test card is static; below it text is written, a letter a step, from the top again when the page is full
//     scroll  all below the counter is a page of text that scrolls by two text units a step
//     motion  all below the counter changes in every pixel: two layers of smooth noise that move against each other,
//             so that no picture is a moved copy of the one before
//
// A value has one picture in each scene. In C because the clients that draw it are C.

#ifndef COUNTER_SCENES_H
#define COUNTER_SCENES_H

#include "counter_pattern.h"

enum counter_scene { COUNTER_SCENE_BAND, COUNTER_SCENE_TYPING, COUNTER_SCENE_SCROLL, COUNTER_SCENE_MOTION };

struct counter_rectangle {
    uint32_t left, top, right, bottom;
};

/// Returns the scene with that name, or -1 if there is none.
static inline int counter_scene_named(const char *name) {
    static const char *const names[] = {"band", "typing", "scroll", "motion"};
    for (int scene = 0; scene < 4; scene++) {
        if (strcmp(names[scene], name) == 0) return scene;
    }
    return -1;
}

/// Returns the row at which the moving part starts.
static inline uint32_t counter_scene_top(enum counter_scene scene, uint32_t height) {
    return counter_pattern_edge(height, scene == COUNTER_SCENE_SCROLL || scene == COUNTER_SCENE_MOTION ? 2 : 8, COUNTER_PATTERN_ROWS);
}

/// Draws the part that no step changes.
static inline void counter_scene_draw_background(
    enum counter_scene scene, uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height
) {
    if (scene == COUNTER_SCENE_BAND || scene == COUNTER_SCENE_TYPING) {
        counter_pattern_draw_background(pixels, stride, width, height);
    }
}

// MARK: - Typing

struct counter_page {
    uint32_t top, columns, lines;
};

static inline struct counter_page counter_scene_page(uint32_t width, uint32_t height) {
    uint32_t unit = counter_pattern_text_unit(height), top = counter_scene_top(COUNTER_SCENE_TYPING, height);
    return (struct counter_page){top, width / (6 * unit), (height - top) / (10 * unit)};
}

static inline void counter_scene_draw_typing(
    uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height, uint32_t value
) {
    const struct counter_page page = counter_scene_page(width, height);
    const uint32_t unit = counter_pattern_text_unit(height);
    counter_pattern_fill(pixels, stride, 0, page.top, width, height, 0xF4F1EA);
    const uint32_t letters = value % (page.columns * page.lines + 1);
    for (uint32_t letter = 0; letter < letters; letter++) {
        const uint64_t glyph = counter_pattern_hash(letter + 1);
        const uint32_t left = letter % page.columns * 6 * unit, top = page.top + letter / page.columns * 10 * unit;
        for (uint32_t dot = 0; dot < 35; dot++) {
            if (!(glyph >> dot & 1)) continue;
            const uint32_t x = left + dot % 5 * unit, y = top + dot / 5 * unit;
            counter_pattern_fill(pixels, stride, x, y, x + unit, y + unit, 0x202020);
        }
    }
}

// MARK: - Motion

/// Returns smooth noise along a row, 0 to 255: random values 32 pixels apart, joined by straight lines.
static inline uint32_t counter_scene_noise(uint64_t row, uint32_t x) {
    const uint32_t place = x / 32, part = x % 32;
    const uint32_t one = counter_pattern_hash(row << 32 | place) & 255, other = counter_pattern_hash(row << 32 | (place + 1)) & 255;
    return (one * (32 - part) + other * part) / 32;
}

// Rows form strips. All rows of a strip are alike, and each strip has its own layer speeds.
static inline void counter_scene_draw_motion(
    uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height, uint32_t value
) {
    enum { STRIP = 12 };
    const uint32_t top = counter_scene_top(COUNTER_SCENE_MOTION, height);
    for (uint32_t y = top; y < height; y += STRIP) {
        const uint32_t strip = (y - top) / STRIP;
        const uint32_t there = (3 + strip % 5) * value, back = 0x40000000u - (2 + strip % 7) * value;
        uint8_t *row = pixels + (size_t)y * stride;
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t front = counter_scene_noise(2 * strip + 1, x + there), behind = counter_scene_noise(2 * strip + 2, x + back);
            const uint32_t mean = (front + behind) / 2;
            counter_pattern_set(row + (size_t)x * 4, front << 16 | mean << 8 | behind);
        }
        for (uint32_t i = 1; i < STRIP && y + i < height; i++) memcpy(row + (size_t)i * stride, row, (size_t)width * 4);
    }
}

// MARK: - A step

/// Draws the counter and the moving part as they are at `value`.
static inline void counter_scene_draw(
    enum counter_scene scene, uint8_t *pixels, uint32_t stride, uint32_t width, uint32_t height, uint32_t value
) {
    static const uint32_t inks[4] = {0xD8DEE9, 0xA3BE8C, 0x88C0D0, 0xEBCB8B};
    const uint32_t top = counter_scene_top(scene, height), unit = counter_pattern_text_unit(height);
    counter_pattern_draw(pixels, stride, width, height, value);
    switch (scene) {
    case COUNTER_SCENE_BAND: counter_pattern_draw_motion(pixels, stride, width, height, value); break;
    case COUNTER_SCENE_TYPING: counter_scene_draw_typing(pixels, stride, width, height, value); break;
    case COUNTER_SCENE_SCROLL:
        counter_pattern_draw_text(pixels, stride, 0, top, width, height, unit, (uint64_t)value * 2 * unit, inks, 0x14181F);
        break;
    case COUNTER_SCENE_MOTION: counter_scene_draw_motion(pixels, stride, width, height, value); break;
    }
}

/// Returns the two rectangles that differ between the pictures of `value` and the value before it: in the counter, and
/// below.
static inline void counter_scene_damage(
    enum counter_scene scene, uint32_t width, uint32_t height, uint32_t value, struct counter_rectangle damage[2]
) {
    damage[0] = (struct counter_rectangle){0, 0, width, counter_pattern_edge(height, 2, COUNTER_PATTERN_ROWS)};
    damage[1] = (struct counter_rectangle){0, counter_scene_top(scene, height), width, height};
    if (scene != COUNTER_SCENE_TYPING) return;
    const uint32_t changed = (value ^ (value - 1)) & COUNTER_PATTERN_MASK;
    uint32_t column = COUNTER_PATTERN_BITS - 1;
    while (column > 0 && changed >> (COUNTER_PATTERN_BITS - column)) column--;
    damage[0].left = counter_pattern_edge(width, column, COUNTER_PATTERN_BITS);
    const struct counter_page page = counter_scene_page(width, height);
    const uint32_t letters = value % (page.columns * page.lines + 1), unit = counter_pattern_text_unit(height);
    if (letters == 0) return;
    damage[1].left = (letters - 1) % page.columns * 6 * unit;
    damage[1].right = damage[1].left + 6 * unit;
    damage[1].top = page.top + (letters - 1) / page.columns * 10 * unit;
    damage[1].bottom = damage[1].top + 10 * unit;
}

#endif
