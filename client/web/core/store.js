/**
 * A few small things that outlive the tab: IndexedDB, or memory where the browser keeps nothing
 * (private windows, blocked storage). `why` says so, for people.
 */

const DATABASE = 'metatopia';
const TABLE = 'kept';

/** @returns {Store} */
export function memoryStore(why = 'no-storage') {
  const map = /** @type {Map<string, any>} */ (new Map());
  return {
    kept: false,
    why,
    get: async (name) => map.get(name),
    put: async (name, value) => void map.set(name, value),
    first: async (name, value) => {
      if (!map.has(name)) map.set(name, value);
      return map.get(name);
    },
  };
}

/** @param {IDBRequest} request @returns {Promise<any>} */
const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Waits until it is kept for good: a page that is left before that may find it half done. @param {IDBRequest} request */
const stored = ({ transaction }) =>
  new Promise((resolve, reject) => Object.assign(/** @type {any} */ (transaction), { oncomplete: resolve, onabort: () => reject(transaction?.error) }));

/** @returns {Promise<Store>} */
export async function openStore() {
  if (typeof indexedDB === 'undefined') return memoryStore();
  try {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
    const database = await result(opening);
    const table = (/** @type {IDBTransactionMode} */ mode) =>
      database.transaction(TABLE, mode).objectStore(TABLE);
    return {
      kept: true,
      why: null,
      get: (name) => result(table('readonly').get(name)),
      put: async (name, value) => void (await stored(table('readwrite').put(value, name))),
      first: async (name, value) => {
        const open = table('readwrite');
        const found = await result(open.get(name));
        if (found !== undefined) return found;
        await stored(open.put(value, name));
        return value;
      },
    };
  } catch {
    return memoryStore();
  }
}

/** Keeps small things beside it; where a browser keeps nothing the page forgets, and works. */
const beside = (/** @type {(kept: Storage) => any} */ work) => {
  try {
    return work(localStorage);
  } catch {
    return null;
  }
};

/** @param {string} key @returns {any} null if there is nothing */
export const recall = (key) => beside((kept) => JSON.parse(kept.getItem(key) ?? 'null'));
/** @param {string} key @param {any} value */
export const keep = (key, value) => beside((kept) => kept.setItem(key, JSON.stringify(value)));
/** @param {string} key */
export const forget = (key) => beside((kept) => kept.removeItem(key));
