// As much of a document as small parts of the page need: elements with children, attributes, listeners and a field to type into.

class FakeElement {
  constructor(tag) {
    this.tag = tag;
    this.children = [];
    this.attributes = {};
    this.dataset = {};
    this.listeners = {};
    this.style = { setProperty: () => {} };
    this.parent = null;
    this.className = '';
    this.value = '';
    this.selectionStart = 0;
    this.selectionEnd = 0;
    const names = () => this.className.split(' ').filter(Boolean);
    this.classList = {
      add: (name) => (this.className = [...new Set([...names(), name])].join(' ')),
      remove: (name) => (this.className = names().filter((each) => each !== name).join(' ')),
      contains: (name) => names().includes(name),
      toggle: (name, on) => (on ? this.classList.add(name) : this.classList.remove(name)),
    };
  }

  get firstChild() {
    return this.children[0] ?? null;
  }

  set textContent(text) {
    this.children = [text];
  }

  get textContent() {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
  }

  append(...children) {
    this.children.push(...children);
    for (const child of children) if (typeof child !== 'string') child.parent = this;
  }

  appendChild(child) {
    this.append(child);
    return child;
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  /** Puts others where it is, or nothing; what is nowhere stays there. */
  replaceWith(...others) {
    if (this.parent === null) return;
    const [{ children }, at] = [this.parent, this.parent.children.indexOf(this)];
    children.splice(at, 1);
    this.parent.append(...others, ...children.splice(at));
    this.parent = null;
  }

  remove() {
    this.replaceWith();
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name === 'hidden') this.hidden = true;
    if (name.startsWith('data-')) this.dataset[name.slice(5)] = value;
  }

  addEventListener(type, call) {
    this.listeners[type] = call;
  }

  contains(other) {
    return other === this || this.children.some((child) => typeof child !== 'string' && child.contains(other));
  }

  focus() {
    globalThis.document.activeElement = this;
  }

  click() {
    if (!this.disabled) this.listeners.click();
  }

  /** Somebody chooses one of several. */
  choose(value) {
    this.value = value;
    this.listeners.change();
  }

  scrollIntoView() {
    globalThis.document.shown = this;
  }

  setSelectionRange(start, end) {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }

  setRangeText(text) {
    this.value = this.value.slice(0, this.selectionStart) + text + this.value.slice(this.selectionEnd);
  }

  /** The elements of a kind in it. */
  all(tag) {
    return this.children.filter((child) => typeof child !== 'string').flatMap((child) => [...(child.tag === tag ? [child] : []), ...child.all(tag)]);
  }

  /** A key goes down. Gives what the page did about it. */
  press(key, more = {}) {
    const said = { prevented: false, stopped: false };
    this.listeners.keydown({ key, ...more, preventDefault: () => (said.prevented = true), stopPropagation: () => (said.stopped = true) });
    return said;
  }

  /** Somebody types, in place of what is selected. */
  type(text) {
    const at = this.selectionStart + text.length;
    this.setRangeText(text);
    this.setSelectionRange(at, at);
    this.listeners.input();
  }
}

/** Makes a document, and gives an element to put things into. */
export function emptyDocument() {
  globalThis.document = { activeElement: null, shown: null, createElement: (tag) => new FakeElement(tag), createElementNS: (_, tag) => new FakeElement(tag), execCommand: () => false };
  return new FakeElement('div');
}

/** Makes a document with a body in which dialogs are opened, and gives the body. */
export function withDialogs() {
  const box = emptyDocument();
  globalThis.document.body = box;
  const { createElement } = globalThis.document;
  globalThis.document.createElement = (tag) => Object.assign(createElement(tag), tag === 'dialog' && { showModal() {}, close() { this.remove(); } });
  return box;
}
