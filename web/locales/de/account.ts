import { plural } from '../plural.ts'
import type { accountMessages as english } from '../en/account.ts'

/** Holds the messages of the account pages, except passkeys, devices and activity. In German. */
export const accountMessages: typeof english = {
  scopeLabels: {
    'e2ee:symmetric': 'verschlüsselt deine Daten mit deinem Schlüssel',
    'e2ee:asymmetric': 'verschlüsselt deine Daten mit deinem Schlüsselpaar',
    openid: 'erkennt dich wieder',
    profile: 'sieht deinen Namen und Benutzernamen',
    email: 'sieht deine E-Mail',
    offline_access: 'bleibt verbunden, auch wenn du sie nicht verwendest',
    user_id: 'sieht deine Konto-ID',
    groups: 'sieht deine Gruppen',
    roles: 'sieht deine Rollen darin',
  },

  account: {
    title: 'Dein Konto',
    sections: 'Bereiche',
    identities: 'Identitäten',
    signing: 'Unterschriften',
    passkeys: 'Passkeys',
    sessions: 'Sitzungen',
    apps: 'Apps',
    activity: 'Aktivität',
    data: 'Daten & Löschung',
    signOut: 'Abmelden',
    retry: 'Erneut versuchen',
  },

  identities: {
    title: 'Deine Identitäten',
    lead:
      'Apps sehen nur die Identität, die du wählst. Nur Apps mit deiner Konto-ID erkennen, dass die anderen dir ' +
      'gehören.',
    change: 'Bearbeiten',
    email: 'E-Mail',
    addEmail: 'E-Mail hinzufügen',
    changeEmail: 'E-Mail ändern',
    delete: 'Löschen',
    choose: {
      change: (handle) => `@${handle} bearbeiten`,
      addEmail: (handle) => `E-Mail hinzufügen für @${handle}`,
      changeEmail: (handle) => `E-Mail ändern für @${handle}`,
      delete: (handle) => `@${handle} löschen`,
    },
    changeTitle: 'Identität bearbeiten',
    handleKept: 'Wenn du deinen Benutzernamen änderst, bleibt der alte 90 Tage für dich reserviert.',
    deleteTitle: (handle) => `@${handle} löschen?`,
    deleteWhat:
      'Apps verlieren sofort den Zugriff auf diese Identität, und du verlierst vielleicht deine Daten dort. Das ' +
      'lässt sich nicht rückgängig machen. Niemand sonst kann den Benutzernamen in den nächsten 90 Tagen übernehmen.',
    deleteNow: 'Identität löschen',
    save: 'Speichern',
    add: 'Identität hinzufügen',
    addTitle: 'Identität hinzufügen',
    create: 'Identität hinzufügen',
    noEmail: 'Keine E-Mail',
    tooMany: 'Du hast die Höchstzahl von 20 Identitäten erreicht.',
  },

  email: {
    title: (handle) => `E-Mail von @${handle}`,
    now: (email) => `Aktuelle Adresse: ${email}`,
    address: 'E-Mail-Adresse',
    newAddress: 'Neue Adresse',
    send: 'Code senden',
    invalid: 'Gib eine vollständige E-Mail-Adresse ein, etwa ada@example.com.',
    sent: (email) => `Wir haben einen Code an ${email} gesendet. Er gilt zehn Minuten.`,
    code: 'Code',
    verify: 'E-Mail bestätigen',
    otherAddress: 'Andere Adresse verwenden',
    domainRequired: 'Dein Konto muss seine letzte Adresse behalten, die sich hier registrieren kann.',
    remove: 'Adresse entfernen',
    notSetUp: 'Bei diesem Dienst ist kein E-Mail-Versand eingerichtet, darum kannst du keine Adresse hinzufügen.',
  },

  signing: {
    title: 'Unterschriften',
    waiting: (count) =>
      count === 0
        ? 'Keine offenen Anfragen'
        : plural('de', count, {
            one: '1 Anfrage wartet auf deine Unterschrift',
            other: `${count} Anfragen warten auf deine Unterschrift`,
          }),
    as: (handle) => `Für @${handle}`,
    asMember: (organization, handle) => `Für ${organization}, als @${handle}`,
    until: (time) => `gültig bis ${time}`,
    read: 'Lesen und unterschreiben',
    readOf: (app) => `Lesen und unterschreiben: Anfrage von ${app}`,
    keysTitle: 'Signaturschlüssel',
    fingerprint: 'Fingerabdruck',
    none: 'Noch kein Signaturschlüssel. Erstelle einen, damit Apps um deine Unterschrift bitten können.',
    madeOn: (date) => `Erstellt: ${date}`,
    replacedOn: (date) => `Aktiv seit ${date}`,
    former: (count) => plural('de', count, { one: '1 früherer Schlüssel', other: `${count} frühere Schlüssel` }),
    between: (from, to) => `${from} bis ${to}`,
    make: 'Schlüssel erstellen',
    makeOf: (handle) => `Schlüssel erstellen für @${handle}`,
    makeTitle: (handle) => `Signaturschlüssel für @${handle} erstellen`,
    makeWhat:
      'Der Schlüssel wird in diesem Browser erstellt. Nur deine Passkeys und dein Wiederherstellungscode können ihn ' +
      'entsperren.',
    makeNow: 'Schlüssel erstellen',
    replace: 'Schlüssel ersetzen',
    replaceOf: (handle) => `Schlüssel ersetzen: @${handle}`,
    replaceTitle: (handle) => `Schlüssel von @${handle} ersetzen?`,
    replaceWhat:
      'Danach gilt der neue Schlüssel. Bestehende Unterschriften bleiben gültig. Tu das, wenn jemand an deinen ' +
      'Schlüssel gekommen sein könnte.',
    replaceNow: 'Schlüssel ersetzen',
    expiring: (count) =>
      plural('de', count, {
        one: '1 offene Anfrage läuft dann ab.',
        other: `${count} offene Anfragen laufen dann ab.`,
      }),
    inForce: (handle) => `Der neue Schlüssel von @${handle} ist aktiv.`,
    historyTitle: 'Verlauf',
    historyKept: 'Nicht unterschriebene Anfragen werden nach 30 Tagen gelöscht.',
    endedAt: {
      signed: (time) => `Unterschrieben: ${time}`,
      denied: (time) => `Abgelehnt: ${time}`,
      expired: (time) => `Abgelaufen, angefragt: ${time}`,
    },
    text: 'Text',
    textOf: (app) => `Text von ${app}`,
    receipt: 'Beleg',
    receiptOf: (app, time) => `Beleg für ${app}, ${time}`,
    saveText: 'Text herunterladen',
  },

  apps: {
    title: 'Verbundene Apps',
    none: 'Noch keine verbundenen Apps. Apps, bei denen du dich anmeldest, erscheinen hier.',
    as: (handle) => `Als @${handle}`,
    since: (date) => `seit ${date}`,
    disconnect: 'Trennen',
    key: 'Schlüssel',
    placesTitle: (app) => `Wohin dein Schlüssel für ${app} geht`,
    placesWhat:
      'Diese Liste ist mit deinem Schlüssel verschlüsselt, damit dieser Dienst sie nicht ändern kann. Entsperre ' +
      'deine Schlüssel, um sie zu sehen.',
    showPlaces: 'Entsperren und anzeigen',
    placesRedirects: 'An diesen Adressen erhält die App deinen Schlüssel. Bei jeder anderen wirst du zuerst gefragt.',
    placesRecipient: 'Nur der Server mit diesem Schlüssel-Fingerabdruck kann ihn öffnen:',
    removePlace: 'Entfernen',
    closePlaces: 'Schließen',
    revokeTitle: (app) => `${app} trennen?`,
    revokeWhat: (app, handle) =>
      `${app} verliert sofort den Zugriff auf @${handle} und muss dich erneut fragen. Daten, die die App schon hat, ` +
      'und dein Konto dort bleiben bei ihr.',
    keyLost:
      'Die App verliert auch deinen Schlüssel. Verbindest du sie wieder, bekommt sie einen anderen. Er entschlüsselt ' +
      'keine früheren Daten. Die Datei mit deinen Daten enthält den alten 90 Tage lang verschlüsselt.',
    revoke: 'Trennen',
    endsToo: (pairs) => `Widerruft auch: ${pairs.join(', ')}.`,
  },

  delegations: {
    title: 'Apps, die für dich handeln',
    pair: (source, target) => `${source} bei ${target}`,
    modes: {
      user_present: 'während du sie verwendest',
      background: 'auch wenn du sie nicht verwendest',
    },
    unused: 'Noch nie verwendet',
    notLately: (days) => `In den letzten ${days} Tagen nicht verwendet.`,
    lastUsed: (time) => `Zuletzt verwendet: ${time}`,
    times: (count) => plural('de', count, { one: 'einmal', other: `${count}-mal` }),
    revoke: 'Widerrufen',
    revokeOf: (pair) => `Zugriff widerrufen: ${pair}`,
    revokeTitle: (source, target) => `Zugriff von ${source} auf ${target} widerrufen?`,
    revokeWhat: (source, handle) =>
      `${source} kann dort nicht mehr als @${handle} handeln und muss dich erneut fragen. Bestehender Zugriff kann ` +
      'noch bis zu zehn Minuten gelten.',
    revokeNow: 'Zugriff widerrufen',
    ended: (count) => `Widerrufen: ${count}`,
    endedOn: (day) => `widerrufen: ${day}`,
  },

  data: {
    title: 'Daten & Löschung',
    what: 'Lade alles, was dieser Dienst über dich speichert, in einer Datei herunter.',
    download: 'Daten herunterladen',
    fileName: 'countersign-konto.json',
    deleteTitle: 'Konto löschen',
    deleteWhat: 'Löscht alle deine Identitäten, Passkeys und Schlüssel und trennt alle Apps.',
    delete: 'Konto löschen',
    confirmTitle: 'Konto löschen?',
    confirmWhat:
      'Dein Konto wird sofort gelöscht. Das lässt sich nicht rückgängig machen. Lade vorher deine Daten herunter.',
    typeHandle: (handle) => `Zur Bestätigung ${handle} eingeben`,
    mismatch: 'Das ist nicht dein Benutzername.',
    deleteNow: 'Konto endgültig löschen',
    appsGoToo: (apps) =>
      `Auch deine eigenen Apps werden gelöscht: ${apps.join(', ')}. Niemand kann sich dann noch bei ihnen anmelden.`,
    deleteWithApps: 'Konto und Apps löschen',
  },
}
