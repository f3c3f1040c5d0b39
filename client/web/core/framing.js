/** Frames on a byte stream: their length as four bytes, lowest first, then so many bytes. */

import { joined } from './bytes.js';

/** @param {Uint8Array} frame */
export function enframe(frame) {
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, frame.length, true);
  return joined(length, frame);
}

/** Cuts a stream into frames. */
export class Unframer {
  /** @param {number} max most bytes of a frame */
  constructor(max) {
    this.max = max;
    this.rest = new Uint8Array(0);
  }

  /**
   * Takes what arrived, and gives the frames that it completes.
   * @param {Uint8Array} bytes @returns {Uint8Array[]}
   */
  take(bytes) {
    const all = joined(this.rest, bytes);
    const frames = [];
    let at = 0;
    while (all.length - at >= 4) {
      const length = new DataView(all.buffer, at).getUint32(0, true);
      if (length > this.max) throw new RangeError(`a frame of ${length} bytes is announced`);
      if (all.length - at - 4 < length) break;
      frames.push(all.slice(at + 4, at + 4 + length));
      at += 4 + length;
    }
    this.rest = all.slice(at);
    return frames;
  }
}
