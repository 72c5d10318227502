import CLibAV
import Media

/// A VA-API encoder of libavcodec that also imports DMA-BUFs. It has never run, because this project had no device for
/// it.
final class ImportingLibavEncoder: ImportingEncoder {
    private let encoder: LibavEncoder
    private var importer: DMABufImporter

    /// Returns `nil` if the encoder has no VA-API device, or if a trial import at the settings' size cannot be set up.
    init?(_ encoder: LibavEncoder) {
        guard let device = encoder.device else { return nil }
        let format = DMABufImporter.Format(source: encoder.settings.size, pixels: .bgrx, output: encoder.settings.size)
        guard let importer = try? DMABufImporter(format, device: device, library: encoder.library) else { return nil }
        self.encoder = encoder
        self.importer = importer
    }

    var name: String { encoder.name }
    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        try encoder.encode(picture, forceKeyframe: forceKeyframe)
    }

    func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        let (source, pixels) = (buffer.description.size.even, buffer.description.format)
        let format = DMABufImporter.Format(source: source, pixels: pixels, output: settings.size)
        let surface: UnsafeMutablePointer<AVFrame>
        do throws(LibavInput.Failure) {
            if importer.format != format, let device = encoder.device {
                importer = try DMABufImporter(format, device: device, library: encoder.library)
            }
            surface = try importer.surface(from: buffer)
        } catch {
            throw .failed(encoder: name, reason: "no import: \(error.reason)")
        }
        return try encoder.encode(surface, forceKeyframe: forceKeyframe)
    }

    func encodeImportedAgain(forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture? {
        guard let surface = importer.lastSurface else { return nil }
        return try encoder.encode(surface, forceKeyframe: forceKeyframe)
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }
}
