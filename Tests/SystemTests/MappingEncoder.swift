import CaptureAgent
import Glibc
import Media
import Synchronization

/// The imports of all encoders that share this log, and from which import on they fail.
final class ImportLog: Sendable {
    struct Import: Hashable {
        var description: FrameDescription
        var offset: Int
        var modifier: UInt64
    }

    private let state = Mutex<[Import]>([])
    private let fails: @Sendable (Int) -> Bool

    /// - Parameter fails: Whether the import of that number fails.
    init(fails: @escaping @Sendable (Int) -> Bool = { _ in false }) {
        self.fails = fails
    }

    var imports: [Import] { state.withLock { $0 } }

    func nextImportFails(_ buffer: DMABuf) -> Bool {
        state.withLock { imports in
            defer {
                let made = Import(description: buffer.description, offset: buffer.offset, modifier: buffer.modifier)
                imports.append(made)
            }
            return fails(imports.count)
        }
    }

    /// An encoder called `mapping`.
    var entry: EncoderEntry {
        EncoderEntry(name: "mapping", codec: .h264, kind: .software) { settings throws(EncoderError) in
            MappingEncoder(try EncoderEntry.x264.open(settings), log: self)
        }
    }
}

/// A real encoder that imports DMA-BUFs by mapping them, because producers without a GPU pass memory.
final class MappingEncoder: ImportingEncoder {
    let name = "mapping"
    private let encoder: any VideoEncoder
    private let log: ImportLog
    private var imported: PlanarPicture?

    init(_ encoder: any VideoEncoder, log: ImportLog) {
        self.encoder = encoder
        self.log = log
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        try encoder.encode(picture, forceKeyframe: forceKeyframe)
    }

    func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        let memory = mmap(nil, buffer.byteCount, PROT_READ, MAP_SHARED, buffer.descriptor, 0)
        guard !log.nextImportFails(buffer), let memory, memory != MAP_FAILED else { throw .failed(encoder: name) }
        defer { munmap(memory, buffer.byteCount) }
        let pixels = FramePixels(description: buffer.description) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: memory + buffer.offset, count: $0.count))
        }
        let picture = PlanarPicture(size: settings.size)
        PictureScaler(source: buffer.description.size, output: settings.size).convert(pixels, into: picture)
        imported = picture
        return try encoder.encode(picture, forceKeyframe: forceKeyframe)
    }

    func encodeImportedAgain(forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture? {
        guard let imported else { return nil }
        return try encoder.encode(imported, forceKeyframe: forceKeyframe)
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }
}
