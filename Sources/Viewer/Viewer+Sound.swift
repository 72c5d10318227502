import HeliographClient

extension Viewer {
    static let volumeStep = 0.1

    /// Plays the sound of the session that is shown alone, if the person wants it.
    func followSound() {
        let heard = settings.isMuted || soundFault != nil ? nil : wall.shown.flatMap { $0.hasSound ? $0 : nil }
        if heard != nil, loudspeaker == nil {
            do throws(ViewerError) {
                loudspeaker = try Loudspeaker(named: options.speaker ?? settings.speaker, volume: settings.volume)
                settings.speaker = options.speaker ?? settings.speaker
            } catch {
                soundFault = error.description
                tell(error.description)
            }
        }
        for feed in feeds { feed.hear(feed === heard ? loudspeaker : nil) }
    }

    func toggleSound() {
        settings.isMuted.toggle()
        // What failed may go now.
        soundFault = nil
        tell(settings.isMuted ? "Sound is off." : "Sound is on.")
    }

    func changeVolume(by step: Double) {
        settings.volume = min(max(((settings.volume + step) * 10).rounded() / 10, 0), 1)
        loudspeaker?.setVolume(settings.volume)
        tell("Volume: \(Int((settings.volume * 100).rounded())) %")
    }

    /// Lets the controlled device hear the person.
    func speak() {
        guard let feed = control?.feed, let live = feed.live else { return }
        guard live.control?.hasMicrophone == true else { return tell("\(feed.name) has no microphone.") }
        do throws(ViewerError) {
            microphone = try Microphone(to: live)
        } catch {
            tell(error.description)
        }
    }
}
