package import CColour

/// Scales the planes of 4:2:0 pictures from one size to another. Owned by one encoder thread.
package protocol PlaneScaler: AnyObject {
    /// Fills `planes`, of the output's size, from `picture`, of the source's.
    func scale(_ picture: I420Picture, into planes: ccolour_planes)
}
