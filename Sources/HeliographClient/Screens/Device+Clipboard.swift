package import HeliographAPI
package import NIOCore
import Wire

/// The clipboard of the device's desktop. Reading it, too, needs control of the device, because it may hold secrets.
///
/// All throw ``RelayError`` with these codes, among others: `no_input` if the desktop's clipboard cannot be used,
/// `controlled` if another controller has the device.
extension Device {
    /// Returns the clipboard's text.
    ///
    /// - Parameter takes: Whether to take the device from another controller at once.
    /// - Throws: ``RelayError``: its code is `empty_clipboard` if there is no text.
    public func clipboard(takes: Bool = false) async throws(RelayError) -> String {
        // The relay passes on UTF-8 alone.
        String(decoding: try await clipboard(.text, takes: takes).readableBytesView, as: UTF8.self)
    }

    /// Returns the clipboard's image, a PNG file.
    ///
    /// - Parameter takes: Whether to take the device from another controller at once.
    /// - Throws: ``RelayError``: its code is `empty_clipboard` if there is no image.
    public func clipboardImage(takes: Bool = false) async throws(RelayError) -> [UInt8] {
        Array(try await clipboard(.png, takes: takes).readableBytesView)
    }

    /// Puts a text into the clipboard. Programs can paste it until another one sets the clipboard, or the capture agent
    /// ends.
    ///
    ///     try await device.setClipboard("Hello, world")
    ///     try await device.press("ctrl+v")
    ///
    /// - Parameters:
    ///   - text: At most 1 MiB.
    ///   - takes: Whether to take the device from another controller at once.
    public func setClipboard(_ text: String, takes: Bool = false) async throws(RelayError) {
        _ = try await setClipboard(.text, ByteBuffer(string: text), takes: takes)
    }

    /// Puts an image into the clipboard, likewise.
    ///
    /// - Parameters:
    ///   - png: A PNG file, at most 16 MiB.
    ///   - takes: Whether to take the device from another controller at once.
    public func setClipboard(png: [UInt8], takes: Bool = false) async throws(RelayError) {
        _ = try await setClipboard(.png, ByteBuffer(bytes: png), takes: takes)
    }

    /// The time limit for an answer, its bytes included: more than the relay gives the agent, and 1 s for each 100 kB.
    private static func clipboardTime(for byteCount: Int) -> Duration { .seconds(40 + byteCount / 100_000) }

    package func clipboard(_ type: ClipboardType, takes: Bool) async throws(RelayError) -> ByteBuffer {
        var query = ClipboardQuery()
        (query.type, query.take) = (type, takes)
        return try await relay.answer(
            to: Routes.getClipboard,
            query,
            at: .device(name),
            limit: ClipboardContent.Kind.png.maximumByteCount,
            timeout: Self.clipboardTime(for: ClipboardContent.Kind.png.maximumByteCount)
        ).bytes
    }

    package func setClipboard(
        _ type: ClipboardType,
        _ content: ByteBuffer,
        takes: Bool
    ) async throws(RelayError) -> Answer<ClipboardSetReport> {
        var query = ClipboardTake()
        query.take = takes
        return try await relay.answer(
            to: Routes.setClipboard,
            query,
            at: .device(name),
            upload: content,
            type: type.contentType,
            timeout: Self.clipboardTime(for: content.readableBytes)
        )
    }
}
