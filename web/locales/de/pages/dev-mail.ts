import type { devMailMessages as english, mailNoteMessages as englishNote } from '../../en/pages/dev-mail.ts'

/** Holds the messages of the inbox of a service without a mail server. In German. */
export const devMailMessages: typeof english = {
  title: 'Entwicklungs-Postfach',
  lead:
    'Dieser Dienst hat keinen Mailserver, deshalb stehen seine E-Mails hier. Nur dieser Computer kann diese Seite ' +
    'öffnen.',
  count: (count: number) => (count === 1 ? '1 E-Mail' : `${count} E-Mails`),
  empty: 'Noch keine E-Mail',
  emptyHint: 'Bestätige eine E-Mail-Adresse oder lade ein Mitglied ein: Die E-Mail erscheint sofort hier.',
  failed: 'Der Dienst ist nicht erreichbar. Diese Seite versucht es weiter.',
  to: 'An',
  code: 'Code',
  setUp: 'E-Mail-Versand einrichten',
}

/** Holds the messages that say where a mailed code is. In German. */
export const mailNoteMessages: typeof englishNote = {
  sent: (email: string) => `Wir haben einen Code an ${email} gesendet. Er gilt zehn Minuten.`,
  notSent: (email: string) => `Der Code für ${email} ist da. Er gilt zehn Minuten.`,
  notSetUp: 'Bei diesem Dienst ist kein E-Mail-Versand eingerichtet.',
  read: 'Code im Entwicklungs-Postfach lesen',
  resend: 'Neuen Code senden',
  resendIn: (seconds: number) => `Neuer Code in ${seconds}\u00a0s`,
  resent: 'Ein neuer Code wurde gesendet.',
}
