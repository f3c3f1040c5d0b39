// @ts-check
/**
 * The quiet sounds of rooms. The browser makes them of noise, so nothing is fetched; nothing sounds until
 * somebody switches it on.
 */

/** Seconds of noise that are repeated: long enough that nobody hears the seam. */
const NOISE_SECONDS = 4;

/** Seconds in which one sound gives way to another. */
const FADE_SECONDS = 0.8;

/**
 * What each sound is: which part of the noise is heard, how loud, and how it swells.
 * @type {Record<string, {type: BiquadFilterType, hertz: number, q: number, loud: number, swell?: number, hum?: number}>}
 */
const SOUNDS = {
  room: { type: 'lowpass', hertz: 160, q: 0.5, loud: 0.05 },
  hall: { type: 'bandpass', hertz: 260, q: 1.2, loud: 0.08, swell: 0.07 },
  garden: { type: 'bandpass', hertz: 900, q: 0.6, loud: 0.05, swell: 0.13 },
  water: { type: 'bandpass', hertz: 1500, q: 0.4, loud: 0.06, swell: 0.9 },
  machines: { type: 'lowpass', hertz: 420, q: 2, loud: 0.05, hum: 55 },
};

export class Ambience {
  constructor() {
    this.on = false;
    /** The sound of the room that one is in. */
    this.name = 'silent';
    /** @type {AudioContext | null} */
    this.audio = null;
    /** @type {{out: GainNode, sources: AudioScheduledSourceNode[]} | null} */
    this.playing = null;
  }

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
    const sound = this.on ? SOUNDS[this.name] : undefined;
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
    /** @type {AudioScheduledSourceNode[]} */
    const sources = [noise];
    if (sound.swell) {
      const swell = new OscillatorNode(audio, { frequency: sound.swell });
      swell.connect(new GainNode(audio, { gain: sound.hertz * 0.35 })).connect(filter.frequency);
      sources.push(swell);
    }
    if (sound.hum) {
      const hum = new OscillatorNode(audio, { type: 'triangle', frequency: sound.hum });
      hum.connect(new GainNode(audio, { gain: 0.4 })).connect(out);
      sources.push(hum);
    }
    for (const source of sources) source.start(now);
    this.playing = { out, sources };
  }
}

/** @type {WeakMap<AudioContext, AudioBuffer>} */
const noises = new WeakMap();

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
