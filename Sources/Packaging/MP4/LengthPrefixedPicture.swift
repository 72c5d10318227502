package import Media

/// A picture as MP4 and the decoders of some platforms want it (ISO/IEC 14496-15, 4.3.3 and 5.3): lengths of four bytes
/// in place of start codes, and the parameter sets in a record of their own.
package enum LengthPrefixedPicture {
    /// Returns an access unit with lengths in place of start codes.
    package static func bytes(of accessUnit: [UInt8]) -> [UInt8] {
        var writer = BoxWriter(capacity: accessUnit.count)
        for unit in AnnexB.Units(accessUnit) {
            let contents = accessUnit.read { $0[in: unit.unpaddedContents(in: $0)].bytes }
            guard !contents.isEmpty else { continue }
            writer.put(UInt32(clamping: contents.count))
            writer.put(contents)
        }
        return writer.bytes
    }

    /// Returns the record of parameter sets in Annex B: `AVCDecoderConfigurationRecord` (5.3.3.1) or
    /// `HEVCDecoderConfigurationRecord` (8.3.3.1).
    package static func configuration(of parameterSets: [UInt8], codec: Codec) throws(PackagingError) -> [UInt8] {
        var sets = ParameterSetList()
        for unit in AnnexB.Units(parameterSets) {
            let contents = parameterSets.read { $0[in: unit.unpaddedContents(in: $0)].bytes }
            guard let header = contents.first else { continue }
            sets.append(contents[...], kind: NALUnitKind(header: header, codec: codec))
        }
        return try VideoSampleEntry(sets, codec: codec, place: .sampleEntry).configurationRecord
    }
}
