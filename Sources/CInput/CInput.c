#include "CInput.h"

#include <sys/ioctl.h>

// The layouts that Swift writes and reads by hand.
#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == offset, #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == size, #type)

SIZE(input_event, 24);
AT(input_event, type, 16);
AT(input_event, code, 18);
AT(input_event, value, 20);

SIZE(input_id, 8);
AT(input_id, vendor, 2);
AT(input_id, product, 4);
AT(input_id, version, 6);

SIZE(input_absinfo, 24);
AT(input_absinfo, value, 0);
AT(input_absinfo, minimum, 4);
AT(input_absinfo, maximum, 8);
AT(input_absinfo, fuzz, 12);
AT(input_absinfo, flat, 16);
AT(input_absinfo, resolution, 20);

SIZE(uinput_setup, 92);
AT(uinput_setup, name, 8);
AT(uinput_setup, ff_effects_max, 88);
SIZE(uinput_abs_setup, 28);
AT(uinput_abs_setup, absinfo, 4);

SIZE(ff_effect, 48);
AT(ff_effect, type, 0);
AT(ff_effect, id, 2);
AT(ff_effect, replay, 10);
AT(ff_effect, u, 16);
AT(ff_replay, length, 0);
AT(ff_replay, delay, 2);
AT(ff_rumble_effect, strong_magnitude, 0);
AT(ff_rumble_effect, weak_magnitude, 2);
SIZE(uinput_ff_upload, 104);
AT(uinput_ff_upload, retval, 4);
AT(uinput_ff_upload, effect, 8);
SIZE(uinput_ff_erase, 12);
AT(uinput_ff_erase, retval, 4);
AT(uinput_ff_erase, effect_id, 8);

SIZE(uhid_event, 4380);
AT(uhid_event, u, 4);
AT(uhid_create2_req, phys, 128);
AT(uhid_create2_req, uniq, 192);
AT(uhid_create2_req, rd_size, 256);
AT(uhid_create2_req, bus, 258);
AT(uhid_create2_req, vendor, 260);
AT(uhid_create2_req, product, 264);
AT(uhid_create2_req, version, 268);
AT(uhid_create2_req, country, 272);
AT(uhid_create2_req, rd_data, 276);
AT(uhid_input2_req, data, 2);
AT(uhid_output_req, size, 4096);
AT(uhid_output_req, rtype, 4098);
AT(uhid_get_report_req, rnum, 4);
AT(uhid_get_report_req, rtype, 5);
AT(uhid_get_report_reply_req, err, 4);
AT(uhid_get_report_reply_req, size, 6);
AT(uhid_get_report_reply_req, data, 8);
AT(uhid_set_report_req, size, 6);
AT(uhid_set_report_req, data, 8);
AT(uhid_set_report_reply_req, err, 4);

const unsigned long cinput_set_event_bit = UI_SET_EVBIT;
const unsigned long cinput_set_key_bit = UI_SET_KEYBIT;
const unsigned long cinput_set_motion_bit = UI_SET_RELBIT;
const unsigned long cinput_set_axis_bit = UI_SET_ABSBIT;
const unsigned long cinput_set_feedback_bit = UI_SET_FFBIT;
const unsigned long cinput_set_property_bit = UI_SET_PROPBIT;
const unsigned long cinput_device_setup = UI_DEV_SETUP;
const unsigned long cinput_axis_setup = UI_ABS_SETUP;
const unsigned long cinput_device_create = UI_DEV_CREATE;
const unsigned long cinput_begin_upload = UI_BEGIN_FF_UPLOAD;
const unsigned long cinput_end_upload = UI_END_FF_UPLOAD;
const unsigned long cinput_begin_erase = UI_BEGIN_FF_ERASE;
const unsigned long cinput_end_erase = UI_END_FF_ERASE;
const unsigned long cinput_get_id = EVIOCGID;
const unsigned long cinput_grab = EVIOCGRAB;

unsigned long cinput_get_name(size_t size) {
    return EVIOCGNAME(size);
}

unsigned long cinput_get_bits(unsigned type, size_t size) {
    return EVIOCGBIT(type, size);
}

unsigned long cinput_get_keys(size_t size) {
    return EVIOCGKEY(size);
}

unsigned long cinput_get_axis(unsigned code) {
    return EVIOCGABS(code);
}

int cinput_control_number(int descriptor, unsigned long request, int number) {
    return ioctl(descriptor, request, number);
}

int cinput_control_bytes(int descriptor, unsigned long request, void *bytes) {
    return ioctl(descriptor, request, bytes);
}
