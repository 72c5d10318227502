@preconcurrency import Glibc
import HeliographClient
import HeliographDecode
import Synchronization

/// Shows a session in a terminal, for a look at a machine without a display.
package final class TerminalView: Sendable {
    package enum Style: String, Sendable, CaseIterable {
        /// Characters in 24-bit colours, which almost every terminal has.
        case blocks
        /// Sixels: real pixels, in few colours.
        case sixel
    }

    /// The time between two pictures, at least.
    private static let interval = Duration.milliseconds(66)
    /// What a terminal's cell has if it does not say, in pixels.
    private static let cell = (width: 8, height: 16)

    private let style: Style
    private let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    package init(_ style: Style) {
        self.style = style
        (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Tells it that its session has something new.
    package func wake() { change.yield() }

    /// Shows a session until it ends or the task is cancelled.
    ///
    /// - Returns: How it ended.
    package func show(_ feed: SessionFeed) async -> SessionFeed.Status {
        // Clear, without a cursor.
        _ = put("\u{1B}[2J\u{1B}[?25l")
        defer { _ = put("\u{1B}[0m\u{1B}[?25h\r\n") }
        for await _ in changes {
            var isRead = put(line(for: feed.notice ?? ""))
            if let picture = feed.takeNewest() {
                isRead = put(text(of: picture.frame)) && isRead
                feed.live?.presented(picture.unit)
            }
            if case .ended = feed.status { break }
            guard isRead else { break }
            try? await Task.sleep(for: Self.interval)
        }
        return feed.status
    }

    /// Returns the text that writes a line below the picture.
    private func line(for notice: String) -> String {
        let (columns, rows, _, _) = Self.size
        let words = notice.replacing("\n", with: " ").prefix(columns)
        return "\u{1B}[\(rows + 1);1H\u{1B}[0m\u{1B}[K" + words
    }

    private func text(of frame: Frame) -> String {
        let (columns, rows, width, height) = Self.size
        let (across, down) = frame.uprightSize
        // A half block is about square, and a sixel is a pixel.
        let room = style == .blocks ? (width: columns, height: rows * 2) : (width: width, height: height)
        let cell = PixelRectangle(x: 0, y: 0, width: room.width, height: room.height)
        let area = PicturePlace(width: across, height: down, orientation: 0, in: cell).area
        let step = style == .blocks ? 2 : Sixel.rows
        let size = (width: area.width, height: max(step, area.height / step * step))
        let pixels = frame.pixels(width: size.width, height: size.height)
        return style == .blocks
            ? HalfBlocks.text(pixels, width: size.width, height: size.height)
            : Sixel.text(pixels, width: size.width, height: size.height)
    }

    /// The terminal's columns and rows, without the last one, and its pixels.
    private static var size: (columns: Int, rows: Int, width: Int, height: Int) {
        var size = winsize()
        _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
        let columns = size.ws_col > 0 ? Int(size.ws_col) : 80
        let rows = size.ws_row > 1 ? Int(size.ws_row) - 1 : 23
        let height = size.ws_ypixel > 0 ? Int(size.ws_ypixel) * rows / (rows + 1) : rows * cell.height
        return (columns, rows, size.ws_xpixel > 0 ? Int(size.ws_xpixel) : columns * cell.width, height)
    }

    /// - Returns: Whether it could be written.
    private func put(_ text: String) -> Bool { fputs(text, stdout) >= 0 && fflush(stdout) == 0 }
}
