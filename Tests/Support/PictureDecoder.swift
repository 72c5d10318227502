import Foundation
package import Media

/// Two decoders for each codec that share no code.
package enum PictureDecoder: String, CaseIterable, Sendable {
    case libavcodec
    /// openh264 for H.264, libde265 for H.265.
    case second

    /// A hash of each picture that `accessUnits` decode to, at its own size: both decoders' pictures have the same if
    /// they are the same. The least complaint of the decoder is an error.
    package func hashes(of accessUnits: some Collection<[UInt8]>, codec: Codec) throws -> [String] {
        let scratch = try Scratch()
        switch self {
        case .libavcodec:
            let file = try scratch.write(accessUnits.flatMap { $0 }, to: "stream")
            let lines = try Tool.run(
                "/usr/bin/ffmpeg",
                [
                    "-v", "warning", "-nostdin", "-threads", "1", "-xerror", "-err_detect", "explode",
                    "-f", codec == .h264 ? "h264" : "hevc", "-i", file.path,
                    "-autoscale", "0", "-fps_mode", "passthrough", "-f", "framehash", "-hash", "murmur3", "-",
                ]
            )
            return lines.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                line.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
            }
        case .second:
            let framed = accessUnits.flatMap { unit in
                (0..<4).map { UInt8(truncatingIfNeeded: unit.count >> (8 * $0)) } + unit
            }
            let file = try scratch.write(framed, to: "stream")
            let lines = try Tool.run(
                Programs.product("ReferenceCodecs").path,
                [codec == .h264 ? "decode-h264" : "decode-h265", file.path]
            )
            return lines.split(separator: "\n").map(String.init)
        }
    }
}
