/// The check whether pictures can be inserted into an H.264 stream.
enum H264Admission {
    /// The `payloadType` of messages that time or count pictures (D.1.1): buffering period, picture timing, recovery
    /// point, repeated marking, spare pictures, sub-sequences.
    private static let countingMessages: Set = [0, 1, 6, 7, 8, 10, 11, 12]

    static func admit(_ sequence: H264SequenceParameterSet) throws(RepeatRefusal) {
        guard sequence.isFramesOnly else { throw .interlaced }
        guard !sequence.hasSeparateColourPlanes else { throw .separateColourPlanes }
        guard sequence.referenceFrames == 1 else { throw .referenceFrames(sequence.referenceFrames) }
        guard sequence.pictureOrderType != 1 else { throw .pictureOrder }
        guard !sequence.timesPictures else { throw .timing }
    }

    static func admit(_ picture: H264PictureParameterSet) throws(RepeatRefusal) {
        guard picture.sliceGroups == 1 else { throw .sliceGroups }
        guard !picture.hasFieldOrder else { throw .pictureOrder }
        guard !picture.hasRedundantPictures else { throw .redundantPictures }
    }

    static func admit(_ slice: H264SliceHeader) throws(RepeatRefusal) {
        switch slice.kind {
        case .b: throw .bidirectional
        case .sp, .si: throw .switching
        case .p, .i: break
        }
        guard slice.isReference else { throw .nonReferencePicture }
        guard !slice.modifiesList else { throw .listModification }
        guard slice.activeReferences <= 1 else { throw .severalActiveReferences }
        guard !slice.isLongTerm else { throw .longTermReference }
        guard !slice.hasMemoryOperations else { throw .memoryOperations }
    }

    static func admit(information unit: ArraySlice<UInt8>) throws(RepeatRefusal) {
        let types = SupplementalInformation.payloadTypes(unit: unit, headerWidth: 8)
        guard countingMessages.isDisjoint(with: types) else { throw .timing }
    }
}
