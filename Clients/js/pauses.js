// How long to wait before another attempt.

const pauses = [500, 1000, 2000, 4000, 8000];

/**
 * Returns the pause after a number of failures in a row, in ms.
 *
 * @param {number} failures 1 or more.
 */
export const pauseAfter = (failures) => pauses[Math.min(failures, pauses.length) - 1];
