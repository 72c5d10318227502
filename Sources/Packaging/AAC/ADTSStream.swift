package import Media

/// A muxer for a stream of one AAC track in ADTS. It has no times: players count the packets.
package struct ADTSStream: Sendable {
    private let parameters: AACParameters
    /// The end of the last packet, in samples.
    package private(set) var position: Int64 = 0

    package init(_ parameters: AACParameters) { self.parameters = parameters }

    /// Returns packets that follow each other as frames.
    ///
    /// - Throws: ``PackagingError/noPacket`` if one is not of AAC.
    package mutating func frames(of packets: [some MediaBytes]) throws(PackagingError) -> [UInt8] {
        var bytes: [UInt8] = []
        for packet in packets { bytes += try ADTS.frame(packet, parameters) as [UInt8] }
        position &+= Int64(clamping: packets.count) &* Int64(clamping: AACParameters.packetSamples)
        return bytes
    }
}
