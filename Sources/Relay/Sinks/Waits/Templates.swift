import HeliographAPI
import Media

/// The images that waits compare screens with, by device and name. Agents read their pixels.
@MediaLoop
final class Templates {
    /// Most templates of a device.
    static let maximumCount = 100

    /// One image, with its size.
    struct Template: Sendable {
        let size: PictureSize
        /// A PNG file.
        let bytes: [UInt8]
    }

    private struct Key: Hashable {
        let device: String
        let name: String
    }

    private var templates: [Key: Template] = [:]

    func template(_ name: String, of device: String) -> Template? { templates[Key(device: device, name: name)] }

    /// Returns a device's templates, sorted by name.
    func all(of device: String) -> [(name: String, template: Template)] {
        templates.filter { $0.key.device == device }.sorted { $0.key.name < $1.key.name }.map {
            ($0.key.name, $0.value)
        }
    }

    /// Stores a template.
    ///
    /// - Returns: Whether there was room for it.
    func put(_ template: Template, as name: String, of device: String) -> Bool {
        let key = Key(device: device, name: name)
        let others = templates.keys.count { $0.device == device && $0 != key }
        guard others < Self.maximumCount else { return false }
        templates[key] = template
        return true
    }

    /// Removes a template.
    ///
    /// - Returns: Whether it existed.
    func remove(_ name: String, of device: String) -> Bool {
        templates.removeValue(forKey: Key(device: device, name: name)) != nil
    }
}

extension Templates.Template {
    private static let largestSide: UInt32 = 8192

    /// Reads a PNG file's header. Returns `nil` unless it is a PNG of 1 to 8192 pixels each way (PNG, sections 5.2 and
    /// 11.2.1).
    init?(_ bytes: [UInt8]) {
        let size = bytes.read { reader -> PictureSize? in
            var head = reader
            guard head.u64() == 0x8950_4E47_0D0A_1A0A, head.u32() == 13, head.u32() == 0x4948_4452,
                let width = head.u32(), let height = head.u32(), 1...Self.largestSide ~= width,
                1...Self.largestSide ~= height
            else { return nil }
            return PictureSize(width: Int(clamping: width), height: Int(clamping: height))
        }
        guard let size else { return nil }
        (self.size, self.bytes) = (size, bytes)
    }
}
