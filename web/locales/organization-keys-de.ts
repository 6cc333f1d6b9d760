import type { organizationKeysEn } from './organization-keys-en.ts'

/** The words of the pages on which keys of organizations are shared. */
export const organizationKeysDe: typeof organizationKeysEn = {
  title: 'Schlüssel einer Organisation',
  titles: {
    make: (organization) => `Neuer Schlüssel für ${organization}`,
    share: (organization) => `Schlüssel von ${organization} teilen`,
    prepare: (organization) => `Bereit für die Schlüssel von ${organization}`,
  },
  what: {
    make: 'Er entsteht in diesem Browser, und alle Mitglieder erhalten ihn. Wir können ihn nicht lesen.',
    share: 'Sie erhalten die Schlüssel, die ihnen fehlen. Niemand sonst kann sie öffnen, auch wir nicht.',
    prepare: 'Du erhältst sie für einen eigenen Schlüssel. Dieser Name hat noch keinen: Er entsteht in diesem Browser.',
  },
  now: {
    make: 'Mit dem Passkey anlegen',
    share: 'Mit dem Passkey teilen',
    prepare: 'Mit dem Passkey anlegen',
  },
  unprepared:
    'Diese können noch keinen erhalten, ohne eigenen Schlüssel. Schick ihnen ihre Adresse: Dort legen sie ihn an.',
  codeWhy: 'Dieser Passkey kann deine Schlüssel nicht öffnen.',
  nothing: 'Hier ist nichts zu tun.',
  back: 'Zurück',
}
