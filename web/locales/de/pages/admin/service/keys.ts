import type { adminKeysMessages as english } from '../../../../en/pages/admin/service/keys.ts'

/** Holds the messages about the keys that sign tokens, for operators. In German. */
export const adminKeysMessages: typeof english = {
  title: 'Schlüssel',
  lead: 'Sie signieren Tokens und werden alle 90 Tage von selbst ersetzt.',
  algorithm: 'Verfahren',
  state: 'Zustand',
  states: { published: 'Wartet', signing: 'Signiert', retired: 'Abgelöst' },
  from: 'Signiert ab',
  until: 'Veröffentlicht bis',
  untilRotation: 'zum nächsten Wechsel',
  kid: 'Schlüssel-ID',
  rotate: 'Wechseln',
  rotateTitle: 'Schlüssel wechseln',
  when: 'Ab wann die neuen signieren',
  times: {
    later: { label: 'In zwei Stunden', about: 'Bis dahin haben Apps sie gelesen und merken nichts.' },
    atOnce: { label: 'Sofort', about: 'Wenn ein Schlüssel in fremden Händen sein könnte.' },
  },
  atOnceWhat: 'Apps, die die Schlüssel nicht erneut lesen, weisen Anmeldungen bis zu einer Stunde lang ab.',
  rotated: 'Die neuen Schlüssel sind veröffentlicht.',
}
