import CDe265

/// Prints the hash of every picture that libde265 decodes.
func decodeByDe265(_ accessUnits: [[UInt8]]) {
    guard let decoder = de265_new_decoder() else { fail("libde265 gives no decoder") }
    for unit in accessUnits {
        check(de265_push_data(decoder, unit, Int32(unit.count), 0, nil))
        de265_push_end_of_frame(decoder)
        drain(decoder)
    }
    check(de265_flush_data(decoder))
    drain(decoder)
    de265_free_decoder(decoder)
}

/// Decodes what was pushed and prints the pictures that are ready.
private func drain(_ decoder: UnsafeMutableRawPointer) {
    var more: Int32 = 1
    while more != 0 {
        let result = de265_decode(decoder, &more)
        if result == DE265_ERROR_WAITING_FOR_INPUT_DATA { more = 0 } else { check(result) }
        check(de265_get_warning(decoder))
        while let picture = de265_get_next_picture(decoder) { printHash(picture) }
    }
}

private func check(_ result: de265_error) {
    guard result == DE265_OK else { fail(String(cString: de265_get_error_text(result))) }
}

private func printHash(_ picture: OpaquePointer) {
    var hash = PictureHash()
    let channels = de265_get_chroma_format(picture) == de265_chroma_mono ? 1 : 3
    for channel in 0..<Int32(channels) {
        var stride: Int32 = 0
        guard let plane = de265_get_image_plane(picture, channel, &stride) else { fail("libde265 gives no plane") }
        hash.add(
            plane,
            rowBytes: Int(
                de265_get_image_width(picture, channel) * ((de265_get_bits_per_pixel(picture, channel) + 7) / 8)
            ),
            rows: Int(de265_get_image_height(picture, channel)),
            stride: Int(stride)
        )
    }
    hash.printLine()
}
