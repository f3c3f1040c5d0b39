/** The source of a package, to read, copy and keep. */

import { t } from '../strings.js';
import { button, el, facts, fill, save, short } from './dom.js';
import { sourceLines } from './highlight.js';
import { attempt } from './toast.js';

/** Names of a package's authors. @param {any} manifest */
export function authorsOf(manifest) {
  return (manifest.authors ?? []).map((/** @type {any} */ author) => author.name ?? author).join(', ');
}

/** @param {Page} page @returns {Panel} */
export function sourcePanel(page) {
  const body = el('div', { class: 'stack' });
  const panel = /** @type {Panel} */ ({ body, show });

  function show(/** @type {any} */ detail) {
    if (!detail) return;
    const { source, from, back = from === undefined ? null : () => page.select(from) } = detail;
    const { manifest, files } = source;
    panel.title = `${manifest.name} ${manifest.version ?? ''}`;
    const code = el('div', { class: 'source', tabindex: '0', role: 'region', 'aria-label': panel.title });
    const tabs = el('div', { class: 'tabs', role: 'group', 'aria-label': t('source.file') });
    let shown = files.find((/** @type {any} */ file) => file.path === manifest.entry) ?? files[0];
    const pick = (/** @type {any} */ file) => {
      shown = file;
      for (const tab of tabs.children) tab.setAttribute('aria-pressed', String(tab.dataset.path === file.path));
      fill(code, sourceLines(file.text, file.path));
      code.scrollTop = 0;
    };
    for (const file of files) tabs.append(button({ text: file.path, class: 'tab', 'data-path': file.path, click: () => pick(file) }));
    pick(shown);
    fill(body,
      el('p', { class: 'row' },
        back && button({ icon: 'back', text: t('back'), click: back }),
        button({ text: t('script.fork'), click: () => page.dock.show('script', { fork: source.id }) }),
        button({ icon: 'copy', text: t('copy'), click: () => copied(page, shown.text) }),
        button({ icon: 'download', text: t('download'), click: () => save(new Blob([shown.text], { type: 'text/plain' }), shown.path.split('/').at(-1)) })),
      el('p', { class: source.verified ? 'good' : 'bad' }, t(source.verified ? 'script.verified' : 'script.unverified')),
      facts([[t('script.licence'), manifest.licence], [t('script.authors'), authorsOf(manifest)], [t('script.package'), short(source.id)]]),
      tabs, code, el('p', { class: 'row' }, everything(page)));
  }
  return panel;
}

/** Copies text, and says how it went. @param {Page} page @param {string} text */
export async function copied(page, text) {
  let done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  if (!done) {
    const area = document.body.appendChild(el('textarea', { class: 'hidden', value: text }));
    area.select();
    done = document.execCommand('copy');
    area.remove();
  }
  page.toasts.say(t(done ? 'copied' : 'copy.failed'));
}

/** The button for one archive of all sources. @param {Page} page */
export function everything(page) {
  const made = button({
    icon: 'download', text: t('source.all'), title: t('source.all.how'),
    click: async () => {
      made.disabled = true;
      await attempt(page.toasts, take);
      made.disabled = false;
    },
  });
  async function take() {
    const { archive, list } = await page.client.allSource();
    save(archive, `${page.client.status.simName ?? 'sim'}-source.tar`);
    const ok = list.filter((/** @type {any} */ entry) => entry.verified).length;
    page.toasts.say(t('source.all.count', { ok, n: list.length }), ok === list.length ? 'plain' : 'bad');
  }
  return made;
}
