// What the clients that log input have in common: the lines that they write, and the picture that they show.
//
// Each event is one line, flushed at once: the time of its arrival (monotonic ns), its name, and its fields.
//
//     ready WIDTH HEIGHT              the window is on the screen and has the keyboard, if there is one
//     enter X Y                       the pointer enters the window
//     leave
//     motion X Y
//     button CODE down|up X Y         CODE is Linux's, such as 272 (BTN_LEFT)
//     wheel DX DY NX NY               in pixels, if the desktop says them, and in notches; right and down are positive
//     touch ID down|move|up|cancel X Y
//     focus in|out                    the window gets or loses the keyboard
//     key NAME down|up|repeat MODIFIERS TEXT
//                                     NAME is the keysym's; MODIFIERS are such as ctrl+shift, or -; TEXT is what the key
//                                     types, as UTF-8 with percent-encoding, or -
//
// Places are pixels of the window, which fills the screen. Fingers have numbers from 0 on.
//
// The picture is grey with a button, BUTTON_* below, and a field to its right. The button is blue, and green after each
// odd click on it. The field has a black bar for each character that was typed. Return makes the whole ground lighter
// or darker.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <xkbcommon/xkbcommon.h>

#include "counter_tools.h"

enum { BUTTON_LEFT_EDGE = 100, BUTTON_TOP_EDGE = 80, BUTTON_WIDTH = 160, BUTTON_HEIGHT = 60 };
enum { FIELD_LEFT_EDGE = 300, FIELD_BAR = 6, FIELD_STEP = 10, FIELD_BARS = 64 };
enum { LINUX_BTN_LEFT = 0x110 };

static struct {
    bool clicked, entered;
    unsigned typed;
    bool changed;  // The picture must be drawn again.
} shown = {.changed = true};

// MARK: - Lines

static inline void begin_line(const char *name) { printf("%lld %s", (long long)now(), name); }

static inline void end_line(void) {
    putchar('\n');
    fflush(stdout);
}

static inline void log_place(const char *name, double x, double y) {
    begin_line(name);
    printf(" %.2f %.2f", x, y);
    end_line();
}

static inline void log_name(const char *name, const char *value) {
    begin_line(name);
    if (value) printf(" %s", value);
    end_line();
}

static inline void log_button(unsigned code, bool is_down, double x, double y) {
    begin_line("button");
    printf(" %u %s %.2f %.2f", code, is_down ? "down" : "up", x, y);
    end_line();
    bool is_inside = x >= BUTTON_LEFT_EDGE && x < BUTTON_LEFT_EDGE + BUTTON_WIDTH && y >= BUTTON_TOP_EDGE &&
                     y < BUTTON_TOP_EDGE + BUTTON_HEIGHT;
    if (code == LINUX_BTN_LEFT && is_down && is_inside) {
        shown.clicked = !shown.clicked;
        shown.changed = true;
    }
}

static inline void log_wheel(double dx, double dy, double nx, double ny) {
    begin_line("wheel");
    printf(" %.2f %.2f %.2f %.2f", dx, dy, nx, ny);
    end_line();
}

static inline void log_touch(int id, const char *phase, double x, double y) {
    begin_line("touch");
    printf(" %d %s %.2f %.2f", id, phase, x, y);
    end_line();
}

static inline void print_modifiers(struct xkb_state *state) {
    static const struct {
        const char *name, *shown;
    } modifiers[] = {
        {XKB_MOD_NAME_SHIFT, "shift"}, {XKB_MOD_NAME_CTRL, "ctrl"},   {XKB_MOD_NAME_ALT, "alt"},
        {XKB_MOD_NAME_LOGO, "super"},  {XKB_MOD_NAME_CAPS, "capslock"},
    };
    bool has_some = false;
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++) {
        if (xkb_state_mod_name_is_active(state, modifiers[i].name, XKB_STATE_MODS_EFFECTIVE) <= 0) continue;
        printf("%s%s", has_some ? "+" : " ", modifiers[i].shown);
        has_some = true;
    }
    if (!has_some) fputs(" -", stdout);
}

// log_key PHASE: down, up or repeat. Desktops differ in whether a modifier's own key counts among the modifiers.
static inline void log_key(struct xkb_state *state, xkb_keycode_t code, const char *phase) {
    char name[64], text[64];
    xkb_keysym_t symbol = xkb_state_key_get_one_sym(state, code);
    if (xkb_keysym_get_name(symbol, name, sizeof name) < 1) snprintf(name, sizeof name, "0x%x", symbol);
    int length = xkb_state_key_get_utf8(state, code, text, sizeof text);
    begin_line("key");
    printf(" %s %s", name, phase);
    print_modifiers(state);
    putchar(' ');
    if (length < 1) putchar('-');
    for (const char *byte = text; byte < text + length && *byte; byte++) {
        if (*byte > ' ' && *byte < 0x7F && *byte != '%' && *byte != '-') putchar(*byte);
        else printf("%%%02X", (unsigned char)*byte);
    }
    end_line();
    if (strcmp(phase, "up") == 0 || length < 1) return;
    if (symbol == XKB_KEY_Return) shown.entered = !shown.entered;
    else if ((unsigned char)text[0] >= ' ' && text[0] != 0x7F) shown.typed++;
    shown.changed = true;
}

// MARK: - Picture

static inline void fill(uint8_t *pixels, uint32_t width, uint32_t height, uint32_t left, uint32_t top, uint32_t across,
                 uint32_t down, uint32_t colour) {
    for (uint32_t y = top; y < top + down && y < height; y++) {
        for (uint32_t x = left; x < left + across && x < width; x++) memcpy(pixels + ((size_t)y * width + x) * 4, &colour, 4);
    }
}

// draw_picture: XRGB, rows without gaps.
static inline void draw_picture(uint8_t *pixels, uint32_t width, uint32_t height) {
    fill(pixels, width, height, 0, 0, width, height, shown.entered ? 0xFFD8D8D8 : 0xFF909090);
    fill(pixels, width, height, BUTTON_LEFT_EDGE, BUTTON_TOP_EDGE, BUTTON_WIDTH, BUTTON_HEIGHT,
         shown.clicked ? 0xFF20A040 : 0xFF2040C0);
    // A mark that tells the button from one that is turned or mirrored.
    fill(pixels, width, height, BUTTON_LEFT_EDGE + 10, BUTTON_TOP_EDGE + 10, 40, 12, 0xFFFFFFFF);
    unsigned bars = shown.typed < FIELD_BARS ? shown.typed : FIELD_BARS;
    for (unsigned bar = 0; bar < bars; bar++) {
        fill(pixels, width, height, FIELD_LEFT_EDGE + bar * FIELD_STEP, BUTTON_TOP_EDGE, FIELD_BAR, BUTTON_HEIGHT, 0xFF000000);
    }
    shown.changed = false;
}
