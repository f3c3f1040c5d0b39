// @ts-check
/** The editor of scripts, as whoever writes in it has it. */

/** Puts a text in place of all there is, as one pastes it. @param {import('playwright-core').Locator} source @param {string} text */
export async function pasted(source, text) {
  await source.press('ControlOrMeta+a');
  await source.evaluate((field, put) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', put);
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** What stands in it. @param {import('playwright-core').Locator} source */
export async function written(source) {
  return (await source.locator('.cm-line').allTextContents()).join('\n');
}
