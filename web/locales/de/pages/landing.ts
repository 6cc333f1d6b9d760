import type { landingMessages as english } from '../../en/pages/landing.ts'

/** Holds the messages of the start page. In German. */
export const landingMessages: typeof english = {
  title: 'Anmelden mit eigener Handschrift',
  lead:
    'Ein Passkey statt Passwörtern. Apps sehen nur die Identität, die du wählst. Und wenn es darauf ankommt, ' +
    'unterschreibst du genau das, was du liest.',
  register: 'Konto erstellen',
  login: 'Anmelden',
  playground: 'In einer Minute ausprobieren',
  playgroundShort: 'Playground',
  guides: 'Anleitungen',
  example: {
    label:
      'Beispiel: Ada Lovelace meldet sich bei der App Orrery an, die ihren Namen und Benutzernamen erhält, aber ' +
      'keine E-Mail-Adresse',
    signInTo: 'Anmelden bei',
    name: 'Name',
    username: 'Benutzername',
    email: 'E-Mail',
    notShared: 'Nicht geteilt',
    approved: 'Mit Passkey erlaubt',
  },
  proofs: {
    label: 'Was es kann',
    passkey: {
      title: 'Keine Passwörter',
      text:
        'Fingerabdruck, Gesicht oder Geräte-PIN. Nichts, was du dir merken musst, und nichts, was andere stehlen ' +
        'können.',
    },
    identities: {
      title: 'So viele Identitäten, wie du brauchst',
      text: 'Arbeit, privat, Künstlername. Apps erkennen nicht, dass sie zusammengehören.',
    },
    signatures: {
      title: 'Unterschriften, die Bestand haben',
      text: 'Zahlungen, Verträge, Freigaben: lesen, unterschreiben, Beleg behalten. Alle können ihn prüfen.',
    },
  },
  developers: {
    title: 'Für Entwicklungsteams',
    lead:
      'OpenID Connect nach Standard: Deine Bibliothek funktioniert, wie sie ist. Für Unterschriften, Delegation und ' +
      'Ende-zu-Ende-Schlüssel genügt ein weiterer Aufruf.',
    points: [
      'Authorization Code Flow mit PKCE, Discovery, Refresh-Tokens, FedCM',
      'Eine Unterschrift anfragen und auf dem eigenen Server prüfen',
      'Selbst betrieben: ein Prozess, mit eigener Datenbank oder deinem PostgreSQL',
    ],
    register: 'App registrieren',
    guides: 'Anleitungen lesen',
    codeName: 'request-a-signature.mjs',
  },
  organizations: {
    title: 'Für Organisationen',
    lead:
      'Mitglieder und Rollen, euer eigenes Single Sign-on, Dokumente, die mehrere unterschreiben, und ein Audit-Log, ' +
      'das belegt, wer was getan hat.',
    open: 'Organisationen öffnen',
  },
}
