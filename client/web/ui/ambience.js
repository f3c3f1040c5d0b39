/**
 * The quiet sounds of rooms. The browser makes them of noise, so nothing is fetched; nothing sounds until
 * somebody switches it on.
 */

import SOUNDS from './sounds.json' with { type: 'json' };

/** Seconds of noise that are repeated: long enough that nobody hears the seam. */
const NOISE_SECONDS = 4;

/** Seconds in which one sound gives way to another. */
const FADE_SECONDS = 0.8;

/**
 * What each sound is: which part of the noise is heard, how loud, and how it swells.
 * @type {Record<string, {type: BiquadFilterType, hertz: number, q: number, loud: number, swell?: number, hum?: number}>}
 */
const ROOMS = /** @type {any} */ (SOUNDS.rooms);

export class Ambience {
  on = false;
  /** The sound of the room that one is in. */
  name = 'silent';
  audio = /** @type {AudioContext | null} */ (null);
  playing = /** @type {{out: GainNode, sources: AudioScheduledSourceNode[]} | null} */ (null);

  /** @param {boolean} on */
  turn(on) {
    this.on = on;
    this.#play();
  }

  /** Says which room one is in. @param {string} name */
  enter(name) {
    if (name === this.name) return;
    this.name = name;
    this.#play();
  }

  /** Where everything sounds. Browsers let nothing be heard before the first click. @returns {AudioContext} */
  context() {
    this.audio ??= new AudioContext();
    if (this.audio.state === 'suspended') void this.audio.resume();
    return this.audio;
  }

  #play() {
    const sound = this.on ? ROOMS[this.name] : undefined;
    const audio = sound ? this.context() : this.audio;
    if (!audio) return;
    const now = audio.currentTime;
    if (this.playing) {
      this.playing.out.gain.setTargetAtTime(0, now, FADE_SECONDS / 3);
      for (const source of this.playing.sources) source.stop(now + FADE_SECONDS * 2);
      this.playing = null;
    }
    if (!sound) return;
    const out = new GainNode(audio, { gain: 0 });
    out.gain.setTargetAtTime(sound.loud, now, FADE_SECONDS / 3);
    out.connect(audio.destination);
    const noise = new AudioBufferSourceNode(audio, { buffer: noiseOf(audio), loop: true });
    const filter = new BiquadFilterNode(audio, { type: sound.type, frequency: sound.hertz, Q: sound.q });
    noise.connect(filter).connect(out);
    const wave = (/** @type {OscillatorOptions} */ tone, /** @type {number} */ gain, /** @type {any} */ to) => {
      const source = new OscillatorNode(audio, tone);
      source.connect(new GainNode(audio, { gain })).connect(to);
      return [source];
    };
    const sources = [noise,
      ...(sound.swell ? wave({ frequency: sound.swell }, sound.hertz * 0.35, filter.frequency) : []),
      ...(sound.hum ? wave({ type: 'triangle', frequency: sound.hum }, 0.4, out) : [])];
    for (const source of sources) source.start(now);
    this.playing = { out, sources };
  }
}

const noises = /** @type {WeakMap<AudioContext, AudioBuffer>} */ (new WeakMap());

/** Noise that is the same for all sounds. @param {AudioContext} audio */
export function noiseOf(audio) {
  let buffer = noises.get(audio);
  if (!buffer) {
    buffer = audio.createBuffer(1, audio.sampleRate * NOISE_SECONDS, audio.sampleRate);
    const samples = buffer.getChannelData(0);
    for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1;
    noises.set(audio, buffer);
  }
  return buffer;
}
