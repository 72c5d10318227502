import Media

/// Finds out whether an encoder works on this machine: it is opened and encodes three small pictures.
enum EncoderProbe {
    /// A size that every vendor's hardware takes.
    private static let size = PictureSize(width: 320, height: 240)

    /// Why `entry` does not work here, nil when it does.
    static func failure(of entry: EncoderEntry) -> String? {
        if let obstacle = entry.obstacle() { return obstacle }
        let settings = EncoderSettings(codec: entry.codec, size: size, fps: 30, bitrate: 1_000_000)
        do {
            let encoder = try entry.open(settings)
            let picture = I420Picture(size: size)
            picture.clear()
            // The first picture is a keyframe, the second is made from it, the third is a keyframe because it has to be.
            for (number, isKeyframe) in [true, false, true].enumerated() {
                // A moving bar, so that the second picture holds something.
                (picture.y + number * 16 * picture.lumaStride).update(repeating: 200, count: 16 * picture.lumaStride)
                let encoded = try encoder.encode(picture, forceKeyframe: isKeyframe)
                guard encoded.isKeyframe == isKeyframe else {
                    return "\(entry.name) does not make keyframes when it is told to"
                }
                guard !isKeyframe || ParameterSets(leading: encoded.bytes, codec: entry.codec) != nil else {
                    return "\(entry.name) leaves the parameter sets out of its keyframes"
                }
            }
            return nil
        } catch {
            return error.description
        }
    }
}
