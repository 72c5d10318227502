/// One encoder's stream, into which repeats are written without the encoder.
///
/// A repeat is a *skip picture*: a few bytes that tell the decoder to show the last picture again. Each one takes a
/// number in the sequence of pictures, so the numbers of all later pictures are raised, up to the next IDR picture.
/// docs/design/free-repeats.md explains why decoded pictures stay exactly the same.
///
/// Pass every picture of the encoder through ``live(_:)``, in order. Create a new value for a new encoder.
package struct RepeatableStream: Sendable {
    package enum Admission: Equatable, Sendable {
        /// There has been no P picture, and only P pictures tell how the encoder uses its references.
        case undecided
        case admitted
        /// Permanent: the stream passes unchanged, and its repeats must be encoded.
        case refused(RepeatRefusal)
    }

    package private(set) var admission = Admission.undecided
    private var coding: any RepeatCoding
    /// The last IDR access unit as it was sent, until another live picture follows it.
    private var keyframe: [UInt8]?
    /// Whether a live picture was left out because it cannot follow the inserted ones.
    private var awaitsKeyframe = false

    package init(codec: Codec) {
        switch codec {
        case .h264: coding = H264Repeats()
        case .h265: coding = H265Repeats()
        }
    }

    /// Returns the bytes to send for `accessUnit`, the encoder's next picture in Annex B form.
    ///
    /// An array that is not shared is changed in place, so pass it with `consume`.
    ///
    /// - Throws: Why the stream is refused, if inserted pictures would make `accessUnit` undecodable. It must not be
    ///   sent, and the encoder must make a keyframe. Every access unit before that keyframe throws, too.
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

    /// Returns an access unit that shows the last picture again, or `nil` unless the stream is admitted.
    ///
    /// The access unit is a reference picture like any other.
    package mutating func skip() -> [UInt8]? {
        guard admission == .admitted else { return nil }
        return coding.skip()
    }

    /// Returns the last keyframe again, byte for byte, or `nil` if that is not allowed.
    ///
    /// It is allowed if the stream is admitted, the keyframe is the encoder's last picture (so the next picture refers
    /// to it), and a skip picture comes between (so `idr_pic_id` may stay the same, H.264 7.4.3).
    package mutating func resendKeyframe() -> [UInt8]? {
        guard admission == .admitted, coding.inserted > 0, let keyframe else { return nil }
        coding.restart()
        return keyframe
    }

    /// Continues another value's stream after a keyframe, and produces what that value would have produced.
    ///
    /// - Parameter keyframe: The keyframe as the other value sent it.
    /// - Throws: What `keyframe` lacks.
    package init(codec: Codec, resumingAt keyframe: [UInt8]) throws(RepeatRefusal) {
        self.init(codec: codec)
        try coding.resume(at: keyframe)
        self.keyframe = keyframe
        admission = .admitted
    }

    /// Whether nothing has followed the last keyframe, so that another value can continue
    /// (``init(codec:resumingAt:)``).
    package var isResumable: Bool { admission == .admitted && keyframe != nil && coding.inserted == 0 }

    /// Records what another value has made that continued after the last keyframe.
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
