// @ts-check
/** Source packages: read, and hashed again, so that what is shown is what the sim runs. */
import { decode, encode } from '../wire/postcard.js';
import { manifest as manifestSchema, sourcePackage } from '../wire/state.js';
import { blobId, digest } from './digest.js';
import { tar } from './tar.js';

/** All files of a package, its manifest and its paths. */
const PACKAGE_BYTES_MAX = 512 * 1024;

const encoder = new TextEncoder();

/**
 * @typedef {object} SourcePackage
 * @property {string} id the one that was asked for
 * @property {any} manifest name, version, api, entry, licence, chosen, authors, parent
 * @property {{path: string, text: string, verified: boolean}[]} files by path
 * @property {boolean} verified whether all of it re-hashes to the id
 */

/**
 * Reads a package as servers hand it out, and hashes it again.
 * @param {Uint8Array} bytes
 * @param {string} id
 * @returns {SourcePackage}
 */
export function readPackage(bytes, id) {
  const [manifest, files] = decode(sourcePackage, bytes, PACKAGE_BYTES_MAX);
  /** @type {Map<string, string>} */
  const stated = manifest.files;
  const listed = [...files].map(([path, text]) => ({
    path,
    text,
    verified: blobId(encoder.encode(text)) === stated.get(path),
  }));
  const named = digest('metatopia package v1', encode(manifestSchema, manifest)) === id;
  const whole = listed.length === stated.size && listed.every((file) => file.verified);
  const { major, minor, patch } = manifest.version;
  const shown = {
    name: manifest.name,
    version: `${major}.${minor}.${patch}`,
    api: manifest.api,
    entry: manifest.entry,
    licence: manifest.licence.expression,
    chosen: manifest.licence.chosen,
    authors: manifest.authors,
    parent: manifest.parent,
  };
  return { id, manifest: shown, files: listed, verified: named && whole };
}

/**
 * All packages as one archive: the files of each to read, and its encoded form to hash again.
 * @param {{source: SourcePackage, bytes: Uint8Array}[]} packages
 * @param {{sim: string, height: number}} from
 * @returns {Uint8Array} a tar file
 */
export function archive(packages, { sim, height }) {
  const root = 'source';
  const entries = packages.flatMap(({ source, bytes }) => {
    const folder = `${root}/${source.manifest.name}-${source.id.slice(0, 12)}`;
    const files = source.files.map(({ path, text }) => ({
      path: `${folder}/${path}`,
      bytes: encoder.encode(text),
    }));
    return [...files, { path: `${root}/packages/${source.id}.package`, bytes }];
  });
  const list = packages.map(({ source }) => ({
    id: source.id,
    name: source.manifest.name,
    version: source.manifest.version,
    licence: source.manifest.licence,
    verified: source.verified,
    files: source.files.map(({ path, text }) => ({ path, id: blobId(encoder.encode(text)) })),
  }));
  const manifest = { sim, height, packages: list };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  return tar([{ path: `${root}/MANIFEST.json`, bytes: encoder.encode(text) }, ...entries]);
}
