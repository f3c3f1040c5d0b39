// @ts-check
/** What gestures look like: outlines on a square of 24, drawn on buttons and over heads, in the order of their keys. */

/** @type {Record<string, string>} */
export const GESTURES = {
  wave: 'M7 13V6.5a1.5 1.5 0 013 0V11V4.5a1.5 1.5 0 013 0V11V5.5a1.5 1.5 0 013 0V12V8.5a1.5 1.5 0 013 0V15c0 3.6-2.6 6-6 6-3 0-4.6-1.4-6-4l-2.6-4.6c-.8-1.5 1.2-2.6 2.2-1.4L7 13',
  nod: 'M7 21V10l4.5-7c1.6 0 2.3 1.2 2 2.6L12.8 9H18c1.6 0 2.4 1.2 2 2.6l-1.7 7c-.3 1.4-1.3 2.4-2.8 2.4zM7 21H4V10h3',
  dance: 'M9 18V5l10-2v13M9 18a2.5 2.5 0 11-2.5-2.5A2.5 2.5 0 019 18zM19 16a2.5 2.5 0 11-2.5-2.5A2.5 2.5 0 0119 16z',
  bow: 'M10.5 21v-9l4.5-2.2M7.5 21l3-9M13 11.5l1.5 5M16 8.5a2.4 2.4 0 104.8 0 2.4 2.4 0 10-4.8 0z',
  laugh: 'M12 21a9 9 0 100-18 9 9 0 000 18zM7.5 13c.6 3 2.3 4.5 4.5 4.5s3.9-1.5 4.5-4.5zM7 9.5l2-1 1.2 1.5M17 9.5l-2-1-1.2 1.5',
};
