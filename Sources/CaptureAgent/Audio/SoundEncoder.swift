import Media
import Wire

/// An encoder of stereo sound at 48 kHz.
package protocol SoundEncoder: AnyObject {
    /// The samples of a packet.
    var packetSize: Int { get }
    /// How many samples the decoded sound is late, compared with the packet's.
    var lookahead: Int { get }
    /// How many packets of samples it needs before it encodes sound that another encoder has begun.
    var preparation: Int { get }

    /// Encodes the samples of one packet.
    ///
    /// - Parameter standsAlone: Whether the packet must not refer to the ones before it, because the decoder does not
    ///   have them.
    /// - Returns: `nil` if the library refuses them, or has no packet yet.
    func encode(_ samples: SoundSamples, standsAlone: Bool) -> [UInt8]?
}

/// The reason why sound cannot be encoded, for people.
package struct SoundEncoderError: Error, Equatable {
    package let reason: String
}

extension SoundCodec {
    /// Opens an encoder. The first one of AAC loads libavcodec, which takes some 20 ms.
    func encoder(_ coding: SoundCoding) throws(SoundEncoderError) -> any SoundEncoder {
        switch self {
        case .opus: try OpusSoundEncoder(coding)
        case .aac: try AACSoundEncoder(coding)
        }
    }
}
