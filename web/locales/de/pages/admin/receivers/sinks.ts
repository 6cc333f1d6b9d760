import type { adminSinksMessages as english } from '../../../../en/pages/admin/receivers/sinks.ts'
import { plural } from '../../../../plural.ts'

/** Holds the messages about the receivers of the audit log, for operators. In German. */
export const adminSinksMessages: typeof english = {
  title: 'Empfänger',
  about: 'Wohin das Audit-Log gesendet wird, damit niemand es ändern kann, der diesen Dienst übernimmt.',
  none: 'Noch kein Empfänger',
  add: 'Empfänger hinzufügen',
  addNow: 'Hinzufügen',
  added: 'Der Empfänger erhält die Ereignisse von jetzt an.',
  kind: 'Wie er Ereignisse erhält',
  kinds: {
    http: { label: 'HTTP', about: 'Signierte Anfragen mit Listen von Ereignissen.' },
    syslog: { label: 'Syslog', about: 'Meldungen über TLS.' },
  },
  key: 'Name',
  keyHint: 'Kleinbuchstaben, Ziffern und Bindestriche.',
  url: 'Adresse',
  urlHints: { http: 'Beginnt mit https://', syslog: 'Zum Beispiel tls://siem.example.com:6514' },
  urlRefused: 'Diese Adresse ist nicht erlaubt. Sie muss öffentlich sein oder in OUTBOUND_NETWORKS stehen.',
  authorization: 'Authorization',
  authorizationHint: 'Optional. Wird verschlüsselt gespeichert und nicht noch einmal angezeigt.',
  authorizationProblem: (max) => `Höchstens ${max} Zeichen: Buchstaben, Ziffern und Zeichen aus ASCII, Leerzeichen.`,
  secret: 'Geheimnis des Empfängers',
  secretWhat: 'Damit werden Anfragen signiert. Bewahre es jetzt auf: Es wird nicht noch einmal angezeigt.',
  secretCopied: 'das Geheimnis',
  stored: 'Ich habe es aufbewahrt',
  paused: 'Angehalten',
  delivered: (moment) => `Letzte Zustellung ${moment}`,
  neverDelivered: 'Noch nichts zugestellt',
  waiting: (count, shown) => plural('de', count, { one: '1 Ereignis wartet', other: `${shown} Ereignisse warten` }),
  faults: {
    address_not_allowed: 'Private Adresse',
    unreachable: 'Nicht erreichbar',
    certificate_invalid: 'Ungültiges Zertifikat',
    timed_out: 'Keine Antwort',
    rejected: 'Abgelehnt',
    not_signed: 'Geheimnis verloren',
  },
  actions: (key) => `Aktionen für ${key}`,
  test: {
    open: 'Testen',
    title: (key) => `${key} testen`,
    what: 'Sendet sofort ein Ereignis.',
    now: 'Senden',
    arrived: 'Das Ereignis ist angekommen.',
    failed: (fault) => `Es ist nicht angekommen: ${fault}.`,
  },
  pause: {
    open: 'Anhalten',
    title: (key) => `${key} anhalten?`,
    what: 'Er erhält keine Ereignisse, bis er fortgesetzt wird, und dann alle, die ihm fehlen.',
    done: (key) => `${key} ist angehalten.`,
  },
  resume: {
    open: 'Fortsetzen',
    title: (key) => `${key} fortsetzen?`,
    what: 'Er erhält alle Ereignisse, die ihm fehlen.',
    done: (key) => `${key} erhält wieder Ereignisse.`,
  },
  replay: {
    open: 'Noch einmal senden',
    title: (key) => `Ereignisse noch einmal an ${key} senden`,
    after: 'Nach der Nummer',
    hint: (cursor) => `0 bis ${cursor}. Mit 0 alle Ereignisse.`,
    now: 'Noch einmal senden',
    done: (key) => `${key} erhält diese Ereignisse noch einmal.`,
  },
  rotate: {
    open: 'Neues Geheimnis',
    title: (key) => `Neues Geheimnis für ${key}?`,
    what:
      'Das jetzige Geheimnis signiert noch einen Tag lang mit. Der Empfänger erfährt es vorher, und die Inhaber ' +
      'erhalten eine E-Mail.',
    done: 'Das neue Geheimnis signiert von jetzt an.',
  },
  remove: {
    open: 'Entfernen',
    title: (key) => `${key} entfernen?`,
    what: 'Er erhält keine Ereignisse mehr. Er erfährt es vorher, und die Inhaber erhalten eine E-Mail.',
    done: (key) => `${key} wurde entfernt.`,
  },
}
