import type { organizationKeyMessages as english } from '../../en/pages/organization-keys.ts'

/** Holds the messages of the page that creates and shares organization keys. In German. */
export const organizationKeyMessages: typeof english = {
  title: 'Schlüssel der Organisation',
  titles: {
    make: (organization) => `Neuen Schlüssel für ${organization} erstellen`,
    share: (organization) => `Schlüssel von ${organization} teilen`,
    prepare: (organization) => `Deinen Schlüssel für ${organization} einrichten`,
  },

  what: {
    make:
      'Der Schlüssel wird in diesem Browser erstellt und mit diesen Mitgliedern geteilt. Mitglieder ohne eigenen ' +
      'Schlüssel erhalten ihn später. Wir können ihn nicht lesen.',
    share: 'Diese Mitglieder erhalten die Schlüssel, die ihnen fehlen. Niemand sonst kann sie lesen, auch wir nicht.',
    prepare:
      'Die Schlüssel der Organisation werden für deinen eigenen Schlüssel verschlüsselt. Diese Identität hat noch ' +
      'keinen; er wird jetzt in diesem Browser erstellt.',
  },

  alone:
    'Der Schlüssel wird in diesem Browser erstellt. Du bist bisher das einzige Mitglied. Wir können ihn nicht lesen.',

  now: {
    make: 'Schlüssel erstellen',
    share: 'Schlüssel teilen',
    prepare: 'Schlüssel erstellen',
  },

  unprepared:
    'Diese Mitglieder haben noch keinen eigenen Schlüssel. Schick ihnen diesen Link, damit sie einen erstellen.',
  codeWhy: 'Dieser Passkey kann deine Schlüssel nicht entsperren.',
  nothing: 'Hier gibt es nichts zu tun.',
  back: 'Zurück',
}
