import type { Words } from '../words.ts'

export const de: Words = {
  frame: {
    language: 'Sprache',
    home: 'Countersign, zur Startseite',
    moment: 'Einen Moment …',
    cancel: 'Abbrechen',
  },

  landing: {
    title: 'Mit eigener Hand anmelden',
    what:
      'Countersign meldet dich mit einem Passkey bei deinen Apps an. ' +
      'Kein Passwort, das man sich merken oder verlieren kann, und du bestimmst, welchen deiner Namen eine App sieht.',
    register: 'Konto anlegen',
    login: 'Anmelden',
    account: 'Zu deinem Konto',
    playground: 'Sehen, was eine App bekommt',
  },

  register: {
    title: 'Konto anlegen',
    lead: 'Wähle einen Namen. Den Schlüssel macht dein Gerät.',
    handle: 'Benutzername',
    handleHint: 'Buchstaben, Ziffern, dazwischen . _ -',
    displayName: 'Name, den andere sehen',
    create: 'Konto mit Passkey anlegen',
    haveAccount: 'Schon ein Konto?',
    login: 'Anmelden',
    handleInvalid:
      '3 bis 32 Buchstaben, Ziffern, Punkte, Binde- oder Unterstriche, an beiden Enden ein Buchstabe oder eine Ziffer.',
    displayNameInvalid: '1 bis 80 sichtbare Zeichen.',
    handleTaken: 'Dieser Benutzername ist nicht frei. Wähle einen anderen.',
    madeTitle: 'Dein Passkey ist da',
    touchAgainWhy: 'Benutze ihn noch einmal, diesmal um deine Schlüssel zu öffnen.',
    touchAgain: 'Passkey noch einmal benutzen',
    withoutPrf: 'Nur mit Wiederherstellungscode weiter',
    unfinished: 'Noch nicht ganz fertig',
    finish: 'Abschließen',
    startOver: 'Von vorn beginnen',
  },

  recovery: {
    title: 'Bewahre den Wiederherstellungs\u00adcode auf',
    why: 'Er öffnet deine Schlüssel, wo dein Passkey es nicht kann. Niemand kann ihn ersetzen; wir sehen ihn nie.',
    whyWithoutPrf:
      'Dieser Passkey meldet dich an, öffnet aber deine Schlüssel nicht. Dafür brauchst du jedes Mal diesen Code. ' +
      'Niemand kann ihn ersetzen; wir sehen ihn nie.',
    label: 'Wiederherstellungscode',
    copy: 'Kopieren',
    copied: 'Kopiert',
    download: 'Speichern',
    print: 'Drucken',
    saved: 'Ich habe ihn aufbewahrt',
    fileName: 'countersign-wiederherstellungscode.txt',
    fileText: (code, host, handle) =>
      `Countersign-Wiederherstellungscode\n\n${code}\n\nKonto: ${handle}\nSeite: ${host}\n\n` +
      `Er öffnet die Schlüssel dieses Kontos. Bewahre ihn nicht auf diesem Gerät auf.\n`,
  },

  login: {
    title: 'Anmelden',
    handle: 'Benutzername',
    handleHint: 'Du darfst ihn weglassen: Dein Passkey kennt dich.',
    signIn: 'Mit Passkey anmelden',
    newHere: 'Neu hier?',
    register: 'Konto anlegen',
    noPasskey: 'Passkeys verloren?',
    recover: 'Wiederherstellungscode benutzen',
  },

  recover: {
    title: 'Wiederherstellungs\u00adcode benutzen',
    lead: 'Er lässt dich einmal ein. Dieses Gerät bekommt einen neuen Passkey, jede andere Sitzung endet.',
    begin: 'Weiter',
    handleMissing: 'Schreib deinen Benutzernamen.',
    noMatch:
      'Dieser Benutzername und dieser Code gehören nicht zusammen. Ein benutzter oder ersetzter Code gilt nicht mehr.',
    locked: 'Zu viele falsche Codes. Versuche es in einer Stunde noch einmal.',
    unopened: 'Du bist angemeldet, aber dieser Code hat deine Schlüssel nicht geöffnet. Sie sind, wie sie waren.',
    goOn: 'Zu deinem Konto',
  },

  signin: {
    documentTitle: (app) => `Anmelden bei ${app}`,
    to: 'Anmelden bei',
    choose: 'Unter welchem Namen?',
    noSuchIdentity:
      'Die App hat nach einem Namen gefragt, den du hier nicht hast. Wähle einen von diesen oder ein anderes Konto.',
    otherAccount: 'Anderes Konto',
    sees: 'Die App sieht',
    alsoSees: 'Die App sieht künftig auch',
    already: 'Sie sieht schon',
    approve: 'Zustimmen',
    deny: 'Ablehnen',
    change: 'Ändern',
    returnTo: (host) => `danach zurück zu ${host}`,
    leaving: (host) => `Zurück zu ${host}`,
    privacy: 'Datenschutz',
    terms: 'Bedingungen',
  },

  scopes: {
    openid: 'Kennung',
    openidValue: 'eine feste, damit sie dich wiedererkennt',
    name: 'Name',
    handle: 'Benutzername',
    email: 'E-Mail',
    noEmail: 'keine zu diesem Namen; wird nicht geteilt',
    offline_access: 'Zugang',
    offline_accessValue: 'bis du sie trennst, auch wenn du weg bist',
    user_id: 'Kontokennung',
    user_idValue: 'gleich für alle deine Namen: Apps erkennen, dass es dieselbe Person ist',
    short: {
      openid: 'erkennt dich wieder',
      profile: 'sieht Namen und Benutzernamen',
      email: 'sieht deine E-Mail',
      offline_access: 'bleibt verbunden, wenn du weg bist',
      user_id: 'sieht deine Kontokennung',
    },
  },

  account: {
    title: 'Dein Konto',
    sections: 'Bereiche',
    identities: 'Namen',
    passkeys: 'Passkeys',
    sessions: 'Sitzungen',
    apps: 'Apps',
    signOut: 'Abmelden',
    retry: 'Noch einmal',
  },

  identities: {
    title: 'Deine Namen',
    lead: 'Für die Apps, die ihn sehen, steht jeder Name für sich.',
    rename: 'Namen ändern',
    renameTitle: 'Den Namen ändern, den andere sehen',
    save: 'Speichern',
    add: 'Namen hinzufügen',
    addTitle: 'Namen hinzufügen',
    create: 'Hinzufügen',
    noEmail: 'keine E-Mail',
    tooMany: 'Mehr Namen kann dieses Konto nicht haben.',
  },

  passkeys: {
    title: 'Deine Passkeys',
    created: (date) => `Angelegt ${date}`,
    used: (date) => `zuletzt benutzt ${date}`,
    synced: 'Auf deinen Geräten abgeglichen',
    oneDevice: 'Nur auf einem Gerät',
    opensKeys: 'öffnet deine Schlüssel',
    signsInOnly: 'meldet dich an, öffnet deine Schlüssel nicht',
    recoveryTitle: 'Wiederherstellungscode',
    add: 'Passkey hinzufügen',
    added: (name) => `Hinzugefügt: ${name}`,
    makeTitle: 'Ein neuer Passkey',
    makeWhy:
      'Dein Browser fragt, wo er liegen soll: auf diesem Gerät, auf einem anderen oder auf einem Sicherheitsschlüssel.',
    make: 'Passkey machen',
    codeForNew:
      'Der Passkey von eben kann deine Schlüssel nicht öffnen. ' +
      'Mit deinem Wiederherstellungscode wird es der neue können.',
    addWithout: 'Einen hinzufügen, der nur anmeldet',
    signsInOnlyTitle: 'Er kann deine Schlüssel nicht öffnen',
    signsInOnlyWhy:
      'Dieser Passkey meldet dich an, mehr nicht. ' +
      'Bewahre deinen Wiederherstellungscode auf, oder einen Passkey, der deine Schlüssel öffnet.',
    addAnyway: 'Trotzdem hinzufügen',
    dontAdd: 'Nicht hinzufügen',
    rename: 'Umbenennen',
    renameOne: (name) => `${name} umbenennen`,
    renameTitle: 'Diesen Passkey umbenennen',
    name: 'Name',
    remove: 'Entfernen',
    removeOne: (name) => `${name} entfernen`,
    removeTitle: (name) => `„${name}“ entfernen?`,
    removeWhat: 'Er meldet dich nicht mehr an. Sitzungen, die er begonnen hat, laufen weiter, bis du sie beendest.',
    losses: {
      'code only': 'Kein anderer deiner Passkeys öffnet deine Schlüssel. Du brauchst dann den Wiederherstellungscode.',
      keys: 'Sonst öffnet nichts deine Schlüssel. Sie wären für immer verloren.',
    },
    removeNow: 'Jetzt entfernen',
    recoverySince: (date) => `Gilt seit: ${date}.`,
    recoveryNone: 'Kein Code gilt: Wer jetzt seine Passkeys verliert, kommt nicht mehr hinein. Mach einen.',
    recoveryWhy: 'Verloren, oder jemand hat ihn gesehen? Mach einen neuen; der alte gilt dann nicht mehr.',
    renew: 'Neuen Code machen',
    codeTitle: 'Dein jetziger Code',
    codeWhy: 'Dieser Passkey kann deine Schlüssel nicht öffnen. Dein jetziger Wiederherstellungscode kann es.',
    openWithCode: 'Schlüssel öffnen',
    codeMalformed: 'Das ist kein ganzer Wiederherstellungscode. Vergleiche ihn mit dem, den du aufbewahrt hast.',
    codeWrong: 'Dieser Code öffnet deine Schlüssel nicht. Ist es ein älterer, oder der eines anderen Kontos?',
    renewed: 'Der neue Code gilt. Der alte gilt nicht mehr.',
  },

  sessions: {
    title: 'Wo du angemeldet bist',
    on: (browser, system) => `${browser} unter ${system}`,
    unknown: 'Unbekanntes Gerät',
    since: (date) => `Seit ${date}`,
    seen: (date) => `zuletzt gesehen ${date}`,
    thisOne: 'Diese hier',
    end: 'Beenden',
    endOthers: 'Alle anderen beenden',
    appsStay: 'Verbundene Apps bleiben verbunden.',
  },

  apps: {
    title: 'Verbundene Apps',
    none: 'Keine App ist verbunden. Melde dich bei einer an, dann steht sie hier.',
    as: (handle) => `Als @${handle}`,
    since: (date) => `seit ${date}`,
    disconnect: 'Trennen',
    revokeTitle: (app) => `${app} trennen?`,
    revokeWhat: (app, handle) =>
      `${app} verliert sofort den Zugang zu @${handle} und muss dich neu fragen. ` +
      'Was die App schon weiß, und das Konto, das du dort vielleicht hast, bleibt bei ihr.',
    revoke: 'Jetzt trennen',
  },

  playground: {
    title: 'Spielwiese',
    lead: [
      'Diese Seite ist eine App wie jede andere: Sie weiß noch nichts von dir.',
      'Sie schickt dich zum Anmelden, wie jede App, und kommt mit einem Code zurück.',
      'Den Code tauscht sie gegen Tokens und zeigt dir alles, was sie bekam.',
    ],
    start: 'Mit Countersign anmelden',
    gotTitle: 'Was die App bekam',
    refusedTitle: 'Die App wurde abgewiesen',
    checks: 'Was die App geprüft hat',
    checkNames: {
      signature: 'Signatur, mit einem Schlüssel des Ausstellers',
      issuer: 'Aussteller',
      audience: 'Empfänger: diese App',
      nonce: 'Nonce: Antwort auf genau diese Anfrage',
      lifetime: 'Nicht abgelaufen',
    },
    passed: 'stimmt',
    failed: 'stimmt nicht',
    noNonce: 'nach einer Erneuerung keine, wie es sein soll',
    response: 'Antwort des Token-Endpunkts',
    idToken: 'ID-Token',
    accessToken: 'Access-Token, als JWT',
    userinfo: 'User-Info',
    header: 'Kopf',
    claims: 'Angaben',
    refresh: 'Erneuern',
    again: 'Noch einmal von vorn',
    refreshed: (times) => (times === 1 ? 'Einmal erneuert' : `${times}-mal erneuert`),
    unasked: 'Diese Antwort gehört zu keiner Anfrage dieses Tabs. Beginne von vorn.',
    wrongState:
      'Das ist nicht der State, den dieser Tab geschickt hat: die Antwort eines anderen. Sie wurde verworfen.',
    wrongIssuer: 'Die Antwort nennt einen anderen Aussteller. Sie wurde verworfen.',
  },

  error: {
    reference: 'Kennung',
    home: 'Zur Startseite',
    titles: {
      not_found: 'Hier ist nichts',
      invalid_client: 'Diese App kennen wir nicht',
      invalid_redirect_uri: 'Diese App wollte dich an einen Ort schicken, den sie nicht angemeldet hat',
      rate_limited: 'Zu viele Anfragen',
      server_error: 'Bei uns ist etwas kaputtgegangen',
      temporarily_unavailable: 'Wir sind gleich wieder da',
    },
    title: 'Das hat nicht geklappt',
    hints: {
      not_found: 'Prüfe die Adresse, oder beginne bei der Startseite.',
      invalid_client: 'Es ist nichts passiert. Geh zurück zur App; wer sie betreibt, kann den Link berichtigen.',
      invalid_redirect_uri:
        'Zu deiner Sicherheit haben wir angehalten. Geh zurück zur App; wer sie betreibt, kann den Link berichtigen.',
      rate_limited: 'Warte eine Minute und versuche es dann noch einmal.',
      server_error: 'Versuche es gleich noch einmal. Wenn es so bleibt, nenne dem Betreiber die Kennung unten.',
      temporarily_unavailable: 'Versuche es gleich noch einmal.',
    },
  },

  problem: {
    unreachable: 'Keine Verbindung zum Server. Prüfe deine und versuche es dann noch einmal.',
    unexpected: 'Auf dieser Seite ist etwas schiefgegangen. Lade sie neu und versuche es noch einmal.',
    ceremony: {
      declined: 'Es wurde kein Passkey benutzt. Versuche es noch einmal, wenn du so weit bist.',
      superseded: 'Eine andere Passkey-Anfrage kam dazwischen. Versuche es noch einmal.',
      unsupported: 'Dieser Browser kennt keine Passkeys. Nimm einen neueren oder ein anderes Gerät.',
      'already registered': 'Dieses Gerät hat schon einen Passkey für dieses Konto. Melde dich damit an.',
      unfit: 'Dieses Passkey-Gerät kann dich nicht mit Fingerabdruck, Gesicht oder PIN prüfen. Nimm ein anderes.',
      'wrong host':
        'Unter dieser Adresse funktionieren Passkeys nicht. Der Betreiber muss die Einstellungen berichtigen.',
      failed: 'Das Passkey-Gerät hat einen Fehler gemeldet. Versuche es noch einmal oder nimm ein anderes.',
    },
    refused: {
      invalid_credential: 'Dieser Passkey wird hier nicht angenommen. Nimm einen anderen.',
      invalid_flow: 'Das hat zu lange gedauert. Beginne noch einmal.',
      credential_in_use: 'Dieser Passkey gehört schon zu einem Konto. Melde dich damit an.',
      unauthorized: 'Du bist abgemeldet. Melde dich wieder an.',
      reauthentication_required: 'Das ist eine Weile her. Bestätige noch einmal mit deinem Passkey.',
      rate_limited: 'Zu viele Versuche. Warte eine Minute und versuche es dann noch einmal.',
      temporarily_unavailable: 'Der Server ist gerade ausgelastet. Versuche es gleich noch einmal.',
      server_error: 'Der Server hatte einen Fehler. Versuche es gleich noch einmal.',
    },
  },
}
