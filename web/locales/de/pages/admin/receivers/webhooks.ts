import type { adminWebhooksMessages as english } from '../../../../en/pages/admin/receivers/webhooks.ts'
import { plural } from '../../../../plural.ts'

/** Holds the messages about the webhooks of the service, for operators. In German. */
export const adminWebhooksMessages: typeof english = {
  title: 'Webhooks',
  about: 'Programme, die erfahren, was mit allen Personen und Gruppen geschieht, ohne Namen und Adressen.',
  none: 'Noch kein Webhook',
  add: 'Webhook hinzufügen',
  addNow: 'Hinzufügen',
  added: 'Der Webhook erhält die Ereignisse von jetzt an.',
  url: 'Adresse',
  urlHint: 'Beginnt mit https://',
  urlRefused: 'Diese Adresse ist nicht erlaubt. Sie muss öffentlich sein oder in OUTBOUND_NETWORKS stehen.',
  events: 'Ereignisse',
  selections: {
    all: { label: 'Alle', about: 'Auch Arten, die später dazukommen.' },
    people: { label: 'Personen', about: 'Erstellt, geändert, gesperrt, aktiviert, gelöscht.' },
    groups: { label: 'Gruppen', about: 'Erstellt, geändert, gelöscht, und wer dazukommt oder geht.' },
  },
  secret: 'Geheimnis des Webhooks',
  secretWhat: 'Damit werden Anfragen signiert. Bewahre es jetzt auf: Es wird nicht noch einmal angezeigt.',
  secretCopied: 'das Geheimnis',
  stored: 'Ich habe es aufbewahrt',
  disabled: 'Deaktiviert',
  sent: (moment) => `Letzter Versuch ${moment}`,
  neverSent: 'Noch nichts gesendet',
  gets: (count) =>
    count === 0
      ? 'alle Ereignisse'
      : plural('de', count, { one: '1 Art von Ereignissen', other: `${count} Arten von Ereignissen` }),
  answered: (status) => `Antwort ${status}`,
  faults: {
    could_not_connect: 'Keine Verbindung',
    timed_out: 'Keine Antwort',
    app_disabled: 'Deaktiviert',
    not_signed: 'Geheimnis verloren',
  },
  actions: (host) => `Aktionen für ${host}`,
  test: {
    open: 'Testen',
    title: (host) => `${host} testen`,
    what: 'Sendet sofort ein Ereignis. Kommt es nicht an, wird es später noch einmal gesendet.',
    now: 'Senden',
    arrived: 'Das Ereignis ist angekommen.',
    failed: (fault) => `Es ist nicht angekommen: ${fault}.`,
  },
  disable: {
    open: 'Deaktivieren',
    title: (host) => `${host} deaktivieren?`,
    what: 'Er erhält keine Ereignisse dieser Zeit, auch nicht später.',
    done: 'Der Webhook ist deaktiviert.',
  },
  enable: {
    open: 'Aktivieren',
    title: (host) => `${host} aktivieren?`,
    what: 'Er erhält die Ereignisse von jetzt an.',
    done: 'Der Webhook erhält wieder Ereignisse.',
  },
  rotate: {
    open: 'Neues Geheimnis',
    title: (host) => `Neues Geheimnis für ${host}?`,
    what: 'Das jetzige Geheimnis signiert noch einen Tag lang mit.',
    done: 'Das neue Geheimnis signiert von jetzt an.',
  },
  remove: {
    open: 'Entfernen',
    title: (host) => `${host} entfernen?`,
    what: 'Er erhält keine Ereignisse mehr, und seine Zustellungen werden gelöscht. Die Inhaber erhalten eine E-Mail.',
    done: 'Der Webhook wurde entfernt.',
  },
}
