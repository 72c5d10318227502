// The kernel's interface to input devices: the codes of events, and the ioctls of uinput and evdev.
#ifndef CINPUT_H
#define CINPUT_H

#include <linux/input-event-codes.h>
#include <linux/input.h>
#include <linux/uhid.h>
#include <linux/uinput.h>
#include <stddef.h>

// Requests of ioctl(2), which Swift cannot import as macros.
extern const unsigned long cinput_set_event_bit;
extern const unsigned long cinput_set_key_bit;
extern const unsigned long cinput_set_motion_bit;
extern const unsigned long cinput_set_axis_bit;
extern const unsigned long cinput_set_feedback_bit;
extern const unsigned long cinput_set_property_bit;
extern const unsigned long cinput_device_setup;
extern const unsigned long cinput_axis_setup;
extern const unsigned long cinput_device_create;
extern const unsigned long cinput_begin_upload;
extern const unsigned long cinput_end_upload;
extern const unsigned long cinput_begin_erase;
extern const unsigned long cinput_end_erase;
extern const unsigned long cinput_get_id;
extern const unsigned long cinput_grab;

/// Returns the request that reads a device's name into `size` bytes. EVIOCGNAME.
unsigned long cinput_get_name(size_t size);

/// Returns the request that reads the codes of an event type as `size` bytes of bits. EVIOCGBIT.
unsigned long cinput_get_bits(unsigned type, size_t size);

/// Returns the request that reads the pressed keys as `size` bytes of bits. EVIOCGKEY.
unsigned long cinput_get_keys(size_t size);

/// Returns the request that reads an axis: struct input_absinfo. EVIOCGABS.
unsigned long cinput_get_axis(unsigned code);

/// Calls ioctl(2) with a number; -1 and errno on failure.
int cinput_control_number(int descriptor, unsigned long request, int number);

/// Calls ioctl(2) with bytes, which it may read and replace; -1 and errno on failure.
int cinput_control_bytes(int descriptor, unsigned long request, void *bytes);

#endif
