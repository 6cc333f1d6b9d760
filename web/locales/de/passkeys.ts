import { plural } from '../plural.ts'
import type { passkeyMessages as english } from '../en/passkeys.ts'

/** Holds the messages for passkeys, sessions and unlocking with another device. In German. */
export const passkeyMessages: typeof english = {
  passkeys: {
    title: 'Deine Passkeys',
    created: (date) => `Erstellt: ${date}`,
    used: (date) => `zuletzt verwendet: ${date}`,
    synced: 'Synchronisiert',
    oneDevice: 'Nur auf einem Gerät',
    opensKeys: 'Entsperrt deine Schlüssel',
    signsInOnly: 'Nur Anmeldung, entsperrt deine Schlüssel nicht',
    recoveryTitle: 'Wiederherstellungscode',
    add: 'Hinzufügen',
    added: (name) => `Passkey hinzugefügt: ${name}`,
    makeTitle: 'Passkey hinzufügen',
    makeWhy:
      'Dein Browser fragt, wo du ihn speichern möchtest: auf diesem Gerät, auf einem anderen oder auf einem ' +
      'Sicherheitsschlüssel.',
    make: 'Passkey erstellen',
    codeForNew:
      'Der eben verwendete Passkey kann deine Schlüssel nicht entsperren. Gib deinen Wiederherstellungscode ein, ' +
      'damit der neue es kann.',
    addWithout: 'Nur zum Anmelden hinzufügen',
    signsInOnlyTitle: 'Dieser Passkey kann deine Schlüssel nicht entsperren',
    signsInOnlyWhy:
      'Du kannst dich damit anmelden, aber deine Schlüssel nicht entsperren. Behalte deinen Wiederherstellungscode ' +
      'oder einen Passkey, der es kann.',
    addAnyway: 'Trotzdem hinzufügen',
    dontAdd: 'Nicht hinzufügen',
    rename: 'Umbenennen',
    renameOne: (name) => `${name} umbenennen`,
    renameTitle: 'Passkey umbenennen',
    name: 'Name',
    remove: 'Entfernen',
    removeOne: (name) => `${name} entfernen`,
    removeTitle: (name) => `„${name}“ entfernen?`,
    removeWhat:
      'Du kannst dich damit nicht mehr anmelden, und alle damit begonnenen Sitzungen enden, vielleicht auch diese.',
    losses: {
      'code only':
        'Keiner deiner anderen Passkeys kann deine Schlüssel entsperren. Dafür brauchst du dann den ' +
        'Wiederherstellungscode.',
      keys: 'Nichts anderes kann deine Schlüssel entsperren. Du würdest sie endgültig verlieren.',
    },
    removeNow: 'Passkey entfernen',
    recoverySince: (date) => `Erstellt: ${date}.`,
    recoveryNone:
      'Du hast keinen Wiederherstellungscode. Wenn du deine Passkeys verlierst, verlierst du dein Konto. Erstelle ' +
      'jetzt einen.',
    recoveryWhy: 'Verloren, oder jemand hat ihn gesehen? Erstelle einen neuen Code. Der alte gilt dann nicht mehr.',
    renew: 'Neuen Code erstellen',
    codeTitle: 'Aktueller Wiederherstellungscode',
    codeWhy: 'Dieser Passkey kann deine Schlüssel nicht entsperren. Gib deinen aktuellen Wiederherstellungscode ein.',
    openWithCode: 'Schlüssel entsperren',
    codeMalformed: 'Das ist kein vollständiger Wiederherstellungscode. Prüfe ihn und versuche es noch einmal.',
    codeWrong: 'Dieser Code kann deine Schlüssel nicht entsperren. Ist er älter oder von einem anderen Konto?',
    renewed: 'Dein neuer Wiederherstellungscode ist aktiv. Der alte gilt nicht mehr.',
  },

  sessions: {
    title: 'Wo du angemeldet bist',
    on: (browser, system) => `${browser} unter ${system}`,
    unknown: 'Unbekanntes Gerät',
    since: (date) => `Angemeldet: ${date}`,
    seen: (date) => `zuletzt aktiv: ${date}`,
    thisOne: 'Dieser Browser',
    end: 'Abmelden',
    endOthers: 'Überall sonst abmelden',
    appsStay: 'Wenn du eine Sitzung beendest, bleiben deine Apps verbunden.',
  },

  devices: {
    otherWay: 'Anders entsperren',
    useDevice: 'Mit einem anderen Gerät entsperren',
    askTitle: 'Mit einem anderen Gerät entsperren',
    askWhere: (place) => `Öffne ${place} auf einem Gerät, auf dem du angemeldet bist, oder scanne den Code.`,
    askWhat: 'So entsperrst du hier deine Schlüssel, um zu unterschreiben und Verschlüsseltes zu lesen.',
    qr: (url) => `QR-Code von ${url}`,
    waiting: 'Warten auf das andere Gerät\u00a0…',
    typeThere: 'Gib diesen Code auf dem anderen Gerät ein:',
    code: 'Code',
    askEnds: {
      expired: 'Die Anfrage ist abgelaufen. Kein Gerät hat sie bestätigt.',
      refused: 'Die Anfrage wurde auf dem anderen Gerät abgelehnt.',
      altered: 'Die Verbindung zwischen deinen Geräten wurde manipuliert. Es wurde nichts entsperrt.',
    },
    again: 'Erneut versuchen',
    useCode: 'Stattdessen Wiederherstellungscode verwenden',
    waitingTitle: (count) =>
      plural('de', count, {
        one: 'Ein Gerät möchte entsperrt werden',
        other: `${count} Geräte möchten entsperrt werden`,
      }),
    look: 'Ansehen',
    onlyIf: 'Bestätige nur, wenn du das andere Gerät gerade selbst verwendest.',
    since: (time) => `Angefragt: ${time}`,
    approve: 'Bestätigen',
    approveOne: (device) => `${device} bestätigen`,
    refuse: 'Ablehnen',
    refuseOne: (device) => `${device} ablehnen`,
    unlockTitle: (device) => `${device} entsperren`,
    typed: 'Code auf dem anderen Gerät',
    unlock: 'Entsperren',
    typeConfirmation: 'Code bestätigt. Gib jetzt das auf dem anderen Gerät ein:',
    typedConfirmation: 'Die zwei Ziffern auf dem anderen Gerät',
    unlockThis: 'Dieses Gerät entsperren',
    malformed: 'Gib alle sechs Ziffern ein.',
    malformedConfirmation: 'Gib beide Ziffern ein.',
    wrong: (left) =>
      plural('de', left, {
        one: 'Der Code stimmt nicht. Noch 1 Versuch.',
        other: `Der Code stimmt nicht. Noch ${left} Versuche.`,
      }),
    opensNothing: 'Dieser Passkey kann deine Schlüssel nicht entsperren. Verwende einen anderen.',
    ends: {
      gone: 'Die Anfrage ist nicht mehr aktiv.',
      altered: 'Die Verbindung zwischen deinen Geräten wurde manipuliert. Es wurde nichts entsperrt.',
      'wrong digits': 'Dreimal falscher Code. Es wurde nichts entsperrt.',
    },
    done: 'Fertig',
  },
}
