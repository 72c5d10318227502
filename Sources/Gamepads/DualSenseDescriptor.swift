extension DualSenseReport {
    /// The HID report descriptor.
    ///
    /// It is this project's own text, not a copy of the real pad's: it describes the same reports with the same ids
    /// and lengths. The kernel's driver hid-playstation reads reports by their offsets and takes only ids and lengths
    /// from here. Without that driver, hid-generic names the axes as the driver would.
    package static let descriptor: [UInt8] = [
        0x05, 0x01,  // Usage Page: Generic Desktop
        0x09, 0x05,  // Usage: Game Pad
        0xA1, 0x01,  // Collection: Application
        0x85, 0x01,  //   Report ID 1
        0x09, 0x30, 0x09, 0x31,  //   Usages: X, Y (left stick)
        0x09, 0x33, 0x09, 0x34,  //   Usages: Rx, Ry (right stick)
        0x09, 0x32, 0x09, 0x35,  //   Usages: Z, Rz (triggers)
        0x15, 0x00, 0x26, 0xFF, 0x00,  //   Logical 0 to 255
        0x75, 0x08, 0x95, 0x06,  //   6 fields of 8 bits
        0x81, 0x02,  //   Input: data, variable, absolute
        0x06, 0x00, 0xFF,  //   Usage Page: vendor-defined
        0x09, 0x01,  //   Usage: sequence number
        0x95, 0x01,  //   1 field of 8 bits
        0x81, 0x02,  //   Input
        0x05, 0x01,  //   Usage Page: Generic Desktop
        0x09, 0x39,  //   Usage: Hat switch
        0x25, 0x07,  //   Logical 0 to 7
        0x35, 0x00, 0x46, 0x3B, 0x01,  //   Physical 0 to 315
        0x65, 0x14,  //   Unit: degrees
        0x75, 0x04,  //   1 field of 4 bits
        0x81, 0x42,  //   Input: with a null state
        0x45, 0x00, 0x65, 0x00,  //   No physical maximum, no unit
        0x05, 0x09,  //   Usage Page: Button
        0x19, 0x01, 0x29, 0x0F,  //   Usages: buttons 1 to 15
        0x25, 0x01,  //   Logical 0 to 1
        0x75, 0x01, 0x95, 0x0F,  //   15 fields of 1 bit
        0x81, 0x02,  //   Input
        0x95, 0x0D, 0x81, 0x03,  //   13 bits of padding
        0x06, 0x00, 0xFF,  //   Usage Page: vendor-defined
        0x09, 0x02,  //   Usage: counters, motion, touches, status
        0x26, 0xFF, 0x00,  //   Logical 0 to 255
        0x75, 0x08, 0x95, 0x34,  //   52 fields of 8 bits
        0x81, 0x02,  //   Input
        0x85, 0x02,  //   Report ID 2: rumble, lights, triggers
        0x09, 0x03, 0x95, 0x2F,  //   47 fields
        0x91, 0x02,  //   Output
        0x85, 0x05,  //   Report ID 5: calibration
        0x09, 0x04, 0x95, 0x28,  //   40 fields
        0xB1, 0x02,  //   Feature
        0x85, 0x09,  //   Report ID 9: address
        0x09, 0x05, 0x95, 0x13,  //   19 fields
        0xB1, 0x02,  //   Feature
        0x85, 0x20,  //   Report ID 32: versions
        0x09, 0x06, 0x95, 0x3F,  //   63 fields
        0xB1, 0x02,  //   Feature
        0xC0,  // End Collection
    ]
}
