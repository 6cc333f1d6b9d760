import { plural } from '../../plural.ts'
import type { playgroundMessages as english } from '../../en/pages/playground.ts'

/** Holds the messages of the playground. In German. */
export const playgroundMessages: typeof english = {
  title: 'Playground',
  heading: 'Was eine App erhält',
  guides: 'Anleitungen',
  registerApp: 'App registrieren',
  position: (step, of) => `Schritt ${step} von ${of}`,
  back: 'Zurück',
  restart: 'Neu beginnen',
  next: (step) => `Weiter: ${step}`,
  done: 'Fertig',
  steps: {
    'sign-in': {
      name: 'Anmelden',
      short: 'Ein ID-Token, geprüft',
      heading: 'Bei einer Demo-App anmelden',
      lead:
        'Die App schickt dich zur Anmeldung und erhält einen Authorization Code zurück. Sie tauscht ihn gegen Tokens ' +
        'und prüft sie. Du siehst alles, was sie erhält.',
    },
    identity: {
      name: 'Andere Identität wählen',
      short: 'IDs ohne Zusammenhang',
      heading: 'Eine andere Identität wählen',
      lead:
        'Melde dich noch einmal an, als jemand anders. Für die App sind deine Identitäten verschiedene Personen: ' +
        'Nichts, was sie erhält, verbindet sie.',
    },
    signature: {
      name: 'Zahlung unterschreiben',
      short: 'Eine Unterschrift, geprüft',
      heading: 'Eine Zahlung unterschreiben und prüfen',
      lead:
        'Die App bittet um deine Unterschrift unter einen Text. Du liest ihn auf einer Seite dieses Dienstes; die ' +
        'App kann dir also nichts anderes zeigen.',
    },
    delegation: {
      name: 'Eine App für dich handeln lassen',
      short: 'Ein Token mit Grenzen',
      heading: 'Die App für dich handeln lassen',
      lead:
        'Die App möchte deine Termine in einer anderen App lesen. Du erlaubst es einmal und kannst es jederzeit ' +
        'widerrufen. Ihr Token gilt zehn Minuten, und nur dort.',
    },
    encryption: {
      name: 'Notiz ver\u00adschlüs\u00adseln',
      short: 'Ein Schlüssel, den nur du entsperrst',
      heading: 'Eine Notiz Ende zu Ende verschlüsseln',
      lead:
        'Die App erhält einen Schlüssel, den dein Passkey entsperrt. Sie verschlüsselt in deinem Browser; ihr Server ' +
        'speichert also nur, was er nicht lesen kann. Auch dieser Dienst kann den Schlüssel nicht lesen.',
    },
  },
  code: 'Was die App ausführt',

  start: 'Bei der Demo-App anmelden',
  startHere: 'Mit Browser-Dialog anmelden (FedCM)',
  signedIn: 'Angemeldet',
  gotTitle: 'Was die App erhalten hat',
  facts: {
    name: 'Name',
    username: 'Benutzername',
    sub: 'ID (sub)',
    email: 'E-Mail',
    notShared: 'Nicht geteilt',
  },
  refusedTitle: 'Die App hat einen Fehler erhalten',
  checks: 'Was die App geprüft hat',
  checkNames: {
    signature: 'Signatur, mit dem Schlüssel des Issuers geprüft',
    issuer: 'Issuer',
    audience: 'Audience: diese App',
    nonce: 'Nonce: gehört zu dieser Anfrage',
    lifetime: 'Nicht abgelaufen',
  },
  passed: 'Bestanden',
  failed: 'Fehlgeschlagen',
  noNonce: 'Nach einem Refresh keine, wie erwartet',
  response: 'Antwort des Token-Endpunkts',
  idToken: 'ID-Token',
  accessToken: 'Access-Token (JWT)',
  userinfo: 'UserInfo',
  header: 'Header',
  claims: 'Claims',
  refresh: 'Tokens erneuern',
  again: 'Noch einmal anmelden',
  refreshed: (times) => plural('de', times, { one: 'Einmal erneuert', other: `${times}-mal erneuert` }),
  unasked: 'Diese Antwort gehört zu keiner Anfrage dieses Tabs. Beginne neu.',
  wrongState: 'Der State passt nicht zur Anfrage dieses Tabs. Die Antwort wurde verworfen.',
  wrongIssuer: 'Die Antwort stammt von einem anderen Issuer. Sie wurde verworfen.',
  declined: 'Dein Browser hat niemanden angemeldet. Aus Datenschutzgründen sagt er der App nicht, warum.',

  chooseAnother: 'Identität wählen',
  whatTheAppKnows: 'Personen, die die App kennt',
  nobodyYet: 'Noch hat sich niemand angemeldet.',
  needsAnother:
    'Wähle eine andere Identität als diese. Hast du nur eine, erstelle bei der Anmeldung oder in deinem Konto ' +
    'noch eine.',
  unlinkable: 'Zwei Personen mit zwei IDs. Die App erkennt nicht, dass du beide bist.',

  signInFirst: 'Melde dich zuerst an: Die App muss wissen, wer du bist.',
  theRequest: 'Die App bittet um deine Unterschrift',
  payment: (reference) => `12,00 EUR zahlen\nan: Buchladen an der Ecke\nZweck: eine Vorführung, ${reference}`,
  signAs: 'Unterschreiben als',
  ask: 'Lesen und unterschreiben',
  createSigningKey: 'Signaturschlüssel erstellen',
  openSigning: 'Seite zum Unterschreiben öffnen',
  unsigned: {
    denied: 'Du hast abgelehnt. Die App hat keine Unterschrift.',
    closed: 'Das Fenster wurde geschlossen, bevor du unterschrieben hast.',
    blocked: 'Dein Browser hat das Fenster blockiert.',
  },
  whatYouSigned: 'Was du unterschrieben hast',
  signed: 'Unterschrieben',
  signatureChecks: {
    signature: 'Die Signatur passt zum Schlüssel',
    key: 'Der Schlüssel ist deiner',
    text: 'Der Text ist der, den die App gesendet hat',
    recent: 'Sie ist aktuell',
  },
  signatureNotes: {
    signature: 'Ed25519, über jedes Zeichen des Textes',
    key: 'Der Schlüssel, den der Dienst bei der Anfrage genannt hat',
    text: 'Kein Zeichen ist anders',
    recent: 'Vor wenigen Minuten unterschrieben',
  },
  changeLetter: 'Ein Zeichen ändern und noch einmal prüfen',
  restoreText: 'Text wiederherstellen',

  askToAct: 'Demo-Kalender lesen lassen',
  calendarAnswer: 'Was der Kalender geliefert hat',
  calendarChecked: 'Was der Kalender geprüft hat',
  calendarChecks: {
    signature: 'Das Token ist echt und nicht widerrufen',
    audience: 'Es ist für den Kalender',
    scope: 'Es hat den Scope',
    lifetime: 'Es gilt',
  },
  until: (moment) => `Bis ${moment}`,
  delegatedToken: 'Delegiertes Token',
  revokeAt: 'Widerrufen kannst du das unter',
  accountApps: 'deinen verbundenen Apps',

  getKey: 'Schlüssel anfordern',
  getKeyAgain: 'Schlüssel noch einmal anfordern',
  wrongKey: 'Der Schlüssel ist nicht für diesen Browser verschlüsselt. Er wurde verworfen.',
  keyOf: (username) => `Schlüssel von ${username}`,
  yourNote: 'Deine Notiz',
  noteField: 'Notiz',
  noteHint: 'Die App verschlüsselt sie, bevor sie diese Seite verlässt.',
  firstNote: 'Tee mit Herrn Babbage. Notizen zur Maschine mitbringen.',
  encryptNote: 'Verschlüsseln und speichern',
  forgetKey: 'Schlüssel vergessen',
  storedNote: 'Was die App speichert',
  storedWhere: 'Eine App speichert das auf ihrem Server, diese Demo in diesem Tab.',
  decryptedNote: 'Was der Schlüssel daraus entschlüsselt',
  noKey: 'Diese Seite hat jetzt keinen Schlüssel. Sie kann die Notiz nicht lesen.',
  otherKey:
    'Dieser Schlüssel entschlüsselt die Notiz nicht. Verwende die Identität, mit der sie verschlüsselt wurde, oder ' +
    'verschlüssle eine neue. Auch eine App, die getrennt wurde, bekommt einen anderen Schlüssel.',
  disconnectAt:
    'Trennst du die App, bekommt sie beim nächsten Mal einen anderen Schlüssel. Er entschlüsselt die Notiz nicht. ' +
    'Du findest die App unter',
}
