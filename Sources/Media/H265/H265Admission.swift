/// Which H.265 streams take inserted pictures.
enum H265Admission {
    /// `payloadType` of messages that time or count pictures: buffering period, picture timing, recovery point, structure of pictures,
    /// decoding unit information, temporal sub-layer zero index (D.2.1).
    private static let countingMessages: Set = [0, 1, 6, 128, 130, 131]

    static func admit(_ set: H265VideoParameterSet) throws(RepeatRefusal) {
        guard !set.timesPictures else { throw .timing }
    }

    static func admit(_ sequence: H265SequenceParameterSet) throws(RepeatRefusal) {
        guard !sequence.isFieldSequence else { throw .interlaced }
        guard !sequence.hasSeparateColourPlanes else { throw .separateColourPlanes }
        guard !sequence.hasLongTermReferences else { throw .longTermReference }
        guard !sequence.timesPictures else { throw .timing }
        guard !sequence.hasExtensions else { throw .layersOrExtensions }
    }

    static func admit(_ picture: H265PictureParameterSet) throws(RepeatRefusal) {
        guard !picture.hasOutputFlag else { throw .hiddenPictures }
        guard !picture.hasExtensions else { throw .layersOrExtensions }
    }

    /// A skip picture holds its own reference, the picture before it, and no other. Behind any picture but an IDR picture the decoder
    /// therefore has the last one and the one before it, and no more can be asked for.
    static func admit(_ slice: H265SliceHeader.Slice) throws(RepeatRefusal) {
        guard slice.kind != .b else { throw .bidirectional }
        guard !slice.hasTemporalMotion else { throw .temporalMotion }
        guard !slice.modifiesList else { throw .listModification }
        let distances = slice.references.map(\.distance)
        guard distances.count <= 2, zip(distances, [-1, -2]).allSatisfy(==) else { throw .referencePictureSet }
        if slice.kind == .p {
            guard slice.activeReferences == 1 else { throw .severalActiveReferences }
            guard slice.references.first?.isUsed == true else { throw .referencePictureSet }
        }
    }

    static func admit(information unit: ArraySlice<UInt8>) throws(RepeatRefusal) {
        let types = SupplementalInformation.payloadTypes(unit: unit, headerWidth: 16)
        guard countingMessages.isDisjoint(with: types) else { throw .timing }
    }
}
