import type { consentMessages as english } from '../../../en/pages/sign-in/consent.ts'

/** Holds the messages for signing in to an app: the choices, consent and delegation. In German. */
export const consentMessages: typeof english = {
  signin: {
    documentTitle: (app) => `Anmelden bei ${app}`,
    to: 'Anmelden bei',
    noSuchIdentity:
      'Die App hat nach einer Identität gefragt, die nicht zu deinem Konto gehört. Wähle eine von diesen oder ' +
      'verwende ein anderes Konto.',
    lastUsed: 'Zuletzt verwendet',
    addIdentity: 'Identität hinzufügen',
    addIdentityLead: 'Apps erkennen nicht, dass sie zu dir gehört, solange du es nicht erlaubst.',
    addAndContinue: 'Hinzufügen und weiter',
    backTo: (app) => `Zurück zu ${app}`,
    back: 'Zurück',
    chooseOrganization: 'Diese App verwenden als',
    passkeyFor: (organization) =>
      `Melde dich einmal mit deinem Passkey an, um diese App auch für ${organization} zu nutzen.`,
    noSuchOrganization: (handle) => `@${handle} ist kein Mitglied der Organisation, nach der die App gefragt hat.`,
    asMember: (handle) => `als @${handle}`,
    yourself: 'Du selbst',
    signInThereFirst: 'SSO erforderlich',
    forOrganization: (organization) => `für ${organization}`,
    organization: 'Organisation',
    organizationValue: (organization) => `${organization} und deine Berechtigungen dort`,
    unseen: 'Deine anderen Identitäten und andere Apps, die du verwendest, sieht sie nicht.',
    confirmedEmail: 'Bestätigt',
    sees: 'Die App sieht',
    alsoSees: 'Die App sieht künftig auch',
    already: 'Die App sieht bereits',
    callsItself: (name) => `nennt sich „${name}“`,
    unverified: 'Diese App wurde nicht geprüft. Fahre nur fort, wenn du die Anmeldung gerade selbst begonnen hast.',
    onDevice: 'Eine App auf diesem Gerät möchte dich anmelden.',
    appOnDevice: 'einer App auf diesem Gerät',
    organizationAccess: {
      read: 'Sieht deine Organisationen',
      create: 'Sieht deine Organisationen und darf neue erstellen',
    },
    emailRequired: (app) => `${app} verlangt eine bestätigte E-Mail-Adresse. Diese Identität hat keine.`,
    emailUnavailable:
      'Bei diesem Dienst ist kein E-Mail-Versand eingerichtet, darum kannst du hier keine Adresse bestätigen. Wende ' +
      'dich an den Betreiber.',
    unlockWhy: (app) => `${app} verschlüsselt deine Daten. Entsperre deinen Schlüssel mit deinem Passkey.`,
    unlock: 'Entsperren und weiter',
    codeWhy:
      'Kein Passkey auf diesem Gerät kann deine Schlüssel entsperren. Gib deinen Wiederherstellungscode ein; er ' +
      'bleibt gültig.',
    place: {
      title: 'Schlüssel an eine neue Adresse senden?',
      before: (app) => `${app} hat deinen Schlüssel bisher hier erhalten:`,
      now: (app) => `Jetzt verlangt ${app} ihn hier:`,
      warning: (app) =>
        `Dein Schlüssel öffnet alles, was du in ${app} verschlüsselt hast. Sende ihn nur, wenn du weißt, dass ${app} ` +
        'diese Adresse verwendet.',
      confirm: (host) => `Schlüssel an ${host} senden`,
      recipientTitle: 'Ändern, wer deinen Schlüssel öffnen kann?',
      boundTo: (app) =>
        `Bisher kann nur ein Server von ${app} deinen Schlüssel öffnen. Der Fingerabdruck seines Schlüssels:`,
      binds: (app) =>
        `Ab jetzt kann nur der Server von ${app} deinen Schlüssel öffnen, und er kann lesen, was du verschlüsselst. ` +
        'Der Fingerabdruck seines Schlüssels:',
      unbinds: (app) =>
        `Diese Anmeldung verlangt deinen Schlüssel ohne diesen Server. Danach erhalten ihn Seiten von ${app}.`,
      recipientWarning: (app) =>
        `Fahre nur fort, wenn du weißt, dass der Server von ${app} deinen Schlüssel lesen soll.`,
      releaseWarning: (app) =>
        `Dein Schlüssel öffnet alles, was du in ${app} verschlüsselt hast. Fahre nur fort, wenn du weißt, ` +
        `dass ${app} diesen Server nicht mehr verwendet.`,
      confirmRecipient: 'Ändern',
      deny: 'Nicht senden',
    },
    stopped: {
      title: 'Dein Schlüssel wurde nicht gesendet',
      why: (app, place) =>
        `Dieser Dienst wollte deinen Schlüssel für ${app} an ${place} senden, aber die App hat ihn an einer anderen ` +
        'Adresse angefordert. Der Schlüssel wurde nicht gesendet.',
      whatNow: 'Das sollte nie passieren. Schließe diese Seite und wende dich an das Team der App oder den Betreiber.',
    },
    serverOpens: (app) => `Der Server von ${app} erhält deinen Schlüssel und kann lesen, was du dort verschlüsselst.`,
    newKey:
      'Die App möchte einen neuen Schlüssel und erhält den alten noch einmal. Erlaube das nur, wenn du in der App ' +
      'einen neuen Schlüssel verlangt hast. Bis die App deine Daten neu verschlüsselt, öffnet sie nur der alte ' +
      'Schlüssel. Er bleibt 90 Tage in der Datei mit deinen Daten.',
    privacy: 'Datenschutz',
    terms: 'Nutzungsbedingungen',
  },

  connect: {
    documentTitle: (source, target) => `${source} bei ${target}`,
    headline: (app, target) => `${app} möchte bei ${target} in deinem Namen handeln`,
    limits:
      'Die App erhält einen eigenen, begrenzten Zugriff. Deinen Passkey erhält sie nie, und sie kann nicht ' +
      'für dich unterschreiben.',
    nothingElse: 'Nicht: irgendetwas anderes in deinem Namen',
    may: 'Die App darf',
    mayAlso: 'Die App darf künftig auch',
    alreadyMay: 'Die App darf bereits',
    whileAway: 'Das tun, während du die App nicht verwendest',
    where: 'Wo',
    when: 'Wann',
    modes: {
      user_present: 'Während du die App verwendest, bis eine Stunde nach der Anmeldung',
      background: 'Jederzeit, auch wenn du die App nicht verwendest',
    },
    until: 'Endet',
    untilValue: 'Wenn du es in deinem Konto widerrufst',
    withdrawn: {
      invalid_target: (target) => `${target} bietet das nicht mehr an`,
      invalid_scope: (target) => `${target} hat geändert, was Apps anfragen können`,
    },
    nothingGranted: 'Es wurde kein Zugriff erteilt. Die App kann noch einmal fragen.',
    back: (app) => `Zurück zu ${app}`,
  },

  unfinished: {
    title: 'Diese Anmeldung wurde nicht abgeschlossen',
    why: (host) =>
      `${host} ist eine nicht geprüfte App, und ihre Anfrage ist ungültig. Die App hat keine Daten erhalten.`,
    silent: (host) =>
      `${host}, eine nicht geprüfte App, wollte dich ohne Rückfrage anmelden. Das war nicht möglich. Die App hat ` +
      'keine Daten erhalten.',
    back: (place) => `Zurück zu ${place}`,
    forDevelopers: 'Für die Entwicklung der App',
  },
}
