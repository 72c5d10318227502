import Media

/// What is shown and what is required, the same for all contenders.
struct Workload {
    enum Scene: String {
        /// The counter pattern's own: a third is text that scrolls.
        case band
        /// Static after it has moved.
        case still
        /// A letter and the counter, ten times a second.
        case typing
        /// Text that scrolls, with every picture.
        case scroll
        /// Every pixel, with every picture.
        case motion

        /// The scenes for the comparison of contenders.
        static let compared = [still, typing, scroll, motion]
    }

    var size = PictureSize(width: 1280, height: 720)
    var fps = 30
    var scene = Scene.band
    /// The length of each measurement.
    var seconds: Int

    static let sizes = [PictureSize(width: 1280, height: 720), PictureSize(width: 1920, height: 1080)]
    static let rates = [30, 60]

    var name: String { "\(size)-\(fps)-\(scene.rawValue)" }

    /// The highest bitrate, in bit/s: 6 Mbit/s for 1280x720 at 30 pictures per second.
    ///
    /// It grows with the number of pixels, and by half for twice the frame rate.
    var bitrate: Int {
        6_000_000 * (size.width * size.height) / (1280 * 720) * (fps > 30 ? 3 : 2) / 2
    }

    /// Steps of the scene per second, while it moves.
    var steps: Int { scene == .typing ? 10 : fps }

    /// The scene's name in counter_scenes.h.
    var drawn: String { scene == .still ? Scene.scroll.rawValue : scene.rawValue }
}
