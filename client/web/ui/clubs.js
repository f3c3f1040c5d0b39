/** Clubs: people with a channel of their own; in which the person is, and what she does about them. */

import { t } from '../strings.js';
import { button, choice, el, field, fill, options, PagePart, word } from './dom.js';
import { ask, settle } from './moderate.js';

/** The clubs to which somebody may be invited by who is in these. @param {Club[]} all @param {string} key */
export const without = (all, key) => all.filter(({ invited, members, asked }) => !invited && ![...members, ...asked].some((person) => person.key === key));

export class Clubs extends PagePart {
  all = /** @type {Club[]} */ ([]);
  drawn = '';
  list = el('ul', { class: 'people' });
  name = el('input', { type: 'text', maxlength: '32', required: true, 'aria-label': t('club.name'), placeholder: t('club.name') });
  element = el('details', { class: 'card' }, el('summary', null, t('club.list'), word()), el('p', { class: 'quiet' }, t('club.how')), this.list,
    el('form', { class: 'row', on: { submit: (/** @type {Event} */ event) => this.found(event) } }, this.name, el('button', { class: 'button', type: 'submit' }, t('club.found'))));

  /** Founds one by the name that was typed. @param {Event} event */
  async found(event) {
    event.preventDefault();
    if (await this.order({ verb: 'found', name: this.name.value.trim() })) this.name.value = '';
  }

  /** Asks anew, and shows what changed; invites by who is blocked are left out. */
  async load() {
    /** @type {Club[]} */
    const told = await this.page.client.clubs().catch(() => this.all);
    this.all = told.filter(({ invited }) => !invited || !this.page.blocks.has(invited.key));
    const signature = JSON.stringify(this.all);
    if (signature === this.drawn) return;
    this.page.chat.offer(this.all.filter(({ invited }) => !invited));
    if (this.list.contains(document.activeElement)) return;
    this.drawn = signature;
    fill(this.list, ...this.all.map((club) => this.row(club)));
  }

  /** Orders something, says what came of it, and shows it. @param {Record<string, any>} order */
  async order(order) {
    const ok = await settle(this.page, this.page.client.orderClub(order), t('club.done'));
    if (this.list.contains(document.activeElement)) /** @type {HTMLElement} */ (document.activeElement).blur();
    await this.load();
    return ok;
  }

  /** @param {Club} club */
  row({ club, name, own, invited, members, asked, channel }) {
    const here = members.filter((person) => person.here && person.key !== this.page.identity?.public).map((person) => person.name);
    const said = invited ? t('club.invited', { name: invited.name }) : t('club.members', { n: members.length, here: here.join(', ') || t('club.nobody') });
    const does = (/** @type {string} */ verb, /** @type {string} */ text) => button({ text, class: 'small', click: () => this.order({ verb, club }) });
    return el('li', null, el('span', { class: 'grow' }, el('b', null, name), ' ', el('small', null, t(own ? 'club.own' : 'club.number', { club })), el('br'), said),
      invited ? does('accept', t('club.accept')) : button({ text: t('chat.write'), class: 'small', click: () => this.page.chat.writeIn(channel) }),
      invited ? does('decline', t('club.decline')) : does('leave', t('club.leave')), own && button({ text: t('club.manage'), class: 'small', click: () => this.manage({ club, name, members, asked }) }), own && button({ text: t('club.dissolve'), class: 'small danger', click: () => ask(t('club.dissolve.sure', { name }), [], () => this.order({ verb: 'dissolve', club })) }));
  }

  /** Asks what the owner does about a club. @param {Pick<Club, 'club' | 'name' | 'members' | 'asked'>} club */
  manage({ club, name, members, asked }) {
    const verb = choice(t('lot.order'), ['remove', 'hand_over', 'rename'].map((word) => [word, t(`club.do.${word}`)]));
    const whom = choice(t('club.whom'), [...members, ...asked].filter(({ key }) => key !== this.page.identity?.public).map((person) => [person.key, person.name]));
    const called = el('input', { type: 'text', maxlength: '32', value: name });
    ask(t('club.manage.what', { name }), [verb.element, whom.element, field(t('club.name'), called)], () => this.order({ verb: verb.select.value, club, key: whom.select.value, name: called.value.trim() }));
  }

  /** What invites a person to a club; nothing if there is none to which. @param {{name: string, key: string}} person */
  inviter({ name, key }) {
    const clubs = without(this.all, key);
    const invite = (/** @type {any} */ { target }) => target.value && this.order({ verb: 'invite', club: Number(target.value), key });
    return clubs.length > 0 && el('select', { class: 'small', 'aria-label': t('club.invite.who', { name }), on: { change: invite } },
      ...options([['', t('club.invite')], ...clubs.map((club) => [club.club, club.name])]));
  }
}
