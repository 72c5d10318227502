// Pictures on a canvas, upright.

/**
 * Draws a picture. The canvas takes its size.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasImageSource} source
 * @param {number} width Of the source.
 * @param {number} height
 * @param {number} orientation Clockwise quarter turns that make it upright.
 */
export function paint(canvas, source, width, height, orientation) {
  const context = canvas.getContext("2d", { alpha: false, desynchronized: true });
  const isTurned = orientation % 2 === 1;
  const [across, down] = isTurned ? [height, width] : [width, height];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  if (orientation === 0) return context.drawImage(source, 0, 0);
  context.setTransform(1, 0, 0, 1, across / 2, down / 2);
  context.rotate((orientation * Math.PI) / 2);
  context.drawImage(source, -width / 2, -height / 2);
  context.resetTransform();
}
