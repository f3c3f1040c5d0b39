/** Walking over a border, as the page does it: where the avatar is, there the page goes. */

import { BorderWalk, HELD } from '../core/border.js';
import { Engine } from '../core/engine.js';
import { addressOf } from '../core/world-map.js';
import { refusal, t } from '../strings.js';
import { el, put } from './dom.js';
import { agreed, agrees } from './introduction.js';

/** @param {Page} page */
export function crossing(page) {
  const { identity, store, toasts } = page;
  /** What stays, as it was told a second ago: what came over just now is settled in a moment. */
  let stayed = /** @type {string[]} */ ([]);
  const sign = document.body.appendChild(el('p', { class: 'border-sign', role: 'status', hidden: true }));
  return new BorderWalk({
    engine: page.client,
    person: () => page.person,
    rules: { agreed, agrees: (there) => agrees(/** @type {Engine} */ (there)) },
    open({ neighbour, nodes, lookout }) {
      const [origin, ...servers] = nodes.map((node) => new URL(node).origin);
      return new Engine({ origin, servers, identity, at: lookout, store, sim: neighbour, compiled: page.loaded.compiled });
    },
    async arrived(there, border) {
      const { sim, http, simName } = there.status;
      // What one walks to is on this side of a portal.
      if (border.portal) page.input.goal = null;
      goOver(page, /** @type {Engine} */ (there), border.shift);
      toasts.say(t('border.walked', { sim: simName }));
      if (!page.inFolder) history.replaceState(null, '', addressOf({ sim, origin: http, lets: true }, location.origin, false));
      await page.abide();
    },
    near(border, there, portals, left) {
      Object.assign(page.picture, { border, portals });
      if (left?.back) toasts.say(t('border.back', { why: left.back }), 'bad');
      if ((sign.hidden = border === null)) return;
      const sim = there?.status.simName || t('map.unnamed', { sim: border.neighbour.slice(0, 8) });
      const words = { edge: border.edge, gap: Math.round(border.gap), sim, why: border.why ?? '' };
      const told = [border.portal ? t(border.open ? 'portal.open' : 'portal.wall', words) : t(border.open ? 'border.open' : 'border.wall', words)];
      const held = page.border?.ahead?.said.why === HELD ? refusal(HELD) : null;
      if (border.open && (border.refused ?? held)) told.push(t('border.refused', { sim, why: border.refused ?? held }));
      const stays = border.stays.map(({ id, why }) => t('border.stays', { thing: page.client.sight.objects.get(id)?.name ?? `#${id}`, why }));
      if (border.open) told.push(...stays.filter((line) => stayed.includes(line)));
      stayed = stays;
      put(sign, told.join(' '));
      sign.dataset.level = /** @type {Engine | null} */ (there)?.proof.level ?? '';
    },
    refused: (code, { status }) => void toasts.say(t('border.refused', { sim: status.simName, why: refusal(code) }), 'bad'),
  });
}

/**
 * Goes on in the sim that the avatar has walked into. Nothing that was chosen is there under its number.
 * @param {Page} page @param {Engine} there @param {Spot} shift what is added to coordinates
 */
function goOver(page, there, shift) {
  const { client, dock, input, renderer } = page;
  const { open } = dock;
  if (open !== null) dock.close();
  dock.panels.clear();
  page.select(null);
  page.tools.cancel();
  page.group.clear();
  // Who listens to the one engine listens to the other from now on.
  [there.ears, client.ears] = [client.ears, there.ears];
  client.stopReplicas();
  page.client = there;
  Object.assign(page.picture, { hover: null, near: null, bubbles: new Map() });
  page.announcer.known.clear();
  // Clubs and turns have their numbers in one sim each.
  page.clubs.all = [];
  page.chat.leave();
  const goal = input.goal?.at;
  if (goal) input.walkToPlace({ x: goal.x + shift.x, y: goal.y + shift.y });
  else input.goal = null;
  renderer.goOver(shift, client.me, there.me);
  page.status();
  [page.chat, page.buddies, page.profiles].forEach((part) => part.greet());
  if (open !== null && dock.buttons.has(open)) dock.show(open);
}

/** Makes ready what is drawn, of both sims where a border is near. @param {Page} page @param {number} now */
export function showBoth(page, now) {
  if (page.entered) page.border.frame(now);
  const { client, picture, renderer } = page;
  const both = page.border.ahead?.sight;
  Object.assign(picture, { me: client.me, lots: client.lots, joints: client.joints, sight: both ?? client.sight });
  renderer.rooms.plan = both?.plan ?? client.genesis?.floorPlan ?? renderer.rooms.plan;
}
