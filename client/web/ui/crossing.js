// @ts-check
/** Walking over a border, as the page does it: where the avatar is, there the page goes. */

import { BorderWalk } from '../core/border.js';
import { Engine } from '../core/engine.js';
import { addressOf } from '../core/world-map.js';
import { refusal, t } from '../strings.js';
import { el, put } from './dom.js';

/** @param {import('../main.js').Page} page */
export function crossing(page) {
  const { identity, store, toasts } = page;
  const sign = document.body.appendChild(el('p', { class: 'border-sign', role: 'status', hidden: true }));
  return new BorderWalk({
    engine: page.client,
    open({ neighbour, nodes }, at) {
      const [origin, ...servers] = nodes.map((node) => new URL(node).origin);
      return new Engine({ origin, servers, identity, at, store, sim: neighbour, compiled: page.loaded.compiled });
    },
    arrived({ status: { sim, http, simName } }) {
      toasts.say(t('border.walked', { sim: simName }));
      location.assign(addressOf({ sim, origin: http, lets: true }, location.origin, page.inFolder));
    },
    near(border, there) {
      if ((sign.hidden = border === null)) return;
      const sim = there?.status.simName || t('map.unnamed', { sim: border.neighbour.slice(0, 8) });
      const { me, sight } = page.client;
      const stays = border.open && [...sight.objects.values()].some(({ held, travels }) => held && held === me && !travels);
      put(sign, t(border.open ? 'border.open' : 'border.wall', { edge: border.edge, gap: Math.round(border.gap), sim, why: border.why ?? '' }) + (stays ? ` ${t('border.hands')}` : ''));
    },
    refused(code, { status }) {
      toasts.say(t('border.refused', { sim: status.simName, why: refusal(code) }), 'bad');
    },
  });
}
