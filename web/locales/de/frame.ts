import type { frameMessages as english } from '../en/frame.ts'

/** Holds the messages of the frame of all pages and of signing out. In German. */
export const frameMessages: typeof english = {
  frame: {
    language: 'Sprache',
    languageIs: (name) => `Sprache: ${name}`,
    theme: 'Farbschema',
    themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
    homeOf: (name) => `Startseite von ${name}`,
    skip: 'Zum Inhalt springen',
    help: 'Hilfe',
    terms: 'Nutzungsbedingungen',
    privacy: 'Datenschutz',
    imprint: 'Impressum',
    support: 'Support',
    status: 'Status',
    areas: 'Bereiche',
    sections: 'Abschnitte',
    mainSections: 'Hauptabschnitte',
    account: 'Konto',
    identities: 'Identitäten',
    security: 'Sicherheit',
    signOut: 'Abmelden',
    accountMenu: (name) => `Kontomenü: ${name}`,
    waiting: 'offen',
    waitingSignatures: (count) =>
      count === 0
        ? 'Keine offenen Signaturanfragen'
        : count === 1
          ? '1 offene Signaturanfrage'
          : `${count} offene Signaturanfragen`,
    more: 'Mehr',
    previous: 'Zurück',
    next: 'Weiter',
    undo: 'Rückgängig',
    close: 'Schließen',
    youAreAt: 'Du bist bei',
    moment: 'Wird geladen\u00a0…',
    retry: 'Erneut versuchen',
    cancel: 'Abbrechen',
    copy: 'Kopieren',
    copyWhat: (what) => `${what} kopieren`,
    copied: 'Kopiert',
    organizations: 'Organisationen',
    developers: 'Entwicklung',
    operator: 'Betrieb',
  },
}
