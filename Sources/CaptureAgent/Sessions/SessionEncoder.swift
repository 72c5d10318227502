import Media
import Wire

/// The picture side of a session: scaler, frame pool and encoder, rebuilt when the source's size changes.
///
/// Owned by the session's encoder thread.
struct SessionEncoder: ~Copyable {
    /// Why a picture was not encoded.
    enum Failure: Error {
        case noFreePicture
        case nothingToRepeat
        case encoder(EncoderError)
    }

    private let parameters: SessionParameters
    private var scaler: PictureScaler?
    /// The source size that no encoder could be opened for, and why: it is not tried again for every frame.
    private var refusal: (source: PictureSize, error: EncoderError)?
    private var pool: FramePool?
    private var encoder: (any VideoEncoder)?
    /// The last picture encoded, which repeats are made of.
    private var lastPicture: I420Picture?

    init(parameters: SessionParameters) {
        self.parameters = parameters
    }

    /// The open encoder's name and picture size.
    var opened: (name: String, size: PictureSize)? { encoder.map { ($0.name, $0.settings.size) } }

    /// Scales and encodes `frame`. A frame of another size than the last one's makes a keyframe.
    mutating func encode(_ frame: CapturedFrame, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        let isRebuilt = try prepare(for: frame.description.size)
        guard let picture = pool?.take() else { throw .noFreePicture }
        scaler?.convert(frame, into: picture)
        do throws(Failure) {
            let encoded = try encode(picture, forceKeyframe: forceKeyframe || isRebuilt)
            if let lastPicture { pool?.giveBack(lastPicture) }
            lastPicture = picture
            return encoded
        } catch {
            pool?.giveBack(picture)
            throw error
        }
    }

    /// Encodes the last picture once more.
    func encodeRepeat(forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        guard let lastPicture else { throw .nothingToRepeat }
        return try encode(lastPicture, forceKeyframe: forceKeyframe)
    }

    private func encode(_ picture: I420Picture, forceKeyframe: Bool) throws(Failure) -> EncodedPicture {
        guard let encoder else { throw .nothingToRepeat }
        do {
            return try encoder.encode(picture, forceKeyframe: forceKeyframe)
        } catch {
            throw .encoder(error)
        }
    }

    /// Makes scaler, pool and encoder fit a source of size `source`. Returns whether they did not.
    private mutating func prepare(for source: PictureSize) throws(Failure) -> Bool {
        if scaler?.source == source { return false }
        if let refusal, refusal.source == source { throw .encoder(refusal.error) }
        let output = parameters.size.resolved(source: source)
        if encoder?.settings.size != output {
            encoder = nil
            scaler = nil
            lastPicture = nil
            let settings = EncoderSettings(
                codec: parameters.codec,
                size: output,
                fps: parameters.fps,
                bitrate: parameters.bitrate
            )
            do {
                encoder = try X264Encoder(settings)
            } catch {
                refusal = (source, error)
                throw .encoder(error)
            }
            pool = FramePool(size: output)
        }
        scaler = PictureScaler(source: source, output: output)
        return true
    }
}
