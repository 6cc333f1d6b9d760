import type { receiptMessages as en } from '../../en/pages/receipts.ts'
import { plural } from '../../plural.ts'

/** Holds the messages about what was signed. In German. */
export const receiptMessages: typeof en = {
  appHas: (app) => `${app} hat deine Unterschrift.`,
  organizationSigned: (app, organization) => `${app} hat die Unterschrift von ${organization}.`,
  forApp: (handle, app) => `${handle} · für ${app}`,
  whatSigned: 'Was du unterschrieben hast',
  text: 'Der unterschriebene Text',
  facts: {
    app: 'App',
    signer: 'Unterschrieben von',
    organization: 'Organisation',
    time: 'Zeit',
    key: 'Signaturschlüssel',
    request: 'Anfrage',
    digest: 'Prüfsumme des Textes (SHA-256)',
    log: 'Schlüsselprotokoll',
    issuer: 'Dienst',
  },
  next: (count) => `Nächste Anfrage (${count})`,
  left: (time) => `noch ${time}`,
  backTo: (app) => `Zurück zu ${app}`,
  save: 'Beleg speichern',
  show: 'Beleg ansehen',
  kept: 'Diese Unterschrift und ihren Beleg findest du unter',
  keptLink: 'Unterschriften',

  title: 'Beleg',
  verifyTitle: 'Beleg prüfen',
  verified: 'In diesem Browser bestätigt',
  notVerified: 'Nicht bestätigt',
  verifiedLead: (time) => `Unterschrieben am ${time}. Der Text unten ist genau der, der unterschrieben wurde.`,
  flawLead: 'Dieser Beleg beweist den Text unten nicht. Verlass dich nicht darauf.',
  flaws: {
    malformed_receipt: 'Diese Datei ist kein Beleg.',
    unknown_service_key:
      'Der Beleg stammt von einem anderen Dienst oder von einem Schlüssel, den dieser Dienst nicht verwendet.',
    invalid_service_signature: 'Die Signatur des Dienstes auf dem Beleg ist ungültig. Der Beleg wurde verändert.',
    payload_mismatch: 'Der Beleg gilt für einen anderen Text. Jedes Zeichen zählt, auch Leerzeichen und Zeilenenden.',
    invalid_signature: 'Die Signatur passt nicht zu diesem Text.',
    insufficient_signatures: 'Der Beleg hat weniger Unterschriften von Mitgliedern, als die Organisation verlangt.',
    key_not_in_log: 'Das öffentliche Schlüsselprotokoll enthält den Signaturschlüssel nicht.',
    invalid_key_history: 'Die Einträge des Signaturschlüssels im öffentlichen Protokoll widersprechen sich.',
    key_not_in_force: 'Der Signaturschlüssel war zur Zeit der Unterschrift nicht gültig.',
    invalid_approval: 'Die Passkey-Bestätigung im Beleg gilt für etwas anderes.',
    no_approval: 'Der Beleg enthält keine Passkey-Bestätigung.',
  },
  unproved: {
    unlinked_key: 'Ein Schlüssel wurde ohne Signatur des vorigen ersetzt.',
    no_possession: 'Der Besitz des Schlüssels ist im Protokoll nicht bestätigt.',
    no_approval: 'Der Text wurde ohne Bestätigung mit einem Passkey unterschrieben. Für welche App, beweist nichts.',
  },
  roles: { self: 'unterschrieben', sign: 'für die Organisation unterschrieben', approve: 'freigegeben' },
  logged: (entries, log) =>
    plural('de', entries, {
      one: `Im öffentlichen Protokoll ${log} mit 1 Eintrag`,
      other: `Im öffentlichen Protokoll ${log} mit ${entries} Einträgen`,
    }),
  saveText: 'Text speichern',
  print: 'Drucken',
  back: 'Alle Unterschriften',
  retry: 'Erneut versuchen',
  signIn: 'Melde dich an, um den Beleg zu sehen',
  signInWhy: 'Belege sehen nur Personen, die unterschrieben haben.',
  none: 'Hier ist kein Beleg',
  noneWhy: 'Diese Anfrage ist für jemand anders, wurde nicht unterschrieben oder existiert nicht mehr.',
  waitForLog:
    'Der Signaturschlüssel steht noch nicht im öffentlichen Protokoll. Versuche es in einer Minute noch einmal.',

  verifyLead:
    'Wähle den Beleg, den du erhalten hast, und den Text dazu. Beides wird in diesem Browser geprüft; nichts wird ' +
    'hochgeladen.',
  files: 'Belegdatei (.jws) und, falls vorhanden, der Text als Datei',
  chosen: (names) => `Gewählt: ${names}`,
  chooseReceipt: 'Wähle zuerst einen Beleg.',
  notText: 'Eine gewählte Datei ist kein UTF-8-Text, also weder der Beleg noch der unterschriebene Text.',
  textField: 'Unterschriebener Text',
  textHint:
    'Jedes Zeichen zählt, auch Leerzeichen und Zeilenenden. Lass das Feld leer, wenn du den Text als Datei gewählt ' +
    'hast.',
  enterText: 'Gib den unterschriebenen Text ein oder wähle ihn als Datei.',
  verify: 'Prüfen',
  another: 'Anderen Beleg prüfen',

  account: {
    inbox: 'Wartet auf dich',
    personal: (count) => plural('de', count, { one: '1 persönliche', other: `${count} persönliche` }),
    ofOrganizations: (count) =>
      plural('de', count, { one: '1 für eine Organisation', other: `${count} für Organisationen` }),
    emptyInbox: 'Nichts zu unterschreiben',
    emptyInboxWhat: 'Wenn eine App um deine Unterschrift bittet, findest du den Text hier.',
    search: 'App oder Text suchen',
    nothingFound: 'Nichts in der Liste passt dazu.',
    emptyHistory: 'Noch nichts unterschrieben',
    emptyHistoryWhat: 'Was du unterschreibst, bleibt hier, mit den Belegen.',
    status: { pending: 'Offen', signed: 'Unterschrieben', denied: 'Abgelehnt', expired: 'Abgelaufen' },
    saveReceiptOf: (app, time) => `Beleg speichern: ${app}, ${time}`,
    keysAbout:
      'Jede Identität unterschreibt mit einem eigenen Schlüssel. Unterschriften bleiben gültig, wenn du ihn ersetzt.',
    verify: 'Einen erhaltenen Beleg prüfen',
  },
}
