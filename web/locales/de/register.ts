import type { registerMessages as english } from '../en/register.ts'

/** Holds the messages for registering, signing in to the account and recovering it. In German. */
export const registerMessages: typeof english = {
  register: {
    title: 'Konto erstellen',
    lead: 'Wähle einen Benutzernamen. Dein Gerät erstellt einen Passkey, ein Passwort brauchst du nicht.',
    handle: 'Benutzername',
    handleHint: '3 bis 32 Buchstaben, Ziffern, Punkte, Binde- oder Unterstriche',
    displayName: 'Anzeigename',
    create: 'Konto erstellen',
    haveAccount: 'Schon ein Konto?',
    login: 'Anmelden',
    handleInvalid:
      '3 bis 32 Buchstaben, Ziffern, Punkte, Binde- oder Unterstriche. Am Anfang und Ende ein Buchstabe oder eine ' +
      'Ziffer.',
    displayNameInvalid: 'Gib einen Anzeigenamen mit höchstens 80 Zeichen ein.',
    handleTaken: 'Dieser Benutzername ist vergeben. Wähle einen anderen.',
    madeTitle: 'Dein Passkey ist bereit',
    touchAgainWhy: 'Verwende ihn noch einmal, um deine Schlüssel zu entsperren.',
    touchAgain: 'Passkey noch einmal verwenden',
    withoutPrf: 'Nur mit Wiederherstellungscode fortfahren',
    unfinished: 'Fast fertig',
    finish: 'Abschließen',
    startOver: 'Von vorn beginnen',
  },

  recovery: {
    title: 'Speichere deinen Wiederherstellungs\u00adcode',
    why:
      'Wenn du deine Passkeys verlierst, kommst du nur mit diesem Code wieder in dein Konto. Wir sehen ihn nie und ' +
      'können ihn nicht ersetzen.',
    whyWithoutPrf:
      'Dieser Passkey meldet dich an, kann deine Schlüssel aber nicht entsperren. Dafür brauchst du diesen Code. ' +
      'Wir sehen ihn nie und können ihn nicht ersetzen.',
    label: 'Wiederherstellungscode',
    download: 'Herunterladen',
    print: 'Drucken',
    saved: 'Ich habe ihn gespeichert',
    fileName: 'countersign-wiederherstellungscode.txt',
    fileText: (code, host, handle) =>
      `Countersign-Wiederherstellungscode\n\n${code}\n\nKonto: ${handle}\nWebsite: ${host}\n\nMit diesem Code ` +
      'kommst du wieder in dein Konto und entsperrst deine Schlüssel, wenn du deine Passkeys verlierst. Bewahre ihn ' +
      'nicht auf diesem Gerät auf.\n',
  },

  login: {
    title: 'Anmelden',
    handle: 'Benutzername',
    handleHint: 'Optional. Dein Passkey kennt dein Konto bereits.',
    signIn: 'Mit Passkey anmelden',
    newHere: 'Neu hier?',
    register: 'Konto erstellen',
    noPasskey: 'Passkeys verloren?',
    recover: 'Wiederherstellungscode verwenden',
    atWork: 'Für die Arbeit anmelden?',
    withOrganization: 'Mit deiner Organisation anmelden (SSO)',
    proveTitle: 'Bestätige, dass du es bist',
    prove: 'Mit Passkey bestätigen',
  },

  recover: {
    title: 'Wiederherstellungs\u00adcode verwenden',
    lead: 'Der Code gilt einmal. Dieses Gerät erhält einen neuen Passkey, und überall sonst wirst du abgemeldet.',
    begin: 'Weiter',
    handleMissing: 'Gib deinen Benutzernamen ein.',
    noMatch:
      'Benutzername und Wiederherstellungscode passen nicht zusammen. Ein verwendeter oder ersetzter Code gilt ' +
      'nicht mehr.',
    locked: 'Zu viele falsche Codes. Versuche es in einer Stunde noch einmal.',
    unopened: 'Du bist angemeldet, aber dieser Code konnte deine Schlüssel nicht entsperren. Sie sind unverändert.',
    goOn: 'Zu deinem Konto',
  },
}
