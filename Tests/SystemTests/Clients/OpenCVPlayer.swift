import Foundation
import TestSupport

/// PyPI's opencv-python-headless, which brings a libavformat of its own.
struct OpenCVPlayer: StreamPlayer {
    var testDescription: String { "OpenCV" }

    private static let python = Programs.repository.appendingPathComponent(".build/players/bin/python").path

    /// Whether this machine has it.
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: python) }

    private static let watching = """
        import cv2, sys
        capture = cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG)
        for _ in range(int(sys.argv[2])):
            if capture.read()[0]:
                print("PICTURE", capture.get(cv2.CAP_PROP_POS_MSEC) / 1000, flush=True)
        """
    private static let measuring = """
        import cv2, sys
        capture = cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG)
        print(capture.get(cv2.CAP_PROP_FRAME_COUNT) / capture.get(cv2.CAP_PROP_FPS))
        """
    /// libswscale prints this for every JPEG.
    private static let talk = "[OPENCV:FFMPEG:24] deprecated pixel format used, make sure you did set range correctly"

    private static func start(_ program: String, _ arguments: String...) throws -> TimedProgram {
        try TimedProgram(
            python,
            ["-c", program] + arguments,
            environment: [
                "OPENCV_FFMPEG_CAPTURE_OPTIONS": "analyzeduration;\(analyzeDuration)",
                // Warnings.
                "OPENCV_FFMPEG_LOGLEVEL": "24",
            ]
        )
    }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        let program = try Self.start(Self.watching, relay.url(stream), "\(enoughPictures)")
        defer { program.end() }
        let first = try program.next("a picture") { line in
            line.wholeMatch(of: /PICTURE (.+)/).flatMap { Double($0.1) }
        }
        let status = try program.waitForEnd()
        let lines = Dictionary(grouping: program.lines(on: .standard)) { $0.hasPrefix("PICTURE ") }
        let shown = lines[true]?.count ?? 0
        // libavformat's messages go to standard output.
        let messages = (lines[false] ?? []) + program.lines(on: .errors)
        return Showing(
            firstPicture: first.after,
            firstTime: first.value,
            messages: messages.filter { stream.format != .motionJPEG || $0 != Self.talk }
                + (status == 0 && shown == enoughPictures ? [] : ["status \(status) after \(shown) pictures"])
        )
    }

    func duration(of file: URL) throws -> Double {
        let program = try Self.start(Self.measuring, file.path)
        defer { program.end() }
        return try program.next("a duration") { Double($0) }.value
    }
}
