/** What the page sees of a worker: a test reads what it got, and says what it answers. */
export class FakeWorker {
  constructor() {
    FakeWorker.last = this;
    this.got = [];
  }

  postMessage(message) {
    this.got.push(message);
  }

  terminate() {
    this.ended = true;
  }

  say(data) {
    this.onmessage({ data });
  }

  took(type) {
    return this.got.filter((message) => message.type === type);
  }

  get tries() {
    return this.got.filter(({ type }) => type.startsWith('try'));
  }
}
globalThis.Worker = FakeWorker;
