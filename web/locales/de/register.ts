import type { registerMessages as english } from '../en/register.ts'

/** Holds the messages for registering, signing in to the account and recovering it. In German. */
export const registerMessages: typeof english = {
  register: {
    title: 'Konto erstellen',
    lead: 'Wähle einen Benutzernamen. Dein Gerät erstellt einen Passkey, ein Passwort brauchst du nicht.',
    steps: 'Schritte der Registrierung',
    username: 'Benutzername',
    passkey: 'Passkey',
    recoveryCode: 'Code',
    handle: 'Benutzername',
    handleRule: '3 bis 32 Buchstaben (a–z), Ziffern, Punkte, Binde- oder Unterstriche',
    handleAvailable: 'Dieser Benutzername ist frei.',
    displayName: 'Anzeigename',
    create: 'Konto erstellen',
    haveAccount: 'Schon ein Konto?',
    login: 'Anmelden',
    handleEnds: 'Am Anfang und Ende steht ein Buchstabe oder eine Ziffer.',
    displayNameInvalid: 'Gib einen Namen mit höchstens 80 Zeichen ein.',
    handleTaken: 'Dieser Benutzername ist vergeben. Wähle einen anderen.',
    madeTitle: 'Dein Passkey ist bereit',
    touchAgainWhy: 'Verwende ihn noch einmal, um deine Schlüssel zu entsperren.',
    touchAgain: 'Passkey noch einmal verwenden',
    withoutPrf: 'Nur mit Wiederherstellungscode fortfahren',
    unfinished: 'Fast fertig',
    unfinishedLead: 'Dein Passkey ist da, aber dein Konto ist noch nicht bereit.',
    finish: 'Abschließen',
    startOver: 'Neu beginnen',
    presentTitle: 'Du bist schon angemeldet',
    presentLead: 'Dieser Browser ist in diesem Konto angemeldet:',
    continueAs: (name) => `Weiter als ${name}`,
    createAnother: 'Abmelden und ein anderes Konto erstellen',
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
    kept: {
      copied: 'Kopiert. Füge ihn an einem sicheren Ort ein, etwa in einem Passwortmanager.',
      downloaded: 'Heruntergeladen. Verschiebe die Datei an einen sicheren Ort außerhalb dieses Geräts.',
      printed: 'Bewahre den Ausdruck an einem sicheren Ort auf.',
    },
    saved: 'Ich habe ihn gespeichert',
    savedAndContinue: 'Ich habe ihn gespeichert, weiter',
    savedAndContinueTo: (app) => `Ich habe ihn gespeichert, weiter zu ${app}`,
    countsOnce: 'Der Code gilt, sobald du bestätigst, dass du ihn gespeichert hast.',
    fileName: 'wiederherstellungscode.txt',
    fileText: (code, host, handle, service) =>
      `Wiederherstellungscode für ${service}\n\n${code}\n\nKonto: ${handle}\nWebsite: ${host}\n\nMit diesem Code ` +
      'kommst du wieder in dein Konto und entsperrst deine Schlüssel, wenn du deine Passkeys verlierst. Bewahre ihn ' +
      'nicht auf diesem Gerät auf.\n',
    printedAccount: 'Konto',
    printedSite: 'Website',
    printedOn: 'Erstellt',
    printedUse:
      'Mit diesem Code kommst du wieder in dein Konto und entsperrst deine Schlüssel, wenn du deine Passkeys ' +
      'verlierst. Bewahre ihn nicht bei den Geräten auf, mit denen du dich anmeldest.',
    missingTitle: 'Dein Wiederherstellungs\u00adcode ist noch nicht gespeichert',
    missing:
      'Wenn du deine Passkeys verlierst, verlierst du dein Konto: Du hast keinen gültigen Wiederherstellungscode. ' +
      'Dein Passkey erstellt gleich einen neuen.',
    create: 'Wiederherstellungs\u00adcode erstellen',
    exists: 'Ein Wiederherstellungs\u00adcode ist schon gespeichert',
    existsWhy:
      'Du hast in einem anderen Fenster oder auf einem anderen Gerät einen Code gespeichert. Dieser gilt, der hier ' +
      'angezeigte nicht.',
    continue: 'Weiter',
    later: 'Später',
    keysGone: 'Deine Schlüssel fehlen',
    keysGoneWhy:
      'Laut diesem Dienst hat dein Konto keine Schlüssel, aber es hatte welche. Es wurde nichts ersetzt. Wende dich ' +
      'an den Betreiber dieses Dienstes.',
  },

  login: {
    title: 'Anmelden',
    handle: 'Benutzername oder berufliche E-Mail',
    handleHint: 'Optional: Dein Passkey kennt dein Konto.',
    workHint: 'Eine berufliche Adresse führt zur Anmeldung deiner Firma.',
    signIn: 'Mit Passkey anmelden',
    anotherPasskey: 'Anderen Passkey verwenden',
    withSso: 'Weiter mit deiner Firma',
    continueAs: (name) => `Weiter als ${name}`,
    lastHere: 'zuletzt in diesem Browser',
    forget: (name) => `${name} in diesem Browser vergessen`,
    forgotten: (name) => `Dieser Browser zeigt ${name} nicht mehr an.`,
    or: 'oder',
    elsewhere: 'Mein Passkey ist auf einem anderen Gerät',
    elsewhereHow:
      'Starte die Anmeldung, wähle im Browser-Dialog „Smartphone oder Tablet“ und scanne den angezeigten Code. Lass ' +
      'Bluetooth eingeschaltet.',
    unsupported: 'Dieser Browser kann keine Passkeys verwenden',
    unsupportedHow: 'Aktualisiere ihn oder öffne diese Seite in einem anderen Browser oder auf einem anderen Gerät.',
    newHere: 'Neu hier?',
    register: 'Konto erstellen',
    noPasskey: 'Passkeys verloren?',
    recover: 'Wiederherstellungscode verwenden',
    atWork: 'Beruflich hier?',
    withOrganization: 'Mit deiner Organisation anmelden (SSO)',
    proveTitle: 'Bestätige, dass du es bist',
    proveLead: 'Du änderst gleich etwas Wichtiges. Verwende deinen Passkey noch einmal.',
    prove: 'Mit Passkey bestätigen',
    continueTo: (app) => `Danach geht es weiter zu ${app}`,
    unknownDomain: 'Für diese E-Mail-Domain hat keine Firma SSO eingerichtet. Melde dich mit deinem Passkey an.',
  },
}
