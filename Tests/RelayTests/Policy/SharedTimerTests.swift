import NIOCore
import Relay
import Testing

@Suite("A timer of the media loop that many share")
struct SharedTimerTests {
    @MediaLoop
    @Test("an entry that is put off when the loop is about to run the timer leaves no callback behind")
    func putOff() async {
        var timer: SharedTimer? = SharedTimer()
        weak let kept = timer
        let place = timer?.add {} ?? 0
        let due = NIODeadline.now() + .milliseconds(5)
        timer?.set(place, at: due.uptimeNanoseconds)
        await withCheckedContinuation { continuation in
            // The loop takes this and the timer's callback out together, and runs this one first.
            MediaLoop.eventLoop.execute { [timer] in
                MediaLoop.assumeIsolated { timer?.set(place, at: (due + .hours(1)).uptimeNanoseconds) }
                MediaLoop.eventLoop.execute { continuation.resume() }
            }
            while NIODeadline.now() < due {}
        }
        timer?.remove(place)
        timer = nil
        #expect(kept == nil, "the loop keeps a timer for as long as it has a callback of it")
    }
}
