/// One encoder's stream, into which repeats are written without the encoder.
///
/// A repeat is a *skip picture*: a few bytes that tell the decoder to show the last picture again. Each one takes a number in
/// the sequence of pictures, so the numbers of all later pictures are raised, up to the next IDR picture. docs/architecture.md says
/// why decoded pictures stay exactly the same.
///
/// Everything that the encoder makes passes ``live(_:)``, in order. A new encoder begins a new value.
package struct RepeatableStream: Sendable {
    package enum Admission: Equatable, Sendable {
        /// No P picture was seen yet, and only those tell how the encoder uses its references.
        case undecided
        case admitted
        /// For good: the stream passes unchanged, and its repeats are to be encoded.
        case refused(RepeatRefusal)
    }

    package private(set) var admission = Admission.undecided
    private var coding: any RepeatCoding
    /// The last IDR access unit as it was sent, until another live picture follows it.
    private var keyframe: [UInt8]?
    /// Whether a live picture that cannot follow the inserted ones was left out.
    private var awaitsKeyframe = false

    package init(codec: Codec) {
        switch codec {
        case .h264: coding = H264Repeats()
        case .h265: coding = H265Repeats()
        }
    }

    /// The bytes to send for `accessUnit`, the encoder's next picture in Annex B form with one picture's NAL units.
    ///
    /// Changed in place where the array is not shared: give it away.
    ///
    /// - Throws: Why the stream is refused, where `accessUnit` would no longer decode because pictures were inserted before it: it
    ///   must not be sent, and the encoder must make a keyframe. Every access unit up to that keyframe throws likewise.
    package mutating func live(_ accessUnit: consuming [UInt8]) throws(RepeatRefusal) -> [UInt8] {
        if case .refused(let reason) = admission {
            if awaitsKeyframe {
                guard containsIDR(accessUnit) else { throw reason }
                awaitsKeyframe = false
            }
            return accessUnit
        }
        let picture: AcceptedPicture
        do {
            picture = try coding.accept(accessUnit)
        } catch {
            admission = .refused(error)
            keyframe = nil
            guard coding.inserted == 0 || containsIDR(accessUnit) else {
                awaitsKeyframe = true
                throw error
            }
            return accessUnit
        }
        picture.edit.apply(to: &accessUnit)
        keyframe = picture.isIDR ? copy accessUnit : nil
        if picture.isPredicted { admission = .admitted }
        return accessUnit
    }

    /// An access unit that shows the last picture again and is a reference like any other; nil unless the stream is admitted.
    package mutating func skip() -> [UInt8]? {
        guard admission == .admitted else { return nil }
        return coding.skip()
    }

    /// The last keyframe once more, byte for byte.
    ///
    /// Nil unless the stream is admitted, the encoder's last picture is that keyframe, so that its next one refers to it, and a skip
    /// picture stands between, so that `idr_pic_id` may stay the same (H.264 7.4.3).
    package mutating func resendKeyframe() -> [UInt8]? {
        guard admission == .admitted, coding.inserted > 0, let keyframe else { return nil }
        coding.restart()
        return keyframe
    }

    /// Goes on with another value's stream behind a keyframe that came from it, as it was sent: what it makes then is what that value
    /// would have made.
    ///
    /// - Throws: What `keyframe` lacks.
    package init(codec: Codec, resumingAt keyframe: [UInt8]) throws(RepeatRefusal) {
        self.init(codec: codec)
        try coding.resume(at: keyframe)
        self.keyframe = keyframe
        admission = .admitted
    }

    /// Whether nothing has followed the last keyframe, and another value can go on from it (``init(codec:resumingAt:)``).
    package var isResumable: Bool { admission == .admitted && keyframe != nil && coding.inserted == 0 }

    /// Takes note of what another value has made that went on from the last keyframe.
    ///
    /// - Parameters:
    ///   - inserted: Skip pictures since the keyframe was last sent.
    ///   - keyframeWasResent: Whether it was sent again.
    package mutating func follow(inserted: Int, keyframeWasResent: Bool) {
        if keyframeWasResent { coding.restart() }
        coding.advance(by: inserted)
    }

    private func containsIDR(_ accessUnit: [UInt8]) -> Bool {
        type(of: coding).containsIDR(accessUnit)
    }
}
