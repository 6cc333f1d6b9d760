import type { recoverMessages as english } from '../../../en/pages/sign-in/recover.ts'

/** Holds the messages for recovering an account. In German. */
export const recoverMessages: typeof english = {
  title: 'Wiederherstellungs\u00adcode verwenden',
  lead: 'Der Code gilt nur einmal. Dieses Gerät erhält einen neuen Passkey, und überall sonst wirst du abgemeldet.',
  begin: 'Weiter',
  handleMissing: 'Gib deinen Benutzernamen ein.',
  noMatch:
    'Benutzername und Wiederherstellungscode passen nicht zusammen. Ein verwendeter oder ersetzter Code gilt ' +
    'nicht mehr.',
  locked: 'Zu viele falsche Codes. Versuche es in einer Stunde noch einmal.',
  unopened: 'Du bist angemeldet, aber dieser Code konnte deine Schlüssel nicht entsperren. Sie sind unverändert.',
  goOn: 'Zu deinem Konto',
  foundPasskey: 'Passkey gefunden?',
  restored: 'Du bist wieder drin',
  restoredLead: 'Der alte Code gilt nicht mehr. Hier ist dein neuer. Entferne verlorene Passkeys unter „Sicherheit“.',
}
