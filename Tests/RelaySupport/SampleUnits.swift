import HeliographAPI
package import Media
import NIOCore
package import Relay

/// Units of a session's stream.
extension SampleStream {
    package static func unit(_ accessUnit: AccessUnit, codec: Codec = .h264) -> MediaUnit {
        MediaUnit(EncodedUnit(copying: accessUnit), codec: codec)
    }

    package static func unit(_ number: Int, key: Bool, size: Int = 32) -> MediaUnit {
        unit(accessUnit(number, key: key, size: size))
    }

    /// A unit as viewers of the bare stream get it.
    package static func rendered(_ unit: MediaUnit) -> RenderedUnit {
        RenderedUnit(unit, of: .video(.h264), bytes: unit.bytes)
    }

    /// An access unit in scrcpy's packets.
    package static func scrcpyPackets(_ accessUnit: AccessUnit, codec: Codec) -> [UInt8] {
        var muxer = StreamMuxer(.bare(.scrcpy), codec: codec, tracks: [.video(codec)], fps: 30)
        let packets = muxer.rendered(unit(accessUnit, codec: codec), of: .video(codec))
        return packets.map { Array($0.bytes.readableBytesView) } ?? []
    }

    /// A stereo track.
    package static func opusTrack(_ id: MediaTrack.ID) -> MediaTrack {
        let parameters = OpusParameters(channels: 2, preSkip: 312)
        return MediaTrack(id: id, coding: parameters.map { .opus($0) } ?? .video(.h264))
    }

    /// A packet of 20 ms of silence in stereo, in track 1.
    package static func opusUnit(_ number: Int) -> MediaUnit {
        MediaUnit(EncodedUnit(copying: opusPacket(number)), codec: .h264)
    }

    /// ``opusUnit(_:)`` as an agent sends it.
    package static func opusPacket(_ number: Int, epoch: Int64 = 0) -> AccessUnit {
        AccessUnit(
            UnitHeader(
                track: 1,
                pts: epoch + Int64(number) * 20_000,
                captured: 1,
                encodeStart: 2,
                encodeEnd: 3,
                flags: [],
                size: PictureSize(width: 0, height: 0)
            ),
            [0xFC, 0xFF, 0xFE]
        )
    }
}
