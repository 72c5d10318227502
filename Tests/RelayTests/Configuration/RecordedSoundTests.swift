import Media
import Relay
import Testing

@Suite("The codecs of recorded sound")
struct RecordedSoundTests {
    private static let opus = OpusParameters(channels: 2, preSkip: 0).map { MediaTrack(id: 1, coding: .opus($0)) }
    private static let aac = MediaTrack(id: 2, coding: .aac(.stereo))

    @Test("are those that are set, and another one if the agent has none of them")
    func tracks() throws {
        let (video, opus) = (MediaTrack.video(.h264), try #require(Self.opus))
        let all = [video, opus, Self.aac]
        #expect(RecordedSound.opus.tracks(of: all) == [video, opus])
        #expect(RecordedSound.aac.tracks(of: all) == [video, Self.aac])
        #expect(RecordedSound.both.tracks(of: all) == all)
        for choice in [RecordedSound.aac, .both] {
            #expect(choice.tracks(of: [video, opus]) == [video, opus])
        }
        #expect(RecordedSound.aac.codecs(of: [video, opus]) == [.opus])
    }

    @Test("are wanted before the agent has told what it has")
    func unknown() {
        let video = [MediaTrack.video(.h264)]
        #expect(RecordedSound.both.codecs(of: video) == [.opus, .aac] && RecordedSound.aac.codecs(of: video) == [.aac])
        #expect(RecordedSound.both.tracks(of: video) == video)
    }
}
