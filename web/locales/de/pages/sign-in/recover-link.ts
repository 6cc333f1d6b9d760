import type { recoverLinkMessages as en } from '../../../en/pages/sign-in/recover-link.ts'

export const recoverLinkMessages: typeof en = {
  redeem: {
    title: 'Konto wiederherstellen',
    lead:
      'Erstelle auf diesem Gerät einen Passkey. Bis er gilt, lässt sich das von deinen anderen Geräten und Adressen ' +
      'aus stoppen.',
    create: 'Passkey erstellen',
    done: (handle) => `Passkey für ${handle} erstellt`,
    validFrom: (moment) => `Du kannst dich damit anmelden: ${moment}.`,
    validNow: 'Du kannst dich jetzt damit anmelden.',
    keysStayClosed:
      'Er entsperrt keine verschlüsselten Daten und keine Signaturschlüssel. Dafür brauchst du deinen ' +
      'Wiederherstellungscode oder einen anderen Passkey.',
    signIn: 'Anmelden',
  },
  stop: {
    title: 'Wiederherstellung stoppen?',
    lead: 'Wenn du nicht darum gebeten hast, stoppe sie. Sieben Tage lang gilt dann kein Link zur Wiederherstellung.',
    stop: 'Stoppen',
    done: 'Wiederherstellung gestoppt',
    doneWhat: 'Deine Passkeys gelten weiter. Wenn du den Link nicht angefordert hast, melde das dem Betreiber.',
  },
  incomplete: 'Dieser Link ist unvollständig',
  incompleteWhat: 'Öffne den ganzen Link aus der E-Mail.',
  problems: {
    used: 'Dieser Link ist abgelaufen oder wurde benutzt. Bitte den Betreiber um einen neuen.',
    locked: 'Eine Wiederherstellung dieses Kontos wurde gestoppt. Einige Tage lang gilt dafür kein Link.',
    ended: 'Diese Wiederherstellung ist schon beendet.',
  },
}
