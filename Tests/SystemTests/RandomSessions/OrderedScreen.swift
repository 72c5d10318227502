import Foundation
import Media
import TestSupport

/// A screen that a test moves picture by picture: a PipeWire node that takes orders.
final class OrderedScreen: Sendable {
    private let orders: Int32

    /// Starts the node `name` in a desktop.
    ///
    /// - Parameter sizes: Its first size, and the sizes that it can change to.
    init(_ name: String, sizes: [PictureSize], in desktop: Desktop) throws {
        let path = desktop.directory.appendingPathComponent("run/orders-\(name)").path
        // The desktop's user may be another one, and umask narrows the mode of mkfifo.
        guard mkfifo(path, 0o666) == 0, chmod(path, 0o666) == 0 else {
            throw NeverCame(description: "a FIFO at \(path): \(String(cString: strerror(errno)))")
        }
        // For reading and writing, so that opening does not wait for the node.
        orders = open(path, O_RDWR | O_CLOEXEC)
        let others = sizes.dropFirst().map(\.description).joined(separator: ",")
        try desktop.startNode(
            name,
            size: sizes[0].description,
            buffers: ["--orders", path] + (others.isEmpty ? [] : ["--sizes", others])
        )
    }

    deinit { close(orders) }

    /// Sends `count` pictures at this interval, instead of those that are still due.
    func move(_ pictures: Int, microseconds: Int) { order("\(pictures) \(microseconds)") }

    /// Takes the next size, with a picture.
    func changeSize() { order("size") }

    private func order(_ text: String) {
        let line = Array("\(text)\n".utf8)
        _ = write(orders, line, line.count)
    }
}
