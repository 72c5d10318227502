import Foundation
import Media
import TestSupport

/// Programs that read packaged streams. Any complaint of theirs is an error.
enum Players {
    struct Packet: Equatable {
        var pts: Int64
        var isKey: Bool
        var size: Int
    }

    /// Returns the packets that ffprobe finds.
    static func packets(of file: URL) throws -> [Packet] {
        let entries = ["-show_entries", "packet=pts,size,flags", "-of", "csv=p=0"]
        let lines = try Tool.run("/usr/bin/ffprobe", ["-v", "warning"] + entries + [file.path])
        return try lines.split(separator: "\n").map { line in
            let fields = line.split(separator: ",")
            guard fields.count >= 3, let pts = Int64(fields[0]), let size = Int(fields[1]) else {
                throw NeverCame(description: "a packet in \(line)")
            }
            return Packet(pts: pts, isKey: fields[2].hasPrefix("K"), size: size)
        }
    }

    /// Returns a hash of each picture that libavcodec decodes, in its own size.
    static func hashes(of file: URL, format: String? = nil) throws -> [String] {
        let lines = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "warning", "-nostdin", "-threads", "1", "-xerror", "-err_detect", "explode"]
                + (format.map { ["-f", $0] } ?? [])
                + [
                    "-i", file.path, "-fps_mode", "passthrough", "-autoscale", "0", "-f", "framehash", "-hash",
                    "murmur3", "-",
                ]
        )
        return lines.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: ",").suffix(2).joined(separator: ",")
        }
    }

    /// Returns what ffprobe reports about the stream, by its own names.
    static func properties(of file: URL) throws -> [String: String] {
        let lines = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "warning", "-show_streams", "-show_format", "-of", "default=noprint_wrappers=1", file.path]
        )
        let pairs = lines.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
    }

    /// Returns all samples that GStreamer decodes, 4:2:0.
    static func samplesByGStreamer(of file: URL, codec: Codec, isMP4: Bool, scratch: Scratch) throws -> [UInt8] {
        let output = scratch.file("\(UUID().uuidString).raw")
        _ = try Tool.run(
            "/usr/bin/gst-launch-1.0",
            ["-q", "filesrc", "location=\(file.path)", "!", isMP4 ? "qtdemux" : "tsdemux", "!"]
                + (codec == .h264 ? ["h264parse", "!", "avdec_h264"] : ["h265parse", "!", "avdec_h265"])
                + ["!", "videoconvert", "!", "video/x-raw,format=I420", "!", "filesink", "location=\(output.path)"]
        )
        return try [UInt8](Data(contentsOf: output))
    }

    /// Returns all samples that libavcodec decodes from a bare stream, 4:2:0, each picture in its own size.
    static func samples(of file: URL, codec: Codec, scratch: Scratch) throws -> [UInt8] {
        let output = scratch.file("\(UUID().uuidString).raw")
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "warning", "-nostdin", "-f", codec.demuxer, "-i", file.path, "-fps_mode", "passthrough"]
                + ["-autoscale", "0", "-f", "rawvideo", "-pix_fmt", "yuv420p", output.path]
        )
        return try [UInt8](Data(contentsOf: output))
    }
}

extension Codec {
    /// ffmpeg's name for the byte stream format.
    var demuxer: String {
        switch self {
        case .h264: "h264"
        case .h265: "hevc"
        }
    }
}
