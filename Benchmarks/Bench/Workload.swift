import Media

/// What is measured, the same for everyone.
struct Workload {
    var size = PictureSize(width: 1280, height: 720)
    var fps = 30
    var bitrate = 6_000_000
    /// Length of each measurement.
    var seconds: Int
}
