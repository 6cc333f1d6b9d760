import type { signinMessages as english } from '../en/signin.ts'

/** Holds the messages for signing in to an app: SSO, consent and delegation. In German. */
export const signinMessages: typeof english = {
  sso: {
    title: 'Mit deiner Organisation anmelden',
    email: 'E-Mail-Adresse bei der Arbeit',
    goOn: 'Weiter',
    unknownDomain: 'Für diese E-Mail-Domain ist kein SSO eingerichtet.',
    connectTitle: 'Konto verknüpfen',
    says: (organization, person) => `${organization} hat dich als ${person} angemeldet`,
    connectOnce: (organization) => `Bestätige einmal mit deinem Passkey. Danach meldet dich ${organization} an.`,
    membersOnly: (organization) => `Du musst Mitglied von ${organization} sein. Bitte um eine Einladung.`,
    over: 'Diese Anmeldung ist beendet',
    beginAgain: 'Der Link ist abgelaufen oder wurde schon verwendet. Geh zurück und beginne noch einmal.',
    tested: 'Testanmeldung erfolgreich',
    testedLead: (organization) =>
      `Das hat der Identitätsanbieter von ${organization} gesendet. Es wurde kein Konto verknüpft.`,
    subject: 'Subject',
    address: 'E-Mail',
    name: 'Name',
    nothing: 'keine Angabe',
    verified: (email) => `${email}, bestätigt`,
    unverified: (email) => `${email}, nicht bestätigt`,
    unverifiedHint:
      'Automatisch beitreten kann nur, wessen E-Mail-Adresse der Anbieter als bestätigt kennzeichnet. Lade alle ' +
      'anderen ein.',
    toOrganizations: 'Zu deinen Organisationen',
    confirmTitle: 'Anmeldung bestätigen',
    confirmAs: (person, organization) => `Weiter als ${person} von ${organization}?`,
    signedInAs: (person, handle) => `Du bist als ${person} (@${handle}) angemeldet.`,
    signsOut: (handle, other) =>
      `Wenn du fortfährst, ist dieser Browser als @${handle} angemeldet und ${other} hier abgemeldet.`,
    startedElsewhere: 'Ein Link oder eine andere Website hat diese Anmeldung gestartet.',
    signsIn: (handle) =>
      `Wenn du fortfährst, ist dieser Browser als @${handle} angemeldet. Brich ab, wenn du das nicht bist.`,
    continueAs: (person) => `Weiter als ${person}`,
    stayAs: (person) => `Als ${person} angemeldet bleiben`,
    cancel: 'Abbrechen',
    leaveTitle: (host) => `Weiter zu ${host}?`,
    leaveLead: (organization, host) =>
      `Eine andere Website hat eine Anmeldung mit ${organization} gestartet. Sie führt zu ${host}.`,
    leaveWarning: (host) =>
      `Diese Anmeldung ist nicht bestätigt. Fahre nur fort, wenn du ${host} kennst. Gib dort nie das Passwort eines ` +
      'anderen Dienstes ein.',
    leaveTo: (host) => `Weiter zu ${host}`,
  },

  signin: {
    documentTitle: (app) => `Anmelden bei ${app}`,
    to: 'Anmelden bei',
    choose: 'Identität wählen',
    noSuchIdentity:
      'Die App hat nach einer Identität gefragt, die nicht zu deinem Konto gehört. Wähle eine von diesen oder ' +
      'verwende ein anderes Konto.',
    otherAccount: 'Anderes Konto verwenden',
    chooseOrganization: 'Diese App verwenden als',
    noSuchOrganization: (handle) => `@${handle} ist kein Mitglied der Organisation, nach der die App gefragt hat.`,
    asMember: (handle) => `als @${handle}`,
    yourself: 'Du selbst',
    signInThereFirst: 'SSO erforderlich',
    requiresSso: (organization) => `${organization} verlangt eine Anmeldung mit SSO`,
    continueWith: (organization) => `Weiter mit ${organization}`,
    forOrganization: (organization) => `für ${organization}`,
    organization: 'Organisation',
    organizationValue: (organization) => `${organization} und deine Berechtigungen dort`,
    sees: 'Die App sieht',
    alsoSees: 'Die App sieht künftig auch',
    already: 'Die App sieht bereits',
    approve: 'Erlauben',
    deny: 'Ablehnen',
    change: 'Ändern',
    returnTo: (host) => `Danach geht es zurück zu ${host}`,
    callsItself: (name) => `nennt sich „${name}“`,
    unverified: 'Diese App wurde nicht geprüft. Fahre nur fort, wenn du die Anmeldung gerade selbst begonnen hast.',
    onDevice: 'Eine App auf diesem Gerät möchte dich anmelden.',
    appOnDevice: 'einer App auf diesem Gerät',
    addEmail: 'E-Mail-Adresse hinzufügen',
    organizationAccess: {
      read: 'Sieht deine Organisationen',
      create: 'Sieht deine Organisationen und darf neue erstellen',
    },
    emailRequired: (app) => `${app} verlangt eine bestätigte E-Mail-Adresse. Diese Identität hat keine.`,
    emailUnavailable:
      'Auf diesem Dienst ist kein E-Mail-Versand eingerichtet, darum kannst du hier keine Adresse bestätigen. Wende ' +
      'dich an den Betreiber.',
    leaving: (host) => `Zurück zu ${host} …`,
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
        'diese Adresse verwendet, zum Beispiel weil du dort davon gelesen hast.',
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
      whatNow:
        'Das sollte nie passieren. Schließe diese Seite und wende dich an den Entwickler der App oder den Betreiber ' +
        'dieses Dienstes.',
    },
    serverOpens: (app) => `Der Server von ${app} erhält deinen Schlüssel und kann lesen, was du dort verschlüsselst.`,
    newKey:
      'Die App möchte einen neuen Schlüssel und erhält den alten noch einmal. Was sie nicht neu verschlüsselt, geht ' +
      'verloren.',
    privacy: 'Datenschutz',
    terms: 'Nutzungsbedingungen',
  },

  connect: {
    documentTitle: (source, target) => `${source} bei ${target}`,
    wants: 'möchte in deinem Namen handeln bei',
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
    untilValue: 'wenn du es in deinem Konto widerrufst',
    withdrawn: {
      invalid_target: (target) => `${target} bietet das nicht mehr an`,
      invalid_scope: (target) => `${target} hat geändert, was Apps anfragen können`,
    },
    nothingGranted: 'Es wurde kein Zugriff erteilt. Die App kann noch einmal fragen.',
    back: (app) => `Zurück zu ${app}`,
  },

  scopes: {
    openid: 'Kennung',
    openidValue: 'eine feste Kennung, damit die App dich wiedererkennt',
    name: 'Name',
    handle: 'Benutzername',
    email: 'E-Mail',
    noEmail: 'keine für diese Identität; wird nicht geteilt',
    offline_access: 'Zugriff',
    offline_accessValue: 'bis du die App trennst, auch wenn du sie nicht verwendest',
    user_id: 'Konto-ID',
    user_idValue: 'gleich für alle deine Identitäten; Apps erkennen, dass sie zu einer Person gehören',
    encryption: 'Verschlüsselung',
    symmetricValue: 'mit deinem Schlüssel, den dieser Dienst nicht lesen kann',
    asymmetricValue:
      'mit deinem Schlüsselpaar, das dieser Dienst nicht lesen kann; deinen öffentlichen Schlüssel kann jeder über ' +
      'den Benutzernamen abrufen',
    short: {
      'e2ee:symmetric': 'verschlüsselt deine Daten mit deinem Schlüssel',
      'e2ee:asymmetric': 'verschlüsselt deine Daten mit deinem Schlüsselpaar',
      openid: 'erkennt dich wieder',
      profile: 'sieht deinen Namen und Benutzernamen',
      email: 'sieht deine E-Mail',
      offline_access: 'bleibt verbunden, auch wenn du sie nicht verwendest',
      user_id: 'sieht deine Konto-ID',
    },
  },

  unfinished: {
    title: 'Diese Anmeldung wurde nicht abgeschlossen',
    why: (host) =>
      `${host} ist eine nicht geprüfte App, und ihre Anfrage ist ungültig. Die App hat keine Daten erhalten.`,
    silent: (host) =>
      `${host}, eine nicht geprüfte App, wollte dich ohne Rückfrage anmelden. Das war nicht möglich. Die App hat ` +
      'keine Daten erhalten.',
    back: (place) => `Zurück zu ${place}`,
  },
}
