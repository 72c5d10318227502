import Foundation
import TestSupport

/// Chromium's video element, without a script that feeds it.
struct ChromiumPlayer: StreamPlayer {
    var testDescription: String { "Chromium" }

    /// A JavaScript promise for a stream in a video element: its first picture and a later time, or why it failed.
    private static func video(_ path: String) -> String {
        """
        new Promise((done) => {
          const video = document.createElement("video");
          const begin = performance.now();
          const end = (outcome) => { video.src = ""; done(outcome); };
          video.muted = true;
          video.onerror = () => done({ refusal: video.error.code, message: video.error.message });
          video.requestVideoFrameCallback((now, { mediaTime }) => {
            const first = performance.now() - begin;
            const look = () => {
              if (video.currentTime < mediaTime + 0.5) return void setTimeout(look, 20);
              video.onerror = null;
              end({ first, mediaTime });
            };
            look();
          });
          setTimeout(() => end({ message: "never played" }), 20000);
          video.src = "\(path)";
          video.play().catch(() => {});
        })
        """
    }

    /// Runs `body` with a page of the relay's origin, because the relay refuses other sites.
    private static func withPage<Value>(_ relay: WatchedRelay, _ body: (Chromium) throws -> Value) throws -> Value {
        let browser = try Chromium()
        defer { browser.end() }
        try browser.open("http://127.0.0.1:\(relay.httpPort)/livez")
        try browser.wait(until: "location.pathname === '/livez' && document.readyState === 'complete'")
        return try body(browser)
    }

    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing {
        try Self.withPage(relay) { browser in
            let outcome = try browser.evaluate(Self.video(stream.path), seconds: 20) as? [String: Any] ?? [:]
            guard let first = outcome["first"] as? Double, let time = outcome["mediaTime"] as? Double else {
                throw NeverCame(description: "a picture of Chromium: \(outcome)")
            }
            return Showing(
                firstPicture: .milliseconds(first),
                firstTime: time,
                // Chromium requests an icon for every page.
                messages: browser.complaints.filter { !$0.contains("favicon.ico") }
            )
        }
    }

    /// Returns the streams whose format the video element refuses. Tries all at once, because Chromium is slow.
    func refused(_ streams: [LiveStream], of relay: WatchedRelay) throws -> [Bool] {
        try Self.withPage(relay) { browser in
            let videos = streams.map { Self.video($0.path) }.joined(separator: ",\n")
            let outcomes = try browser.evaluate("Promise.all([\(videos)])", seconds: 20) as? [[String: Any]] ?? []
            // MEDIA_ERR_SRC_NOT_SUPPORTED
            return outcomes.map { $0["refusal"] as? Int == 4 }
        }
    }

    func duration(of file: URL) throws -> Double {
        let browser = try Chromium()
        defer { browser.end() }
        try browser.open(file.absoluteString)
        try browser.wait(until: "document.querySelector('video')?.readyState > 0")
        return try browser.evaluate("document.querySelector('video').duration") as? Double ?? 0
    }
}
