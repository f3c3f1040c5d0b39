/** The sounds that things make, of tones and noise. Where sounds are off a note is drawn over the thing. */

import { noiseOf } from './ambience.js';
import { PagePart } from './dom.js';
import SOUNDS from './sounds.json' with { type: 'json' };

/** Metres from which on a sound is as faint as it gets, and metres to the side for one ear alone. */
const FAR = 20;

/** Sounds at one time; more of them would be noise. */
const AT_ONCE_MAX = 12;

/** Milliseconds that a note is drawn for. */
const NOTE_MS = 900;

/**
 * The tones of each sound: wave, hertz at the beginning and at the end, seconds, loudness, seconds before it.
 * @type {Record<string, [OscillatorType | 'noise', number, number, number, number, number?][]>}
 */
export const TONES = /** @type {any} */ (SOUNDS.tones);

export class Sounds extends PagePart {
  static hears = { sound: 'make' };
  playing = 0;

  /** @param {{object: number, sound: string, pitch: number}} made */
  make({ object, sound, pitch }) {
    const { client, picture, ambience } = this.page;
    const tones = TONES[sound];
    const now = performance.now();
    const at = client.sight.at(object, now);
    const own = client.sight.at(client.sight.me ?? -1, now);
    if (!tones || !at || !own) return;
    if (ambience.on) {
      if (this.playing < AT_ONCE_MAX) this.play(ambience.context(), tones, pitch, at.x - own.x, at.y - own.y);
    } else if (!(picture.bubbles.get(object)?.until > now)) {
      picture.bubbles.set(object, { text: '\u266a', everywhere: false, from: now, until: now + NOTE_MS });
    }
  }

  /** @param {AudioContext} audio @param {typeof TONES['bell']} tones @param {number} pitch semitones @param {number} x metres to the right @param {number} y */
  play(audio, tones, pitch, x, y) {
    const near = 1 - Math.min(1, Math.hypot(x, y) / FAR);
    const out = new GainNode(audio, { gain: 0.25 * (0.08 + 0.92 * near * near) });
    const pan = new StereoPannerNode(audio, { pan: Math.max(-1, Math.min(1, x / FAR)) });
    out.connect(pan).connect(audio.destination);
    this.playing += 1;
    let left = tones.length;
    for (const [wave, from, to, seconds, loud, before = 0] of tones) {
      const begin = audio.currentTime + before;
      const times = 2 ** (pitch / 12);
      const gain = new GainNode(audio, { gain: 0 });
      gain.gain.setValueAtTime(0, begin);
      gain.gain.linearRampToValueAtTime(loud, begin + 0.006);
      gain.gain.exponentialRampToValueAtTime(0.001, begin + seconds);
      const source = wave === 'noise'
        ? new AudioBufferSourceNode(audio, { buffer: noiseOf(audio), loop: true })
        : new OscillatorNode(audio, { type: wave });
      const colour = source instanceof OscillatorNode ? null : new BiquadFilterNode(audio, { type: 'bandpass', Q: 1.5 });
      const hertz = source instanceof OscillatorNode ? source.frequency : colour.frequency;
      hertz.setValueAtTime(from * times, begin);
      hertz.exponentialRampToValueAtTime(to * times, begin + seconds);
      (colour ? source.connect(colour) : source).connect(gain).connect(out);
      source.start(begin);
      source.stop(begin + seconds);
      source.addEventListener('ended', () => {
        left -= 1;
        if (left > 0) return;
        this.playing -= 1;
        pan.disconnect();
      });
    }
  }
}
