import TestSupport

/// A check of a viewer's recording with a real decoder.
enum Decoding {
    /// Throws if ffmpeg complains, or if it finds another number of pictures than the viewer got.
    ///
    /// - Parameter warnings: Whether a warning is a fault. FFmpeg warns about times that do not fit the frame rate.
    static func check(_ watcher: Watcher, warnings: Bool) throws(Fault) {
        let recording = watcher.wholeRecording
        guard !recording.isEmpty else { return }
        let format: String? =
            switch watcher.viewing.format {
            case .transportStream: "mpegts"
            case .movie: "mp4"
            default: nil
            }
        let count: Int
        do {
            count = try FFmpeg.pictureCount(recording, codec: watcher.session.codec, format: format, warnings: warnings)
        } catch {
            throw Fault("a stream that ffmpeg complains of, \(watcher.viewing.format)", "\(error)")
        }
        try expect(
            count == watcher.order.pictures,
            "a stream of another number of pictures, \(watcher.viewing.format)",
            "\(count) of \(watcher.order.pictures)"
        )
    }
}
