import CLibAV
import Glibc
import Media

extension EncoderEntry {
    /// The hardware encoders that the status lists, by preference for each codec. None of them has run in this project.
    static let hardware: [EncoderEntry] = [("h264", Codec.h264), ("hevc", .h265)].flatMap { prefix, codec in
        [
            libav("\(prefix)_nvenc", codec, needing: ["/dev/nvidiactl", "/dev/dxg"]),
            libav("\(prefix)_vaapi", codec, needing: ["/dev/dri/renderD*"]),
            libav("\(prefix)_qsv", codec, needing: ["/dev/dri/renderD*"]),
            libav("\(prefix)_v4l2m2m", codec, needing: ["/dev/video*"]),
        ]
    }

    /// Returns the encoder with that name in libavcodec, or `nil` if libavcodec has none for H.264 or H.265. Loads
    /// libavcodec.
    package static func libav(named name: String) -> EncoderEntry? {
        guard let library = try? LibavLibrary.load(), let (codec, produced) = library.codec(named: name) else {
            return nil
        }
        let isHardware = codec.pointee.capabilities & Int32(AV_CODEC_CAP_HARDWARE) != 0
        return EncoderEntry(name: name, codec: produced, kind: isHardware ? .hardware : .software) {
            settings throws(EncoderError) in
            try opened(name, settings, devices: files(matching: ["/dev/dri/renderD*"]))
        }
    }

    /// Opens the encoder, with import if its device supports it.
    private static func opened(
        _ name: String,
        _ settings: EncoderSettings,
        devices: [String]
    ) throws(EncoderError) -> any VideoEncoder {
        let encoder = try LibavEncoder(name: name, settings: settings, devices: devices)
        return ImportingLibavEncoder(encoder) ?? encoder
    }

    /// Returns a hardware encoder that works through one of the device files that match `patterns` (glob(7)).
    private static func libav(_ name: String, _ codec: Codec, needing patterns: [String]) -> EncoderEntry {
        EncoderEntry(
            name: name,
            codec: codec,
            kind: .hardware,
            obstacle: { files(matching: patterns).isEmpty ? "no device \(patterns.joined(separator: " or "))" : nil },
            open: { settings throws(EncoderError) in
                try opened(name, settings, devices: files(matching: patterns))
            }
        )
    }

    /// Returns the device files that match one of `patterns` (glob(7)).
    static func files(matching patterns: [String]) -> [String] {
        patterns.flatMap { pattern in
            var found = glob_t()
            defer { globfree(&found) }
            guard glob(pattern, 0, nil, &found) == 0 else { return [String]() }
            return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        }
    }
}
