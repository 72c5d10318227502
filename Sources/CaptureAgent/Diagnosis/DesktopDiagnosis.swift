import Glibc
package import Program
package import Wire

/// A check of what the agent needs to capture this desktop, made with the agent's own sources and encoders.
///
/// It shows no dialog and captures nothing.
package struct DesktopDiagnosis {
    private let stateDirectory: String
    private let device: String
    private let input: InputChoice

    /// - Parameters:
    ///   - stateDirectory: The absolute path of the directory in which the agent would keep its state.
    ///   - device: The device that the agent would serve.
    ///   - input: How the agent would act on the desktop.
    package init(stateDirectory: String, device: String, input: InputChoice) {
        self.stateDirectory = stateDirectory
        self.device = device
        self.input = input
    }

    /// Returns the findings. Takes seconds if a service does not answer.
    package func findings() -> [Finding] {
        let screenshots = screenshots
        let isMutter = MutterScreenCast.isAvailable()
        var findings = [pipeWire]
        if isMutter {
            findings.append(
                Finding(
                    "screencast",
                    .ok,
                    "Mutter is the compositor; its screencast asks nobody (--source auto, mutter)."
                )
            )
        } else {
            findings.append(portal(hasScreenshots: screenshots.verdict == .ok))
            findings.append(consent)
        }
        return findings + [screenshots] + EncoderDiagnosis().findings() + [state, InputDiagnosis.finding(input)]
            + GamepadDiagnosis.findings() + [SoundDiagnosis.finding()].compactMap(\.self)
    }

    private var pipeWire: Finding {
        do {
            let connection = try PipeWireConnection(to: .session)
            defer { connection.shutDown() }
            guard try connection.globals().contains(where: \.isSessionManagersMetadata) else {
                return Finding(
                    "pipewire",
                    .warning,
                    "PipeWire answers, and no session manager does: most portals cannot link their streams.",
                    advice: "Start one in the desktop's session: systemctl --user start wireplumber"
                )
            }
            return Finding("pipewire", .ok, "PipeWire and its session manager answer.")
        } catch {
            return Finding(
                "pipewire",
                .failure,
                error.detail,
                advice: "systemctl --user start pipewire wireplumber, as the desktop's user. "
                    + "XDG_RUNTIME_DIR has to name that user's folder, such as /run/user/1000."
            )
        }
    }

    /// - Parameter hasScreenshots: Whether the agent can also capture the screen with screenshots.
    private func portal(hasScreenshots: Bool) -> Finding {
        do {
            let contents = try ScreenCastPortal.sharedContents().map { "\($0.rawValue)s" }.sorted()
            guard contents.contains("\(ScreenContent.monitor.rawValue)s") else {
                return Finding(
                    "screencast",
                    .warning,
                    "The desktop's portal shares no monitors, but \(contents.isEmpty ? "nothing" : contents[0]).",
                    advice: "Install the portal's backend for this desktop, such as xdg-desktop-portal-wlr."
                )
            }
            return Finding("screencast", .ok, "The desktop's portal shares \(contents.joined(separator: " and ")).")
        } catch {
            let screenshots =
                hasScreenshots ? "Until then: --source screenshot. " : ""
            return Finding(
                "screencast",
                hasScreenshots ? .warning : .failure,
                error.detail,
                advice: screenshots + "Install xdg-desktop-portal and its backend for the desktop, and run this "
                    + "inside the desktop's session: DBUS_SESSION_BUS_ADDRESS has to name its bus."
            )
        }
    }

    private var consent: Finding {
        if RestoreTokenFile(stateDirectory: stateDirectory, device: device).read() != nil {
            return Finding(
                "consent",
                .ok,
                "The portal's permission for device \(device) is kept; nobody is asked again."
            )
        }
        return Finding(
            "consent",
            .warning,
            "No permission of the portal is stored for device \(device): the next start shows a dialog, unless the desktop is set up to skip it.",
            advice:
                "Start the broadcast once and answer the dialog (heliograph start), or see docs/guide/unattended.md."
        )
    }

    private var screenshots: Finding {
        do {
            let backend = try ScreenshotTarget().open()
            defer { backend.close() }
            return Finding("screenshots", .ok, "Screenshots can be taken, by \(backend.kind).")
        } catch {
            return Finding(
                "screenshots",
                .warning,
                error.detail,
                advice:
                    "Only screenshots need it, and the fallback of a broadcast: docs/reference/configuration.md, Fallback."
            )
        }
    }

    /// Whether the state directory, or its nearest existing parent, is writable.
    private var state: Finding {
        let directory = stateDirectory + "/" + device
        var existing = directory
        while existing != "/", access(existing, F_OK) != 0 {
            existing = String(existing[..<(existing.lastIndex(of: "/") ?? existing.startIndex)])
            if existing.isEmpty { existing = "/" }
        }
        guard access(existing, W_OK | X_OK) == 0 else {
            return Finding(
                "state",
                .failure,
                "\(directory) cannot be written to: \(existing): \(String(cString: strerror(errno))).",
                advice: "Give \(existing) to the agent's user, or name another folder with stateDirectory; "
                    + "else the portal's permission is lost with every start."
            )
        }
        return Finding("state", .ok, "\(directory) can be written to.")
    }
}
